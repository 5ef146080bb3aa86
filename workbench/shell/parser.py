"""The parser of command lines: errors in one paragraph, actions, arguments when they are needed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple, NoReturn


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line as one paragraph, and says which options the chosen command has.

    ``add_arguments`` is called when a command line or a help text first needs them: 0.15 s for all
    commands together. ``option_of`` in what is parsed is the option of each argument, but not of
    those in a group.
    """

    def __init__(
        self,
        *,
        add_arguments: Callable[[argparse.ArgumentParser], None] | None = None,
        **named: Any,
    ) -> None:
        self.option_of: dict[str, str] = {}
        self._later = add_arguments
        super().__init__(allow_abbrev=False, **named)
        self.set_defaults(option_of=self.option_of)

    def add_argument(self, *names: Any, **named: Any) -> argparse.Action:
        """Add an argument as argparse does, and note its option."""
        action = super().add_argument(*names, **named)
        if action.option_strings:
            self.option_of[action.dest] = action.option_strings[-1]
        return action

    def fill(self) -> None:
        """Add the arguments, unless that is done."""
        if self._later is not None:
            add_arguments, self._later = self._later, None
            add_arguments(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, with all arguments added."""
        self.fill()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """End the process with status 2 and one paragraph."""
        self.exit(2, f"workbench: error: {message}; see {self.prog} --help\n")


class Action(NamedTuple):
    """An action of a command, such as ``run`` of ``workbench study run``."""

    about: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    description: str = ""  # empty: ``about``


def add_actions(
    parser: argparse.ArgumentParser,
    actions: Mapping[str, Action | ModuleType],  # a module: with ABOUT, add_arguments and run
    **named: Any,  # for the parser of each action
) -> None:
    """Add the actions of a command by name, of which a command line has one."""
    made = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, action in actions.items():
        if isinstance(action, ModuleType):
            action = Action(action.ABOUT, action.add_arguments, action.run, action.__doc__ or "")
        one = made.add_parser(
            name,
            help=action.about,
            description=action.description or action.about,
            add_arguments=action.add_arguments,
            **named,
        )
        one.set_defaults(run=action.run)
