"""The tree-structured Parzen estimator of Optuna, made repeatable.

Each trial's randomness depends on the seed and the trial's number alone.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.fit.engines.engine import FloatArray, Points, Problem, Values

if TYPE_CHECKING:
    from optuna.distributions import FloatDistribution

_FIRST_ROOM = 256
_MOST_GOOD = 25  # default_gamma of TPESampler: a tenth of the trials, this many at most


class TPE:
    """Multivariate TPE with the same trials as Optuna's ``TPESampler``, on arrays."""

    # Optuna sorts, checks and converts every trial anew for each proposal: 8 of the 13 ms of a
    # proposal after 2000 trials (tests/benchmarks/test_fit.py). test_tpe.py compares the two.

    def __init__(self, problem: Problem) -> None:
        from optuna.distributions import FloatDistribution

        self._problem = problem
        self._dimensions = {d.key: d for d in problem.space.dimensions}
        self._first = problem.first_values
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
        sampler = _sampler_type()(seed=int(state), multivariate=True, constant_liar=False)
        drawn: dict[str, float] = sampler.draw(
            self._distributions, self._tried[:n], self._losses[:n]
        )
        return drawn


@functools.cache
def _sampler_type() -> Any:
    from optuna.samplers import TPESampler
    from optuna.samplers._tpe.sampler import default_gamma

    class Sampler(TPESampler):
        """TPE over a space that is known and trials that all ended, without a study."""

        def draw(
            self, space: dict[str, FloatDistribution], tried: FloatArray, losses: FloatArray
        ) -> dict[str, float]:
            n = len(losses)
            if n < self._n_startup_trials:
                independent = self._random_sampler.sample_independent
                nothing: Any = None  # neither study nor trial is looked at
                return {
                    key: float(independent(nothing, nothing, key, distribution))
                    for key, distribution in space.items()
                }
            good = np.zeros(n, np.bool_)
            good[np.argsort(losses, kind="stable")[: default_gamma(n)]] = True
            below, above = (self._estimator(space, tried[part]) for part in (good, ~good))
            candidates = below.sample(self._rng.rng, self._n_ei_candidates)
            return self._compare(
                candidates, self._compute_acquisition_func(candidates, below, above)
            )

        def _estimator(self, space: dict[str, FloatDistribution], tried: FloatArray) -> Any:
            observations = dict(zip(space, tried.T, strict=True))
            return self._parzen_estimator_cls(
                observations, dict(space), self._parzen_estimator_parameters
            )

    return Sampler
