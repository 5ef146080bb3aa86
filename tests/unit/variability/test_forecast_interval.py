"""Intervals of forecasts hold what comes, as often as they should, and see no run they are for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.variability import Forecast, StepTable, forecast, forecast_interval


def noisy(runs: int, seed: int) -> StepTable:
    """Return steps whose run is slower or faster by chance, which no counter tells."""
    rng = np.random.default_rng(seed)
    time = np.exp(0.2 * rng.standard_normal((runs, 1)) + 0.05 * rng.standard_normal((runs, 12)))
    return StepTable(
        tuple(f"r{run}" for run in range(runs)),
        np.full(runs, np.nan),
        time,
        (),
        np.empty((runs, 12, 0)),
        Provenance("synthetic", "runs by chance"),
    )


@pytest.fixture(scope="module")
def found() -> Forecast:
    return forecast(noisy(200, 1), m=3, k=4, models=["ridge"], seed=2)


@for_each("level", [0.5, 0.8, 0.95])
def test_intervals_hold_as_often_as_they_should(found: Forecast, level: float) -> None:
    for model in found.models:
        low, high = forecast_interval(found, model, level=level).T
        held = (low <= found.actual_s) & (found.actual_s <= high)
        by_run = [held[found.run == run].mean() for run in np.unique(found.run)]
        # Four standard errors of the mean over 200 runs, each of which holds all or nothing.
        assert np.mean(by_run) == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 200))


def test_a_run_has_no_part_in_its_own_interval(found: Forecast) -> None:
    here = found.run == 5
    changed = replace(found, actual_s=np.where(here, 50 * found.actual_s, found.actual_s))
    before, after = (forecast_interval(one, "ridge") for one in (found, changed))
    np.testing.assert_array_equal(before[here], after[here])
    assert (
        before[found.fold != found.fold[here][0]] != after[found.fold != found.fold[here][0]]
    ).any()


def test_it_agrees_with_a_loop_over_windows(found: Forecast) -> None:
    model = found.models.index("persistence")
    ratio = found.actual_s / found.predicted_s[model]
    ends = forecast_interval(found, "persistence", level=0.8)
    for window in (0, 100, 777):
        others = found.fold != found.fold[window]
        runs = {run: np.sum(found.run == run) for run in np.unique(found.run[others])}
        pairs = sorted((ratio[at], 1 / runs[found.run[at]]) for at in np.flatnonzero(others))
        weights = np.cumsum([weight for _, weight in pairs])
        for end, share in zip(ends[window], (0.1, 0.9), strict=True):
            place = int((weights < share * weights[-1] * (1 - 1e-12)).sum())
            assert end == pytest.approx(found.predicted_s[model, window] * pairs[place][0])


def test_a_model_or_a_level_that_is_not_known_is_refused(found: Forecast) -> None:
    with pytest.raises(ParameterError, match="did you mean ridge"):
        forecast_interval(found, "rigde")
    with pytest.raises(ParameterError, match="level must be at most 1"):
        forecast_interval(found, "ridge", level=80)
