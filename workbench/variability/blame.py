"""Which users' jobs make a run slow, by several methods, each with p-values.

found = blame(read_runs("runs.csv"), read_jobs("jobs.csv"))
found.to_frame()
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.blas import one_thread
from workbench.checks import above_zero, whole
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.variability.neighbourhood import Neighbourhood, neighbourhood
from workbench.variability.stepwise import LEVEL, p_values, stepwise
from workbench.variability.tables.job_log import JobLog
from workbench.variability.tables.runs import Runs
from workbench.variability.trend import less, smooth_trend

if TYPE_CHECKING:
    import pandas as pd


RECOMMENDED = "stepwise"
"""The method that orders the users.

Over ten schedules whose causes are known its AUC is the largest, it finds 26 of 30 culprits and
blames one other user (tests/unit/variability/test_blame_schedules.py); ridge 27 and four.
"""

_LEAST_RUNS = 10  # chosen: lasso's five folds then hold out two each
_RIDGE_STRENGTHS = np.logspace(-2, 3, 11)
_NOTHING = 1e-12  # of a column that does not vary, as rounding leaves it
_LEAST_PROPENSITY = 0.05  # 0.01 to 0.2 rank the users of emulated-link alike
_REMOVED = "it is removed from run times and exposures"
_LEFT = "it is not removed, so users who came or went meanwhile may be blamed for it"
_LASSO_SWEEPS = 50_000  # with fewer runs than users it takes many


@dataclass(frozen=True, eq=False, repr=False)
class Blame(StoredResult):
    """How much the presence of each user is to blame for long runs.

    The methods are ``stepwise`` regression of the logarithm of the time on the exposure to users,
    who are blamed one by one, each given those before, so that who only runs while a culprit does
    is not blamed for it; ``mutual-information`` of presence and of a run being optimal, in nats
    (Bhatele et al. 2020, IV-A), which does not say whether runs were slower or faster;
    ``signed-mutual-information``, negative where they were faster; ``ridge`` and ``lasso``
    regressions on the exposure to all users at once; and ``doubly-robust``, which weighs each run
    by how likely the user was to be there, given the other users (Robins, Rotnitzky and Zhao 1994).
    The score of ``stepwise``, ``ridge`` and ``doubly-robust`` is the effect over its standard
    error, that of ``lasso`` the effect in %.

    A smooth trend of time is removed from run times and from exposures (see ``smooth_trend``),
    unless it is to be left in, as in the paper: users who come while runs get slower for another
    reason would be blamed for that.

    The exposure is what predicts runs that were left out best: ``presence`` of a large job, as in
    the paper, ``overlap`` with any job of the user, the ``nodes`` of the user's jobs, or the
    ``square root of nodes``, both relative to their mean over the runs beside the user.

    A p-value is the share of permutations of the runs' times, less the trend, that score the user
    as high. The adjusted one asks this of the largest score of all users (Westfall and Young 1993,
    step-down maxT), so that 5 % is the chance to blame anybody at all where nobody is to blame, and
    so that some hundred permutations are enough for any number of users. For this, scores must have
    a scale that users share: effects over their standard errors have one, effects of ``lasso`` are
    taken per standard deviation of the exposure. Mutual information has none, as what chance makes
    of it depends on how many runs the user was beside; so its square root, which is then about
    normal, is taken less its mean over the permutations and over its spread.

    Attributes:
        users: the most to blame first; users that were always together are one.
        present: int64[users], number of runs that they were present beside, as ``neighbourhood``
            has it.
        runs: number of runs.
        least_nodes: of a large job, which each of these users had beside some run.
        exposure: the kind that ``ridge`` and ``lasso`` take; ``stepwise`` takes the one that says
            most of each user.
        tau: a run is optimal that took less than this share of the mean.
        start: float64[runs], s, when the runs started.
        time_s: float64[runs], what they took.
        trend: float64[runs], the smooth trend of the times, relative to their geometric mean.
        trend_removed: whether it was removed.
        methods: names of the methods.
        score: float64[methods, users].
        slowdown: float64[methods, users], by how much runs take longer beside them, relative, in
            the mean over runs beside any job of theirs; nan where a method does not say.
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
    exposure: str
    tau: float
    start: FloatArray
    time_s: FloatArray
    trend: FloatArray
    trend_removed: bool
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
        return self.blamed_by(RECOMMENDED)

    @property
    def others(self) -> str:
        """Whom the other methods blame besides or do not blame; empty where they all agree."""
        mine, parts = self.blamed, []
        for method in self.methods:
            theirs = self.blamed_by(method)
            also = ", ".join(name for name in theirs if name not in mine)
            lacks = ", ".join(name for name in mine if name not in theirs)
            words = [f"also {also}"] if also else []
            words += [f"not {lacks}"] if lacks else []
            if words:
                parts.append(f"{method} {' but '.join(words)}")
        return "; ".join(parts)

    def blamed_by(self, method: str) -> tuple[str, ...]:
        """Return the users with an adjusted p-value of at most 5 % by a method.

        Args:
            method: one of ``methods``.

        Raises:
            ParameterError: there is no such method.
        """
        low = self.p_adjusted[self._at(method)] <= LEVEL
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

        at = self._at(method)
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

    def _at(self, method: str) -> int:
        """Return the row of a method."""
        if method not in self.methods:
            raise ParameterError(
                f"method must be one of {', '.join(self.methods)}; got {method!r}", key="method"
            )
        return self.methods.index(method)

    def __repr__(self) -> str:
        named = ", ".join(self.blamed) or "nobody"
        others = f"; {self.others}" if self.others else ""
        return (
            f"Blame({self.runs} runs, {sum(map(len, self.users))} users with a job of "
            f"{self.least_nodes} or more nodes; by {RECOMMENDED} at 5 %: {named}{others})"
        )


