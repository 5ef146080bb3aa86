"""``--machine``, which every command that needs a machine takes: a name, or a file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli.output import say

if TYPE_CHECKING:
    from workbench.machines import Machine


def add_machine(parser: argparse._ActionsContainer, about: str) -> None:
    """Add ``--machine``; ``about`` says what the command takes from it."""
    parser.add_argument(
        "--machine",
        metavar="NAME|FILE",
        help=f"{about}; a name of workbench machine list, a .json of workbench fit --save, or the "
        ".ini of a model",
    )


def machine_of(arguments: argparse.Namespace) -> Machine | None:
    """Return the machine of ``--machine``; None where it is not given."""
    from workbench import machines

    return None if arguments.machine is None else machines.load(arguments.machine)


def say_parts(machine: Machine, *names: str) -> None:
    """Name on stderr the parts of a machine that a command uses, and where they are from."""
    from workbench.machines.machine import part_text

    for name in names:
        part = machine.part(name)
        note = f": {part.note}" if part.note else ""
        say(f"note: {name} {part_text(name, part.value)} of {machine.name}, {part.source}{note}")


def ranks_per_host(asked: int | None, machine: Machine | None) -> dict[str, int]:
    """Return the argument ``ranks_per_host``: as asked for, else the machine's, else none."""
    if asked is not None:
        return {"ranks_per_host": asked}
    if machine is None or "ranks_per_node" not in machine.given:
        return {}
    say_parts(machine, "ranks_per_node")
    return {"ranks_per_host": int(machine.part("ranks_per_node").value)}
