"""The time of each rank: compute, overhead of messages, noise and waiting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, HoverTool, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure, set_range
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.marks import Marks
from workbench.plotting.replay.style import (
    COMPUTE,
    SEND_OVERHEAD,
    WAITING,
    caption,
    time_axis,
    time_text,
)

if TYPE_CHECKING:
    import pandas as pd

    from workbench.simulate.replay_result import ReplayResult

PARTS = ("compute", "overhead", "noise", "waiting")
MOST_BARS = 64
"""Ranks with a bar each; of more, as many groups of like ranks have one."""

_COLOURS = (COMPUTE, SEND_OVERHEAD, palette.PURPLE, WAITING)
_HEADROOM = 1.04  # of the longest bar, or its end would be the frame


@dataclass(frozen=True, eq=False)
class BreakdownFigure:
    """The stacked bars and their source.

    Attributes:
        figure: the figure.
        source: columns of `breakdown_columns`, a row a bar.
    """

    figure: figure
    source: ColumnDataSource

    def show(self, result: ReplayResult, *, top_ns: float | None = None) -> None:
        """Draw another replay.

        Args:
            result: with or without times.
            top_ns: end of the time axis, ns, so that two figures can be compared; None for the
                makespan.
        """
        columns = breakdown_columns(result.breakdown())
        self.source.data = columns
        fig, bars, ranks = self.figure, len(columns["x"]), result.graph.num_ranks
        tallest = max(columns["waiting_top"], default=0.0)
        set_range(fig.y_range, (0.0, _HEADROOM * max(tallest, top_ns or 0.0, 1e-3)))
        set_range(fig.x_range, (-0.5, bars - 0.5))
        for renderer, part in zip(fig.renderers, PARTS, strict=True):
            renderer.visible = part != "noise" or any(columns["noise_ns"])
        fig.legend[0].items[PARTS.index("noise")].visible = any(columns["noise_ns"])
        each = "core" if result.graph.num_cpus > 1 else "rank"
        fig.yaxis.axis_label = f"time of a {each}"
        if bars == ranks:
            fig.xaxis.axis_label = "rank"
            fig.xaxis.major_label_text_alpha = fig.xaxis.major_tick_line_alpha = 1.0
        else:
            least, most = ranks // bars, -(-ranks // bars)
            size = f"{most}" if least == most else f"{least} or {most}"
            fig.xaxis.axis_label = (
                f"{ranks} ranks, the busiest first; each bar is the mean of {size}"
            )
            # A place on this axis is no rank: its numbers would be taken for one.
            fig.xaxis.major_label_text_alpha = fig.xaxis.major_tick_line_alpha = 0.0
        fig.title.text = f"Time of each rank: {result.graph.source}, {ranks} ranks"
        caption(fig, result.provenance)


def plot_breakdown(result: ReplayResult, *, height: int = 280) -> figure:
    """Return a bar for each rank that adds up to its end: compute, overhead, noise, waiting.

    More than 64 ranks are sorted by how busy they are and averaged in 64 groups.

    Args:
        result: with or without times.
        height: pixels.
    """
    return breakdown_figure(result, height=height).figure


def breakdown_figure(
    result: ReplayResult, *, height: int = 280, top_ns: float | None = None
) -> BreakdownFigure:
    """Return the live form of `plot_breakdown`.

    Args:
        result: with or without times.
        height: pixels.
        top_ns: end of the time axis, ns; None for the makespan.
    """
    source = ColumnDataSource(data=breakdown_columns(result.breakdown()), name="breakdown")
    fig = new_figure(
        title="",
        y_label="time",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="breakdown",
        x_range=Range1d(),
        y_range=Range1d(),
    )
    below: float | str = 0
    bars, marks = [], Marks(fig, source, x="x")
    for part, colour in zip(PARTS, _COLOURS, strict=True):
        named, top = part if part != "overhead" else "overhead of messages", f"{part}_top"
        bars.append(marks.bars(top, colour, start=below, thick=0.86, legend=named))
        below = top
    tips = [("", "@name"), *((part, f"@{part}_text") for part in PARTS), ("end", "@finish_text")]
    fig.add_tools(HoverTool(renderers=bars, tooltips=tips, point_policy="follow_mouse"))
    fig.xgrid.grid_line_color = None
    fig.xaxis.ticker = BasicTicker(min_interval=1)
    fig.xaxis.minor_tick_line_color = None
    time_axis(fig.yaxis[0])
    legend_above(fig)
    fig.toolbar_inner = False
    drawn = BreakdownFigure(fig, source)
    drawn.show(result, top_ns=top_ns)
    return drawn


def breakdown_columns(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the columns of the source, a row for each bar, from ``ReplayResult.breakdown``.

    ``x`` is its place and ``name`` its ranks; ``compute_ns`` to ``waiting_ns`` and ``finish_ns``
    are means over cores and ranks, ``…_top`` ends of the parts, ``…_text`` their time and share.
    """
    cores = table["cores"].to_numpy(np.float64)
    values: dict[str, FloatArray] = {
        f"{part}_ns": table[f"{part}_ns"].to_numpy(np.float64) / cores for part in PARTS
    }
    values["finish_ns"] = table["finish_ns"].to_numpy(np.float64)
    ranks = len(table)
    names = [f"rank {rank}" for rank in table["rank"]]
    if ranks > MOST_BARS:
        busy = values["compute_ns"] + values["overhead_ns"] + values["noise_ns"]
        groups = np.array_split(np.argsort(-busy, kind="stable"), MOST_BARS)
        values = {
            name: np.array([every[group].mean() for group in groups])
            for name, every in values.items()
        }
        ids = table["rank"].to_numpy()
        names = [_group_name(ids[group]) for group in groups]
    columns: dict[str, list[Any]] = {"x": list(range(len(names))), "name": names}
    top = np.zeros(len(names))
    for part in PARTS:
        part_ns = values[f"{part}_ns"]
        top = top + part_ns
        columns[f"{part}_top"] = top.tolist()
        columns[f"{part}_text"] = _texts(part_ns, values["finish_ns"])
    columns["finish_text"] = [time_text(ns) for ns in values["finish_ns"]]
    return columns | {name: value.tolist() for name, value in values.items()}


