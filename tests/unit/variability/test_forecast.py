from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.unit import commands
from workbench.cli import variability
from workbench.errors import ParameterError
from workbench.plotting import describe_forecast, plot_forecast
from workbench.provenance import Provenance
from workbench.variability import Forecast, StepTable, forecast
from workbench.variability.attention import first_weights, forward, gradient
from workbench.variability.windows import persistence, windows_of

command = partial(commands.run, variability)


def table(runs: int = 24, steps: int = 20, seed: int = 0) -> StepTable:
    """Return runs whose congestion, an AR(1) process, slows steps down and drives two counters."""
    rng = np.random.default_rng(seed)
    level = np.zeros((runs, steps))
    level[:, 0] = rng.standard_normal(runs)
    for at in range(1, steps):
        level[:, at] = 0.95 * level[:, at - 1] + 0.3 * rng.standard_normal(runs)
    shape = 1 + 0.5 * (np.arange(steps) > 5)
    time = shape * np.exp(0.2 * level + 0.02 * rng.standard_normal(level.shape))
    counters = np.stack(
        [
            time * np.exp(level + 0.1 * rng.standard_normal(level.shape)),
            time * np.exp(0.8 * level + 0.3 * rng.standard_normal(level.shape)),
            time * np.exp(rng.standard_normal(level.shape)),
        ],
        axis=2,
    )
    return StepTable(
        tuple(f"r{run}" for run in range(runs)),
        np.full(runs, np.nan),
        time,
        ("RT_RB_STL", "RT_FLIT_TOT", "PT_PKT_TOT"),
        1e6 * counters,
        Provenance("synthetic", "an AR(1) process"),
    )


@pytest.fixture(scope="module")
def found() -> Forecast:
    return forecast(table(), m=4, k=6)


def test_the_gradient_is_that_of_finite_differences() -> None:
    rng = np.random.default_rng(0)
    weights = first_weights(3, 4, rng, np.float64)
    seen, wanted = rng.standard_normal((5, 4, 3)), rng.standard_normal(5)

    def loss() -> float:
        return float(np.mean((forward(weights, seen)[0] - wanted) ** 2))

    slopes = gradient(weights, seen, wanted)
    for name, values in weights.items():
        for at in rng.integers(values.size, size=4):
            place = np.unravel_index(at, values.shape)
            before = values[place]
            ends = []
            for shift in (1e-6, -1e-6):
                values[place] = before + shift
                ends.append(loss())
            values[place] = before
            assert slopes[name][place] == pytest.approx(
                (ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-8
            )


def test_windows_slide_from_m_to_the_last_k_steps() -> None:
    steps = table(runs=2)
    windows = windows_of(steps, 4, 6)
    assert len(windows.actual_s) == 2 * (20 - 6 - 4 + 1)
    assert windows.actual_s[0] == pytest.approx(steps.time_s[0, 4:10].sum())
    assert windows.actual_s[-1] == pytest.approx(steps.time_s[1, 14:].sum())


def test_persistence_of_runs_that_are_slower_by_a_factor_is_exact() -> None:
    steps = table(runs=3)
    shape = steps.time_s[0]
    scaled = replace(steps, time_s=np.array([1.0, 1.3, 2.0])[:, None] * shape)
    windows = windows_of(scaled, 4, 6)
    trajectories = np.tile(shape, (3, 1))
    assert_allclose(persistence(scaled, windows, trajectories), windows.actual_s)


def test_what_is_seen_halves_the_error_of_the_mean_trajectory(found: Forecast) -> None:
    error = dict(zip(found.models, found.mape, strict=True))
    assert {"attention", "trees", "ridge", "persistence", "mean-trajectory"} == {*error}
    assert min(error["ridge"], error["trees"]) < 0.7 * error["mean-trajectory"]
    assert (found.mape_interval[:, 0] <= found.mape).all()
    assert (found.mape <= found.mape_interval[:, 1]).all()


def test_the_same_seed_gives_the_same_digits(found: Forecast) -> None:
    again = forecast(table(), m=4, k=6)
    assert_array_equal(again.mape, found.mape)
    assert_array_equal(again.mape_interval, found.mape_interval)


def test_it_is_kept_and_drawn(found: Forecast, tmp_path: Path) -> None:
    read = Forecast.load(found.save(tmp_path / "forecast.json"))
    assert_allclose(read.mape, found.mape)
    assert plot_forecast(read).references()
    assert describe_forecast(read)


def test_too_short_runs_are_refused() -> None:
    with pytest.raises(ParameterError):
        forecast(table(), m=15, k=10)
    with pytest.raises(ParameterError):
        forecast(table(runs=1), m=4, k=6)


def test_the_command_prints_errors_and_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = table(runs=12, steps=14)
    rows = ["run,step,time_s," + ",".join(steps.counters)]
    for run, name in enumerate(steps.run):
        for step in range(steps.steps):
            cells = (steps.time_s[run, step], *steps.values[run, step])
            rows.append(f"{name},{step + 1},{','.join(map(repr, map(float, cells)))}")
    path = tmp_path / "steps.csv"
    path.write_text("\n".join(rows) + "\n")
    assert command("forecast", "--steps", path, "--m", 3, "--k", 4, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["mape"].keys() == printed["intervals"].keys()
    assert {"attention", "trees", "ridge", "persistence", "mean-trajectory"} == {*printed["mape"]}
    assert printed["counters"] == list(steps.counters)
