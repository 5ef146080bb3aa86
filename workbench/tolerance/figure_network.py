"""Where in a network a program is sensitive: pairs of ranks, and the wires of topologies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColorBar,
    ColumnDataSource,
    LinearColorMapper,
    Range1d,
    Span,
)
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import legend_above
from workbench.plotting.descriptions import plain_number, plain_percent
from workbench.plotting.marks import Marks, hover, rule
from workbench.plotting.replay.style import size_text
from workbench.plotting.rows import row_figure
from workbench.plotting.tiles import (
    between_ranks,
    rank_tiles,
    ranks_per_tile,
    show_ranks,
    tile_columns,
)
from workbench.plotting.topology.style import line_styles
from workbench.suggestions import did_you_mean
from workbench.tolerance.curve import PERCENT

if TYPE_CHECKING:
    from workbench.tolerance.pairs import PairSensitivity

    Pairs = PairSensitivity | ArrayLike
    Borne = Mapping[str, Mapping[float, float]]  # by topology, ns by percent

PairSlope = Literal["lambda_L", "lambda_G"]

# What can be drawn: its letter and its unit.
_SLOPES = {
    "lambda_L": ("λ_L", "latencies on the critical path"),
    "lambda_G": ("λ_G", "bytes on the critical path"),
}
_MARKERS = ("circle", "square", "triangle")
_TITLE = "Wire latency that a program tolerates"


@dataclass(frozen=True, eq=False)
class PairsFigure:
    """The heatmap of pairwise sensitivities and its source.

    Attributes:
        figure: the figure.
        source: a row for each tile that is not 0.
        mapper: turns the value into a colour.
    """

    figure: figure
    source: ColumnDataSource
    mapper: LinearColorMapper

    def show(self, pairs: Pairs, *, value: PairSlope = "lambda_L", name: str = "") -> None:
        """Draw other sensitivities; arguments and errors are those of `plot_pairs`."""
        matrix = pair_matrix(pairs, value)
        columns = pair_columns(matrix, value)
        self.mapper.update(low=0.0, high=max([1.0, *columns["value"]]))
        self.source.data = columns
        fig, (letter, unit) = self.figure, _SLOPES[value]
        show_ranks(fig, len(matrix))
        whose = f": {name}" if name else ""
        fig.title.text = f"{letter} between {between_ranks(len(matrix))}{whose}"
        next(item for item in fig.right if isinstance(item, ColorBar)).title = f"{letter} ({unit})"


def plot_pairs(
    pairs: Pairs, value: PairSlope = "lambda_L", *, name: str = "", height: int = 440
) -> figure:
    """Return a heatmap of λ_L or λ_G of each pair of ranks, senders downwards.

    What is not on the critical path is left grey. From 129 ranks on, neighbours share a tile.

    Args:
        pairs: of ``workbench.tolerance.pair_sensitivity``, or a matrix, [ranks, ranks].
        value: ``lambda_L``, latencies, or ``lambda_G``, bytes; names the unit of a matrix.
        name: of the program, for the title.
        height: pixels.

    Raises:
        ParameterError: `value` is not known, or the matrix is not square.
    """
    return pairs_figure(pairs, value=value, name=name, height=height).figure


def pairs_figure(
    pairs: Pairs, *, value: PairSlope = "lambda_L", name: str = "", height: int = 440
) -> PairsFigure:
    """Return the live form of `plot_pairs`, with the same arguments and errors."""
    source = ColumnDataSource(name="pairs")
    mapper = LinearColorMapper(palette=list(palette.AMOUNTS), low=0, high=1)
    tips = [("", "@senders to @receivers"), ("", "@text, @share of all")]
    ticks, size = BasicTicker(min_interval=1), {"height": height, "max_width": height + 130}
    fig = rank_tiles(source, mapper, tips, ticks=ticks, file_name="pairs", **size)
    drawn = PairsFigure(fig, source, mapper)
    drawn.show(pairs, value=value, name=name)
    return drawn


def describe_pairs(pairs: Pairs, *, value: PairSlope = "lambda_L") -> str:
    """Return a sentence on the number of pairs on the critical path, and the pair with the most.

    Arguments and errors are those of `plot_pairs`.
    """
    matrix = pair_matrix(pairs, value)
    whole = float(matrix.sum())
    if whole <= 0:
        return f"No pair of ranks is on the critical path: {_SLOPES[value][0]} is 0."
    source, target = np.unravel_index(int(np.argmax(matrix)), matrix.shape)
    most = float(matrix[source, target])
    return (
        f"{np.count_nonzero(matrix):,} of {len(matrix) * (len(matrix) - 1):,} ordered pairs of "
        f"ranks are on the critical path, with {_text(whole, value)} in all; the most, "
        f"{_text(most, value)} or {plain_percent(100 * most / whole)}, from rank {source} to rank "
        f"{target}."
    )


def pair_matrix(pairs: Pairs, value: PairSlope) -> NDArray[np.float64]:
    """Return the sensitivities of one kind, float64[ranks, ranks]."""
    if value not in _SLOPES:
        known = f"{', '.join(_SLOPES)}; got {value!r}{did_you_mean(value, _SLOPES)}"
        raise ParameterError(f"value must be one of {known}", key="value")
    matrix = np.asarray(getattr(pairs, value, pairs), float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ParameterError(
            f"pairwise sensitivities must be a square matrix, a row and a column for each rank; "
            f"got shape {matrix.shape}",
            key="pairs",
        )
    return matrix


def pair_columns(matrix: NDArray[np.float64], value: PairSlope) -> dict[str, Any]:
    """Return the columns of the heatmap of float64[ranks, ranks], a row for each tile above 0."""
    starts = np.arange(0, len(matrix), ranks_per_tile(len(matrix)))
    tiled = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    down, across = np.nonzero(tiled)
    values = tiled[down, across].tolist()
    whole = max(float(matrix.sum()), 1e-300)
    return tile_columns(down, across, len(matrix)) | {
        "value": values,
        "text": [_text(each, value) for each in values],
        "share": [plain_percent(100 * each / whole) for each in values],
    }


def _text(number: float, value: PairSlope) -> str:
    if value == "lambda_G":
        return size_text(number)
    return f"{number:,.0f} latency" if number == 1 else f"{number:,.0f} latencies"


@dataclass(frozen=True, eq=False)
class WireTolerance:
    """Wire-latency tolerances of a program on several topologies."""

    figure: figure
    marks: Marks  # a row for each topology
    base: Span  # line at the base latency

    def show(
        self,
        tolerances: Borne,
        *,
        base_ns: float,
        names: Sequence[str] = (),  # of the rows, unknown ones too; empty: as tolerances
        title: str = "",
    ) -> None:
        """Draw other tolerances."""
        rows, colours = list(names) or list(tolerances), [colour for colour, *_ in line_styles()]
        borne = {p: [tolerances.get(row, {}).get(p, math.nan) for row in rows] for p in PERCENT}
        known = [ns for column in borne.values() for ns in column if math.isfinite(ns)]
        table: dict[str, Any] = {
            "name": rows,
            "colour": [colours[at % len(colours)] for at in range(len(rows))],
            "base": [base_ns] * len(rows),
            "said": [
                ", ".join(
                    f"{p:g} %: {plain_number(column[at])} ns"
                    for p, column in borne.items()
                    if math.isfinite(column[at])
                )
                for at in range(len(rows))
            ],
        }
        self.marks.update(table | {_column(p): column for p, column in borne.items()})
        self.base.location = base_ns
        fig, high = self.figure, max([base_ns * 1.02, *known])
        span = (high - base_ns) or 1.0
        fig.x_range.update(start=base_ns - 0.06 * span, end=high + 0.1 * span)
        fig.y_range.update(start=max(len(rows), 1) - 0.5, end=-0.5)
        fig.yaxis.ticker.ticks = list(range(len(rows)))
        fig.yaxis.major_label_overrides = dict(enumerate(rows))
        fig.title.text = title or _TITLE


def plot_wire_tolerance(
    tolerances: Borne,
    *,
    base_ns: float,  # latency of a wire at which they start
    title: str = "",
    height: int = 300,
) -> figure:
    """Return the largest wire latency with which a program is 1, 2 and 5 % slower, a row each."""
    return wire_tolerance_figure(tolerances, base_ns=base_ns, title=title, height=height).figure


def wire_tolerance_figure(
    tolerances: Borne, *, base_ns: float, title: str = "", height: int = 300
) -> WireTolerance:
    """Return the live form of `plot_wire_tolerance`."""
    label, name = "wire latency (ns)", "wire-tolerance"
    fig = row_figure([""], title="", x_label=label, file_name=name, x_range=Range1d())
    fig.height = height
    base = rule(fig, x=base_ns, colour=palette.FAINT, dash="dashed")
    marks = Marks(fig, {"name": []})
    drawn = WireTolerance(fig, marks, base)
    drawn.show(tolerances, base_ns=base_ns, title=title)
    marks.spans("base", _column(PERCENT[-1]), "colour", width=2)
    look: dict[str, Any] = {"edge": "white", "size": 9}
    points = [
        marks.points(_column(p), "colour", marker=marker, legend=f"{p:g} %", **look)
        for p, marker in zip(PERCENT, _MARKERS, strict=True)
    ]
    hover(fig, points, [("", "@name"), ("", "@said")])
    legend_above(fig)
    small = {"title_text_font_size": "11px", "title_text_font_style": "normal"}
    fig.legend[0].update(title="run time longer by", title_standoff=2, **small)
    return drawn


def describe_wire_tolerance(tolerances: Borne, program: str, base_ns: float) -> str:
    """Return a sentence on the topologies with the most and the least tolerance (ns)."""
    added = {name: one[1] - base_ns for name, one in tolerances.items() if 1 in one}
    if not added:
        return "Nothing has been analysed yet."
    most, least = max(added, key=added.__getitem__), min(added, key=added.__getitem__)
    more = f"{plain_number(added[most])} ns more on each wire of {most}"
    same = added[most] == added[least]
    less = "" if same else f", and with {plain_number(added[least])} ns on {least}"
    return f"{program} is 1 % slower with {more}{less}."


def _column(percent: float) -> str:
    return f"ns_{percent:g}"
