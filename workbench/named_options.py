"""Options that pass through several functions, listed once and seen by tab completion.

`named_options` lists the keys of a TypedDict, which type checkers know too; `named_fields` lists
the fields of a dataclass for its ``replace``, whose ``**changes`` stay ``Any``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from inspect import Parameter
from types import MappingProxyType, MethodType
from typing import Any, TypeVar, cast

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


def named_fields(method: _F) -> _F:
    """Return a dataclass's method that lists the fields of its class in its signature."""
    return cast(_F, _NamedFields(method))


class _NamedFields:
    """A method with the signature of the class it is taken from, so that subclasses have theirs."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: object | None, owner: type) -> Callable[..., Any]:
        listed: Callable[..., Any] = _with_fields(self._method, owner)
        return listed if instance is None else MethodType(listed, instance)


@functools.cache
def _with_fields(method: Callable[..., Any], owner: Any) -> Any:
    @functools.wraps(method)
    def listed(self: Any, **changes: Any) -> Any:
        return method(self, **changes)

    names = [field.name for field in dataclasses.fields(owner) if field.init]
    named = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names]
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    listed.__signature__ = inspect.Signature([own, *named])  # type: ignore[attr-defined]
    return listed


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the defaults of a function's arguments by name."""
    given = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in given if one.default is not Parameter.empty}
