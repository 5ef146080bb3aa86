"""Users who slow runs down, found one after another, each given those before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    y: FloatArray,  # logarithms of the times, [runs]
    orders: NDArray[np.int64],  # [orders, runs], the first as the runs were
    known: FloatArray,  # orthonormal columns that explain times, whoever was there, [runs, terms]
) -> Steps:
    """Return the users found one by one, each tested by the largest t of the users left.

    A user's t is that of the kind of exposure which says most, in each order anew, as nobody knows
    beforehand whether the user's jobs count by their nodes or by being there.

    While the largest t of all is larger than in 95 % of the permutations of what is not explained
    yet (Freedman and Lane 1983), its user is blamed and explained. Whoever is not needed any more,
    given those blamed later, is dropped at the end.
    """
    asked = _Regressions(exposures, y, orders, known)
    users = exposures[0].shape[1]
    blamed: dict[int, int] = {}  # the kind of exposure by which each is blamed
    stage = asked.given(blamed)
    while len(blamed) < len(y) // _RUNS_A_USER:
        largest = stage.t.max(axis=1)
        if (largest >= largest[0]).mean() > LEVEL:
            break
        first = int(np.argmax(stage.t[0]))
        blamed[first] = int(stage.kind[first])
        stage = asked.given(blamed)
    needed = _given_the_others(asked, blamed)
    while blamed:
        weakest = min(blamed, key=lambda user: needed[user].t[user])
        if needed[weakest].adjusted[weakest] <= LEVEL:
            break
        del blamed[weakest]
        needed = _given_the_others(asked, blamed)
    last = _test(asked.given(blamed))
    rows = [needed.get(user, last) for user in range(users)]

    def each(name: str) -> FloatArray:
        return np.array([getattr(row, name)[user] for user, row in enumerate(rows)])

    return Steps(each("t"), each("effect"), each("p"), each("adjusted"))


@dataclass(frozen=True)
class _Stage:
    """Each user's own regression, given some of them, on the kind of exposure that says most."""

    t: FloatArray  # [orders, users]; 0 for those given
    effect: FloatArray  # [users], of the first order
    kind: NDArray[np.intp]  # [users], of the first order


@dataclass(frozen=True)
class _Regressions:
    exposures: Sequence[FloatArray]
    y: FloatArray
    orders: NDArray[np.int64]
    known: FloatArray

    def given(self, blamed: Mapping[int, int]) -> _Stage:
        """Return each user's regression, given some of them by a kind of exposure each."""
        taken = [self.exposures[kind][:, user] for user, kind in blamed.items()]
        columns = np.array(taken).reshape(len(taken), len(self.y)).T
        u, size, _ = np.linalg.svd(less(self.known, columns), full_matrices=False)
        basis = np.concatenate([self.known, u[:, size > _NOTHING]], axis=1)
        left = less(basis, self.y)
        y = less(basis, left[self.orders].T).T
        total = (y**2).sum(axis=1)[:, None]
        users = self.exposures[0].shape[1]
        t, effect = np.full((len(y), users), -np.inf), np.zeros(users)
        kind = np.zeros(users, np.intp)
        for at, exposure in enumerate(self.exposures):
            own = less(basis, exposure)
            varies, free = (less(self.known, exposure) ** 2).sum(axis=0), (own**2).sum(axis=0)
            told = (free > _OWN * varies) & (free > _NOTHING)
            scaled = np.divide(own, np.sqrt(free), out=np.zeros_like(own), where=told)
            shared = y @ scaled
            noise = np.maximum(total - shared**2, _NOTHING**2)
            now = shared * np.sqrt((len(self.y) - basis.shape[1] - 1) / noise)
            better = now[0] > t[0]
            kind[better] = at
            effect[better] = np.divide(shared[0], np.sqrt(free), out=np.zeros(users), where=told)[
                better
            ]
            np.maximum(t, now, out=t)
        t[:, list(blamed)] = 0
        return _Stage(t, effect, kind)


def _given_the_others(asked: _Regressions, blamed: Mapping[int, int]) -> dict[int, Steps]:
    """Return the test of each user who is blamed, given the others."""
    return {
        user: _test(asked.given({one: kind for one, kind in blamed.items() if one != user}))
        for user in blamed
    }


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
