"""Record the MPI calls of a program, for workbench replay.

    workbench trace -n 4 --output traces/halo -- ./halo 256 60

The program runs under mpirun with a library that records each MPI call, in one text file per rank.
The program's output goes to stderr.
"""

from __future__ import annotations

import argparse
import sys

from workbench.cli.output import SIGNALLED, add_json, print_json, say
from workbench.cli.signals import stoppable
from workbench.shell.function_options import FunctionOptions

ABOUT = "record the MPI calls of a program"

_RECORDED = FunctionOptions("workbench.programs.recording.record")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    _RECORDED.add(parser, "ranks", option=("-n", "--ranks"))
    parser.add_argument(
        "--output", metavar="FOLDER", default="trace", help="folder of the traces (default: trace)"
    )
    _RECORDED.add(parser, "force")
    _RECORDED.add(parser, "mpirun", metavar="PATH")
    _RECORDED.add(parser, "timeout", metavar="S")
    _RECORDED.add(parser, "oversubscribe", help="refuse to run more ranks than there are cores")
    _RECORDED.add(parser, "clock", choices=("elapsed", "cpu"), metavar=None)
    _RECORDED.add(parser, "slowdown", metavar="F")
    add_json(parser)
    parser.add_argument(
        "command", nargs="+", metavar="PROGRAM", help="the program and its arguments, after --"
    )


def run(arguments: argparse.Namespace) -> int:
    """Record the program, print a summary and return the exit status."""
    from workbench.mpi import MPIError
    from workbench.programs.recording import record
    from workbench.tasks import Task

    with stoppable() as stop:
        try:
            program = record(
                arguments.command,
                folder=arguments.output,
                output=lambda line: print(line, file=sys.stderr, flush=True),
                task=Task(stop_event=stop.event),
                **_RECORDED.given(arguments),
            )
        except MPIError as error:
            if not stop.number:
                raise
            say(str(error))
            return SIGNALLED + stop.number
    summary = {**program.summary(), "folder": arguments.output}
    if arguments.json:
        print_json(summary)
        return 0
    print(f"{program!r}\nin {arguments.output}")
    if program.recorded is not None:
        print(program.recorded.describe())
        if program.recorded.left_out:
            print(program.recorded.describe_left_out())
    for note in program.notes:
        say(f"note: {note}")
    return 0
