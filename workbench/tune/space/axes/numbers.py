"""What the kinds of axes share: which numbers they take, and how they write their values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeGuard

MOST_VALUES = 100_000
"""More values than this on a grid are a range."""

NEUTRAL = 0.5
"""The place in the unit cube of a value that has none."""

_LARGEST = 2**63  # whole numbers of 64 bits, as NumPy and SQLite hold them


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite number, and one of 64 bits where it is whole.

    Args:
        value: any value; true and false are none.
    """
    if isinstance(value, int):
        return not isinstance(value, bool) and -_LARGEST <= value < _LARGEST
    return isinstance(value, float) and math.isfinite(value)


def clipped(position: float) -> float:
    """Return a number clipped to 0..1."""
    return float(min(max(position, 0.0), 1.0))


def excerpt(values: Sequence[Any]) -> str:
    """Return values of an axis as text, the middle of many left out; None is "not passed"."""
    names = {None: "not passed", "": '""'}
    words = [names.get(value, str(value)) for value in values]
    if len(words) > 8:
        words = [*words[:4], "…", *words[-2:]]
    return ", ".join(words)
