"""What a configuration is worth: simulated, and only for as long as the rest can matter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.arrays import FloatArray
from workbench.errors import SimulationHalted, WorkbenchError
from workbench.fit.losses import EXCESSIVE_LOSS, Loss, LossTarget, target_points
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.simulate import BENCHMARKS, simulate_osu
from workbench.tasks import Task


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a trial."""

    loss: float  # EXCESSIVE_LOSS if the configuration was refused
    invalid: str = ""  # reason of the refusal
    points: FloatArray | None = None  # (n,); None if refused or ended early
    ended_early: bool = False  # the true loss is at least ``loss``


class Evaluator:
    """Simulates configurations of a model and compares them with a measured curve."""

    def __init__(
        self, model: NetworkModel, curve: OSUCurve, loss: Loss, target: LossTarget
    ) -> None:
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
        limit: float = math.inf,
        task: Task | None = None,
    ) -> Outcome:
        """Return a configuration's outcome; stop simulating once its loss must exceed ``limit``."""

        # A loss is a mean of terms >= 0, or rises with one, so later points only raise it. Large
        # messages come last and take most of the time: most poor configurations cost little.
        def beyond(latency_s: FloatArray, bandwidth_Bps: FloatArray) -> bool:
            points = self._points(latency_s, bandwidth_Bps)
            return self._least_loss(points) > limit

        watch = limit < math.inf and "bandwidth" in self._benchmarks
        try:
            simulated = simulate_osu(
                self._model.with_values(values),
                self._sizes,
                benchmarks=self._benchmarks,
                enough=beyond if watch else None,
                task=task,
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
        """Return the loss if all points not yet simulated were exactly right."""
        return self._loss(np.where(np.isnan(points), self.observed, points), self.observed)
