from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from tests.goal_programs import FIG4C
from workbench.errors import ParameterError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs import generate, load, read_goal
from workbench.simulate.replay import replay
from workbench.tasks import Task
from workbench.tolerance import LatencySensitivity, analyse
from workbench.tolerance.analysis import usual_interval
from workbench.tolerance.sweep import Sweep

MODEL = LogGPS(L=1e-6, o=0.0, g=0.0, G=5e-9, O=0.0, S=65535)


def test_the_papers_figure_4c() -> None:
    """T = max(L + 1.115, 1.5) us, critical at 0.385 us; within 2 us it bears 0.885 us (Fig. 6)."""
    graph = read_goal(FIG4C)
    model = MODEL.replace(L=2e-7)
    result = analyse(graph, model, interval=(0.0, 1e-6), percent=(100 / 3,), contention=False)
    assert result.T == pytest.approx(1.5e-6, rel=1e-12)
    assert result.critical_latencies * 1e6 == pytest.approx([0.385], rel=1e-12)
    assert result.slopes.tolist() == [0, 1]
    assert result.T_of(0.5e-6) * 1e6 == pytest.approx(1.615, rel=1e-12)
    assert result.tolerance[100 / 3] * 1e6 == pytest.approx(0.885, abs=1e-6)  # whole picoseconds
    assert (result.lambda_L, result.rho_L) == (0, 0.0)
    assert graph.rank_of(result.critical_path).tolist() == [1, 1, 1]
    assert result.slack_ps.tolist() == [400_000, 0]


@for_each("seed", range(12))
def test_the_curve_is_that_of_replays(seed: int) -> None:
    program = generate.random_program(5, events=40, rng=seed)
    model = LogGPS(L=2e-6, o=5e-7, g=1e-7, G=4e-11, O=0.0, S=8192)
    result = analyse(program, model, interval=(5e-7, 2e-5), contention=False)
    graph = program.graph()
    match = Sweep(graph, model).match
    at = np.linspace(5e-7, 2e-5, 9).round(12)
    from workbench.simulate.llamp import forward_pass

    for L, T in zip(at, result.T_of(at), strict=True):
        expected = forward_pass(graph, model.replace(L=float(L)), match=match).finish_ps.max()
        assert pytest.approx(int(expected), abs=1e-2) == T * 1e12  # doubles of 1e-3 s
    assert (np.diff(result.slopes) > 0).all()
    for percent, largest in result.tolerance.items():
        bound = result.T * (1 + percent / 100)
        if math.isfinite(largest):
            beyond = model.replace(L=largest + 2e-12)
            longer = forward_pass(graph, beyond, match=match).finish_ps.max()
            assert largest >= model.L
            assert longer / 1e12 > bound
    assert result.slack_ps.min() == 0


@for_each("name", [1e-7, 0.385e-6, 0, 1, 2, 3, 4, 5])
def test_the_linear_program_says_the_same(name: float) -> None:
    """Of random programs, and of figure 4c from a latency and from its critical latency on."""
    if isinstance(name, float):
        program, model = read_goal(FIG4C), MODEL.replace(L=2e-7)
    else:
        program = generate.random_program(4, events=30, rng=int(name)).graph()
        model = LogGPS(L=2e-6, o=5e-7, g=1e-7, G=4e-11, O=0.0, S=8192)
    options = {"interval": (name if isinstance(name, float) else 1e-7, 2e-5), "contention": False}
    swept, solved = analyse(program, model, **options), analyse(program, model, lp=True, **options)
    assert (swept.method, solved.method) == ("sweep", "lp")
    assert solved.T == pytest.approx(swept.T, rel=1e-12)  # n_vertices * eps
    assert solved.corners == pytest.approx(swept.corners, abs=1e-12)
    assert solved.corner_T == pytest.approx(swept.corner_T, rel=1e-9)  # the solver's 1e-7 us
    assert solved.slopes.tolist() == swept.slopes.tolist()
    assert solved.tolerance == pytest.approx(swept.tolerance, abs=1e-12)
    assert solved.lambda_L_left in (swept.lambda_L_left, swept.lambda_L)
    assert solved.slack_ps.tolist() == swept.slack_ps.tolist()


