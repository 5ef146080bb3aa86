"""Sobol points over a space, ranks, and correlations of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def sobol(dimensions: int, count: int, seed: int) -> FloatArray:
    """Return float64[count, dimensions] in 0 to 1, the beginning of a scrambled Sobol sequence."""
    from scipy.stats import qmc

    drawn = qmc.Sobol(dimensions, scramble=True, rng=seed).random_base2((count - 1).bit_length())
    return np.asarray(drawn[:count], np.float64)


def ranks(columns: FloatArray) -> FloatArray:
    """Return the rank of each value in its column, float64[n, k]; ties get their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(columns, axis=0), np.float64)


def correlation(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Pearson's float64[a, b] of the columns of x[n, a] and y[n, b]; nan if constant."""
    x, y = _standardised(x), _standardised(y)
    return np.clip(x.T @ y, -1.0, 1.0)


def _standardised(columns: FloatArray) -> FloatArray:
    """Return the columns with mean 0 and length 1; nan where all values are equal."""
    varies = np.ptp(columns, axis=0) > 0
    centred = columns - columns.mean(axis=0)
    lengths = np.where(varies, np.linalg.norm(centred, axis=0), np.nan)
    return np.asarray(centred / lengths, np.float64)
