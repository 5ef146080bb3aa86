"""Sizes of a program's messages: number and bytes of the messages of each size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, NumeralTickFormatter, Range1d
from bokeh.plotting import figure

from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure, set_range
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.marks import Marks, hover
from workbench.plotting.replay.style import size_text
from workbench.programs.graph import SEND

if TYPE_CHECKING:
    import pandas as pd

    from workbench.programs.graph import ExecutionGraph

_MESSAGES, _BYTES = palette.BLUE, palette.ORANGE
_GAP = 0.06  # of a place, at both sides of a bar: neighbours do not touch
_MOST_TICKS = 11  # names such as 512 KiB take 45 px each: 500 px
_LEAST_BINS = 8.0  # room for this many, or a single one would fill the figure


@dataclass(frozen=True, eq=False)
class MessageSizesFigure:
    """The histogram and its source.

    Attributes:
        figure: the figure.
        source: a row for each power of two from the smallest to the largest message.
    """

    figure: figure
    source: ColumnDataSource

    def show(self, graph: ExecutionGraph) -> None:
        """Draw another program.

        Args:
            graph: the program.
        """
        table = message_size_table(graph)
        messages, sizes = (table[n].to_numpy(np.float64) for n in ("messages", "bytes"))
        left = np.floor(np.log2(np.maximum(table["at_least"].to_numpy(), 0.5)))
        self.source.data = {
            "left": left + _GAP,
            "middle": left + 0.5,
            "right": left + 1 - _GAP,
            "messages_share": 100 * messages / max(messages.sum(), 1),
            "bytes_share": 100 * sizes / max(sizes.sum(), 1),
            "messages": messages,
            "bytes_text": [size_text(size) for size in sizes],
            "size": [
                _bin_text(low, high)
                for low, high in zip(table["at_least"], table["at_most"], strict=True)
            ],
        }
        first, last = (float(left.min()), float(left.max()) + 1) if len(left) else (0.0, 1.0)
        fig = self.figure
        middle, half = (first + last) / 2, max((last - first) / 2 + 0.2, _LEAST_BINS / 2)
        set_range(fig.x_range, (middle - half, middle + half))
        edges = np.arange(max(first, 0), last + 1)
        # "0 B" stands half a place before 1 B, whose own name would touch it.
        edges = edges[edges > 0] if first < 0 else edges
        edges = edges[:: -(-len(edges) // _MOST_TICKS) or 1]
        zero = [-0.5] if first < 0 else []
        fig.xaxis.ticker = FixedTicker(ticks=[*zero, *edges.tolist()])
        fig.xaxis.major_label_overrides = {int(k): byte_label(1 << int(k)) for k in edges} | (
            {-0.5: "0 B"} if zero else {}
        )
        fig.title.text = (
            f"Message sizes: {int(messages.sum()):,} messages, {size_text(sizes.sum())}"
        )


def plot_message_sizes(graph: ExecutionGraph, *, height: int = 260) -> figure:
    """Return a histogram over powers of two: the share of the messages beside that of the bytes.

    Args:
        graph: the program.
        height: pixels.
    """
    return message_sizes_figure(graph, height=height).figure


def message_sizes_figure(graph: ExecutionGraph, *, height: int = 260) -> MessageSizesFigure:
    """Return the live form of `plot_message_sizes`.

    Args:
        graph: the program.
        height: pixels.
    """
    source = ColumnDataSource()
    fig = new_figure(
        title="",
        y_label="share of all (%)",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="message_sizes",
        x_range=Range1d(),
        y_range=Range1d(0, 105),
    )
    marks = Marks(fig, source, x="left")
    bars = [
        marks.boxes(ends, (0, f"{what}_share"), colour, legend=f"share of {what}")
        for what, ends, colour in (
            ("messages", ("left", "middle"), _MESSAGES),
            ("bytes", ("middle", "right"), _BYTES),
        )
    ]
    tips = [
        ("size", "@size"),
        ("messages", "@messages{0,0} (@messages_share{0.0} %)"),
        ("bytes", "@bytes_text (@bytes_share{0.0} %)"),
    ]
    hover(fig, bars, tips)
    fig.xaxis.axis_label = "message size"
    fig.yaxis.formatter = NumeralTickFormatter(format="0")
    fig.xgrid.grid_line_color = None
    legend_above(fig)
    fig.toolbar_inner = False
    drawn = MessageSizesFigure(fig, source)
    drawn.show(graph)
    return drawn


def message_size_table(graph: ExecutionGraph) -> pd.DataFrame:
    """Return the number of messages and bytes in each range from one power of two to the next.

    Args:
        graph: the program.

    Returns:
        ``at_least`` and ``at_most`` in bytes, ``messages``, ``bytes``; a row for each power from
        the smallest message to the largest, and one for empty messages if there are any.
    """
    import pandas as pd

    size = graph.size[graph.kind == SEND]
    # 0 for empty messages, k + 1 from 2^k on; exact, where a logarithm of doubles need not be.
    place = np.searchsorted(1 << np.arange(63, dtype=np.int64), size, side="right")
    messages = np.bincount(place)
    sizes = np.zeros(len(messages), np.int64)
    np.add.at(sizes, place, size)
    used = np.flatnonzero(messages)
    rows = np.arange(max(used[0], 1), len(messages)) if len(used) else used
    if len(used) and used[0] == 0:
        rows = np.concatenate([[0], rows[rows >= (used[1] if len(used) > 1 else len(messages))]])
    low = np.where(rows > 0, 1 << np.maximum(rows - 1, 0), 0)
    return pd.DataFrame(
        {
            "at_least": low,
            "at_most": np.maximum(2 * low - 1, 0),
            "messages": messages[rows],
            "bytes": sizes[rows],
        }
    )


def describe_message_sizes(graph: ExecutionGraph) -> str:
    """Return a sentence on the median message size and the size from which on most bytes are sent.

    Args:
        graph: the program.
    """
    size = np.sort(graph.size[graph.kind == SEND])
    if not len(size):
        return "No rank sends anything."
    middle = int(size[(len(size) - 1) // 2])
    text = f"Half of the messages have at most {size_text(middle)}"
    total = int(size.sum())
    if total:
        carried = np.cumsum(size[::-1])
        at = int(np.searchsorted(carried, 0.9 * total))
        share = plain_percent(100 * (at + 1) / len(size))
        text += (
            f"; 90 % of the bytes are in the largest {share} of them, from "
            f"{size_text(int(size[::-1][at]))} on; the largest has {size_text(int(size[-1]))}"
        )
    return text + "."


def _bin_text(low: Any, high: Any) -> str:
    if low == high:
        return size_text(float(low))
    return f"{size_text(float(low))} to below {size_text(float(high) + 1)}"
