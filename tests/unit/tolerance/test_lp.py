"""The linear program: the paper's worked figures, its variables, its files and its refusals."""

from __future__ import annotations

import math
from itertools import pairwise

import highspy
import numpy as np
import pulp
import pytest

from tests.cases import for_each
from tests.kernels.loggops_programs import random_graph
from tests.kernels.test_llamp import FIG4, FIG4C, chains, graph_of
from tests.reference import lp as reference
from tests.reference.llamp import Costs, match_in_order
from workbench.errors import ParameterError, ProgramError
from workbench.models import LogGPS
from workbench.programs import generate
from workbench.programs.graph import ANY_SOURCE, CALC, RECV, SEND
from workbench.simulate import replay
from workbench.tolerance.lp import LatencyLP
from workbench.tolerance.lp_solvers import SolverError
from workbench.tolerance.sweep import Sweep

US = 1e-6
FIG_MODEL = LogGPS(L=1e-6, o=0.0, g=0.0, G=5e-9, O=0.0, S=65535)
CLUSTER = LogGPS(L=3e-6, o=1.5e-6, g=0.0, G=0.018e-9, O=0.0, S=262144)

close = {"rel": 1e-9, "abs": 1e-13}  # HiGHS lets rows be short of 1e-7 µs


def makespan(graph, model):
    return int(replay(graph, model, semantics="llamp").finish_ps.max(initial=0)) * 1e-12


def small_program():
    return generate.halo((2, 2), cells=16, iterations=3).graph()


def test_figure_4b_is_a_line_in_L():
    lp = LatencyLP(chains(*FIG4), FIG_MODEL)
    for L in (0.0, 0.3, 1.0, 20.0):
        found = lp.solve(L=L * US)
        assert found.T == pytest.approx((L + 2.015) * US, **close)
        assert found.lambda_L == pytest.approx(1)
        assert found.tight.tolist() == [0, 1, 4, 5]


@for_each("L, T, slope", [(0.2, 1.5, 0), (0.5, 1.615, 1), (2.0, 3.115, 1)])
def test_figures_4c_and_5(L, T, slope):
    found = LatencyLP(chains(*FIG4C), FIG_MODEL).solve(L=L * US)
    assert found.T == pytest.approx(T * US, **close)
    assert found.lambda_L == pytest.approx(slope)
    assert found.rho_L == pytest.approx(slope * L / T)
    assert found.lambda_G == pytest.approx(3 * slope)
    # C0 S R C3 where latency counts, else C2 R C3.
    assert found.tight.tolist() == ([0, 1, 4, 5] if slope else [3, 4, 5])


@for_each("solver", ["paths", "highs"])
def test_figure_6_the_latency_that_two_microseconds_allow(solver):
    lp = LatencyLP(chains(*FIG4C), FIG_MODEL)
    assert lp.largest_latency(2 * US, solver=solver) == pytest.approx(0.885 * US, **close)
    assert lp.largest_latency(1.5 * US, solver=solver) == pytest.approx(0.385 * US, **close)
    assert lp.tolerance([0, 10], base_L=0.5 * US, solver=solver) == pytest.approx(
        {0: 0.5 * US, 10: (1.1 * 1.615 - 1.115) * US}, **close
    )


def test_figure_16_takes_two_solves():
    found = LatencyLP(chains(*FIG4C), FIG_MODEL).critical_latencies(
        0.2 * US, 0.5 * US, step_s=0, epsilon_s=1e-12
    )
    assert found.latencies == pytest.approx([0.385 * US], **close)
    assert found.lambda_L == pytest.approx([1, 0])
    assert found.L.tolist() == pytest.approx([0.5 * US, 0.384999 * US], **close)
    assert found.lower[0] == pytest.approx(0.385 * US, **close)


