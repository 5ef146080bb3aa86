from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from scipy.stats import norm, truncnorm

from workbench.tune.heuristics.acquisition import (
    log_expected_improvement,
    log_probability_of_improvement,
    mean_above,
)


def one(value: float) -> np.ndarray:
    return np.array([value])


@given(st.floats(-3.0, 3.0), st.floats(0.05, 3.0), st.floats(-3.0, 3.0))
def test_expected_improvement_is_the_integral(mean: float, std: float, best: float) -> None:
    low = min(mean, best) - 12.0 * std
    expected, _ = quad(
        lambda f: (best - f) * norm.pdf(f, mean, std),
        low,
        best,
        points=[mean] if low < mean < best else None,
    )
    found = float(np.exp(log_expected_improvement(one(mean), one(std), best)[0]))
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_far_from_any_improvement_places_are_still_in_order() -> None:
    mean = np.array([10.0, 50.0, 1e3, 1e5])
    scores = log_expected_improvement(mean, np.ones(4), 0.0)
    assert np.isfinite(scores).all() and (np.diff(scores) < 0.0).all()
    # log(phi(z) / z^2) is the limit (Mills).
    assert scores[1] == pytest.approx(norm.logpdf(50.0) - 2.0 * np.log(50.0), rel=1e-5)


def test_a_sure_improvement_is_its_size() -> None:
    score = log_expected_improvement(one(1.0), one(1e-9), 5.0)
    assert np.exp(score[0]) == pytest.approx(4.0)


def test_the_probability_of_improvement() -> None:
    found = log_probability_of_improvement(np.array([0.0, 3.0]), np.array([1.0, 2.0]), 1.0)
    assert np.exp(found) == pytest.approx(norm.cdf([1.0, -1.0]))


@given(st.floats(-5.0, 5.0), st.floats(0.1, 4.0), st.floats(-10.0, 10.0))
def test_a_bounded_value_is_the_mean_of_the_truncated_normal(
    mean: float, std: float, bound: float
) -> None:
    beta = (bound - mean) / std
    found = float(mean_above(one(mean), one(std), one(bound))[0])
    assert found >= bound and found >= mean - 1e-9
    if abs(beta) < 6.0:
        assert found == pytest.approx(truncnorm.mean(beta, np.inf, mean, std), abs=1e-6)


def test_a_bound_far_beyond_the_prediction_is_the_value() -> None:
    found = mean_above(np.zeros(3), np.array([1.0, 1e-6, 1e-12]), np.full(3, 1e3))
    assert found == pytest.approx([1e3, 1e3, 1e3], rel=1e-5)
    assert (found >= 1e3).all()
    assert mean_above(one(1e9), one(1.0), one(0.0))[0] == 1e9
