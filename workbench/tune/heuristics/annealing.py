"""Simulated annealing with three ways to cool down, and restarts that heat up again.

SHAMan, section 3.1. What is different from its code: a refused configuration is not run again,
another neighbour of the current one is; temperatures are in standard deviations of the losses seen,
so that they mean the same for microseconds and for hours; a restart begins cooling anew; and every
value of a grid can be reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from workbench.checks import above_zero, number, whole
from workbench.errors import ParameterError
from workbench.tune.heuristics.heuristic import Proposal, generator, random_neighbour
from workbench.tune.history import History, Visit
from workbench.tune.rules_by_name import one_of
from workbench.tune.space.space import Configuration, TuningSpace

COOLINGS: Mapping[str, Callable[[float, float, int], float]] = MappingProxyType(
    {
        "exponential": lambda start, factor, k: start * factor**k,
        "logarithmic": lambda start, factor, k: start / (1.0 + factor * math.log(k + 1.0)),
        "multiplicative": lambda start, factor, k: start / (1.0 + factor * k),
    }
)
"""The temperature after k steps from a start and a cooling factor, by name."""

# Within the 40 runs of SHAMan's section 5.1 they cool to 0.015, 0.026 and 0.024 of the start.
_FACTORS = {"exponential": 0.9, "logarithmic": 10.0, "multiplicative": 1.0}
RESTARTS = ("none", "random", "threshold")
"""Conditions of a restart before it is cold: none, at random, or a low probability to accept."""

_ACCEPT, _RESTART = 1, 2  # streams of ``generator``; that of the proposals has no number


class Annealing:
    """A walk from neighbour to neighbour that accepts worse ones less and less.

    From the best initial point; a worse one is accepted with probability exp(-rise / (T std)). A
    restart goes to the best known configuration and to the first T; a cold walk ends.
    """

    def __init__(
        self,
        space: TuningSpace,
        seed: int = 0,
        *,
        cooling: str = "exponential",  # a name in COOLINGS
        initial_temperature: float = 1.0,  # in standard deviations of the losses
        cooling_factor: float | None = None,  # c; None: that in _FACTORS
        restart: str = "threshold",  # a name in RESTARTS
        restart_probability: float = 0.05,  # of a random restart, per step
        restart_threshold: float = 0.05,  # restart where acceptance is less probable
        max_restarts: int = 5,
        least_temperature: float = 0.01,  # cold at or below this
    ) -> None:
        one_of(cooling, COOLINGS, "cooling")
        one_of(restart, RESTARTS, "restart")
        above_zero(initial_temperature, "initial_temperature")
        whole(max_restarts, "max_restarts", 0)
        number(least_temperature, "least_temperature", 0.0)
        number(restart_probability, "restart_probability", 0.0, 1.0)
        number(restart_threshold, "restart_threshold", 0.0, 1.0)
        factor = _FACTORS[cooling] if cooling_factor is None else cooling_factor
        above_zero(factor, "cooling_factor")
        if cooling == "exponential" and factor >= 1.0:
            raise ParameterError(
                f"cooling_factor must be below 1 for exponential cooling, or it never cools; "
                f"got {factor!r}; lower it, or take another cooling",
                key="cooling_factor",
            )
        self._space = space
        self._seed = seed
        self._cooling = COOLINGS[cooling]
        self._start = initial_temperature
        self._factor = factor
        self._restart = restart
        self._probability = restart_probability
        self._threshold = restart_threshold
        self._most = max_restarts if restart != "none" else 0
        self._cold = least_temperature

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return a neighbour of the walk's configuration; None if cold without a restart left."""
        rng = generator(self._seed, history.step, attempt)
        here, temperature = self._walk(history.visits)
        if temperature <= self._cold:
            return None
        if here is None:
            return self._space.sample(rng)
        return random_neighbour(self._space, here, rng)

    def temperature(self, history: History) -> float:
        """Return T after the runs so far, in standard deviations of the losses seen."""
        return self._walk(history.visits)[1]

    def _walk(self, visits: tuple[Visit, ...]) -> tuple[Configuration | None, float]:
        """Return the walk's configuration after these visits (None before any), and T."""
        here: Visit | None = None
        best: Visit | None = None
        steps = restarts = 0
        spread = _Spread()
        for visit in visits:
            spread.add(visit.loss)
            if best is None or _worth(visit) < _worth(best):
                best = visit
            if visit.initial or here is None:
                here = best
                continue
            temperature = self._temperature(steps)
            steps += 1
            chance = _chance(_worth(visit) - _worth(here), temperature * spread.std)
            rng = generator(self._seed, visit.start, 0, _ACCEPT)
            if rng.random() < chance:
                here = visit
            cold = self._temperature(steps) <= self._cold
            if restarts < self._most and (cold or self._restarts(visit, chance)):
                restarts += 1
                steps = 0
                here = best
        return (None if here is None else here.configuration), self._temperature(steps)

    def _temperature(self, steps: int) -> float:
        return self._cooling(self._start, self._factor, steps)

    def _restarts(self, visit: Visit, chance: float) -> bool:
        if self._restart == "threshold":
            return chance < self._threshold
        draw = generator(self._seed, visit.start, 0, _RESTART).random()
        return self._restart == "random" and draw < self._probability


class _Spread:
    """The standard deviation of what was seen so far (Welford's recurrence)."""

    def __init__(self) -> None:
        self._count, self._mean, self._squares = 0, 0.0, 0.0

    def add(self, loss: float) -> None:
        if not math.isfinite(loss):
            return
        self._count += 1
        step = loss - self._mean
        self._mean += step / self._count
        self._squares += step * (loss - self._mean)

    @property
    def std(self) -> float:
        return math.sqrt(self._squares / self._count) if self._count else 0.0


def _worth(visit: Visit) -> float:
    return visit.loss if math.isfinite(visit.loss) else math.inf


def _chance(rise: float, temperature: float) -> float:
    """Return the probability of accepting a rise."""
    if rise <= 0.0:
        return 1.0
    if math.isnan(rise) or temperature <= 0.0:
        return 1.0 if math.isnan(rise) else 0.0
    return float(np.exp(-rise / temperature))
