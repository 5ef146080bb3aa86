"""Speed of the chains: likelihoods a second, and effective draws a second beside emcee's.

Both sample the same density: 4 parameters, 20 tests with 20 replicas, a surrogate of degree 3, and
a sigma that is known, so that emcee's is a few vectorised lines. Our chains run in a thread each,
as for a user; emcee evaluates its walkers at once, in one thread, by the same compiled surrogate.
"""

from __future__ import annotations

import statistics
import time

import emcee
import numpy as np
import pytest

from tests.unit.uq.ring import BOX, COLUMNS, TRUTH, ring
from workbench.uq import NOISE_MODELS, Replicas, calibrate, noise_model

REPLICAS, SIGMA_S = 20, 2e-5
WALKERS = 32


@pytest.fixture(scope="module")
def problem():
    surrogate = ring()
    truth = surrogate.predict(TRUTH[np.newaxis])[0]
    noise = np.random.default_rng(2).normal(0.0, SIGMA_S, (len(truth), REPLICAS))
    return surrogate, Replicas.of(truth[:, np.newaxis] + noise, columns=COLUMNS)


def by_emcee(surrogate, replicas, steps):
    """Return coordinates[steps, walkers, 4] after a quarter of burn-in, ESS and seconds."""
    measured = np.array([row.mean() for row in replicas.rows])

    def log_density(points):
        inside = (np.abs(points) <= 1.0).all(axis=1)
        off = surrogate.predict_unit(np.clip(points, -1.0, 1.0)) - measured
        density = -0.5 * REPLICAS * (off**2).sum(axis=1) / SIGMA_S**2
        return np.where(inside, density, -np.inf)

    rng = np.random.default_rng(3)
    start = np.clip(rng.normal(0.0, 0.3, (WALKERS, len(BOX))), -0.99, 0.99)
    sampler = emcee.EnsembleSampler(WALKERS, len(BOX), log_density, vectorize=True)
    sampler.random_state = np.random.RandomState(4).get_state()
    began = time.perf_counter()
    sampler.run_mcmc(start, steps)
    seconds = time.perf_counter() - began
    chain = sampler.get_chain(discard=steps // 4)
    length = sampler.get_autocorr_time(discard=steps // 4, quiet=True).max()
    return chain, WALKERS * len(chain) / length, seconds


def test_effective_draws_beside_emcee(problem):
    surrogate, replicas = problem
    noise = noise_model("constant", replicas).fix(sigma=SIGMA_S)
    ours, theirs = [], []
    for seed in range(3):
        found = calibrate(surrogate, replicas, noise=noise, chains=4, draws=5000, seed=seed)
        ess = found.summary()["bulk ESS"].min()
        ours.append(ess / found.seconds)
        chain, effective, seconds = by_emcee(surrogate, replicas, 4000)
        theirs.append(effective / seconds)
    # The same distribution, or the two rates say nothing: 0.2 sd is far beyond chance here.
    drawn = BOX.to_unit(found.parameters.reshape(-1, len(BOX)))
    off = (drawn.mean(axis=0) - chain.reshape(-1, len(BOX)).mean(axis=0)) / drawn.std(axis=0)
    np.testing.assert_allclose(off, 0.0, atol=0.2)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    print(
        f"\neffective draws/s: ours {statistics.median(ours):,.0f}, "
        f"emcee {statistics.median(theirs):,.0f}: {ratio:.1f} times"
    )


@pytest.mark.parametrize("name", NOISE_MODELS)
def test_likelihoods_a_second(problem, name):
    surrogate, replicas = problem
    calibrate(surrogate, replicas, noise=name, draws=10)
    found = calibrate(surrogate, replicas, noise=name, draws=2000)
    print(f"\n{name}: {found.evaluations_per_s:,.0f} surrogate likelihoods/s")
