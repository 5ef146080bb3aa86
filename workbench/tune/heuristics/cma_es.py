"""Covariance matrix adaptation on the unit cube, restarted with a larger population when stuck.

Hansen, The CMA Evolution Strategy: A Tutorial; restarts as IPOP (Auger and Hansen 2005). The
``cmaes`` library, which Optuna's sampler uses too, does the mathematics; Optuna's own sampler draws
parameters with choices independently of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from workbench.blas import one_thread
from workbench.checks import above_zero
from workbench.tune.heuristics.heuristic import Proposal, generator, random_neighbour
from workbench.tune.history import FloatArray, History, Visit
from workbench.tune.space.space import TuningSpace

if TYPE_CHECKING:
    from cmaes import CMA

_REDRAWS = 30  # where rules allow one configuration in ten, all fail one time in 24 (0.9**30)
_RECALLED = 12  # two rounds of the six attempts of ``Capped``; a later draw counts as its own code
_LARGEST_GROWTH = 8  # chosen: three doublings; after them a generation would outgrow most budgets
_DRAW, _RESTART = 4, 5  # streams of ``generator``, no other's


class CMAES:
    """CMA-ES; a point becomes the nearest configuration, a choice by its largest column.

    The first population is centred on the best initial point, those of restarts on random points. A
    pruned run ranks by its bound, a failed one last.
    """

    def __init__(self, space: TuningSpace, seed: int = 0, *, sigma: float = 0.3) -> None:
        above_zero(sigma, "sigma")
        self._space = space
        self._seed = seed
        self._sigma = sigma  # of the first population; 1 is the whole of an axis
        self._state: _State | None = None

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return the configuration nearest to a point of the current distribution."""
        visits = history.visits
        state = self._state
        with one_thread():
            if state is None or not state.follows(visits):
                state = self._begin(visits)
            state = self._state = self._updated(state, visits)
            found = self._draw(state.optimizer, history.step, attempt)
        if found is not None:
            return found[1]
        rng = generator(self._seed, history.step, attempt)
        best = history.aggregated().best()
        if best is None:
            return self._space.sample(rng)
        return random_neighbour(self._space, history.aggregated().configurations[best], rng)

    def _begin(self, visits: tuple[Visit, ...]) -> _State:
        initial = [visit for visit in visits if visit.initial and math.isfinite(visit.loss)]
        centre = None
        if initial:
            best = min(initial, key=lambda visit: visit.loss)
            centre = self._space.encode(best.configuration)
        return _State(self._start(centre, 0), 0, 0, None)

    def _start(self, centre: FloatArray | None, restarts: int) -> CMA:
        from cmaes import CMA

        # The library needs at least two dimensions; the added ones are ignored.
        width = max(2, self._space.dimension)
        rng = generator(self._seed, restarts, 0, _RESTART)
        mean = rng.uniform(size=width)
        if centre is not None:
            mean[: len(centre)] = centre
        usual = 4 + int(3 * math.log(width))
        return CMA(
            mean=mean,
            sigma=self._sigma,
            bounds=np.tile([0.0, 1.0], (width, 1)),
            seed=int(rng.integers(2**31)),
            population_size=usual * min(2**restarts, _LARGEST_GROWTH),
        )

    def _updated(self, state: _State, visits: tuple[Visit, ...]) -> _State:
        """Return the state after every whole generation among the visits."""
        while True:
            size = state.optimizer.population_size
            chosen = []
            for number in range(state.visits, len(visits)):
                if not visits[number].initial:
                    chosen.append(number)
                if len(chosen) == size:
                    break
            if len(chosen) < size:
                return state
            generation = [visits[number] for number in chosen]
            points = [self._drawn_point(state.optimizer, visit) for visit in generation]
            losses = [v.loss if math.isfinite(v.loss) else math.inf for v in generation]
            state.optimizer.tell(list(zip(points, losses, strict=True)))
            restarts = state.restarts
            optimizer = state.optimizer
            if optimizer.should_stop():
                restarts += 1
                optimizer = self._start(None, restarts)
            state = _State(optimizer, restarts, chosen[-1] + 1, generation[-1])

    def _draw(self, optimizer: CMA, step: int, attempt: int) -> tuple[FloatArray, Proposal] | None:
        """Return a point and its configuration, a function of step and attempt; None if barred."""
        optimizer.reseed_rng(int(generator(self._seed, step, attempt, _DRAW).integers(2**31)))
        for _ in range(_REDRAWS):
            point = optimizer.ask()
            found = self._space.decode(point[: self._space.dimension])
            if self._space.contains(found):
                return point, found
        return None

    def _drawn_point(self, optimizer: CMA, visit: Visit) -> FloatArray:
        """Return the point that a configuration was drawn as, or else its own code."""
        for attempt in range(_RECALLED):
            drawn = self._draw(optimizer, visit.start, attempt)
            if drawn is not None and tuple(drawn[1].values()) == visit.key:
                return drawn[0]
        point = np.full(max(2, self._space.dimension), 0.5)
        point[: self._space.dimension] = self._space.encode(visit.configuration)
        return point


class _State:
    """The distribution after some generations."""

    def __init__(self, optimizer: CMA, restarts: int, visits: int, last: Visit | None) -> None:
        self.optimizer = optimizer
        self.restarts = restarts
        self.visits = visits
        self._last = last

    def follows(self, visits: tuple[Visit, ...]) -> bool:
        """Return whether these visits begin with those it was made of, initial points ended."""
        if self._last is None:
            return False
        return len(visits) >= self.visits and visits[self.visits - 1] is self._last
