"""A point for each row with its numbers in a column at the right, for rankings."""

from __future__ import annotations

from bokeh.models import GlyphRenderer

from workbench.plotting.marks import Marks


def numbered_rows(marks: Marks, *, value: str, text_at: str) -> tuple[GlyphRenderer, GlyphRenderer]:
    """Draw a point and its numbers for each row; return the points and the texts.

    The table has the columns `value`, `text_at` (where texts begin), ``text``, and the points'
    ``size``, ``fill`` and ``line``. The figure loses its tools.
    """
    points = marks.points(value, "line", fill="fill", size="size", width=2)
    texts = marks.texts("text", text_at)
    for glyphs in (points, texts):
        glyphs.nonselection_glyph = None
    fig = marks.figure
    # Tools would lie over the numbers, and nothing here needs a zoom.
    fig.toolbar.active_drag = None
    fig.toolbar_location = None
    fig.ygrid.grid_line_color = None
    fig.yaxis.axis_line_color = None
    fig.yaxis.major_tick_line_color = fig.yaxis.minor_tick_line_color = None
    return points, texts
