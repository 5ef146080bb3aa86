"""How run times change smoothly with the date, whoever else ran.

found = smooth_trend(read_runs("runs.csv"))
found.share, found.p
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.arrays import FloatArray
from workbench.variability.tables.runs import Runs

_RUNS_A_TERM = 10  # chosen: a tenth of what the runs tell is then spent on the trend at most
_MOST_TERMS = 10  # chosen: of 30 drifting schedules 1 blames somebody then, 24 with none
_CORRELATED = 0.01  # p-value from which on a trend is called one


@dataclass(frozen=True, eq=False)
class SmoothTrend:
    """A natural cubic spline of the date through the logarithms of run times.

    Such splines keep what changes over seasons apart from what is asked about, as in studies of
    air pollution (Dominici, McDermott and Hastie 2004). A term for ten runs, ten at most.

    Attributes:
        basis: float64[runs, terms], orthonormal functions of the date, the first a constant.
        factor: float64[runs], the trend of the run times, relative to their geometric mean.
        share: of the variance of the logarithms that the trend explains.
        p: of the F test that there is no trend; 1 with too few runs for one.
    """

    basis: FloatArray
    factor: FloatArray
    share: float
    p: float

    @property
    def note(self) -> str:
        """A sentence where run times go with the date, else nothing."""
        if self.p > _CORRELATED:
            return ""
        least, most = 100 * (self.factor.min() - 1), 100 * (self.factor.max() - 1)
        return (
            f"run times go with the date: a smooth trend from {least:+.0f} to {most:+.0f} % "
            f"explains {100 * self.share:.0f} % of their variance (p = {self.p:.1g})"
        )


def smooth_trend(runs: Runs) -> SmoothTrend:
    """Return the smooth trend of run times over the runs' starts."""
    from scipy.stats import f as f_distribution

    basis = _natural_spline(runs.start, min(len(runs) // _RUNS_A_TERM, _MOST_TERMS))
    y = np.log(runs.time_s)
    y = y - y.mean()
    trend = basis[:, 1:] @ (basis[:, 1:].T @ y)
    total, left = float(y @ y), float((y - trend) @ (y - trend))
    terms = basis.shape[1] - 1
    free = len(runs) - 1 - terms
    share, p = 0.0, 1.0
    if terms and total:
        share = 1 - left / total
        p = float(f_distribution.sf((total - left) / terms / max(left / free, 1e-300), terms, free))
    return SmoothTrend(basis, np.exp(trend), share, p)


def less(basis: FloatArray, columns: FloatArray) -> FloatArray:
    """Return columns less their regression on an orthonormal basis (Frisch and Waugh 1933)."""
    return np.asarray(columns - basis @ (basis.T @ columns))


def _natural_spline(at: FloatArray, terms: int) -> FloatArray:
    """Return orthonormal natural cubic splines with knots at quantiles, float64[values, terms].

    As in Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, equation 5.4; terms
    that equal dates leave without a meaning are left out.
    """
    constant = np.full((len(at), 1), 1 / np.sqrt(len(at)))
    span = float(np.ptp(at))
    if terms < 2 or span == 0:
        return constant
    x = (at - at.min()) / span
    knots = np.unique(np.quantile(x, np.linspace(0, 1, terms)))
    cubes = np.maximum(x[:, None] - knots, 0) ** 3
    bent = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    columns = np.concatenate([x[:, None], bent[:, :-1] - bent[:, -1:]], axis=1)
    u, size, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return np.concatenate([constant, u[:, size > 1e-8 * size[0]]], axis=1)
