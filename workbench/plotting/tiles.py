"""Coloured rectangles with a number in each and their colour bar, for heatmaps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    AllLabels,
    BasicTicker,
    ColorBar,
    ColorMapper,
    ColumnDataSource,
    CustomJS,
    HoverTool,
    PrintfTickFormatter,
    Range1d,
    Ticker,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.plotting import palette
from workbench.plotting.axes import new_figure, tools_beside

# Once the page knows how large a tile is, and whenever the numbers are others: the largest size at
# which the longest fits, on its side where the tile is too narrow; none where it is too small.
_FIT_NUMBERS = """
const {inner_width, inner_height, x_range, y_range} = fig
const tiles = range => range.factors?.length ?? Math.abs(range.end - range.start)
const across = inner_width / tiles(x_range) - 2, down = inner_height / tiles(y_range) - 1
const context = (window.workbenchRuler ??= document.createElement('canvas').getContext('2d'))
context.font = '100px helvetica'
const widths = source.data.text.map(text => context.measureText(text).width)
const longest = widths.reduce((most, width) => Math.max(most, width), 0) / 100
const sizes = [0, 1, 2, 3, 4].map(less => text_px - less).filter(px => px >= 8)
const level = sizes.find(px => px * longest <= across && px <= down)
const turned = sizes.find(px => px * longest <= down && px <= across)
const px = level ?? turned
const next = {
  text_font_size: {value: `${px ?? text_px}px`},
  angle: {value: level == null && turned != null ? Math.PI / 2 : 0},
  text_alpha: {value: px == null ? 0 : 1},
}
const state = JSON.stringify(next)
if (inner_width > 0 && state !== numbers.workbenchState) {
  numbers.workbenchState = state
  numbers.setv(next, {sync: false})
}
"""


def numbered_tiles(
    fig: figure,
    source: ColumnDataSource,
    mapper: ColorMapper,  # turns `value` into a colour
    *,
    x: str = "column",
    y: str = "row",
    value: str = "value",
    text_px: int = 11,
    selected: str = "white",  # colour around a selected tile
) -> Any:
    """Draw a rectangle with its number for each row of a source; return the rectangles.

    The source has the columns `x`, `y`, `value`, ``text`` and ``ink``, the text's colour. Numbers
    become smaller, turn or vanish where there is no room for them. The figure loses its grid.
    """
    tiles = fig.rect(
        x=x,
        y=y,
        width=1,
        height=1,
        source=source,
        fill_color={"field": value, "transform": mapper},
        line_color="white",
        selection_line_color=selected,
        selection_line_width=1 if selected == "white" else 4,
        nonselection_fill_alpha=1.0,
        nonselection_line_color="white",
    )
    numbers = fig.text(
        x=x,
        y=y,
        text="text",
        text_color="ink",
        source=source,
        text_align="center",
        text_baseline="middle",
        text_font_size=f"{text_px}px",
        nonselection_text_alpha=1.0,
    )
    fit = CustomJS(
        args={"fig": fig, "source": source, "numbers": numbers.glyph, "text_px": text_px},
        code=_FIT_NUMBERS,
    )
    for size in ("inner_width", "inner_height"):
        fig.js_on_change(size, fit)
    source.js_on_change("data", fit)
    fig.grid.grid_line_color = None
    return tiles


# The names under the columns stand upright where the widest of their lines is wider than a column.
_TURN_NAMES = """
const names = [...axis.major_label_overrides.values()].flatMap(name => name.split('\\n'))
const context = (window.workbenchRuler ??= document.createElement('canvas').getContext('2d'))
context.font = `${axis.major_label_text_font_size} ${axis.major_label_text_font}`
const widest = Math.max(0, ...names.map(name => context.measureText(name).width))
const room = fig.inner_width / Math.abs(fig.x_range.end - fig.x_range.start)
const turned = widest > room - 3 ? Math.PI / 2 : 'horizontal'
if (fig.inner_width > 0 && axis.major_label_orientation !== turned) {
  axis.setv({major_label_orientation: turned}, {sync: false})
}
"""


MOST_TILES = 128
"""Tiles along a side of a matrix of ranks; of more ranks, neighbours share a tile."""


def ranks_per_tile(ranks: int) -> int:
    """Return the number of neighbouring ranks that share a row, and a column, of tiles."""
    return -(-ranks // MOST_TILES)


def between_ranks(ranks: int) -> str:
    """Return words for the two ends of a tile: ``two ranks``, or ``two groups of 3 ranks``."""
    per = ranks_per_tile(ranks)
    return "two ranks" if per == 1 else f"two groups of {per} ranks"


def tile_columns(down: NDArray[Any], across: NDArray[Any], ranks: int) -> dict[str, Any]:
    """Return centre and side, in ranks, and the ranks' names, of tiles by their row and column."""
    per = ranks_per_tile(ranks)

    def named(tile: int) -> str:
        first, last = tile * per, min(tile * per + per, ranks) - 1
        return f"rank {first}" if first == last else f"ranks {first} to {last}"

    return {
        "x": across * per + (per - 1) / 2,
        "y": down * per + (per - 1) / 2,
        "side": np.full(len(down), float(per)),
        "senders": [named(tile) for tile in down.tolist()],
        "receivers": [named(tile) for tile in across.tolist()],
    }


