"""Sobol' indices: the share of a time's variance that each parameter causes.

Wilke et al., validation of SST/macro by Bayesian inference, equation (3), from the coefficients of
Legendre polynomials (Sudret 2008). As printed its denominator begins with the mean, k = 0, which
makes all indices nearly 0; the variance begins with k = 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.blas import one_thread
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.uq.designs import sobol_points
from workbench.uq.legendre import LegendreBasis, polynomial_values, rows_of, union
from workbench.uq.parameters import generator
from workbench.uq.surrogate import Surrogate, checked_runs, multi_indices

if TYPE_CHECKING:
    import pandas as pd

PROJECTION_POINTS = 4096  # 2048 and 8192 change indices of the paper's tests by 5e-8
FURTHER_DEGREES = 4  # 2 change nothing there, 0 changes indices by 6e-8
INTERVAL = (0.05, 0.95)  # 90 %, as the intervals of Wilke et al.
CONSTANT = 1e-12  # standard deviation beside the mean that is a rounding error
CORRELATED = 0.1
"""Rank correlation from which a share of the variance may be counted twice."""
LEAST_TO_CORRELATE = 8  # samples: chosen; of so few only a correlation of 0.82 is beyond chance
_BY_CHANCE = 0.01  # chosen: one warning in a hundred designs is false
_AS_FITTED = 1e-6  # relative difference of coefficients that rounding may cause


@dataclass(frozen=True, eq=False, repr=False)
class SobolIndices(StoredResult):
    """Shares of the variance of each test's time, with parameters uniform over the coordinates.

    All are nan for a test whose time does not depend on any parameter.

    Attributes:
        parameters: names, in the order of the axes.
        first: float64[tests, parameters], caused by one parameter alone.
        total: float64[tests, parameters], caused by one parameter alone and with others.
        second: float64[tests, parameters, parameters], caused by exactly these two together; the
            diagonal is 0.
        projected: bool[tests], where the surrogate is of the logarithm of the time, and its time
            was projected on polynomials first.
        first_interval: float64[2, tests, parameters], 5 % and 95 % quantiles of ``first`` over
            refits of the surrogate; None without refits.
        total_interval: float64[2, tests, parameters], the same of ``total``.
        correlated: pairs of parameters with their rank correlation among the samples, the strongest
            first, where it is beyond chance; the indices are not theirs then.
    """

    parameters: tuple[str, ...]
    first: FloatArray = field(metadata={"axes": 2})
    total: FloatArray = field(metadata={"axes": 2})
    second: FloatArray = field(metadata={"axes": 3})
    projected: NDArray[np.bool_]
    first_interval: FloatArray | None = field(default=None, metadata={"axes": 3})
    total_interval: FloatArray | None = field(default=None, metadata={"axes": 3})
    correlated: tuple[tuple[str, str, float], ...] = ()

    plot = Drawing("plot_sobol")

    @property
    def warning(self) -> str:
        """What is wrong with shares of the variance of these inputs, in a sentence, or nothing."""
        if not self.correlated:
            return ""
        a, b, correlation = self.correlated[0]
        others = len(self.correlated) - 1
        more = f", and {others} more pair{'s' * (others > 1)}" if others else ""
        return (
            f"inputs are correlated: {a} with {b} by {correlation:+.2f}{more}; Sobol' indices are "
            "of independent parameters, and do not share out the variance of these: use "
            "shapley_effects(surrogate, samples)"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a test and parameter: ``test``, ``parameter``, ``first``, ``total``.

        With refits also ``first_low``, ``first_high``, ``total_low`` and ``total_high``.
        """
        import pandas as pd

        tests = len(self.first)
        frame = pd.DataFrame(
            {
                "test": np.repeat(np.arange(tests), len(self.parameters)),
                "parameter": self.parameters * tests,
                "first": self.first.ravel(),
                "total": self.total.ravel(),
            }
        )
        for name, interval in (("first", self.first_interval), ("total", self.total_interval)):
            if interval is not None:
                frame[f"{name}_low"], frame[f"{name}_high"] = interval.reshape(2, -1)
        return frame

    def __repr__(self) -> str:
        varying = self.total[np.isfinite(self.total).all(axis=1)]
        warning = f"; WARNING: {self.warning}" if self.warning else ""
        if not len(varying):
            return f"SobolIndices({len(self.first)} tests; no time depends on a parameter{warning})"
        shares = zip(self.parameters, varying.mean(axis=0), strict=True)
        summary = ", ".join(f"{name} {share:.2f}" for name, share in shares)
        return f"SobolIndices({len(self.first)} tests; mean total indices: {summary}{warning})"


