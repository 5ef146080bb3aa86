"""A surrogate as exact as asked: more points and degrees until it is, or the reason why it is not.

choice = choose_surrogate(box, simulator)
choice.verdict, choice.to_frame(), choice.plot()
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import above_zero, whole
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.uq.designs import design
from workbench.uq.parameters import ParameterBox
from workbench.uq.prediction import Simulator
from workbench.uq.pushed import value_text
from workbench.uq.surrogate import (
    EXACT,
    MOST_TERMS,
    HoldoutError,
    Surrogate,
    Transform,
    fit_surrogate,
)
from workbench.uq.surrogate_slice import SurrogateSlice, worst_slice

if TYPE_CHECKING:
    import pandas as pd

HOLDOUT_POINTS = 100
"""Points at which the paper checks its surrogates."""

_FIRST, _HIGHER = (1, 2, 3, 4), (1, 2, 3, 4, 5, 6, 7, 8)  # degrees to choose from
_TIMES = 2  # as many points in the next step


@dataclass(frozen=True, eq=False, repr=False)
class SurrogateChoice(StoredResult):
    """A surrogate, what was tried to make it exact, and why it is not where it is not.

    Attributes:
        surrogate: the one with the least hold-out error of all that were tried.
        holdout: its errors at points that no fit has used.
        tests: labels.
        target: relative error that was asked for.
        remedies: what was tried, in order: ``degree up to 4``, ``degree up to 8``, ``more points``.
        points: int64[tried], that each was fitted to.
        errors: float64[tried], largest hold-out error of all tests.
        runs: runs of the simulator, those of the hold-out points and the slice included.
        slice: where it is worst; None where the target was reached.
    """

    surrogate: Surrogate
    holdout: HoldoutError
    tests: tuple[str, ...]
    target: float
    remedies: tuple[str, ...]
    points: NDArray[np.int64]
    errors: NDArray[np.float64]
    runs: int
    slice: SurrogateSlice | None

    plot = Drawing("plot_surrogate_choice")

    @property
    def reached(self) -> bool:
        """Whether all tests are within the target."""
        return self.slice is None

    @property
    def verdict(self) -> str:
        """How exact it is and by what; where it is not, which test, why, and what to do instead."""
        best = int(np.argmin(self.errors))
        by = f"by {self.remedies[best]} with {self.points[best]} points"
        if np.any(self.surrogate.logarithmic):
            of = "all" if np.all(self.surrogate.logarithmic) else "some"
            by += f", of the logarithm of {of} times"
        found = f"the surrogate is {self.holdout.verdict(self.tests, self.target)}, {by}"
        if self.slice is None:
            return found
        return f"{found}. Why: {self.slice.reason}. Instead: {self.slice.remedy}"

    @property
    def short(self) -> str:
        """The worst test with its error in a few words, and what is in the way of a smaller one."""
        worst = int(np.argmax(self.holdout.maximum))
        text = f"{100 * self.holdout.maximum[worst]:.2g} % off in {self.tests[worst]}"
        if self.slice is None or self.slice.shape == "smooth":
            return text
        at = value_text(self.slice.place, self.slice.unit)
        return f"{text}, a {self.slice.shape} along {self.slice.parameter} near {at}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row a remedy: ``remedy``, ``points``, ``largest error (%)``."""
        import pandas as pd

        return pd.DataFrame(
            {
                "remedy": self.remedies,
                "points": self.points,
                "largest error (%)": 100 * self.errors,
            }
        )

    def __repr__(self) -> str:
        return f"SurrogateChoice({len(self.tests)} tests, {self.runs} runs; {self.verdict})"

    def _check(self) -> None:
        tried = len(self.remedies)
        self._check_lengths({"points": tried, "errors": tried})


