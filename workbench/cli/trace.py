"""Record the MPI calls of a program, for workbench replay.

    workbench trace -n 4 --output traces/halo -- ./halo 256 60

The program runs under mpirun with a library that records each MPI call, in one text file per rank.
The program's output goes to stderr.
"""

from __future__ import annotations

import argparse
import sys

from workbench.cli.output import SIGNALLED, add_json, given, print_json, say
from workbench.cli.signals import stoppable

ABOUT = "record the MPI calls of a program"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "-n", "--ranks", type=int, required=True, metavar="N", help="number of ranks"
    )
    parser.add_argument(
        "--output", metavar="FOLDER", default="trace", help="folder of the traces (default: trace)"
    )
    parser.add_argument(
        "--force", action="store_true", help="replace the traces that the folder holds"
    )
    parser.add_argument(
        "--mpirun", metavar="PATH", help="launcher of the program's MPI (default: mpirun)"
    )
    parser.add_argument("--timeout", type=float, metavar="S", help="time limit of the program, s")
    parser.add_argument(
        "--no-oversubscribe",
        dest="oversubscribe",
        action="store_false",
        help="refuse to run more ranks than there are cores",
    )
    parser.add_argument(
        "--clock",
        choices=("elapsed", "cpu"),
        help="what counts as computation: the time elapsed between two calls (default), or "
        "the rank's own CPU time, where ranks share cores",
    )
    parser.add_argument(
        "--slowdown",
        type=float,
        metavar="F",
        help="give each rank a core that is so many times slower, by sleeping between calls, where "
        "the machine has fewer cores than ranks (default: 1)",
    )
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
                arguments.ranks,
                arguments.output,
                oversubscribe=arguments.oversubscribe,
                force=arguments.force,
                output=lambda line: print(line, file=sys.stderr, flush=True),
                task=Task(stop_event=stop.event),
                **given(arguments, "mpirun", "timeout", "clock", "slowdown"),
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
