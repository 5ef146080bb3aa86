"""Errors of a model on other numbers of nodes than the calibrated ones, as fits to fewer have them.

What such a fit is off by on the nodes left out has three parts: its parameters are uncertain, the
noise model's discrepancy is there on any nodes, and a model may err more, the further it is from
its tests. Predictions have the first two already; only the third is an error beyond the calibrated
nodes. Times are linear in the parameters' logarithms near a fit, so that all three are normal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.arrays import FloatArray
from workbench.uq.collectives.measured import MeasuredCollective, columns_of, nodes_of
from workbench.uq.collectives.models import CollectiveModel
from workbench.uq.collectives.pilot import pilot_fit
from workbench.uq.noise import as_noise_model, places, squared_distances


@dataclass(frozen=True)
class BeyondErrors:
    """Relative errors of a model on other numbers of nodes than the calibrated ones.

    Of another job, which all its sizes share, and by one doubling of the nodes beyond the
    calibrated ones; the latter grows as a random walk, with the square root of the doublings.
    """

    another_job: float
    per_doubling: float


KNOWN, UNKNOWN = BeyondErrors(0.05, 0.05), BeyondErrors(0.08, 0.15)
"""Of models of rounds, and of models without an algorithm.

Found on the collectives of Fugaku and Leonardo, the largest number of nodes predicted from the
others: the former are off by 5 to 20 % over three doublings, the latter by 40 to 80 %.
"""

# How many times the usual errors those of one system may be, with a log-normal prior whose mean
# square is 1, so that systems on which nothing can be left out have the usual ones.
_SCALES = np.exp(np.linspace(np.log(0.02), np.log(8.0), 25))
_PRIOR_SPREAD = 1.0  # chosen: 0.7 has scales of 0.5 instead of 0.35 on worlds without such errors
_STEP = 1e-4  # of a parameter's logarithm, for slopes
# Hyper-parameters of a discrepancy: chosen, a factor of 1.5 apart; weights fall off over more.
_TAU = np.exp(np.linspace(np.log(0.005), np.log(0.8), 13))
_LENGTH = np.exp(np.linspace(np.log(0.12), np.log(2.0), 6))
_SHARE = np.array([0.02, 0.1, 0.25, 0.5, 0.8])
_KEPT = 40  # most probable hyper-parameters, of 390; they have nearly all the weight


def usual_beyond(model: str, doublings: FloatArray) -> FloatArray:
    """Return the variance of the usual error of a model so many doublings of the nodes away."""
    errors = KNOWN if model.startswith("rounds:") else UNKNOWN
    return np.asarray(errors.another_job**2 + errors.per_doubling**2 * doublings)


def beyond_scale(
    measured: MeasuredCollective, model: CollectiveModel, noise: str, seed: int = 0
) -> float:
    """Return the errors beyond the calibrated nodes that the data show, over the usual ones.

    The model is fitted to the smallest number of nodes, to the smallest two, and so on, and each
    larger number is predicted. The scale is the root of the mean square under its posterior; all
    predictions of one number of nodes count as one. The noise model has relative errors.
    """
    nodes = nodes_of(measured.tests)
    logs = -0.5 * ((np.log(_SCALES) + _PRIOR_SPREAD**2) / _PRIOR_SPREAD) ** 2
    for at in range(1, len(nodes)):
        for most in range(at, len(nodes)):
            found = _log_densities(
                measured.on(nodes[:at]), measured.on([nodes[most]]), model, noise, seed
            )
            logs = logs + found / most
    weights = np.exp(logs - logs.max())
    return float(np.sqrt((weights * _SCALES**2).sum() / weights.sum()))


def _log_densities(
    fewer: MeasuredCollective,
    more: MeasuredCollective,
    model: CollectiveModel,
    noise: str,
    seed: int,
) -> FloatArray:
    """Return log densities[scales] of tests on more nodes under a fit to those on fewer."""
    from scipy.special import logsumexp

    tests, count = (*fewer.tests, *more.tests), len(fewer.tests)
    slopes, residual = _linear(fewer, more, model, seed)
    among, weights = _covariances(fewer, more, noise)
    covariance = among + slopes + np.zeros((len(weights), 1, 1))
    old, cross = covariance[:, :count, :count], covariance[:, :count, count:]
    factor = np.linalg.cholesky(old)
    scaled = np.linalg.solve(factor, np.broadcast_to(residual[:count, None], (*cross.shape[:2], 1)))
    diagonal = np.diagonal(factor, axis1=1, axis2=2)
    weights = weights - 0.5 * (scaled[..., 0] ** 2).sum(axis=1) - np.log(diagonal).sum(axis=1)
    best = np.argsort(-weights)[:_KEPT]
    gain = np.linalg.solve(old[best], cross[best])
    off = residual[count:] - np.einsum("hct,c->ht", gain, residual[:count])
    left = covariance[best, count:, count:] - np.swapaxes(gain, 1, 2) @ cross[best]
    doublings = np.log2(more.tests[0].nodes / tests[count - 1].nodes)
    usual = float(usual_beyond(model.name, np.array(doublings)))
    weights = weights[best] - logsumexp(weights[best])
    found = []
    for scale in _SCALES:
        factor = np.linalg.cholesky(left + scale**2 * usual)  # which all sizes share
        scaled = np.linalg.solve(factor, off[:, :, None])[:, :, 0]
        logs = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        found.append(logsumexp(weights - 0.5 * (scaled**2).sum(axis=1) - logs))
    return np.array(found)


def _linear(
    fewer: MeasuredCollective, more: MeasuredCollective, model: CollectiveModel, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Return what a fit to fewer nodes leaves uncertain, for the tests of both one after another.

    The covariance of the logarithms of times from the parameters, which have the spread of the box
    that they are searched in; and measured less fitted mean log times.
    """
    fit = pilot_fit(model, fewer.tests, fewer.medians, seed)
    box = fit.box()
    logs = np.log(fit.values)
    stepped = np.exp(np.vstack([logs, logs + _STEP * np.eye(len(logs))]))
    fitted = np.log(model.times(stepped, [*fewer.tests, *more.tests]))
    slopes = (fitted[1:] - fitted[0]).T / _STEP
    variances = np.log(box.high / box.low) ** 2 / 12.0  # of a uniform distribution
    measured = np.array([np.log(times).mean() for times in (*fewer.replicas, *more.replicas)])
    return (slopes * variances) @ slopes.T, measured - fitted[0]