def sobol_indices(
    surrogate: Surrogate,
    points: ArrayLike | None = None,
    times: ArrayLike | None = None,
    refits: int = 0,
    seed: int = 0,
    samples: ArrayLike | None = None,
) -> SobolIndices:
    """Return the Sobol' indices of the times that a surrogate predicts.

    They follow from the coefficients, exactly, for parameters that are independent and uniform over
    the box's coordinates; for other distributions, such as a posterior's, see
    ``shapley_effects``. Where the surrogate is of the logarithm of the time, the time is evaluated
    at 4096 points or more of a Sobol' sequence and fitted by polynomials of up to 4 degrees more;
    the indices are those of the time, not of its logarithm.

    Intervals come from a wild bootstrap of the surrogate (Wu 1986): each refit has the same points
    and terms, and times that differ from the fitted ones by their leave-one-out residuals with
    random signs. They cover the error of the surrogate, not that of the simulator.

    Where two parameters of ``samples``, or without them of ``points``, have ranks that go together
    beyond chance, the result has a ``warning`` that names them. Dependence without correlation is
    not seen.

    Args:
        surrogate: of the tests.
        points: (n, parameters), what the surrogate was fitted to; needed with ``refits``.
        times: (n, tests), the same.
        refits: how many times to refit the surrogate for the intervals; 0 for none.
        seed: of the random signs.
        samples: (n, parameters), values that the parameters really have, such as a posterior's
            draws, ``posterior.sample(2000)[0]``; they are looked at for correlations only.

    Raises:
        ParameterError: points and times are missing or not those of the surrogate, or an argument
            is not accepted.
    """
    refits = whole(refits, "refits", 0)
    rng = generator(whole(seed, "seed", 0))
    if refits and (points is None or times is None):
        raise ParameterError(
            "points and times must be given for refits, those that the surrogate was fitted to; "
            "got none; give them or set refits=0",
            key="points" if points is None else "times",
        )
    with one_thread():
        projection = _Projection(surrogate)
        coefficients = [surrogate.coefficients]
        if points is not None and times is not None:
            coefficients += _refitted(surrogate, points, times, refits, rng)
        found = [_shares(projection.indices, projection.of_times(each)) for each in coefficients]
    first, total, second = found[0]
    quantiles = [
        np.quantile(np.array([each[order] for each in found[1:]]), INTERVAL, axis=0)
        for order in (0, 1)
        if refits
    ]
    given = points if samples is None else samples
    intervals = quantiles or (None, None)
    return SobolIndices(
        surrogate.box.names,
        first,
        total,
        second,
        surrogate.logarithmic,
        intervals[0],
        intervals[1],
        () if given is None else correlated_pairs(surrogate, given),
    )


def correlated_pairs(
    surrogate: Surrogate, samples: ArrayLike
) -> tuple[tuple[str, str, float], ...]:
    """Return the pairs of parameters whose ranks go together beyond chance, the strongest first.

    Beyond chance is a correlation of at least 0.1 that independent samples would have with a
    probability below 1 % for any pair (Fisher's transform, Bonferroni).
    """
    from scipy.stats import norm, rankdata

    values = surrogate.box.columns(samples, "samples")
    if values.ndim != 2 or len(values) < LEAST_TO_CORRELATE:
        return ()
    names = surrogate.box.names
    pairs = [(i, j) for j in range(len(names)) for i in range(j)]
    ranks = rankdata(values, axis=0)
    limit = norm.isf(0.5 * _BY_CHANCE / max(len(pairs), 1)) / math.sqrt(len(values) - 3)
    found = []
    for i, j in pairs:
        if np.ptp(ranks[:, i]) and np.ptp(ranks[:, j]):  # a fixed one goes with none
            r = float(np.corrcoef(ranks[:, i], ranks[:, j])[0, 1])
            if abs(r) >= max(CORRELATED, math.tanh(limit)):
                found.append((names[i], names[j], r))
    return tuple(sorted(found, key=lambda pair: -abs(pair[2])))


