"""Adaptive Metropolis: a Markov chain that learns the covariance of its proposals in burn-in.

The covariance of the steps is that of the points so far (Haario, Saksman and Tamminen 2001), their
scale follows the acceptance rate (Robbins and Monro 1951; Andrieu and Thoms 2008). What was seen
at 1/8, 1/4 and 1/2 of the burn-in is forgotten, since the way to the mode says nothing of the
spread around it. After the burn-in neither is changed, so that the draws are of one Markov chain.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import helper, kernel
from kernels.uq.likelihood import Data, log_likelihood
from kernels.uq.polynomials import evaluate

# Real scalars of a chain.
LOG_DENSITY, LOG_SCALE = range(2)
N_REAL = 2  # the cells above
# Whole ones: steps in all, accepted after the burn-in; steps and accepted since points were last
# forgotten; steps since the scale was last set.
STEPS, ACCEPTED, SEEN, SEEN_ACCEPTED, SCALED = range(5)
N_WHOLE = 5  # the cells above

CENTRE, SPREAD, LOW, HIGH = range(4)
"""Columns of a hyper-parameter's prior, all of its logarithm."""

# Chosen: of the burn-in, from one covariance of the proposals to the next.
STEPS_BETWEEN_FACTORS = 50
FIRST_STEP = 0.1
"""Standard deviation of the first proposals, in coordinates of which a range is 2 long."""
_RATE = 0.6  # chosen: above 1/2 and at most 1, so that scales converge (Robbins and Monro 1951)
_JITTER = 1e-10  # the square of steps that are small in every posterior of interest


class Target(NamedTuple):
    """The posterior density: surrogate, noise model, data and priors.

    Attributes:
        indices: int64[terms, parameters], degrees of the surrogate's terms.
        coefficients: float64[terms, tests].
        logarithmic: bool[tests], where the surrogate is of the logarithm of the time.
        model: of ``likelihood``.
        data: of ``likelihood``.
        free: int64[dimensions], which coordinates are sampled: parameters, then hyper-parameters.
        fixed: float64[parameters + hyper-parameters], the coordinates of those that are not;
            parameters in units of half their range, logarithms of hyper-parameters.
        priors: float64[parameters, nodes], log priors of each parameter at equal distances from
            coordinate -1 to 1, an odd number of them.
        hyper_priors: float64[hyper-parameters, 4], normal in the logarithm, within bounds.
    """

    indices: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    logarithmic: NDArray[np.bool_]
    model: int
    data: Data
    free: NDArray[np.int64]
    fixed: NDArray[np.float64]
    priors: NDArray[np.float64]
    hyper_priors: NDArray[np.float64]


class Chain(NamedTuple):
    """The state of a chain, changed by each step.

    Attributes:
        point: float64[dimensions].
        real: float64[N_REAL].
        whole: int64[N_WHOLE].
        mean: float64[dimensions], of the points since they were last forgotten.
        moments: float64[dimensions, dimensions], their summed products of deviations.
        factor: float64[dimensions, dimensions], Cholesky's factor of the proposals' covariance,
            of which the lower half is used.
        times: float64[tests], predicted at the point, seconds.
    """

    point: NDArray[np.float64]
    real: NDArray[np.float64]
    whole: NDArray[np.int64]
    mean: NDArray[np.float64]
    moments: NDArray[np.float64]
    factor: NDArray[np.float64]
    times: NDArray[np.float64]


class Scratch(NamedTuple):
    """Arrays that a density is computed in; one for each thread."""

    coordinates: NDArray[np.float64]
    hyper: NDArray[np.float64]
    workspace: NDArray[np.float64]
    times: NDArray[np.float64]
    matrix: NDArray[np.float64]


@helper
def tabulated(table, coordinate):
    """Return a log prior between the nodes of its table, by the parabola through three of them.

    A prior that is uniform or normal in the coordinate is met exactly.
    """
    cells = (len(table) - 1) // 2
    place = 0.5 * (coordinate + 1.0) * cells
    cell = min(int(place), cells - 1)
    t = 2.0 * (place - cell) - 1.0
    left, middle, right = table[2 * cell], table[2 * cell + 1], table[2 * cell + 2]
    if left == middle == right:
        return middle
    return middle + 0.5 * t * (right - left) + 0.5 * t * t * (left - 2.0 * middle + right)


@helper
def density(target, point, scratch):
    """Return the log posterior density at a point, up to a constant; the times go to scratch."""
    parameters = len(scratch.coordinates)
    for i in range(parameters):
        scratch.coordinates[i] = target.fixed[i]
    for i in range(len(scratch.hyper)):
        scratch.hyper[i] = target.fixed[parameters + i]
    for i in range(len(target.free)):
        place = target.free[i]
        if place < parameters:
            scratch.coordinates[place] = point[i]
        else:
            scratch.hyper[place - parameters] = point[i]
    total = 0.0
    for i in range(parameters):
        coordinate = scratch.coordinates[i]
        if not -1.0 <= coordinate <= 1.0:
            return -math.inf
        total += tabulated(target.priors[i], coordinate)
    for i in range(len(scratch.hyper)):
        value = scratch.hyper[i]
        if not target.hyper_priors[i, LOW] <= value <= target.hyper_priors[i, HIGH]:
            return -math.inf
        off = (value - target.hyper_priors[i, CENTRE]) / target.hyper_priors[i, SPREAD]
        total -= 0.5 * off * off
        scratch.hyper[i] = math.exp(value)
    evaluate(
        scratch.coordinates,
        target.indices,
        target.coefficients,
        target.logarithmic,
        scratch.workspace,
        scratch.times,
    )
    total += log_likelihood(target.model, scratch.times, scratch.hyper, target.data, scratch.matrix)
    return -math.inf if math.isnan(total) else total


