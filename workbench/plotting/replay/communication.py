"""Messages and bytes from each rank to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from bokeh.models import ColorBar, ColumnDataSource, FixedTicker, LogColorMapper
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.grid import short_number
from workbench.plotting.replay.style import size_text
from workbench.plotting.tiles import (
    between_ranks,
    rank_tiles,
    ranks_per_tile,
    show_ranks,
    tile_columns,
)
from workbench.programs.graph import SEND
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from workbench.programs.graph import ExecutionGraph

CommunicationUnit = Literal["bytes", "messages"]
VALUES = ("bytes", "messages")

_DENSE = 2**22  # cells that are counted in a whole matrix rather than by sorting
_MOST_TICKS = 6  # names of 11 px beside the colour bar, some 60 px apart


@dataclass(frozen=True, eq=False)
class CommunicationFigure:
    """The heatmap of a program's messages and its source.

    Attributes:
        figure: the figure.
        source: columns of `matrix_columns`, a row a tile that is not empty.
        mapper: turns the value into a colour.
    """

    figure: figure
    source: ColumnDataSource
    mapper: LogColorMapper

    def show(self, graph: ExecutionGraph, *, value: CommunicationUnit = "bytes") -> None:
        """Draw another program.

        Args:
            graph: the program.
            value: what the colours show, ``bytes`` or ``messages``.

        Raises:
            ParameterError: `value` is neither.
        """
        _check(value)
        columns = matrix_columns(graph)
        shown = columns["value"] = columns[value].astype(np.float64)
        # A tile of empty messages has no logarithm; it gets the colour of the least.
        positive = shown[shown > 0]
        low, high = (positive.min(), positive.max()) if len(positive) else (1.0, 1.0)
        low = low if low < high else high / 10
        self.mapper.update(low=float(low), high=float(high))
        self.source.data = columns
        fig, ranks = self.figure, graph.num_ranks
        show_ranks(fig, ranks)
        bar = next(item for item in fig.right if isinstance(item, ColorBar))
        words, ticks_of = (
            (size_text, _byte_ticks) if value == "bytes" else (short_number, _count_ticks)
        )
        ticks = ticks_of(float(low), float(high))
        bar.ticker = FixedTicker(ticks=ticks)
        bar.major_label_overrides = {tick: words(tick) for tick in ticks}
        fig.title.text = f"{value.capitalize()} between {between_ranks(ranks)}: {graph.source}"


def plot_communication_matrix(
    graph: ExecutionGraph, *, value: CommunicationUnit = "bytes", height: int = 420
) -> figure:
    """Return a heatmap of what each rank sends to each other, senders downwards.

    From 129 ranks on, neighbouring ranks share a tile.

    Args:
        graph: the program.
        value: what the colours show, ``bytes`` or ``messages``.
        height: pixels.

    Raises:
        ParameterError: `value` is neither.
    """
    return communication_figure(graph, value=value, height=height).figure


def communication_figure(
    graph: ExecutionGraph, *, value: CommunicationUnit = "bytes", height: int = 420
) -> CommunicationFigure:
    """Return the live form of `plot_communication_matrix`.

    Args:
        graph: the program.
        value: what the colours show, ``bytes`` or ``messages``.
        height: pixels.

    Raises:
        ParameterError: `value` is neither.
    """
    source = ColumnDataSource()
    mapper = LogColorMapper(palette=list(palette.AMOUNTS), low=1, high=10)
    tips = [
        ("", "@senders to @receivers"),
        ("bytes", "@bytes_text"),
        ("messages", "@messages{0,0}"),
    ]
    fig = rank_tiles(
        source, mapper, tips, height=height, max_width=height + 110, file_name="communication"
    )
    drawn = CommunicationFigure(fig, source, mapper)
    drawn.show(graph, value=value)
    return drawn


def communication_table(graph: ExecutionGraph) -> pd.DataFrame:
    """Return one row for each ordered pair of ranks with messages from the first to the second.

    Args:
        graph: the program.

    Returns:
        ``sender``, ``receiver``, ``messages``, ``bytes``.
    """
    import pandas as pd

    sender, receiver, messages, sizes = _pairs(graph, 1)
    return pd.DataFrame(
        {"sender": sender, "receiver": receiver, "messages": messages, "bytes": sizes}
    )


def matrix_columns(graph: ExecutionGraph) -> dict[str, Any]:
    """Return the columns of the heatmap, a row for each tile that is not empty.

    ``x`` and ``y`` are its centre in ranks and ``side`` its width, ``senders`` and ``receivers``
    its ranks in words, ``messages`` and ``bytes`` the traffic between them.
    """
    down, across, messages, sizes = _pairs(graph, ranks_per_tile(graph.num_ranks))
    return tile_columns(down, across, graph.num_ranks) | {
        "messages": messages.astype(np.float64),
        "bytes": sizes.astype(np.float64),
        "bytes_text": [size_text(size) for size in sizes.tolist()],
    }


def describe_communication(graph: ExecutionGraph) -> str:
    """Return a sentence on the number of pairs of ranks that communicate, and the busiest pair.

    Args:
        graph: the program.
    """
    sender, receiver, messages, sizes = _pairs(graph, 1)
    if not len(sender):
        return "No rank sends anything."
    at = int(np.argmax(sizes))
    ranks = graph.num_ranks
    possible = ranks * (ranks - 1)
    sent = np.bincount(sender, weights=sizes, minlength=ranks)
    most = int(np.argmax(sent))
    ratio = float(sent[most]) / max(float(sent.mean()), 1e-9)
    uneven = (
        f", and rank {most} sends {ratio:.2f} times the mean of a rank" if ratio >= 1.005 else ""
    )
    return (
        f"{len(sender):,} of {possible:,} ordered pairs of ranks exchange messages, "
        f"{int(messages.sum()):,} with {size_text(sizes.sum())} in all; the most bytes go from "
        f"{sender[at]} to {receiver[at]} ({size_text(sizes[at])}){uneven}."
    )


def _pairs(graph: ExecutionGraph, per: int) -> tuple[Any, Any, Any, Any]:
    """Return sender, receiver, messages and bytes of all pairs of groups of `per` ranks."""
    sends = np.flatnonzero(graph.kind == SEND)
    side = -(-graph.num_ranks // per)
    cell = graph.rank_of(sends).astype(np.int64) // per * side + graph.peer[sends] // per
    if side * side <= _DENSE:
        messages = np.bincount(cell, minlength=side * side)
        used = np.flatnonzero(messages)
        # Doubles add bytes exactly up to 2^53.
        sizes = np.bincount(cell, weights=graph.size[sends], minlength=side * side)[used]
        messages = messages[used]
    else:
        used, place, messages = np.unique(cell, return_inverse=True, return_counts=True)
        sizes = np.bincount(place, weights=graph.size[sends])
    return used // side, used % side, messages, sizes.astype(np.int64)


def _byte_ticks(low: float, high: float) -> list[float]:
    """Return powers of two from `low` to `high`, at most six; the ends where there are none."""
    powers = np.arange(np.ceil(np.log2(low)), np.floor(np.log2(high)) + 1)
    powers = powers[:: -(-len(powers) // _MOST_TICKS) or 1]
    return (2.0**powers).tolist() or [low, high]


def _count_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten from `low` to `high`, at most six, and the ends."""
    steps = [m * 10.0**k for k in range(16) for m in (1, 2, 5)]
    steps = [step for step in steps if 1.15 * low < step < high / 1.15]
    return [low, *steps[:: -(-len(steps) // _MOST_TICKS) or 1], high]


def _check(value: str) -> None:
    if value not in VALUES:
        raise ParameterError(
            f"value must be one of {', '.join(VALUES)}; got {value!r}{did_you_mean(value, VALUES)}",
            key="value",
        )
