"""Which counters boosted trees need: all but the least useful one, again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.tasks import Task
from workbench.variability.folds import halt_if_stopped

Trees = Literal["histogram", "exact"]

_MOST_SAMPLES = 4000  # that elimination learns from: more change its choice little
_MOST_CHECKED = 1500  # that it is checked on
_CHECKED = 0.25  # share of the groups that each number of counters is checked on


@dataclass(frozen=True)
class Elimination:
    """In which order counters were set aside, and how many are needed.

    Chosen are the fewest whose cost on groups not learned from is within one standard error of the
    least; none where the mean does as well.
    """

    place: NDArray[np.int64]  # of each counter: 1 for the last one left, 2 for the one before it
    error: FloatArray  # mean cost with 1, 2, ... counters
    chosen: NDArray[np.bool_]  # [counters]


def eliminate(
    inputs: FloatArray,  # [samples, counters]
    target: FloatArray,
    weight: FloatArray,  # cost of an error of 1, [samples]
    group: NDArray[np.int64],  # of samples that are learned from or checked together
    trees: Trees,
    rng: np.random.Generator,  # of the samples that are used, the trees and the exchanges
    task: Task,
) -> Elimination:
    """Set counters aside one at a time, the one with the least importance first.

    With ``histogram`` trees the importance of a counter is by how much the cost of samples that
    were not learned from rises when its readings are exchanged among them; with ``exact`` ones it
    is that of scikit-learn, as in the paper (Bhatele et al. 2020, IV-B). SimulationHalted once
    the task is stopped.
    """
    names = rng.permutation(np.unique(group))
    checked = np.isin(group, names[: max(1, round(_CHECKED * len(names)))])
    learn = rng.permutation(np.flatnonzero(~checked))[:_MOST_SAMPLES]
    check = rng.permutation(np.flatnonzero(checked))[:_MOST_CHECKED]
    count = inputs.shape[1]
    left, order = np.arange(count), list[int]()
    costs = {0: weight[check] * np.abs(target[learn].mean() - target[check])}
    seed = int(rng.integers(2**31))
    while len(left):
        halt_if_stopped(task)
        model = grow(inputs[np.ix_(learn, left)], target[learn], trees, seed)
        seen = inputs[np.ix_(check, left)]
        costs[len(left)] = weight[check] * np.abs(model.predict(seen) - target[check])
        if trees == "exact":
            use = model.feature_importances_
        else:
            use = _exchanged(model, seen, target[check], weight[check], rng)
        worst = int(np.argmin(use))
        order.append(int(left[worst]))
        left = np.delete(left, worst)
    place = np.empty(count, np.int64)
    place[order[::-1]] = np.arange(1, count + 1)
    error = np.array([costs[number].mean() for number in range(1, count + 1)])
    return Elimination(place, error, place <= _fewest(costs, group[check]))


def grow(inputs: FloatArray, target: FloatArray, trees: Trees, seed: int) -> Any:
    """Return boosted trees that have learned; missing readings are 0 for ``exact`` ones."""
    if trees == "exact":
        from sklearn.ensemble import GradientBoostingRegressor

        return GradientBoostingRegressor(random_state=seed).fit(inputs, target)
    from workbench.variability.boosted import BoostedTrees

    # On 3000 steps with 23 counters 0.07 s, exact trees 1.4 s, with an error that is 2 % more.
    return BoostedTrees(
        max_iter=50,
        learning_rate=0.2,
        max_leaf_nodes=8,
        min_samples_leaf=max(2, min(20, len(target) // 10)),
        early_stopping=False,
        random_state=seed,
    ).fit(inputs, target)


def _exchanged(
    model: Any,
    seen: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the mean cost with each counter's readings exchanged among samples."""
    order = rng.permutation(len(seen))
    changed = np.repeat(seen[None], seen.shape[1], axis=0)
    for at in range(seen.shape[1]):
        changed[at, :, at] = seen[order, at]
    found = model.predict(changed.reshape(-1, seen.shape[1])).reshape(len(changed), -1)
    cost: FloatArray = (weight * np.abs(found - target)).mean(axis=1)
    return cost


def _fewest(costs: Mapping[int, FloatArray], group: NDArray[np.int64]) -> int:
    """Return the least number of counters whose cost, float64[samples], is hardly more."""
    names, row = np.unique(group, return_inverse=True)
    numbers = np.array(list(costs))
    each = np.array([np.bincount(row, one) for one in costs.values()])
    worse = each - each[int(each.sum(axis=1).argmin())]
    error = worse.std(axis=1) * np.sqrt(len(names))
    return int(numbers[worse.sum(axis=1) <= error].min())
