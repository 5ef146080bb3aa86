"""How well methods of blame find the users that are to blame, where these are known.

scores = score_blame([(blame(world.runs, world.jobs), world.truth().by_user()), ...], null=[...])
scores.to_frame()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.datasets import data_folder
from workbench.errors import DatasetError, ParameterError
from workbench.result import Drawing, StoredResult
from workbench.variability.blame import Blame
from workbench.variability.stepwise import LEVEL

if TYPE_CHECKING:
    import pandas as pd


CULPRIT = 0.02
"""Least relative slow-down of a user who is to blame."""

_SHIPPED = data_folder() / "variability" / "blame-scores" / "scores.json"
_RESAMPLES = 2000  # an end then varies over seeds by 3 % of the half-width, 1000 by 4


@dataclass(frozen=True, eq=False, repr=False)
class BlameScores(StoredResult):
    """How well methods of blame do over worlds whose causes are known.

    Attributes:
        methods: names of the methods.
        auc: float64[worlds, methods], the chance that a user who is to blame has a higher score
            than one who is not; half of a tie counts.
        precision: float64[worlds, methods], the share of users to blame among as many with the
            highest scores as are to blame; recall is the same number. Ties count by their share.
        blamed: float64[worlds, methods], the share of users to blame with an adjusted p-value of
            at most 5 %.
        wrong: float64[worlds, methods], the share of other users with such a p-value.
        culprits: int64[worlds], number of users to blame.
        users: int64[worlds], number of all users.
        null_p: float64[users of all null worlds, methods], p-values where nobody is to blame.
        null_least: float64[null worlds, methods], the least adjusted p-value of each.
        least: relative slow-down from which a user is to blame.
        seed: of the intervals.
    """

    methods: tuple[str, ...]
    auc: NDArray[np.float64] = field(metadata={"axes": 2})
    precision: NDArray[np.float64] = field(metadata={"axes": 2})
    blamed: NDArray[np.float64] = field(metadata={"axes": 2})
    wrong: NDArray[np.float64] = field(metadata={"axes": 2})
    culprits: NDArray[np.int64]
    users: NDArray[np.int64]
    null_p: NDArray[np.float64] = field(metadata={"axes": 2})
    null_least: NDArray[np.float64] = field(metadata={"axes": 2})
    least: float
    seed: int

    plot = Drawing("plot_blame_scores")

    @property
    def best(self) -> str:
        """The method with the largest mean AUC."""
        return self.methods[int(np.argmax(self.auc.mean(axis=0)))]

    def interval(self, values: FloatArray) -> FloatArray:
        """Return the 90 % interval of the mean over worlds, by bootstrap.

        Args:
            values: float64[worlds, methods], such as ``auc``.

        Returns:
            float64[2, methods], least and greatest.
        """
        rng = np.random.default_rng(self.seed)
        drawn = rng.integers(0, len(values), (_RESAMPLES, len(values)))
        return np.asarray(np.quantile(values[drawn].mean(axis=1), [0.05, 0.95], axis=0))

    def to_frame(self) -> pd.DataFrame:
        """Return a row a method: means over the worlds and 90 % intervals of two of them.

        The last two columns are of null worlds: the share of p-values of at most 5 %, and the share
        of worlds in which anybody is blamed; nan where there are no null worlds.
        """
        import pandas as pd

        auc, precision = self.interval(self.auc), self.interval(self.precision)
        null = len(self.null_least) > 0
        nothing = np.full(len(self.methods), np.nan)
        return pd.DataFrame(
            {
                "method": self.methods,
                "AUC": self.auc.mean(axis=0),
                "AUC from": auc[0],
                "AUC to": auc[1],
                "precision": self.precision.mean(axis=0),
                "precision from": precision[0],
                "precision to": precision[1],
                "blamed (%)": 100 * self.blamed.mean(axis=0),
                "wrongly blamed (%)": 100 * self.wrong.mean(axis=0),
                "null p at most 5 % (%)": 100 * (self.null_p <= LEVEL).mean(axis=0)
                if null
                else nothing,
                "null worlds that blame (%)": 100 * (self.null_least <= LEVEL).mean(axis=0)
                if null
                else nothing,
            }
        )

    def __repr__(self) -> str:
        at = self.methods.index(self.best)
        least, most = self.interval(self.auc)[:, at]
        return (
            f"BlameScores({len(self.auc)} worlds, {len(self.null_least)} null worlds; best is "
            f"{self.best}: AUC {self.auc[:, at].mean():.3f}, 90 % from {least:.3f} to {most:.3f})"
        )


def score_blame(
    worlds: Iterable[tuple[Blame, Mapping[str, float]]],
    *,
    null: Iterable[Blame] = (),
    least: float = CULPRIT,
    seed: int = 0,
) -> BlameScores:
    """Return how well methods of blame find the users that are to blame.

    Args:
        worlds: of each world what ``blame`` found, and the relative slow-down of each user's jobs
            in truth: 0.05 is 5 % longer runs. A user of the truth whom ``blame`` does not name
            counts as never blamed.
        null: what ``blame`` found in worlds where nobody is to blame.
        least: slow-down from which a user is to blame.
        seed: of the intervals.

    Raises:
        ParameterError: there is no world, or nobody or everybody is to blame in one.
    """
    seed = whole(seed, "seed", 0)
    rows = [_score(found, truth, least, at) for at, (found, truth) in enumerate(worlds)]
    if not rows:
        raise ParameterError("there must be at least one world to score", key="worlds")
    nulls = list(null)
    methods = rows[0].methods
    return BlameScores(
        methods,
        np.stack([row.auc for row in rows]),
        np.stack([row.precision for row in rows]),
        np.stack([row.blamed for row in rows]),
        np.stack([row.wrong for row in rows]),
        np.array([row.culprits for row in rows]),
        np.array([row.users for row in rows]),
        np.concatenate([np.empty((0, len(methods))), *(found.p.T for found in nulls)]),
        np.array([found.p_adjusted.min(axis=1) for found in nulls]).reshape(-1, len(methods)),
        float(least),
        seed,
    )


def shipped_blame_scores() -> BlameScores:
    """Return the scores that ship, of twenty worlds and twenty null worlds.

    Raises:
        DatasetError: they are missing.
    """
    if not _SHIPPED.exists():
        raise DatasetError(f"{_SHIPPED} must be there; restore it, or install the workbench again")
    return BlameScores.load(_SHIPPED)


@dataclass(frozen=True)
class _Score:
    """The scores of one world, each float64[methods]."""

    methods: tuple[str, ...]
    auc: FloatArray
    precision: FloatArray
    blamed: FloatArray
    wrong: FloatArray
    culprits: int
    users: int


def _score(found: Blame, truth: Mapping[str, float], least: float, at: int) -> _Score:
    group = {name: row for row, names in enumerate(found.users) for name in names}
    names = sorted({*group, *truth})
    guilty = np.array([truth.get(name, 0.0) >= least for name in names])
    if guilty.all() or not guilty.any():
        raise ParameterError(
            f"some users must be to blame and some not; in world {at} {guilty.sum()} of "
            f"{len(names)} slow runs down by {100 * least:g} % or more",
            key="worlds",
        )
    rows = np.array([group.get(name, -1) for name in names])
    asked = rows >= 0
    score = np.where(asked, found.score[:, rows], -np.inf)
    low = np.where(asked, found.p_adjusted[:, rows], 1.0) <= LEVEL
    return _Score(
        found.methods,
        np.array([_auc(row, guilty) for row in score]),
        np.array([_precision(row, guilty) for row in score]),
        low[:, guilty].mean(axis=1),
        low[:, ~guilty].mean(axis=1),
        int(guilty.sum()),
        len(names),
    )


def _auc(score: FloatArray, guilty: NDArray[np.bool_]) -> float:
    above = score[guilty][:, None] - score[~guilty][None, :]
    # Two users who were not asked about tie: inf - inf is nan.
    return float(np.mean((above > 0) + 0.5 * ((above == 0) | np.isnan(above))))


def _precision(score: FloatArray, guilty: NDArray[np.bool_]) -> float:
    k = int(guilty.sum())
    limit = np.sort(score)[-k]
    over, tied = score > limit, score == limit
    return float((guilty[over].sum() + (k - over.sum()) * guilty[tied].mean()) / k)
