"""Sensitivity of a program's time to each pair of ranks: λ_L and λ_G as a heatmap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from bokeh.models import BasicTicker, ColorBar, ColumnDataSource, LinearColorMapper
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.replay.communication import MOST_TILES
from workbench.plotting.replay.style import size_text
from workbench.plotting.tiles import rank_tiles
from workbench.suggestions import did_you_mean

PairSlope = Literal["lambda_L", "lambda_G"]
VALUES: dict[str, tuple[str, str]] = {
    "lambda_L": ("λ_L", "latencies on the critical path"),
    "lambda_G": ("λ_G", "bytes on the critical path"),
}
"""What can be drawn: its letter and its unit."""


class HasPairs(Protocol):
    """Anything with a sensitivity for each pair of ranks: ``workbench.tolerance.pairs``'."""

    @property
    def lambda_L(self) -> NDArray[Any]:
        """dT/dL of each ordered pair, [ranks, ranks]: senders downwards."""

    @property
    def lambda_G(self) -> NDArray[Any]:
        """dT/dG of each ordered pair, [ranks, ranks], bytes."""


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

    def show(
        self, pairs: HasPairs | ArrayLike, *, value: PairSlope = "lambda_L", name: str = ""
    ) -> None:
        """Draw other sensitivities.

        Args:
            pairs: as in `plot_pairs`.
            value: as in `plot_pairs`.
            name: of the program, for the title.

        Raises:
            ParameterError: `value` is not known, or the matrix is not square.
        """
        matrix = pair_matrix(pairs, value)
        columns = pair_columns(matrix, value)
        self.mapper.update(low=0.0, high=max([1.0, *columns["value"]]))
        self.source.data = columns
        ranks, fig = len(matrix), self.figure
        fig.x_range.update(start=-0.5, end=ranks - 0.5)
        fig.y_range.update(start=ranks - 0.5, end=-0.5)
        per = _ranks_in_tile(ranks)
        letter, unit = VALUES[value]
        between = "two ranks" if per == 1 else f"two groups of {per} ranks"
        whose = f": {name}" if name else ""
        fig.title.text = f"{letter} between {between}{whose}"
        next(item for item in fig.right if isinstance(item, ColorBar)).title = f"{letter} ({unit})"


def plot_pairs(
    pairs: HasPairs | ArrayLike,
    value: PairSlope = "lambda_L",
    *,
    name: str = "",
    height: int = 440,
) -> figure:
    """Return a heatmap of λ_L or λ_G of each pair of ranks, senders downwards.

    What is not on the critical path is left grey. From 129 ranks on, neighbours share a tile.

    Args:
        pairs: sensitivities with ``lambda_L`` and ``lambda_G``, or a matrix of one of them,
            [ranks, ranks].
        value: ``lambda_L``, latencies, or ``lambda_G``, bytes; names the unit of a matrix.
        name: of the program, for the title.
        height: pixels.

    Raises:
        ParameterError: `value` is not known, or the matrix is not square.
    """
    return pairs_figure(pairs, value=value, name=name, height=height).figure


def pairs_figure(
    pairs: HasPairs | ArrayLike,
    *,
    value: PairSlope = "lambda_L",
    name: str = "",
    height: int = 440,
) -> PairsFigure:
    """Return the live form of `plot_pairs`.

    Args:
        pairs: as in `plot_pairs`.
        value: as in `plot_pairs`.
        name: of the program, for the title.
        height: pixels.

    Raises:
        ParameterError: `value` is not known, or the matrix is not square.
    """
    source = ColumnDataSource(name="pairs")
    mapper = LinearColorMapper(palette=list(palette.AMOUNTS), low=0, high=1)
    tips = [("", "@senders to @receivers"), ("", "@text, @share of all")]
    fig = rank_tiles(
        source,
        mapper,
        tips,
        ticks=BasicTicker(min_interval=1),
        height=height,
        max_width=height + 130,
        file_name="pairs",
    )
    drawn = PairsFigure(fig, source, mapper)
    drawn.show(pairs, value=value, name=name)
    return drawn


def describe_pairs(pairs: HasPairs | ArrayLike, *, value: PairSlope = "lambda_L") -> str:
    """Return a sentence on the number of pairs on the critical path, and the pair with the most.

    Args:
        pairs: as in `plot_pairs`.
        value: as in `plot_pairs`.

    Raises:
        ParameterError: `value` is not known, or the matrix is not square.
    """
    matrix = pair_matrix(pairs, value)
    letter, _ = VALUES[value]
    whole = float(matrix.sum())
    if whole <= 0:
        return f"No pair of ranks is on the critical path: {letter} is 0."
    used = int(np.count_nonzero(matrix))
    source, target = np.unravel_index(int(np.argmax(matrix)), matrix.shape)
    most = float(matrix[source, target])
    possible = len(matrix) * (len(matrix) - 1)
    return (
        f"{used:,} of {possible:,} ordered pairs of ranks are on the critical path, with "
        f"{_text(whole, value)} in all; the most, {_text(most, value)} or "
        f"{plain_percent(100 * most / whole)}, from rank {source} to rank {target}."
    )


def pair_matrix(pairs: HasPairs | ArrayLike, value: PairSlope) -> NDArray[np.float64]:
    """Return the sensitivities of one kind, float64[ranks, ranks]."""
    if value not in VALUES:
        raise ParameterError(
            f"value must be one of {', '.join(VALUES)}; got {value!r}{did_you_mean(value, VALUES)}",
            key="value",
        )
    matrix = np.asarray(getattr(pairs, value, pairs), float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ParameterError(
            f"pairwise sensitivities must be a square matrix, a row and a column for each rank; "
            f"got shape {matrix.shape}",
            key="pairs",
        )
    return matrix


def pair_columns(matrix: NDArray[np.float64], value: PairSlope) -> dict[str, list[Any]]:
    """Return the columns of the heatmap of float64[ranks, ranks], a row for each tile above 0."""
    ranks = len(matrix)
    per = _ranks_in_tile(ranks)
    starts = np.arange(0, ranks, per)
    tiled = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    down, across = np.nonzero(tiled)
    values = tiled[down, across]
    whole = max(float(matrix.sum()), 1e-300)

    def ranks_text(tile: int) -> str:
        first, last = tile * per, min(tile * per + per, ranks) - 1
        return f"rank {first}" if first == last else f"ranks {first} to {last}"

    return {
        "x": (across * per + (per - 1) / 2).tolist(),
        "y": (down * per + (per - 1) / 2).tolist(),
        "side": [float(per)] * len(values),
        "value": values.tolist(),
        "senders": [ranks_text(tile) for tile in down.tolist()],
        "receivers": [ranks_text(tile) for tile in across.tolist()],
        "text": [_text(each, value) for each in values.tolist()],
        "share": [plain_percent(100 * each / whole) for each in values.tolist()],
    }


def _text(number: float, value: PairSlope) -> str:
    if value == "lambda_G":
        return size_text(number)
    return f"{number:,.0f} latency" if number == 1 else f"{number:,.0f} latencies"


def _ranks_in_tile(ranks: int) -> int:
    return -(-ranks // MOST_TILES)
