"""The pass without contention against the plain longest path, closed forms, and theory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels.loggops import llamp as kernel
from tests.cases import examples
from tests.reference.llamp import Costs, longest_paths, match_in_order
from workbench.programs.graph import CALC, RECV, SEND, Dependents, ExecutionGraph
from workbench.programs.graph_arrays import matched

NS = 1000

FIG4 = ((CALC, 1000), (SEND, 4), (CALC, 1000)), ((CALC, 500), (RECV, 4), (CALC, 1000))
FIG4C = ((CALC, 100), (SEND, 4), (CALC, 1000)), ((CALC, 500), (RECV, 4), (CALC, 1000))


def graph_of(ranks, requires, irequires=()):
    """Return a graph of operations (kind, size, peer, tag) and pairs (rank, after, before)."""
    starts = np.concatenate([[0], np.cumsum([len(ops) for ops in ranks])]).astype(np.int64)
    columns = np.array([op for ops in ranks for op in ops], np.int64).reshape(-1, 4)
    n = len(columns)

    def dependents(lines):
        after = [starts[rank] + one for rank, one, _ in lines]
        before = [starts[rank] + other for rank, _, other in lines]
        return Dependents.from_pairs(after, before, n)

    return ExecutionGraph(
        rank_start=starts,
        kind=columns[:, 0].astype(np.uint8),
        size=columns[:, 1].copy(),
        peer=columns[:, 2].astype(np.int32),
        tag=columns[:, 3].astype(np.uint32),
        cpu=np.zeros(n, np.uint8),
        nic=np.zeros(n, np.uint8),
        requires=dependents(requires),
        irequires=dependents(irequires),
    )


def chains(*ranks):
    """Return a graph of two ranks in which each operation waits for the one before."""
    ops = [[(kind, size, 1 - rank, 7) for kind, size in line] for rank, line in enumerate(ranks)]
    chain = [(rank, i, i - 1) for rank, line in enumerate(ranks) for i in range(1, len(line))]
    return graph_of(ops, chain)


def random_graph(rng, ranks, steps):
    """Return a program whose messages match in order: both ends are added at the same step."""
    ops = [[] for _ in range(ranks)]
    requires, irequires = [], []

    def add(rank, op):
        here = len(ops[rank])
        ops[rank].append(op)
        for lines, share in ((requires, 0.8), (requires, 0.4), (irequires, 0.2)):
            if here and rng.random() < share:
                lines.append((rank, here, int(rng.integers(max(0, here - 4), here))))

    for _ in range(steps):
        sender, receiver = (int(rank) for rank in rng.integers(0, ranks, 2))
        if rng.random() < 0.3:
            add(sender, (CALC, int(rng.integers(0, 500)), 0, 0))
            continue
        size, tag = int(rng.choice([0, 1, 2, 64, 65, 1000])), int(rng.integers(0, 3))
        add(sender, (SEND, size, receiver, tag))
        add(receiver, (RECV, size, sender, tag))
    return graph_of(ops, requires, irequires)


def run(graph, costs, halt=0):
    """Return status, starts, ends and matching."""
    n = graph.num_ops
    match, missing, stack = (np.empty(n, np.int32) for _ in range(3))
    start, end = np.empty(n, np.int64), np.empty(n, np.int64)
    assert kernel.match_in_order(graph.rank_start, graph.kind, graph.peer, graph.tag, match) == 0
    kernel.count_missing(graph.requires.ops, graph.irequires.ops, missing)
    status = kernel.forward(
        matched(graph, match),
        costs.L,
        costs.o,
        int(costs.G) if costs.G.is_integer() else -1,
        costs.G,
        costs.S,
        np.full(1, halt, np.int8),
        missing,
        stack,
        start,
        end,
    )
    return status, start, end, match


def makespan(graph, costs):
    status, _, end, _ = run(graph, costs)
    assert status == kernel.OK
    return int(end.max())


@examples(60)
@given(
    seed=st.integers(0, 2**32),
    ranks=st.integers(1, 6),
    steps=st.integers(1, 40),
    L=st.integers(0, 10**7),
    o=st.integers(0, 10**7),
    G=st.floats(0, 20_000),
    S=st.sampled_from([0, 1, 64, 2**31 - 1]),
)
def test_agrees_with_the_longest_paths(seed, ranks, steps, L, o, G, S):
    graph = random_graph(np.random.default_rng(seed), ranks, steps)
    costs = Costs(L, o, G, S)
    status, start, end, match = run(graph, costs)
    assert {op: int(other) for op, other in enumerate(match) if other >= 0} == match_in_order(graph)
    slow = longest_paths(graph, costs)
    if slow is None:
        assert status == kernel.WAITING
    else:
        assert status == kernel.OK
        assert (start.tolist(), end.tolist()) == slow


@examples(40)
@given(seed=st.integers(0, 2**32), S=st.sampled_from([64, 2**31 - 1]))
def test_the_makespan_is_convex_and_never_decreases_in_latency(seed, S):
    graph = random_graph(np.random.default_rng(seed), 4, 30)
    if run(graph, Costs(0, 5, 3.0, S))[0] != kernel.OK:
        return
    T = [makespan(graph, Costs(L, 5, 3.0, S)) for L in range(0, 200_000, 10_000)]
    slopes = np.diff(T)
    assert (slopes >= 0).all()
    assert (np.diff(slopes) >= 0).all()


@pytest.mark.parametrize("latency_ns", [0, 100, 384, 385, 386, 400, 1000])
def test_the_worked_example_of_the_paper(latency_ns):
    """Figure 4 with o = 0, 5 ns a byte and 4 bytes: T = L + 2015, and max(L + 1115, 1500)."""
    costs = Costs(latency_ns * NS, 0, 5.0 * NS, 65535)
    assert makespan(chains(*FIG4), costs) == max(latency_ns + 2015, 2000) * NS
    assert makespan(chains(*FIG4C), costs) == max(latency_ns + 1115, 1500) * NS


def test_above_the_threshold_the_sender_waits_for_its_receiver():
    graph = chains(((SEND, 11),), ((CALC, 5000), (RECV, 11)))
    eager = run(graph, Costs(1000 * NS, 10 * NS, 2.0 * NS, 11))
    assert eager[2].tolist() == [10 * NS, 5000 * NS, 5010 * NS]
    # meets at 5000, then 2o + 3L + 10 G, and o more at the sender
    waiting = run(graph, Costs(1000 * NS, 10 * NS, 2.0 * NS, 10))
    assert waiting[2].tolist() == [8050 * NS, 5000 * NS, 8040 * NS]


def test_what_requires_the_start_alone_overlaps():
    """A receive of a message under way, and work beside it."""
    ranks = [(SEND, 1, 1, 0)], [(RECV, 1, 0, 0), (CALC, 50_000, 0, 0), (CALC, 10, 0, 0)]
    graph = graph_of(ranks, [(1, 2, 0), (1, 2, 1)], [(1, 1, 0)])
    costs = Costs(2000 * NS, 100 * NS, 0.0, 65535)
    assert makespan(graph, costs) == 50_010 * NS
    assert run(graph, costs)[2].tolist()[1] == 2200 * NS


def test_an_empty_message_takes_no_bytes():
    graph = chains(((SEND, 0),), ((RECV, 0),))
    assert makespan(graph, Costs(7, 1, 1e6, 65535)) == 9


@pytest.mark.parametrize("tags", [(1, 2, 1, 1, 2), (5, 4, 3, 2, 1), (2, 2, 2, 2, 2)])
def test_messages_of_a_tag_are_matched_in_order_whatever_the_other_tags(tags):
    received = sorted(tags)
    ranks = [(SEND, 1, 1, t) for t in tags], [(RECV, 1, 0, t) for t in received]
    graph = graph_of(ranks, [])
    match = run(graph, Costs(0, 0, 0.0, 9))[3]
    assert match[:5].tolist() == [5 + i for i in np.argsort(np.argsort(tags, kind="stable"))]
    assert dict(enumerate(match.tolist())) == match_in_order(graph)


def test_what_has_no_other_end_is_counted():
    ranks = [(SEND, 1, 1, 0), (SEND, 1, 1, 1)], [(RECV, 1, 0, 1), (RECV, 1, 0, 2)], []
    graph = graph_of(ranks, [])
    match = np.empty(4, np.int32)
    alone = kernel.match_in_order(graph.rank_start, graph.kind, graph.peer, graph.tag, match)
    assert (alone, match.tolist()) == (2, [-1, 2, 1, -1])


def test_operations_that_wait_for_one_another_do_not_end():
    """Both send a large message before they receive: a deadlock with rendezvous alone."""
    ranks = [(SEND, 100, 1, 0), (RECV, 100, 1, 0)], [(SEND, 100, 0, 0), (RECV, 100, 0, 0)]
    graph = graph_of(ranks, [(0, 1, 0), (1, 1, 0)])
    assert run(graph, Costs(1, 1, 1.0, 100))[0] == kernel.OK
    status, _, end, _ = run(graph, Costs(1, 1, 1.0, 99))
    assert status == kernel.WAITING
    assert end.tolist() == [-1, -1, -1, -1]


def test_a_clock_that_would_run_out_is_noticed():
    third = 2**61 // 1000 - 1
    assert run(chains(((CALC, third),) * 2, ()), Costs(0, 0, 0.0, 9))[0] == kernel.OK
    assert run(chains(((CALC, third),) * 3, ()), Costs(0, 0, 0.0, 9))[0] == kernel.CLOCK_RAN_OUT
    graph = chains(((SEND, 2**40),) * 3, ((RECV, 2**40),) * 3)
    assert run(graph, Costs(0, 0, 2.0**21 - 1, 9))[0] == kernel.CLOCK_RAN_OUT


@pytest.mark.jit_only
def test_a_pass_can_be_halted():
    graph = chains(tuple((CALC, 1) for _ in range(70_000)), ())
    assert run(graph, Costs(0, 0, 0.0, 9), halt=1)[0] == kernel.HALTED
