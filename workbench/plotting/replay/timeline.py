"""A replay sorted for drawing: bars by rank and time, messages by time, the critical path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernels import spacetime as kernel
from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.programs.graph import CALC, RECV, SEND
from workbench.programs.program import MPI_CALLS
from workbench.simulate.replay_result import times_of
from workbench.simulate.root_causes import calls_of, root_causes
from workbench.simulate.waiting import has_causes

if TYPE_CHECKING:
    from workbench.programs.graph import ExecutionGraph
    from workbench.simulate.replay_result import ReplayResult, ReplayTimes
    from workbench.simulate.root_causes import RootCauses

KINDS = ("compute", "send overhead", "receive overhead")
"""The activities of a host; everything else is waiting."""

FILLED = 0.8
"""How much of a rank's height is drawn on, where there is room for a gap between ranks."""

KIND_OF = np.zeros(4, np.uint8)
KIND_OF[[CALC, SEND, RECV]] = 0, 1, 2
KIND_OF.flags.writeable = False
"""Place in `KINDS` by the kind of an operation."""


@dataclass(frozen=True, eq=False)
class Timeline:
    """A replay's bars, messages and critical path, sorted so that a window is found quickly.

    A rank's place on the vertical axis is its index among the shown ranks, from the top; each has a
    height of 1, with a row for each core. Times are in ps unless named otherwise.
    """

    graph: ExecutionGraph
    ranks: IntArray  # int64[shown], from the top down
    lanes: int  # rows of a rank, one for each core that any rank uses
    row_start: IntArray  # int64[rows + 1], first bar of each row
    op: NDArray[np.int32]  # int32[bars], operation; those that take no time have no bar
    begin: IntArray  # int64[bars], ascending in each row
    end: IntArray  # int64[bars]
    latest: IntArray  # int64[bars], latest end so far in the row
    widest: IntArray  # int64[blocks], longest of each `kernels.spacetime.BLOCK` bars
    kind: NDArray[np.uint8]  # uint8[bars], index in `KINDS`
    start_ps: IntArray  # int64[operations], executed; a receive: posted
    end_ps: IntArray  # int64[operations]; a synchronous send: released
    synchronous: NDArray[np.bool_]  # bool[operations], a send that waits for its receiver
    mate: NDArray[np.int32]  # int32[operations], other end of the message, or -1
    send: NDArray[np.int32]  # int32[messages], operation
    depart: IntArray  # int64[messages], ascending: the first byte leaves
    arrive: IntArray  # int64[messages], the receiver's host takes it
    reach: IntArray  # int64[messages], latest arrival so far
    y_from: FloatArray  # float64[messages], place of the sender
    y_to: FloatArray  # float64[messages], place of the receiver
    path_ns: FloatArray  # float64[2 * steps], arrival at a step and leaving it, ascending
    path_y: FloatArray  # float64[2 * steps], place; nan on a rank that is not shown
    finish_ns: FloatArray  # float64[shown], end of each rank
    causes: RootCauses | None  # of waiting, where the replay has them
    causes_row: IntArray  # int64[gaps], row of each gap, -1 on a rank that is not shown
    calls: tuple[IntArray, IntArray]  # of each work of `causes`: place of its name, number
    call_names: tuple[str, ...]  # of calls, for bars and waits

    @property
    def makespan_ns(self) -> float:
        """End of the last rank that is shown, ns."""
        return float(self.finish_ns.max(initial=0.0))


def lane_centre(row: IntArray, lanes: int, filled: float = FILLED) -> FloatArray:
    """Return the centres of rows (place * lanes + lane); lanes fill `filled` of a rank's height."""
    return np.asarray(row // lanes + ((row % lanes + 0.5) / lanes - 0.5) * filled)


def work_intervals(result: ReplayResult) -> tuple[IntArray, IntArray]:
    """Return begin and end of the host's work on each operation, int64[n] ps each.

    A synchronous send works for its overhead alone; a receive whose message arrived before it was
    posted works when the message arrives.
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
    result: ReplayResult,
    ranks: Iterable[int] | None = None,
    *,
    critical: bool = True,
    causes: RootCauses | None = None,
) -> Timeline:
    """Return a replay sorted for drawing; `ranks` are the shown ones, from the top down.

    None computes the root causes of waiting where a replay has them.
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
        **_waits(result, place, used, causes),
    )


def _waits(
    result: ReplayResult, place: IntArray, used: IntArray, causes: RootCauses | None
) -> dict[str, Any]:
    """Return the causes of waiting of a replay that has them, and where its gaps are drawn."""
    nowhere = np.zeros(0, np.int64)
    if not has_causes(result):
        none: dict[str, Any] = {"causes": None, "causes_row": nowhere}
        return {**none, "calls": (nowhere, nowhere), "call_names": MPI_CALLS}
    found = causes or root_causes(result)
    rank, core = np.divmod(found.gaps.core, result.graph.num_cpus)
    row = place[rank] * max(len(used), 1) + np.searchsorted(used, core)
    name, number, names = calls_of(result.graph, found.gaps)
    return {
        "causes": found,
        "causes_row": np.where(place[rank] >= 0, row, -1),
        "calls": (name, number),
        "call_names": names,
    }


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
    """Return a mask of the sends that wait for their receiver, bool[operations]."""
    return np.asarray((result.graph.kind == SEND) & (result.graph.size > result.costs.S))


@dataclass(frozen=True, eq=False)
class Path:
    """The critical path in order of time; each step ends where the next begins."""

    op: IntArray  # int64[steps]
    begin: IntArray  # int64[steps], ps
    end: IntArray  # int64[steps], ps
    message: NDArray[np.bool_]  # bool[steps], the next step waited for this send's message


def path_of(result: ReplayResult) -> Path:
    """Return the critical path of a replay."""
    steps = result.critical_path()[::-1]
    return Path(
        np.array([step.op for step in steps], np.int64),
        np.array([step.from_ps for step in steps], np.int64),
        np.array([step.to_ps for step in steps], np.int64),
        np.array([step.reason == "message" for step in steps], bool),
    )


def _corners(result: ReplayResult, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return times (ns) and places of the critical path, float64[2 * steps] each.

    The path stays on a step's rank until its end, or until the first byte of its message leaves.
    """
    path = path_of(result)
    leaves = np.where(path.message, np.minimum(path.begin + result.costs.o, path.end), path.end)
    times = np.stack([path.begin, leaves], axis=1).ravel() / 1000
    return times, np.repeat(y[path.op], 2)
