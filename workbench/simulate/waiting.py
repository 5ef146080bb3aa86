"""Why the ranks of a replay waited: late senders and receivers, collectives, messages under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.programs.graph import CALC, RECV, SEND
from workbench.programs.program import FIRST_COLLECTIVE
from workbench.simulate.picoseconds import PS_PER_NS
from workbench.simulate.replay_result import CPU, DEPENDENCY, NIC, STARTED, times_of
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

    from workbench.programs.graph import ExecutionGraph
    from workbench.simulate.replay_result import ReplayResult, ReplayTimes

IntArray = NDArray[np.int64]

CAUSES = ("late_sender", "late_receiver", "collective", "transfer", "other")
"""Causes of waiting, in the order of the table's columns."""

_LATE_SENDER, _LATE_RECEIVER, _COLLECTIVE, _TRANSFER, _OTHER = range(5)  # places in CAUSES

_LEAST_PERCENT = 0.05  # chosen: less is 0.0 % in a sentence whose largest shares are tens of %

CAUSE_TEXTS = {
    "late_sender": "for senders that had not begun to send",
    "late_receiver": "for receivers that had not posted their receive",
    "collective": "in collectives for ranks that were behind",
    "transfer": "for messages under way",
    "other": "on cores without work",
}
"""What each cause is, to be read after "waiting"."""


def describe_waiting(result: ReplayResult) -> str:
    """Return a sentence with the share of each cause in the ranks' waiting."""
    table = waiting_causes(result)
    total = float(table["waiting_ns"].sum())
    if total <= 0:
        return "No rank waits."
    shares = {cause: 100 * float(table[f"{cause}_ns"].sum()) / total for cause in CAUSES}
    parts = [
        f"{share:.3g} % {CAUSE_TEXTS[cause]}"
        for cause, share in sorted(shares.items(), key=lambda item: -item[1])
        if share >= _LEAST_PERCENT
    ]
    return f"Of all waiting, {format_quantity(total / 1e9, 'time')}, {', '.join(parts)}."


@dataclass(frozen=True, eq=False)
class Gaps:
    """When cores waited, in the order of cores and times, and the work of the cores between.

    Gap ``k`` ends where work ``k`` begins. After a core's last work comes one of 0 ps, whose ``op``
    is -1: the end of its rank.
    """

    core: IntArray  # int64[n], of work and gap: rank * cores of a rank + core
    op: IntArray  # int64[n], operation worked on; for a message its receive
    begin: IntArray  # int64[n], ps; begin of the work, end of the gap
    end: IntArray  # int64[n], ps; end of the work
    start: IntArray  # int64[n], ps; start of the gap
    awaited: IntArray  # int64[n], operation of this rank whose message is waited for, or -1
    kind: IntArray  # int64[n], place in `CAUSES`; of a message, of the late part
    late: IntArray  # int64[n], ps; part of the gap before the other rank sends, or receives
    ends: IntArray  # int64[n], the work that ends the wait: `k`, or one behind unexpected messages

    @property
    def length(self) -> IntArray:
        """How long each core waits, int64[n], ps."""
        return self.begin - self.start


def has_causes(result: ReplayResult) -> bool:
    """Return whether causes of waiting are defined: for a replay of LogGOPSim's plain semantics."""
    return result.semantics == "loggopsim" and not result.compatible and result.noise_ps is None