def rank_tiles(
    source: ColumnDataSource,  # x, y and side of a tile in ranks, value, and what the tips show
    mapper: ColorMapper,  # turns ``value`` into a colour
    tips: list[tuple[str, str]],
    *,
    ticks: Ticker | str = "auto",  # of the colours
    height: int,
    max_width: int,
    file_name: str,
) -> figure:
    """Return a figure of square tiles, senders down and receivers across, and their colour bar."""
    fig = new_figure(
        title="",
        y_label="sending rank",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name=file_name,
        x_range=Range1d(),
        y_range=Range1d(),
        max_width=max_width,
    )
    tools_beside(fig)
    tiles = fig.rect(
        x="x",
        y="y",
        width="side",
        height="side",
        source=source,
        fill_color={"field": "value", "transform": mapper},
        line_color=None,
    )
    fig.add_tools(HoverTool(renderers=[tiles], tooltips=tips))
    fig.xaxis.axis_label = "receiving rank"
    fig.axis.ticker = BasicTicker(min_interval=1, mantissas=[1, 2, 4, 8], base=16)
    fig.axis.minor_tick_line_color = None
    fig.grid.grid_line_color = None
    fig.background_fill_color = palette.MISSING
    fig.add_layout(_bar(mapper, ticks), "right")
    return fig


def show_ranks(fig: figure, ranks: int) -> None:
    """Set the axes of `rank_tiles` to a number of ranks, rank 0 on top."""
    fig.x_range.update(start=-0.5, end=ranks - 0.5)
    fig.y_range.update(start=ranks - 0.5, end=-0.5)


def names_below(fig: figure) -> None:
    """Show every name beside and below a heatmap, upright where a column is too narrow for it."""
    axis = fig.xaxis[0]
    for named in fig.axis:
        named.major_label_policy = AllLabels()
    turn = CustomJS(args={"fig": fig, "axis": axis}, code=_TURN_NAMES)
    fig.js_on_change("inner_width", turn)
    axis.js_on_change("major_label_overrides", turn)


def show_tiles(source: ColumnDataSource, columns: Mapping[str, Sequence[Any]]) -> None:
    """Replace a source's tiles; invisible ones make up for fewer.

    BokehJS 3.9.2 fails ("Offset is outside the bounds of the DataView") where texts with colours
    of their own become fewer.
    """
    before = len(source.data.get("text", ()))
    source.data = {
        name: [*values, *[_unseen(name, values)] * (before - len(values))]
        for name, values in columns.items()
    }


def _unseen(name: str, values: Sequence[Any]) -> Any:
    if name == "ink":
        return palette.BLACK
    return "" if name == "text" or (values and isinstance(values[0], str)) else math.nan


def percent_bar(fig: figure, mapper: ColorMapper, ticker: Ticker) -> None:
    """Put a colour bar in percent to the right of a heatmap."""
    bar = _bar(mapper, ticker)
    bar.formatter = PrintfTickFormatter(format="%d %%")
    fig.add_layout(bar, "right")


def _bar(mapper: ColorMapper, ticker: Ticker | str) -> ColorBar:
    return ColorBar(
        color_mapper=mapper,
        ticker=ticker,
        major_label_text_font_size="11px",
        title_text_font_size="11px",
        title_text_font_style="normal",
        width=12,
        padding=4,
        border_line_color=None,
        background_fill_color=None,
    )
