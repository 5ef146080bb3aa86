"""Small random programs that use everything a replay knows, mostly free of deadlocks."""

from __future__ import annotations

import numpy as np

from workbench.models import LogGPS
from workbench.programs.graph import (
    ANY_SOURCE,
    ANY_TAG,
    CALC,
    RECV,
    SEND,
    Dependents,
    ExecutionGraph,
)

S = 40


def random_graph(
    rng,
    *,
    ranks=4,
    events=25,
    cpus=1,
    nics=1,
    tags=2,
    wildcards=0.0,
    irequires=0.2,
    empty=False,
    other_sizes=0.0,
    fan=2,
):
    """Return a program: messages and computations, one after the other, at random ranks.

    Each operation waits for up to ``fan`` earlier ones of its rank. With ``other_sizes`` some
    receives have another size than their message, with ``empty`` some messages have none.
    """
    sizes = [1, 2, S - 1, S, S + 1, 200] + ([0] if empty else [])
    ops = [[] for _ in range(ranks)]
    edges = {"requires": [], "irequires": []}

    def add(rank, kind, size, peer=0, tag=0, cpu=0, nic=0):
        own = ops[rank]
        own.append((kind, size, peer, tag, cpu, nic))
        for _ in range(int(rng.integers(0, fan + 1)) if len(own) > 1 else 0):
            before = int(rng.integers(max(0, len(own) - 1 - 3 * fan), len(own) - 1))
            name = "irequires" if rng.random() < irequires else "requires"
            edges[name].append((rank, len(own) - 1, before))

    owed = []
    for _ in range(events):
        where = {"cpu": int(rng.integers(cpus)), "nic": int(rng.integers(nics))}
        if rng.random() < 0.3:
            add(int(rng.integers(ranks)), CALC, int(rng.integers(0, 30)), cpu=where["cpu"])
            continue
        source, target = rng.integers(0, ranks, 2)
        size, tag = int(rng.choice(sizes)), int(rng.integers(tags))
        sent = ANY_TAG if rng.random() < wildcards / 4 else tag
        add(int(source), SEND, size, int(target), sent, **where)
        owed.append((int(target), size, int(source), tag))
        while owed and rng.random() < 0.7:
            target, size, source, tag = owed.pop(int(rng.integers(len(owed))))
            if rng.random() < other_sizes:
                size = int(rng.choice(sizes))
            peer = ANY_SOURCE if rng.random() < wildcards else source
            tag = ANY_TAG if rng.random() < wildcards else tag
            add(target, RECV, size, peer, tag, int(rng.integers(cpus)), int(rng.integers(nics)))
    for target, size, source, tag in owed:
        add(target, RECV, size, source, tag, int(rng.integers(cpus)), int(rng.integers(nics)))
    starts = np.concatenate([[0], np.cumsum([len(own) for own in ops])]).astype(np.int64)
    n = int(starts[-1])
    columns = np.array([op for own in ops for op in own], np.int64).reshape(n, 6)
    dependents = {}
    for name, pairs in edges.items():
        # In the order of a file: rank by rank.
        pairs.sort(key=lambda edge: edge[0])
        after = [starts[rank] + op for rank, op, _ in pairs]
        before = [starts[rank] + op for rank, _, op in pairs]
        dependents[name] = Dependents.from_pairs(after, before, n)
    kind, size, peer, tag, cpu, nic = columns.T
    return ExecutionGraph(
        starts,
        kind.astype(np.uint8),
        size.copy(),
        peer.astype(np.int32),
        tag.astype(np.uint32),
        cpu.astype(np.uint8),
        nic.astype(np.uint8),
        **dependents,
    )


def random_model(rng, *, whole=True):
    """Return parameters that make waits of every kind likely; times of some ns."""
    L, o, g = (int(x) * 1e-9 for x in rng.integers(0, [60, 8, 30]))
    per_byte = rng.choice([0, 0, 1, 2, 3], 2) if whole else rng.uniform(0, 2, 2)
    limit = int(rng.choice([S, 199, 2**31 - 1, 2**31 - 1]))
    return LogGPS(L=L, o=o, g=g, G=float(per_byte[0]) * 1e-9, O=float(per_byte[1]) * 1e-9, S=limit)
