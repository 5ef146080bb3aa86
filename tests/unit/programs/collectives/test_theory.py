"""Numbers of messages, steps and bytes that the literature gives for each algorithm."""

from __future__ import annotations

import math

import numpy as np

from tests.cases import for_each
from workbench.programs.collectives import ALGORITHMS, Schedule, schedule
from workbench.programs.graph import CALC, SEND

COUNTS = [2, 3, 4, 5, 8, 9, 16, 31, 32, 33]
N = 2**20


def rank_of(plan: Schedule) -> np.ndarray:
    """Return the rank of each operation."""
    return np.repeat(np.arange(plan.ranks), np.diff(plan.rank_start))


def sent(plan: Schedule) -> tuple[np.ndarray, np.ndarray]:
    """Return messages and bytes that each rank sends."""
    sends = plan.kind == SEND
    rank = rank_of(plan)[sends]
    volume = np.bincount(rank, plan.size[sends], minlength=plan.ranks)
    return np.bincount(rank, minlength=plan.ranks), volume


def steps(plan: Schedule) -> int:
    """Return how long the schedule takes where to send a message takes both ranks 1."""
    partner = np.full((2, plan.num_messages), -1)
    for op in np.flatnonzero(plan.kind != CALC):
        partner[int(plan.kind[op] == SEND), plan.message[op]] = op
    successors: list[list[tuple[int, int]]] = [[] for _ in range(plan.num_ops)]
    degree = np.zeros(plan.num_ops, int)
    sends = (plan.kind == SEND).tolist()
    pairs = [
        (b, a, int(sends[b]))
        for a, b in zip(plan.after.tolist(), plan.before.tolist(), strict=True)
    ]
    pairs += [(int(s), int(r), 1) for r, s in partner.T]
    for first, then, weight in pairs:
        successors[first].append((then, weight))
        degree[then] += 1
    depth = np.zeros(plan.num_ops, int)
    ready = np.flatnonzero(degree == 0).tolist()
    for op in ready:
        for then, weight in successors[op]:
            depth[then] = max(depth[then], depth[op] + weight)
            degree[then] -= 1
            if not degree[then]:
                ready.append(then)
    assert len(ready) == plan.num_ops
    return int(depth.max(initial=0))


def log2_up(ranks: int) -> int:
    return math.ceil(math.log2(ranks))


@for_each("p", COUNTS)
def test_ring_allreduce(p: int) -> None:
    """2 (p - 1) messages and 2 (p - 1) / p n bytes for each rank: Patarasuk, Yuan 2009."""
    plan = schedule("allreduce", "ring", p, size=N * p)
    messages, volume = sent(plan)
    assert (messages == 2 * (p - 1)).all()
    assert (volume == 2 * (p - 1) * N).all()
    assert steps(plan) == 2 * (p - 1)


