"""Sweeps over a program: the paper's figures, exact bends and tolerances, paths, slack."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from tests.cases import examples, for_each
from tests.kernels.loggops_programs import random_graph, random_model
from tests.kernels.test_llamp import FIG4, FIG4C, chains, graph_of
from tests.reference import sweep as slow
from tests.reference.llamp import Costs, edges_of, match_in_order
from workbench import programs
from workbench.errors import ParameterError, ProgramError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs.graph import CALC, RECV, SEND
from workbench.simulate import replay
from workbench.simulate.picoseconds import PicosecondCosts
from workbench.tasks import Task
from workbench.tolerance.sweep import Sweep

FIG_MODEL = LogGPS(L=1e-6, o=0.0, g=0.0, G=5e-9, O=0.0, S=65535)
"""The paper's figure 4: no overhead, 5 ns a byte."""

MODEL = LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6.3e-9, O=0.0, S=65535)


def drawn(seed, events=14, **options):
    """Return a small program's sweep and all its paths, where it ends."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, whole=bool(rng.random() < 0.5))
    graph = random_graph(rng, events=events, irequires=0.3, **options)
    try:
        sweep = Sweep(graph, model)
    except ProgramError:
        assume(False)
    costs = PicosecondCosts.of(model)
    G = float(costs.G.whole) if costs.G.whole >= 0 else costs.G.real
    return sweep, slow.lines_of(graph, costs.o, G, costs.S)


def test_figure_4b_is_a_line():
    """T = L + 2.015 us."""
    sweep = Sweep(chains(*FIG4), FIG_MODEL)
    for L_us in (0, 0.385, 1, 17.5):
        assert sweep.makespan(L_us * 1e-6) == pytest.approx((L_us + 2.015) * 1e-6, rel=1e-15)
    point = sweep.at(1e-6)
    assert (point.lambda_L_left, point.lambda_L_right, point.lambda_G) == (1, 1, 3)
    assert point.rho_L == pytest.approx(1 / 3.015)
    assert len(sweep.critical_latencies(0, 1e-3)) == 0


def test_figures_4c_5_and_6():
    """T = max(L + 1.115, 1.5) us, which bends at 0.385; T(0.5) = 1.615; 2 us are borne to 0.885."""
    sweep = Sweep(chains(*FIG4C), FIG_MODEL)
    bend = sweep.critical_latencies(0, 1e-6)
    assert bend.L.tolist() == [0.385e-6]
    assert bend.exact_ps == (Fraction(385_000),)
    assert (bend.lambda_left.tolist(), bend.lambda_right.tolist()) == ([0], [1])
    assert bend.T.tolist() == [1.5e-6]
    assert sweep.makespan_ps(500_000) == 1_615_000
    at_bend = sweep.at(0.385e-6)
    assert (at_bend.lambda_L_left, at_bend.lambda_L_right) == (0, 1)
    third = 100 / 3
    assert sweep.tolerance_ps([third], 0.0)[third] == 885_000  # 2 us / 1.5 us


def test_figure_16_on_its_interval():
    """On [0.2, 0.5] us: flat up to 0.385, then as L."""
    sweep = Sweep(chains(*FIG4C), FIG_MODEL)
    curve = sweep.curve([0.2e-6, 0.385e-6, 0.5e-6])
    assert curve.T.tolist() == [1.5e-6, 1.5e-6, 1.615e-6]
    assert curve.lambda_left.tolist() == [0, 0, 1]
    assert curve.lambda_right.tolist() == [0, 1, 1]
    inside = sweep.critical_latencies(0.2e-6, 0.5e-6)
    assert len(inside) == 1
    assert len(sweep.critical_latencies(0.2e-6, 0.385e-6)) == 0  # its end is not inside
    assert inside.lanes <= 4


def test_figure_15_both_sides_of_a_rendezvous():
    """They meet at max(send + L, receive), and end 2o + 3L + (s-1)G and o after that."""
    graph = chains(((CALC, 100), (SEND, 11)), ((CALC, 5000), (RECV, 11)))
    sweep = Sweep(graph, LogGPS(1e-6, 1e-8, 0, 2e-9, 0, 10))
    assert sweep.finish_ps(1e-6).tolist() == [8_050_000, 8_040_000]
    point = sweep.at(1e-6)
    assert (point.lambda_L_left, point.lambda_L_right) == (3, 3)
    assert (point.lambda_o, point.lambda_G) == (3, 10)
    late = sweep.at(6e-6)
    assert (late.T_ps, late.lambda_L_right) == (100_000 + 24_000_000 + 50_000, 4)
    assert sweep.critical_latencies(0, 1e-5).exact_ps == (Fraction(4_900_000),)


@examples(12)
@given(seed=st.integers(0, 2**32), hi=st.sampled_from([20_000, 61_000, 10**6]))
def test_bends_are_those_of_all_paths(seed, hi):
    sweep, lines = drawn(seed)
    found = sweep.critical_latencies(0, hi * 1e-12)
    expected = slow.bends(lines, 0, hi)
    # What lies between two neighbouring picoseconds is merged, at a place between them.
    ticks = [(b.numerator // b.denominator, b.denominator == 1) for b in expected]
    got = [(b.numerator // b.denominator, b.denominator == 1) for b in found.exact_ps]
    assert got == sorted(set(ticks))
    for bend, left, right in zip(
        found.exact_ps, found.lambda_left, found.lambda_right, strict=True
    ):
        below = bend.numerator // bend.denominator
        if bend.denominator == 1:
            assert (left, right) == slow.slopes(lines, below)
        else:
            assert left == slow.slopes(lines, below)[1]
            assert right == slow.slopes(lines, below + 1)[0]
        if ticks.count((below, bend.denominator == 1)) == 1:
            assert bend in expected
    assert found.lanes <= 4 * len(found) + 2 * (len(found) == 0)


@examples(12)
@given(seed=st.integers(0, 2**32), percent=st.floats(0, 300), base=st.integers(0, 50_000))
def test_a_tolerance_is_the_largest_latency_within_it(seed, percent, base):
    sweep, lines = drawn(seed)
    bound = Fraction(sweep.makespan_ps(base)) * (1 + Fraction(str(percent)) / 100)
    found = sweep.tolerance_ps([percent, 1000.0], base * 1e-12)
    assert found[percent] == slow.tolerance(lines, int(bound))
    if found[percent] is not None:
        assert sweep.makespan_ps(found[percent]) <= bound < sweep.makespan_ps(found[percent] + 1)
        assert found[1000.0] >= found[percent]


def test_a_program_without_messages_bears_any_latency():
    sweep = Sweep(chains(((CALC, 5), (CALC, 6)), ((CALC, 3),)), MODEL)
    assert sweep.tolerance() == {1.0: np.inf, 2.0: np.inf, 5.0: np.inf}
    assert sweep.at().rho_L == 0.0
    assert len(sweep.critical_latencies(0, 1.0)) == 0


def test_a_message_off_the_critical_path_is_borne_until_it_is_on_it():
    sweep = Sweep(chains(*FIG4C), FIG_MODEL)
    assert sweep.tolerance([0], 0.0) == {0: 0.385e-6}
    assert sweep.tolerance([0], 0.6e-6) == {0: 0.6e-6}


@examples(8)
@given(seed=st.integers(0, 2**32), latency_ps=st.integers(0, 70_000))
def test_the_critical_path_adds_up_to_the_makespan(seed, latency_ps):
    sweep, lines = drawn(seed, events=25)
    path = sweep.critical_path(latency_ps * 1e-12)
    graph, costs = sweep.graph, PicosecondCosts.of(sweep.model)
    through = costs.G.of(graph.size[sweep.send_ops[path.messages]])
    computed = graph.size[path.ops[graph.kind[path.ops] == CALC]].sum() * 1000
    assert path.latencies.sum() == slow.slopes(lines, latency_ps)[1] if latency_ps else True
    total = computed + path.overheads * costs.o + path.latencies.sum() * latency_ps
    assert total + through[path.bytes > 0].sum() == sweep.makespan_ps(latency_ps)
    point = sweep.at(latency_ps * 1e-12)
    assert (point.lambda_G, point.lambda_o) == (path.bytes.sum(), path.overheads)


@examples(8)
@given(seed=st.integers(0, 2**32), latency_ps=st.integers(0, 70_000))
def test_operations_of_the_critical_path_follow_one_another(seed, latency_ps):
    """Each waits for the one before, by dependencies or a message, and cannot be later."""
    sweep, _ = drawn(seed, events=25)
    graph = sweep.graph
    path = sweep.critical_path(latency_ps * 1e-12).ops
    waits = np.eye(graph.num_ops, dtype=bool)
    for dependents in (graph.requires, graph.irequires):
        after, before = dependents.pairs()
        waits[before, after] = True
    for _ in range(6):  # squared so often, paths of up to 64 edges are found
        waits = waits @ waits
    for before, after in itertools.pairwise(path):
        assert sweep.match[after] == before or waits[before, after]
    slack = sweep.slack(latency_ps * 1e-12)
    assert (np.minimum(slack.ops_ps, slack.ends_ps)[path] == 0).all()


@examples(5)
@given(seed=st.integers(0, 2**32), latency_ps=st.integers(0, 70_000))
def test_slack_is_the_longest_delay_that_changes_nothing(seed, latency_ps):
    sweep, _ = drawn(seed, events=8)
    costs = PicosecondCosts.of(sweep.model)
    G = float(costs.G.whole) if costs.G.whole >= 0 else costs.G.real
    match = match_in_order(sweep.graph)
    edges = edges_of(sweep.graph, Costs(latency_ps, costs.o, G, costs.S), match)
    times = delayed(sweep.graph.num_ops, edges, -1, 0)
    T = max(times)
    slack = sweep.slack(latency_ps * 1e-12)
    assert sweep.makespan_ps(latency_ps) == T
    for spares, vertex in ((slack.ops_ps, 0), (slack.ends_ps, 1)):
        for op, spare in enumerate(spares.tolist()):
            late = 2 * op + vertex
            assert max(delayed(sweep.graph.num_ops, edges, late, spare)) == T
            assert max(delayed(sweep.graph.num_ops, edges, late, spare + 1)) == T + 1
    assert slack.ranks_ps.tolist() == (T - sweep.finish_ps(latency_ps * 1e-12)).tolist()


def delayed(n, edges, late, delay):
    """Return the times of all starts (even) and ends (odd) where one is later by a delay."""
    time = [0] * (2 * n)
    if late >= 0:
        time[late] = delay
    changed = True
    while changed:
        changed = False
        for source, to, cost in edges:
            reached = time[source] + cost + (delay if to == late else 0)
            if reached > time[to]:
                time[to] = reached
                changed = True
    return time


@examples(8)
@given(seed=st.integers(0, 2**32))
def test_the_makespan_is_convex_piecewise_linear_and_never_decreases(seed):
    sweep, _ = drawn(seed, events=30)
    L = np.arange(0, 80_000, 2_500)
    curve = sweep.curve(L * 1e-12)
    T = np.rint(curve.T * 1e12).astype(np.int64)
    steps = np.diff(T)
    assert (steps >= 0).all()
    assert (np.diff(steps) >= 0).all()
    assert (curve.lambda_left[1:] <= curve.lambda_right[1:]).all()
    assert (curve.lambda_right[:-1] * 2_500 <= steps).all()
    assert (steps <= curve.lambda_left[1:] * 2_500).all()


@examples(5)
@given(seed=st.integers(0, 2**32))
def test_slopes_are_the_differences_where_nothing_bends(seed):
    """By another o and another G, a picosecond and a picosecond a byte more."""
    sweep, _ = drawn(seed, events=25, empty=True)
    model = sweep.model.replace(G=2e-9, o=1e-8)
    sweep = sweep.replace(model)
    T, point = sweep.makespan_ps(), sweep.at()
    more_o = sweep.replace(model.replace(o=1e-8 + 1e-12)).makespan_ps() - T
    less_o = T - sweep.replace(model.replace(o=1e-8 - 1e-12)).makespan_ps()
    assert less_o <= point.lambda_o <= more_o
    more_G = sweep.replace(model.replace(G=2.001e-9)).makespan_ps() - T
    less_G = T - sweep.replace(model.replace(G=1.999e-9)).makespan_ps()
    assert less_G <= point.lambda_G <= more_G
    assert point.lambda_g == 0


@for_each("wildcards", [False, True])
def test_generated_programs_take_as_long_as_their_replay(wildcards):
    ended = 0
    for seed in range(25):
        program = programs.generate.random_program(4, wildcards=wildcards, rng=seed)
        graph = program.graph()
        try:
            expected = replay(graph, MODEL, semantics="llamp").finish_ps
        except ProgramError:
            with pytest.raises(ProgramError):
                Sweep(graph, MODEL)
            continue
        ended += 1
        assert Sweep(program, MODEL).finish_ps().tolist() == expected.tolist()
    assert ended >= 10


def test_another_model_needs_no_packing_unless_messages_cross_the_threshold():
    graph = programs.generate.cg(8, iterations=2).graph()
    sweep = Sweep(graph, MODEL)
    cheap = MODEL.replace(o=1e-7, G=1e-10, L=3e-6)
    assert sweep.replace(cheap)._packed is sweep._packed
    assert sweep.replace(cheap).makespan_ps() == Sweep(graph, cheap).makespan_ps()
    far = MODEL.replace(L=5e-6)
    assert sweep.replace(far).at() == Sweep(graph, far).at()
    assert sweep.replace(far).passes == sweep.passes  # nothing was prepared again
    waiting = MODEL.replace(S=8)
    assert sweep.replace(waiting)._packed is not sweep._packed
    assert sweep.replace(waiting).makespan_ps() == Sweep(graph, waiting).makespan_ps()
    assert sweep.makespan_ps() == Sweep(graph, MODEL).makespan_ps()


def test_latencies_of_classes_add_up():
    """Figure 4c with wires: h + 1 of them and h switches, beside L of one message."""
    graph = graph_of(
        [
            [(SEND, 1, 1, 0), (CALC, 10, 0, 0), (SEND, 1, 2, 0)],
            [(RECV, 1, 0, 0)],
            [(RECV, 1, 0, 0)],
        ],
        [(0, 1, 0), (0, 2, 1)],
    )
    sweep = Sweep(graph, LogGPS(0, 0, 0, 0, 0, 65535))
    point = sweep.per_class([[3, 1], [0, 2]], [1e-9, 4e-9], constant_s=[0, 0.5e-9])
    assert (point.T_ps, point.lambdas.tolist()) == (18_500, [0, 2])
    point = sweep.per_class([[3, 1], [0, 2]], [1e-7, 4e-9])
    assert (point.T_ps, point.lambdas.tolist()) == (304_000, [3, 1])
    one_each = sweep.per_class([0, 1], [1e-8, 2e-8])
    assert (one_each.T_ps, one_each.lambdas.tolist()) == (30_000, [0, 1])
    assert sweep.per_class([0, 1], {1: 2e-8}).T_ps == 30_000
    along = sweep.along([3, 1], constant_s=[0, 2e-9])
    assert [along.makespan_ps(x) for x in (0, 6_000, 7_000)] == [12_000, 18_000, 21_000]
    assert along.critical_latencies(0, 1e-6).exact_ps == (Fraction(6_000),)
    assert along.at(7e-9).lambda_L_right == 3
    assert along.slack(7e-9).ops_ps.tolist() == [0, 2_000, 2_000, 21_000, 21_000]


def test_pairs_share_the_slopes():
    graph = programs.generate.halo(9, iterations=3).graph()
    sweep = Sweep(graph, MODEL)
    pairs, point = sweep.pairs(), sweep.at()
    assert pairs.lambda_L.shape == (9, 9)
    assert pairs.lambda_L.sum() == point.lambda_L_right
    assert pairs.lambda_G.sum() == point.lambda_G
    two = Sweep(chains(*FIG4), FIG_MODEL).pairs()
    assert two.lambda_L.tolist() == [[0, 1], [0, 0]]
    assert two.lambda_G.tolist() == [[0, 3], [0, 0]]


def test_two_latencies_side_by_side_share_passes():
    sweep = Sweep(programs.generate.cg(16, iterations=3).graph(), MODEL)
    before = sweep.passes
    sweep.curve(np.linspace(1e-6, 5e-6, 8))
    assert sweep.passes - before == 2
    before = sweep.passes
    tolerances = sweep.tolerance((1, 2, 5))
    assert sweep.passes - before <= 5
    assert 2.5e-6 < tolerances[1] < tolerances[2] < tolerances[5]


def test_says_what_must_hold():
    sweep = Sweep(chains(*FIG4), FIG_MODEL)
    for L in (-1e-9, np.nan, np.inf):
        with pytest.raises(ParameterError, match="at least 0"):
            sweep.makespan(L)
    with pytest.raises(ParameterError, match="above its start"):
        sweep.critical_latencies(1e-6, 1e-6)
    with pytest.raises(ParameterError, match="percent"):
        sweep.tolerance([-1])
    with pytest.raises(ParameterError, match="multiples"):
        sweep.along([1, 2])
    with pytest.raises(ParameterError, match="whole number"):
        sweep.along([1.5])
    with pytest.raises(ParameterError, match="constant_s"):
        sweep.along(constant_s=[-1.0])
    with pytest.raises(ParameterError, match="for each class"):
        sweep.per_class([3], [1e-6])
    with pytest.raises(ParameterError, match="2 classes"):
        sweep.per_class([[1]], [1e-6, 1e-6])
    with pytest.raises(ParameterError, match="add up to 288230 s"):
        sweep.per_class([[1]], [1e30])
    with pytest.raises(ParameterError, match="4611686 s"):
        sweep.makespan(5e6)
    with pytest.raises(ProgramError, match="must have its receive"):
        Sweep(chains(((SEND, 4),), ()), FIG_MODEL)


def test_a_deadlock_and_a_clock_that_runs_out_are_refused():
    ranks = [(SEND, 100, 1, 0), (RECV, 100, 1, 0)], [(SEND, 100, 0, 0), (RECV, 100, 0, 0)]
    graph = graph_of(ranks, [(0, 1, 0), (1, 1, 0)])
    sweep = Sweep(graph, FIG_MODEL)
    with pytest.raises(ProgramError, match="circle"):
        Sweep(graph, FIG_MODEL.replace(S=99))
    with pytest.raises(ProgramError, match="circle"):
        sweep.replace(FIG_MODEL.replace(S=99))
    third = 2**61 // 1000 - 1
    with pytest.raises(ParameterError, match="must end before"):
        Sweep(chains(((CALC, third),) * 3, ()), FIG_MODEL)


@for_each("match", [[4], [1.0] * 6, [-1, 9, -1, -1, 1, -1], [-1, 0, -1, -1, 1, -1]])
def test_a_matching_that_joins_no_messages_is_refused(match):
    with pytest.raises(ParameterError, match="receive of each send"):
        Sweep(chains(*FIG4), FIG_MODEL, match=np.array(match))


def test_a_sweep_can_be_stopped():
    task = Task()
    sweep = Sweep(chains(*FIG4), FIG_MODEL, task=task)
    task.stop()
    with pytest.raises(SimulationHalted):
        sweep.curve([1e-6])


def test_says_what_it_is():
    sweep = Sweep(chains(*FIG4), FIG_MODEL)
    assert "6 operations, 1 messages" in repr(sweep)
    assert (sweep.vertices, sweep.messages, sweep.send_ops.tolist()) == (6, 1, [1])
    assert np.asarray(sweep.critical_latencies(0, 1e-6)).shape == (0,)
    assert dataclasses.is_dataclass(sweep.at())
