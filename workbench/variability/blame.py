"""Which users' jobs make a run slow, by several methods, each with p-values.

found = blame(read_runs("runs.csv"), read_jobs("jobs.csv"))
found.to_frame()
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.variability.job_log import JobLog
from workbench.variability.neighbourhood import Neighbourhood, neighbourhood
from workbench.variability.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

RECOMMENDED = "ridge"
"""The method that orders the users."""

_LEAST_RUNS = 10
_RIDGE_STRENGTHS = np.logspace(-2, 3, 21)
_LEAST_PROPENSITY = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Blame(StoredResult):
    """How much the presence of each user is to blame for long runs.

    The methods are ``mutual-information`` of presence and of a run being faster than the mean, in
    nats (Bhatele et al. 2020, IV-A), which does not say whether runs were slower or faster;
    ``signed-mutual-information``, negative where they were faster; ``ridge`` and ``lasso``
    regressions of the logarithm of the time on the presence of all users; and ``doubly-robust``,
    which weighs each run by how likely the user was to be there, given the other users (Robins,
    Rotnitzky and Zhao 1994). The score of ``ridge`` and of ``doubly-robust`` is the effect over its
    standard error, that of ``lasso`` the effect in %.

    A p-value is the share of permutations of the runs' times that score the user as high. The
    adjusted one asks this of the best of all users (Westfall and Young 1993, minP), so that 5 % is
    the chance to blame anybody at all where nobody is to blame.

    Attributes:
        users: the most to blame first; users that were always together are one.
        present: int64[users], number of runs that they were beside.
        runs: number of runs.
        least_nodes: of a job that counts.
        methods: names of the methods.
        score: float64[methods, users].
        slowdown: float64[methods, users], by how much runs take longer beside them, relative; nan
            where a method does not say.
        p: float64[methods, users].
        p_adjusted: float64[methods, users].
        permutations: their number.
        seed: of the permutations.
        notes: what a reader must know of the tables, each a sentence.
    """

    users: tuple[tuple[str, ...], ...]
    present: NDArray[np.int64]
    runs: int
    least_nodes: int
    methods: tuple[str, ...]
    score: NDArray[np.float64] = field(metadata={"axes": 2})
    slowdown: NDArray[np.float64] = field(metadata={"axes": 2})
    p: NDArray[np.float64] = field(metadata={"axes": 2})
    p_adjusted: NDArray[np.float64] = field(metadata={"axes": 2})
    permutations: int
    seed: int
    notes: tuple[str, ...]

    plot = Drawing("plot_blame")

    @property
    def blamed(self) -> tuple[str, ...]:
        """Users with an adjusted p-value of at most 5 % by the recommended method."""
        low = self.p_adjusted[self.methods.index(RECOMMENDED)] <= 0.05
        return tuple(name for at in np.flatnonzero(low) for name in self.users[at])

    def to_frame(self, method: str = RECOMMENDED) -> pd.DataFrame:
        """Return a row a user, the most to blame first.

        Args:
            method: one of ``methods``, whose columns are ``score``, ``slower (%)``, ``p`` and
                ``p adjusted``.

        Raises:
            ParameterError: there is no such method.
        """
        import pandas as pd

        if method not in self.methods:
            raise ParameterError(
                f"method must be one of {', '.join(self.methods)}; got {method!r}", key="method"
            )
        at = self.methods.index(method)
        return pd.DataFrame(
            {
                "user": [", ".join(together) for together in self.users],
                "runs beside": self.present,
                "score": self.score[at],
                "slower (%)": 100 * self.slowdown[at],
                "p": self.p[at],
                "p adjusted": self.p_adjusted[at],
            }
        ).sort_values("score", ascending=False, kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        named = ", ".join(self.blamed) or "nobody"
        return (
            f"Blame({self.runs} runs, {sum(map(len, self.users))} users with a job of "
            f"{self.least_nodes} or more nodes; by {RECOMMENDED} at 5 %: {named})"
        )


def blame(
    runs: Runs,
    jobs: JobLog,
    *,
    least_nodes: int | None = None,
    during_all: bool = True,
    permutations: int = 2000,
    seed: int = 0,
) -> Blame:
    """Return how much each user is to blame for slow runs.

    Args:
        runs: of one program with one input.
        jobs: of all users of the machine.
        least_nodes: as for ``neighbourhood``.
        during_all: as for ``neighbourhood``.
        permutations: of the runs' times, for p-values.
        seed: of the permutations and of the folds that choose the strength of ``lasso``.

    Raises:
        ParameterError: there are fewer than 10 runs, all took the same time, no user was beside
            some runs and not beside others, or an argument is not accepted.
    """
    beside = neighbourhood(runs, jobs, least_nodes=least_nodes, during_all=during_all)
    return blame_neighbours(runs, beside, permutations=permutations, seed=seed)


def blame_neighbours(
    runs: Runs, beside: Neighbourhood, *, permutations: int = 2000, seed: int = 0
) -> Blame:
    """Do the same for users whose presence is known.

    Args:
        runs: of one program with one input.
        beside: of the same runs.
        permutations: as for ``blame``.
        seed: as for ``blame``.

    Raises:
        ParameterError: as for ``blame``.
    """
    permutations, seed = whole(permutations, "permutations", 100), whole(seed, "seed", 0)
    if len(runs) < _LEAST_RUNS or np.ptp(runs.time_s) == 0:
        raise ParameterError(
            f"runs must be at least {_LEAST_RUNS}, of different times; got {len(runs)} of "
            f"{runs.time_s.min():g} to {runs.time_s.max():g} s",
            key="runs",
        )
    varies = beside.present.any(axis=0) & ~beside.present.all(axis=0)
    if not varies.any():
        raise ParameterError(
            "some user must be beside some runs and not beside others; each of "
            f"{len(beside.users)} was beside all or none of {len(runs)} runs",
            key="jobs",
        )
    notes = beside.notes
    if always := [name for at in np.flatnonzero(~varies) for name in beside.users[at]]:
        notes = (*notes, f"{', '.join(always)} ran beside all runs or none, which tells nothing")
    present = beside.present[:, varies].astype(np.float64)
    rng = np.random.default_rng(seed)
    orders = np.array(
        [np.arange(len(runs)), *(rng.permutation(len(runs)) for _ in range(permutations))]
    )
    log_times = np.log(runs.time_s)
    asked = _Question(present, runs.optimal[orders], (log_times - log_times.mean())[orders], seed)
    shape = (len(METHODS), len(beside.users))
    score, slowdown = np.zeros(shape), np.full(shape, np.nan)
    p, adjusted = np.ones(shape), np.ones(shape)
    for row, method in enumerate(METHODS.values()):
        scores, effect = method(asked)
        score[row, varies], slowdown[row, varies] = scores[0], effect
        p[row, varies], adjusted[row, varies] = _p_values(scores)
    best = list(METHODS).index(RECOMMENDED)
    order = np.lexsort((-score[best], ~varies))
    return Blame(
        users=tuple(beside.users[at] for at in order),
        present=beside.present.sum(axis=0)[order],
        runs=len(runs),
        least_nodes=beside.least_nodes,
        methods=tuple(METHODS),
        score=score[:, order],
        slowdown=slowdown[:, order],
        p=p[:, order],
        p_adjusted=adjusted[:, order],
        permutations=permutations,
        seed=seed,
        notes=notes,
    )


@dataclass(frozen=True)
class _Question:
    """What a method is asked: scores of each user, for the runs' times in several orders."""

    present: FloatArray  # 0 or 1, [runs, users]
    optimal: NDArray[np.bool_]  # [orders, runs]
    log_times: FloatArray  # less their mean, [orders, runs]; the first as they were
    seed: int