def test_figure_15_a_rendezvous_adds_no_rows():
    eager = LatencyLP(chains(*FIG4C), FIG_MODEL)
    met = LatencyLP(chains(*FIG4C), FIG_MODEL.replace(S=3, o=0.01 * US))
    assert met.num_rows == eager.num_rows == 4
    # Both have met once the request has come, 0.1 + L, and the receive has been posted, 0.5.
    for L in (0.1, 0.4, 1.0):
        over = max(0.1 + L, 0.5) + 2 * 0.01 + 3 * L + 0.015
        found = met.solve(L=L * US)
        assert found.T == pytest.approx((over + 0.01 + 1) * US, **close)
        assert found.lambda_L == pytest.approx(3 if L < 0.4 else 4, abs=1 if L == 0.4 else 1e-6)
        assert found.lambda_o == pytest.approx(3)
    # The sender's computation ends last: it starts one o after the receive is over.
    assert met.solve().tight.tolist() == [0, 1, 4, 1, 2]


def test_only_the_edge_of_a_message_is_charged():
    """Read literally, Algorithm 1 charges L where a receive follows a send of its own rank."""
    ranks = ((SEND, 4), (RECV, 4)), ((CALC, 9000), (SEND, 4), (RECV, 4))
    found = LatencyLP(chains(*ranks), FIG_MODEL).solve()
    # Rank 0 sends at 0 and waits for 9 + L + 3 G; nothing waits for its own send's latency.
    assert found.T == pytest.approx((9 + 1 + 0.015) * US, **close)
    assert found.lambda_L == pytest.approx(1)


def test_a_receive_that_waits_for_nothing_else_is_charged_too():
    """Read literally, Algorithm 1 forgets the message's cost where there is one predecessor."""
    found = LatencyLP(chains(((CALC, 100), (SEND, 4)), ((RECV, 4),)), FIG_MODEL).solve()
    assert found.T == pytest.approx((0.1 + 1 + 0.015) * US, **close)


def test_parameters_may_be_given_and_are_rounded_as_replays_round_them():
    graph = small_program()
    lp = LatencyLP(graph, CLUSTER)
    for L, G, o in ((1.2345678e-6, 0.0371e-9, 0.3e-6), (0.0, 1e-9, 0.0), (9e-6, 0.0, 2e-6)):
        model = CLUSTER.replace(L=L, G=G, o=o)
        assert lp.solve(L=L, G=G, o=o).T == pytest.approx(makespan(graph, model), **close)


def test_the_path_holds_as_many_latencies_overheads_and_bytes_as_the_reduced_costs_say():
    graph = small_program()
    lp = LatencyLP(graph, CLUSTER)
    found = lp.solve()
    match, path = match_in_order(graph), found.tight.tolist()
    crossed = [a for a, b in pairwise(path) if match.get(a) == b]
    sends = [op for op in crossed if graph.kind[op] == SEND]
    assert len(sends) == pytest.approx(found.lambda_L)
    assert sum(int(graph.size[op]) - 1 for op in sends) == pytest.approx(found.lambda_G)
    # Each message has the sender's overhead and the receiver's; sends that only hold up, theirs.
    assert found.lambda_o >= 2 * len(sends)
    times = replay(graph, CLUSTER, semantics="llamp", times=True).times
    assert times.end_ps[path[-1]] == times.end_ps.max()
    assert times.start_ps[path[0]] == 0


def test_wildcards_and_programs_with_collectives_are_taken():
    ranks = [
        [(CALC, 500, 0, 0), (RECV, 8, ANY_SOURCE, 0), (RECV, 8, ANY_SOURCE, 0)],
        [(CALC, 900, 0, 0), (SEND, 8, 0, 0)],
        [(SEND, 8, 0, 0)],
    ]
    graph = graph_of(ranks, [(0, 1, 0), (0, 2, 1), (1, 1, 0)])
    assert LatencyLP(graph, CLUSTER).solve().T == pytest.approx(makespan(graph, CLUSTER), **close)
    program = generate.cg(4, iterations=2)
    assert LatencyLP(program, CLUSTER).solve().T == pytest.approx(
        makespan(program.graph(), CLUSTER), **close
    )


def test_an_empty_program_takes_no_time():
    found = LatencyLP(graph_of([[], []], []), CLUSTER).solve()
    assert (found.T, found.lambda_L, found.rho_L, len(found.tight)) == (0, 0, 0, 0)


