"""Rules by name and options, as an experiment stores them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import numpy as np

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean

T = TypeVar("T")

REQUIRED: Final = inspect.Parameter.empty
"""The default of an option that has none."""

_GIVEN_BY_THE_EXPERIMENT = ("space", "seed", "revisit")


def options_of(maker: Callable[..., Any]) -> dict[str, Any]:
    """Return the options of a rule or heuristic and their defaults, ``REQUIRED`` without one."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(maker).parameters.items()
        if name not in _GIVEN_BY_THE_EXPERIMENT
    }


def make_by_name(
    what: str,  # the kind of thing, for errors
    makers: Mapping[str, Callable[..., T]],
    name: str,  # in either case
    options: Mapping[str, Any],
    *given: Any,  # arguments before the options, such as space and seed
) -> T:
    """Return the rule or heuristic of a name, made with these options."""
    key = str(name).lower()
    if key not in makers:
        raise ParameterError(
            f"{what} must be one of {', '.join(makers)}; got {name!r}{did_you_mean(name, makers)}",
            key=what.replace(" ", "_"),
        )
    known = options_of(makers[key])
    for option, value in options.items():
        if option not in known:
            raise ParameterError(
                f"{option!r} is not an option of {what} {key}{did_you_mean(option, known)}; known: "
                f"{', '.join(known) or 'none'}",
                key=option,
            )
        if isinstance(known[option], bool) and not isinstance(value, bool):
            raise ParameterError(f"{option} must be true or false; got {value!r}", key=option)
    required = {name for name, default in known.items() if default is REQUIRED}
    for option in sorted(required - options.keys()):
        raise ParameterError(f"{what} {key} needs {option}", key=option)
    return makers[key](*given, **options)


def plain(value: Any) -> Any:
    """Return an option for JSON: numpy's numbers as Python's, also in lists and mappings."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain(inner) for inner in value)
    return value


def one_of(value: object, known: tuple[str, ...] | Mapping[str, Any], key: str) -> None:
    """Raise unless a value is among the known names."""
    if value not in known:
        raise ParameterError(
            f"{key} must be one of {', '.join(known)}; got {value!r}{did_you_mean(value, known)}",
            key=key,
        )
