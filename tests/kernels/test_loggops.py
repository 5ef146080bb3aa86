"""The replay against the plain reference, against itself, and against closed forms."""

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples
from tests.kernels.loggops_programs import random_graph, random_model
from tests.reference import loggops as reference
from workbench.errors import ParameterError, ProgramError, SimulationHalted
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
from workbench.simulate.picoseconds import PicosecondCosts
from workbench.simulate.replay import replay
from workbench.tasks import Task

NS = 1e-9
MODEL = LogGPS(L=2500 * NS, o=1500 * NS, g=1000 * NS, G=6 * NS, O=0.0, S=65535)

shapes = st.fixed_dictionaries(
    {
        "ranks": st.integers(1, 6),
        "events": st.integers(1, 50),
        "cpus": st.sampled_from([1, 1, 2, 3, 9]),
        "nics": st.sampled_from([1, 1, 2, 3]),
        "tags": st.integers(1, 4),
        "wildcards": st.sampled_from([0.0, 0.0, 0.2]),
        "irequires": st.sampled_from([0.0, 0.3]),
        "empty": st.booleans(),
        "other_sizes": st.sampled_from([0.0, 0.3]),
        "fan": st.integers(1, 20),
    }
)


def program(ranks, ops, edges=(), irequires=()):
    """Return a program of ``(rank, kind, size, peer, tag[, cpu])``; edges name places in it."""
    order = sorted(range(len(ops)), key=lambda i: ops[i][0])
    place = {i: at for at, i in enumerate(order)}
    rows = np.array([(*ops[i], 0)[1:6] for i in order], np.int64).reshape(-1, 5)
    starts = np.searchsorted([ops[i][0] for i in order], range(ranks + 1))
    dependents = [
        Dependents.from_pairs([place[a] for a, _ in p], [place[b] for _, b in p], len(ops))
        for p in (edges, irequires)
    ]
    return ExecutionGraph(
        starts.astype(np.int64),
        rows[:, 0].astype(np.uint8),
        rows[:, 1].copy(),
        rows[:, 2].astype(np.int32),
        rows[:, 3].astype(np.uint32),
        rows[:, 4].astype(np.uint8),
        np.zeros(len(ops), np.uint8),
        *dependents,
    )