# Returns scores float64[orders, users], and relative slowdowns float64[users] of the first order.
_Method = Callable[[_Question], tuple[FloatArray, FloatArray]]


def _information(asked: _Question) -> tuple[FloatArray, FloatArray]:
    nats, _ = _mutual_information(asked.present, asked.optimal)
    return nats, np.full(asked.present.shape[1], np.nan)


def _signed_information(asked: _Question) -> tuple[FloatArray, FloatArray]:
    nats, sign = _mutual_information(asked.present, asked.optimal)
    return nats * sign, np.full(asked.present.shape[1], np.nan)


def _mutual_information(
    present: FloatArray,  # 0 or 1, [runs, users]
    optimal: NDArray[np.bool_],  # [orders, runs]
) -> tuple[FloatArray, FloatArray]:
    """Return the mutual information in nats and the sign of what presence does to the time."""
    runs = len(present)
    both = optimal.astype(np.float64) @ present
    users, good = present.sum(axis=0), optimal.sum(axis=1, keepdims=True)
    nats = np.zeros_like(both)
    for joint, one, other in (
        (both, users, good),
        (users - both, users, runs - good),
        (good - both, runs - users, good),
        (runs - users - good + both, runs - users, runs - good),
    ):
        share = joint / runs
        independent = one * other / runs**2
        filled = joint > 0
        ratio = np.divide(share, independent, out=np.ones_like(share), where=filled)
        nats += share * np.log(ratio)
    return np.maximum(nats, 0.0), np.sign(users * good / runs - both)


