"""Users who slow runs down, found one after another, each given those before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.variability.trend import less

LEVEL = 0.05
"""Adjusted p-value up to which a user is blamed: the usual level of a test."""

_RUNS_A_USER = 10  # chosen: with fewer runs for each user blamed, effects are hardly told apart
_OWN = 0.04  # of a user's variance that others must leave; with less it is taken for one of them
_NOTHING = 1e-12  # of a column that does not vary, as rounding leaves it


@dataclass(frozen=True)
class Steps:
    """What was found of each user, given those who are blamed, float64[users] each."""

    t: FloatArray  # of the user's effect
    effect: FloatArray  # on the logarithm of the time
    p: FloatArray  # share of the orders in which the user has as large a t
    adjusted: FloatArray  # the same of the largest t of all users who are not among those given


def stepwise(
    exposures: Sequence[FloatArray],  # of each kind, [runs, users]
    best: NDArray[np.intp],  # kind that predicts best, [orders]
    y: FloatArray,  # logarithms of the times, [runs]
    orders: NDArray[np.int64],  # [orders, runs], the first as the runs were
    known: FloatArray,  # orthonormal columns that explain times, whoever was there, [runs, terms]
) -> Steps:
    """Return the users found one by one, each tested by the largest t of the users left.

    While the largest t of all is larger than in 95 % of the permutations of what is not explained
    yet (Freedman and Lane 1983), its user is blamed and explained. Whoever is not needed any more,
    given those blamed later, is dropped at the end.
    """
    asked = _Regressions(exposures, best, y, orders, known)
    users = exposures[0].shape[1]
    blamed: list[int] = []
    stage = asked.given(())
    while len(blamed) < len(y) // _RUNS_A_USER:
        largest = stage.t.max(axis=1)
        if (largest >= largest[0]).mean() > LEVEL:
            break
        blamed.append(int(np.argmax(stage.t[0])))
        stage = asked.given(blamed)
    needed = {user: _test(asked.given([one for one in blamed if one != user])) for user in blamed}
    while blamed:
        weakest = min(blamed, key=lambda user: needed[user].t[user])
        if needed[weakest].adjusted[weakest] <= LEVEL:
            break
        blamed.remove(weakest)
        needed = {
            user: _test(asked.given([one for one in blamed if one != user])) for user in blamed
        }
    last = _test(asked.given(blamed))
    rows = [needed.get(user, last) for user in range(users)]

    def each(name: str) -> FloatArray:
        return np.array([getattr(row, name)[user] for user, row in enumerate(rows)])

    return Steps(each("t"), each("effect"), each("p"), each("adjusted"))


@dataclass(frozen=True)
class _Stage:
    """Each user's own regression, given some of them."""

    t: FloatArray  # [orders, users]; 0 for those given
    effect: FloatArray  # [users], of the first order


@dataclass(frozen=True)
class _Regressions:
    exposures: Sequence[FloatArray]
    best: NDArray[np.intp]
    y: FloatArray
    orders: NDArray[np.int64]
    known: FloatArray

    def given(self, users: Sequence[int]) -> _Stage:
        """Return each user's regression, given some of them."""
        taken = self.exposures[self.best[0]][:, users]
        u, size, _ = np.linalg.svd(less(self.known, taken), full_matrices=False)
        basis = np.concatenate([self.known, u[:, size > _NOTHING]], axis=1)
        left = less(basis, self.y)
        y = less(basis, left[self.orders].T).T
        # Which kind predicts best is found anew in each order, until somebody is blamed by one.
        kind = np.full_like(self.best, self.best[0]) if len(users) else self.best
        t = np.zeros((len(y), self.exposures[0].shape[1]))
        effect = np.zeros(t.shape[1])
        for at in np.unique(kind):
            rows = np.flatnonzero(kind == at)
            x = self.exposures[at] - self.exposures[at].mean(axis=0)
            own = less(basis, x)
            total, free = (x**2).sum(axis=0), (own**2).sum(axis=0)
            told = (free > _OWN * total) & (free > _NOTHING)
            scaled = np.divide(own, np.sqrt(free), out=np.zeros_like(own), where=told)
            shared = y[rows] @ scaled
            noise = np.maximum((y[rows] ** 2).sum(axis=1)[:, None] - shared**2, _NOTHING**2)
            t[rows] = shared * np.sqrt((len(self.y) - basis.shape[1] - 1) / noise)
            if rows[0] == 0:
                effect = np.divide(shared[0], np.sqrt(free), out=effect, where=told)
        return _Stage(t, effect)


def _test(stage: _Stage) -> Steps:
    p, adjusted = p_values(stage.t)
    return Steps(stage.t[0], stage.effect, p, adjusted)


def p_values(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p-values and those adjusted for the number of users, of scores float64[1 + n, users].

    The first row is the scores as they are, the others are of permutations, all on a scale that
    users share. The adjustment is the step-down maxT of Westfall and Young (1993).
    """
    scores = np.round(scores, 10)  # what differs by rounding is equal
    p = (scores >= scores[0]).mean(axis=0)
    order = np.argsort(-scores[0], kind="stable")
    largest = np.maximum.accumulate(scores[:, order[::-1]], axis=1)[:, ::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate((largest >= scores[0, order]).mean(axis=0))
    return p, adjusted
