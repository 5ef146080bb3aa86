"""Whose work before which call made ranks wait: the root causes of waiting, as Scalasca finds them.

Boehme, Geimer, Arnold, Voigtlaender, Wolf: Identifying the Root Causes of Wait States in
Large-Scale Parallel Applications, ACM Transactions on Parallel Computing 3 (2016), section 4. In
plain words: a core waits for another rank, which is late. Both are compared since the last message
between them, or since later work that both depend on: the waiter up to its begin of waiting, the
late rank up to its send (or its receive, where a synchronous send waits). In that time the late
rank computed longer, or spent more on messages, or waited longer itself. The wait is shared among
these three, in proportion to how much longer each took. Computing is shared among the computations
of that time by their length, messages likewise. What goes to the late rank's own waits is shared
among these by their length and goes back to their causes in the same way, until it reaches work, a
message under way, or a core without work. Each picosecond that a core waits ends in one of them, so
that they add up to all waiting.

Scalasca compares since the last message between both, too, or since the last collective. Here
collectives are messages, and work that both depend on is found along what each operation waited
for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.programs.graph import CALC, KIND_NAMES, RECV, SEND
from workbench.programs.program import MPI_CALLS, numbered_by_name
from workbench.simulate.picoseconds import PS_PER_NS
from workbench.simulate.replay_result import times_of
from workbench.simulate.waiting import CAUSES, Gaps, gaps_of
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

    from workbench.programs.graph import ExecutionGraph
    from workbench.simulate.replay_result import ReplayResult


COMPUTE, MESSAGES, NETWORK, IDLE = "compute", "messages", "network", "idle"
ACTIVITIES = (COMPUTE, MESSAGES, NETWORK, IDLE)
"""What made ranks wait: computing, overhead of messages, messages under way, no work."""

_TRANSFER = CAUSES.index("transfer")
_ROUNDING = 1e-12  # of sums of floats: no cause
_NAMED = 0.1  # of a row's costliest call: calls below it are left out of "Allreduce 17 to 50"


@dataclass(frozen=True, eq=False)
class RootCauses:
    """The waiting of a replay by what made ranks wait."""

    gaps: Gaps
    cost_ps: FloatArray  # float64[n], waiting that each work of `gaps` caused, on all ranks
    network_ps: float  # waiting for messages under way
    idle_ps: float  # waiting of cores without work
    activity: NDArray[np.uint8]  # uint8[n], of most of each gap's cause, place in `ACTIVITIES`
    culprit: IntArray  # int64[n], the work of `gaps` that did; -1 for the network and idle cores


def root_causes(result: ReplayResult) -> RootCauses:
    """Return what made ranks wait; see `ReplayResult.root_causes`."""
    gaps = gaps_of(result)
    windows = _windows(result, gaps)
    total = float(np.rint(result.breakdown()["waiting_ns"].to_numpy() * PS_PER_NS).sum())
    weight = _weights(gaps, windows)
    to_late = weight * gaps.late / np.maximum(gaps.length, 1)
    network = np.where((gaps.awaited >= 0) | (gaps.kind == _TRANSFER), weight - to_late, 0.0)
    cost = np.zeros(len(gaps.core))
    for excess, work in ((windows.compute, windows.computes), (windows.messages, windows.sends)):
        cost += _shared(to_late * excess, work, windows.low, windows.high)
    activity, culprit = _main_causes(gaps, windows)
    return RootCauses(
        gaps,
        cost,
        float(network.sum()),
        max(total - float(network.sum() + cost.sum()), 0.0),
        activity,
        culprit,
    )


def root_causes_frame(result: ReplayResult, found: RootCauses | None = None) -> pd.DataFrame:
    """Return the table of `ReplayResult.root_causes`; None computes the causes."""
    import pandas as pd

    found = found or root_causes(result)
    name, number, names = calls_of(result.graph, found.gaps)
    at = np.flatnonzero(found.cost_ps > _ROUNDING * found.cost_ps.sum())
    graph = result.graph
    rank = found.gaps.core[at] // graph.num_cpus
    computes = graph.kind[found.gaps.op[at]] == CALC
    key = (rank * 2 + ~computes) * len(names) + name[at]
    rows: list[dict[str, Any]] = []
    order = np.argsort(key, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if len(at) else []:
        cost, calls = found.cost_ps[at[group]], number[at[group]]
        by_call = np.bincount(calls, cost)
        named = np.flatnonzero(by_call >= _NAMED * by_call.max())
        rows.append(
            {
                "activity": COMPUTE if computes[group[0]] else MESSAGES,
                "rank": int(rank[group[0]]),
                "call": names[name[at[group[0]]]],
                "first": int(named[0]),
                "last": int(named[-1]),
                "waiting_ns": float(cost.sum()) / PS_PER_NS,
            }
        )
    for activity, ps in ((NETWORK, found.network_ps), (IDLE, found.idle_ps)):
        row = {"activity": activity, "rank": -1, "call": "", "first": 0, "last": 0}
        rows.append({**row, "waiting_ns": ps / PS_PER_NS})
    table = pd.DataFrame(rows)
    table = table[table["waiting_ns"] > 0].sort_values("waiting_ns", ascending=False, kind="stable")
    return table.reset_index(drop=True)


def cause_text(activity: str, rank: int, call: str, first: int, last: int) -> str:
    """Return what made ranks wait as words: ``rank 3 before Allreduce 17 to 50``."""
    if activity == NETWORK:
        return "messages under way"
    if activity == IDLE:
        return "cores without work"
    which = "" if call == MPI_CALLS[0] else f" {first}" + (f" to {last}" if last > first else "")
    if activity == COMPUTE:
        return f"rank {rank} before {call}{which}"
    return f"messages of rank {rank} in {call}{which}"


def root_causes_table(table: pd.DataFrame, most: int = 6) -> list[tuple[str, str, str]]:
    """Return the first rows of `root_causes_frame`: cause, time and share; then the rest."""
    total = float(table["waiting_ns"].sum())
    rows = [
        (cause_text(*row[:5]), float(row[5])) for row in table.head(most).itertuples(index=False)
    ]
    if len(table) > most:
        rows.append((f"{len(table) - most} others", float(table["waiting_ns"][most:].sum())))
    return [
        (text, format_quantity(ns / 1e9, "time"), f"{100 * ns / total:.3g} %") for text, ns in rows
    ]


def calls_of(graph: ExecutionGraph, gaps: Gaps) -> tuple[IntArray, IntArray, tuple[str, ...]]:
    """Return of each work of `gaps` its call: the place of its name, its number, and the names.

    Without known calls these are sends and receives; a computation comes before the next one.
    """
    if graph.call_name is not None and graph.call_number is not None:
        safe = np.maximum(gaps.op, 0)
        end = gaps.op < 0
        name = np.where(end, 0, graph.call_name[safe]).astype(np.int64)
        return name, np.where(end, 0, graph.call_number[safe]).astype(np.int64), MPI_CALLS
    kind = np.where(gaps.op >= 0, graph.kind[gaps.op], 0)
    place = np.where(kind == CALC, len(kind), np.arange(len(kind)))
    following = np.minimum.accumulate(place[::-1])[::-1]
    number = numbered_by_name(graph.kind, graph.rank_start)
    op = gaps.op[following]
    names = (MPI_CALLS[0], *(KIND_NAMES[kind] for kind in sorted(KIND_NAMES)))
    return kind[following].astype(np.int64), np.where(op >= 0, number[op], 0), names


@dataclass(frozen=True, eq=False)
class _Windows:
    """For each gap the late rank's core, in the time in which it came to be late."""

    compute: FloatArray  # share of the late part that is its computing, messages, waiting
    messages: FloatArray
    waiting: FloatArray
    computes: IntArray  # int64[n], ps, of all work: computing; overhead of messages
    sends: IntArray
    low: IntArray  # its work in that time: from `low` up to `high`
    high: IntArray
    gap_low: IntArray  # its gaps in that time
    gap_high: IntArray