@helper
def move_to(chain, point, log_density, times):
    """Put a chain at a point."""
    for i in range(len(point)):
        chain.point[i] = point[i]
    for n in range(len(times)):
        chain.times[n] = times[n]
    chain.real[LOG_DENSITY] = log_density


@helper
def begin(target, candidates, chain, scratch):
    """Begin a chain at the candidate of the highest density."""
    dimensions = len(chain.point)
    for i in range(dimensions):
        chain.factor[i, i] = FIRST_STEP
    chain.real[LOG_SCALE] = math.log(2.38 / math.sqrt(dimensions))
    chain.real[LOG_DENSITY] = -math.inf
    for number in range(len(candidates)):
        log_density = density(target, candidates[number], scratch)
        if log_density > chain.real[LOG_DENSITY]:
            move_to(chain, candidates[number], log_density, scratch.times)


@helper
def include(chain):
    """Add the chain's point to the mean and the moments of those it has seen."""
    seen = chain.whole[SEEN] + 1
    chain.whole[SEEN] = seen
    dimensions = len(chain.point)
    # Welford's update: the deviation from the mean before, times that from the mean after.
    for i in range(dimensions):
        before = chain.point[i] - chain.mean[i]
        chain.mean[i] += before / seen
        for j in range(i + 1):
            after = chain.point[j] - chain.mean[j]
            chain.moments[i, j] += before * after


@helper
def forget(chain):
    """Forget the points that the chain has seen; the proposals stay as they are."""
    chain.whole[SEEN] = chain.whole[SEEN_ACCEPTED] = 0
    chain.mean[:] = 0.0
    chain.moments[:] = 0.0


@helper
def propose_as_seen(chain):
    """Give the proposals the covariance of the points seen, if enough of them are distinct."""
    dimensions = len(chain.point)
    if chain.whole[SEEN_ACCEPTED] < 10 * dimensions:
        return
    factor, freedom = chain.factor, chain.whole[SEEN] - 1.0
    for i in range(dimensions):
        for j in range(i + 1):
            value = chain.moments[i, j] / freedom
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            if j < i:
                factor[i, j] = value / factor[j, j]
            else:
                factor[i, i] = math.sqrt(max(value, 0.0) + _JITTER)
    if chain.whole[SCALED] >= chain.whole[SEEN]:
        chain.real[LOG_SCALE] = math.log(2.38 / math.sqrt(dimensions))
        chain.whole[SCALED] = 0


@helper
def adapt(chain, acceptance, burn_in):
    """Adapt scale and covariance of the proposals after a step of the burn-in."""
    target = 0.234 + 0.206 / len(chain.point)
    chain.whole[SCALED] += 1
    chain.real[LOG_SCALE] += (acceptance - target) * chain.whole[SCALED] ** -_RATE
    include(chain)
    step = chain.whole[STEPS]
    if step == burn_in or chain.whole[SEEN] % STEPS_BETWEEN_FACTORS == 0:
        propose_as_seen(chain)
    if step == burn_in // 8 or step == burn_in // 4 or step == burn_in // 2:
        forget(chain)


@kernel(cache=True, nogil=True)
def advance(
    target,
    chain,
    candidates,
    burn_in,
    normals,
    log_uniforms,
    points,
    log_densities,
    times,
    scratch,
):
    """Take as many steps as there are rows of ``normals``, a multiple of those of ``points``.

    Return whether it could: before the first step the chain is put at a candidate, and one of
    these must have a density above 0.

    Args:
        target: ``Target``.
        chain: ``Chain``, changed; all 0 before the first step.
        candidates: float64[candidates, dimensions], where the chain may begin; used once.
        burn_in: steps from the start in which the proposals adapt.
        normals: float64[steps, dimensions], standard normal variates.
        log_uniforms: float64[steps], logarithms of uniform variates.
        points: float64[draws, dimensions], out: the points at equal numbers of steps.
        log_densities: float64[draws], out.
        times: float64[draws, tests], out: predicted at each point, seconds.
        scratch: ``Scratch``, overwritten.
    """
    if chain.whole[STEPS] == 0:
        begin(target, candidates, chain, scratch)
    if chain.real[LOG_DENSITY] == -math.inf:
        return False
    dimensions = len(chain.point)
    thin = len(normals) // len(points)
    proposed = np.empty(dimensions)
    for step in range(len(normals)):
        scale = math.exp(chain.real[LOG_SCALE])
        for i in range(dimensions):
            change = 0.0
            for j in range(i + 1):
                change += chain.factor[i, j] * normals[step, j]
            proposed[i] = chain.point[i] + scale * change
        log_density = density(target, proposed, scratch)
        gain = log_density - chain.real[LOG_DENSITY]
        accepted = log_uniforms[step] < gain
        if accepted:
            move_to(chain, proposed, log_density, scratch.times)
        chain.whole[STEPS] += 1
        if chain.whole[STEPS] <= burn_in:
            chain.whole[SEEN_ACCEPTED] += accepted
            adapt(chain, math.exp(min(gain, 0.0)), burn_in)
        else:
            chain.whole[ACCEPTED] += accepted
        if (step + 1) % thin == 0:
            row = step // thin
            for i in range(dimensions):
                points[row, i] = chain.point[i]
            for n in range(len(chain.times)):
                times[row, n] = chain.times[n]
            log_densities[row] = chain.real[LOG_DENSITY]
    return True
