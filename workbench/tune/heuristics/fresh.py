"""A heuristic that proposes nothing twice."""

from __future__ import annotations

from workbench.tune.heuristics.heuristic import Heuristic, Proposal, generator
from workbench.tune.history import History
from workbench.tune.space.space import TuningSpace

_DRAWS = 100
_MOST_LISTED = 100_000
_FRESH = 3


class Fresh:
    """Rejects proposals that were run, and draws a new one at random after ``retries``.

    This is SHAMan's ``reevaluate: false``, but its heuristics then run the configuration again.
    """

    def __init__(
        self, heuristic: Heuristic, space: TuningSpace, seed: int = 0, retries: int = 5
    ) -> None:
        self._heuristic = heuristic
        self._space = space
        self._seed = seed
        self._tries = retries + 1

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return a configuration that was not run; None if there is none."""
        for number in range(attempt * self._tries, (attempt + 1) * self._tries):
            found = self._heuristic.ask(history, attempt=number)
            if found is None or not history.seen(found):
                return found
        rng = generator(self._seed, history.step, attempt, _FRESH)
        for _ in range(_DRAWS):
            found = self._space.sample(rng)
            if not history.seen(found):
                return found
        size = self._space.size
        if size is None or size > _MOST_LISTED:
            return self._space.sample(rng) if size is None else None
        unseen = [each for each in self._space.all() if not history.seen(each)]
        return unseen[int(rng.integers(len(unseen)))] if unseen else None