def _windows(result: ReplayResult, gaps: Gaps) -> _Windows:
    graph, n = result.graph, len(gaps.core)
    computes = np.where((gaps.op >= 0) & (graph.kind[gaps.op] == CALC), gaps.end - gaps.begin, 0)
    sends = gaps.end - gaps.begin - computes
    shares = np.zeros((3, n))
    bounds = np.zeros((4, n), np.int64)
    events = _late_events(result, gaps)
    at = np.flatnonzero(gaps.late > 0)
    if len(at):
        first = np.searchsorted(gaps.core, gaps.core)
        late_core = events.core[at]
        from_ps = gaps.start[at]
        to_ps = from_ps + gaps.late[at]
        common = _last_common(gaps, events)[at]
        since = np.where(common < n, gaps.end[np.minimum(common, n - 1)], 0)
        since = np.maximum(since, _last_message(result, gaps, events, at))
        since = np.minimum(since, from_ps)

        in_time = np.sort(gaps.begin)
        place = np.searchsorted(in_time, gaps.begin)

        def last_before(core: IntArray, now: IntArray) -> IntArray:
            return _last_before(gaps.core, place, core, np.searchsorted(in_time, now))

        def busy(core: IntArray, now: IntArray) -> tuple[IntArray, IntArray, IntArray]:
            """Return computing and messages of cores up to a time, and their last work then."""
            last = last_before(core, now)
            known = last >= 0
            sums = []
            for work in (computes, sends):
                total = np.cumsum(work) - work
                part = np.where(
                    work[last] > 0, np.minimum(gaps.end[last], now) - gaps.begin[last], 0
                )
                sums.append(np.where(known, total[last] + part - total[first[last]], 0))
            return sums[0], sums[1], last

        ends = [busy(late_core, to_ps), busy(late_core, since)]
        mine = [busy(gaps.core[at], from_ps), busy(gaps.core[at], since)]
        longer = [(ends[0][k] - ends[1][k]) - (mine[0][k] - mine[1][k]) for k in (0, 1)]
        longer.append((to_ps - from_ps) - longer[0] - longer[1])
        start_of_core = np.searchsorted(gaps.core, late_core)
        low, high = ends[1][2], ends[0][2] + 1
        low = np.where(low < 0, start_of_core, low + (gaps.end[low] <= since))
        gap_low = last_before(late_core, since + 1) + 1
        gap_low = np.where(gap_low == 0, start_of_core, gap_low)
        # Only waits that end before this one: no wait is its own cause.
        in_order = np.empty(n, np.int64)
        in_order[_by_end_of_wait(gaps)] = np.arange(n)
        before = _last_before(gaps.core, in_order, late_core, in_order[at])
        gap_high = np.minimum(np.maximum(high, start_of_core), before) + 1
        bounds[:, at] = low, np.maximum(high, low), gap_low, np.maximum(gap_high, gap_low)
        sums = [_between(work, *bounds[:2, at]) for work in (computes, sends)]
        sums.append(_between(gaps.length, *bounds[2:, at]))
        parts = np.stack(
            [np.where(has > 0, np.maximum(x, 0), 0) for x, has in zip(longer, sums, strict=True)]
        )
        shares[:, at] = parts / np.maximum(parts.sum(axis=0), 1)
    return _Windows(
        shares[0], shares[1], shares[2], computes, sends, bounds[0], bounds[1], bounds[2], bounds[3]
    )


