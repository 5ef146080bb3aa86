"""Draws of a surrogate's posterior, weighed by what the simulator itself gives for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.uq import likelihood
from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.uq.noise import places, squared_distances
from workbench.uq.posterior import Posterior
from workbench.uq.sampling import likelihood_data


def simulator_weights(
    posterior: Posterior,
    at: NDArray[np.int64],  # draws, counted over all chains
    times: FloatArray,  # [draws, tests] of the simulator, s; nan where it refuses a draw
) -> FloatArray:
    """Return weights[draws] of sum 1: the simulator's likelihood over that of its surrogate.

    Raises ParameterError where the simulator refuses all draws.
    """
    hyper = posterior.hyper.reshape(-1, len(posterior.noise.hyper))[at]
    predicted = posterior.times.reshape(-1, len(posterior.replicas))[at]
    logs = np.full(len(at), -np.inf)
    known = np.isfinite(times).all(axis=1)
    exact = _log_likelihoods(posterior, times[known], hyper[known])
    logs[known] = exact - _log_likelihoods(posterior, predicted[known], hyper[known])
    if not np.isfinite(logs).any():
        raise ParameterError(
            "the model must accept some draws of the posterior; it refuses all: fix the "
            "parameters that it refuses together",
            key="posterior",
        )
    weights = np.exp(logs - logs.max())
    # Truncated, or single draws could dominate (Ionides 2008).
    weights = np.minimum(weights, weights.mean() * np.sqrt(len(at)))
    return np.asarray(weights / weights.sum())


def effective_draws(weights: FloatArray) -> float:
    """Return the number of equally weighed draws that would be as good (Kish 1965)."""
    return float(1.0 / np.sum(weights**2))


def _log_likelihoods(posterior: Posterior, times: FloatArray, hyper: FloatArray) -> FloatArray:
    """Return float64[draws] of times float64[draws, points] and the noise of each draw."""
    noise, replicas = posterior.noise, posterior.replicas
    distances = distances_among(posterior)
    n = 0 if distances is None else len(replicas)
    data = likelihood_data(replicas.statistics, replicas.starts, distances)
    scratch = np.empty((n, n + 1 if n else 0))
    logs = np.empty(len(times))
    likelihood.log_likelihoods(
        noise.code, np.ascontiguousarray(times), np.ascontiguousarray(hyper), data, scratch, logs
    )
    return logs


def distances_among(posterior: Posterior) -> FloatArray | None:
    """Return squared distances between tests, None where the noise model does not use them."""
    if not posterior.coordinates:
        return None
    replicas = posterior.replicas
    placed = places({name: replicas.columns[name] for name in posterior.coordinates}, replicas)
    return squared_distances(placed, placed)
