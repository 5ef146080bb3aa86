"""A program's times by its graph alone: LLAMP's semantics, without contention.

Every dependency and every message is an edge, and an operation starts when the last of those that
lead to it allows. Nothing waits for a CPU or a NIC, so g and O are not used, and operations of a
rank that do not depend on one another overlap. T is then the longest path: convex and never
decreasing in L (Shen et al., LLAMP, sections II.B and II.C).

An eager message of s bytes, sent from time t, costs its rank o and is there at t + o + L + (s-1)G;
its receive ends o after that, or o after it was posted if that is later (Algorithm 1, where L is
charged to matched edges only). Above S bytes sender and receiver meet at
m = max(t + L, receive posted): the receive ends at m + 2o + 3L + (s-1)G and the send o later
(appendix B, a read by RDMA; as in LLAMP's published code, with s - 1 as the paper writes).

The k-th send meets the k-th receive of the same ranks and tag, in the order they stand. Where a
program has wildcards, who meets whom is taken from a run with LogGOPSim's semantics.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.loggops import llamp as kernel
from kernels.loggops.replay import inspect
from workbench.errors import ParameterError, ProgramError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs.deadlock import MOST_NAMED, refuse_peers
from workbench.programs.graph import CALC, RECV, SEND, Dependents, ExecutionGraph
from workbench.programs.graph_arrays import matched
from workbench.provenance import Provenance
from workbench.simulate.picoseconds import CLOCK_END, PS_PER_S, PicosecondCosts
from workbench.simulate.replay_result import DEPENDENCY, MESSAGE, STARTED, ReplayResult, ReplayTimes
from workbench.tasks import Task, task_of


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """The start and end of each operation of a program."""

    start_ps: NDArray[np.int64]  # (n,)
    end_ps: NDArray[np.int64]  # (n,)
    finish_ps: NDArray[np.int64]  # (ranks,), end of each rank's last operation
    match: NDArray[np.int32]  # (n,), the other end of each message, -1 for computations
    seconds: float  # wall time of the pass, with the matching


def replay_llamp(
    graph: ExecutionGraph,
    model: LogGPS,
    *,
    times: bool = False,  # also keep the times and causes of each operation
    task: Task | None = None,
) -> ReplayResult:
    """Return a replay without contention for CPUs or NICs; of the model L, o, G and S are used."""
    found = forward_pass(graph, model, task=task)
    return ReplayResult(
        graph=graph,
        model=model,
        semantics="llamp",
        compatible=False,
        finish_ps=found.finish_ps,
        events=graph.num_ops + int((graph.kind == SEND).sum()),
        seconds=found.seconds,
        times=_times(graph, model, found) if times else None,
        provenance=Provenance("simulated", f"{graph.source}, LLAMP's semantics, {model}"),
    )


def forward_pass(
    graph: ExecutionGraph,
    model: LogGPS,
    *,
    match: NDArray[np.int32] | None = None,  # (n,), of an earlier run
    task: Task | None = None,
) -> ForwardPass:
    """Return the start and end of each operation; a known ``match`` saves the matching."""
    n = graph.num_ops
    costs = PicosecondCosts.of(model)
    began = time.perf_counter()
    refuse_peers(graph)
    largest, longest, least, *_ = _inspect(graph)
    costs.check_sizes(int(least), int(largest), int(longest))
    joined = match_messages(graph, model, task=task) if match is None else match
    start, end = np.empty(n, np.int64), np.empty(n, np.int64)
    missing, stack = np.empty(n, np.int32), np.empty(n, np.int32)
    finish = np.empty(graph.num_ranks, np.int64)
    kernel.count_missing(graph.requires.ops, graph.irequires.ops, missing)
    status = kernel.forward(
        matched(graph, joined),
        costs.L,
        costs.o,
        costs.G.whole,
        costs.G.real,
        costs.S,
        task_of(task).stop_event.cell,
        missing,
        stack,
        start,
        end,
    )
    if status == kernel.HALTED:
        raise SimulationHalted("the replay was stopped before it finished")
    if status == kernel.CLOCK_RAN_OUT:
        raise ParameterError(
            f"the program must end before {CLOCK_END / PS_PER_S:.0f} s; this one does not: lower "
            "L, o or G, or the computations",
            key="program",
        )
    if status == kernel.WAITING:
        raise _deadlock(graph, joined, missing == -1, end)
    kernel.finish_of_ranks(graph.rank_start, end, finish)
    return ForwardPass(start, end, finish, joined, time.perf_counter() - began)


def match_messages(
    graph: ExecutionGraph, model: LogGPS, *, task: Task | None = None
) -> NDArray[np.int32]:
    """Return each message's other end, int32[n], -1 for computations; wildcards take a replay."""
    refuse_peers(graph)
    if _inspect(graph)[3].any():
        from workbench.simulate.replay import replay

        decided = replay(graph, model, times=True, task=task).times
        if decided is not None:
            return decided.match
    match = np.empty(graph.num_ops, np.int32)
    kernel.match_in_order(graph.rank_start, graph.kind, graph.peer, graph.tag, match)
    alone = np.flatnonzero((match == -1) & (graph.kind != CALC))
    if len(alone):
        raise _unmatched(graph, alone)
    return match


