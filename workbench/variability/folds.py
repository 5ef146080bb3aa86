"""Folds of runs, work on them side by side, and errors with intervals over runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench import tasks
from workbench.arrays import FloatArray
from workbench.errors import SimulationHalted
from workbench.tasks import Task

LEVEL = 0.95
"""Of all intervals."""

FOLDS = 5
"""Parts of the runs, each forecast from the others: chosen, so that four of five runs are learned
from."""

LEAST_RUNS = 3
"""One is held out, and the mean of the others needs two."""

FEW_RUNS = 10
"""The bootstrap's interval of the mean of so many is 18 % narrower than Student's."""

_DRAWS = 2000  # an end then varies over seeds by 3 % of the half-width, of 8000 by 1.5
_Z = 1.959963984540054  # of 95 % of a normal distribution

_Piece = TypeVar("_Piece")


def folds_of_runs(
    runs: int, present: NDArray[np.int64], folds: int, seed: int
) -> NDArray[np.int64]:
    """Return the fold of each run, int64[runs]; -1 for those that are not present."""
    fold = np.full(runs, -1, np.int64)
    fold[present] = np.random.default_rng(seed).permutation(len(present)) % folds
    return fold


def in_threads(work: Sequence[Callable[[Task], _Piece]], task: Task, what: str) -> list[_Piece]:
    """Run pieces of work in threads and return their results; SimulationHalted after a stop."""

    def unless_stopped(one: Callable[[Task], _Piece]) -> _Piece:
        halt_if_stopped(task)
        return one(task)

    done: list[_Piece] = []
    with ThreadPoolExecutor(min(len(work), tasks.cores())) as pool:
        waiting = [pool.submit(unless_stopped, one) for one in work]
        for at, future in enumerate(waiting, 1):
            done.append(future.result())
            task.report(at, len(work), f"{what} {at} of {len(work)}")
    return done


def halt_if_stopped(task: Task) -> None:
    """Raise SimulationHalted once the task is stopped."""
    if task.stopping:
        raise SimulationHalted("stopped before all folds were done")


def drawn_mapes(relative: FloatArray, run: NDArray[np.int64], seed: int) -> FloatArray:
    """Return the mean of ``relative[models, windows]`` in %, in draws of runs, [draws, models]."""
    names, row = np.unique(run, return_inverse=True)
    count = np.bincount(row).astype(np.float64)
    total = np.array([np.bincount(row, one) for one in relative])
    rng = np.random.default_rng([seed, 2])
    weight = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), _DRAWS)
    drawn: FloatArray = 100 * (weight @ total.T) / (weight @ count)[:, None]
    return drawn


def ends(drawn: FloatArray) -> FloatArray:
    """Return the ends of the interval of ``drawn[draws, ...]``, float64[..., 2]."""
    outside = (1 - LEVEL) / 2
    return np.moveaxis(np.quantile(drawn, [outside, 1 - outside], axis=0), 0, -1)


def share_interval(share: FloatArray, of: int) -> FloatArray:
    """Return Wilson's interval of shares of ``of`` cases, float64[..., 2]."""
    centre = (share + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    half = _Z / (1 + _Z**2 / of) * np.sqrt(share * (1 - share) / of + (_Z / (2 * of)) ** 2)
    return np.clip(np.stack([centre - half, centre + half], axis=-1), 0.0, 1.0)
