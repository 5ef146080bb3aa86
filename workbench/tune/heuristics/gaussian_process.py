"""A small Gaussian process with noise, for the few hundred configurations of an experiment.

Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), sections 2.2, 4.2.1 and
5.4.1. A kernel of its own, as these things come together here that a general library keeps apart:
one length scale a parameter, however many columns its code has; noise that shrinks with the number
of repeats of each configuration, and is estimated from them; and a part that belongs to each
configuration alone. The last one is what real components need: a radix of 4 may be far better than
3 and 5, and what is no noise must not be smoothed away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.tune.history import FloatArray

_ROOT5 = math.sqrt(5.0)
_JITTER = 1e-8  # a hundredth of the least noise of one run; 1e-10 to 1e-4 led to equal proposals
_STEPS = 60  # L-BFGS-B needed 6 to 13 for 20 to 150 configurations of six parameters
# Centre and standard deviation of the prior of each kind of logarithm, and its bounds. Wide ones:
# they decide where a handful of runs cannot.
_LENGTH = (math.log(0.4), 0.8, math.log(0.05), math.log(20.0))
_SIGNAL = (0.0, 1.0, math.log(0.05), math.log(20.0))
_OWN = (math.log(1e-2), 2.0, math.log(1e-6), 0.0)
_NOISE = (math.log(1e-2), 2.0, math.log(1e-6), 0.0)


@dataclass(frozen=True)
class Hyperparameters:
    """The kernel's hyperparameters, for values of variance about 1."""

    lengths: FloatArray  # (parameters,), distance over which values are alike; 1: a whole axis
    signal: float  # variance of the smooth part
    own: float  # variance of each configuration's own part
    noise: float  # variance of one run


@dataclass(frozen=True)
class Repeats:
    """Deviations between runs of the same configurations: a measure of the noise."""

    freedom: int = 0  # runs beyond the first of each configuration
    squares: float = 0.0  # sum of squared deviations from each configuration's mean


