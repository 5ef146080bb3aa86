"""Counts that callers give: whole numbers, neither cut off nor rounded in silence."""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np

from workbench.errors import ParameterError


def integer(value: object) -> int | None:
    """Return a whole number, numpy's included, as an int; None for a float, a bool or no number."""
    if type(value) is int:
        return value
    try:
        if not isinstance(value, bool | np.bool_):
            return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    return None


def whole(value: object, name: str) -> int:
    """Return a count as an int; ``name`` is the argument that an error names."""
    number = integer(value)
    if number is not None:
        return number
    raise ParameterError(
        f"{name} must be whole numbers, of type int; got {value!r} of type {type(value).__name__}",
        key=name,
    )


def whole_each(values: Iterable[object], name: str) -> tuple[int, ...]:
    """Return counts as ints, see ``whole``."""
    return tuple(whole(value, name) for value in values)