@for_each("solver", ["paths", "highs"])
def test_computations_alone_bear_any_latency(solver):
    lp = LatencyLP(chains(((CALC, 100),), ((CALC, 300),)), FIG_MODEL)
    assert lp.solve().T == pytest.approx(0.3 * US, **close)
    assert lp.tolerance([0, 5], solver=solver) == {0: math.inf, 5: math.inf}


def test_latencies_by_class_of_link():
    graph = small_program()
    messages = int((graph.kind == SEND).sum())
    rng = np.random.default_rng(5)
    multiples = rng.integers(0, 4, (messages, 2))
    constant = rng.integers(0, 300, messages) * 1e-9
    lp = LatencyLP.by_class(
        graph, CLUSTER, {"terminal": 274e-9, "global": 2e-6}, multiples, constant
    )
    found = lp.solve()
    # Each class's sensitivity is a slope: T is linear while the path stays.
    for name, base in (("l_terminal", 274e-9), ("l_global", 2e-6)):
        more = lp.solve(L={name: base + 1e-12})
        assert more.T - found.T == pytest.approx(
            found.reduced_costs[name] * 1e-12, abs=2e-17, rel=1e-3
        )
    assert found.lambda_L == pytest.approx(
        found.reduced_costs["l_terminal"] + found.reduced_costs["l_global"]
    )
    # One class that every message crosses once is the plain latency.
    one = LatencyLP.by_class(graph, CLUSTER, {"wire": 1e-6}, np.ones((messages, 1)), 2e-6)
    assert one.solve().T == pytest.approx(LatencyLP(graph, CLUSTER).solve().T, **close)
    assert one.solve(L=4e-6).T == pytest.approx(makespan(graph, CLUSTER.replace(L=6e-6)), **close)


def test_the_largest_latency_of_one_class_leaves_the_others():
    graph = chains(*FIG4C)
    lp = LatencyLP.by_class(graph, FIG_MODEL, {"a": 0.1e-6, "b": 0.2e-6}, [[1, 2]])
    # L = a + 2 b may be 0.885 µs for T <= 2 µs.
    assert lp.largest_latency(2 * US, of="l_a") == pytest.approx(0.485 * US, **close)
    assert lp.largest_latency(2 * US, of="l_b") == pytest.approx(0.3925 * US, **close)
    with pytest.raises(ParameterError, match=r"must be named: l_a, l_b; got None"):
        lp.largest_latency(2 * US)
    with pytest.raises(ParameterError, match="must be named"):
        lp.tolerance([1])


def test_latencies_and_gaps_by_pair_of_ranks():
    graph = small_program()
    plain, pairs = LatencyLP(graph, CLUSTER), LatencyLP.by_pair(graph, CLUSTER)
    found, common = pairs.solve(), plain.solve()
    assert found.T == pytest.approx(common.T, **close)
    by_latency, by_gap = pairs.pair_matrices(found)
    assert by_latency.shape == (4, 4)
    # What moves all pairs together moves T by a slope between those of the common latency.
    assert by_latency.sum() == pytest.approx(common.lambda_L)
    assert by_gap.sum() == pytest.approx(common.lambda_G)
    slow = np.full((4, 4), CLUSTER.L)
    slow[0, 1] = 50e-6
    held = LatencyLP.by_pair(graph, CLUSTER, slow)
    far = held.solve()
    assert far.T > found.T
    assert held.pair_matrices(far)[0][0, 1] > 0
    assert held.solve(L={"l_0_1": CLUSTER.L}).T == pytest.approx(common.T, **close)
    with pytest.raises(ParameterError, match="by_pair"):
        plain.pair_matrices(common)


@for_each("suffix", ["lp", "mps"])
def test_files_are_read_again(tmp_path, suffix):
    lp = LatencyLP(small_program(), CLUSTER)
    (folder := tmp_path / suffix).mkdir()
    # The name need not end as the format does.
    path = getattr(lp, f"to_{suffix}")(folder / "a program")
    assert [entry.name for entry in folder.iterdir()] == ["a program"]
    again = path.rename(folder / f"again.{suffix}")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(again)) == highspy.HighsStatus.kOk
    assert (highs.getNumRow(), highs.getNumCol()) == (lp.num_rows, lp.num_columns)
    highs.run()
    found = lp.solve()
    assert highs.getObjectiveValue() == pytest.approx(found.T / US, **close)
    names = list(highs.getLp().col_names_)
    costs = dict(zip(names, highs.getSolution().col_dual, strict=True))
    assert costs["l"] == pytest.approx(found.lambda_L)
    assert "t" in names
    assert "o" in names