class GaussianProcess:
    """A Gaussian process of mean zero with a Matérn 5/2 kernel, for standardised values."""

    def __init__(
        self,
        codes: FloatArray,  # (n, columns), in the unit cube
        values: FloatArray,  # (n,)
        variances: FloatArray,  # (n,), each value's share of the noise, 1 / its runs
        parameters: NDArray[np.int64],  # (columns,), parameter of each column, ascending from 0
        repeats: Repeats | None = None,
        hyperparameters: Hyperparameters | None = None,  # None: the most probable
    ) -> None:
        from scipy.linalg import cholesky

        self._parameters = parameters
        self.hyperparameters = hyperparameters or _most_probable(
            _squares(codes, parameters), values, variances, repeats or Repeats()
        )
        theta = self.hyperparameters
        self._scaled = codes / theta.lengths[parameters]
        self._numbers: dict[bytes, int] = {}
        for row in codes:
            self._numbers.setdefault(row.tobytes(), len(self._numbers))
        self._which = self._known(codes)
        covariance = self._covariance(codes)
        covariance[np.diag_indices_from(covariance)] += theta.noise * variances + _JITTER
        self._root = cholesky(covariance, lower=True, check_finite=False)
        self.update(values)

    def update(self, values: FloatArray) -> None:
        """Replace the values, float64[n], at the same places."""
        from scipy.linalg import cho_solve

        self._weights = cho_solve((self._root, True), values, check_finite=False)

    def predict(self, codes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and noise-free deviation at ``codes`` (m, columns), float64[m] each."""
        from scipy.linalg import solve_triangular

        theta = self.hyperparameters
        across = self._covariance(codes)
        known = solve_triangular(self._root, across.T, lower=True, check_finite=False)
        variance = theta.signal + theta.own - np.square(known).sum(axis=0)
        return across @ self._weights, np.sqrt(np.maximum(variance, 1e-12))

    def _covariance(self, codes: FloatArray) -> FloatArray:
        """Return the covariance with the values at the known places, float64[m, n]."""
        theta = self.hyperparameters
        scaled = codes / theta.lengths[self._parameters]
        same = self._known(codes)[:, None] == self._which
        alike = theta.signal * _matern(_distances(scaled, self._scaled))
        found: FloatArray = alike + theta.own * same
        return found

    def _known(self, codes: FloatArray) -> NDArray[np.int64]:
        """Return the index of the known place of each code, int64[m]; -1 for a new place."""
        codes = np.ascontiguousarray(codes)
        return np.array([self._numbers.get(row.tobytes(), -1) for row in codes], np.int64)


def log_posterior(
    logarithms: FloatArray,  # (parameters + 3,), of lengths, signal, own, noise
    squares: FloatArray,  # (parameters, n, n), squared distances; no two places are equal
    values: FloatArray,  # (n,)
    variances: FloatArray,  # (n,), each value's share of the noise
    repeats: Repeats,
) -> tuple[float, FloatArray]:
    """Return the log posterior of the hyperparameters, up to a constant, and its gradient.

    Equations 2.30 and 5.9 of Rasmussen and Williams, plus the chi-squared density of the repeats'
    deviations and normal priors on the logarithms.
    """
    from scipy.linalg import cho_solve, cholesky

    count, n, _ = squares.shape
    inverse = np.exp(-2.0 * logarithms[:count])
    signal, own, noise = np.exp(logarithms[count:])
    r = np.sqrt(np.tensordot(inverse, squares, axes=1))
    decay = np.exp(-_ROOT5 * r)
    kernel = signal * (1.0 + _ROOT5 * r + (5.0 / 3.0) * r * r) * decay
    covariance = kernel.copy()
    covariance[np.diag_indices(n)] += own + noise * variances + _JITTER
    root = cholesky(covariance, lower=True, check_finite=False)
    precision = cho_solve((root, True), np.eye(n), check_finite=False)
    weights = precision @ values
    outer = np.outer(weights, weights) - precision
    # d kernel / d log length along a parameter is slope * squares / length^2.
    slope = (5.0 / 3.0) * signal * (1.0 + _ROOT5 * r) * decay
    along = squares.reshape(count, -1) @ (outer * slope).ravel()
    diagonal = np.diag(outer)
    last = [np.vdot(outer, kernel), own * diagonal.sum(), noise * (diagonal @ variances)]
    gradient = 0.5 * np.concatenate([along * inverse, last])
    found = -0.5 * float(values @ weights) - float(np.log(np.diag(root)).sum())
    deviation = repeats.squares / noise
    found -= 0.5 * (repeats.freedom * float(logarithms[-1]) + deviation)
    gradient[-1] += 0.5 * (deviation - repeats.freedom)
    centres, widths, _, _ = _priors(count)
    off = (logarithms - centres) / widths
    return found - 0.5 * float(off @ off), gradient - off / widths


def _most_probable(
    squares: FloatArray, values: FloatArray, variances: FloatArray, repeats: Repeats
) -> Hyperparameters:
    from scipy.optimize import minimize

    count = len(squares)
    centres, _, lows, highs = _priors(count)

    def objective(logarithms: FloatArray) -> tuple[float, FloatArray]:
        found, gradient = log_posterior(logarithms, squares, values, variances, repeats)
        return -found, -gradient

    result = minimize(
        objective,
        centres,
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack([lows, highs]),
        options={"maxiter": _STEPS, "ftol": 1e-4, "gtol": 1e-3},
    )
    return _from_logarithms(result.x)


def typical(count: int) -> Hyperparameters:
    """Return the prior's centre for ``count`` parameters, for too few known losses."""
    return _from_logarithms(_priors(count)[0])


def _from_logarithms(logarithms: FloatArray) -> Hyperparameters:
    *lengths, signal, own, noise = np.exp(logarithms)
    return Hyperparameters(np.array(lengths), float(signal), float(own), float(noise))


def _priors(count: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    rows = np.array([_LENGTH] * count + [_SIGNAL, _OWN, _NOISE])
    return rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3]


def _squares(codes: FloatArray, parameters: NDArray[np.int64]) -> FloatArray:
    """Return squared distances along each parameter, float64[parameters, n, n]."""
    found = np.zeros((int(parameters[-1]) + 1, len(codes), len(codes)))
    for column, parameter in enumerate(parameters):
        found[parameter] += np.square(codes[:, None, column] - codes[None, :, column])
    return found


def _distances(a: FloatArray, b: FloatArray) -> FloatArray:
    squares = np.square(a).sum(axis=1)[:, None] + np.square(b).sum(axis=1) - 2.0 * a @ b.T
    found: FloatArray = np.sqrt(np.maximum(squares, 0.0))
    return found


def _matern(r: FloatArray) -> FloatArray:
    found: FloatArray = (1.0 + _ROOT5 * r + (5.0 / 3.0) * r * r) * np.exp(-_ROOT5 * r)
    return found