@dataclass(frozen=True, eq=False)
class _LateEvents:
    """For each gap the event of another rank that it waits for: a send, or a receive's posting."""

    core: IntArray  # -1 where it waits for none
    work: IntArray  # the send, or the last work before the receive; the number of all for none
    of_op: IntArray  # int64[operations], the work of each operation, -1 for those without


def _late_events(result: ReplayResult, gaps: Gaps) -> _LateEvents:
    times, graph, n = times_of(result), result.graph, len(gaps.core)
    work_of = np.full(graph.num_ops, -1, np.int64)
    real = np.flatnonzero(gaps.op >= 0)
    work_of[gaps.op[real]] = real
    core, work = np.full(n, -1, np.int64), np.full(n, n, np.int64)
    at = np.flatnonzero(gaps.awaited >= 0)
    other = times.match[gaps.awaited[at]].astype(np.int64)
    send = graph.kind[other] == SEND
    message = np.where(send, other, gaps.awaited[at])
    core[at] = graph.rank_of(other) * graph.num_cpus + graph.cpu[message]
    in_time = np.sort(gaps.begin)
    posted = _last_before(
        gaps.core,
        np.searchsorted(in_time, gaps.begin),
        core[at],
        np.searchsorted(in_time, times.start_ps[other]),
    )
    work[at] = np.where(send, work_of[other], np.where(posted < 0, n, posted))
    return _LateEvents(core, work, work_of)