def test_names_of_classes_fit_into_files(tmp_path):
    lp = LatencyLP.by_class(chains(*FIG4C), FIG_MODEL, {"intra group": 1e-6}, [[1]])
    path = lp.to_lp(tmp_path / "x.lp")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    assert "l_intra_group" in highs.getLp().col_names_
    assert lp.largest_latency(2e-6, of="l_intra group") == pytest.approx(0.885e-6, **close)


def test_days_of_computation_stand_beside_nanoseconds():
    graph = chains(((CALC, 10**14), (SEND, 4)), ((RECV, 4), (CALC, 1)))
    lp = LatencyLP(graph, FIG_MODEL)
    assert lp.solve().T == pytest.approx(makespan(graph, FIG_MODEL), rel=1e-14)
    assert lp.solve().lambda_L == pytest.approx(1)


def test_a_folder_that_does_not_exist_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError):
        LatencyLP(chains(*FIG4), FIG_MODEL).to_lp(tmp_path / "none" / "x.lp")


def test_cbc_and_other_solvers_of_pulp_give_the_same():
    lp = LatencyLP(small_program(), CLUSTER)
    found = lp.solve()
    for solver in ("cbc", pulp.HiGHS(msg=False)):
        other = lp.solve(solver=solver)
        assert other.T == pytest.approx(found.T, rel=1e-8)  # CBC's answer is text
        assert other.lambda_L == pytest.approx(found.lambda_L)
        assert other.dual_objective_s == pytest.approx(found.T, rel=1e-8)
        assert len(other.tight) > 0
    assert lp.largest_latency(found.T * 1.02, solver="cbc") == pytest.approx(
        lp.largest_latency(found.T * 1.02, solver="highs"), rel=1e-7
    )


def test_pulp_s_own_problem_is_the_row_by_row_one():
    graph = small_program()
    lp = LatencyLP(graph, CLUSTER)
    problem = lp.to_pulp()
    problem.solve(pulp.HiGHS(msg=False))
    costs = Costs(3_000_000, 1_500_000, 18.0, 262144)
    # Whole products (s-1)G: neither has to round.
    assert pulp.value(problem.objective) == pytest.approx(
        reference.model(graph, costs).solve(), **close
    )
    assert len(problem.constraints()) == lp.num_rows


def test_algorithm_2_passes_each_basis_with_no_step_and_may_miss_with_one():
    model = LogGPS(L=30e-9, o=3e-9, g=0.0, G=1e-9, O=0.0, S=100)
    graph = random_graph(np.random.default_rng(36), ranks=4, events=40)
    exact = Sweep(graph, model).critical_latencies(0.0, 200e-9).L
    assert len(exact) == 2
    lp = LatencyLP(graph, model)
    found = lp.critical_latencies(0.0, 200e-9, step_s=0)
    changes = np.flatnonzero(np.abs(np.diff(found.lambda_L)) > 0.5)
    # Where the slope changes between two bases that touch, the upper one ends at the latency.
    assert found.lower[changes] == pytest.approx(exact[::-1], **close)
    assert (np.diff(found.L) < 0).all()
    assert (found.lower <= found.L).all()
    coarse = lp.critical_latencies(0.0, 200e-9, step_s=150e-9)
    assert coarse.L.tolist() == pytest.approx([200e-9, 50e-9], **close)


@for_each(
    "interval, options",
    [
        ((2e-6, 1e-6), {"step_s": 0}),
        ((-1e-6, 1e-6), {"step_s": 0}),
        ((0, math.inf), {"step_s": 0}),
        ((0, 1e-6), {"step_s": -1e-9}),
        ((0, 1e-6), {"step_s": 0, "epsilon_s": 0}),
        ((0, math.nan), {"step_s": 0}),
    ],
)
def test_intervals_that_algorithm_2_refuses(interval, options):
    with pytest.raises(ParameterError, match="interval 0 <= low <= high"):
        LatencyLP(chains(*FIG4C), FIG_MODEL).critical_latencies(*interval, **options)