class _Projection:
    """The times of a surrogate as polynomials, where it is of their logarithms too."""

    def __init__(self, surrogate: Surrogate) -> None:
        self._terms, self._log = surrogate.indices, surrogate.logarithmic
        self.indices = self._terms
        if self._log.any():
            self.indices = _further_terms(self._terms)
            coordinates, self._basis = _basis(self.indices.tobytes(), len(surrogate.box))
            self._values = polynomial_values(coordinates, self._terms)
        self._rows = rows_of(self._terms, self.indices)

    def of_times(self, coefficients: FloatArray) -> FloatArray:
        """Return float64[terms, tests] of the times, from those of the surrogate."""
        found = np.zeros((len(self.indices), len(self._log)))
        found[self._rows] = np.where(self._log, 0.0, coefficients)
        if self._log.any():
            logarithms = self._values @ coefficients[:, self._log]
            found[:, self._log] = self._basis.coefficients(np.exp(logarithms))
        return found


# The same for every surrogate of a box, and 95 % of the time that indices of 7 parameters take.
@lru_cache(maxsize=1)
def _basis(terms: bytes, dimensions: int) -> tuple[FloatArray, LegendreBasis]:
    """Return the points of a projection, and the basis of its terms, int64[terms, dimensions]."""
    indices = np.frombuffer(terms, np.int64).reshape(-1, dimensions)
    least = max(PROJECTION_POINTS, 4 * len(indices))
    coordinates = sobol_points(dimensions, least, 0, 0)
    return coordinates, LegendreBasis.at(coordinates, indices)


def _further_terms(indices: IntArray) -> IntArray:
    """Return the terms and those of up to 4 degrees more, as far as the points determine them."""
    dimensions, degree = indices.shape[1], int(indices.sum(axis=1).max())
    for further in range(degree + FURTHER_DEGREES, degree, -1):
        if math.comb(dimensions + further, dimensions) <= PROJECTION_POINTS // 4:
            return union(indices, multi_indices(dimensions, further))
    return indices


def _refitted(
    surrogate: Surrogate,
    points: ArrayLike,
    times: ArrayLike,
    refits: int,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    """Yield coefficients[terms, tests] of surrogates of resampled times."""
    coordinates, found = checked_runs(surrogate.box, points, times)
    log = surrogate.logarithmic
    groups = []
    if found.shape[1] == surrogate.tests and (found[:, log] > 0).all():
        targets = found.copy()
        targets[:, log] = np.log(found[:, log])
        for choice in sorted(set(surrogate.chosen)):
            tests = np.flatnonzero([each == choice for each in surrogate.chosen])
            indices = multi_indices(len(surrogate.box), *choice)
            basis = LegendreBasis.at(coordinates, indices)
            cells = np.ix_(rows_of(indices, surrogate.indices), tests)
            same = basis.determined and np.allclose(
                basis.coefficients(targets[:, tests]),
                surrogate.coefficients[cells],
                rtol=_AS_FITTED,
                atol=_AS_FITTED * np.abs(targets[:, tests]).max(),
            )
            if same:
                groups.append((cells, basis, targets[:, tests]))
    if sum(len(target.T) for _, _, target in groups) < surrogate.tests:
        raise ParameterError(
            "points and times must be those that the surrogate was fitted to; got others, "
            f"{len(coordinates)} points of {found.shape[1]} tests",
            key="times",
        )
    coefficients = np.zeros_like(surrogate.coefficients)
    prepared = [(cells, b, b.fitted(target), b.left_out(target)) for cells, b, target in groups]
    for _ in range(refits):
        # One sign for all tests of a point: their errors go together.
        signs = rng.choice([-1.0, 1.0], len(coordinates))[:, None]
        for cells, basis, fitted, left_out in prepared:
            coefficients[cells] = basis.coefficients(fitted + signs * left_out)
        yield coefficients.copy()


def _shares(indices: IntArray, coefficients: FloatArray) -> tuple[FloatArray, ...]:
    """Return first-order and total indices[tests, parameters], pairs[tests, parameters, same]."""
    involved = (indices > 0).astype(np.float64)
    order = involved.sum(axis=1)
    # The mean square of P_n over -1 to 1 is 1 / (2n + 1).
    variances = coefficients**2 / (2 * indices + 1).prod(axis=1)[:, None]
    mean_square = variances[order == 0].sum(axis=0)
    variances = variances[order > 0]
    involved, order = involved[order > 0], order[order > 0]
    whole_variance = variances.sum(axis=0)
    varies = whole_variance > CONSTANT**2 * mean_square
    shares = (variances / np.where(varies, whole_variance, np.nan)).T  # [tests, terms]
    first = shares[:, order == 1] @ involved[order == 1]
    pairs = involved[order == 2]
    second = np.einsum("nt,ti,tj->nij", shares[:, order == 2], pairs, pairs)
    second *= 1 - np.eye(indices.shape[1])
    return first, shares @ involved, second
