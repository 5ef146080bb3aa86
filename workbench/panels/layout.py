"""The layout of a panel: settings in a column on the left, pictures beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

from workbench.panels import inputs

SETTINGS_PX = 300  # chosen: a slider of 200 positions and its value; 660 of 968 px are left
_STACKED_PX = 700  # narrower, a picture beside the settings would have less than half a page

RULES = f"""
.workbench-panel {{ container-type: inline-size; }}
.workbench-columns {{ display: flex; gap: 14px; align-items: flex-start; width: 100%; }}
.workbench-settings {{ flex: 0 0 {SETTINGS_PX}px; min-width: 0; }}
.workbench-pictures {{ flex: 1 1 0; min-width: 0; }}
@container (max-width: {_STACKED_PX}px) {{
  .workbench-columns {{ flex-direction: column-reverse; align-items: stretch; }}
  .workbench-settings, .workbench-pictures {{ flex: 0 0 auto; width: 100%; }}
}}
.workbench-group {{ border-top: 1px solid var(--jp-border-color2); padding: 3px 0; }}
.workbench-panel .workbench-fold {{ width: 100%; text-align: left; background: none;
  font-weight: 600; font-size: 12px; padding: 0; box-shadow: none; }}
.workbench-settings .jupyter-widgets {{ margin: 1px 0; max-width: 100%; }}
.workbench-settings .widget-dropdown, .workbench-settings .widget-text {{ width: 100% !important; }}
.workbench-settings .widget-dropdown {{ flex-wrap: wrap; height: auto; }}
.workbench-settings .widget-dropdown > select {{ flex: 1 1 100%; height: 28px; }}
.workbench-settings .widget-hslider {{ flex-wrap: wrap; height: auto; row-gap: 0; }}
.workbench-settings .widget-hslider .widget-label {{ width: 100% !important; height: 20px;
  line-height: 20px; }}
.workbench-settings .widget-hslider .slider-container {{ height: 18px; }}
.workbench-settings .workbench-slider > .widget-text {{ width: 104px !important; }}
"""
"""CSS of the columns: one grid for all panels. A slider's name stands above it."""


def columns(settings: Sequence[Any], pictures: Sequence[Any]) -> Any:
    """Return settings on the left and pictures beside them; on a narrow page pictures first."""
    left, right = widgets.VBox(list(settings)), widgets.VBox(list(pictures))
    left.add_class("workbench-settings")
    right.add_class("workbench-pictures")
    both = widgets.HBox([left, right])
    both.add_class("workbench-columns")
    return both


def group(*controls: Any) -> Any:
    """Return controls that belong together, below a line that parts them from those above."""
    box = widgets.VBox(list(controls))
    box.add_class("workbench-group")
    return box


class Fold(widgets.VBox):  # type: ignore[misc]
    """Controls that few need, hidden until their title is pressed."""

    def __init__(self, title: str, *controls: Any) -> None:
        self._title = title
        self._head: Any = inputs.Button(tooltip="Show or hide these controls")
        self._head.add_class("workbench-fold")
        self._inside = widgets.VBox(list(controls))
        super().__init__([self._head, self._inside])
        self.add_class("workbench-group")
        self._head.on_click(lambda _: self.unfold(self._inside.layout.display == "none"))
        self.unfold(False)

    def unfold(self, shown: bool = True) -> None:
        """Show the controls, or hide them."""
        self._inside.layout.display = None if shown else "none"
        self._head.description = f"{'▾' if shown else '▸'} {self._title}"