def test_run_times_below_the_least_are_refused():
    lp = LatencyLP(chains(*FIG4C), FIG_MODEL)
    for solver in ("paths", "highs"):
        with pytest.raises(ParameterError, match=r"at least 1.5e-06 s.*got 1e-06 s"):
            lp.largest_latency(1e-6, solver=solver)
        for T in (math.nan, math.inf):
            with pytest.raises(ParameterError, match="T must be"):
                lp.largest_latency(T, solver=solver)


def test_a_time_limit_is_a_solver_s_word():
    lp = LatencyLP(generate.cg(16, iterations=20), CLUSTER)
    with pytest.raises(SolverError, match="Time limit") as caught:
        lp.solve(time_limit_s=1e-9)
    assert caught.value.status == "Time limit reached"
    with pytest.raises(SolverError, match="Time limit"):
        lp.largest_latency(1.0, solver="highs", time_limit_s=1e-9)


def test_solvers_that_do_not_exist_are_refused(monkeypatch):
    lp = LatencyLP(chains(*FIG4), FIG_MODEL)
    with pytest.raises(ParameterError, match="highs or cbc"):
        lp.solve(solver="gurobi")
    with pytest.raises(ParameterError, match="paths, highs or cbc"):
        lp.largest_latency(3e-6, solver="gurobi")
    with pytest.raises(SolverError, match="failed"):
        lp.solve(solver=pulp.COIN_CMD(path="/nowhere/cbc", msg=False))
    monkeypatch.setattr("workbench.tolerance.lp_solvers._CBC_PATHS", ("/nowhere/cbc",))
    with pytest.raises(SolverError, match="CBC must be installed") as caught:
        lp.solve(solver="cbc")
    assert caught.value.status == "Not installed"


@for_each(
    "values",
    [{"L": -1e-6}, {"L": math.nan}, {"L": [1e-6, 2e-6]}, {"L": {"x": 1e-6}}, {"G": -1}, {"o": -1}],
)
def test_values_that_are_refused(values):
    with pytest.raises(ParameterError):
        LatencyLP(chains(*FIG4), FIG_MODEL).solve(**values)


@for_each("percent", [[-1], [math.nan], [math.inf]])
def test_percentages_that_are_refused(percent):
    with pytest.raises(ParameterError, match="percent"):
        LatencyLP(chains(*FIG4), FIG_MODEL).tolerance(percent)


def test_shapes_that_do_not_fit_are_refused():
    graph = chains(*FIG4)
    with pytest.raises(ParameterError, match="1 messages by 2 classes"):
        LatencyLP.by_class(graph, FIG_MODEL, {"a": 1e-6, "b": 1e-6}, [[1]])
    with pytest.raises(ParameterError, match="constant_s"):
        LatencyLP.by_class(graph, FIG_MODEL, {"a": 1e-6}, [[1]], [1e-6, 1e-6])
    with pytest.raises(ParameterError, match="multiples must be finite"):
        LatencyLP.by_class(graph, FIG_MODEL, {"a": 1e-6}, [[-1]])
    with pytest.raises(ParameterError, match="2 by 2 ranks"):
        LatencyLP.by_pair(graph, FIG_MODEL, np.ones((3, 3)))
    with pytest.raises(ParameterError, match="gap_s must be finite"):
        LatencyLP.by_pair(graph, FIG_MODEL, None, np.full((2, 2), -1))


def test_a_program_that_cannot_end_is_refused():
    with pytest.raises(ProgramError, match="circle"):
        LatencyLP(chains(((RECV, 4), (SEND, 4)), ((RECV, 4), (SEND, 4))), FIG_MODEL)
    with pytest.raises(ProgramError, match="must have its receive"):
        LatencyLP(chains(((SEND, 4),), ()), FIG_MODEL)


def test_it_says_what_it_is():
    lp = LatencyLP(chains(*FIG4C), FIG_MODEL)
    assert "6 operations, 4 rows, 5 columns" in repr(lp)
    assert "T=" in repr(lp.solve())
