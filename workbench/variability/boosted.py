"""Boosted trees of scikit-learn that several threads may ask for; they grow one at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import ThreadpoolController

_LOCK, _POOLS = threading.Lock(), ThreadpoolController()


class BoostedTrees(HistGradientBoostingRegressor):  # type: ignore[misc]
    """The same trees whatever other threads do, with one thread each."""

    def fit(self, inputs: NDArray[np.float64], target: NDArray[np.float64]) -> Any:
        """Learn ``target[samples]`` from ``inputs[samples, counters]``."""
        # Sums over samples in several threads differ in their last digits. And scikit-learn (1.8)
        # changes the filters of warnings of the whole process: two threads at a time see none, or
        # leave others behind.
        with _LOCK, _POOLS.limit(limits=1, user_api="openmp"):
            return super().fit(inputs, target)

    def predict(self, seen: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the forecasts of samples, which threads that wait busily would take long for."""
        with _POOLS.limit(limits=1, user_api="openmp"):
            return np.asarray(super().predict(seen))

    def stages(self, seen: NDArray[np.float64], numbers: Sequence[int]) -> NDArray[np.float64]:
        """Return the forecasts of the first so many trees each, float64[numbers, samples]."""
        wanted = set(numbers)
        with _POOLS.limit(limits=1, user_api="openmp"):
            staged = islice(self.staged_predict(seen), max(wanted))
            return np.array([one for number, one in enumerate(staged, 1) if number in wanted])