def gaps_of(result: ReplayResult) -> Gaps:
    """Return when the cores of a replay waited, and for what."""
    times, graph = times_of(result), result.graph
    if not has_causes(result):
        raise ParameterError(
            "causes of waiting are those of a replay with loggopsim semantics, without quirks and "
            "noise; replay the program with these",
            key="semantics",
        )
    cpus = graph.num_cpus
    begin, end, core, item = _busy(result, times)
    order = np.lexsort((end, begin, core))
    begin, end, core, item = begin[order], end[order], core[order], item[order]
    first = np.flatnonzero(np.diff(core, prepend=-1))
    used = core[first]
    awaited, kind = _awaited(result, times, begin, item, core)
    sends = np.flatnonzero((graph.kind == SEND) & (graph.size > result.costs.S))
    held_by = _last_send(times, sends, graph.rank_of(sends) * cpus + graph.cpu[sends], used)
    finish = result.finish_ps[used // cpus]
    held = (held_by >= 0) & (times.end_ps[np.maximum(held_by, 0)] == finish)

    # An unexpected message ends no wait: the next operation on the core does.
    passing = _passing(graph, times, begin, item)
    passing[_last_passing(graph, times, begin, item, core)] = False

    # After each core's last work comes the end of its rank.
    last = np.append(first[1:], len(core))
    awaited = np.insert(awaited, last, np.where(held, held_by, -1))
    kind = np.insert(kind, last, np.where(held, _LATE_RECEIVER, _OTHER))
    passing = np.insert(passing, last, False)
    core, op = np.insert(core, last, used), np.insert(item, last, -1).astype(np.int64)
    begin, end = np.insert(begin, last, finish), np.insert(end, last, finish)
    place = np.where(passing, len(core), np.arange(len(core)))
    ends = np.minimum.accumulate(place[::-1])[::-1]
    awaited, kind = awaited[ends], kind[ends]

    start = np.concatenate([[0], end[:-1]])[: len(end)]
    start[np.diff(core, prepend=-1) != 0] = 0
    start = np.minimum(start, begin)
    late = np.zeros(len(core), np.int64)
    of_message = np.flatnonzero(awaited >= 0)
    other_end = times.start_ps[times.match[awaited[of_message]]]
    gap = begin - start
    late[of_message] = np.clip(other_end - start[of_message], 0, gap[of_message])
    if graph.call_name is not None:
        joint = graph.call_name[awaited[of_message]] >= FIRST_COLLECTIVE
        kind[of_message[joint]] = _COLLECTIVE
    return Gaps(core, op, begin, end, start, awaited, kind, late, ends)


def waiting_causes(result: ReplayResult, gaps: Gaps | None = None) -> pd.DataFrame:
    """Return each rank's waiting by cause, see `ReplayResult.waiting`; None computes the gaps."""
    import pandas as pd

    graph, gaps = result.graph, gaps or gaps_of(result)
    cells = np.zeros(graph.num_ranks * len(CAUSES), np.int64)
    row = (gaps.core // graph.num_cpus) * len(CAUSES)
    of_message = gaps.awaited >= 0
    np.add.at(cells, row + gaps.kind, np.where(of_message, gaps.late, gaps.length))
    np.add.at(cells, row + _TRANSFER, np.where(of_message, gaps.length - gaps.late, 0))
    table = cells.reshape(graph.num_ranks, len(CAUSES))
    # Cores without any work until their rank's end.
    breakdown = result.breakdown()
    waiting = np.rint(breakdown["waiting_ns"].to_numpy() * PS_PER_NS).astype(np.int64)
    table[:, _OTHER] += waiting - table.sum(axis=1)
    columns: dict[str, Any] = {"rank": np.arange(graph.num_ranks)}
    columns["waiting_ns"] = breakdown["waiting_ns"].to_numpy()
    for at, cause in enumerate(CAUSES):
        columns[f"{cause}_ns"] = table[:, at] / PS_PER_NS
    return pd.DataFrame(columns)


def _busy(
    result: ReplayResult, times: ReplayTimes
) -> tuple[IntArray, IntArray, IntArray, NDArray[np.intp]]:
    """Return the work of cores: begin and end (ps), core, operation; for a message its receive."""
    graph, costs, cpus = result.graph, result.costs, result.graph.num_cpus
    calc = np.flatnonzero((graph.kind == CALC) & (graph.size > 0))
    send = np.flatnonzero(graph.kind == SEND)
    recv = np.flatnonzero(graph.kind == RECV)
    source = times.match[recv]
    item = np.concatenate([calc, send, recv])
    begin = np.concatenate([times.start_ps[calc], times.start_ps[send], times.begin_ps[recv]])
    work = np.concatenate(
        [
            graph.size[calc] * PS_PER_NS,
            costs.send_ps(graph.size[send]),
            costs.receive_ps(graph.size[source]),
        ]
    )
    lane = np.concatenate([graph.cpu[calc], graph.cpu[send], graph.cpu[source]]).astype(np.int64)
    return begin, begin + work, graph.rank_of(item).astype(np.int64) * cpus + lane, item


def _awaited(
    result: ReplayResult,
    times: ReplayTimes,
    begin: IntArray,
    item: NDArray[np.intp],
    core: IntArray,
) -> tuple[IntArray, IntArray]:
    """Return the message that each core waited for before each piece of work, and the cause.

    The message is its receive's number if the receiver waited, its send's if the sender did; -1
    for an interface (``transfer``) or an unknown cause (``other``).
    """
    graph = result.graph
    post_cause = times.cause if times.post_cause is None else times.post_cause
    post_kind = times.cause_kind if times.post_cause_kind is None else times.post_cause_kind
    synchronous = (graph.kind == SEND) & (graph.size > result.costs.S)
    awaited = np.full(len(item), -1, np.int64)
    kind = np.full(len(item), _OTHER, np.int64)
    receives = graph.kind[item] == RECV
    at = np.flatnonzero(receives)
    cause, how = times.cause[item[at]], times.cause_kind[item[at]]
    awaited[at], kind[at] = item[at], _LATE_SENDER
    on_core = (cause >= 0) & (how == CPU)
    _released(times, synchronous, begin, at[on_core], cause[on_core], awaited, kind)

    # Work of the rank's own: back through what was ready at the same instant.
    left = np.flatnonzero(~receives)
    last = _last_passing(graph, times, begin, item, core)
    awaited[last], kind[last] = -1, _OTHER
    left = np.concatenate([left, last])
    op = item[left].astype(np.int64)
    ready = np.where(receives, times.start_ps[item], begin)
    while len(left):
        cause, how, now = post_cause[op].astype(np.int64), post_kind[op], ready[left]
        known = cause >= 0
        kind[left[known & (how == NIC)]] = _TRANSFER
        _released(times, synchronous, ready, left[known], cause[known], awaited, kind)
        safe = np.maximum(cause, 0)
        received = known & (how == DEPENDENCY) & (graph.kind[safe] == RECV)
        posted = times.start_ps[safe] == now
        # It took a message that came after it was posted, on another core.
        taken = received & (times.end_ps[safe] == now) & ~posted
        awaited[left[taken]], kind[left[taken]] = cause[taken], _LATE_SENDER
        onward = known & posted & (kind[left] == _OTHER)
        onward &= (how == STARTED) | ((how == DEPENDENCY) & (times.end_ps[safe] == now))
        left, op = left[onward], cause[onward]
    _by_dependencies(result, times, synchronous, item, awaited, kind)
    return awaited, kind


def _by_dependencies(
    result: ReplayResult,
    times: ReplayTimes,
    synchronous: NDArray[np.bool_],
    item: NDArray[np.intp],
    awaited: IntArray,
    kind: IntArray,
) -> None:
    """Name the last dependency of work that became ready while its core took another message."""
    graph = result.graph
    unknown = np.zeros(graph.num_ops, bool)
    unknown[item[kind == _OTHER]] = True
    found = []
    for dependents, at_ps in ((graph.requires, times.end_ps), (graph.irequires, times.start_ps)):
        after, before = dependents.pairs()
        here = unknown[after]
        found.append((after[here], before[here], at_ps[before[here]]))
    after, before, at_ps = map(np.concatenate, zip(*found, strict=True))
    by_end = np.argsort(at_ps, kind="stable")
    latest = np.full(graph.num_ops, -1, np.int64)
    latest[after[by_end]] = before[by_end]
    cause = np.where(kind == _OTHER, latest[item], -1)
    for of_kind, named in ((synchronous, _LATE_RECEIVER), (graph.kind == RECV, _LATE_SENDER)):
        at = np.flatnonzero((cause >= 0) & of_kind[np.maximum(cause, 0)])
        awaited[at], kind[at] = cause[at], named


def _passing(
    graph: ExecutionGraph, times: ReplayTimes, begin: IntArray, item: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return a mask of the work for messages whose receive was not posted when it began."""
    passing: NDArray[np.bool_] = (graph.kind[item] == RECV) & (times.start_ps[item] > begin)
    return passing


def _last_passing(
    graph: ExecutionGraph,
    times: ReplayTimes,
    begin: IntArray,
    item: NDArray[np.intp],
    core: IntArray,
) -> NDArray[np.intp]:
    """Return the indices of passing work that is last on its core; its posting ends the wait."""
    last = np.append(core[1:] != core[:-1], True)[: len(core)]
    return np.flatnonzero(last & _passing(graph, times, begin, item))


def _released(
    times: ReplayTimes,
    synchronous: NDArray[np.bool_],
    begin: IntArray,
    at: NDArray[np.intp],
    cause: NDArray[Any],
    awaited: IntArray,
    kind: IntArray,
) -> None:
    """Mark the work that could begin when a receiver released a synchronous send."""
    freed = synchronous[cause] & (times.end_ps[cause] == begin[at])
    awaited[at[freed]], kind[at[freed]] = cause[freed], _LATE_RECEIVER


def _last_send(
    times: ReplayTimes, sends: NDArray[np.intp], cores: NDArray[Any], used: IntArray
) -> IntArray:
    """Return the last of some sends to end on each core, -1 where there is none."""
    last = np.full(int(used.max(initial=-1)) + 1, -1, np.int64)
    by_end = np.argsort(times.end_ps[sends], kind="stable")
    last[cores[by_end]] = sends[by_end]
    return last[used]
