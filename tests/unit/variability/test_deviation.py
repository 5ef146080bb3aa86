from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest, spearmanr
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_selection import RFE

from tests.unit import commands
from tests.unit.variability.step_tables import drawn_steps, write_steps
from workbench.cli import variability
from workbench.errors import ParameterError, SimulationHalted
from workbench.plotting import (
    describe_deviation,
    describe_relevance_and_cause,
    plot_deviation,
    plot_relevance,
    plot_relevance_and_cause,
)
from workbench.tasks import Task
from workbench.variability import (
    Deviation,
    RelevanceAndCause,
    counter_causes,
    deviation,
    relevance_and_cause,
)
from workbench.variability.counter_groups import groups_of
from workbench.variability.deviation import TREES, _stability
from workbench.variability.elimination import eliminate
from workbench.variability.folds import share_interval

command = partial(commands.run, variability)
quick = partial(deviation, folds=3, ways=("by-run",))


@pytest.fixture(scope="module")
def found() -> Deviation:
    return deviation(drawn_steps(runs=16, steps=12), folds=4)


def test_what_drives_the_times_is_relevant_and_what_does_not_is_not(found: Deviation) -> None:
    relevance = dict(zip(found.counters, found.relevance[0], strict=True))
    assert relevance["RT_RB_STL"] == 1
    assert relevance["PT_PKT_TOT"] < 0.5
    error = dict(zip(found.models, found.mape[0], strict=True))
    assert error["trees"] < 0.6 * error["mean-trajectory"]
    assert (found.mape_interval[..., 0] <= found.mape).all()
    assert (found.mape <= found.mape_interval[..., 1]).all()


def test_a_step_that_its_counter_determines_is_explained() -> None:
    steps = drawn_steps(runs=20, steps=10)
    shape = np.nanmean(steps.time_s, axis=0)
    level = np.random.default_rng(1).standard_normal(steps.time_s.shape)
    exact = replace(
        steps,
        time_s=shape + 0.1 * level,
        counters=("A", "B"),
        values=np.stack([level, level[::-1]], axis=2),
    )
    error = quick(exact)
    assert error.mape[0, error.models.index("ridge")] < 0.1  # linear: the means alone are off
    assert_array_equal(error.relevance[0], [1, 0])


def test_runs_that_are_held_out_together_do_not_see_one_another() -> None:
    steps = drawn_steps(runs=9, steps=8)
    before = quick(steps)
    changed = replace(steps, time_s=steps.time_s.copy(), values=steps.values.copy())
    changed.time_s[0] *= 3
    changed.values[0] *= 7
    after = quick(changed)
    same = np.isclose(after.predicted_s[0], before.predicted_s[0], rtol=1e-12)
    # Of three folds of three runs, the other two of the run's own fold are explained as before.
    fold = np.unique(before.run[same & (before.run != 0)])
    assert len(fold) == 2
    rows = np.isin(before.run, fold)
    assert_allclose(after.predicted_s[:, rows], before.predicted_s[:, rows], rtol=1e-12)


def test_a_mean_of_all_runs_flatters_by_one_run_in_all() -> None:
    # x - mean of all = (1 - 1/n) (x - mean of the others), and by-run leaves one of n runs out.
    error = deviation(drawn_steps(runs=4, steps=6), folds=4, ways=("paper",))
    mean = error.mape[:, error.models.index("mean-trajectory")]
    assert mean[error.ways.index("paper")] == pytest.approx(0.75 * mean[0], rel=1e-12)


def test_exact_trees_are_eliminated_as_scikit_learn_does() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((120, 4))
    target = inputs @ [1.0, 4.0, 0.0, 2.0] + 0.1 * rng.standard_normal(120)
    ours = eliminate(inputs, target, np.ones(120), np.arange(120), "exact", rng, Task())
    theirs = RFE(GradientBoostingRegressor(random_state=0), n_features_to_select=1)
    assert_array_equal(ours.place, theirs.fit(inputs, target).ranking_)
    cheap = eliminate(inputs, target, np.ones(120), np.arange(120), "histogram", rng, Task())
    assert_array_equal(cheap.place, ours.place)
    assert_array_equal(cheap.chosen, [True, True, False, True])


