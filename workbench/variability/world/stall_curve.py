"""From utilisation to stalls: a curve of a few parameters, fitted to the packet simulator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from workbench.result import StoredResult

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StallCurve(StoredResult):
    """How utilisation x of links becomes queues, blocking and stalls.

    Attributes:
        half: utilisation at which a link is blocked half of the time.
        steepness: n; a link is blocked the share y / (1 + y) of the time, y = (x / half)^n.
        light: utilisation at which a link has something to wait half of the time.
        spread: how much of a link's stalls blocks what comes to it.
        levels: how many links back a stall spreads.
        queue_weight: hops that a full queue counts as in the choice of ways.
        detour: how many hops shorter a detour must be, with its queues, to be taken half of the
            time.
        decision: hops over which that choice turns.
    """

    half: float = 0.6
    steepness: float = 4.0
    light: float = 0.1
    spread: float = 0.5
    levels: int = 3
    queue_weight: float = 8.0
    detour: float = 1.0
    decision: float = 1.0

    def blocking(self, x: FloatArray) -> FloatArray:
        """Return the share of the time that links are blocked."""
        y = (x / self.half) ** self.steepness
        blocked: FloatArray = y / (1.0 + y)
        return blocked

    def queue(self, x: FloatArray) -> FloatArray:
        """Return how full queues are, 0 to 1."""
        return self.blocking(x)

    def presence(self, x: FloatArray) -> FloatArray:
        """Return the share of the time that something is there to wait."""
        there: FloatArray = x / (x + self.light)
        return there

    def minimal_share(self, minimal: FloatArray, valiant: FloatArray) -> FloatArray:
        """Return the share of traffic on minimal ways, of the lengths of both with their queues."""
        share: FloatArray = 1.0 / (1.0 + np.exp((minimal - valiant - self.detour) / self.decision))
        return share


@cache
def shipped_stall_curve() -> StallCurve:
    """Return the curve that was fitted to the packet simulator."""
    return StallCurve()
