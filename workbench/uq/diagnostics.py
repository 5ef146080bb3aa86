"""Convergence of Markov chains: rank-normalised split R-hat and effective sample sizes.

Vehtari, Gelman, Simpson, Carpenter and Bürkner, Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC, Bayesian Analysis 16(2), 2021. Chains have
converged where R-hat is below 1.01 and both effective sample sizes are above 100 for each chain.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata

from workbench.arrays import FloatArray
from workbench.errors import ParameterError

_LEAST_DRAWS = 8  # a half has two pairs of autocorrelations then


def split_rhat(chains: ArrayLike) -> float:
    """Return the rank-normalised split R-hat of a quantity, 1 where the chains agree.

    The larger of that of the draws, which notices different centres, and that of their distances
    from the median, which notices different spreads (equations 3, 4, 14 and section 4.2).

    Args:
        chains: (chains, draws), without the burn-in.

    Returns:
        At least about 1; nan where all draws are equal, or not all finite.

    Raises:
        ParameterError: there are fewer than 8 draws, or not two axes.
    """
    halves = _halves(chains)
    folded = np.abs(halves - np.median(halves))
    # Two values have one distance from the median: the draws alone count then.
    return float(np.fmax(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded))))


def bulk_ess(chains: ArrayLike) -> float:
    """Return the effective sample size of the centre of a distribution: of means and medians.

    That of the draws' normal scores (section 4.3).

    Args:
        chains: (chains, draws), without the burn-in.

    Returns:
        How many independent draws would give the same error; nan where all draws are equal, or not
        all finite.

    Raises:
        ParameterError: there are fewer than 8 draws, or not two axes.
    """
    return _ess(_normal_scores(_halves(chains)))


def tail_ess(chains: ArrayLike) -> float:
    """Return the effective sample size of the tails: the less of the 5 % and 95 % quantiles.

    Args:
        chains: (chains, draws), without the burn-in.

    Returns:
        How many independent draws would give the same error; nan where all draws are equal, or not
        all finite.

    Raises:
        ParameterError: there are fewer than 8 draws, or not two axes.
    """
    halves = _halves(chains)
    sizes = [
        _ess((halves <= bound).astype(np.float64)) for bound in np.quantile(halves, [0.05, 0.95])
    ]
    return float(np.min(sizes))


def _halves(chains: ArrayLike) -> FloatArray:
    """Return the first and last halves of all chains, float64[2 chains, draws // 2].

    All are nan if one draw is not finite.
    """
    found = np.asarray(chains, np.float64)
    if found.ndim != 2 or not len(found) or found.shape[1] < _LEAST_DRAWS:
        raise ParameterError(
            f"chains must have a row for each chain and at least {_LEAST_DRAWS} draws; got an "
            f"array of shape {found.shape}",
            key="chains",
        )
    if not np.isfinite(found).all():
        found = np.full_like(found, np.nan)
    half = found.shape[1] // 2
    return np.concatenate([found[:, :half], found[:, -half:]])


def _normal_scores(draws: FloatArray) -> FloatArray:
    """Return the normal scores of the ranks over all chains (equation 14)."""
    ranks = rankdata(draws, axis=None, nan_policy="propagate").reshape(draws.shape)
    return np.asarray(ndtri((ranks - 3 / 8) / (draws.size + 1 / 4)))


def _rhat(chains: FloatArray) -> float:
    """Return R-hat (equations 1 to 4) of chains that are split already."""
    draws = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    between = chains.mean(axis=1).var(ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.sqrt((draws - 1) / draws + between / within))


def _ess(chains: FloatArray) -> float:
    """Return the effective sample size (equations 10 to 13) of chains that are split already."""
    draws = chains.shape[1]
    covariance = _autocovariance(chains).mean(axis=0)
    variance = covariance[0] + chains.mean(axis=1).var(ddof=1)
    if not variance > 0:
        return math.nan
    within = covariance[0] * draws / (draws - 1)
    correlation = 1 - (within - covariance) / variance
    correlation[0] = 1.0
    # Geyer (1992): sums of neighbours are positive and fall; where they do not, noise begins.
    pairs = correlation[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)
    noise = np.flatnonzero(~(pairs > 0))
    end = int(noise[0]) if len(noise) else len(pairs)
    time = 2 * np.minimum.accumulate(pairs[:end]).sum() - 1
    if end < len(pairs):
        time += max(correlation[2 * end], 0.0)
    # Antithetic chains may beat independent draws; a short one's estimate of that has no bound.
    return float(chains.size / max(time, 1 / math.log10(chains.size)))


def _autocovariance(chains: FloatArray) -> FloatArray:
    """Return float64[chains, lags], each the sum over a chain divided by its draws."""
    draws = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * draws, axis=1)
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :draws] / draws)