def _last_common(gaps: Gaps, events: _LateEvents) -> IntArray:
    """Return the last work that a gap's core and the late event both depend on, or their number.

    Each work follows the one before on its core or, after a wait, the other rank's event: a tree,
    in which the last common ancestor is found by doubling.
    """
    n = len(gaps.core)
    before = np.arange(-1, n - 1)
    before[np.diff(gaps.core, prepend=-1) != 0] = n
    ends_it = (gaps.awaited >= 0) & (gaps.ends == np.arange(n)) & (gaps.length > 0)
    parent = np.append(np.where(ends_it, events.work, before), n)
    ups, depth = [parent], (parent != np.arange(n + 1)).astype(np.int64)
    while (ups[-1] != n).any() and len(ups) < 40:
        depth += depth[ups[-1]]
        ups.append(ups[-1][ups[-1]])
    one, other = before.copy(), events.work.copy()
    swap = depth[one] < depth[other]
    one[swap], other[swap] = other[swap], one[swap]
    for level in range(len(ups) - 1, -1, -1):
        deeper = depth[one] - depth[other] >= 1 << level
        one[deeper] = ups[level][one[deeper]]
    for up in reversed(ups):
        apart = up[one] != up[other]
        one[apart], other[apart] = up[one[apart]], up[other[apart]]
    return np.where(one == other, one, parent[one])


def _last_message(result: ReplayResult, gaps: Gaps, events: _LateEvents, at: IntArray) -> IntArray:
    """Return when the last message between the waiting and the late rank was sent, int64[at], ps.

    One that the waiting rank had taken when it began to wait, or the late one at its event.
    """
    graph, n = result.graph, len(gaps.core)
    received = np.flatnonzero((gaps.op >= 0) & (graph.kind[gaps.op] == RECV))
    sent = events.of_op[times_of(result).match[gaps.op[received]]]
    rank = gaps.core // graph.num_cpus
    pair = rank[received] * graph.num_ranks + rank[sent]
    order = np.lexsort((received, pair))
    keys = (pair * (n + 1) + received)[order]
    waiter, late = rank[at], events.core[at] // graph.num_cpus
    last = np.zeros(len(at), np.int64)
    for receiver, sender, before in ((waiter, late, at), (late, waiter, events.work[at])):
        of_pair = receiver * graph.num_ranks + sender
        found = np.searchsorted(keys, of_pair * (n + 1) + before) - 1
        known = (found >= 0) & (pair[order][found] == of_pair)
        last = np.maximum(last, np.where(known, gaps.end[sent[order][found]], 0))
    return last


