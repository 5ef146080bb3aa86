"""What every heuristic is asked, and how it comes by its randomness."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from workbench.tune.history import History
from workbench.tune.space.space import Value

Proposal = dict[str, Value | None]
"""A configuration to run, canonical."""


@runtime_checkable
class Heuristic(Protocol):
    """Proposes the next configuration.

    What it proposes follows from the space, the seed, its options and the history alone: an
    experiment that was killed goes on, once its runs are in a history again, as if nothing had
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