def _ridge(asked: _Question) -> tuple[FloatArray, FloatArray]:
    """Ridge regression, its strength by leave-one-out error in closed form."""
    runs, y = len(asked.present), asked.log_times
    centred = asked.present - asked.present.mean(axis=0)
    u, d, vt = np.linalg.svd(centred, full_matrices=False)
    projected = y @ u
    best = np.inf, 0.0
    for strength in _RIDGE_STRENGTHS:
        shrunk = d**2 / (d**2 + strength)
        fitted = (projected[0] * shrunk) @ u.T
        leverage = (u**2 * shrunk).sum(axis=1) + 1 / runs
        error = float(np.mean(((y[0] - fitted) / (1 - np.minimum(leverage, 0.999))) ** 2))
        best = min(best, (error, strength))
    strength = best[1]
    effect = (projected * (d / (d**2 + strength))) @ vt
    shrunk = d**2 / (d**2 + strength)
    left = (y**2).sum(axis=1) - (projected**2 * (1 - (1 - shrunk) ** 2)).sum(axis=1)
    freedom = max(runs - 1 - float(shrunk.sum()), 1.0)
    spread = np.sqrt((vt.T**2 * (d / (d**2 + strength)) ** 2).sum(axis=1))
    return effect / (np.sqrt(left / freedom)[:, None] * spread), np.expm1(effect[0])


def _lasso(asked: _Question) -> tuple[FloatArray, FloatArray]:
    """Lasso, its strength by cross-validation."""
    from sklearn.linear_model import Lasso, LassoCV
    from sklearn.model_selection import KFold

    folds = KFold(5, shuffle=True, random_state=asked.seed)
    centred = asked.present - asked.present.mean(axis=0)
    strength = LassoCV(alphas=30, cv=folds).fit(centred, asked.log_times[0]).alpha_
    fitted = Lasso(strength, fit_intercept=False, precompute=True).fit(centred, asked.log_times.T)
    effect = np.atleast_2d(fitted.coef_)
    return 100 * np.expm1(effect), np.expm1(effect[0])


def _doubly_robust(asked: _Question) -> tuple[FloatArray, FloatArray]:
    """Augmented inverse-probability weighting, given the presence of the other users."""
    from sklearn.linear_model import LogisticRegression

    present, y = asked.present, asked.log_times
    runs, users = present.shape
    centred = present - present.mean(axis=0)
    to_effects = np.linalg.solve(centred.T @ centred + np.eye(users), centred.T)
    effects = y @ to_effects.T
    left = y - effects @ centred.T
    scores, slowdown = np.empty((len(y), users)), np.empty(users)
    for at in range(users):
        here = present[:, at]
        others = np.delete(present, at, axis=1)
        chance = np.full(runs, here.mean())
        if others.shape[1]:
            chance = LogisticRegression(C=1.0).fit(others, here).predict_proba(others)[:, 1]
        chance = np.clip(chance, _LEAST_PROPENSITY, 1 - _LEAST_PROPENSITY)
        weight = (here - chance) / (chance * (1 - chance))
        influence = effects[:, [at]] + weight * left
        mean = influence.mean(axis=1)
        scores[:, at] = mean / (influence.std(axis=1, ddof=1) / np.sqrt(runs))
        slowdown[at] = np.expm1(mean[0])
    return scores, slowdown


METHODS: dict[str, _Method] = {
    "mutual-information": _information,
    "signed-mutual-information": _signed_information,
    "ridge": _ridge,
    "lasso": _lasso,
    "doubly-robust": _doubly_robust,
}


def _p_values(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p-values and those adjusted for the number of users, of scores float64[1 + n, users].

    The adjustment is the step-down minP of Westfall and Young (1993), algorithm 2.8.
    """
    n = len(scores)
    # A p-value of each order: the share of orders that score its user as high.
    rounded = np.round(scores, 12)
    ascending = np.sort(rounded, axis=0)
    each = np.empty_like(scores)
    for user in range(scores.shape[1]):
        each[:, user] = (n - np.searchsorted(ascending[:, user], rounded[:, user])) / n
    order = np.argsort(each[0], kind="stable")
    least = np.minimum.accumulate(each[:, order[::-1]], axis=1)[:, ::-1]
    stepped = np.maximum.accumulate((least <= each[0, order]).mean(axis=0))
    adjusted = np.empty(len(order))
    adjusted[order] = stepped
    return each[0], adjusted
