"""Errors of a simulation: signed percent, message size by benchmark, as a heatmap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import (
    ColorBar,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    Range1d,
)
from bokeh.plotting import figure

from workbench.measure.curve import OSUCurve, byte_label
from workbench.plotting import palette
from workbench.plotting.axes import new_figure
from workbench.plotting.tiles import numbered_tiles

_LABELS = 7  # as many as stand beside one another in FitPanel at 1280 px
BENCHMARKS = ("latency", "bandwidth")
FULL_COLOUR = 100.0
"""Percent at which a colour is at its strongest; a larger error keeps it and shows its number."""


@dataclass(frozen=True, eq=False)
class ErrorFigure:
    """The heatmap and its source.

    Attributes:
        figure: the figure.
        source: columns of `error_columns`, one row a cell.
    """

    figure: figure
    source: ColumnDataSource

    def show(self, measured: OSUCurve, simulated: OSUCurve | None) -> None:
        """Draw other curves; the axis is written again only where the sizes are others.

        Args:
            measured: what the errors are relative to.
            simulated: at the same sizes; None empties the figure.
        """
        if measured.sizes.tolist() != self.figure.tags:
            _name_sizes(self.figure, measured)
        self.source.data = error_columns(measured, simulated)


def plot_percent_error(measured: OSUCurve, simulated: OSUCurve, *, height: int = 110) -> figure:
    """Return the heatmap of signed errors: blue too low, near white equal, vermillion too high.

    Args:
        measured: what the errors are relative to.
        simulated: at the same sizes.
        height: pixels.
    """
    return error_figure(measured, simulated, height=height).figure


def error_figure(
    measured: OSUCurve, simulated: OSUCurve | None, *, height: int = 110
) -> ErrorFigure:
    """Return the live form of `plot_percent_error`.

    Args:
        measured: what the errors are relative to.
        simulated: at the same sizes, or None for empty cells.
        height: pixels.
    """
    source = ColumnDataSource(data=error_columns(measured, simulated), name="errors")
    mapper = percent_mapper()
    fig = new_figure(
        title="Percent error by message size",
        y_label="",
        height=height,
        x_type="linear",
        y_type="auto",
        file_name="percent_error",
        x_range=Range1d(),
        y_range=list(reversed(BENCHMARKS)),
    )
    cells = numbered_tiles(fig, source, mapper, x="position", y="benchmark", value="error")
    _name_sizes(fig, measured)
    fig.xaxis.axis_line_color = fig.yaxis.axis_line_color = None
    fig.axis.major_tick_line_color = None
    fig.add_tools(
        HoverTool(
            renderers=[cells],
            tooltips=[("size", "@size"), ("@benchmark", "@error{+0.0} %")],
        )
    )
    fig.add_layout(colour_bar(mapper), "right")
    return ErrorFigure(fig, source)


def error_columns(measured: OSUCurve, simulated: OSUCurve | None) -> dict[str, list[Any]]:
    """Return the columns of the heatmap, a row for each benchmark and size; empty for None."""
    labels = [byte_label(size) for size in measured.sizes.tolist()]
    positions = list(range(len(labels)))
    if simulated is None:
        errors = np.full(2 * len(labels), np.nan)
    else:
        errors = np.concatenate(measured.percent_error(simulated))
    colours = palette.diverging()
    return {
        "position": positions * 2,
        "size": labels * 2,
        "benchmark": [name for name in BENCHMARKS for _ in labels],
        "error": errors.tolist(),
        "text": [percent_text(error) for error in errors.tolist()],
        "ink": [palette.ink_on(cell_colour(error, colours)) for error in errors.tolist()],
    }


def _name_sizes(fig: figure, measured: OSUCurve) -> None:
    """Give every size a column, and a label to those with room for one.

    A slanted label on each of 23 columns took as long to draw as both curves do.
    """
    sizes = measured.sizes.tolist()
    every = -(-len(sizes) // _LABELS)
    ticks = list(range(0, len(sizes), every))
    fig.tags = sizes
    fig.x_range.update(start=-0.5, end=len(sizes) - 0.5)
    fig.xaxis.ticker = FixedTicker(ticks=ticks)
    fig.xaxis.major_label_overrides = {tick: byte_label(sizes[tick]) for tick in ticks}


def percent_text(error: float) -> str:
    """Return a signed percent error in few characters: ``−7``, ``+120``, ``+12k``."""
    if not np.isfinite(error):
        return "–"
    if abs(error) < 0.5:
        return "0"
    scale, letter = next(
        (
            (scale, letter)
            for scale, letter in ((1e6, "M"), (1e3, "k"))
            if abs(error) >= scale - 0.5
        ),
        (1.0, ""),
    )
    return f"{error / scale:+.0f}{letter}".replace("-", "−")


def percent_mapper() -> LinearColorMapper:
    """Return what turns signed percent errors into colours: blue, near white, vermillion."""
    return LinearColorMapper(
        palette=list(palette.diverging()),
        low=-FULL_COLOUR,
        high=FULL_COLOUR,
        nan_color=palette.MISSING,
    )


def cell_colour(error: float, colours: tuple[str, ...]) -> str:
    """Return the colour of a signed percent error, to choose the ink of its number."""
    if not np.isfinite(error):
        return palette.MISSING
    share = (min(max(error, -FULL_COLOUR), FULL_COLOUR) + FULL_COLOUR) / (2 * FULL_COLOUR)
    return colours[min(int(share * len(colours)), len(colours) - 1)]


def colour_bar(mapper: LinearColorMapper) -> ColorBar:
    """Return the colour bar of signed percent errors."""
    return ColorBar(
        color_mapper=mapper,
        ticker=FixedTicker(ticks=[-FULL_COLOUR, 0, FULL_COLOUR]),
        major_label_overrides={
            -FULL_COLOUR: f"−{FULL_COLOUR:.0f} %",
            0: "0 = equal",
            FULL_COLOUR: f"+{FULL_COLOUR:.0f} %",
        },
        major_label_text_font_size="10px",
        width=10,
        padding=2,
        border_line_color=None,
        background_fill_color=None,
    )
