"""Pairs of a posterior's parameters: which values go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import GridBox, LayoutDOM, LinearColorMapper, Range1d
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import new_figure, plain_log_ticks
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.uq.posterior import draw_histogram, verdict_word
from workbench.plotting.uq.quantities import Quantity, quantities
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.uq.posterior import Posterior

MOST = 6
"""Quantities that have room beside one another."""

_BINS = 24  # tiles along a side of a figure: of six on 1400 px each tile has 8
_AXIS_PX = 72  # room for the labels of a vertical axis, which only the first column has
_LEAST_PX = 60  # six and the axis fit on a page 450 px wide
_STRONG = 0.5  # a large correlation by Cohen (1988)


def plot_posterior_pairs(
    posterior: Posterior, names: Sequence[str] | None = None, *, height: int = 150
) -> LayoutDOM:
    """Return the density of each pair of parameters, below that of each alone.

    Args:
        posterior: of ``workbench.uq.calibrate``.
        names: of at most 6 parameters or hyper-parameters; the first 6 parameters by default.
        height: of each figure, px.

    Raises:
        ParameterError: the posterior has no draws, a name is not known, or there are more than 6.
    """
    found = _picked(posterior, names)
    ranges = [Range1d(*quantity.ends) for quantity in found]
    tiles = {
        (row, column): _tiles(found[row], found[column])
        for row in range(len(found))
        for column in range(row)
    }
    most = max((max(data["percent"]) for data in tiles.values()), default=1.0)
    mapper = LinearColorMapper(palette=list(palette.AMOUNTS), low=0.0, high=most)
    cells: list[tuple[LayoutDOM, int, int]] = []
    for row, down in enumerate(found):
        for column in range(row + 1):
            last = row == len(found) - 1
            fig = _alone(down, height) if row == column else _pair(down, found[column], height)
            fig.x_range = ranges[column]
            if row > column:
                fig.y_range = ranges[row]
                _draw_tiles(fig, tiles[row, column], mapper, found[column], down)
            fig.height = height + (34 if last else 0)
            fig.xaxis.visible = last
            fig.yaxis.visible = column == 0 and row > 0
            fig.min_border_left = _AXIS_PX if column == 0 else 4
            cells.append((fig, row, column))
    share = f"calc((100% - {_AXIS_PX}px) / {len(found)})"
    first = f"calc((100% - {_AXIS_PX}px) / {len(found)} + {_AXIS_PX - 4}px)"
    columns = [first, *[share] * (len(found) - 1)]
    return stacked(
        heading(
            f"Pairs of parameters of the posterior, {posterior.noise.name} noise: "
            f"{verdict_word(posterior)}",
            f"r is the correlation; the darkest tile holds {most:.1f} % of the draws, a tile "
            "without draws has no colour",
        ),
        GridBox(children=cells, cols=columns, sizing_mode="stretch_width"),
        sentence(_reading(found)),
    )


def _picked(posterior: Posterior, names: Sequence[str] | None) -> list[Quantity]:
    found = {quantity.name: quantity for quantity in quantities(posterior)}
    if names is None:
        return [found[name] for name in posterior.names[:MOST]]
    for name in names:
        if name not in found:
            raise ParameterError(
                f"names must be of {', '.join(found)}; got {name!r}{did_you_mean(name, found)}",
                key="names",
            )
    if not 1 <= len(names) <= MOST:
        raise ParameterError(
            f"names must be 1 to {MOST} parameters, which have room; got {len(names)}", key="names"
        )
    return [found[name] for name in names]


def _alone(quantity: Quantity, height: int) -> figure:
    fig = new_figure(
        title=quantity.label,
        y_label="",
        height=height,
        x_type=quantity.axis_type,
        y_type="linear",
        file_name=f"posterior {quantity.name}",
        y_range=Range1d(),
    )
    _axes(fig, quantity)
    fig.y_range.end = 1.08 * draw_histogram(fig, quantity, _BINS)
    fig.ygrid.grid_line_color = None
    return fig


def _pair(down: Quantity, across: Quantity, height: int) -> figure:
    fig = new_figure(
        title=f"r = {_correlation(down, across):+z.2f}".replace("-", "−"),
        y_label=down.label,
        height=height,
        x_type=across.axis_type,
        y_type=down.axis_type,
        file_name=f"pair {across.name} {down.name}",
    )
    _axes(fig, across)
    if down.logarithmic:
        plain_log_ticks(fig.yaxis, count=3)
    else:
        fig.yaxis.ticker.desired_num_ticks = 3
    return fig


def _axes(fig: figure, across: Quantity) -> None:
    fig.xaxis.axis_label = across.label
    fig.title.text_font_size, fig.title.align = "11px", "center"
    fig.outline_line_color = palette.FRAME
    fig.min_width = _LEAST_PX
    fig.grid.grid_line_color = None
    if across.logarithmic:
        plain_log_ticks(fig.xaxis, count=3)
    else:
        fig.xaxis.ticker.desired_num_ticks = 3


def _tiles(down: Quantity, across: Quantity) -> dict[str, list[float]]:
    """Return the tiles that hold draws, with their share in percent."""
    x, y = across.grid(_BINS), down.grid(_BINS)
    counts = np.histogram2d(across.drawn.ravel(), down.drawn.ravel(), (x, y))[0]
    column, row = np.nonzero(counts)
    return {
        "left": x[column].tolist(),
        "right": x[column + 1].tolist(),
        "bottom": y[row].tolist(),
        "top": y[row + 1].tolist(),
        "percent": (100 * counts[column, row] / down.drawn.size).tolist(),
    }


def _draw_tiles(
    fig: figure,
    data: dict[str, list[float]],
    mapper: LinearColorMapper,
    across: Quantity,
    down: Quantity,
) -> None:
    tips = [
        (across.label, "@left{0.[0000]} to @right{0.[0000]}"),
        (down.label, "@bottom{0.[0000]} to @top{0.[0000]}"),
        ("draws", "@percent{0.00} %"),
    ]
    colour = {"field": "percent", "transform": mapper}
    Marks(fig, data).boxes(("left", "right"), ("bottom", "top"), colour, tips=tips)


def _correlation(one: Quantity, other: Quantity) -> float:
    """Return the correlation of the draws, of their logarithms where the axis is logarithmic."""
    columns = [np.log(q.drawn) if q.logarithmic else q.drawn for q in (one, other)]
    if any(np.ptp(column) == 0 for column in columns):
        return float("nan")
    return float(np.corrcoef(columns[0].ravel(), columns[1].ravel())[0, 1])


def _reading(found: Sequence[Quantity]) -> str:
    pairs = [
        (one.name, other.name, _correlation(one, other))
        for at, one in enumerate(found)
        for other in found[at + 1 :]
    ]
    strong = sorted((p for p in pairs if abs(p[2]) >= _STRONG), key=lambda p: -abs(p[2]))
    if not strong:
        return f"No two of them are correlated by {_STRONG:g} or more."
    named = [f"{one} and {other} ({value:+.2f})" for one, other, value in strong]
    text = ", ".join(named).replace("(-", "(−")
    return f"The measurements determine these together better than each alone: {text}."