def _inspect(graph: ExecutionGraph) -> Any:
    return inspect(
        graph.rank_start, graph.kind, graph.size, graph.peer, graph.tag, graph.cpu, graph.nic
    )


def _times(graph: ExecutionGraph, model: LogGPS, found: ForwardPass) -> ReplayTimes:
    """Return a pass as a replay's times, with what each operation waited for last."""
    n, costs = graph.num_ops, PicosecondCosts.of(model)
    begin = np.where(graph.kind == RECV, found.end_ps - costs.o, found.start_ps)
    post_cause, cause = np.empty(n, np.int32), np.empty(n, np.int32)
    post_kind, cause_kind = np.empty(n, np.uint8), np.empty(n, np.uint8)
    kernel.causes(
        matched(graph, found.match),
        costs.L,
        costs.S,
        found.start_ps,
        found.end_ps,
        begin,
        DEPENDENCY,
        STARTED,
        MESSAGE,
        post_cause,
        post_kind,
        cause,
        cause_kind,
    )
    return ReplayTimes(
        start_ps=found.start_ps,
        begin_ps=begin,
        end_ps=found.end_ps,
        match=found.match,
        cause=cause,
        cause_kind=cause_kind,
        post_cause=post_cause,
        post_cause_kind=post_kind,
    )


def _unmatched(graph: ExecutionGraph, alone: NDArray[np.int64]) -> ProgramError:
    phrases = tuple(graph.describe(int(op)) for op in alone[:MOST_NAMED])
    more = f", and {len(alone) - MOST_NAMED} more" if len(alone) > MOST_NAMED else ""
    return ProgramError(
        "every send must have its receive, of the same ranks and tag; without one: "
        + "; ".join(phrases)
        + more,
        operations=phrases,
    )


def _deadlock(
    graph: ExecutionGraph,
    match: NDArray[np.int32],
    started: NDArray[np.bool_],
    end: NDArray[np.int64],
) -> ProgramError:
    """Return the error that shows a cycle of operations that wait for one another."""
    waiting = np.flatnonzero(end < 0)
    held_by = _first_unfinished(graph.requires, end < 0)
    for op, before in _first_unfinished(graph.irequires, ~started).items():
        held_by.setdefault(op, before)
    path, seen = [int(waiting[0])], {}
    while path[-1] not in seen:
        op = path[-1]
        seen[op] = len(path) - 1
        # What has been started waits for the other end of its message, the rest for a dependency.
        path.append(int(match[op]) if started[op] else held_by[op])
    circle = path[seen[path[-1]] : -1]
    phrases = tuple(graph.describe(op) for op in circle[:MOST_NAMED])
    more = f" → {len(circle) - MOST_NAMED} more" if len(circle) > MOST_NAMED else ""
    return ProgramError(
        f"no operation may wait for itself, but {len(waiting)} never end; these wait for one "
        f"another in a circle: {' → '.join(phrases)}{more} → the first",
        operations=phrases,
    )


def _first_unfinished(dependents: Dependents, unfinished: NDArray[np.bool_]) -> dict[int, int]:
    """Return for each operation that waits for unfinished ones the first of them."""
    after, before = dependents.pairs()
    held = unfinished[before]
    return dict(zip(after[held][::-1].tolist(), before[held][::-1].tolist(), strict=True))
