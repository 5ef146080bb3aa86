"""Likelihoods against the densities of scipy.stats, replica by replica."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from kernels.uq import likelihood
from tests.cases import for_each
from workbench.uq.replicas import statistics

FloatArray = NDArray[np.float64]

RNG = np.random.default_rng(5)
COUNTS = [3, 1, 7, 2]
M = np.array([0.011, 0.2, 0.035, 1.4])  # predicted, s
ROWS = [m * np.exp(0.1 * RNG.standard_normal(n)) for m, n in zip(M, COUNTS, strict=True)]
PLACES = RNG.uniform(size=(4, 2))
DISTANCES = ((PLACES[:, None] - PLACES[None]) ** 2).sum(axis=-1)


def of_kernel(model: int, *hyper: float, times: FloatArray = M) -> float:
    starts = np.concatenate([[0], np.cumsum(COUNTS)])
    s = statistics(np.concatenate(ROWS), starts)
    data = likelihood.Data(
        s.count, s.mean, s.squares, s.log_mean, s.log_squares, s.log_values, starts, DISTANCES
    )
    return float(likelihood.log_likelihood(model, times, np.array(hyper), data, np.empty((4, 5))))


def log_offsets() -> FloatArray:
    return np.asarray(np.log(np.concatenate(ROWS)) - np.log(np.repeat(M, COUNTS)))


def jacobian() -> float:
    return -float(np.log(np.concatenate(ROWS)).sum())


def test_constant_is_equation_2() -> None:
    t, expected, sigma = np.concatenate(ROWS), np.repeat(M, COUNTS), 0.03
    printed = -len(t) / 2 * np.log(2 * np.pi * sigma**2)
    printed -= ((t - expected) ** 2 / (2 * sigma**2)).sum()
    found = of_kernel(likelihood.CONSTANT, sigma)
    assert found == pytest.approx(printed, rel=1e-12)
    assert found == pytest.approx(stats.norm.logpdf(t, expected, sigma).sum(), rel=1e-12)


def test_relative_is_lognormal() -> None:
    t, expected = np.concatenate(ROWS), np.repeat(M, COUNTS)
    density = stats.lognorm.logpdf(t, 0.08, scale=expected).sum()
    assert of_kernel(likelihood.RELATIVE, 0.08) == pytest.approx(density, rel=1e-10)


def test_hierarchical_integrates_the_discrepancies() -> None:
    tau, s, total, at = 0.07, 0.05, jacobian(), 0
    for n in COUNTS:
        covariance = s**2 * np.eye(n) + tau**2
        off = log_offsets()[at : at + n]
        total += stats.multivariate_normal.logpdf(off, np.zeros(n), covariance)
        at += n
    assert of_kernel(likelihood.HIERARCHICAL, tau, s) == pytest.approx(total, rel=1e-10)


def test_gaussian_process_is_normal_in_all_replicas_together() -> None:
    tau, s, length, share = 0.07, 0.05, 0.4, 0.3
    tests = tau**2 * ((1 - share) * np.exp(-DISTANCES / (2 * length**2)) + share * np.eye(4))
    test_of = np.repeat(np.arange(4), COUNTS)
    covariance = tests[np.ix_(test_of, test_of)] + s**2 * np.eye(len(test_of))
    density = stats.multivariate_normal.logpdf(log_offsets(), np.zeros(len(test_of)), covariance)
    found = of_kernel(likelihood.GAUSSIAN_PROCESS, tau, s, length, share)
    assert found == pytest.approx(density + jacobian(), rel=1e-10)


def test_gaussian_process_of_tests_far_apart_is_hierarchical() -> None:
    found = of_kernel(likelihood.GAUSSIAN_PROCESS, 0.07, 0.05, 1e-3, 0.1)
    assert found == pytest.approx(of_kernel(likelihood.HIERARCHICAL, 0.07, 0.05), rel=1e-10)


def test_student_t_has_4_degrees_of_freedom() -> None:
    density = stats.t.logpdf(log_offsets(), 4, scale=0.06).sum() + jacobian()
    assert of_kernel(likelihood.STUDENT_T, 0.06) == pytest.approx(density, rel=1e-10)


@for_each(
    "model, hyper",
    [
        (likelihood.RELATIVE, (0.1,)),
        (likelihood.HIERARCHICAL, (0.1, 0.1)),
        (likelihood.GAUSSIAN_PROCESS, (0.1, 0.1, 0.5, 0.1)),
        (likelihood.STUDENT_T, (0.1,)),
    ],
)
def test_a_predicted_time_of_0_is_impossible_on_a_log_scale(
    model: int, hyper: tuple[float, ...]
) -> None:
    times = M.copy()
    times[2] = 0.0
    assert of_kernel(model, *hyper, times=times) == -np.inf
    assert np.isfinite(of_kernel(likelihood.CONSTANT, 0.1, times=times))
