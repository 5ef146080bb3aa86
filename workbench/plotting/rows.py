"""Figures with a row for each test or quantity, and several of them beside one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import FixedTicker, GridBox, LayoutDOM, NumeralTickFormatter, Range1d
from bokeh.plotting import figure

from workbench.plotting.axes import new_figure

BAR_PX = 7.0
"""Width of a bar's sample in a key."""

_ROW_PX = 22  # two lines of the names, which are 11 px
_MOST_PX = 1100  # of all rows together, from which they are lower
_LEAST_ROW_PX = 9  # capitals of 11 px are 8 px high: in lower rows names would overlap
FRAME_PX = 84
"""Height around the rows: title (13 px), numbers of the axis (11) and its label (12), gaps."""


def row_figure(
    labels: Sequence[str],
    *,
    title: str,
    x_label: str,  # quantity and unit
    file_name: str,
    x_range: Any = None,
    y_range: Range1d | None = None,  # of the figure left of it, which names the rows
    row_px: int = _ROW_PX,
    x_type: str = "linear",
) -> figure:
    """Return an empty figure with row n, from the top, at n of its vertical axis."""
    count = len(labels)
    fig = new_figure(
        title=title,
        y_label="",
        height=FRAME_PX + count * max(_LEAST_ROW_PX, min(row_px, _MOST_PX // count)),
        x_type=x_type,
        y_type="linear",
        file_name=file_name,
        x_range=x_range,
        y_range=Range1d(count - 0.5, -0.5) if y_range is None else y_range,
    )
    fig.xaxis.axis_label = x_label
    fig.yaxis.ticker = FixedTicker(ticks=list(range(count)))
    fig.yaxis.major_label_overrides = dict(enumerate(labels))
    fig.yaxis.axis_line_color = None
    fig.yaxis.major_tick_line_color = fig.yaxis.minor_tick_line_color = None
    fig.yaxis.visible = y_range is None
    fig.ygrid.grid_line_color = None
    return fig


def signed_percent(fig: figure) -> None:
    """Label the horizontal axis with signs: differences in percent."""
    fig.xaxis.formatter = NumeralTickFormatter(format="+0[.]0")


def beside(*figures: LayoutDOM, shares: Sequence[int]) -> GridBox:
    """Return figures of one height beside one another, whose widths are as the shares."""
    return GridBox(
        children=[(fig, 0, at) for at, fig in enumerate(figures)],
        cols=[f"minmax(0, {share}fr)" for share in shares],
        sizing_mode="stretch_width",
    )


def panels(figures: Sequence[LayoutDOM], columns: int) -> GridBox:
    """Return figures row by row, all of one width."""
    return GridBox(
        children=[(fig, at // columns, at % columns) for at, fig in enumerate(figures)],
        cols=["minmax(0, 1fr)"] * min(columns, len(figures)),
        sizing_mode="stretch_width",
        spacing=8,
    )
