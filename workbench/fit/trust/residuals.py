"""What a fit's residuals do when its parameters move: the ground that identifiability stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.arrays import FloatArray
from workbench.errors import ParameterError, WorkbenchError
from workbench.fit.losses import find_loss, target_points
from workbench.fit.result import FitResult
from workbench.models import ModelParameter
from workbench.simulate import BENCHMARKS, simulate_osu

RELATIVE_STEP = 0.01
"""How far a derivative's two points lie from the fitted value: 1 % of it each way.

Far above the clock's tick (1e-16 s) and the four digits TPE's values have; the error of a central
difference of a logarithm is then of the order of 1e-4 of the slope.
"""

LEAST_STEP = 1e-3
"""The step of a parameter on a linear scale that is near zero, as a share of its bounds' range."""


@dataclass(frozen=True)
class Response:
    """The result of one configuration."""

    residuals: FloatArray  # (n,), ln(simulated / measured) at the target's points
    loss: float  # in the fit's own unit


class Probe:
    """Simulates a fitted model with some parameters moved, by position between their bounds."""

    def __init__(self, result: FitResult) -> None:
        if not result.success:
            raise ParameterError(
                f"the fit must have succeeded to be analysed; got {result!r}", key="result"
            )
        measured = target_points(result.measured, result.target)
        self._known = np.isfinite(measured)
        self._measured = measured[self._known]
        if (self._measured <= 0).any():
            raise ParameterError(
                "measured points must be positive, their logarithm is taken; got "
                f"{self._measured.min():g}; leave that point out",
                key="result",
            )
        self._result = result
        self._loss = find_loss(result.loss)
        self._sizes = result.measured.sizes
        self._wanted = BENCHMARKS if result.target == "both" else (result.target,)
        self.dimensions = tuple(d for d in result.space.dimensions if not d.threshold)
        self.values = result.values
        self.start = np.array([d.position(self.values[d.key]) for d in self.dimensions])
        self.simulations = 0
        best = self.at(self.start)
        if best is None:
            raise ParameterError(
                "the fitted model must be one that can be simulated; this release refuses it: fit "
                "again",
                key="result",
            )
        self.best = best

    @property
    def points(self) -> int:
        """Number of measured points of the target."""
        return len(self._measured)

    def at(
        self, positions: FloatArray, thresholds: Mapping[str, int] | None = None
    ) -> Response | None:
        """Return the response at positions, float64[n_dimensions]; None if it is refused."""
        moved = self.moved(positions)
        self.simulations += 1
        try:
            model = self._result.model.with_values({**moved, **(thresholds or {})})
            curve = simulate_osu(model, self._sizes, benchmarks=self._wanted)
        except WorkbenchError:
            return None
        simulated = target_points(curve, self._result.target)
        points = simulated[self._known]
        if not (np.isfinite(points) & (points > 0)).all():
            return None
        loss = self._loss(points, self._measured)
        return Response(np.log(points / self._measured), loss)

    def moved(self, positions: FloatArray) -> dict[str, float | int]:
        """Return the values, SI by key, of the parameters that left their start."""
        return {
            d.key: d.at(float(x))
            for d, x, x0 in zip(self.dimensions, positions, self.start, strict=True)
            if x != x0
        }

    def jacobian(self) -> FloatArray:
        """Return d residuals / d position at the fit, float64[n_points, n_dimensions]."""
        columns = [self._slope(i) for i in range(len(self.dimensions))]
        return np.array(columns).reshape(len(columns), self.points).T

    def loss_of_share(self, share: float) -> float:
        """Return the loss of a curve with this relative error at every point."""
        return self._loss(self._measured * (1.0 + share), self._measured)

    def _slope(self, i: int) -> FloatArray:
        # Central; one-sided at a bound or beside a refused configuration, 0 if nothing moves.
        dimension, x0 = self.dimensions[i], float(self.start[i])
        ends = []
        for sign in (-1, 1):
            x = _stepped(dimension, self.values[dimension.key], sign)
            positions = self.start.copy()
            positions[i] = x
            response = self.at(positions) if x != x0 else None
            ends.append((x0, self.best) if response is None else (x, response))
        (low, before), (high, after) = ends
        if high == low:
            return np.zeros(self.points)
        slope: FloatArray = (after.residuals - before.residuals) / (high - low)
        return slope


def _stepped(dimension: ModelParameter, value: float, sign: int) -> float:
    """Return the position one step away, as near as whole numbers and the bounds allow."""
    step = RELATIVE_STEP * abs(value)
    if not dimension.log:
        step = max(step, LEAST_STEP * (dimension.high - dimension.low))
    if dimension.whole:
        step = max(1, round(step))
    return dimension.position(dimension.clip(value + sign * step))
