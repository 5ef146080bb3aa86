"""The values that one parameter may take in an experiment: a grid, a range, or choices.

Every kind has ``width`` (columns of its code), ``size`` (number of values, None where it is
continuous), ``contains``, ``coerce``, ``encode`` and ``decode`` (places in the unit cube),
``neighbours``, ``sample``, ``first`` and ``to_dict``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import ParameterError
from workbench.tune.space.axes.choices import Choices
from workbench.tune.space.axes.grid import STEP_KINDS, Grid
from workbench.tune.space.axes.numbers import MOST_VALUES, is_number
from workbench.tune.space.axes.range import Range
from workbench.tune.space.constraints import TunedValue

__all__ = [
    "MOST_VALUES",
    "STEP_KINDS",
    "AnyAxis",
    "Choices",
    "Grid",
    "Range",
    "axis_from_dict",
    "axis_of",
    "is_number",
]

AnyAxis = Grid | Range | Choices
"""Every kind of axis there is."""


def axis_of(values: Sequence[TunedValue | None]) -> Grid | Choices:
    """Return the axis that a plain list means: a grid of numbers, or choices of anything else.

    Args:
        values: a list as a YAML file has it.

    Raises:
        ParameterError: it is empty, or holds what is no value of a parameter.
    """
    if values and all(is_number(value) for value in values):
        return Grid.of([value for value in values if is_number(value)])
    return Choices.of(values)


def axis_from_dict(values: Mapping[str, Any]) -> AnyAxis:
    """Return the axis that ``to_dict`` wrote.

    Args:
        values: what ``to_dict`` returned.

    Raises:
        ParameterError: it is no such thing.
    """
    kind = values.get("kind")
    try:
        if kind == "grid":
            return Grid(tuple(values["values"]))
        if kind == "choices":
            return Choices(tuple(values["values"]))
        if kind == "range":
            return Range(
                values["low"], values["high"], bool(values["log"]), bool(values["integer"])
            )
    except (KeyError, TypeError) as error:
        raise ParameterError(
            f"an axis must be as to_dict writes it; {type(error).__name__}: {error}"
        ) from error
    raise ParameterError(f"an axis must be a grid, a range or choices; got kind {kind!r}")
