"""Coloured rectangles with a number in each: what all heatmaps are made of."""

from __future__ import annotations

from typing import Any

from bokeh.models import ColorMapper, ColumnDataSource
from bokeh.plotting import figure


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
