"""A first fit of a model to the medians of some tests: where its parameters are searched.

The parameters of the model are positive and of unknown size: their logarithms are fitted by least
squares to the logarithms of the times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import least_squares

from workbench.arrays import FloatArray
from workbench.blas import one_thread
from workbench.errors import ParameterError
from workbench.uq.collectives.models import CollectiveModel, CollectiveTest, reach_of
from workbench.uq.parameters import ParameterBox

_STARTS = 6  # 3 and 12 find the same fits of 8 shipped collectives
_STEP = 1e-6  # of a logarithm, for slopes
_SPREAD = 1.5  # of the starts, in e-folds
_IDENTIFIED = 0.02  # least change of a logarithm of a time per e-fold of a parameter


@dataclass(frozen=True, eq=False)
class Pilot:
    """A least-squares fit."""

    model: CollectiveModel
    values: FloatArray  # [parameters]
    residuals: FloatArray  # [tests] logarithm of simulated over measured
    influence: FloatArray  # [parameters] largest change of log time per e-fold of a parameter

    @property
    def error(self) -> float:
        """Root mean square of the residuals."""
        return float(np.sqrt(np.mean(self.residuals**2)))

    def box(self) -> ParameterBox:
        """Return where the parameters are searched, log-uniformly.

        Within the parameter's reach of the fit; the whole range for one that these tests do not
        tell.
        """
        found = []
        for one, value, influence in zip(
            self.model.parameters, self.values, self.influence, strict=True
        ):
            low, high = one.low, one.high
            if influence > _IDENTIFIED:
                reach = reach_of(one)
                low, high = max(low, value / reach), min(high, value * reach)
            found.append(one.within(low, high))
        return ParameterBox(found)


def pilot_fit(
    model: CollectiveModel, tests: Sequence[CollectiveTest], times: FloatArray, seed: int = 0
) -> Pilot:
    """Return the best of several least-squares fits to positive times in s, float64[tests]."""
    if len(tests) < 2:
        raise ParameterError(f"a fit needs at least two tests; got {len(tests)}", key="nodes")
    return _fitted(model, tuple(tests), tuple(np.asarray(times, np.float64).tolist()), seed)


# One calibration asks for the same fits two or three times, a panel's next one again.
@lru_cache(maxsize=256)
def _fitted(
    model: CollectiveModel, tests: tuple[CollectiveTest, ...], times: tuple[float, ...], seed: int
) -> Pilot:
    low, high, start = (
        np.log([getattr(one, name) for one in model.parameters])
        for name in ("low", "high", "value")
    )
    measured = np.log(times)

    def residuals(logs: FloatArray) -> FloatArray:
        return np.asarray(np.log(model.times(np.exp(logs)[None], tests)[0]) - measured)

    def slopes(logs: FloatArray) -> FloatArray:
        # All steps in one call of the model: 4x on a gather's 24 tests and 10 parameters.
        steps = np.vstack([np.zeros(len(logs)), _STEP * np.eye(len(logs))])
        found = np.log(model.times(np.exp(logs + steps), tests))
        return np.asarray((found[1:] - found[0]).T / _STEP)

    rng = np.random.default_rng(seed)
    starts = start + _SPREAD * rng.standard_normal((_STARTS, len(start)))
    starts[0] = start
    inside = np.clip(starts, low + 1e-6, high - 1e-6)
    with one_thread():
        fits = [
            least_squares(residuals, one, jac=slopes, bounds=(low, high), loss="soft_l1")
            for one in inside
        ]
    best = min(fits, key=lambda fit: fit.cost)
    found = np.exp(best.x), residuals(best.x), np.abs(best.jac).max(axis=0)
    for array in found:
        array.flags.writeable = False
    return Pilot(model, *found)
