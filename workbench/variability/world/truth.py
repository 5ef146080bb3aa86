"""What slowed runs down: the same world without a user, with users by turns, or other links."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.variability.blame_scores import CULPRIT

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class WorldTruth(StoredResult):
    """How long steps of each run take with all users, and without each of them.

    Everything else is the same: who runs where and when, what the others send, all that is drawn.

    Attributes:
        run: name of each run.
        users: all, the experimenter last: of theirs, other runs than the watched one.
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

    def by_user(self) -> dict[str, float]:
        """Return ``effect`` by the name of the user."""
        return dict(zip(self.users, self.effect.tolist(), strict=True))

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


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyTruth(StoredResult):
    """The time that users add to runs, shared out fairly where they add to one another's.

    A user's value is what their traffic adds, mean over random orders in which users join a machine
    that has only the run (Shapley 1953; Castro, Gómez and Tejada 2009). Values sum to what all
    users add together.

    Attributes:
        run: name of each run.
        users: all, the experimenter last: of theirs, other runs than the watched one.
        step: int64[steps], those that were simulated.
        alone_s: float64[runs, steps], time with nobody else.
        value_s: float64[users, runs, steps], what each user adds.
        permutations: orders for each run.
        provenance: what was simulated.
    """

    run: tuple[str, ...]
    users: tuple[str, ...]
    step: NDArray[np.int64]
    alone_s: NDArray[np.float64] = field(metadata={"axes": 2})
    value_s: NDArray[np.float64] = field(metadata={"axes": 3})
    permutations: int
    provenance: Provenance

    @property
    def share(self) -> FloatArray:
        """Each user's share of what all add to all runs, float64[users]; nan where nobody does."""
        added = self.value_s.sum(axis=(1, 2))
        total = added.sum()
        return np.asarray(added / total if total else np.full(len(added), np.nan))

    def to_frame(self) -> pd.DataFrame:
        """Return a row a user, the worst first: ``user``, ``added (s)`` a run, ``share (%)``."""
        import pandas as pd

        return pd.DataFrame(
            {
                "user": self.users,
                "added (s)": self.value_s.sum(axis=(1, 2)) / len(self.run),
                "share (%)": 100 * self.share,
            }
        ).sort_values("added (s)", ascending=False, kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        added, alone = self.value_s.sum(), self.alone_s.sum()
        return (
            f"ShapleyTruth({len(self.run)} runs, {len(self.users)} users, {self.permutations} "
            f"orders; all add {100 * added / alone:.1f} %; {self.provenance.origin})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class LinkTruth(StoredResult):
    """How long steps of runs take where links of one class could carry everything.

    Attributes:
        run: name of each run.
        kinds: classes of links: ``row``, ``column``, ``global`` and ``endpoint``.
        step: int64[steps], those that were simulated.
        time_s: float64[runs, steps], as it is.
        unlimited_s: float64[kinds, runs, steps], with infinite capacity of each class.
        provenance: what was simulated.
    """

    run: tuple[str, ...]
    kinds: tuple[str, ...]
    step: NDArray[np.int64]
    time_s: NDArray[np.float64] = field(metadata={"axes": 2})
    unlimited_s: NDArray[np.float64] = field(metadata={"axes": 3})
    provenance: Provenance

    @property
    def saved(self) -> FloatArray:
        """Share of the time of all runs that each class costs, float64[kinds]."""
        return np.asarray(1.0 - self.unlimited_s.sum(axis=(1, 2)) / self.time_s.sum())

    def by_class(self) -> dict[str, float]:
        """Return ``saved`` by the class of links."""
        return dict(zip(self.kinds, self.saved.tolist(), strict=True))

    def to_frame(self) -> pd.DataFrame:
        """Return a row a class: ``class`` and ``saved (%)`` of the time."""
        import pandas as pd

        return pd.DataFrame({"class": self.kinds, "saved (%)": 100 * self.saved})

    def __repr__(self) -> str:
        saved = ", ".join(
            f"{name} {100 * share:.1f} %"
            for name, share in zip(self.kinds, self.saved, strict=True)
        )
        return f"LinkTruth({len(self.run)} runs; saved with wide links: {saved}; " + (
            f"{self.provenance.origin})"
        )
