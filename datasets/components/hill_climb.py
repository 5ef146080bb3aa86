"""A heuristic of one's own, as notebook 08 registers it."""

from __future__ import annotations

import numpy as np


class HillClimb:
    """Tries what lies next to the best so far, and draws at random where all of it was tried."""

    def __init__(self, space, seed=0, most=100):
        self.space, self.seed, self.most = space, seed, most

    def ask(self, history, *, attempt=0):
        """Return the next configuration; the same history and seed give the same."""
        rng = np.random.default_rng((self.seed, history.step, attempt))
        best = history.best()
        near = self.space.neighbours(best[0])[: self.most] if best else ()
        new = [configuration for configuration in near if not history.seen(configuration)]
        return new[rng.integers(len(new))] if new else self.space.sample(rng)
