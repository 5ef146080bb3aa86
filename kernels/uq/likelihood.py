"""Log likelihoods of measured times, given the times that a model predicts for the same tests.

All but CONSTANT are normal or Student-t in the logarithm of the time. Their densities are of the
times themselves, so that the figures of two models for the same data may be compared. A test that
is predicted to take no time, or less, has likelihood 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import helper, kernel

CONSTANT, RELATIVE, HIERARCHICAL, GAUSSIAN_PROCESS, STUDENT_T = range(5)  # noise models

DEGREES_OF_FREEDOM = 4.0
"""Of STUDENT_T."""

_LOG_2PI = math.log(2.0 * math.pi)


class Data(NamedTuple):
    """The measured times, as the likelihoods use them.

    Attributes:
        replicas: float64[tests], number of replicas of each test.
        mean: float64[tests], seconds.
        squares: float64[tests], sum of the squared deviations from ``mean``, s^2.
        log_mean: float64[tests], mean of the logarithms of the times in seconds.
        log_squares: float64[tests], sum of their squared deviations from ``log_mean``.
        log_values: float64[replicas], logarithms of all times, test by test.
        start: int64[tests + 1], where each test begins in ``log_values``.
        distances: float64[tests, tests], squared distances between tests; [0, 0] where the model
            does not use them.
    """

    replicas: NDArray[np.float64]
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]
    log_mean: NDArray[np.float64]
    log_squares: NDArray[np.float64]
    log_values: NDArray[np.float64]
    start: NDArray[np.int64]
    distances: NDArray[np.float64]


@helper
def constant(times, sigma, data):
    """Return the log likelihood of one absolute normal error, sigma in seconds."""
    total = 0.0
    for n in range(len(times)):
        off = data.mean[n] - times[n]
        total += data.replicas[n] * (_LOG_2PI + 2.0 * math.log(sigma))
        total += (data.squares[n] + data.replicas[n] * off * off) / (sigma * sigma)
    return -0.5 * total


@helper
def hierarchical(times, tau, s, data):
    """Return the log likelihood of normal errors in log time, tau between tests, s in each.

    The discrepancy of each test is integrated out; RELATIVE has tau = 0.
    """
    total = 0.0
    for n in range(len(times)):
        if not times[n] > 0.0:
            return -math.inf
        off = data.log_mean[n] - math.log(times[n])
        count = data.replicas[n]
        of_mean = s * s + count * tau * tau
        total += count * (_LOG_2PI + 2.0 * data.log_mean[n])
        total += (count - 1.0) * 2.0 * math.log(s) + math.log(of_mean)
        total += data.log_squares[n] / (s * s) + count * off * off / of_mean
    return -0.5 * total


@helper
def correlation(distance, length, share):
    """Return the correlation of the discrepancies of two tests, from their squared distance."""
    return (1.0 - share) * math.exp(-0.5 * distance / (length * length))


@helper
def gaussian_process(times, tau, s, length, share, data, matrix):
    """Return the log likelihood with discrepancies that are correlated between nearby tests.

    A share of the discrepancies' variance is each test's own, the rest nearby tests have together.

    The mean of a test's log times has the covariance of the discrepancies, and s^2 / replicas of
    its own; ``matrix`` float64[tests, tests + 1] is overwritten.
    """
    tests = len(times)
    total = 0.0
    for n in range(tests):
        if not times[n] > 0.0:
            return -math.inf
        count = data.replicas[n]
        matrix[n, tests] = data.log_mean[n] - math.log(times[n])
        total += (count - 1.0) * (_LOG_2PI + 2.0 * math.log(s)) + math.log(count)
        total += data.log_squares[n] / (s * s) + 2.0 * count * data.log_mean[n]
        for m in range(n):
            matrix[n, m] = tau * tau * correlation(data.distances[n, m], length, share)
        matrix[n, n] = tau * tau + s * s / count
    # Cholesky's factor and the residuals divided by it, row by row.
    for n in range(tests):
        for m in range(n + 1):
            value = matrix[n, m]
            for k in range(m):
                value -= matrix[n, k] * matrix[m, k]
            if m < n:
                matrix[n, m] = value / matrix[m, m]
            elif value > 0.0:
                matrix[n, n] = math.sqrt(value)
            else:
                return -math.inf
        off = matrix[n, tests]
        for m in range(n):
            off -= matrix[n, m] * matrix[m, tests]
        off /= matrix[n, n]
        matrix[n, tests] = off
        total += _LOG_2PI + 2.0 * math.log(matrix[n, n]) + off * off
    return -0.5 * total


@helper
def student_t(times, s, data):
    """Return the log likelihood of Student-t errors in log time, of scale s."""
    nu = DEGREES_OF_FREEDOM
    per_replica = (
        math.lgamma(0.5 * (nu + 1.0))
        - math.lgamma(0.5 * nu)
        - 0.5 * math.log(nu * math.pi)
        - math.log(s)
    )
    total = 0.0
    for n in range(len(times)):
        if not times[n] > 0.0:
            return -math.inf
        predicted = math.log(times[n])
        for i in range(data.start[n], data.start[n + 1]):
            t = (data.log_values[i] - predicted) / s
            total += per_replica - 0.5 * (nu + 1.0) * math.log1p(t * t / nu) - data.log_values[i]
    return total


@helper
def log_likelihood(model, times, hyper, data, matrix):
    """Return the log likelihood of the data under a noise model.

    Args:
        model: CONSTANT, RELATIVE, HIERARCHICAL, GAUSSIAN_PROCESS or STUDENT_T.
        times: float64[tests], predicted, seconds.
        hyper: float64[hyper-parameters]: sigma in seconds; s; tau, s; tau, s, length, share; s.
        data: ``Data``.
        matrix: float64[tests, tests + 1], overwritten; float64[0, 0] but for GAUSSIAN_PROCESS.
    """
    if model == CONSTANT:
        return constant(times, hyper[0], data)
    if model == RELATIVE:
        return hierarchical(times, 0.0, hyper[0], data)
    if model == HIERARCHICAL:
        return hierarchical(times, hyper[0], hyper[1], data)
    if model == GAUSSIAN_PROCESS:
        return gaussian_process(times, hyper[0], hyper[1], hyper[2], hyper[3], data, matrix)
    return student_t(times, hyper[0], data)


@kernel(cache=True, nogil=True)
def log_likelihoods(model, times, hyper, data, matrix, out):
    """Fill float64[draws] with ``log_likelihood`` of each row of times and of hyper-parameters."""
    for draw in range(len(out)):
        out[draw] = log_likelihood(model, times[draw], hyper[draw], data, matrix)
