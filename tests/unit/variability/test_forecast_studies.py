from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.unit import commands
from tests.unit.variability.step_tables import drawn_steps, write_steps
from workbench.cli import variability
from workbench.errors import ParameterError
from workbench.plotting import (
    describe_forecast_grid,
    describe_leakage,
    describe_long_forecast,
    plot_forecast_grid,
    plot_importances,
    plot_leakage,
    plot_long_forecast,
)
from workbench.variability import (
    ForecastGrid,
    Leakage,
    LongForecast,
    StepTable,
    forecast,
    forecast_grid,
    forecast_leakage,
    forecast_long,
)
from workbench.variability.forecasting.grid import feature_sets
from workbench.variability.forecasting.leakage import _overlapping

command = partial(commands.run, variability)
ridge = ("ridge",)


def with_features(steps: StepTable) -> StepTable:
    """Return a table whose counters are of the job, of I/O nodes' routers and of others'."""
    return replace(steps, counters=("RT_RB_STL", "IO_RT_FLIT_TOT", "SYS_RT_FLIT_TOT"))


def test_a_grid_holds_the_forecasts_of_its_places(tmp_path: Path) -> None:
    steps = with_features(drawn_steps(runs=12))
    assert feature_sets(steps) == [("app",), ("app", "io"), ("app", "io", "sys")]
    grid = forecast_grid(steps, m=(2, 4), k=(3, 5), models=ridge)
    one = forecast(steps, m=4, k=3, features=("app", "io"), models=ridge)
    assert grid.features == ("app", "app+io", "app+io+sys")
    assert_array_equal(grid.mape[1, 0, 1], one.mape)
    assert_array_equal(grid.skill_interval[1, 0, 1], one.skill_interval)
    best = grid.mape.argmin(axis=3)
    for place in np.ndindex(best.shape):
        at = best[place]
        met = grid.skill[place][at, 0] >= 0.5 and grid.skill_interval[place][at, 1, 0] > 0
        assert grid.target_met[place] == met
    assert len(grid.to_frame()) == grid.mape.size
    read = ForecastGrid.load(grid.save(tmp_path / "grid.json"))
    assert_allclose(read.mape, grid.mape)
    assert plot_forecast_grid(read).references()
    assert describe_forecast_grid(read)
    assert plot_importances({"one": one}).references()


def test_counters_of_later_steps_flatter_where_these_tell_the_times(tmp_path: Path) -> None:
    steps = drawn_steps(runs=20, steps=14)
    rng = np.random.default_rng(0)
    level = rng.standard_normal((20, 14))  # no step knows the next one
    steps = replace(
        steps,
        time_s=np.exp(0.2 * level),
        values=np.exp(level)[:, :, None] * [1.0, 2.0, 3.0],
        start=1e5 * np.arange(20.0),
    )
    found = forecast_leakage(steps, m=3, k=3, models=ridge)
    by = dict(zip(found.leaks, found.flattery[:, 0], strict=True))
    low = dict(zip(found.leaks, found.flattery_interval[:, 0, 0], strict=True))
    assert low["counters after t_c"] > 0
    assert by["counters after t_c"] > 0.5 * found.honest[found.leaks.index("counters after t_c"), 0]
    assert np.isnan(by["overlapping runs"])
    assert "no runs overlap in time" in found.notes
    assert abs(by["runs of the same weeks"]) < 1
    read = Leakage.load(found.save(tmp_path / "leakage.json"))
    assert plot_leakage(read).references()
    assert describe_leakage(read).startswith("Counters after t_c flatter most")


def test_runs_that_overlap_one_after_the_other_are_one_group() -> None:
    start = np.array([0.0, 50.0, 8.0, 4.0, 20.0])
    end = np.array([5.0, 60.0, 12.0, 9.0, 50.0])
    assert_array_equal(_overlapping(start, end), [0, 2, 0, 0, 1])


def test_runs_that_overlap_flatter_where_their_time_is_the_same() -> None:
    steps = drawn_steps(runs=40, steps=8)
    four = np.arange(40) // 4
    rng = np.random.default_rng(0)
    slow = rng.lognormal(0, 0.2, 10)[four][:, None] * np.ones((40, 8))
    named = rng.permutation(10)[four][:, None, None] * np.ones((40, 8, 1))
    together = replace(
        steps,
        time_s=slow * np.exp(0.01 * rng.standard_normal((40, 8))),
        counters=("NUM_ROUTERS",),
        values=40 + named,
        start=1e4 * four + np.arange(40) % 4,
    )
    found = forecast_leakage(together, m=2, k=2, models=("trees",), own_times=False, folds=3)
    at = found.leaks.index("overlapping runs")
    assert found.flattery_interval[at, 0, 0] > 0