def _covariances(
    fewer: MeasuredCollective, more: MeasuredCollective, noise: str
) -> tuple[FloatArray, FloatArray]:
    """Return covariances[h, tests, tests] of discrepancies and noise, and their log priors[h]."""
    replicas = fewer.to_replicas()
    chosen, s = as_noise_model(noise, replicas), replicas.statistics
    centre, spread = chosen.log_priors()[:, :2].T
    among = s.count.sum() - len(s.count)
    usual = float(np.exp(2 * centre[chosen.names.index("s")]))
    of_replicas = float(s.log_squares.sum()) / among if among and s.log_squares.any() else usual
    count = np.array([len(times) for times in (*fewer.replicas, *more.replicas)], np.float64)
    own = np.diag(of_replicas / count)
    if not chosen.has_discrepancy:
        return own[None], np.zeros(1)
    tau, length, share = (
        grid.ravel()
        for grid in np.meshgrid(
            _TAU, *((_LENGTH, _SHARE) if "length" in chosen.names else ([1.0], [1.0]))
        )
    )
    grids = {"tau": tau, "length": length, "share": share}
    priors = np.zeros(len(tau))
    for at, name in enumerate(chosen.names):
        if name in grids:
            priors -= 0.5 * ((np.log(grids[name]) - centre[at]) / spread[at]) ** 2
    columns = columns_of([*fewer.tests, *more.tests])
    placed = places({name: np.array(one, np.float64) for name, one in columns.items()}, replicas)
    near = np.exp(-0.5 * squared_distances(placed, placed) / length[:, None, None] ** 2)
    share = share[:, None, None]
    shared = (1.0 - share) * near + share * np.eye(len(count))
    return tau[:, None, None] ** 2 * shared + own, priors
