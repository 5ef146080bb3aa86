"""Values without an order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.tune.space.axes.numbers import MOST_VALUES, excerpt
from workbench.tune.space.constraints import TunedValue


@dataclass(frozen=True)
class Choices:
    """Values without an order, each as far from every other; coded as one column a value.

    Attributes:
        values: the values, each once, in the order they are tried; None is "not passed".

    Raises:
        ParameterError: there is no value, one is there twice, or one is no value of a parameter.
    """

    values: tuple[TunedValue | None, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError("choices must be at least one value; got none")
        if len(self.values) > MOST_VALUES:
            raise ParameterError(
                f"choices must be at most {MOST_VALUES} values; got {len(self.values)}"
            )
        for value in self.values:
            if value is not None and not isinstance(value, bool | int | float | str):
                raise ParameterError(
                    f"a choice must be a number, a text, true or false; got {value!r}"
                )
            if isinstance(value, float) and not math.isfinite(value):
                raise ParameterError(f"a choice must be finite where it is a number; got {value}")
        seen: set[TunedValue | None] = set()
        for value in self.values:
            if value in seen:
                raise ParameterError(
                    f"choices must differ from one another; {value!r} equals an earlier one"
                )
            seen.add(value)

    @classmethod
    def of(cls, values: Iterable[TunedValue | None]) -> Choices:
        """Return the choices of these values, each once, in their order.

        Args:
            values: any values of a parameter.

        Raises:
            ParameterError: there is none, or one is no value of a parameter.
        """
        given = tuple(values)
        for value in given:
            if value is not None and not isinstance(value, bool | int | float | str):
                raise ParameterError(
                    f"a choice must be a number, a text, true or false; got {value!r}"
                )
        found: dict[TunedValue | None, TunedValue | None] = {}
        for value in given:
            first = found.setdefault(value, value)
            if isinstance(first, bool) is not isinstance(value, bool):
                raise ParameterError(
                    f"choices must differ from one another; {value!r} equals {first!r}; "
                    "keep one of them, or put one in quotes"
                )
        return cls(tuple(found))

    @property
    def width(self) -> int:
        """A column for each value."""
        return len(self.values)

    @property
    def size(self) -> int:
        """Number of its values."""
        return len(self.values)

    def contains(self, value: TunedValue | None) -> bool:
        """Return whether this is one of the choices.

        Args:
            value: any value.
        """
        return isinstance(value, bool | int | float | str | None) and value in self.values

    def coerce(self, value: TunedValue | None) -> TunedValue | None:
        """Return the choice that equals a value, as 2 does 2.0; others unchanged.

        Args:
            value: any value.
        """
        return self.values[self.values.index(value)] if value in self.values else value

    def encode(self, value: TunedValue | None) -> tuple[float, ...]:
        """Return 1 in the column of a value and 0 in the others.

        Args:
            value: a choice; anything else has 0 in all columns.
        """
        return tuple(1.0 if each == value else 0.0 for each in self.values)

    def decode(self, code: NDArray[np.float64]) -> TunedValue | None:
        """Return the choice whose column is largest, the first of equals.

        Args:
            code: float64[width].
        """
        return self.values[int(np.argmax(code))]

    def neighbours(self, value: TunedValue | None) -> tuple[TunedValue | None, ...]:
        """Return all other choices.

        Args:
            value: a choice.
        """
        return tuple(each for each in self.values if each != value)

    def sample(self, rng: np.random.Generator) -> TunedValue | None:
        """Return one of the choices, each as likely as the others.

        Args:
            rng: source of randomness.
        """
        return self.values[int(rng.integers(len(self.values)))]

    def first(self) -> TunedValue | None:
        """Return the first choice."""
        return self.values[0]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``axis_from_dict`` reads them back."""
        return {"kind": "choices", "values": list(self.values)}

    def __str__(self) -> str:
        return excerpt(self.values)
