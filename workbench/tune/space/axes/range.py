"""Every number between two bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.parameters import Span
from workbench.tune.space.axes.numbers import NEUTRAL, clipped, is_number
from workbench.tune.space.constraints import TunedValue

# Annealing ends 0.50 above the optimum of Hartmann's six dimensions (100 runs, median of 24 seeds);
# with 10 it ends 0.36 above, with 40 1.32. Chosen, and not the best there.
_STEPS_OF_A_RANGE = 20
_MOST_WHOLE = 2**53  # a float holds every whole number up to it


@dataclass(frozen=True)
class Range(Span):
    """Every number between two bounds, both inclusive.

    Attributes:
        low, high: the bounds.
        log: whether the search is even in the logarithm.
        integer: whether only whole numbers count.

    Raises:
        ParameterError: a bound is no finite number, they are out of order, or not as the scale
            or the type needs them.
    """

    low: float
    high: float
    log: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            value = getattr(self, name)
            if not is_number(value):
                raise ParameterError(f"{name} of a range must be a finite number; got {value!r}")
            if self.integer and value != int(value):
                raise ParameterError(
                    f"{name} of a range of whole numbers must be one; got {value!r}"
                )
            object.__setattr__(self, name, int(value) if self.integer else float(value))
        if not self.low < self.high:
            raise ParameterError(
                f"low of a range must be below high; got low {self.low}, high {self.high}"
            )
        if not math.isfinite(float(self.high) - float(self.low)):
            raise ParameterError(
                f"a range must not be wider than the largest number; got low {self.low}, high "
                f"{self.high}; bring the bounds together"
            )
        if self.integer and self.high - self.low >= _MOST_WHOLE:
            raise ParameterError(
                f"a range of whole numbers must be narrower than 2**53, as a place in it is a "
                f"float; got low {self.low}, high {self.high}; bring the bounds together"
            )
        if self.log and self.low <= 0:
            raise ParameterError(
                f"low of a range on a log scale must be positive; got {self.low}; "
                "raise it, or leave log out"
            )

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.integer

    @property
    def width(self) -> int:
        """One column: where a value lies between the bounds, on the scale of the search."""
        return 1

    @property
    def size(self) -> int | None:
        """Number of its values where they are whole, else None."""
        return int(self.high) - int(self.low) + 1 if self.integer else None

    def contains(self, value: TunedValue | None) -> bool:
        """Return whether a value lies within the bounds, and is whole where it must be.

        Args:
            value: any value.
        """
        if not is_number(value) or not self.low <= value <= self.high:
            return False
        return not self.integer or value == int(value)

    def coerce(self, value: TunedValue | None) -> TunedValue | None:
        """Return a number in the type of the range; others unchanged.

        Args:
            value: any value.
        """
        if not is_number(value):
            return value
        if not self.integer:
            return float(value)
        return int(value) if value == int(value) else value

    def encode(self, value: TunedValue | None) -> tuple[float, ...]:
        """Return the place of a number between the bounds, 0 to 1.

        Args:
            value: a number; beyond the bounds it counts as the nearer; anything else gets 0.5.
        """
        return (clipped(self.position(value)) if is_number(value) else NEUTRAL,)

    def decode(self, code: NDArray[np.float64]) -> TunedValue:
        """Return the number at a place between the bounds.

        Args:
            code: float64[1].
        """
        return self.at(clipped(code[0]))

    def neighbours(self, value: TunedValue | None) -> tuple[TunedValue, ...]:
        """Return the numbers a twentieth of the range below and above, or the bounds.

        Args:
            value: a number; whole numbers move by one at least.
        """
        if not is_number(value):
            return (self.first(),)
        inside = min(max(value, self.low), self.high)
        (at,) = self.encode(inside)
        found: list[TunedValue] = []
        for sign in (-1, 1):
            moved = self.decode(np.array([at + sign / _STEPS_OF_A_RANGE]))
            if self.integer and moved == inside:
                moved = int(inside) + sign
            if moved != value and self.contains(moved):
                found.append(moved)
        return tuple(found)

    def sample(self, rng: np.random.Generator) -> TunedValue:
        """Return a number drawn evenly over the range, on its scale.

        Args:
            rng: source of randomness.
        """
        if self.integer and not self.log:
            return int(rng.integers(int(self.low), int(self.high), endpoint=True))
        return self.decode(np.array([rng.random()]))

    def first(self) -> TunedValue:
        """Return the lower bound."""
        return self.low

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``axis_from_dict`` reads them back."""
        return {
            "kind": "range",
            "low": self.low,
            "high": self.high,
            "log": self.log,
            "integer": self.integer,
        }

    def __str__(self) -> str:
        words = "whole numbers, " * self.integer + "log scale" * self.log
        tail = f" ({words.rstrip(', ')})" if words else ""
        return f"{self.low:g} to {self.high:g}{tail}"
