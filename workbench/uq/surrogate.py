"""Surrogates: polynomials in the parameters that stand for a simulator's times.

    points = design(box, 216)
    surrogate = fit_surrogate(box, points, simulate(points))
    surrogate.predict(values), surrogate.holdout_error(others, simulate(others))

A calibration's Markov chain needs hundreds of thousands of times, one after another, and one run
of SST/macro takes 5 to 60 minutes; a polynomial takes a microsecond. The basis is multivariate
Legendre polynomials of the coordinates, the polynomial chaos of uniform inputs (Xiu and
Karniadakis 2002), as in the validation of SST/macro (Wilke et al.).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from kernels.uq import polynomials
from workbench.arrays import BoolArray, FloatArray, IntArray
from workbench.blas import one_thread
from workbench.checks import number, whole
from workbench.errors import ParameterError
from workbench.result import StoredResult, Uncertainty
from workbench.suggestions import did_you_mean
from workbench.uq.legendre import LegendreBasis, rows_of, union
from workbench.uq.parameters import ParameterBox

if TYPE_CHECKING:
    import pandas as pd

Transform = Literal["auto", "none", "log"]
TRANSFORMS: tuple[str, ...] = get_args(Transform)

DEFAULT_DEGREES = (1, 2, 3, 4, 5)  # 0.03 % off in shipped designs of 120 points, as up to 3 or 7
DEFAULT_HYPERBOLIC = (1.0, 0.75, 0.5)  # 1.0 alone is 0.12 % off there
POINTS_PER_TERM = 1.5  # 1.05 is as near there, 3 is 0.05 % off
EXACT = 0.01
"""Relative error of a surrogate that is good enough, as Wilke et al. have it."""
MOST_TERMS = 20_000  # chosen: at the 30,000 points that these need they are a matrix of 4.8 GB

_Runs = tuple[FloatArray, FloatArray]
_OUTSIDE = 1e-9  # how far a coordinate may leave -1 to 1 by rounding
_EXACT = 1e-12  # relative error below which fewer terms count for more than less error


@dataclass(frozen=True, eq=False)
class HoldoutError:
    """Relative errors of a surrogate at points that it was not fitted to.

    Attributes:
        maximum: float64[tests], the largest of each test.
        rms: float64[tests], the root of the mean square.
        worst: float64[tests, parameters], values of the parameters where the largest is; None if
            they were not kept.
    """

    maximum: FloatArray
    rms: FloatArray
    worst: FloatArray | None = field(default=None, metadata={"axes": 2})

    def above(self, target: float = EXACT) -> IntArray:
        """Return the numbers of the tests whose largest error is above a target, the worst first.

        Args:
            target: relative error; 0.01 is 1 %.
        """
        order = np.argsort(-self.maximum, kind="stable")
        return np.asarray(order[self.maximum[order] > target], np.int64)

    def verdict(self, tests: Sequence[str] | None = None, target: float = EXACT) -> str:
        """Return a sentence: whether all tests are within a target, and which are not.

        Args:
            tests: label of each test; its number by default.
            target: relative error; 0.01 is 1 %.
        """
        beyond, count = self.above(target), len(self.maximum)
        if not len(beyond):
            return (
                f"within {100 * target:g} % on all {count} tests: at most "
                f"{100 * self.maximum.max(initial=0.0):.2g} % off"
            )
        named = [
            f"{f'test {at}' if tests is None else tests[at]} {100 * self.maximum[at]:.2g} %"
            for at in beyond[:3].tolist()
        ]
        others = len(beyond) - len(named)
        more = f" and {others} more" if others else ""
        return (
            f"above {100 * target:g} % on {len(beyond)} of {count} tests: {', '.join(named)}{more}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Surrogate(StoredResult):
    """Legendre polynomials that predict the times of several tests within a box.

    Attributes:
        box: the parameters, and between which bounds the surrogate holds.
        indices: int64[terms, parameters], degree of each term in each parameter; the first row is
            the constant.
        coefficients: float64[terms, tests], in seconds; without unit where ``logarithmic``.
        logarithmic: bool[tests], where the polynomial is of the logarithm of the time.
        loo_error: float64[tests], leave-one-out error, relative root mean square.
        chosen: degree and q of the terms that each test uses, one pair a test.
        points: how many points it was fitted to.
    """

    box: ParameterBox
    indices: IntArray = field(metadata={"axes": 2})
    coefficients: FloatArray = field(metadata={"axes": 2})
    logarithmic: BoolArray
    loo_error: FloatArray
    chosen: tuple[tuple[int, float], ...]
    points: int

    worst_slice = Uncertainty("worst_slice")

    def __post_init__(self) -> None:
        tests = len(self.logarithmic)
        shapes = {
            "indices": (self.indices.shape, (len(self.coefficients), len(self.box))),
            "coefficients": (self.coefficients.shape, (len(self.indices), tests)),
            "loo_error": (self.loo_error.shape, (tests,)),
            "chosen": ((len(self.chosen),), (tests,)),
        }
        for name, (got, wanted) in shapes.items():
            if got != wanted:
                raise ParameterError(
                    f"{name} must have the shape {wanted} for {len(self.box)} parameters and "
                    f"{tests} tests; got {got}",
                    key=name,
                )

    @property
    def tests(self) -> int:
        """Number of tests."""
        return len(self.logarithmic)

    @property
    def degree(self) -> int:
        """The highest degree of a term in one parameter."""
        return int(self.indices.max(initial=0))

    def predict(self, values: ArrayLike) -> FloatArray:
        """Return the predicted times in seconds.

        Args:
            values: (..., parameters), within the box.

        Returns:
            float64[..., tests].

        Raises:
            ParameterError: the last axis has another length, or a value is outside the box.
        """
        return self.predict_unit(self.box.to_unit(values))

    def predict_unit(self, coordinates: ArrayLike) -> FloatArray:
        """Return the predicted times in seconds at coordinates of the box.

        Args:
            coordinates: (..., parameters), from -1 to 1.

        Returns:
            float64[..., tests].

        Raises:
            ParameterError: the last axis has another length, or a coordinate is outside.
        """
        x = self.box.columns(coordinates, "coordinates")
        _check_inside(self.box, x)
        flat = np.ascontiguousarray(x.reshape(-1, len(self.box)))
        out = np.empty((len(flat), self.tests))
        polynomials.predict_many(
            flat, self.indices, self.coefficients, self.logarithmic, self.degree, out
        )
        return out.reshape(*x.shape[:-1], self.tests)

    def holdout_error(self, points: ArrayLike, times: ArrayLike) -> HoldoutError:
        """Return the relative errors at points that the surrogate was not fitted to.

        Relative to each time; to the root mean square of a test's outputs where not all of them
        are above 0.

        Args:
            points: (n, parameters), values within the box.
            times: (n, tests), what the simulator gives there, seconds.

        Raises:
            ParameterError: the shapes do not fit, a time is not finite, or a value is outside.
        """
        x, found = checked_runs(self.box, points, times)
        if found.shape[1] != self.tests:
            raise ParameterError(
                f"times must have a column for each of the {self.tests} tests; got "
                f"{found.shape[1]}",
                key="times",
            )
        errors = np.abs(self.predict_unit(x) - found) / _scale(found)
        worst = self.box.from_unit(x[errors.argmax(axis=0)])
        return HoldoutError(errors.max(axis=0), np.sqrt((errors**2).mean(axis=0)), worst)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a test: ``test``, ``degree``, ``q``, ``transform``, ``loo_error``."""
        import pandas as pd

        return pd.DataFrame(
            {
                "test": np.arange(self.tests),
                "degree": [degree for degree, _ in self.chosen],
                "q": [q for _, q in self.chosen],
                "transform": np.where(self.logarithmic, "log", "none"),
                "loo_error": self.loo_error,
            }
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Surrogate:
        """Return the surrogate that ``to_dict`` described.

        Args:
            values: the attributes by name, arrays as lists.

        Raises:
            ParameterError: an attribute is missing, or they do not fit one another.
        """
        try:
            box = ParameterBox.from_dict(values["box"])
            return cls(
                box,
                np.array(values["indices"], np.int64).reshape(-1, len(box)),
                np.array(values["coefficients"], np.float64),
                np.array(values["logarithmic"], np.bool_),
                np.array(values["loo_error"], np.float64),
                tuple((int(degree), float(q)) for degree, q in values["chosen"]),
                whole(values["points"], "points", 0),
            )
        except ParameterError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ParameterError(
                f"a surrogate must have all its attributes, arrays as lists: {error!r}"
            ) from error

    def __repr__(self) -> str:
        errors = (
            f", leave-one-out error {100 * self.loo_error.min():.2g} to "
            f"{100 * self.loo_error.max():.2g} %"
            if self.tests
            else ""
        )
        return (
            f"Surrogate({', '.join(self.box.names)}; {self.tests} tests, {len(self.indices)} "
            f"terms, {self.points} points{errors})"
        )


def multi_indices(dimensions: int, degree: int, q: float = 1.0) -> IntArray:
    """Return the degrees of a basis in each dimension: those whose q-norm is at most ``degree``.

    With q = 1 the terms of total degree; a smaller q leaves out interactions of high degree, and
    keeps the powers of single parameters (hyperbolic truncation; Blatman and Sudret 2011).

    Args:
        dimensions: number of parameters.
        degree: the highest in one parameter.
        q: from 0.05 to 1.

    Returns:
        int64[terms, dimensions] by rising total degree; the first row is the constant.

    Raises:
        ParameterError: an argument is not accepted, or there would be more than 20,000 terms.
    """
    dimensions, degree = whole(dimensions, "dimensions", 1), whole(degree, "degree", 0)
    q = number(q, "q", 0.05, 1)
    bound = degree**q * (1 + 1e-9)  # sums of powers of q are rounded
    rows: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for _ in range(dimensions):
        rows = [
            ((*row, n), used + n**q)
            for row, used in rows
            for n in range(degree + 1)
            if used + n**q <= bound
        ]
        if len(rows) > MOST_TERMS:
            raise ParameterError(
                f"a basis must have at most {MOST_TERMS} terms; degree {degree} and q={q:g} in "
                f"{dimensions} dimensions have more; lower degree or q",
                key="degree",
            )
    return union(np.array([row for row, _ in rows], np.int64))


def fit_surrogate(
    box: ParameterBox,
    points: ArrayLike,
    times: ArrayLike,
    *,
    degrees: Sequence[int] = DEFAULT_DEGREES,
    hyperbolic: Sequence[float] = DEFAULT_HYPERBOLIC,
    transform: Transform = "auto",
) -> Surrogate:
    """Fit polynomials to a simulator's times by least squares, one for each test.

    The terms and the transform of each test are those of the least leave-one-out error among the
    bases with at most two terms for three points. The error is relative to each time, or to the
    root mean square of a test's outputs where not all are above 0; it is exact, from the leverages
    (Allen 1974), without fitting again.

    Args:
        box: the parameters.
        points: (n, parameters), values within the box, such as those of ``design``.
        times: (n, tests), what the simulator gave there, seconds.
        degrees: those to choose from.
        hyperbolic: values of q to choose from; see ``multi_indices``.
        transform: ``log`` fits logarithms, which suits times that vary by orders of magnitude;
            ``none`` the times themselves; ``auto`` chooses, where all times are above 0.

    Raises:
        ParameterError: the shapes do not fit, a time is not finite or has no logarithm, a point is
            outside the box, or there are too few different points for the lowest degree.
    """
    if transform not in TRANSFORMS:
        raise ParameterError(
            f"transform must be one of {', '.join(TRANSFORMS)}; got {transform!r}"
            f"{did_you_mean(transform, TRANSFORMS)}",
            key="transform",
        )
    x, found = checked_runs(box, points, times)
    if transform == "log" and (found <= 0).any():
        row, test = np.argwhere(found <= 0)[0]
        raise ParameterError(
            f"times must be above 0 for transform='log'; row {row}, test {test} is "
            f"{found[row, test]:g}; choose auto",
            key="times",
        )
    with one_thread():
        options = _options(box, x, found, degrees, hyperbolic, transform)
        # Up to rounding, fewer terms and no transform are better; they come first.
        picked = np.maximum([option.errors for option in options], _EXACT).argmin(axis=0)
        indices = union(*(options[n].basis.indices for n in np.unique(picked)))
        coefficients = np.zeros((len(indices), found.shape[1]))
        for n in np.unique(picked):
            basis, logarithmic = options[n].basis, options[n].logarithmic
            tests = np.flatnonzero(picked == n)
            targets = np.log(found[:, tests]) if logarithmic else found[:, tests]
            rows = rows_of(basis.indices, indices)
            coefficients[np.ix_(rows, tests)] = basis.coefficients(targets)
    return Surrogate(
        box,
        indices,
        coefficients,
        np.array([options[n].logarithmic for n in picked]),
        np.array([options[n].errors[test] for test, n in enumerate(picked)]),
        tuple(options[n].choice for n in picked),
        len(x),
    )


def checked_runs(box: ParameterBox, points: ArrayLike, times: ArrayLike) -> _Runs:
    """Return the coordinates of a simulator's runs, and their times, which are all finite."""
    values, found = np.asarray(points, np.float64), np.asarray(times, np.float64)
    if values.ndim != 2 or found.ndim != 2 or not found.size or len(values) != len(found):
        raise ParameterError(
            "points and times must have a row for each run, times a column for each test; got "
            f"arrays of shapes {values.shape} and {found.shape}",
            key="times",
        )
    if not np.isfinite(found).all():
        row, test = np.argwhere(~np.isfinite(found))[0]
        raise ParameterError(
            f"times must be finite; row {row}, test {test} is {found[row, test]}; leave that row "
            "of points and times out, or run it again",
            key="times",
        )
    coordinates = box.to_unit(values)
    _check_inside(box, coordinates)
    return coordinates, found


def _check_inside(box: ParameterBox, coordinates: FloatArray) -> None:
    """Raise ParameterError where coordinates are not those of points in the box."""
    inside = np.abs(coordinates) <= 1 + _OUTSIDE
    if not inside.all():
        at = np.argwhere(~inside)[0]
        parameter = box.parameters[at[-1]]
        got = box.from_unit(coordinates[tuple(at[:-1])])[at[-1]]
        row = f" in row {at[0]}" if len(at) == 2 else ""
        raise ParameterError(
            f"{parameter.key} must be from {parameter.low:g} to {parameter.text(parameter.high)}, "
            f"the bounds of the box; got {parameter.text(got)}{row}; fit a surrogate in a wider "
            "box",
            key=parameter.key,
        )


@dataclass(frozen=True, eq=False)
class _Option:
    """A basis and a transform, with the leave-one-out error of each test."""

    basis: LegendreBasis
    logarithmic: bool
    choice: tuple[int, float]
    errors: FloatArray


def _options(
    box: ParameterBox,
    coordinates: FloatArray,
    times: FloatArray,
    degrees: Sequence[int],
    hyperbolic: Sequence[float],
    transform: Transform,
) -> list[_Option]:
    """Return the bases and transforms to choose from, those with few terms first."""
    most = len(coordinates) / POINTS_PER_TERM
    sets: dict[bytes, tuple[IntArray, tuple[int, float]]] = {}
    for degree in degrees:
        for q in hyperbolic:
            indices = multi_indices(len(box), degree, q)
            sets.setdefault(indices.tobytes(), (indices, (int(degree), float(q))))
    by_size = sorted(sets.values(), key=lambda each: len(each[0]))
    if not by_size:
        raise ParameterError(
            "degrees and hyperbolic must hold one value or more; got none", key="degrees"
        )
    found = []
    for indices, choice in by_size:
        if len(indices) > most:
            continue
        basis = LegendreBasis.at(coordinates, indices)
        if not basis.determined:
            continue
        if transform != "log":
            found.append(_Option(basis, False, choice, loo_errors(basis, times, False)))
        able = (times > 0).all(axis=0)
        if transform != "none" and able.any():
            errors = np.full(times.shape[1], np.inf)
            errors[able] = loo_errors(basis, times[:, able], True)
            found.append(_Option(basis, True, choice, errors))
    if not found:
        least = math.ceil(POINTS_PER_TERM * len(by_size[0][0]))
        raise ParameterError(
            f"points must be at least {least} different ones for {len(by_size[0][0])} terms in "
            f"{len(box)} parameters, with more values of each parameter than the degree; got "
            f"{len(coordinates)}; run the simulator at more points",
            key="points",
        )
    return found


def loo_errors(basis: LegendreBasis, times: FloatArray, logarithmic: bool) -> FloatArray:
    """Return the leave-one-out errors of times[n, tests], relative root mean square."""
    targets = np.log(times) if logarithmic else times
    predicted = targets - basis.left_out(targets)
    with np.errstate(over="ignore"):
        found = np.exp(predicted) if logarithmic else predicted
        return np.asarray(np.sqrt((((found - times) / _scale(times)) ** 2).mean(axis=0)))


def _scale(times: FloatArray) -> FloatArray:
    """Return the scale by which errors of times[n, tests] are divided to be relative."""
    rms = np.sqrt((times**2).mean(axis=0))
    return np.where((times > 0).all(axis=0), times, np.where(rms > 0, rms, 1.0))
