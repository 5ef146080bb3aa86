"""The mean trajectory of runs: means over runs of what was read at each step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray


def means_of(values: FloatArray, rows: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return the means over some runs of ``values[runs, steps, n]``, float64[steps, n].

    And the same for each run, float64[runs, steps, n], without that run where it is one of them: a
    run is then seen as a new one will be. A mean of nothing is that between its neighbours, or 0.
    """
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    count, total = known[rows].sum(axis=0), filled[rows].sum(axis=0)
    counts, totals = np.repeat(count[None], len(values), axis=0), np.array([total] * len(values))
    counts[rows] -= known[rows]
    totals[rows] -= filled[rows]
    return _without_gaps(total[None], count[None])[0], _without_gaps(totals, counts)


def _without_gaps(total: FloatArray, count: NDArray[np.int64]) -> FloatArray:
    """Return means of ``[runs, steps, n]``, those of nothing as between their neighbours or 0."""
    mean = np.zeros(total.shape)
    np.divide(total, count, out=mean, where=count > 0)
    steps = np.arange(total.shape[1])
    for run, which in np.argwhere((count == 0).any(axis=1)):
        known = count[run, :, which] > 0
        if known.any():
            mean[run, :, which] = np.interp(steps, steps[known], mean[run, known, which])
    return mean