def _weights(gaps: Gaps, windows: _Windows) -> FloatArray:
    """Return the waiting that each gap stands for, ps: its own, and that of those it delayed."""
    length = gaps.length
    kept = np.flatnonzero(length > 0)
    place = np.searchsorted(kept, np.arange(len(length) + 1))
    waited = _between(length, windows.gap_low, windows.gap_high)[kept]
    passed = windows.waiting[kept] * gaps.late[kept] / length[kept] / np.maximum(waited, 1)
    low = place[windows.gap_low[kept]].tolist()
    high = place[windows.gap_high[kept]].tolist()
    core, own = gaps.core[kept].tolist(), length[kept].astype(float).tolist()
    order = _by_end_of_wait(gaps)[::-1]
    # The latest first, so that all that a wait delayed is known before it is passed on.
    order = place[order[length[order] > 0]].tolist()
    rate = passed.tolist()
    change, running = [0.0] * (len(kept) + 1), [0.0] * (int(gaps.core.max(initial=-1)) + 1)
    weights = [0.0] * len(kept)
    for k in order:
        running[core[k]] += change[k]
        weights[k] = own[k] * (1.0 + running[core[k]])
        if rate[k]:
            density = weights[k] * rate[k]
            change[high[k] - 1] += density
            if low[k] and core[low[k] - 1] == core[low[k]]:
                change[low[k] - 1] -= density
    all_weights = np.zeros(len(length))
    all_weights[kept] = weights
    return all_weights


def _by_end_of_wait(gaps: Gaps) -> IntArray:
    """Return the gaps by the ends of their waits, int64[n]; on a core that is their order."""
    return np.lexsort((np.arange(len(gaps.core)), gaps.begin[gaps.ends]))


def _shared(cost: FloatArray, work: IntArray, low: IntArray, high: IntArray) -> FloatArray:
    """Return the cost of each work where costs are shared among ranges by the works' length."""
    density = cost / np.maximum(_between(work, low, high), 1)
    change = np.zeros(len(work) + 1)
    np.add.at(change, low, density)
    np.add.at(change, high, -density)
    return np.maximum(np.cumsum(change)[:-1], 0.0) * work


def _main_causes(gaps: Gaps, windows: _Windows) -> tuple[NDArray[np.uint8], IntArray]:
    """Return the activity that caused most of each gap, and the work that did."""
    n = len(gaps.core)
    late = (gaps.late > 0) & (2 * gaps.late >= gaps.length)
    shares = np.stack([windows.compute, windows.messages, windows.waiting])
    main = shares.argmax(axis=0)
    late &= shares.max(axis=0, initial=0) > 0
    on_its_way = (gaps.awaited >= 0) | (gaps.kind == _TRANSFER)
    activity = np.where(on_its_way, ACTIVITIES.index(NETWORK), ACTIVITIES.index(IDLE))
    culprit, following = np.full(n, -1, np.int64), np.arange(n)
    for which, work in enumerate((windows.computes, windows.sends)):
        at = np.flatnonzero(late & (main == which))
        activity[at] = which
        culprit[at] = _longest(work, windows.low[at], windows.high[at])
    at = np.flatnonzero(late & (main == 2))
    following[at] = _longest(gaps.length, windows.gap_low[at], windows.gap_high[at])
    while (following[following] != following).any():
        following = following[following]
    return activity[following].astype(np.uint8), culprit[following]


def _longest(values: IntArray, low: IntArray, high: IntArray) -> IntArray:
    """Return the place of the largest value of each range, none of which is empty."""
    best = [np.arange(len(values))]
    widest = int((high - low).max(initial=1))
    while 2 << (len(best) - 1) <= widest:
        half, last = 1 << (len(best) - 1), best[-1]
        other = last[np.minimum(np.arange(len(last)) + half, len(last) - 1)]
        best.append(np.where(values[other] > values[last], other, last))
    level = np.maximum(np.frexp(np.maximum(high - low, 1))[1] - 1, 0)
    table = np.stack(best)
    one, other = table[level, low], table[level, high - (1 << level)]
    return np.asarray(np.where(values[other] > values[one], other, one))


def _between(values: IntArray, low: IntArray, high: IntArray) -> IntArray:
    total = np.concatenate([[0], np.cumsum(values)])
    return np.asarray(total[high] - total[low])


def _last_before(
    core: IntArray, place: IntArray, of_core: IntArray, of_place: IntArray
) -> IntArray:
    """Return the last work of each `of_core` whose place in time is below `of_place`, or -1."""
    apart = len(core) + 2
    last = np.searchsorted(core * apart + place, of_core * apart + of_place) - 1
    return np.where((last >= 0) & (core[last] == of_core), last, -1)