def choose_surrogate(
    box: ParameterBox,
    simulator: Simulator,
    tests: Sequence[str] | None = None,
    *,
    target: float = EXACT,
    points: int = 0,
    most_points: int = 2048,
    transform: Transform = "auto",
    slice_points: int = 33,
    seed: int = 0,
) -> SurrogateChoice:
    """Return a surrogate within a relative error on all tests, or the best one and why it is not.

    Polynomials of degree up to 4 first, then up to 8 on the same points, then on twice as many
    points, and so on up to ``most_points``. The basis and the transform of each test are those of
    the least leave-one-out error; what decides is the largest error at 100 points of the same
    Sobol' sequence that no fit has used. Steps cost runs of the simulator: earlier runs are used
    again.

    Args:
        box: the parameters.
        simulator: gives times float64[n, tests] in s for values float64[n, parameters].
        tests: label of each test; its number by default.
        target: relative error; 0.01 is 1 %.
        points: to begin with; 0 takes three for each term of degree 3, 128 at least.
        most_points: to end with.
        transform: as for ``fit_surrogate``.
        slice_points: runs along each parameter that show where an inexact surrogate is worst.
        seed: of the design.

    Raises:
        ParameterError: an argument is not accepted, or the simulator gives other than finite times.
    """
    d = len(box)
    began = whole(points, "points", 0) or max(128, (d + 1) * (d + 2) * (d + 3) // 2)
    most = whole(most_points, "most_points", 1)
    target = above_zero(target, "target")
    if began > most:
        raise ParameterError(
            f"most_points must be at least {began}, with which it begins; got {most}",
            key="most_points",
        )
    others = design(box, HOLDOUT_POINTS, seed=seed)
    checked = _simulated(simulator, others)
    at = np.empty((0, d))
    times = np.empty((0, checked.shape[1]))
    labels = tuple(tests or (f"test {n}" for n in range(checked.shape[1])))
    if len(labels) != checked.shape[1]:
        raise ParameterError(
            f"tests must hold one label for each of the {checked.shape[1]} tests; got "
            f"{len(labels)}",
            key="tests",
        )
    tried: list[tuple[str, int, Surrogate, HoldoutError]] = []
    size, remedy = began, "degree up to 4"
    degrees: tuple[int, ...] = _FIRST
    while True:
        if size > len(at):
            new = design(box, size - len(at), seed=seed, skip=HOLDOUT_POINTS + len(at))
            at = np.concatenate([at, new])
            times = np.concatenate([times, _simulated(simulator, new)])
        found = fit_surrogate(box, at, times, degrees=degrees, transform=transform)
        tried.append((remedy, size, found, found.holdout_error(others, checked)))
        if tried[-1][3].maximum.max() <= target:
            break
        if degrees == _FIRST:
            degrees = tuple(n for n in _HIGHER if math.comb(d + n, n) <= MOST_TERMS)
            remedy = f"degree up to {degrees[-1]}"
        elif _TIMES * size > most:
            break
        else:
            size, remedy = _TIMES * size, "more points"
    best = min(tried, key=lambda each: float(each[3].maximum.max()))
    runs, shown = len(at) + HOLDOUT_POINTS, None
    if len(best[3].above(target)):
        shown = worst_slice(best[2], simulator, best[3], labels, slice_points)
        runs += d * slice_points
    return SurrogateChoice(
        best[2],
        best[3],
        labels,
        target,
        tuple(remedy for remedy, *_ in tried),
        np.array([size for _, size, *_ in tried], np.int64),
        np.array([error.maximum.max() for *_, error in tried]),
        runs,
        shown,
    )


def _simulated(simulator: Simulator, values: FloatArray) -> FloatArray:
    """Return times[n, tests] of a simulator, which must be finite."""
    times = np.asarray(simulator(values), np.float64)
    if times.ndim != 2 or len(times) != len(values) or not np.isfinite(times).all():
        raise ParameterError(
            f"simulator must give finite times[n, tests] for the {len(values)} points; got an "
            f"array of shape {times.shape}, {np.count_nonzero(~np.isfinite(times))} of them not "
            "finite",
            key="simulator",
        )
    return times
