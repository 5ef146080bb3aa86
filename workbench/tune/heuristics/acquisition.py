"""How promising a prediction is, and what a censored value is worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from workbench.arrays import FloatArray

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


def log_expected_improvement(mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
    """Return the log of the expected improvement, float64[m] (Jones et al. 1998).

    E[max(best - f, 0)] = std (z Phi(z) + phi(z)) with z = (best - mean) / std; the logarithm ranks
    places alike, and still differs where the expectation underflows.
    """
    from scipy.special import erfcx, log_ndtr

    z = (best - mean) / std
    below = np.minimum(z, 0.0)
    # z Phi(z) / phi(z) by the scaled complementary error function, which does not underflow.
    ratio = below * math.sqrt(math.pi / 2.0) * erfcx(-below / math.sqrt(2.0))
    with np.errstate(divide="ignore"):
        low = np.log(np.maximum(1.0 + ratio, 0.0)) - 0.5 * below * below - _HALF_LOG_2PI
        above = np.maximum(z, 0.0)
        phi = np.exp(-0.5 * above * above - _HALF_LOG_2PI)
        high = np.log(above * np.exp(log_ndtr(above)) + phi)
    found: FloatArray = np.where(z < 0.0, low, high) + np.log(std)
    return found


def log_probability_of_improvement(mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
    """Return the log of the probability of a loss below ``best``, float64[m] (Kushner 1964)."""
    from scipy.special import log_ndtr

    found: FloatArray = log_ndtr((best - mean) / std)
    return found


ACQUISITIONS: Mapping[str, Callable[[FloatArray, FloatArray, float], FloatArray]]
ACQUISITIONS = MappingProxyType(
    {"ei": log_expected_improvement, "pi": log_probability_of_improvement}
)
"""The functions that rank candidates, by name; larger is better."""


def mean_above(mean: FloatArray, std: FloatArray, bound: FloatArray) -> FloatArray:
    """Return the mean of a normal variable given that it lies above a bound, float64[m].

    It replaces a censored value in Schmee and Hahn, A simple method for regression analysis with
    censored data, 1979.
    """
    from scipy.special import erfcx

    beta = (bound - mean) / std
    # phi(beta) / Phi(-beta), by a function that neither underflows nor cancels.
    hazard = math.sqrt(2.0 / math.pi) / erfcx(beta / math.sqrt(2.0))
    found: FloatArray = np.maximum(mean + std * hazard, bound)
    return found
