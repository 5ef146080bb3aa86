"""A replay sorted for drawing: bars by rank and time, messages by time, the critical path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernels import spacetime as kernel
from workbench.errors import ParameterError
from workbench.programs.graph import CALC, RECV, SEND
from workbench.simulate.replay_result import times_of

if TYPE_CHECKING:
    from workbench.programs.graph import ExecutionGraph
    from workbench.simulate.replay_result import ReplayResult, ReplayTimes

KINDS = ("compute", "send overhead", "receive overhead")
"""What a host is at; everything else is waiting."""

FILLED = 0.8
"""How much of a rank's height is drawn on, where there is room for a gap between ranks."""

KIND_OF = np.zeros(4, np.uint8)
KIND_OF[[CALC, SEND, RECV]] = 0, 1, 2
KIND_OF.flags.writeable = False
"""Place in `KINDS` by the kind of an operation."""


IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Timeline:
    """A replay's bars, messages and critical path, sorted so that a window is found at once.

    The place of a rank on the vertical axis is its number among those shown, from the top; it
    takes 1 there. A rank with several cores has a row for each within that.

    Attributes:
        graph: what was replayed.
        ranks: int64[shown], the ranks that are shown, from the top down.
        lanes: rows of a rank, one for each core that any rank uses.
        row_start: int64[rows + 1], the bars of each row.
        op: int32[bars], the operation of each bar; those that take no time have none.
        begin: int64[bars], ps, ascending in each row.
        end: int64[bars], ps.
        latest: int64[bars], latest end so far in the row, ps.
        widest: int64[blocks], longest of each `kernels.spacetime.BLOCK` bars, ps.
        kind: uint8[bars], place in `KINDS`.
        start_ps: int64[n], by operation: when it was executed; a receive, posted.
        end_ps: int64[n], by operation; a send that waits for its receiver, released.
        synchronous: bool[n], by operation: whether it is such a send.
        mate: int32[n], by operation: the operation at the other end of its message, or -1.
        send: int32[messages], the send of each message.
        depart: int64[messages], ps, ascending: the first byte leaves.
        arrive: int64[messages], ps: the receiver's host takes it.
        reach: int64[messages], latest arrival so far, ps.
        y_from: float64[messages], place of the sender.
        y_to: float64[messages], place of the receiver.
        path_ns: float64[2 * steps], ascending: when the critical path comes to an operation, and
            when it leaves it or its rank.
        path_y: float64[2 * steps], the place; nan on a rank that is not shown.
        finish_ns: float64[shown], the end of each rank.
    """

    graph: ExecutionGraph
    ranks: IntArray
    lanes: int
    row_start: IntArray
    op: NDArray[np.int32]
    begin: IntArray
    end: IntArray
    latest: IntArray
    widest: IntArray
    kind: NDArray[np.uint8]
    start_ps: IntArray
    end_ps: IntArray
    synchronous: NDArray[np.bool_]
    mate: NDArray[np.int32]
    send: NDArray[np.int32]
    depart: IntArray
    arrive: IntArray
    reach: IntArray
    y_from: FloatArray
    y_to: FloatArray
    path_ns: FloatArray
    path_y: FloatArray
    finish_ns: FloatArray

    @property
    def makespan_ns(self) -> float:
        """End of the last rank that is shown, ns."""
        return float(self.finish_ns.max(initial=0.0))