def test_counters_are_set_aside_one_at_a_time() -> None:
    """Of thirteen, as many as the paper has, each place but the last is taken once."""
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((150, 13))
    target = inputs @ np.linspace(1, 5, 13) + 0.1 * rng.standard_normal(150)
    for trees in TREES:
        found = eliminate(inputs, target, np.ones(150), np.arange(150), trees, rng, Task())
        assert sorted(found.place) == list(range(1, 14))
        assert np.isfinite(found.error).all()
    exact = eliminate(inputs, target, np.ones(150), np.arange(150), "exact", rng, Task())
    theirs = RFE(GradientBoostingRegressor(random_state=0), n_features_to_select=1)
    # Both learn from other samples of the same law: the order of the counters is nearly the same.
    assert spearmanr(exact.place, theirs.fit(inputs, target).ranking_).statistic > 0.8


def test_the_counters_of_the_jobs_own_routers_explain_unless_others_are_asked_for() -> None:
    steps = drawn_steps(runs=9, steps=8)
    placed = np.broadcast_to(np.arange(9.0)[:, None, None], (9, 8, 1))
    more = steps.with_counters(
        ("NUM_ROUTERS", "IO_RT_FLIT_TOT"), np.concatenate([placed, steps.values[:, :, :1]], axis=2)
    )
    own = quick(more)
    assert own.counters == steps.counters and own.features == ("app",)
    assert_array_equal(own.predicted_s, quick(steps).predicted_s)
    every = quick(more, features=None)
    assert every.counters == more.counters and every.features == ("app", "placement", "io")
    assert quick(more, features=("io",)).counters == ("IO_RT_FLIT_TOT",)
    with pytest.raises(ParameterError, match=r"got no counters; .* or take more features"):
        quick(more, features=("sys",))
    with pytest.raises(ParameterError, match="features must be some of app, placement, io, sys"):
        quick(more, features=("apps",))


def test_what_is_constant_in_a_run_tells_runs_apart_where_steps_are_held_out() -> None:
    steps = drawn_steps(runs=30, steps=40)  # more of a run than a leaf of the trees must have
    rng = np.random.default_rng(0)
    slow = rng.lognormal(0, 0.2, (30, 1))  # of a run, which no counter but its placement says
    noise = rng.standard_normal((30, 40, 1))
    named = np.broadcast_to(rng.permutation(30)[:, None, None], (30, 40, 1))
    told = replace(
        steps,
        time_s=slow * np.exp(0.01 * rng.standard_normal((30, 40))),
        counters=("RT_RB_STL", "NUM_ROUTERS"),
        values=np.concatenate([noise, named], axis=2),
    )
    found = deviation(told, features=None, folds=3, ways=("by-run", "by-step"))
    at = found.counters.index("NUM_ROUTERS")
    assert_array_equal(found.relevance[:, at], [0, 1])
    trees, mean = (found.models.index(name) for name in ("trees", "mean-trajectory"))
    by_run, by_step = found.mape[:, trees] / found.mape[:, mean]
    # Not nearer to 0: the mean over the other runs' steps, which is taken away, varies by a run.
    assert by_step < 0.9 < 0.99 < by_run


def test_stability_is_one_for_the_same_and_about_zero_for_chance() -> None:
    same = np.tile([True, False, False, True], (6, 1))
    assert _stability(same) == 1
    rng = np.random.default_rng(0)
    assert abs(_stability(rng.random((2000, 8)) < 0.5)) < 0.01
    # Two folds that have nothing in common: 1 - (1/2) / (1/4), eq. 4 by hand.
    assert _stability(np.array([[True, False], [False, True]])) == pytest.approx(-1)


def test_intervals_of_shares_are_wilsons() -> None:
    for hits in (0, 3, 10):
        theirs = binomtest(hits, 10).proportion_ci(0.95, method="wilson")
        assert_allclose(share_interval(np.array(hits / 10), 10), [theirs.low, theirs.high])


def test_counters_that_go_together_are_a_group() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.standard_normal((2, 30, 10))
    values = np.stack([one, other, -(one**3), other + 2 * rng.standard_normal((30, 10))], axis=2)
    assert_array_equal(groups_of(values, np.ones((30, 10), bool)), [0, 1, 0, 2])


def test_the_same_seed_gives_the_same_digits() -> None:
    steps = drawn_steps(runs=6, steps=8)
    assert_array_equal(quick(steps).predicted_s, quick(steps).predicted_s)


