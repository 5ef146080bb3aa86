"""Options that pass through several functions, listed once and seen by tab completion."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from inspect import Parameter
from types import MappingProxyType
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
_NONE: Mapping[str, Any] = MappingProxyType({})


def named_options(
    options: type,  # the TypedDict of ``**options: Unpack[...]``
    defaults: Mapping[str, Any] = _NONE,  # what help() shows; None for the other options
) -> Callable[[_F], _F]:
    """Return a decorator that lists the keys of a function's options in its signature.

    Type checkers read ``Unpack``; IPython and help() read the signature of the live function.
    """

    def listing(function: _F) -> _F:
        signature = inspect.signature(function)
        *named, _ = signature.parameters.values()
        for name, kind in options.__annotations__.items():
            text = getattr(kind, "__forward_arg__", kind)
            named.append(
                Parameter(name, Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=text)
            )
        function.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
        return function

    return listing


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the defaults of a function's arguments by name."""
    given = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in given if one.default is not Parameter.empty}
