"""Shapley effects: shares of a time's variance among parameters that depend on each other."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.uq.sobol import CONSTANT
from workbench.uq.surrogate import Surrogate

MOST_PARAMETERS = 12  # each more doubles the number of subsets
NEIGHBOURS = 3  # Broto, Bachoc and Depecker 2020, section 4; 6 are no nearer to the truth
LEAST_SAMPLES = 100  # an effect then varies from draw to draw by up to 0.035, of 200 by 0.027
_MOST_REPEATED = 0.1  # chosen: 0.05, 0.1 and 0.2 of 1000 put effects off by 0.06, 0.10 and 0.17


def shapley_effects(surrogate: Surrogate, samples: ArrayLike) -> FloatArray:
    """Return the share of each parameter in the variance of the times over given samples.

    For parameters that are correlated, as those of a posterior are, Sobol' indices do not add up
    to 1; Shapley effects do (Owen 2014): each parameter gets its mean contribution over all orders
    in which parameters may become known. The variance that is left once some are known is estimated
    from the samples alone, within each one's three nearest neighbours in the known parameters
    (Broto, Bachoc and Depecker 2020, section 4). A few thousand samples give two digits.

    Over a posterior the effects on a test that was measured tend to equal shares: the data fix its
    time, and no parameter alone does. Those on a test that is predicted say what to learn next.

    Args:
        surrogate: predicts the times.
        samples: (n, parameters), values within the box, at least 100; of a Markov chain not the
            repeated ones, so thin it first.

    Returns:
        float64[tests, parameters]; each row adds up to 1, or is nan where the time is constant.

    Raises:
        ParameterError: there are too few samples or too many repeated ones, more than 12
            parameters, or a sample is outside the box.
    """
    values = surrogate.box.columns(samples, "samples")
    dimensions = len(surrogate.box)
    if dimensions > MOST_PARAMETERS:
        raise ParameterError(
            f"Shapley effects must be of at most {MOST_PARAMETERS} parameters; got {dimensions}; "
            "fit a surrogate with the others fixed",
            key="surrogate",
        )
    if values.ndim != 2 or len(values) < LEAST_SAMPLES:
        raise ParameterError(
            f"samples must have at least {LEAST_SAMPLES} rows; got an array of shape "
            f"{values.shape}; draw more",
            key="samples",
        )
    different = len(np.unique(values, axis=0))
    if different < (1 - _MOST_REPEATED) * len(values):
        raise ParameterError(
            f"samples must be nearly all different: repeated ones have no distance; got "
            f"{different} different ones of {len(values)}; thin the chain, samples[::20]",
            key="samples",
        )
    times = surrogate.predict(values)
    coordinates = surrogate.box.to_unit(values)
    spread = coordinates.std(axis=0)
    coordinates = coordinates / np.where(spread > 0, spread, 1.0)
    everything = 2**dimensions - 1
    known = [
        np.array([bool(mask >> i & 1) for i in range(dimensions)]) for mask in range(everything)
    ]
    left = np.zeros((everything + 1, surrogate.tests))
    left[0] = times.var(axis=0, ddof=1)
    for mask in range(1, everything):
        left[mask] = _left_over(coordinates[:, known[mask]], times)
    effects = np.zeros((surrogate.tests, dimensions))
    for mask in range(everything):
        # How often these parameters are the first to become known, and the next one comes then.
        order = math.comb(dimensions - 1, mask.bit_count()) * dimensions
        for i in np.flatnonzero(~known[mask]):
            effects[:, i] += (left[mask] - left[mask | 1 << int(i)]) / order
    varies = left[0] > (CONSTANT * times.mean(axis=0)) ** 2
    return effects / np.where(varies, left[0], np.nan)[:, None]


def _left_over(known: FloatArray, times: FloatArray) -> FloatArray:
    """Return float64[tests], the mean variance of the times where some coordinates are known."""
    neighbours = cKDTree(known).query(known, NEIGHBOURS)[1]
    return np.asarray(times[neighbours].var(axis=1, ddof=1).mean(axis=0))
