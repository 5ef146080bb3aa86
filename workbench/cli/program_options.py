"""Shared by the commands that run programs: the file, the six parameters, the algorithms."""

from __future__ import annotations

import argparse
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from workbench.cli.machine_options import add_machine, machine_of
from workbench.cli.output import byte_count, given, say
from workbench.cli.progress import ProgressLine
from workbench.errors import ParameterError
from workbench.units import parse_typed_quantity

if TYPE_CHECKING:
    from workbench.models import LogGPS
    from workbench.programs import ExecutionGraph, Program

DEFAULTS_NS = {"L": 2500.0, "o": 1500.0, "g": 1000.0, "G": 6.0, "O": 0.0}
"""LogGOPSim's defaults, ns and ns/B."""

DEFAULT_S = 65535
"""LogGOPSim's default, bytes."""

_MEANINGS = {
    "L": "latency",
    "o": "overhead of each host for a message",
    "g": "gap between messages of a node",
    "G": "gap per byte",
    "O": "overhead per byte",
}


def add_program(parser: argparse.ArgumentParser) -> None:
    """Add FILE, the parameters with LogGOPSim's defaults, ``--machine`` and ``--algorithm``."""
    parser.add_argument(
        "file", metavar="FILE", help="a GOAL file, a trace, or the name of a shipped program (cg-8)"
    )
    for name, default in DEFAULTS_NS.items():
        unit = "ns/B" if name in "GO" else "ns"
        parser.add_argument(
            f"-{name}",
            type=nanoseconds,
            metavar="NS",
            help=f"{_MEANINGS[name]}, {unit} (default {default:g})",
        )
    parser.add_argument(
        "-S",
        type=byte_count,
        metavar="BYTES",
        help=f"largest message sent without waiting for the receiver; -1: all (default "
        f"{DEFAULT_S})",
    )
    add_machine(parser, "take L, o, g, G, O and S of a machine; the options above override it")
    add_algorithm(parser)


def add_algorithm(parser: argparse.ArgumentParser) -> None:
    """Add ``--algorithm``."""
    parser.add_argument(
        "--algorithm",
        dest="algorithms",
        action="append",
        default=[],
        type=_choice,
        metavar="OPERATION=NAME",
        help="algorithm for a trace's collectives, such as allreduce=ring; may be repeated",
    )


def graph_of(arguments: argparse.Namespace) -> ExecutionGraph:
    """Return the file's program, with the algorithms that the options choose."""
    return expanded(program_of(arguments), arguments)


def program_of(arguments: argparse.Namespace) -> Program | ExecutionGraph:
    """Return the file's program as it was read."""
    from workbench.programs import ExecutionGraph, find
    from workbench.tasks import Task

    with ProgressLine(after_s=1) as line:
        program = find(arguments.file, task=Task(lambda now: line.show(now.message)))
    for note in program.notes:
        say(f"note: {note}")
    if isinstance(program, ExecutionGraph) and arguments.algorithms:
        raise ParameterError(
            "--algorithm needs a trace, whose collectives are not yet expanded into messages; "
            f"{arguments.file} is a GOAL file",
            key="algorithm",
        )
    return program


def expanded(program: Program | ExecutionGraph, arguments: argparse.Namespace) -> ExecutionGraph:
    """Return a program as a graph, with the algorithms that the options choose."""
    from workbench.programs.find_program import graph_of as graph

    made = graph(program, dict(arguments.algorithms))
    # Those that the collectives' schedules add to the program's.
    for note in made.notes[len(program.notes) :]:
        say(f"note: {note}")
    return made


def model_of(arguments: argparse.Namespace) -> LogGPS:
    """Return the parameters: an option's value, else the machine's, else LogGOPSim's."""
    from workbench.models import LogGPS
    from workbench.models.parameter import INT32_MAX

    machine = machine_of(arguments)
    if machine is not None:
        model = machine.loggps
    else:
        defaults: dict[str, Any] = {name: seconds(ns) for name, ns in DEFAULTS_NS.items()}
        model = LogGPS(**defaults, S=DEFAULT_S)
    changes: dict[str, Any] = {
        name: seconds(ns) for name, ns in given(arguments, *DEFAULTS_NS).items()
    }
    if arguments.S is not None:
        changes["S"] = INT32_MAX if arguments.S == -1 else arguments.S
    return model.replace(**changes) if changes else model


def seconds(ns: float) -> float:
    """Return s by the decimal digits: 0.018 ns are 1.8e-11 s, to the last bit."""
    return float(Decimal(repr(ns)).scaleb(-9))


def nanoseconds(text: str) -> float:
    """Return an option's time in ns, at least 0: ``2500``, ``2.5us`` or, for a byte, ``1ns/B``."""
    try:
        value = float(text)
    except ValueError:
        try:
            # by the decimal digits: scaling may leave a last bit
            read = float(parse_typed_quantity(text.removesuffix("/B"), "time"))
            value = float(f"{read * 1e9:.12g}")
        except ParameterError:
            value = math.nan
    if not (value >= 0 and math.isfinite(value)):
        raise argparse.ArgumentTypeError(
            f"must be a number of ns, at least 0; got {text!r}; a time with its unit is "
            "one too, such as 2.5us"
        )
    return value


def _choice(text: str) -> tuple[str, str]:
    operation, equals, name = (part.strip() for part in text.partition("="))
    if not operation or not equals or not name:
        raise argparse.ArgumentTypeError(
            f"must be OPERATION=NAME, such as allreduce=ring; got {text!r}"
        )
    return operation, name