def compare(seed, shape, whole, compatible):
    """Hold one random program to the reference; return whether it ran to its end."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, **shape)
    model = random_model(rng, whole=whole)
    costs = PicosecondCosts.of(model)
    G, O = (c.whole if c.whole >= 0 else c.real for c in (costs.G, costs.O))  # noqa: E741
    parameters = reference.Parameters(costs.L, costs.o, costs.g, G, O, costs.S)
    try:
        slow = reference.replay(graph, parameters, compatible)
    except reference.Stuck as stuck:
        with pytest.raises(ProgramError, match=f"but {len(stuck.waiting)} wait"):
            replay(graph, model, compatible=compatible)
        return False
    fast = replay(graph, model, times=True, compatible=compatible)
    wrapped = [ps % (2**64 * 1000) for ps in fast.finish_ps.tolist()]
    assert wrapped == slow.finish_ps
    assert fast.events == slow.events
    ran = np.array(slow.start_ps) >= 0
    if compatible and (graph.size == 0).any():
        return True  # its times may be below 0
    for name in ("start_ps", "begin_ps", "end_ps", "match"):
        np.testing.assert_array_equal(
            getattr(fast.times, name)[ran], np.array(getattr(slow, name))[ran]
        )
    if not compatible:
        assert replay(graph, model).finish_ps.tolist() == slow.finish_ps
        check_causes(fast)
    return True


def check_causes(result):
    """Hold the critical path to the makespan: it has no gap from the end to time 0."""
    path = result.critical_path()
    assert path[0].to_ps == result.makespan_ps == result.times.end_ps.max()
    assert path[-1].from_ps == 0
    assert all(later.from_ps == step.to_ps for later, step in itertools.pairwise(path))


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), shape=shapes, whole=st.booleans(), compatible=st.booleans())
def test_agrees_with_the_plain_reference(seed, shape, whole, compatible):
    compare(seed, shape, whole, compatible)


@pytest.mark.jit_only
@pytest.mark.parametrize("count", [250, pytest.param(2000, marks=pytest.mark.deep)])
@pytest.mark.parametrize("compatible", [False, True])
def test_agrees_with_the_plain_reference_on_programs_of_every_shape(compatible, count):
    ended = 0
    for seed in range(count):
        rng = np.random.default_rng([7, seed])
        shape = {
            "ranks": int(rng.integers(1, 7)),
            "events": int(rng.integers(1, 60)),
            "cpus": int(rng.choice([1, 1, 2, 3, 9])),
            "nics": int(rng.choice([1, 1, 2, 3])),
            "tags": int(rng.integers(1, 4)),
            "wildcards": float(rng.choice([0, 0, 0.2])),
            "irequires": float(rng.choice([0, 0.3])),
            "empty": bool(rng.random() < 0.3),
            "other_sizes": float(rng.choice([0, 0.3])),
            "fan": int(rng.integers(1, 8)),
        }
        ended += compare(seed, shape, bool(rng.random() < 0.6), compatible)
    assert ended > count / 2


@pytest.mark.jit_only
@pytest.mark.parametrize("count", [50, pytest.param(300, marks=pytest.mark.deep)])
def test_both_kernels_agree_where_there_are_no_quirks(count):
    for seed in range(count):
        rng = np.random.default_rng([8, seed])
        graph = random_graph(rng, ranks=8, events=200, tags=3, wildcards=0.1, fan=25)
        model = random_model(rng)
        for ties in ("stable", "libstdc++"):
            try:
                plain = replay(graph, model, compatible=True, ties=ties)
            except ProgramError:
                with pytest.raises(ProgramError):
                    replay(graph, model, ties=ties)
            else:
                assert (
                    replay(graph, model, ties=ties).finish_ps.tolist() == plain.finish_ps.tolist()
                )


@pytest.mark.jit_only
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("wild", [False, True])
def test_thousands_of_messages_wait_for_their_receives(wild, reverse):
    tags = np.arange(3000)
    late = program(
        2,
        [
            *((0, SEND, 1, 1, tag) for tag in tags),
            (1, CALC, 10**8, 0, 0),
            *((1, RECV, 1, 0, tag) for tag in (tags[::-1] if reverse else tags)),
            *([(1, RECV, 1, ANY_SOURCE, 0), (0, SEND, 1, 1, 0)] if wild else []),
        ],
        edges=[(3001 + i, 3000) for i in range(3000)],
    )
    result = replay(late, MODEL, times=True)
    sends = np.flatnonzero(late.kind == SEND)
    receives = result.times.match[sends]
    assert (late.tag[receives] == late.tag[sends]).all()
    if not wild:
        # The computation keeps the core; then they are taken one after the other.
        assert result.finish_ns[1] == 10**8 + 3000 * 1500


def test_first_posted_and_first_arrived_meet_first():
    graph = program(
        3,
        [
            (0, RECV, 1, ANY_SOURCE, 5),
            (0, RECV, 1, 1, ANY_TAG),
            (0, RECV, 1, ANY_SOURCE, ANY_TAG),
            (1, SEND, 1, 0, 6),
            (1, SEND, 1, 0, 5),
            (2, SEND, 1, 0, 5),
        ],
        edges=[(1, 0), (2, 1), (4, 3)],
    )
    # They come as tag 6 from 1, tag 5 from 2, tag 5 from 1; the first finds no receive.
    assert replay(graph, MODEL, times=True).times.match.tolist() == [5, 3, 4, 1, 2, 0]


def test_a_rank_can_send_to_itself():
    graph = program(1, [(0, SEND, 8, 0, 0), (0, RECV, 8, 0, 0)])
    assert replay(graph, MODEL).finish_ns == [1500 + 2500 + 1500 + 7 * 6]


@pytest.mark.parametrize("sender_first", [True, False])
def test_a_synchronous_send_ends_when_its_message_meets_its_receive(sender_first):
    work = 10_000 if sender_first else 0
    graph = program(
        2,
        [
            (0, SEND, 100_000, 1, 0),
            (0, CALC, 7, 0, 0),
            (1, CALC, work, 0, 0),
            (1, RECV, 100_000, 0, 0),
        ],
        edges=[(1, 0), (3, 2)],
    )
    result = replay(graph, MODEL, times=True)
    arrival = 1500 + 2500
    if sender_first:
        # The receiver's core is busy when the message comes.
        arrival = work
    assert result.times.end_ps[0] == arrival * 1000
    assert result.finish_ns == [arrival + 7, arrival + 1500 + 99_999 * 6]


def test_no_message_is_synchronous_without_a_limit():
    size = 2**40
    graph = program(2, [(0, SEND, size, 1, 0), (1, RECV, size, 0, 0)])
    unlimited = replay(graph, MODEL.replace(S=2**31 - 1, G=0.001 * NS), times=True)
    assert unlimited.times.end_ps[0] == 1_500_000
    limited = replay(graph, MODEL.replace(S=2**31 - 2, G=0.001 * NS), times=True)
    assert limited.times.end_ps[0] == 4_000_000


def test_each_product_is_rounded_once():
    graph = program(2, [(0, SEND, 1001, 1, 0), (1, RECV, 1001, 0, 0)])
    result = replay(graph, MODEL.replace(G=0.0180004 * NS, O=0.0000016 * NS))
    assert result.finish_ps.tolist() == [1_500_000 + 2, 4_000_000 + 1_500_000 + 18_000]
    assert result.finish_ns == [1500.002, 5518]


def test_work_on_another_core_waits_for_what_it_depends_on():
    graph = program(1, [(0, CALC, 100, 0, 0, 0), (0, CALC, 50, 0, 0, 3)], edges=[(1, 0)])
    assert replay(graph, MODEL).finish_ns == [150]
    assert replay(graph, MODEL, compatible=True).finish_ns == [100]


def test_an_empty_message_costs_no_byte():
    graph = program(2, [(0, SEND, 0, 1, 0), (1, RECV, 0, 0, 0)])
    assert replay(graph, MODEL).finish_ns == [1500, 5500]
    assert replay(graph, MODEL, compatible=True).finish_ns == [1500, 5494]


def test_a_compatible_clock_wraps_as_loggopsims():
    graph = program(
        2, [(0, SEND, 0, 1, 0), (0, SEND, 0, 1, 0), (1, RECV, 0, 0, 0), (1, RECV, 0, 0, 0)]
    )
    free = LogGPS(L=0.0, o=0.0, g=0.0, G=6 * NS, O=0.0, S=65535)
    # Each message sets a clock back by G; LogGOPSim's are unsigned.
    assert replay(graph, free, compatible=True).finish_ns == [2**64 - 6, 2**64 - 12]
    assert replay(graph, free).finish_ns == [0, 0]


def test_a_receive_shorter_than_its_late_message_never_lets_the_send_go_in_loggopsim():
    graph = program(
        2,
        [
            (0, SEND, 100_000, 1, 0),
            (0, CALC, 10**7, 0, 0),
            (1, CALC, 10**6, 0, 0),
            (1, RECV, 10, 0, 0),
        ],
        edges=[(1, 0), (3, 2)],
    )
    late = replay(graph, MODEL)
    assert late.finish_ns[0] > 10**7
    strange = replay(graph, MODEL.replace(o=0.0), compatible=True)
    # The message is taken when the core is free, before the receive is posted.
    assert strange.finish_ns[0] < 10**7
    assert strange.notes == ("1 operations never ran, which LogGOPSim does not report",)


def test_a_stopped_run_ends(stopped):
    n = 20_000  # the stop is looked at every 4096 operations
    graph = ExecutionGraph(
        np.array([0, n]),
        np.full(n, CALC, np.uint8),
        np.ones(n, np.int64),
        *(np.zeros(n, t) for t in (np.int32, np.uint32, np.uint8, np.uint8)),
        *(Dependents.from_pairs([], [], n) for _ in range(2)),
    )
    for compatible in (False, True):
        with pytest.raises(SimulationHalted):
            replay(graph, MODEL, task=stopped, compatible=compatible)


@pytest.mark.jit_only
def test_another_thread_can_watch_and_end_a_run():
    graph = random_graph(np.random.default_rng(1), ranks=4, events=20_000, fan=1, tags=1)
    task, seen = Task(), []

    def run():
        try:
            while True:
                replay(graph, random_model(np.random.default_rng(2)), task=task)
        except (SimulationHalted, ProgramError) as error:
            seen.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while (reached := task.progress).done == 0 and thread.is_alive():
        pass
    task.stop()
    thread.join(120)
    assert not thread.is_alive()
    assert 0 < reached.done <= reached.total
    assert reached.message == f"replaying {graph.num_ops:,} operations"


@pytest.mark.parametrize("compatible", [False, True])
def test_a_clock_that_runs_out_is_refused(compatible):
    long = 2 * 10**15  # ns, 23 days each
    graph = program(1, [(0, CALC, long, 0, 0)] * 3)
    with pytest.raises(ParameterError, match="where the clock ends"):
        replay(graph, MODEL, compatible=compatible)


@pytest.mark.parametrize(
    ("graph", "model", "message"),
    [
        (program(1, [(0, CALC, 3 * 10**15, 0, 0)]), MODEL, "a computation must take less"),
        (program(1, [(0, CALC, -1, 0, 0)]), MODEL, "not be negative"),
        (program(1, [(0, SEND, 2**62, 0, 0), (0, RECV, 2**62, 0, 0)]), MODEL, "with G=6 ns/B"),
        (program(1, []), MODEL.replace(L=1e9), "L must be at most"),
    ],
)
def test_what_a_clock_step_cannot_hold_is_refused(graph, model, message):
    with pytest.raises(ParameterError, match=message):
        replay(graph, model)


@pytest.mark.parametrize(
    "op", [(0, SEND, 1, 1, 0), (0, SEND, 1, -1, 0), (0, RECV, 1, 7, 0), (0, RECV, 1, -2, 0)]
)
@pytest.mark.parametrize("compatible", [False, True])
def test_a_peer_that_is_no_rank_is_refused(op, compatible):
    with pytest.raises(ProgramError, match="peers must be ranks 0 to 0"):
        replay(program(1, [op]), MODEL, compatible=compatible)


@pytest.mark.parametrize("compatible", [False, True])
def test_a_program_without_operations_takes_no_time(compatible):
    result = replay(program(3, []), MODEL, times=True, compatible=compatible)
    assert result.finish_ns == [0, 0, 0]
    assert result.critical_path() == ()


@examples(40)
@given(seed=st.integers(0, 2**32 - 1))
def test_nothing_is_taken_before_it_can_have_come(seed):
    rng = np.random.default_rng(seed)
    # Tags enough that a receive meets the message it was made for, so that nothing gets stuck.
    graph = random_graph(rng, ranks=4, events=40, cpus=2, tags=10**6, irequires=0.0)
    model = random_model(rng).replace(S=2**31 - 1)
    result = replay(graph, model, times=True)
    times, costs = result.times, result.costs
    receives = np.flatnonzero(graph.kind == RECV)
    sends = times.match[receives]
    assert (times.match[sends] == receives).all()
    arrived = times.start_ps[sends] + costs.o + costs.L
    assert (times.begin_ps[receives] >= arrived).all()
    assert (times.end_ps[receives] >= times.begin_ps[receives] + costs.o).all()
    after, before = graph.requires.pairs()
    assert (times.start_ps[after] >= times.end_ps[before]).all()
    assert result.makespan_ps >= graph.size[graph.kind == CALC].max(initial=0) * 1000


@examples(30)
@given(seed=st.integers(0, 2**32 - 1))
def test_computations_alone_take_their_longest_path_or_their_sum(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    work = rng.integers(0, 50, n)
    ops = [(0, CALC, int(ns), 0, 0, i) for i, ns in enumerate(work)]
    edges = [(a, int(rng.integers(a))) for a in range(1, n) for _ in range(int(rng.integers(3)))]
    ends = np.zeros(n, np.int64)
    for op in range(n):
        ends[op] = work[op] + max((ends[b] for a, b in edges if a == op), default=0)
    # Each on a core of its own, then all on one.
    assert replay(program(1, ops, edges), MODEL).finish_ns == [ends.max()]
    one_core = [(*op[:5], 0) for op in ops]
    assert replay(program(1, one_core, edges), MODEL).finish_ns == [work.sum()]
