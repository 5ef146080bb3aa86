"""Rules by name and options, as an experiment stores them."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Generic, TypeVar, cast

import numpy as np

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean

T = TypeVar("T")

REQUIRED: Final = inspect.Parameter.empty
"""The default of an option that has none."""

_GIVEN_BY_THE_EXPERIMENT = ("space", "seed", "most_runs")

_NAME = re.compile(r"[a-z][a-z0-9-]*")


class Makers(Mapping[str, Callable[..., T]], Generic[T]):
    """The constructors of heuristics or of rules, by name; `register` adds one of your own."""

    def __init__(
        self,
        what: str,  # the kind of thing, such as heuristic
        method: Callable[..., Any],  # of the protocol that each follows
        makers: Mapping[str, Callable[..., T]],
        given: tuple[str, ...] = (),  # the first arguments, which are no options
    ) -> None:
        self._what = what
        self._method = method
        self._given = given
        self._makers = dict(makers)
        self._shipped = frozenset(("none", *makers))

    def register(self, name: str, maker: Any) -> None:
        """Add one of your own: in this process it can then be chosen by its name everywhere.

        Its arguments after the given ones are its options. The same class or function may be
        registered again, as happens where a cell of a notebook runs twice.

        Args:
            name: lower-case letters, digits and hyphens.
            maker: class, or function that returns an object, with the method of the kind: ``ask``
                of a heuristic, made with ``(space, seed)``, ``should_repeat`` of a resampling,
                ``limit_s`` of a pruning or ``reason`` of a stopping rule.

        Raises:
            ParameterError: the name is taken or no name, or what is made lacks the method, or has
                arguments that are no options.
        """
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise ParameterError(
                f"name must be lower-case letters, digits and hyphens, such as my-own; "
                f"got {name!r}",
                key="name",
            )
        if not callable(maker):
            raise ParameterError(
                f"a {self._what} must be a class or a function that makes one; got {maker!r}",
                key="maker",
            )
        if name in self._shipped or _origin(self._makers.get(name, maker)) != _origin(maker):
            raise ParameterError(
                f"a {self._what} named {name} is there already; choose another name", key="name"
            )
        self._check_arguments(maker)
        if inspect.isclass(maker):
            self._check_made(maker, maker, None)
            self._makers[name] = cast("type[T]", maker)
        else:
            self._makers[name] = self._checked(maker)

    @property
    def registered(self) -> tuple[str, ...]:
        """The names that `register` added; other processes do not know them."""
        return tuple(name for name in self._makers if name not in self._shipped)

    def __getitem__(self, name: str) -> Callable[..., T]:
        return self._makers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"Makers({self._what}: {', '.join(self)})"

    def _check_arguments(self, maker: Callable[..., T]) -> None:
        parameters = [*inspect.signature(maker).parameters.values()]
        first = tuple(each.name for each in parameters[: len(self._given)])
        if first != self._given:
            raise ParameterError(
                f"a {self._what} must be made with ({', '.join(self._given)}) and then its "
                f"options; {_name(maker)} is made with "
                f"({', '.join(each.name for each in parameters)})",
                key="maker",
            )
        by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        for each in parameters[len(self._given) :]:
            if each.kind not in by_name:
                raise ParameterError(
                    f"each option of a {self._what} must have a name; {_name(maker)} takes {each}",
                    key="maker",
                )

    def _checked(self, maker: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(maker)
        def make(*given: Any, **options: Any) -> T:
            made = maker(*given, **options)
            self._check_made(maker, made)
            return made

        return make

    def _check_made(self, maker: object, made: object, *itself: None) -> None:
        name = self._method.__name__
        has = getattr(made, name, None)
        wanted = [*inspect.signature(self._method).parameters.values()][1:]
        bare = [each.replace(annotation=each.empty) for each in wanted]
        call = str(inspect.Signature(bare))
        if not callable(has):
            raise ParameterError(
                f"a {self._what} must have a method {name}{call}; {_name(maker)} has none",
                key="maker",
            )
        given = [each for each in wanted if each.default is each.empty]
        options = {each.name: each.default for each in wanted if each.default is not each.empty}
        try:
            inspect.signature(has).bind(*itself, *given, **options)
        except TypeError:
            raise ParameterError(
                f"the method {name} of {_name(maker)} must be called as {name}{call}; it has "
                f"{inspect.signature(has)}",
                key="maker",
            ) from None


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


def _name(maker: object) -> str:
    return getattr(maker, "__qualname__", repr(maker))


def _origin(maker: object) -> tuple[object, str]:
    """Return the module and the name by which a class or function is known when defined anew."""
    return getattr(maker, "__module__", None), _name(maker)
