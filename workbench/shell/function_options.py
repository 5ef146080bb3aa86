"""Options of a command that are arguments of the function it calls."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.shell.documented import REQUIRED, DocumentedArgument, documented_arguments

_KINDS: dict[str, dict[str, Any]] = {
    "int": {"type": int, "metavar": "N"},
    "float": {"type": float, "metavar": "X"},
}


class FunctionOptions:
    """Makes options of a function's arguments, and returns those that were given.

        FITTED = FunctionOptions("workbench.fit.fit")
        FITTED.add(parser, "loss", "target")
        FITTED.add(parser, "study", metavar="FILE")
        fit(curve, **FITTED.given(arguments))

    Type, default and help are those of the function's signature and docstring.
    """

    def __init__(self, function: str) -> None:  # such as workbench.fit.fit
        self._function = function
        self._added: set[str] = set()

    def add(
        self,
        parser: argparse._ActionsContainer,
        *names: str,
        option: str | tuple[str, ...] = (),  # instead of the argument's name
        **different: Any,  # for argparse, instead of what follows from the source
    ) -> None:
        """Add an option for each named argument."""
        arguments = documented_arguments(self._function)
        for name in names:
            if name not in arguments:
                raise LookupError(
                    f"{self._function} has no argument {name}; it has {', '.join(arguments)}"
                )
            self._added.add(name)
            options = (option,) if isinstance(option, str) else option
            text = arguments[name].help(" " if "nargs" in different else ",")
            for other in arguments.values():
                if other.name != name:
                    text = text.replace(f"``{other.name}``", _option(other))
            words = _keywords(arguments[name], text.replace("``", ""))
            parser.add_argument(*(options or (_option(arguments[name]),)), **(words | different))

    def given(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the added options that were given; the rest keep their defaults."""
        values = {name: getattr(arguments, name, None) for name in self._added}
        return {name: value for name, value in values.items() if value is not None}


def _keywords(argument: DocumentedArgument, text: str) -> dict[str, Any]:
    """Return the keywords of argparse's ``add_argument`` for an argument."""
    words = {"dest": argument.name, "help": text.replace("%", "%%")}
    if isinstance(argument.default, bool):
        return {**words, "action": "store_false" if argument.default else "store_true"}
    words |= _KINDS.get(argument.annotation.removesuffix(" | None"), {"metavar": "NAME"})
    if argument.name.endswith("_s"):
        words["metavar"] = "S"
    return {**words, "required": argument.default is REQUIRED}


def _option(argument: DocumentedArgument) -> str:
    """Return ``--time-limit`` for ``time_limit_s``, and ``--no-x`` for a flag that is on."""
    words = argument.name.removesuffix("_s").replace("_", "-")
    return f"--no-{words}" if argument.default is True else f"--{words}"
