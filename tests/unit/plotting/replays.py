"""A replay without a simulator: a ring whose times follow from a recurrence."""

from __future__ import annotations

import numpy as np

from workbench.models import LogGPS
from workbench.programs.graph import CALC, RECV, SEND, Dependents, ExecutionGraph
from workbench.provenance import Provenance
from workbench.simulate.replay_result import DEPENDENCY, MESSAGE, ReplayResult, ReplayTimes


def ring(ranks: int = 4, rounds: int = 3, *, size: int = 1001, S: int = 65535) -> ReplayResult:
    """Return the replay of ``rounds`` of: compute, send to the right, receive from the left.

    Rank r computes 10 us + r us; L = 2 us, o = 1 us, G = 1 ns/B, O = 0, so that a receive takes
    2 us of its host.
    """
    model = LogGPS(L=2e-6, o=1e-6, g=0.0, G=1e-9, O=0.0, S=S)
    n = 3 * rounds
    ops = np.arange(ranks * n).reshape(ranks, rounds, 3)
    rank = np.arange(ranks)
    left = (rank - 1) % ranks
    start = np.zeros((ranks, rounds, 3), np.int64)
    begin, end = start.copy(), start.copy()
    free = np.zeros(ranks, np.int64)
    work = 10_000_000 + 1_000_000 * rank
    overhead, latency, taking = 1_000_000, 2_000_000, 1_000_000 + (size - 1) * 1000
    for k in range(rounds):
        begin[:, k, 0] = start[:, k, 0] = free
        end[:, k, 0] = free + work
        begin[:, k, 1] = start[:, k, 1] = end[:, k, 0]
        end[:, k, 1] = begin[:, k, 1] + overhead
        start[:, k, 2] = end[:, k, 1]
        came = (end[:, k, 1] + latency)[left]
        begin[:, k, 2] = np.maximum(came, start[:, k, 2])
        end[:, k, 2] = begin[:, k, 2] + taking
        free = end[:, k, 2]
    match = np.full(ranks * n, -1, np.int32)
    match[ops[:, :, 2].ravel()] = ops[left, :, 1].ravel()
    match[match[ops[:, :, 2].ravel()]] = ops[:, :, 2].ravel()
    count = ranks * n
    kind = np.tile(np.array([CALC, SEND, RECV], np.uint8), ranks * rounds)
    sizes = np.where(kind == CALC, np.repeat(work // 1000, n), size)
    peer = np.where(kind == SEND, np.repeat((rank + 1) % ranks, n), 0)
    peer = np.where(kind == RECV, np.repeat(left, n), peer).astype(np.int32)
    before = np.arange(count - 1)
    before = before[(before + 1) % n != 0]
    graph = ExecutionGraph(
        rank_start=np.arange(ranks + 1, dtype=np.int64) * n,
        kind=kind,
        size=sizes.astype(np.int64),
        peer=peer,
        tag=np.zeros(count, np.uint32),
        cpu=np.zeros(count, np.uint8),
        nic=np.zeros(count, np.uint8),
        requires=Dependents.from_pairs(before + 1, before, count),
        irequires=Dependents.from_pairs([], [], count),
        source="ring",
    )
    prior = np.arange(count) - 1
    prior[::n] = -1
    took = (begin == start)[:, :, 2].ravel()
    cause = prior.copy()
    cause[ops[:, :, 2].ravel()] = np.where(
        took, prior[ops[:, :, 2].ravel()], match[ops[:, :, 2].ravel()]
    )
    cause_kind = np.where((cause == match) & (kind == RECV), MESSAGE, DEPENDENCY)
    return ReplayResult(
        graph=graph,
        model=model,
        semantics="loggopsim",
        compatible=False,
        finish_ps=free,
        events=count + ranks * rounds,
        seconds=0.0,
        times=ReplayTimes(
            start_ps=start.ravel(),
            begin_ps=begin.ravel(),
            end_ps=end.ravel(),
            match=match,
            cause=cause.astype(np.int32),
            cause_kind=cause_kind.astype(np.uint8),
        ),
        provenance=Provenance("simulated", "ring, LogGOPS replay"),
    )