def test_a_program_that_never_gets_slower_has_no_bound() -> None:
    graph = read_goal("num_ranks 1\nrank 0 {\ncalc 100\n}\n")
    for lp in (False, True):
        result = analyse(graph, MODEL, lp=lp)
        assert set(result.tolerance.values()) == {math.inf}
        assert result.interval == pytest.approx((1e-6, 1.1e-5))
        assert result.slopes.tolist() == [0]


def test_contention_is_compared_and_warned_of() -> None:
    program = generate.halo((3, 3, 3), neighbours=26, cells=8, iterations=1)
    model = LogGPS(L=2.5e-6, o=1.5e-6, g=0.0, G=0.0, O=0.0, S=65535)
    result = analyse(program, model)
    assert result.contention is not None
    assert result.contention.loggopsim_ps == replay(program, model).makespan_ps
    assert result.warnings == (result.contention.warning,)
    assert "% optimistic" in repr(result)
    quiet = analyse(program, model, contention=False)
    assert quiet.contention is None and quiet.warnings == ()
    assert quiet.T == result.T


def test_a_sweep_is_taken_as_it_is_and_moved_to_another_model() -> None:
    program = load("cg-4")
    model = LogGPS(L=1e-6, o=5e-7, g=0.0, G=4e-11, O=0.0, S=8192)
    sweep = Sweep(program, model)
    plain = analyse(program, model, contention=False)
    assert analyse(sweep, contention=False).summary() == plain.summary()
    for other in (model.replace(L=3e-6), model.replace(o=1e-6, G=1e-9, S=64)):
        for lp in (False, True):
            moved = analyse(sweep, other, contention=False, lp=lp, percent=(5.0,))
            anew = analyse(program, other, contention=False, percent=(5.0,))
            for key, value in anew.summary().items():
                assert moved.summary()[key] == (pytest.approx(value) if lp else value)
            assert moved.model == other
            assert moved.slack_ps.tolist() == anew.slack_ps.tolist()
            assert moved.T > plain.T


def test_what_is_asked_must_make_sense() -> None:
    graph = read_goal(FIG4C)
    with pytest.raises(ParameterError, match="a program needs a model"):
        analyse(graph)
    for interval in ((2e-6, 1e-6), (-1.0, 1.0), (0.0, math.nan)):
        with pytest.raises(ParameterError, match="the interval must ascend"):
            analyse(graph, MODEL, interval=interval)
    for lp in (False, True):
        with pytest.raises(ParameterError, match="percent"):
            analyse(graph, MODEL, percent=(-1.0,), lp=lp)


def test_an_analysis_can_be_stopped(stopped: Task) -> None:
    for lp in (False, True):
        with pytest.raises(SimulationHalted):
            analyse(generate.cg(4, iterations=2), MODEL, task=stopped, lp=lp)


def test_the_usual_interval_reaches_beyond_the_tolerances() -> None:
    assert usual_interval(1e-6, {1.0: 2e-6, 5.0: 6e-6}) == pytest.approx((1e-6, 7e-6))
    assert usual_interval(1e-6, {1.0: 2e-6, 5.0: math.inf}) == pytest.approx((1e-6, 2.2e-6))
    low, high = usual_interval(0.0, {})
    assert low == 0.0 < high


def test_a_real_analysis_is_saved_and_loaded(tmp_path: Path) -> None:
    result = analyse(load("cg-4"), MODEL)
    loaded = LatencySensitivity.load(result.save(tmp_path / "cg.json"))
    assert loaded.summary() == result.summary()
    assert loaded.contention == result.contention
    assert loaded.critical_path.tolist() == result.critical_path.tolist()