def blame(
    runs: Runs,
    jobs: JobLog,
    *,
    least_nodes: int | None = None,
    during_all: bool = True,
    trend: bool = True,
    tau: float = 1.0,
    permutations: int = 2000,
    seed: int = 0,
) -> Blame:
    """Return how much each user is to blame for slow runs.

    Args:
        runs: of one program with one input.
        jobs: of all users of the machine.
        least_nodes: as for ``neighbourhood``.
        during_all: as for ``neighbourhood``.
        trend: whether a smooth trend of time is removed from run times and exposures; the paper
            leaves both as they are.
        tau: a run is optimal for mutual information if it took less than this share of the mean; 1
            in the paper (IV-A).
        permutations: permutations of the runs' times, for p-values.
        seed: seed of the permutations and of the folds that choose the strength of ``lasso``.

    Raises:
        ParameterError: there are fewer than 10 runs, all took the same time, no user was beside
            some runs and not beside others, or an argument is not accepted.
    """
    beside = neighbourhood(runs, jobs, least_nodes=least_nodes, during_all=during_all)
    return blame_neighbours(
        runs, beside, trend=trend, tau=tau, permutations=permutations, seed=seed
    )


def blame_neighbours(
    runs: Runs,
    beside: Neighbourhood,
    *,
    trend: bool = True,
    tau: float = 1.0,
    permutations: int = 2000,
    seed: int = 0,
) -> Blame:
    """Do the same for users whose presence is known.

    Args:
        runs: of one program with one input.
        beside: of the same runs.
        trend: as for ``blame``.
        tau: as for ``blame``.
        permutations: as for ``blame``.
        seed: as for ``blame``.

    Raises:
        ParameterError: as for ``blame``.
    """
    permutations, seed = whole(permutations, "permutations", 100), whole(seed, "seed", 0)
    tau = above_zero(tau, "tau")
    if len(runs) < _LEAST_RUNS or np.ptp(runs.time_s) == 0:
        raise ParameterError(
            f"runs must be at least {_LEAST_RUNS}, of different times; got {len(runs)} of "
            f"{runs.time_s.min():g} to {runs.time_s.max():g} s",
            key="runs",
        )
    notes, alike = beside.notes, _alike(beside)
    if always := [name for at in np.flatnonzero(alike) for name in beside.users[at]]:
        notes = (*notes, f"{', '.join(always)} ran beside all runs alike, which tells nothing")
    if len(always) == sum(map(len, beside.users)):
        raise ParameterError(
            "some user must be beside some runs and not beside others; each of "
            f"{len(beside.users)} was beside all of {len(runs)} runs alike",
            key="jobs",
        )
    rng = np.random.default_rng(seed)
    orders = np.array(
        [np.arange(len(runs)), *(rng.permutation(len(runs)) for _ in range(permutations))]
    )
    fitted = smooth_trend(runs)
    known = fitted.basis if trend else fitted.basis[:, :1]
    if fitted.note:
        notes = (*notes, f"{fitted.note}; {_REMOVED if trend else _LEFT}")
    exposures = _exposures(beside)
    with one_thread():
        log_times = less(known, np.log(runs.time_s))
        log_orders = less(known, log_times[orders].T).T
        fits = [
            _fit_ridges(less(known, matrix), log_orders, known) for matrix in exposures.values()
        ]
        best = np.argmin([fit.error for fit in fits], axis=0)
        exposure = list(exposures)[best[0]]
        asked = _Question(
            exposures["presence"],
            exposures["presence" if exposure == "presence" else "overlap"],
            list(exposures.values()),
            best,
            known,
            orders,
            runs.optimal(tau, fitted.factor if trend else None)[orders],
            log_orders,
            fits,
            seed,
        )
        found = [method(asked) for method in METHODS.values()]
    score = np.array([one.score for one in found])
    slowdown = np.array([one.slowdown for one in found])
    order = np.lexsort((-score[list(METHODS).index(RECOMMENDED)], alike))
    return Blame(
        users=tuple(beside.users[at] for at in order),
        present=beside.present.sum(axis=0)[order],
        runs=len(runs),
        least_nodes=beside.least_nodes,
        exposure=exposure,
        tau=tau,
        start=runs.start,
        time_s=runs.time_s,
        trend=fitted.factor,
        trend_removed=trend,
        methods=tuple(METHODS),
        score=score[:, order],
        slowdown=slowdown[:, order],
        p=np.array([one.p for one in found])[:, order],
        p_adjusted=np.array([one.adjusted for one in found])[:, order],
        permutations=permutations,
        seed=seed,
        notes=notes,
    )


