"""What a configuration is worth: simulated, and only for as long as the rest can matter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.errors import SimulationHalted, WorkbenchError
from workbench.fit.losses import EXCESSIVE_LOSS, FloatArray, Loss, Target, target_points
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.simulate import BENCHMARKS, simulate_osu


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a trial.

    Attributes:
        loss: the loss; ``EXCESSIVE_LOSS`` where the configuration was refused.
        invalid: why it was refused, empty where it was not.
        points: float64[n], the simulated points; None where it was refused or ended early.
        ended_early: whether the simulation was ended because its loss is at least ``loss``, and
            by how much more does not matter.
    """

    loss: float
    invalid: str = ""
    points: FloatArray | None = None
    ended_early: bool = False


class Evaluator:
    """Simulates configurations of a model and compares them with a measured curve.

    Args:
        model: what the configurations are of.
        curve: what was measured.
        loss: how they are compared.
        target: benchmarks the loss is summed over.
    """

    def __init__(self, model: NetworkModel, curve: OSUCurve, loss: Loss, target: Target) -> None:
        self._model = model
        self._sizes = tuple(curve.sizes.tolist())
        self._loss = loss
        self._target = target
        self._benchmarks = BENCHMARKS if target == "both" else (target,)
        self.observed: FloatArray = target_points(curve, target)

    def __call__(
        self,
        values: Mapping[str, float | int],
        *,
        halt: NDArray[np.int8] | None = None,
        limit: float = math.inf,
    ) -> Outcome:
        """Return what came of a configuration; one that is refused scores excessively.

        The simulation is ended once the points it has come to make the loss greater than
        ``limit``, whatever the others will be: each loss is a mean of terms that are not negative,
        or rises with such a mean. Large messages take most of the time and stand last, so that
        most poor configurations cost a fraction of a good one.

        Args:
            values: SI by key.
            halt: as in ``simulate_osu``.
            limit: a loss above which it does not matter by how much.

        Raises:
            SimulationHalted: ``halt`` was set.
        """

        def beyond(latency_s: FloatArray, bandwidth_Bps: FloatArray) -> bool:
            points = self._points(latency_s, bandwidth_Bps)
            return self._least_loss(points) > limit

        watch = limit < math.inf and "bandwidth" in self._benchmarks
        try:
            simulated = simulate_osu(
                self._model.with_values(values),
                self._sizes,
                benchmarks=self._benchmarks,
                halt=halt,
                enough=beyond if watch else None,
            )
        except SimulationHalted:
            raise
        except WorkbenchError as error:
            return Outcome(EXCESSIVE_LOSS, str(error))
        points = target_points(simulated, self._target)
        if watch and np.isnan(points).any():
            return Outcome(self._least_loss(points), ended_early=True)
        loss = self._loss(points, self.observed)
        if loss < EXCESSIVE_LOSS:
            return Outcome(loss, points=points)
        return Outcome(EXCESSIVE_LOSS, "the simulated curve is not finite")

    def _points(self, latency_s: FloatArray, bandwidth_Bps: FloatArray) -> FloatArray:
        parts = {"latency": latency_s * 1e6, "bandwidth": bandwidth_Bps * 1e-6}
        return np.concatenate([parts[name] for name in self._benchmarks])

    def _least_loss(self, points: FloatArray) -> float:
        """Return the loss if all points that are still to come were exactly right."""
        return self._loss(np.where(np.isnan(points), self.observed, points), self.observed)
