"""From utilisation to stalls: a curve of a few parameters, fitted to the packet simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from workbench.arrays import FloatArray
from workbench.provenance import Provenance
from workbench.result import StoredResult

if TYPE_CHECKING:
    import pandas as pd


FULL = 0.97
"""Utilisation at which queues grow no more, as sources wait."""


@dataclass(frozen=True, eq=False)
class StallCurve(StoredResult):
    """How utilisation x of links becomes waiting, and waiting becomes stalls.

    Attributes:
        queue: n; what comes to a link that is busy the share y of the time waits y^n / (1 - y).
        presence: a; how often something waits behind a link grows with x^a.
        gain: g; where the mean wait at the links ahead is w, a link stalls the share z / (1 + z) of
            the time, z = g · x^a · w.
        spread: how much of the time that a link stalls it is busy for what comes to it.
        provenance: what it was fitted to.
    """

    ONE_FILE: ClassVar[bool] = True

    queue: float
    presence: float
    gain: float
    spread: float
    provenance: Provenance

    def to_frame(self) -> pd.DataFrame:
        """Return a row a utilisation: the wait there, and the stall where all links are alike."""
        import pandas as pd

        x = np.linspace(0.05, 0.95, 19)
        z = self.presence_gain(x) * self.wait(x)
        return pd.DataFrame(
            {"utilisation": x, "wait (packets)": self.wait(x), "stall (%)": 100 * z / (1 + z)}
        )

    def wait(self, busy: FloatArray) -> FloatArray:
        """Return the mean wait at links, in packets.

        Args:
            busy: float64[...], share of the time that they are; more than 0.97 counts as 0.97.
        """
        y = np.minimum(busy, FULL)
        found: FloatArray = y**self.queue / (1.0 - y)
        return found

    def presence_gain(self, x: FloatArray) -> FloatArray:
        """Return g · x^a, what a link of utilisation x makes of waits ahead.

        Args:
            x: float64[...].
        """
        found: FloatArray = self.gain * x**self.presence
        return found


def detour_share(
    minimal: FloatArray,  # utilisation where minimal ways begin
    detour: FloatArray,  # utilisation where detours begin
    ratio: FloatArray,  # links of detours over links of minimal ways
) -> FloatArray:
    """Return the share of packets on detours, as UGAL has it by the queues of its own router.

    A packet takes a detour where the queue there times its links is less than the queue of the
    minimal way times its own. Queues are taken for geometric: n packets or more with chance x^n.
    """
    x, y = np.minimum(minimal, FULL), np.minimum(detour, FULL)
    share: FloatArray = x * (1.0 - y) / (1.0 - y * x**ratio)
    return share
