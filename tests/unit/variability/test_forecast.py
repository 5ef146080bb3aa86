from __future__ import annotations

import json
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from tests.unit import commands
from tests.unit.variability.step_tables import drawn_steps, write_steps
from workbench.cli import variability
from workbench.errors import ParameterError, SimulationHalted
from workbench.plotting import describe_forecast, plot_forecast
from workbench.tasks import Task
from workbench.variability import Forecast, forecast
from workbench.variability.forecasting import attention
from workbench.variability.forecasting.attention import UPDATES, first_weights, forward, gradient
from workbench.variability.forecasting.forecast import MODELS
from workbench.variability.forecasting.forecasters import _STRENGTHS, _coefficients
from workbench.variability.forecasting.windows import persistence, windows_of

command = partial(commands.run, variability)


@pytest.fixture
def short_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train networks by a tenth of the updates, for tests that ask for no skill of theirs."""
    monkeypatch.setattr(attention, "train", partial(attention.train, updates=UPDATES // 10))


@pytest.fixture(scope="module")
def found() -> Forecast:
    return forecast(drawn_steps(), m=4, k=6, folds=2)


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


def test_a_stop_ends_each_fold_before_its_next_network(monkeypatch: pytest.MonkeyPatch) -> None:
    train, trained, task = attention.train, [], Task()

    def train_and_stop(*arguments: Any) -> list[attention.Trained]:
        trained.append(threading.get_ident())
        task.stop()
        return train(*arguments, updates=10)

    monkeypatch.setattr(attention, "train", train_and_stop)
    with pytest.raises(SimulationHalted, match="stopped before all folds"):
        forecast(drawn_steps(), m=4, k=6, folds=2, models=["attention"], task=task)
    assert 1 <= len(trained) == len(set(trained)) <= 2


@pytest.mark.usefixtures("short_training")
def test_the_network_is_attention_without_its_share_of_ridge() -> None:
    asked = partial(forecast, drawn_steps(runs=8, steps=10), m=2, k=3, folds=2)
    both = asked(models=("attention", "ridge", "network"))
    assert both.models[:3] == ("attention", "network", "ridge")
    mixed, alone, ridge = both.predicted_s[:3]
    assert both.mape[1] == pytest.approx(both.alone_mape[0], rel=1e-12)
    assert both.share[1] == 1 and both.share[0] < 0.9
    # What ``attention`` adds to ridge is, fold by fold, its share of what the network adds.
    expected = both.predicted_s[both.models.index("mean-trajectory")]
    logs = [np.log(one / expected) for one in (mixed, alone, ridge)]
    for fold in range(2):
        here = both.fold == fold
        ours, network, plain = (one[here] for one in logs)
        share = ((ours - plain) @ (network - plain)) / ((network - plain) @ (network - plain))
        assert -1e-12 <= share <= 1
        assert_allclose(ours, plain + share * (network - plain), atol=1e-12)
    only = asked(models=("network",), importance_of="network")
    assert_allclose(only.predicted_s[0], alone, rtol=1e-12)
    assert_array_equal(only.importance, only.network_importance)
    assert_allclose(only.importance, both.network_importance, atol=1e-9)
    assert not len(asked(models=("ridge",), importance_of="ridge").network_importance)


def test_windows_slide_from_m_to_the_last_k_steps() -> None:
    steps = drawn_steps(runs=2)
    windows = windows_of(steps, 4, 6)
    assert len(windows.actual_s) == 2 * (20 - 6 - 4 + 1)
    assert windows.actual_s[0] == pytest.approx(steps.time_s[0, 4:10].sum())
    assert windows.actual_s[-1] == pytest.approx(steps.time_s[1, 14:].sum())


def test_persistence_of_runs_that_are_slower_by_a_factor_is_exact() -> None:
    steps = drawn_steps(runs=3)
    shape = steps.time_s[0]
    scaled = replace(steps, time_s=np.array([1.0, 1.3, 2.0])[:, None] * shape)
    windows = windows_of(scaled, 4, 6)
    trajectories = np.tile(shape, (3, 1))
    assert_allclose(persistence(scaled, windows, trajectories), windows.actual_s)


def test_what_is_seen_halves_the_error_of_the_mean_trajectory(found: Forecast) -> None:
    error = dict(zip(found.models, found.mape, strict=True))
    assert set(MODELS) == {*error}
    assert min(error["ridge"], error["trees"]) < 0.7 * error["mean-trajectory"]
    assert (found.mape_interval[:, 0] <= found.mape).all()
    assert (found.mape <= found.mape_interval[:, 1]).all()


@pytest.mark.usefixtures("short_training")
def test_the_same_seed_gives_the_same_digits_and_later_steps_change_nothing() -> None:
    steps = drawn_steps(runs=6, steps=10)
    before = forecast(steps, m=2, k=3, folds=2)
    # All that one run does after its sixth step: neither its own earlier windows nor other runs of
    # its fold may know of it.
    changed = replace(steps, time_s=steps.time_s.copy(), values=steps.values.copy())
    changed.time_s[0, 6:] *= 3
    changed.values[0, 6:] *= 7
    after = forecast(changed, m=2, k=3, folds=2)
    fold = before.fold == before.fold[before.run == 0][0]
    untouched = fold & ((before.run != 0) | (before.at <= 6))
    assert set(before.run[untouched]) > {0}
    assert_array_equal(after.predicted_s[:, untouched], before.predicted_s[:, untouched])


def test_next_steps_that_are_linear_in_a_counter_are_forecast_by_ridge() -> None:
    steps = drawn_steps(runs=40, steps=12)
    rng = np.random.default_rng(0)
    slow = 0.05 * rng.standard_normal(40)[:, None]
    shape = np.exp(0.2 * rng.standard_normal(12))
    exact = replace(
        steps,
        time_s=shape * np.exp(slow) * np.ones((40, 12)),
        counters=("A", "B"),
        values=np.stack(
            [slow - np.arange(12), rng.standard_normal((40, 12))], axis=2
        ),  # A falls by one a step, and says how slow the run is
    )
    found = forecast(exact, m=3, k=4, models=("ridge",), own_times=False)
    error = dict(zip(found.models, found.mape, strict=True))
    assert error["persistence"] == pytest.approx(0, abs=1e-9)
    assert error["ridge"] < 0.02 * error["mean-trajectory"]


def test_noise_gives_no_skill() -> None:
    steps = drawn_steps(runs=30, steps=12)
    rng = np.random.default_rng(0)
    noise = replace(
        steps,
        time_s=np.exp(0.1 * rng.standard_normal((30, 12))),
        values=rng.lognormal(0, 1, (30, 12, 3)),
    )
    found = forecast(noise, m=3, k=4, folds=2)
    on_mean = dict(zip(found.models, found.skill[:, 0], strict=True))
    for name in ("attention", "trees", "ridge"):
        assert abs(on_mean[name]) < 0.05
    assert on_mean["persistence"] < -0.2


def test_ridge_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((50, 4))
    target = inputs @ [1.0, 0.0, -2.0, 0.5] + rng.standard_normal(50)
    wide = np.column_stack([inputs, np.ones(50)])
    found = _coefficients(wide.T @ wide, wide.T @ target, np.zeros(4, bool))
    for at, strength in enumerate(_STRENGTHS):
        theirs = Ridge(alpha=50 * strength).fit(inputs, target)
        assert_allclose(found[:-1, at], theirs.coef_, atol=1e-10)
        assert found[-1, at] == pytest.approx(theirs.intercept_, abs=1e-10)


def test_it_is_kept_and_drawn(found: Forecast, tmp_path: Path) -> None:
    read = Forecast.load(found.save(tmp_path / "forecast.json"))
    assert_allclose(read.mape, found.mape)
    assert plot_forecast(read).references()
    assert describe_forecast(read)


def test_too_short_runs_are_refused() -> None:
    with pytest.raises(ParameterError):
        forecast(drawn_steps(), m=15, k=10)
    with pytest.raises(ParameterError):
        forecast(drawn_steps(runs=1), m=4, k=6)


@pytest.mark.usefixtures("short_training")
def test_the_command_prints_errors_and_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = drawn_steps(runs=12, steps=14)
    path = write_steps(steps, tmp_path / "steps.csv")
    assert command("forecast", "--steps", path, "--m", 3, "--k", 4, "--folds", 2, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["mape"].keys() == printed["intervals"].keys()
    assert set(MODELS) == {*printed["mape"]}
    assert printed["importance"].keys() == printed["importance_of_the_network"].keys()
    assert printed["counters"] == list(steps.counters)