def test_there_is_at_most_one_fold_a_run() -> None:
    steps = drawn_steps(runs=3, steps=6)
    many, three = (deviation(steps, folds=folds, ways=("by-run",)) for folds in (10**6, 3))
    assert many.folds == 3
    assert_array_equal(many.mape, three.mape)


def test_gaps_and_constant_counters_are_named() -> None:
    steps = drawn_steps(runs=6, steps=8)
    values = np.concatenate([steps.values, np.ones((6, 8, 1))], axis=2)
    values[0, 3, 0] = np.nan
    time = steps.time_s.copy()
    time[2, 5:] = np.nan
    error = quick(replace(steps, time_s=time, values=values, counters=(*steps.counters, "FLAT")))
    assert np.isfinite(error.predicted_s).all()
    assert len(error.run) == 6 * 8 - 3
    notes = " ".join(error.notes)
    assert "FLAT is not used" in notes
    assert "1 readings of counters are missing" in notes


def test_what_cannot_be_explained_is_refused() -> None:
    steps = drawn_steps(runs=6, steps=8)
    with pytest.raises(ParameterError, match="must have one that varies; got no counters"):
        deviation(replace(steps, counters=(), values=steps.values[:, :, :0]))
    with pytest.raises(ParameterError, match="at least 3 runs"):
        deviation(steps.rows([0, 1]))
    with pytest.raises(ParameterError, match="3 runs in 2 folds leave 1: take more folds"):
        deviation(steps.rows([0, 1, 2]), folds=2)
    with pytest.raises(ParameterError, match="by-run, by-step, paper; got 'by-runs'"):
        deviation(steps, ways=("by-runs",))
    task = Task()
    task.stop()
    with pytest.raises(SimulationHalted):
        deviation(steps, task=task)


def test_relevance_beside_cause(found: Deviation, tmp_path: Path) -> None:
    cause = counter_causes(found.counters, {"row": 0.02, "global": 0.04, "endpoint": 0.02})
    assert cause == {"RT_RB_STL": 0.75, "RT_FLIT_TOT": 0.0, "PT_PKT_TOT": 0.0}
    both = relevance_and_cause(found, cause)
    assert "RT_RB_STL" not in (*both.misleading, *both.overlooked)
    kept = RelevanceAndCause.load(both.save(tmp_path / "both.json"))
    assert_array_equal(kept.cause, both.cause)
    assert plot_relevance_and_cause(kept).references()
    assert describe_relevance_and_cause(kept)
    wrong = relevance_and_cause(found, {"PT_PKT_TOT": 1.0})
    assert wrong.overlooked == ("PT_PKT_TOT",)
    assert "RT_RB_STL" in wrong.misleading
    # One of a group stands for all: no member is misleading or overlooked beside one that is not.
    group = np.array([0, 0, 1])
    twins = replace(both, group=group, relevance=np.array([0.0, 1.0, 0.0]))
    assert twins.misleading == twins.overlooked == ()
    apart = replace(twins, group=np.arange(3))
    assert (apart.misleading, apart.overlooked) == (("RT_FLIT_TOT",), ("RT_RB_STL",))
    with pytest.raises(ParameterError, match="RT_RB_STALL"):
        relevance_and_cause(found, {"RT_RB_STALL": 1.0})


def test_it_is_kept_and_drawn(found: Deviation, tmp_path: Path) -> None:
    read = Deviation.load(found.save(tmp_path / "deviation.json"))
    assert_allclose(read.relevance, found.relevance)
    assert plot_deviation(read).references()
    assert plot_relevance({"one": read, "other": found}).references()
    assert "RT_RB_STL" in describe_deviation(read)


def test_the_command_prints_errors_and_relevances(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = drawn_steps(runs=6, steps=8)
    path = write_steps(steps, tmp_path / "steps.csv")
    assert command("deviation", "--steps", path, "--folds", 3, "--ways", "by-run", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert {*printed["mape"]} == {"trees", "ridge", "mean-trajectory"}
    assert {*printed["relevance"]} == {*steps.counters}
    assert printed["features"] == ["app"]
    with pytest.raises(ParameterError, match="got no counters"):
        command("deviation", "--steps", path, "--features", "io,sys")
