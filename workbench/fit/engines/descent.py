"""One descent of least squares, as a generator that asks for simulations and is sent their points.

Levenberg's and Marquardt's damping (Moré, The Levenberg-Marquardt Algorithm: Implementation and
Theory, 1978) with slopes by finite differences, corrected after each step by Broyden's formula (A
Class of Methods for Solving Nonlinear Simultaneous Equations, 1965) and taken anew when a step
fails: with n parameters fresh slopes cost n trials, a corrected set none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.fit.engines.engine import Values
from workbench.models import ModelParameter

T = TypeVar("T")
LossAndPoints = tuple[float, FloatArray | None]
Ask = Generator[Values, LossAndPoints, T]
"""Yields the values of a trial, is sent its loss and points, and returns a ``T``."""

Residuals = Callable[[FloatArray], FloatArray]

# Clock ticks and whole packets make the model a staircase at small scale: a nudge must cross many
# of its steps, and stay small against the 10 % by which costs differ.
_NUDGE = 0.004
DIGITS = 6
"""Digits of a proposed value: short enough to read, and rounded by less than 0.001 of a nudge."""

_SAME = 1e-9  # of the range; the sixth digit of a value moves it more. 1e-7: the same fits
# Fits of the protocol model to three machines (600 trials) and of SNAPPR to two of them (300), one
# number changed at a time:
_LONGEST_STEP = 0.2  # of the range; 0.1 and 0.4 end up to 0.3 % worse with SNAPPR, the others alike
_FIRST_DAMPING = 1e-2  # 1e-3 and 1e-1 end within 0.1 % in the loss of SNAPPR, 0.3 % of the others
_LEAST_DAMPING, _MOST_DAMPING = 1e-7, 1e3  # 1e-5, 1e-9, 1e2 and 1e4 change no fit of protocol
MOST_STEPS = 60
"""Steps of a descent; chosen: it ends by its gain, and this stops one that creeps."""


@dataclass(frozen=True)
class FinishedTrial:
    """A finished trial."""

    values: Values  # SI by key
    position: FloatArray  # (parameters,), between the bounds, 0 to 1
    loss: float
    points: FloatArray | None  # (n,), simulated; None if the values were refused


@dataclass(frozen=True)
class Box:
    """The parameters as positions between their bounds."""

    dimensions: tuple[ModelParameter, ...]
    smooth: NDArray[np.intp]  # indices of the dimensions that a descent moves

    def values(self, position: FloatArray) -> Values:
        """Return the values at a position, float64[parameters], 0 to 1."""
        return {
            d.key: d.snap(d.at(x), DIGITS) for d, x in zip(self.dimensions, position, strict=True)
        }

    def position(self, values: Values) -> FloatArray:
        """Return the position of values between their bounds, float64[parameters], 0 to 1."""
        return np.array([d.position(values[d.key]) for d in self.dimensions])

    def ask(self, values: Values) -> Ask[FinishedTrial]:
        """Ask for one trial."""
        loss, points = yield values
        return FinishedTrial(values, self.position(values), loss, points)

    def nudged(self, at: FinishedTrial, index: int, sign: int) -> Values:
        """Return values with one parameter moved slightly up (sign 1) or down (-1)."""
        d = self.dimensions[index]
        value = at.values[d.key]
        span = math.log(d.high / d.low) if d.log else 1.0
        moved = d.snap(d.at(at.position[index] + sign * _NUDGE / span), DIGITS)
        if d.whole and moved == value:
            moved = d.clip(value + sign)
        return {**at.values, d.key: moved}


def descend(
    box: Box, at: FinishedTrial, residuals: Residuals, *, gain: float, most: int = MOST_STEPS
) -> Ask[FinishedTrial]:
    """Descend until a step by fresh slopes gains less than ``gain`` (relative); return the best."""
    if at.points is None or not len(box.smooth):
        return at
    r = residuals(at.points)
    slopes: FloatArray | None = None
    damping, fresh = _FIRST_DAMPING, False
    for _ in range(most):
        if slopes is None:
            slopes, fresh = (yield from _slopes(box, at, r, residuals)), True
        new_values = box.values(_step(box, at.position, slopes, r, damping))
        if np.abs(box.position(new_values) - at.position).max() < _SAME:
            return at
        new = yield from box.ask(new_values)
        new_r = None if new.points is None else residuals(new.points)
        if new_r is not None and new_r @ new_r < r @ r:
            moved = (new.position - at.position)[box.smooth]
            fell = 1.0 - (new_r @ new_r) / (r @ r)
            if fell < gain and fresh:
                return new
            surprise = new_r - r - slopes @ moved
            slopes = None if fell < gain else slopes + np.outer(surprise, moved) / (moved @ moved)
            at, r, fresh = new, new_r, False
            damping = max(damping / 5.0, _LEAST_DAMPING)
        elif fresh:
            damping *= 5.0
            if damping > _MOST_DAMPING:
                return at
        else:
            slopes = None
    return at


def _slopes(box: Box, at: FinishedTrial, r: FloatArray, residuals: Residuals) -> Ask[FloatArray]:
    """Return d residuals / d position, float64[n, smooth]; 0 if both directions are refused."""
    slopes = np.zeros((len(r), len(box.smooth)))
    for column, index in enumerate(box.smooth):
        for sign in (1, -1):
            values = box.nudged(at, int(index), sign)
            width = float(box.position(values)[index] - at.position[index])
            if abs(width) < _SAME:
                continue
            near = yield from box.ask(values)
            if near.points is not None:
                slopes[:, column] = (residuals(near.points) - r) / width
                break
    return slopes


def _step(
    box: Box, position: FloatArray, slopes: FloatArray, r: FloatArray, damping: float
) -> FloatArray:
    """Return the position after a damped step, within the bounds."""
    x = position[box.smooth]
    downhill = -slopes.T @ r
    held = ((x <= 0.0) & (downhill < 0.0)) | ((x >= 1.0) & (downhill > 0.0))
    squares = np.square(slopes).sum(axis=0)
    moving = ~held & (squares > 0.0)
    step = np.zeros(len(x))
    if moving.any():
        damped = np.diag(np.sqrt(damping * squares[moving]))
        step[moving] = np.linalg.lstsq(
            np.vstack([slopes[:, moving], damped]),
            np.concatenate([-r, np.zeros(len(damped))]),
            rcond=None,
        )[0]
        step *= min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), _LONGEST_STEP / 2))
    there = position.copy()
    there[box.smooth] = np.clip(x + step, 0.0, 1.0)
    return there
