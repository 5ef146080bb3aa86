"""A table of numbers on colours: named rows by named columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, FixedTicker, LinearColorMapper, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.plotting import palette
from workbench.plotting.axes import new_figure, tools_beside
from workbench.plotting.marks import hover
from workbench.plotting.tiles import names_below, numbered_tiles, percent_bar

_ROW_PX = 26  # numbers of 12 px, with as much again around them
_AROUND_PX = 110  # title, and names of columns, which may stand upright


def tile_table(
    values: NDArray[np.float64],  # [rows, columns]; nan is drawn empty
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    file_name: str,
    colours: Sequence[str],
    number: str = "{:.1f}",
    tips: Mapping[str, Sequence[str]] | None = None,  # of each place, row by row
    ends: tuple[float, float] | None = None,  # values at the ends of the colours
    percent: bool = False,  # whether the colour bar is in percent
) -> figure:
    """Return a heatmap with the number in each place."""
    known = values[np.isfinite(values)]
    low, high = ends or ((float(known.min()), float(known.max())) if known.size else (0.0, 1.0))
    high = high if high > low else low + 1.0
    mapper = LinearColorMapper(palette=list(colours), low=low, high=high, nan_color=palette.MISSING)
    flat = values.ravel()
    share = np.clip((np.nan_to_num(flat, nan=low) - low) / (high - low), 0, 1)
    shades = [colours[round(float(one) * (len(colours) - 1))] for one in share]
    missing = ~np.isfinite(flat)
    shown: dict[str, Any] = dict(tips or {})
    source = ColumnDataSource(
        data={
            "row": np.repeat(np.arange(len(rows)), len(columns)).tolist(),
            "column": np.tile(np.arange(len(columns)), len(rows)).tolist(),
            "row_name": [name for name in rows for _ in columns],
            "column_name": [name for _ in rows for name in columns],
            "value": flat.tolist(),
            "text": [
                "" if gone else number.format(one) for one, gone in zip(flat, missing, strict=True)
            ],
            "ink": [
                palette.BLACK if gone else palette.ink_on(shade)
                for shade, gone in zip(shades, missing, strict=True)
            ],
            **{f"tip{at}": list(texts) for at, texts in enumerate(shown.values())},
        }
    )
    fig = new_figure(
        title=title,
        y_label="",
        height=_AROUND_PX + _ROW_PX * len(rows),
        x_type="linear",
        y_type="linear",
        file_name=file_name,
        x_range=Range1d(-0.5, len(columns) - 0.5),
        y_range=Range1d(len(rows) - 0.5, -0.5),
    )
    for axis, names in ((fig.xaxis[0], columns), (fig.yaxis[0], rows)):
        axis.ticker = FixedTicker(ticks=list(range(len(names))))
        axis.major_label_overrides = dict(enumerate(names))
    tools_beside(fig)
    tiles = numbered_tiles(fig, source, mapper, text_px=12)
    names_below(fig)
    fig.axis.axis_line_color = None
    fig.axis.major_tick_line_color = fig.axis.minor_tick_line_color = None
    hover(
        fig,
        [tiles],
        [
            ("", "@row_name, @column_name"),
            *((name, f"@tip{at}") for at, name in enumerate(shown)),
        ],
    )
    if percent:
        percent_bar(fig, mapper, BasicTicker(desired_num_ticks=4))
    return fig
