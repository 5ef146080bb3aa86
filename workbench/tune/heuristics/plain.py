"""Heuristics that learn nothing: random and exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tune.heuristics.heuristic import Proposal, generator
from workbench.tune.history import History
from workbench.tune.space.space import TuningSpace


class RandomSearch:
    """Each configuration drawn evenly from the space, whatever was found before.

    Args:
        space: what is searched.
        seed: makes the search repeatable.
    """

    def __init__(self, space: TuningSpace, seed: int = 0) -> None:
        self._space = space
        self._seed = seed

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return a configuration at random.

        Args:
            history: only the number of runs counts.
            attempt: another number gives another draw.
        """
        return self._space.sample(generator(self._seed, history.step, attempt))


class ExhaustiveSearch:
    """Every configuration once, the last parameter changing fastest; None after the last.

    What was run already, among the initial points say, is left out.

    Args:
        space: what is searched; every axis finite.
        seed: not used.

    Raises:
        ParameterError: an axis is continuous, or has too many values to try all.
    """

    def __init__(self, space: TuningSpace, seed: int = 0) -> None:
        self._space = space
        self._rest = space.all()
        self._walked: list[Proposal] = []

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return the next configuration that was not run and is not being run.

        Args:
            history: what was run.
            attempt: how many of the next ones to leave out.
        """
        taken = set(history.keys) | {self._space.key(each) for each in history.pending}
        left = attempt
        for configuration in self._all():
            if tuple(configuration.values()) not in taken:
                if not left:
                    return dict(configuration)
                left -= 1
        return None

    def _all(self) -> Iterator[Proposal]:
        # Kept as far as it was walked: a grid may be large, and a step looks little further.
        yield from self._walked
        for configuration in self._rest:
            self._walked.append(configuration)
            yield configuration
