"""Covariance matrix adaptation, restarted with a larger population when it stagnates.

Hansen, The CMA Evolution Strategy: A Tutorial; the restarts are IPOP's (Auger and Hansen, A
Restart CMA Evolution Strategy With Increasing Population Size, 2005). The ``cmaes`` library does
the mathematics. Whole numbers are rounded when a position becomes a value. The first population
spreads about the best of the first values, those of restarts about a point drawn from the seed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from workbench.fit.engines.descent import DIGITS
from workbench.fit.engines.engine import FitProblem, FloatArray, Points, Values

if TYPE_CHECKING:
    from cmaes import CMA

# Of the range. The start is a good guess: 0.05, 0.1 and 0.2 end at losses of 0.050, 0.052 and 0.056
# (protocol model, azure-hb96v3-hdr, 2000 trials), on alps-gh200-slingshot11 at the guess itself.
_FIRST_SIGMA = 0.1
_RESTART_SIGMA = 0.3  # Hansen's for an optimum anywhere; there was no restart in 2000 trials there
_LARGEST_GROWTH = 8  # chosen: three doublings, far beyond the usual 2000 trials


class CMAESEngine:
    """CMA-ES on the positions of the parameters between their bounds, 0 to 1, log or linear."""

    def __init__(self, problem: FitProblem) -> None:
        self._dimensions = problem.space.dimensions
        self._problem = problem
        self._first = problem.first_values
        self._num_results = 0
        self._best_first: tuple[float, Values | None] = (np.inf, None)
        self._restarts = 0
        self._optimizer: CMA | None = None
        self._generation: list[tuple[FloatArray, float]] = []
        self._open: FloatArray | None = None

    def propose(self) -> Values:
        """Return the values of the next trial, the same ones until ``tell`` is called."""
        if self._num_results < len(self._first):
            return dict(self._first[self._num_results])
        if self._open is None:
            if self._optimizer is None:
                self._optimizer = self._start()
            self._open = self._optimizer.ask()
        # The library needs at least two dimensions; the added ones are ignored.
        return {
            d.key: d.snap(d.at(x), DIGITS)
            for d, x in zip(self._dimensions, self._open, strict=False)
        }

    def tell(self, values: Values, loss: float, points: Points) -> None:
        """Record the loss of the proposed values; ``points`` are not simulated again."""
        if self._num_results < len(self._first):
            if loss < self._best_first[0]:
                self._best_first = (loss, values)
        else:
            self.propose()
            self._learn(loss)
        self._num_results += 1

    def indifferent_above(self) -> float:
        """Return inf: every loss has its place among those of its generation."""
        return math.inf

    def _learn(self, loss: float) -> None:
        if self._optimizer is None or self._open is None:
            return
        self._generation.append((self._open, loss))
        self._open = None
        if len(self._generation) < self._optimizer.population_size:
            return
        self._optimizer.tell(self._generation)
        self._generation = []
        if self._optimizer.should_stop():
            self._restarts += 1
            self._optimizer = None

    def _start(self) -> CMA:
        from cmaes import CMA

        width = max(2, len(self._dimensions))
        rng = self._problem.rng(self._restarts)
        mean, sigma = rng.uniform(size=width), _RESTART_SIGMA
        best = self._best_first[1]
        if self._restarts == 0 and best is not None:
            mean[: len(self._dimensions)] = [d.position(best[d.key]) for d in self._dimensions]
            sigma = _FIRST_SIGMA
        usual = 4 + int(3 * np.log(width))
        return CMA(
            mean=mean,
            sigma=sigma,
            bounds=np.tile([0.0, 1.0], (width, 1)),
            seed=int(rng.integers(2**31)),
            population_size=usual * min(2**self._restarts, _LARGEST_GROWTH),
        )