def _alike(beside: Neighbourhood) -> NDArray[np.bool_]:
    """Return the users beside whom all runs are alike."""
    return _constant(beside.nodes) & _constant(beside.present)


def _constant(columns: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((columns == columns[0]).all(axis=0))


def _exposures(beside: Neighbourhood) -> dict[str, FloatArray]:
    """Return float64[runs, users] of each kind."""
    return {
        "presence": beside.present.astype(np.float64),
        "overlap": (beside.nodes > 0).astype(np.float64),
        "nodes": _relative(beside.nodes),
        "square root of nodes": _relative(np.sqrt(beside.nodes)),
    }


def _relative(nodes: FloatArray) -> FloatArray:
    """Return each column over its mean where it is above 0."""
    total, beside = nodes.sum(axis=0), (nodes > 0).sum(axis=0)
    mean = np.divide(total, beside, out=np.ones_like(total), where=total > 0)
    return np.asarray(nodes / mean)


@dataclass(frozen=True)
class _Question:
    """What a method is asked: scores of each user, for the runs' times in several orders."""

    present: FloatArray  # 0 or 1, [runs, users], of a large job
    beside: FloatArray  # 0 or 1, [runs, users], of a large or of any job
    exposures: list[FloatArray]  # of each kind, [runs, users]
    best: NDArray[np.intp]  # kind that predicts best, [orders]
    known: FloatArray  # orthonormal functions of the date that explain times, [runs, terms]
    orders: NDArray[np.int64]  # of the runs, [orders, runs]; the first as they were
    optimal: NDArray[np.bool_]  # [orders, runs]
    log_times: FloatArray  # less what is known, [orders, runs]; the first as they were
    ridges: list[_Ridges]  # of each kind of exposure
    seed: int


@dataclass(frozen=True)
class _Answer:
    """What a method finds, [users] each."""

    score: FloatArray
    slowdown: FloatArray  # relative
    p: FloatArray
    adjusted: FloatArray


_Method = Callable[[_Question], _Answer]


def _answer(
    scores: FloatArray,  # [orders, users]
    slowdown: FloatArray | None = None,
    alike: FloatArray | None = None,  # on a scale that users share, where the scores are not
) -> _Answer:
    nothing = np.full(scores.shape[1], np.nan)
    p, adjusted = p_values(scores if alike is None else alike)
    return _Answer(scores[0], nothing if slowdown is None else slowdown, p, adjusted)


def _stepwise(asked: _Question) -> _Answer:
    found = stepwise(asked.exposures, asked.log_times[0], asked.orders, asked.known)
    return _Answer(found.t, np.expm1(found.effect), found.p, found.adjusted)


def _information(asked: _Question) -> _Answer:
    nats, _ = _mutual_information(asked.present, asked.optimal)
    return _answer(nats, alike=_standardised(np.sqrt(nats)))


def _signed_information(asked: _Question) -> _Answer:
    nats, sign = _mutual_information(asked.present, asked.optimal)
    return _answer(nats * sign, alike=_standardised(sign * np.sqrt(nats)))


def _standardised(scores: FloatArray) -> FloatArray:
    """Return scores less each user's mean over the orders, over its spread."""
    spread = scores.std(axis=0)
    left = scores - scores.mean(axis=0)
    return np.asarray(np.divide(left, spread, out=np.zeros_like(left), where=spread > _NOTHING))


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


@dataclass(frozen=True)
class _Ridges:
    """Ridge regressions on one kind of exposure, a strength for each order of the runs' times."""

    error: FloatArray  # [orders], mean square of what is left out
    effect: FloatArray  # [orders, users]
    score: FloatArray  # [orders, users], the effect over its standard error


def _fit_ridges(exposure: FloatArray, y: FloatArray, known: FloatArray) -> _Ridges:
    """Return ridge regressions, the strength of each by leave-one-out error in closed form.

    Exposure and times are less what is known of them (Frisch and Waugh 1933).
    """
    runs = len(exposure)
    u, d, vt = np.linalg.svd(exposure, full_matrices=False)
    projected, total = y @ u, (y**2).sum(axis=1)
    error = np.full(len(y), np.inf)
    effect, score = np.zeros((2, len(y), exposure.shape[1]))
    for strength in _RIDGE_STRENGTHS:
        shrunk = d**2 / (d**2 + strength)
        leverage = (u**2 * shrunk).sum(axis=1) + (known**2).sum(axis=1)
        left = y - (projected * shrunk) @ u.T
        now = np.mean((left / (1 - np.minimum(leverage, 0.999))) ** 2, axis=1)
        at = np.flatnonzero(now < error)
        to_effect = (d / (d**2 + strength))[:, None] * vt
        noise = total[at] - (projected[at] ** 2 * (1 - (1 - shrunk) ** 2)).sum(axis=1)
        freedom = max(runs - known.shape[1] - float(shrunk.sum()), 1.0)
        spread = np.sqrt((to_effect**2).sum(axis=0))
        error[at], effect[at] = now[at], projected[at] @ to_effect
        score[at] = np.divide(
            effect[at],
            np.sqrt(noise / freedom)[:, None] * spread,
            out=np.zeros((len(at), len(spread))),
            where=spread > _NOTHING,
        )
    return _Ridges(error, effect, score)


def _ridge(asked: _Question) -> _Answer:
    """Ridge regression on the kind of exposure that is best for each order."""
    orders = np.arange(len(asked.best))
    scores = np.stack([fit.score for fit in asked.ridges])[asked.best, orders]
    return _answer(scores, np.expm1(asked.ridges[asked.best[0]].effect[0]))


def _lasso(asked: _Question) -> _Answer:
    """Lasso, its strength by cross-validation."""
    from sklearn.linear_model import Lasso, LassoCV
    from sklearn.model_selection import KFold

    folds = KFold(5, shuffle=True, random_state=asked.seed)
    centred = less(asked.known, asked.exposures[asked.best[0]])
    strength = (
        LassoCV(alphas=30, cv=folds, max_iter=_LASSO_SWEEPS).fit(centred, asked.log_times[0]).alpha_
    )
    model = Lasso(strength, fit_intercept=False, precompute=True, max_iter=_LASSO_SWEEPS)
    fitted = model.fit(centred, asked.log_times.T)
    effect = np.atleast_2d(fitted.coef_)
    return _answer(100 * np.expm1(effect), np.expm1(effect[0]), effect * centred.std(axis=0))


def _doubly_robust(asked: _Question) -> _Answer:
    """Augmented inverse-probability weighting, given the presence of the other users."""
    from sklearn.linear_model import LogisticRegression

    varies = np.flatnonzero(~_constant(asked.beside))
    present, y = asked.beside[:, varies], asked.log_times
    runs, users = present.shape
    scores, slowdown = np.zeros((len(y), asked.beside.shape[1])), np.zeros(asked.beside.shape[1])
    centred = less(asked.known, present)
    to_effects = np.linalg.solve(centred.T @ centred + np.eye(users), centred.T)
    effects = y @ to_effects.T
    left = y - effects @ centred.T
    for at, user in enumerate(varies):
        here = present[:, at]
        others = np.delete(present, at, axis=1)
        chance = np.full(runs, here.mean())
        if others.shape[1]:
            chance = LogisticRegression(C=1.0).fit(others, here).predict_proba(others)[:, 1]
        chance = np.clip(chance, _LEAST_PROPENSITY, 1 - _LEAST_PROPENSITY)
        weight = (here - chance) / (chance * (1 - chance))
        influence = effects[:, [at]] + weight * left
        mean = influence.mean(axis=1)
        scores[:, user] = mean / (influence.std(axis=1, ddof=1) / np.sqrt(runs))
        slowdown[user] = np.expm1(mean[0])
    return _answer(scores, slowdown)


METHODS: dict[str, _Method] = {
    "stepwise": _stepwise,
    "mutual-information": _information,
    "signed-mutual-information": _signed_information,
    "ridge": _ridge,
    "lasso": _lasso,
    "doubly-robust": _doubly_robust,
}
