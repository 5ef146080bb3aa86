"""Heuristics that learn nothing: random and exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.tune.heuristics.heuristic import Proposal, generator
from workbench.tune.history import History
from workbench.tune.space.space import TuningSpace


class RandomSearch:
    """Draws configurations evenly from the space, independently of earlier results."""

    def __init__(self, space: TuningSpace, seed: int = 0) -> None:
        self._space = space
        self._seed = seed

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return a random configuration; only the number of runs matters."""
        return self._space.sample(generator(self._seed, history.step, attempt))


class ExhaustiveSearch:
    """Proposes each configuration of a finite space once, the last parameter changing fastest."""

    def __init__(self, space: TuningSpace, seed: int = 0) -> None:
        self._space = space
        self._rest = space.all()
        self._walked: list[Proposal] = []

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return the next configuration neither run nor pending, skipping ``attempt`` of them."""
        taken = set(history.keys) | {self._space.key(each) for each in history.pending}
        left = attempt
        for configuration in self._all():
            if tuple(configuration.values()) not in taken:
                if not left:
                    return dict(configuration)
                left -= 1
        return None

    def _all(self) -> Iterator[Proposal]:
        # Cached up to the current point: a grid may be large, and a step needs few more points.
        yield from self._walked
        for configuration in self._rest:
            self._walked.append(configuration)
            yield configuration
