"""The few style rules the panels add to ipywidgets' own, in one place."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

# Containment keeps a change inside the panel from laying out the whole page again.
_RULES = """
.workbench-panel { contain: content; }
.workbench-panel .widget-label { text-align: left; }
.workbench-panel .widget-html-content { line-height: 1.35; }
.workbench-panel .widget-html-content td,
.workbench-panel .widget-html-content th { line-height: 1.3; padding: 1px 6px; font-size: 12px; }
.workbench-panel .widget-html-content caption { line-height: 1.3; font-size: 12px; }
.workbench-panel textarea { font-size: 12px; line-height: 1.35; }
"""


def panel_box(children: list[Any]) -> Any:
    """Return the outermost box of a panel, with the panels' style.

    Args:
        children: what stands below one another in it.
    """
    style = widgets.HTML(f"<style>{_RULES}</style>", layout=widgets.Layout(display="none"))
    box = widgets.VBox([*children, style], layout=widgets.Layout(width="100%"))
    box.add_class("workbench-panel")
    return box
