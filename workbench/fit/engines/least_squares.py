"""Least squares from many starts: descents along finite differences, and steps of thresholds.

A descent first minimises the sum of the squares of log(simulated / measured), which converges
from far away, and then of the errors in the loss: relative errors for a relative loss, differences
for an absolute one. For ``mae`` and ``huber`` that is not the loss itself; as with every engine,
the best trial is the one of the least loss.

A threshold acts only through which sizes lie below it and has no slope. It keeps its value during
a descent; afterwards it is moved by up to two measured sizes and the rest refitted, for as long as
that lowers the loss.

The starts are the first values, all of them improved roughly before the best is refined, and then
points drawn from the seed, in turn about the best one known and anywhere.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.arrays import FloatArray
from workbench.fit.engines.descent import MOST_STEPS, Ask, Box, FinishedTrial, Residuals, descend
from workbench.fit.engines.engine import FitProblem, Points, Values

# Half and double of each led to losses within 0.1 % of each other, in fits of the protocol model to
# three machines (600 trials) and of SNAPPR to two of them (300).
_ROUGH_GAIN, _FINE_GAIN = 0.02, 5e-4  # shares by which a step must lower the squares to go on
_STEPS_AFTER_A_MOVE = 4  # chosen: a better threshold shows before the others have been refitted
_NEAR = 0.1  # of the range, the standard deviation of starts about the best


class LeastSquaresEngine:
    """Bounded least squares from many starts, with steps of thresholds in between."""

    def __init__(self, problem: FitProblem) -> None:
        self._search = _Search(problem).run()
        self._open = next(self._search)

    def propose(self) -> Values:
        """Return the values of the next trial, the same ones until ``tell`` is called."""
        return dict(self._open)

    def tell(self, values: Values, loss: float, points: Points) -> None:
        """Record the points of the proposed values' trial."""
        self._open = self._search.send((loss, points()))

    def indifferent_above(self) -> float:
        """Return inf: every point of every trial is used."""
        return math.inf


class _Search:
    def __init__(self, problem: FitProblem) -> None:
        dimensions = problem.space.dimensions
        self._problem = problem
        self._thresholds = [i for i, d in enumerate(dimensions) if d.threshold]
        smooth = [i for i, d in enumerate(dimensions) if not d.threshold]
        self._box = Box(dimensions, np.array(smooth, np.intp))
        self._used = np.isfinite(problem.measured) & (problem.measured > 0)
        self._measured = problem.measured[self._used]
        self._best: FinishedTrial | None = None

    def run(self) -> Ask[None]:
        """Descend from one start after another, without end."""
        first = []
        for values in self._problem.first_values:
            first.append((yield from self._ask(values)))
        rough = []
        for start in sorted(first, key=lambda known: known.loss):
            rough.append((yield from self._rough(start)))
        for at in sorted(rough, key=lambda known: known.loss):
            yield from self._refine(at)
        number = 0
        while True:
            start = yield from self._ask(self._drawn(number))
            yield from self._refine((yield from self._rough(start)))
            number += 1

    def _rough(self, start: FinishedTrial) -> Ask[FinishedTrial]:
        at = yield from self._descend(start, self._logarithms, _ROUGH_GAIN)
        return (yield from self._descend(at, self._errors, _ROUGH_GAIN))

    def _refine(self, at: FinishedTrial) -> Ask[None]:
        """Descend to the minimum, and again after each threshold's move that lowers the loss."""
        at = yield from self._descend(at, self._errors, _FINE_GAIN)
        moved = True
        while moved:
            moved = False
            for index in self._thresholds:
                for neighbour in self._neighbours(at, index):
                    new = yield from self._ask(neighbour)
                    new = yield from self._descend(
                        new, self._errors, _ROUGH_GAIN, most=_STEPS_AFTER_A_MOVE
                    )
                    if new.loss < at.loss:
                        at, moved = new, True
                        break
        yield from self._descend(at, self._errors, _FINE_GAIN / 10)

    def _descend(
        self, at: FinishedTrial, residuals: Residuals, gain: float, most: int = MOST_STEPS
    ) -> Ask[FinishedTrial]:
        return (yield from descend(self._box, at, residuals, gain=gain, most=most))

    def _ask(self, values: Values) -> Ask[FinishedTrial]:
        known = yield from self._box.ask(values)
        if self._best is None or known.loss < self._best.loss:
            self._best = known
        return known

    def _drawn(self, number: int) -> Values:
        rng = self._problem.rng(number)
        anywhere = rng.uniform(size=len(self._box.dimensions))
        if number % 2 or self._best is None:
            return self._box.values(anywhere)
        near = self._best.position + _NEAR * rng.standard_normal(len(anywhere))
        return self._box.values(np.clip(near, 0.0, 1.0))

    def _neighbours(self, at: FinishedTrial, index: int) -> list[Values]:
        """Return the values with a threshold at the measured sizes near its own."""
        dimension = self._box.dimensions[index]
        sizes = np.asarray(self._problem.sizes)
        below = int(np.searchsorted(sizes, at.values[dimension.key], side="right"))
        others = [
            sizes[k - 1]
            for k in (below + 1, below - 1, below + 2, below - 2)
            if 0 < k <= len(sizes)
        ]
        return [
            {**at.values, dimension.key: int(size)}
            for size in others
            if dimension.clip(size) == size
        ]

    def _logarithms(self, points: FloatArray) -> FloatArray:
        tiny = np.finfo(np.float64).tiny
        return np.log(np.maximum(points[self._used], tiny) / self._measured)

    def _errors(self, points: FloatArray) -> FloatArray:
        errors = points[self._used] - self._measured
        return errors / self._measured if self._problem.loss.relative else errors
