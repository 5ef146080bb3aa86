"""Numbers in steps, as SHAMan's configurations have them."""

from __future__ import annotations

import bisect
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.tune.space.axes.numbers import MOST_VALUES, NEUTRAL, clipped, excerpt, is_number
from workbench.tune.space.constraints import TunedValue

StepKind = Literal["additive", "multiplicative"]
STEP_KINDS: tuple[str, ...] = get_args(StepKind)


@dataclass(frozen=True)
class Grid:
    """Numbers in ascending order, each a step from the next; coded by their rank.

    Attributes:
        values: the numbers, each once, all whole or all floating-point. ``Grid.steps`` and
            ``Grid.of`` make them.

    Raises:
        ParameterError: there is no value, or one is no finite number, or they are not ascending.
    """

    values: tuple[int, ...] | tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError("a grid must have at least one value; got none")
        for value in self.values:
            if not is_number(value):
                raise ParameterError(
                    f"a grid must hold finite numbers of at most 64 bits; got {value!r}; "
                    "other values are Choices"
                )
        if any(a >= b for a, b in zip(self.values, self.values[1:], strict=False)):
            raise ParameterError(
                f"a grid must ascend, each value once; got {excerpt(self.values)}; "
                "Grid.of(...) sorts them"
            )

    @classmethod
    def of(cls, values: Iterable[float]) -> Grid:
        """Return the grid of these numbers, sorted, each once.

        Args:
            values: numbers; one floating-point number makes all of them so.

        Raises:
            ParameterError: there is none, or one is no finite number.
        """
        given = tuple(values)
        for value in given:
            if not is_number(value):
                raise ParameterError(
                    f"a grid must hold finite numbers of at most 64 bits; got {value!r}; "
                    "other values are Choices"
                )
        whole = all(isinstance(value, int) for value in given)
        found = {value if whole else float(value) for value in given}
        return cls(tuple(sorted(found)))

    @classmethod
    def steps(cls, min: float, max: float, step: float, kind: str = "additive") -> Grid:
        """Return the grid of a minimum, a maximum and a step, as SHAMan's configuration has it.

        Args:
            min: first value.
            max: largest value there may be; it is on the grid where the steps meet it.
            step: what is added to a value for the next, or what it is multiplied with.
            kind: ``additive`` or ``multiplicative``.

        Raises:
            ParameterError: the steps lead nowhere, or to more than ``MOST_VALUES`` values.
        """
        for name, value in (("min", min), ("max", max), ("step", step)):
            if not is_number(value):
                raise ParameterError(f"{name} of a grid must be a finite number; got {value!r}")
        if kind not in STEP_KINDS:
            raise ParameterError(
                f"the steps of a grid must be {' or '.join(STEP_KINDS)}; got {kind!r}"
            )
        if max < min:
            raise ParameterError(f"min of a grid must be at most max; got min {min}, max {max}")
        if kind == "additive":
            return cls(_added(min, max, step))
        return cls(_multiplied(min, max, step))

    @property
    def width(self) -> int:
        """One column: the rank, from 0 for the least value to 1 for the largest."""
        return 1

    @property
    def size(self) -> int:
        """Number of its values."""
        return len(self.values)

    def contains(self, value: TunedValue | None) -> bool:
        """Return whether the grid has this value.

        Args:
            value: any value.
        """
        return is_number(value) and value in self.values

    def coerce(self, value: TunedValue | None) -> TunedValue | None:
        """Return the grid's own value for an equal one, as 2 for 2.0; others unchanged.

        Args:
            value: any value.
        """
        if not is_number(value):
            return value
        if isinstance(self.values[0], float):
            return float(value)
        return int(value) if value == int(value) else value

    def encode(self, value: TunedValue | None) -> tuple[float, ...]:
        """Return the rank of a value over the largest rank; between two values, in between.

        Args:
            value: a number, also one beside the grid; anything else gets the middle.
        """
        if not is_number(value) or len(self.values) == 1:
            return (NEUTRAL,)
        last = len(self.values) - 1
        rank = bisect.bisect_left(self.values, value)
        if rank > last or self.values[rank] == value or rank == 0:
            return (min(rank, last) / last,)
        below, above = self.values[rank - 1 : rank + 1]
        return ((rank - 1 + (value - below) / (above - below)) / last,)

    def decode(self, code: NDArray[np.float64]) -> TunedValue:
        """Return the value whose rank is nearest.

        Args:
            code: float64[1].
        """
        last = len(self.values) - 1
        return self.values[round(clipped(code[0]) * last)]

    def neighbours(self, value: TunedValue | None) -> tuple[TunedValue, ...]:
        """Return the next smaller and the next larger value, where they exist.

        Args:
            value: a number, also one beside the grid.
        """
        if not is_number(value):
            return (self.values[0],)
        left = bisect.bisect_left(self.values, value)
        right = bisect.bisect_right(self.values, value)
        return (*self.values[max(left - 1, 0) : left], *self.values[right : right + 1])

    def sample(self, rng: np.random.Generator) -> TunedValue:
        """Return one of the values, each as likely as the others.

        Args:
            rng: source of randomness.
        """
        return self.values[int(rng.integers(len(self.values)))]

    def first(self) -> TunedValue:
        """Return the least value."""
        return self.values[0]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``axis_from_dict`` reads them back."""
        return {"kind": "grid", "values": list(self.values)}

    def __str__(self) -> str:
        return excerpt(self.values)


def _added(low: float, high: float, step: float) -> tuple[int, ...] | tuple[float, ...]:
    if step <= 0:
        raise ParameterError(f"the step of an additive grid must be above 0; got {step}")
    if isinstance(low, int) and isinstance(step, int):
        count = _counted((math.floor(high) - low) // step)
        return tuple(low + i * step for i in range(count))
    # The last step is taken where rounding alone keeps it from the maximum.
    count = _counted((high - low) / step * (1 + 1e-12) + 1e-9)
    # 0.1 + 2 * 0.1 is 0.30000000000000004; a configuration must not show that.
    return tuple(dict.fromkeys(float(f"{low + i * step:.12g}") for i in range(count)))


def _multiplied(low: float, high: float, step: float) -> tuple[int, ...] | tuple[float, ...]:
    if step <= 1:
        raise ParameterError(f"the step of a multiplicative grid must be above 1; got {step}")
    if low <= 0:
        raise ParameterError(
            f"min of a multiplicative grid must be above 0; got {low}; "
            "write a grid that begins with 0 as a list"
        )
    # A difference of logarithms: the ratio of two numbers may be larger than any number.
    _counted((math.log(high) - math.log(low)) / math.log(step))
    whole = all(isinstance(value, int) for value in (low, step))
    found = []
    value = low
    # As above; whole numbers are exact.
    most = high if whole else min(high * (1 + 1e-12), sys.float_info.max)
    while value <= most:
        found.append(value if whole else float(f"{value:.12g}"))
        value *= step
    return tuple(dict.fromkeys(found))


def _counted(steps: float) -> int:
    """Return the number of values on this many steps, the first value included."""
    if steps >= MOST_VALUES:
        made = math.floor(steps) + 1 if steps < 1e15 else "far more"
        raise ParameterError(
            f"a grid must have at most {MOST_VALUES} values; these steps make {made}; "
            "use a Range, or larger steps"
        )
    return math.floor(steps) + 1