@for_each("p", COUNTS)
def test_segments_change_the_number_of_messages_and_not_the_bytes(p: int) -> None:
    plan = schedule("allreduce", "segmented-ring", p, size=N * p, segment_bytes=N // 4)
    messages, volume = sent(plan)
    assert (messages == 4 * 2 * (p - 1)).all()
    assert (volume == 2 * (p - 1) * N).all()
    assert steps(plan) == 2 * (p - 1)
    assert set(plan.tag.tolist()) == {0, 1, 2, 3}


@for_each("p", COUNTS)
def test_recursive_doubling_allreduce(p: int) -> None:
    """Log p steps of n bytes, and two more where p is no power of two: Thakur et al. 2005, 3.5."""
    plan = schedule("allreduce", "recursive-doubling", p, size=N)
    beyond = p - (1 << p.bit_length() - 1)
    assert steps(plan) == p.bit_length() - 1 + 2 * (beyond > 0)
    assert plan.bytes_sent == N * ((p - beyond) * (p.bit_length() - 1) + 2 * beyond)


@for_each("p", [2, 4, 8, 16, 32])
def test_rabenseifner(p: int) -> None:
    """2 log p steps and 2 (p - 1) / p n bytes, of which a reduction leaves half to one rank."""
    plan = schedule("allreduce", "rabenseifner", p, size=N)
    assert steps(plan) == 2 * log2_up(p)
    assert (sent(plan)[1] == 2 * (p - 1) * N // p).all()
    plan = schedule("reduce", "rabenseifner", p, size=N, root=p - 1)
    assert steps(plan) == 2 * log2_up(p)
    assert plan.bytes_sent == (p - 1) * N + N * log2_up(p) // 2


@for_each("p", COUNTS)
def test_broadcasts(p: int) -> None:
    """Every rank but the root gets n bytes, after log p, 1, p - 1 or p + segments - 2 steps."""
    by_name = {
        "linear": 1,
        "binomial": p.bit_length() - 1 if p & (p - 1) == 0 else None,
        "chain": p - 1,
        "pipeline:65536": p + 16 - 2,
    }
    for name, most in by_name.items():
        plan = schedule("bcast", name, p, size=N, root=p // 2)
        assert plan.bytes_sent == (p - 1) * N
        assert most is None or steps(plan) == most
    assert schedule("bcast", "pipeline:65536", p, size=N).num_messages == (p - 1) * 16
    assert steps(schedule("bcast", "binomial", p, size=N)) <= log2_up(p)
    plan = schedule("bcast", "scatter-allgather", p, size=N * p)
    assert steps(plan) <= log2_up(p) + p - 1


@for_each("p", COUNTS)
def test_k_nomial_trees_are_as_deep_as_their_base_says(p: int) -> None:
    for k in (2, 3, 4, 8):
        digits = next(d for d in range(9) if k**d >= p)
        plan = schedule("bcast", f"knomial:{k}", p, size=1)
        assert plan.num_messages == p - 1
        assert steps(plan) <= digits


@for_each("p", COUNTS)
def test_barriers(p: int) -> None:
    """Dissemination takes ceil(log2 p) steps of p messages: Hensgen, Finkel, Manber 1988."""
    plan = schedule("barrier", "dissemination", p)
    assert plan.num_messages == p * log2_up(p)
    assert steps(plan) == log2_up(p)
    assert set(plan.size.tolist()) == {1}
    assert steps(schedule("barrier", "linear", p)) == 2
    assert schedule("barrier", "tree", p).num_messages == 2 * (p - 1)


@for_each("p", COUNTS)
def test_gather_and_scatter(p: int) -> None:
    """A binomial tree sends each block once for each level it climbs."""
    levels = sum(bin(place).count("1") for place in range(p))
    for operation in ("gather", "scatter"):
        assert schedule(operation, "linear", p, size=N, root=1).bytes_sent == (p - 1) * N
        plan = schedule(operation, "binomial", p, size=N, root=1)
        assert plan.num_messages == p - 1
        assert plan.bytes_sent == levels * N
        assert steps(plan) <= log2_up(p)


@for_each("p", COUNTS)
def test_allgathers_send_what_must_be_sent(p: int) -> None:
    """(p - 1) n bytes for each rank, the least there is; Bruck's in ceil(log2 p) steps."""
    for name in ("ring", "bruck", "neighbour-exchange"):
        assert (sent(schedule("allgather", name, p, size=N))[1] == (p - 1) * N).all()
    assert steps(schedule("allgather", "bruck", p, size=N)) == log2_up(p)
    assert steps(schedule("allgather", "ring", p, size=N)) == p - 1
    exchange = schedule("allgather", "neighbour-exchange", p, size=N)
    assert steps(exchange) == (p // 2 if p % 2 == 0 else p - 1)
    assert schedule("allgather", "recursive-doubling", p, size=N).bytes_sent == p * (p - 1) * N


@for_each("p", COUNTS)
def test_alltoalls(p: int) -> None:
    """Bruck sends each block once for each bit of its way: about n p log2(p) / 2 for each rank."""
    for name in ("linear", "pairwise"):
        messages, volume = sent(schedule("alltoall", name, p, size=N))
        assert (messages == p - 1).all()
        assert (volume == (p - 1) * N).all()
    plan = schedule("alltoall", "bruck", p, size=N)
    messages, volume = sent(plan)
    assert (messages == log2_up(p)).all()
    assert (volume == N * sum(bin(way).count("1") for way in range(p))).all()
    assert steps(plan) == log2_up(p)


@for_each("p", COUNTS)
def test_reduce_scatters_mirror_allgathers(p: int) -> None:
    for name in ("ring", "recursive-halving", "pairwise"):
        plan = schedule("reduce_scatter", name, p, size=N)
        assert plan.bytes_sent == p * (p - 1) * N
    plan = schedule("reduce_scatter", "recursive-halving", p, size=N)
    allgather = schedule("allgather", "recursive-doubling", p, size=N)
    assert plan.num_messages == allgather.num_messages
    assert steps(plan) == steps(allgather)


@for_each("p", COUNTS)
def test_scans(p: int) -> None:
    """ceil(log2 p) steps, in which p - 1, p - 2, p - 4, ... ranks send: Hillis, Steele 1986."""
    for operation in ("scan", "exscan"):
        assert steps(schedule(operation, "linear", p, size=N)) == p - 1
        plan = schedule(operation, "recursive-doubling", p, size=N)
        assert steps(plan) == log2_up(p)
        assert plan.num_messages == sum(p - 2**k for k in range(log2_up(p)))


@for_each("p", [2, 5, 8, 13])
def test_a_reduction_combines_what_it_receives(p: int) -> None:
    """P - 1 vectors must be combined into one, however that is spread over the ranks."""
    for operation in ("reduce", "reduce_scatter"):
        for name in ALGORITHMS[operation]:
            size = N if operation == "reduce" else N // p
            plan = schedule(operation, name, p, size=size, reduce_ns_per_byte=2.0)
            whole = int(plan.block_bytes.sum())
            assert plan.size[plan.kind == CALC].sum() == 2 * (p - 1) * whole
    plan = schedule("bcast", None, p, size=N, reduce_ns_per_byte=2.0)
    assert not (plan.kind == CALC).any()
