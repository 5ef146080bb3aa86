from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import ndtr, owens_t
from scipy.stats import norm

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.uq import bulk_ess, split_rhat, tail_ess


def autoregressive(phi: float, chains: int, draws: int, seed: int = 0) -> NDArray[np.float64]:
    """Return stationary chains x[t] = phi x[t-1] + noise with variance 1."""
    noise = np.random.default_rng(seed).normal(size=(chains, draws))
    noise[:, 1:] *= math.sqrt(1 - phi**2)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise, axis=1))


def tail_share(phi: float, level: float) -> float:
    """Return the effective share of the draws of such chains for a quantile, by its definition."""
    rho = phi ** np.arange(1, 2000)
    bound = norm.ppf(level)
    both = ndtr(bound) - 2 * owens_t(bound, np.sqrt((1 - rho) / (1 + rho)))
    correlation = (both - level**2) / (level * (1 - level))
    return float(1 / (1 + 2 * correlation.sum()))


def test_independent_chains_agree() -> None:
    chains = np.random.default_rng(0).normal(size=(4, 2000))
    assert split_rhat(chains) == pytest.approx(1, abs=0.005)
    assert bulk_ess(chains) == pytest.approx(8000, rel=0.1)
    assert tail_ess(chains) == pytest.approx(8000, rel=0.1)


def test_a_chain_elsewhere_or_wider_or_drifting_is_noticed() -> None:
    chains = np.random.default_rng(0).normal(size=(4, 1000))
    shifted, wide = chains.copy(), chains.copy()
    shifted[0] += 1
    wide[0] *= 3
    drifting = chains + np.linspace(0, 2, 1000)
    assert split_rhat(shifted) > 1.05
    assert split_rhat(wide) > 1.05
    assert split_rhat(drifting) > 1.05
    assert bulk_ess(shifted) < 100


def test_r_hat_is_that_of_the_formula_on_normal_scores() -> None:
    # 8 draws in two halves; the ranks of 0 ... 7 in order give the scores below.
    scores = norm.ppf((np.arange(1, 9) - 3 / 8) / (8 + 1 / 4))
    halves = scores.reshape(2, 4)
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    wanted = math.sqrt(3 / 4 + between / within)
    assert split_rhat(np.arange(8.0)[None]) == pytest.approx(wanted, rel=1e-12)
    assert split_rhat(np.exp(np.arange(8.0))[None]) >= wanted - 1e-12


@for_each("phi", [0.3, 0.9, -0.4])
def test_chains_with_memory_count_for_fewer_draws(phi: float) -> None:
    chains = autoregressive(phi, 4, 25_000)
    assert bulk_ess(chains) == pytest.approx(chains.size * (1 - phi) / (1 + phi), rel=0.1)
    wanted = chains.size * min(tail_share(phi, 0.05), tail_share(phi, 0.95))
    assert tail_ess(chains) == pytest.approx(wanted, rel=0.1)


def test_the_scale_does_not_count_and_heavy_tails_have_sizes_too() -> None:
    chains = autoregressive(0.5, 4, 2000)
    assert bulk_ess(np.exp(5 * chains)) == pytest.approx(bulk_ess(chains), rel=1e-12)
    heavy = np.random.default_rng(1).standard_cauchy((4, 2000))
    assert split_rhat(heavy) < 1.01
    assert bulk_ess(heavy) == pytest.approx(8000, rel=0.15)


@for_each("value", [2.0, np.nan, np.inf])
def test_without_variation_or_finite_draws_nothing_is_known(value: float) -> None:
    chains = np.full((2, 20), value)
    if not math.isfinite(value):
        chains[0] = np.arange(20)
    for diagnostic in (split_rhat, bulk_ess, tail_ess):
        assert math.isnan(diagnostic(chains))


def test_chains_that_never_meet_have_no_finite_r_hat() -> None:
    chains = np.repeat([[1.0], [2.0]], 20, axis=1)
    assert split_rhat(chains) == math.inf


@for_each("shape", [(20,), (2, 7), (0, 20)])
def test_too_few_draws_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match="at least 8 draws"):
        split_rhat(np.zeros(shape))
