"""Simulate networks of many routers: traffic, collectives and programs over them.

workbench fabric traffic dragonfly:9,8,4 --pattern adversarial --routing ugal-l
workbench fabric replay program.goal --topology torus:8,8,8
workbench fabric collective --config torus.ini --json
"""

from __future__ import annotations

import argparse
from types import ModuleType

from workbench.cli import fabric_collective, fabric_replay, fabric_traffic

ABOUT = "simulate traffic, collectives and programs over networks of many routers"

_ACTIONS: dict[str, ModuleType] = {
    "traffic": fabric_traffic,
    "replay": fabric_replay,
    "collective": fabric_collective,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, module in _ACTIONS.items():
        action = actions.add_parser(
            name,
            help=module.ABOUT,
            description=module.__doc__,
            allow_abbrev=False,
            formatter_class=parser.formatter_class,
        )
        module.add_arguments(action)
        action.set_defaults(action=module.run)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    status: int = arguments.action(arguments)
    return status