def describe_breakdown(result: ReplayResult) -> str:
    """Return a sentence on the shares of compute, overhead and waiting, and who waits most.

    Args:
        result: with or without times.
    """
    table = result.breakdown()
    cores = table["cores"].to_numpy(np.float64)
    whole = float((table["finish_ns"] * cores).sum())
    if whole <= 0:
        return "No rank takes any time."
    shares = {part: 100 * float(table[f"{part}_ns"].sum()) / whole for part in PARTS}
    waiting = (table["waiting_ns"] / cores).to_numpy(np.float64)
    at = int(np.argmax(waiting))
    noise = f", lose {plain_percent(shares['noise'])} to noise" if shares["noise"] else ""
    longest = (
        f"; rank {table['rank'].iloc[at]} waits longest, {time_text(float(waiting[at]))} of its "
        f"{time_text(float(table['finish_ns'].iloc[at]))}"
        if waiting[at] > 0
        else ""
    )
    return (
        f"Over all ranks until their end they compute {plain_percent(shares['compute'])} of the "
        f"time, spend {plain_percent(shares['overhead'])} on messages{noise} and wait "
        f"{plain_percent(shares['waiting'])}{longest}."
    )


def _texts(part_ns: FloatArray, finish_ns: FloatArray) -> list[str]:
    shares = 100 * np.divide(part_ns, finish_ns, out=np.zeros_like(part_ns), where=finish_ns > 0)
    return [
        f"{time_text(ns)} ({plain_percent(share)})"
        for ns, share in zip(part_ns.tolist(), shares.tolist(), strict=True)
    ]


def _group_name(ranks: NDArray[np.int64]) -> str:
    """Return ``mean of ranks 3, 5, 17 and 13 more``."""
    first = ", ".join(str(rank) for rank in sorted(ranks)[:3])
    more = len(ranks) - 3
    return f"mean of ranks {first}" + (f" and {more} more" if more > 0 else "")
