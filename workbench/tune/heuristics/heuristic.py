"""What all heuristics share: their interface, randomness, proposals that are new or nearby."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from workbench.tune.history import History
from workbench.tune.space.space import Configuration, TuningSpace, Value

Proposal = dict[str, Value | None]
"""A configuration to run, canonical."""

_DRAWS = 100  # where 3 % of a space are left, all miss them one time in 21 (0.97**100)
_MOST_LISTED = 100_000  # takes 0.1 s: 19 ms for 19 500 configurations of two parameters
_FRESH = 3  # a stream of ``generator``, no heuristic's
_MOST_TRIES = 20  # chosen: where rules allow one in ten, all fail one time in 8 (0.9**20)


@runtime_checkable
class Heuristic(Protocol):
    """Proposes the next configuration.

    What it proposes follows from the space, the seed, its options and the history alone: an
    experiment that was killed continues, once its runs are in a history again, as if nothing had
    happened. What a heuristic keeps between proposals is only there to save time.
    """

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return the next configuration, None where there is nothing more to propose.

        Args:
            history: the runs so far, initial points among them, and those pending.
            attempt: how many proposals for this step were turned down; another number gives
                another configuration where there is one.
        """


def generator(seed: int, *numbers: int) -> np.random.Generator:
    """Return a generator that depends only on these numbers, unique to each use."""
    return np.random.default_rng((seed, *numbers))


class Capped:
    """Rejects proposals that ran ``most_runs`` times, and draws another after ``retries``.

    With one run this is SHAMan's ``reevaluate: false``, but its heuristics then run the
    configuration again.
    """

    def __init__(
        self,
        heuristic: Heuristic,
        space: TuningSpace,
        seed: int = 0,
        retries: int = 5,
        most_runs: int = 1,
    ) -> None:
        self._heuristic = heuristic
        self._space = space
        self._seed = seed
        self._tries = retries + 1
        self._most = most_runs

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return a configuration that ran less often; None if there is none."""
        for number in range(attempt * self._tries, (attempt + 1) * self._tries):
            found = self._heuristic.ask(history, attempt=number)
            if found is None or history.times(found) < self._most:
                return found
        rng = generator(self._seed, history.step, attempt, _FRESH)
        for _ in range(_DRAWS):
            found = self._space.sample(rng)
            if history.times(found) < self._most:
                return found
        size = self._space.size
        if size is None or size > _MOST_LISTED:
            return self._space.sample(rng) if size is None else None
        left = [each for each in self._space.all() if history.times(each) < self._most]
        return left[int(rng.integers(len(left)))] if left else None


def random_neighbour(
    space: TuningSpace, configuration: Configuration, rng: np.random.Generator
) -> Proposal:
    """Return another allowed configuration, one or a few steps away; any if none is near.

    Each step draws a parameter, then one of its neighbouring values, so that a long list of choices
    does not move more often; a further step has probability 1/2.
    """
    start = space.key(configuration)
    for _ in range(_MOST_TRIES):
        here: Configuration = configuration
        for _ in range(int(rng.geometric(0.5))):
            near = _by_parameter(space, here)
            if not near:
                break
            options = near[int(rng.integers(len(near)))]
            here = options[int(rng.integers(len(options)))]
        found = space.canonical(here)
        if tuple(found.values()) != start and space.contains(found):
            return found
    return space.sample(rng)


def _by_parameter(space: TuningSpace, configuration: Configuration) -> list[list[Proposal]]:
    """Return the neighbours grouped by the parameter that moved."""
    here = space.canonical(configuration)
    groups: dict[str, list[Proposal]] = {}
    for near in space.neighbours(here):
        # Parents come before what depends on them, so the first difference is what moved.
        moved = next(name for name in space.names if near[name] != here[name])
        groups.setdefault(moved, []).append(near)
    return list(groups.values())
