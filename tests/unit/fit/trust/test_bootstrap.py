from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from tests.cases import for_each
from workbench import tasks
from workbench.datasets import load
from workbench.errors import ParameterError
from workbench.fit import FitResult, SearchSpace, fit
from workbench.fit.trust.bootstrap import Intervals, draw_curve, intervals
from workbench.measure import OSUCurve, Spread
from workbench.models import LogP
from workbench.simulate import simulate_osu
from workbench.tasks import Task

OUT_IN = "switch.out_in_latency"
FIVE = np.array([0.9, 0.95, 1.0, 1.1, 1.4])


@pytest.fixture(scope="module")
def measured() -> OSUCurve:
    """What LogP gives, over 40 node pairs whose times lie 10 % below to 40 % above."""
    curve = simulate_osu(LogP())
    count = np.full(len(curve), 40)
    slow = [curve.latency_s * factor for factor in FIVE]
    rates = [curve.bandwidth_Bps / factor for factor in FIVE[::-1]]
    return dataclasses.replace(
        curve,
        latency_spread=Spread.from_quartiles(slow, count),
        bandwidth_spread=Spread.from_quartiles(rates, count),
    )


@pytest.fixture(scope="module")
def result(measured: OSUCurve) -> FitResult:
    """One latency and one rate, so that each answers to the curve alone."""
    space = SearchSpace.for_model(LogP())
    for key in space.keys[:]:
        if key not in (OUT_IN, "node.nic.injection.bandwidth"):
            space = space.fix(key)
    return fit(measured, LogP(), space=space, engine="least-squares", trials=40)


def test_a_pair_that_is_slow_is_slow_in_both_benchmarks_at_every_size(measured: OSUCurve) -> None:
    drawn = draw_curve(measured, 3, of="pair")
    slower = drawn.latency_s / measured.latency_s
    assert np.allclose(slower, slower[0], rtol=1e-12)
    assert slower[0] != 1.0
    # lines between quartiles of a rate are not lines of its inverse: equal at the five only
    faster = drawn.bandwidth_Bps / measured.bandwidth_Bps
    assert np.allclose(faster, faster[0], rtol=1e-12)
    assert (faster[0] < 1.0) == (slower[0] > 1.0)


def test_independent_levels_differ_from_size_to_size(measured: OSUCurve) -> None:
    drawn = draw_curve(measured, 3, of="pair", dependence="independent")
    assert len(np.unique((drawn.latency_s / measured.latency_s).round(9))) == len(measured)


def test_drawn_pairs_follow_the_quartiles(measured: OSUCurve) -> None:
    rng = np.random.default_rng(0)
    curves = [draw_curve(measured, rng, of="pair", dependence="independent") for _ in range(90)]
    ratios = np.concatenate([curve.latency_s / measured.latency_s for curve in curves])
    assert len(ratios) > 2000
    # the standard error of a quartile of 2000 draws is below 0.01 of the level, 0.004 of the value
    assert np.quantile(ratios, [0.25, 0.5, 0.75]) == pytest.approx(FIVE[1:4], abs=0.012)
    assert FIVE[0] <= min(ratios) and max(ratios) <= FIVE[4]


def test_the_median_of_many_pairs_varies_less_than_one_pair(measured: OSUCurve) -> None:
    def spread(of: str) -> float:
        return float(
            np.std([draw_curve(measured, seed, of=of).latency_s[0] for seed in range(100)])  # type: ignore[arg-type]
        )

    # the median of n values varies about 1/sqrt(n) as much as one of them, here 1/6
    assert spread("median") < 0.4 * spread("pair")


def test_a_drawn_curve_says_that_it_is(measured: OSUCurve) -> None:
    drawn = draw_curve(measured, 0)
    assert drawn.provenance.origin == "synthetic"
    assert drawn.provenance.details["drawn"] == "median of drawn pairs, shared levels"
    assert drawn.name.endswith("[drawn]")


def test_refits_give_a_latency_the_spread_of_the_latencies(result: FitResult) -> None:
    found = intervals(result, 40, of="pair", trials=40)
    low, middle, high = found.percentiles(OUT_IN)
    total = 2e-6  # out_in; 100 ns of hop and the wire's time stay fixed or belong to the rate
    levels = np.interp([0.05, 0.95], [0, 0.25, 0.5, 0.75, 1], FIVE)
    # 40 draws: the 5th and 95th percentile lie within a few percent of their levels
    assert low / total == pytest.approx(levels[0], abs=0.06)
    assert high / total == pytest.approx(levels[1], abs=0.12)
    assert low < middle < high
    assert found.draws == found.requested == 40


def test_the_same_seed_draws_and_refits_the_same(result: FitResult) -> None:
    first, second = (intervals(result, 3, seed=5, trials=30) for _ in range(2))
    assert first.rmspe.tolist() == second.rmspe.tolist()
    assert {k: v.tolist() for k, v in first.values.items()} == {
        k: v.tolist() for k, v in second.values.items()
    }
    other = intervals(result, 3, seed=6, trials=30)
    assert other.rmspe.tolist() != first.rmspe.tolist()


def test_intervals_are_a_table_and_plain_values(result: FitResult) -> None:
    found = intervals(result, 3, trials=30)
    frame = found.to_frame()
    assert frame["parameter"].tolist() == list(result.values)
    assert (frame["p5"] <= frame["p50"]).all() and (frame["p50"] <= frame["p95"]).all()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["draws"] == 3
    assert "3 draws of the median, levels shared" in repr(found)
    assert OUT_IN in found._repr_html_()


def test_a_stop_returns_the_draws_so_far(result: FitResult) -> None:
    task = Task(lambda so_far: task.stop())
    found = intervals(result, 10, trials=20, task=task)
    assert (found.draws, found.requested) == (1, 10)
    assert "1 of 10 draws" in repr(found)


def test_intervals_run_as_a_job(result: FitResult) -> None:
    job = tasks.submit(intervals, result, 2, trials=20)
    found = job.result(timeout=60)
    assert isinstance(found, Intervals)
    assert (job.progress.done, job.progress.total) == (2, 2)
    assert job.partial is found


def test_a_curve_of_a_single_run_is_refused() -> None:
    alps = fit(load("alps-gh200-slingshot11"), "logp", trials=2)
    with pytest.raises(ParameterError, match=r"alps-gh200-slingshot11 is a single run"):
        intervals(alps)


def test_only_the_spread_of_the_fitted_benchmark_is_needed(measured: OSUCurve) -> None:
    curve = dataclasses.replace(measured, bandwidth_spread=None)
    drawn = draw_curve(curve, 0, target="latency")
    assert np.array_equal(drawn.bandwidth_Bps, curve.bandwidth_Bps)
    with pytest.raises(ParameterError, match="spread of the measured bandwidth"):
        draw_curve(curve, 0)


@for_each(
    "wrong, match",
    [
        ({"draws": 0}, "draws must be a whole number of at least 1"),
        ({"of": "mean"}, "of must be one of median, pair"),
        ({"dependence": "none"}, "dependence must be one of shared, independent"),
    ],
)
def test_arguments_are_checked(result: FitResult, wrong: dict[str, object], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        intervals(result, **wrong)  # type: ignore[arg-type]
