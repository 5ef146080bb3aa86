"""The style of the panels: rules beside those of ipywidgets, and shared controls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakSet

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.panels import inputs, layout
from workbench.panels.number_field import REFUSED, NumberField, errors_of
from workbench.panels.slider import Slider
from workbench.plotting.theme import ERROR, PAGE_RULES
from workbench.suggestions import did_you_mean

STALE = "workbench-stale"
"""CSS class of a figure whose values differ from the controls."""

TEXT = "font-size:13px;line-height:1.35"
"""CSS style of the sentences below figures."""

# White on JupyterLab's own green and orange has too little contrast to be read.
_ON_LIGHT = 'body:not([data-jp-theme-light="false"]) .workbench-panel .jupyter-button'

# The arrow of a list, which ipywidgets draws in black on any background.
_ARROW = (
    "url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 18 18'%3E"
    "%3Cpath fill='white' d='M5.2 5.9 9 9.7l3.8-3.8L14 7.1l-4.9 5-4.9-5z'/%3E%3C/svg%3E\")"
)

# Containment keeps a change inside the panel from laying out the whole page again.
_RULES = f"""{PAGE_RULES}
.workbench-panel {{ contain: content; }}
.workbench-panel .widget-label {{ text-align: left; }}
.workbench-panel .widget-html-content {{ line-height: 1.35; }}
.workbench-panel .widget-html-content td,
.workbench-panel .widget-html-content th {{ line-height: 1.3; padding: 1px 6px; font-size: 12px; }}
.workbench-panel .widget-html-content th {{ white-space: normal; }}
.workbench-panel .widget-html-content {{ overflow-x: auto; overflow-y: hidden;
  align-self: flex-start; }}
.workbench-panel > * {{ box-sizing: border-box; max-width: calc(100% - 4px); }}
.workbench-panel .widget-html-content caption {{ line-height: 1.3; font-size: 12px; }}
.workbench-panel .widget-html-content td code {{ font-size: 12px; line-height: 1.3; }}
.workbench-panel textarea {{ font-size: 12px; line-height: 1.35; }}
.workbench-panel .jupyter-widget-tab > .lm-TabBar .lm-TabBar-tab:not(.lm-mod-current),
.workbench-panel .jupyter-widget-Collapse-header {{ color: var(--jp-ui-font-color1); }}
body[data-jp-theme-light="false"] .workbench-panel {{ --jp-widgets-dropdown-arrow: {_ARROW}; }}
{_ON_LIGHT}.mod-success {{ background-color: var(--jp-success-color0); }}
{_ON_LIGHT}.mod-warning {{ color: var(--jp-ui-font-color0); }}
.workbench-upload-said {{ color: {ERROR}; font-size: 12px; line-height: 1.3; width: 360px; }}
.workbench-panel .{REFUSED} input {{ border: 1px solid {ERROR} !important; }}
.workbench-panel .{STALE} {{ opacity: 0.35; }}
.workbench-index .jupyter-button {{ white-space: normal; text-align: left; line-height: 1.3;
  font-size: 12px; padding: 3px 6px; overflow-wrap: anywhere; }}
{layout.RULES}"""


_stale: WeakSet[Any] = WeakSet()


def mark_stale(widget: Any, stale: bool) -> None:
    """Dim a widget whose values differ from the controls, or no longer."""
    if stale:
        widget.add_class(STALE)
        _stale.add(widget)
    else:
        widget.remove_class(STALE)
        _stale.discard(widget)


def is_stale(widget: Any) -> bool:
    """Return whether a widget is dimmed."""
    return widget in _stale


def panel_box(children: list[Any]) -> Any:
    """Return the outermost box of a panel, with the panels' style."""
    style = widgets.HTML(f"<style>{_RULES}</style>", layout=widgets.Layout(display="none"))
    box = widgets.VBox([*children, style], layout=widgets.Layout(width="100%"))
    box.add_class("workbench-panel")
    return box


def named(name: str, width: str) -> dict[str, Any]:
    """Return the options of a control with its name before it; ``width`` of both, as in CSS."""
    return {
        "description": name,
        "style": {"description_width": "initial"},
        "layout": widgets.Layout(width=width, margin="2px 10px 2px 0"),
    }


def push_button(text: str, tip: str, style: str = "", width: str = "88px") -> Any:
    """Return a button; ``style`` is one of ipywidgets' button styles."""
    return inputs.Button(
        description=text,
        tooltip=tip,
        button_style=style,
        layout=widgets.Layout(width=width, margin="2px 4px 2px 0"),
    )


def wrapping_row(*columns: Any) -> Any:
    """Return a row that wraps on narrow pages."""
    layout = widgets.Layout(flex_flow="row wrap", align_items="center")
    return widgets.HBox(with_errors(columns), layout=layout)


def with_errors(columns: Iterable[Any]) -> list[Any]:
    """Return the controls of a wrapping row, then the error lines of its number fields."""
    listed = list(columns)
    return [*listed, *errors_of(listed)]


def choose(control: Any, name: str, value: Any) -> None:
    """Set a control as the user would; ``name`` is for the error message."""
    if hasattr(control, "offer_file"):
        control.offer_file(value)
    if isinstance(control, (widgets.Dropdown, widgets.ToggleButtons)):
        known = [option[1] if isinstance(option, tuple) else option for option in control.options]
        if value not in known:
            texts = [str(one) for one in known]
            raise ParameterError(
                f"{value} is not a known {name}{did_you_mean(str(value), texts)}; "
                f"known are {', '.join(sorted(texts))}",
                key=name,
            )
    if isinstance(control, Slider):
        control.take(value)
        return
    control.value = control.check(value, name) if isinstance(control, NumberField) else value


def side_by_side(tables: Iterable[str]) -> str:
    """Return HTML tables side by side, wrapped on narrow pages."""
    style = "display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start"
    return f'<div style="{style}">{"".join(tables)}</div>'
