"""Light and dark: everything that is drawn or written follows the page's theme through this file.

Figures are drawn in the light colours of `palette`. Where JupyterLab, the notebook or Voilà marks
its page as dark, the page shows each drawing through `DARK_FILTER`, which turns light into dark and
leaves the hue, so that a theme that changes needs no redrawing and a saved picture stays light.
Text outside a figure has the page's own colours.
"""

from __future__ import annotations

from typing import Final

from bokeh.models.css import GlobalInlineStyleSheet, InlineStyleSheet, StyleSheet

from workbench.plotting import palette

DARK_FILTER: Final = "invert(1) hue-rotate(180deg)"
"""The filter of a dark page on a drawing; `palette.in_dark` is the same for one colour."""

PAGE_RULES: Final = f"""
body[data-jp-theme-light] {{ --workbench-ground: transparent; }}
body[data-jp-theme-light="false"] {{
  --workbench-drawing: {DARK_FILTER};
  --workbench-error: #FF8A80;
  --workbench-done: #6FCF97;
  --workbench-notice: #3A2E12;
}}
body[data-jp-theme-light="false"] > .bk-Tooltip {{ filter: var(--workbench-drawing); }}
"""
"""Style of the whole page: the variables that the other colours of this file refer to."""

_FIGURE_RULES = """
:host { background-color: var(--workbench-ground, white); }
.bk-Canvas { filter: var(--workbench-drawing, none); }
"""

# Two pixels: a sample may lie between the screen's.
LEGEND_STYLE: Final = "canvas { clip-path: inset(2px 0 0 2px); }"
"""Style of a legend: BokehJS clears half a pixel too little of a sample, which grows darker."""

TEXT: Final = "var(--jp-ui-font-color1, #212121)"
"""CSS colour of text beside figures; likewise the following."""

NOTE: Final = "var(--jp-ui-font-color2, #555555)"
"""Of captions and remarks."""

SMALL: Final = f"font-size:12px;line-height:1.35;color:{NOTE}"
"""Style of a caption or remark in HTML."""

DONE: Final = f"var(--workbench-done, {palette.DONE})"
"""Of what went well."""

ERROR: Final = f"var(--workbench-error, {palette.ERROR})"
"""Of errors."""

NOTICE_GROUND: Final = "var(--workbench-notice, #FFF6E0)"
"""Background of a notice above a figure."""

AS_DRAWN: Final = "filter:var(--workbench-drawing, none)"
"""Style of an HTML element that shows a colour of a figure, such as a line of a key."""


def figure_styles() -> list[StyleSheet]:
    """Return the style sheets of a figure, those of the page included."""
    return [GlobalInlineStyleSheet(css=PAGE_RULES), InlineStyleSheet(css=_FIGURE_RULES)]
