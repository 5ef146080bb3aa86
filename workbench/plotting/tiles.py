"""Coloured rectangles with a number in each and their colour bar: what heatmaps are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bokeh.models import ColorBar, ColorMapper, ColumnDataSource, PrintfTickFormatter, Ticker
from bokeh.plotting import figure

from workbench.plotting import palette


def numbered_tiles(
    fig: figure,
    source: ColumnDataSource,
    mapper: ColorMapper,
    *,
    x: str = "column",
    y: str = "row",
    value: str = "value",
    text_px: int = 11,
    **look: Any,
) -> Any:
    """Draw a rectangle for each row of a source, with its number, and return the rectangles.

    Args:
        fig: the figure, which loses its grid.
        source: columns `x`, `y` and `value`, `text` and `ink`, the text's colour.
        mapper: turns `value` into a colour.
        x: column of the places across.
        y: column of the places down.
        value: column of what is coloured.
        text_px: size of the numbers.
        look: further properties of the rectangles.
    """
    tiles = fig.rect(
        x=x,
        y=y,
        width=1,
        height=1,
        source=source,
        fill_color={"field": value, "transform": mapper},
        line_color="white",
        **look,
    )
    fig.text(
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
    fig.grid.grid_line_color = None
    return tiles


def show_tiles(source: ColumnDataSource, columns: Mapping[str, Sequence[Any]]) -> None:
    """Give a source other tiles; where they are fewer, invisible ones keep up their number.

    BokehJS 3.9.2 fails ("Offset is outside the bounds of the DataView") where texts with colours
    of their own become fewer.

    Args:
        source: of `numbered_tiles`.
        columns: its columns, all of one length.
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
    """Put a colour bar in percent to the right of a heatmap.

    Args:
        fig: the figure.
        mapper: turns percent into a colour.
        ticker: says where the bar has numbers.
    """
    bar = ColorBar(
        color_mapper=mapper,
        ticker=ticker,
        formatter=PrintfTickFormatter(format="%d %%"),
        major_label_text_font_size="11px",
        width=12,
        padding=4,
        border_line_color=None,
    )
    fig.add_layout(bar, "right")
