"""Checks of numbers that callers give: whole numbers are neither cut off nor rounded in silence."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable
from numbers import Real
from typing import Final

import numpy as np

from workbench.errors import ParameterError

MOST_WHOLE: Final = 2**63 - 1  # the greatest int64, which the kernels take


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


def whole(
    value: object,
    name: str,  # the argument, for the error
    least: int | None = None,
    most: int | None = MOST_WHOLE,
    *,
    meaning: str = "",  # of the argument, for the error
    unit: str = "",
    noun: str = "a whole number",
) -> int:
    """Return a whole number as an int, numpy's included, if it is from ``least`` to ``most``."""
    found = integer(value)
    subject, unit = f"{name}, {meaning}," if meaning else name, unit and f" {unit}"
    if found is None or (least is not None and found < least):
        bound = "" if least is None else f" of at least {least}{unit}"
        raise ParameterError(f"{subject} must be {noun}{bound}; got {value!r}", key=name)
    if most is not None and found > most:
        raise ParameterError(f"{subject} must be at most {most}{unit}; got {value!r}", key=name)
    return found


def whole_each(
    values: Iterable[object], name: str, least: int | None = None, most: int = MOST_WHOLE
) -> tuple[int, ...]:
    """Return whole numbers as ints, each one checked as ``whole`` does."""
    return tuple(whole(value, name, least, most, noun="whole numbers") for value in values)


def number(
    value: object, name: str, least: float = -math.inf, most: float = math.inf, *, unit: str = ""
) -> float:
    """Return a finite number from ``least`` to ``most``, numpy's included, as a float."""
    found = _real(value)
    unit = unit and f" {unit}"
    if found is None or not found >= least:
        bound = f" of at least {least:g}{unit}" if math.isfinite(least) else ""
        raise ParameterError(f"{name} must be a number{bound}; got {value!r}", key=name)
    # An int can be larger than any float.
    if abs(found) > sys.float_info.max:
        raise ParameterError(f"{name} must be finite; got {value!r}", key=name)
    if found > most:
        raise ParameterError(f"{name} must be at most {most:g}{unit}; got {value!r}", key=name)
    return float(found)


def above_zero(value: object, name: str, *, unit: str = "") -> float:
    """Return a finite number above 0 as a float."""
    found = _real(value)
    if found is None or not 0 < found <= sys.float_info.max:
        after = unit and f" {unit}"
        raise ParameterError(f"{name} must be above 0{after} and finite; got {value!r}", key=name)
    return float(found)


def _real(value: object) -> float | None:
    """Return a number, numpy's included, as an int or float; None for a bool or no number."""
    found: float | None = integer(value)
    # Python's bool is a Real as well.
    if found is None and type(value) is not bool and isinstance(value, Real):
        found = float(value)
    return found
