"""A point for each row with its numbers in a column at the right, for rankings."""

from __future__ import annotations

from typing import Any

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure


def numbered_rows(
    fig: figure, source: ColumnDataSource, *, value: str, text_at: str
) -> tuple[Any, Any]:
    """Draw a point and its numbers for each row of a source; return the points and the texts.

    The source has the columns `value`, `text_at` (where texts begin), ``row``, ``text``, and the
    points' ``size``, ``fill`` and ``line``. The figure loses its tools.
    """
    points = fig.scatter(
        x=value,
        y="row",
        source=source,
        marker="circle",
        size="size",
        fill_color="fill",
        line_color="line",
        line_width=2,
    )
    texts = fig.text(
        x=text_at,
        y="row",
        text="text",
        source=source,
        text_baseline="middle",
        text_font_size="11px",
    )
    for glyphs in (points, texts):
        glyphs.nonselection_glyph = None
    # Tools would lie over the numbers, and nothing here needs a zoom.
    fig.toolbar.active_drag = None
    fig.toolbar_location = None
    fig.ygrid.grid_line_color = None
    fig.yaxis.axis_line_color = None
    fig.yaxis.major_tick_line_color = fig.yaxis.minor_tick_line_color = None
    return points, texts
