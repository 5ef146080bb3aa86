"""The tree-structured Parzen estimator of Optuna, made repeatable.

Each trial's randomness depends on the seed and the trial's number alone.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.fit.engines.engine import FitProblem, FloatArray, Points, Values
from workbench.storage.optuna_internals import array_tpe

_FIRST_ROOM = 256
_MOST_GOOD = 25  # default_gamma of TPESampler: a tenth of the trials, this many at most


class TPEEngine:
    """Multivariate TPE with the same trials as Optuna's ``TPESampler``, on arrays."""

    _multivariate = True

    def __init__(self, problem: FitProblem) -> None:
        from optuna.distributions import FloatDistribution

        self._problem = problem
        self._dimensions = {d.key: d for d in problem.space.dimensions}
        self._first = problem.first_values if self._multivariate else []
        # Whole numbers are searched as rounded floats: Optuna's log-scaled integers take 60 ms a
        # trial at 1000 trials, floats 7 ms (8 dimensions; tests/benchmarks/test_fit.py).
        self._distributions = {
            key: FloatDistribution(float(d.clip(d.low)), float(d.clip(d.high)), log=d.log)
            for key, d in sorted(self._dimensions.items())
        }
        self._tried: FloatArray = np.empty((_FIRST_ROOM, len(self._distributions)))
        self._losses: FloatArray = np.empty(_FIRST_ROOM)
        self._number = 0
        self._open: Values | None = None

    def propose(self) -> Values:
        """Return the values of the next trial, the same ones until ``tell`` is called."""
        if self._number < len(self._first):
            return dict(self._first[self._number])
        if self._open is None:
            drawn = self._draw()
            self._open = {key: d.clip(d.snap(drawn[key])) for key, d in self._dimensions.items()}
        return dict(self._open)

    def tell(self, values: Values, loss: float, points: Points) -> None:
        """Record the loss of a trial; ``points`` are not simulated again."""
        if self._number == len(self._losses):
            self._tried = np.concatenate([self._tried, np.empty_like(self._tried)])
            self._losses = np.concatenate([self._losses, np.empty_like(self._losses)])
        self._tried[self._number] = [float(values[key]) for key in self._distributions]
        self._losses[self._number] = loss
        self._number += 1
        self._open = None

    def indifferent_above(self) -> float:
        """Return the greatest loss that can still rank as good: TPE uses ranks only."""
        if self._number < _MOST_GOOD:
            return math.inf
        least = np.partition(self._losses[: self._number], _MOST_GOOD - 1)
        return float(least[_MOST_GOOD - 1])

    def _draw(self) -> dict[str, float]:
        n = self._number
        state = np.random.SeedSequence((self._problem.seed, n)).generate_state(1)[0]
        # A sampler costs nothing to make; keeping one would let its randomness depend on how many
        # trials this process has run.
        sampler = array_tpe()(seed=int(state), multivariate=self._multivariate)
        drawn: dict[str, float] = sampler.draw(
            self._distributions, self._tried[:n], self._losses[:n]
        )
        return drawn


class UnivariateTPEEngine(TPEEngine):
    """TPE as ``TPESampler`` is by default: each parameter by itself, the first ten trials random.

    Section III-B of Suetterlein et al. describes it so: values are random at first, and section
    II calls TPE the approach that takes its variables as independent.
    """

    _multivariate = False