def lane_centre(row: IntArray, lanes: int, filled: float = FILLED) -> FloatArray:
    """Return the places of the middles of rows.

    Args:
        row: rank's place times `lanes`, and the number of the lane.
        lanes: rows of a rank.
        filled: how much of a rank's height its lanes take; the rest parts it from the next.
    """
    return np.asarray(row // lanes + ((row % lanes + 0.5) / lanes - 0.5) * filled)


def work_intervals(result: ReplayResult) -> tuple[IntArray, IntArray]:
    """Return when the host began and ended its work on each operation, int64[n] ps each.

    It is what occupies the host: a send that waits for its receiver is at work for its overhead
    alone, and a receive whose message had come before it was posted when the message came.

    Args:
        result: a replay with times.

    Raises:
        ParameterError: the replay kept no times.
    """
    graph, times, costs = result.graph, times_of(result), result.costs
    begin, end = times.begin_ps, times.end_ps.copy()
    waiting = np.flatnonzero(_synchronous(result))
    if len(waiting):
        end[waiting] = np.minimum(end[waiting], begin[waiting] + costs.send_ps(graph.size[waiting]))
    early = np.flatnonzero((graph.kind == RECV) & (begin < times.start_ps))
    if len(early):
        end[early] = begin[early] + (
            costs.receive_ps(graph.size[times.match[early]])
            if result.semantics == "loggopsim"
            else costs.o
        )
    return begin, np.maximum(begin, end)


def timeline(
    result: ReplayResult, ranks: Iterable[int] | None = None, *, critical: bool = True
) -> Timeline:
    """Return a replay sorted for drawing.

    Args:
        result: a replay with times.
        ranks: which ranks to show, from the top down; None for all.
        critical: also the critical path.

    Raises:
        ParameterError: the replay kept no times, or there is no such rank, or one is named twice.
    """
    graph, times = result.graph, times_of(result)
    chosen, place = _places(graph, ranks)
    begin, end = work_intervals(result)
    # A message occupies the core that its sender names.
    core = np.where(graph.kind == RECV, graph.cpu[times.match], graph.cpu)
    used = np.flatnonzero(np.bincount(core, minlength=1))
    core = np.searchsorted(used, core)
    lanes = max(len(used), 1)
    rank = np.repeat(np.arange(graph.num_ranks), np.diff(graph.rank_start))
    here = place[rank]
    y = lane_centre(here * lanes + core, lanes)
    nowhere = np.zeros(0), np.zeros(0)
    shown_y = np.where(here >= 0, y, np.nan)
    path_ns, path_y = _corners(result, shown_y) if critical else nowhere
    return Timeline(
        graph=graph,
        ranks=chosen,
        lanes=lanes,
        **_bars(graph, here * lanes + core, len(chosen) * lanes, begin, end),
        start_ps=times.start_ps,
        end_ps=times.end_ps,
        synchronous=_synchronous(result),
        mate=times.match,
        **_messages(result, times, here, y),
        path_ns=path_ns,
        path_y=path_y,
        finish_ns=np.asarray(result.finish_ps)[chosen] / 1000,
    )


def _places(graph: ExecutionGraph, ranks: Iterable[int] | None) -> tuple[IntArray, IntArray]:
    """Return the ranks that are shown and, for each rank of all, its place or -1."""
    count = graph.num_ranks
    chosen = np.arange(count) if ranks is None else np.asarray(list(ranks), np.int64)
    if not len(chosen) or chosen.min() < 0 or chosen.max() >= count:
        raise ParameterError(
            f"ranks must be one or more of 0 to {count - 1}; got {chosen.tolist()}", key="ranks"
        )
    if len(np.unique(chosen)) < len(chosen):
        raise ParameterError(f"ranks must be named once each; got {chosen.tolist()}", key="ranks")
    place = np.full(count, -1)
    place[chosen] = np.arange(len(chosen))
    return chosen, place


def _bars(
    graph: ExecutionGraph, row_of: IntArray, rows: int, begin: IntArray, end: IntArray
) -> dict[str, Any]:
    drawn = np.flatnonzero((row_of >= 0) & (end > begin)).astype(np.int32)
    row = row_of[drawn]
    if (np.diff(row) < 0).any():
        order = np.argsort(row, kind="stable")
        drawn, row = drawn[order], row[order]
    row_start = np.searchsorted(row, np.arange(rows + 1)).astype(np.int64)
    kernel.sort_rows(drawn, begin, row_start)
    first, last = begin[drawn], end[drawn]
    latest = np.empty_like(last)
    widest = np.zeros(-(-len(drawn) // kernel.BLOCK), np.int64)
    kernel.widest_in_blocks(first, last, widest)
    overlap = kernel.running_latest(last, row_start, latest)
    return {
        "row_start": row_start,
        "op": drawn,
        "begin": first,
        "end": last,
        "latest": latest if overlap else last,
        "widest": widest,
        "kind": KIND_OF[graph.kind[drawn]],
    }


def _messages(
    result: ReplayResult, times: ReplayTimes, here: IntArray, y: FloatArray
) -> dict[str, Any]:
    """Return the messages between ranks that are shown; the first byte leaves o after the start."""
    sent = np.flatnonzero((result.graph.kind == SEND) & (times.match >= 0) & (here >= 0))
    sent = sent[here[times.match[sent]] >= 0].astype(np.int32)
    taken = times.match[sent]
    arrive = times.begin_ps[taken]
    depart = np.minimum(times.begin_ps[sent] + result.costs.o, arrive)
    order = np.argsort(depart, kind="stable")
    return {
        "send": sent[order],
        "depart": depart[order],
        "arrive": arrive[order],
        "reach": np.maximum.accumulate(arrive[order]),
        "y_from": y[sent][order],
        "y_to": y[taken][order],
    }


def _synchronous(result: ReplayResult) -> NDArray[np.bool_]:
    """Return which operations are sends that wait for their receiver."""
    return np.asarray((result.graph.kind == SEND) & (result.graph.size > result.costs.S))


@dataclass(frozen=True, eq=False)
class Path:
    """The critical path in the order of time; the stretches of its steps join.

    Attributes:
        op: int64[steps], the operation of each step.
        begin: int64[steps], ps.
        end: int64[steps], ps; where the next step begins.
        message: bool[steps], whether what comes next waited for the message of this send.
    """

    op: IntArray
    begin: IntArray
    end: IntArray
    message: NDArray[np.bool_]


def path_of(result: ReplayResult) -> Path:
    """Return the critical path of a replay.

    Args:
        result: with times.

    Raises:
        ParameterError: the replay kept no times.
    """
    steps = result.critical_path()[::-1]
    return Path(
        np.array([step.op for step in steps], np.int64),
        np.array([step.from_ps for step in steps], np.int64),
        np.array([step.to_ps for step in steps], np.int64),
        np.array([step.reason == "message" for step in steps], bool),
    )


def _corners(result: ReplayResult, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return times in ns and places of the critical path: a step stays on its rank to its end.

    One that leads to another rank by a message leaves when the first byte does.
    """
    path = path_of(result)
    leaves = np.where(path.message, np.minimum(path.begin + result.costs.o, path.end), path.end)
    times = np.stack([path.begin, leaves], axis=1).ravel() / 1000
    return times, np.repeat(y[path.op], 2)