def test_a_long_run_is_forecast_from_short_ones(tmp_path: Path) -> None:
    short, long_run = drawn_steps(runs=16, steps=20), drawn_steps(runs=1, steps=60, seed=9)
    long_run = replace(long_run, run=("long",))
    found = forecast_long(short, long_run, m=5, k=8, models=ridge)
    assert_array_equal(found.at, [5, 13, 21, 29, 37, 45])
    assert found.actual_s[-1] == pytest.approx(long_run.time_s[0, 45:53].sum())
    error = dict(zip(found.models, found.mape, strict=True))
    assert error["ridge"] < error["mean-trajectory"]
    assert (found.interval_s[..., 0] < found.predicted_s).all()
    # What comes after a piece does not change it.
    later = replace(long_run, time_s=long_run.time_s.copy())
    later.time_s[0, 45:] *= 2
    again = forecast_long(short, later, m=5, k=8, models=ridge)
    assert_array_equal(again.predicted_s, found.predicted_s)
    read = LongForecast.load(found.save(tmp_path / "long.json"))
    assert plot_long_forecast(read).references()
    assert "6 pieces" in describe_long_forecast(read)


def test_intervals_of_long_runs_are_over_runs() -> None:
    short, long_runs = drawn_steps(runs=16, steps=20), drawn_steps(runs=3, steps=60, seed=9)
    long_runs = replace(long_runs, run=("a", "b", "c"))
    found = forecast_long(short, long_runs, m=5, k=8, models=ridge)
    assert found.run_names == ("a", "b", "c")
    assert_array_equal(np.bincount(found.run), [6, 6, 6])
    # Each run is forecast as it is alone, and the errors are those of the pieces.
    alone = forecast_long(short, long_runs.rows([1]), m=5, k=8, models=ridge)
    assert_allclose(alone.predicted_s, found.predicted_s[:, found.run == 1], rtol=1e-12)  # sums
    assert_allclose(alone.mape, found.mape_by_run()[:, 1], rtol=1e-12)
    assert_allclose(found.mape_by_run().mean(axis=1), found.mape, rtol=1e-12)
    assert_allclose(alone.mape_interval, np.stack([alone.mape, alone.mape], axis=1), rtol=1e-12)
    low, high = found.mape_interval.T
    assert (found.mape_by_run().min(axis=1) <= low + 1e-9).all()
    assert (low < found.mape).all() and (found.mape < high).all()
    assert found.notes[-1] == "with 3 long runs the intervals of errors and skills are too narrow"
    assert "of 3 runs" in describe_long_forecast(found, "ridge")
    assert plot_long_forecast(found, "ridge", 2).references()


def test_what_is_no_long_run_is_refused() -> None:
    steps = drawn_steps(runs=6, steps=12)
    tried = partial(forecast_long, steps, m=3, k=4, models=ridge)
    with pytest.raises(ParameterError, match="must not be among the runs learned from; r0 is"):
        tried(steps)
    with pytest.raises(ParameterError, match="lack RT_FLIT_TOT, PT_PKT_TOT"):
        other = drawn_steps(runs=1, steps=30, seed=5)
        tried(replace(other, counters=("RT_RB_STL",), values=other.values[:, :, :1]))
    with pytest.raises(ParameterError, match="at least m \\+ k = 7 steps; r0 has 6"):
        tried(drawn_steps(runs=1, steps=6, seed=5))


def test_the_commands_print_what_the_results_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_steps(drawn_steps(runs=6, steps=12), tmp_path / "steps.csv")
    long_run = replace(drawn_steps(runs=1, steps=30, seed=3), run=("long",))
    other = write_steps(long_run, tmp_path / "long.csv")
    options = ("--models", "ridge", "--json")
    assert command("forecast-grid", "--steps", path, "--m", "2,3", "--k", "4", *options) == 0
    assert len(json.loads(capsys.readouterr().out)["places"]) == 2 * 3
    assert command("forecast-leakage", "--steps", path, "--m", 2, "--k", 4, *options) == 0
    leaks = json.loads(capsys.readouterr().out)["mistakes"]
    assert leaks[0]["mistake"] == "random windows"
    words = ("--steps", path, "--long", other, "--m", 3, "--k", 4, *options)
    assert command("forecast-long", *words) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {*printed["mape"]} == {"ridge", "persistence", "mean-trajectory"}
    assert len(printed["pieces"]) == 6
    with pytest.raises(ParameterError, match="m must be one number here; got 2"):
        command("forecast-leakage", "--steps", path, "--m", "2,3")
