"""What slowed runs down: the same world again without a user, by turns, or with wider links."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.provenance import Provenance
from workbench.result import StoredResult

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

CULPRIT = 0.02
"""By how much a user slows down the runs they are beside, to be called a culprit, relative."""


@dataclass(frozen=True, eq=False, repr=False)
class WorldTruth(StoredResult):
    """How long steps of each run take with all users, and without each of them.

    Everything else is the same: who runs where and when, what the others send, all that is drawn.

    Attributes:
        run: name of each run.
        users: all but the experimenter, whose other runs count as well where they are named.
        beside: bool[users, runs], whether a job of the user ran beside some of the run.
        step: int64[steps], those that were simulated again.
        time_s: float64[runs, steps], with all users.
        without_s: float64[users, runs, steps], without each.
        provenance: what was simulated.
    """

    run: tuple[str, ...]
    users: tuple[str, ...]
    beside: NDArray[np.bool_] = field(metadata={"axes": 2})
    step: NDArray[np.int64]
    time_s: NDArray[np.float64] = field(metadata={"axes": 2})
    without_s: NDArray[np.float64] = field(metadata={"axes": 3})
    provenance: Provenance

    @property
    def slowdown(self) -> FloatArray:
        """By how much each user slows each run down, relative, float64[users, runs]."""
        found: FloatArray = self.time_s.sum(axis=1) / self.without_s.sum(axis=2) - 1.0
        return found

    @property
    def step_slowdown(self) -> FloatArray:
        """The same of each step, float64[users, runs, steps]."""
        found: FloatArray = self.time_s / self.without_s - 1.0
        return found

    @property
    def effect(self) -> FloatArray:
        """Mean slow-down of the runs that each user is beside, float64[users]; 0 beside none."""
        count = self.beside.sum(axis=1)
        total = (self.slowdown * self.beside).sum(axis=1)
        found: FloatArray = np.divide(total, count, out=np.zeros(len(count)), where=count > 0)
        return found

    @property
    def culprits(self) -> tuple[str, ...]:
        """Users who slow the runs that they are beside down by more than 2 %, the worst first."""
        effect = self.effect
        order = np.argsort(-effect, kind="stable")
        return tuple(self.users[at] for at in order if effect[at] > CULPRIT)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a user, the worst first: ``user``, ``runs beside``, ``slower (%)``."""
        import pandas as pd

        return pd.DataFrame(
            {
                "user": self.users,
                "runs beside": self.beside.sum(axis=1),
                "slower (%)": 100 * self.effect,
            }
        ).sort_values("slower (%)", ascending=False, kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        return (
            f"WorldTruth({len(self.run)} runs, {len(self.users)} users; slowed down by "
            f"{', '.join(self.culprits) or 'nobody'}; {self.provenance.origin})"
        )
