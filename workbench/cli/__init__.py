"""The command ``workbench``: fit, simulate, replay and tune from a shell.

    workbench osu -p node.nic.mtu=512 --json
    workbench fit --machine azure-hb96v3-hdr --trials 500 --study fits.db
    workbench study run which-loss.yaml --workers 8
    workbench replay program.goal -L 1200 -G 0.04

Results go to stdout; notes, progress and errors to stderr, an error as one paragraph. The status is
0 only on success: 1 on an error, 2 on an error in the command line, and 128 plus the number
of the signal that stopped a run. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

import workbench
from workbench.cli.output import FAILED, SIGNALLED, option_names, print_in_any_encoding, say
from workbench.errors import WorkbenchError
from workbench.shell.parser import Parser

__all__ = ["main"]

# Each is a module of this package, or the `command` of its subject's folder.
_COMMANDS = (
    "read",
    "osu",
    "fit",
    "machine",
    "study",
    "replay",
    "tolerance",
    "place",
    "topology",
    "fabric",
    "tune",
    "goal",
    "collective",
    "trace",
    "cluster",
    "validate",
    "datasets",
    "uq",
    "predict",
    "variability",
    "papers",
    "lessons",
    "workshop",
    "doctor",
)
_IN_SUBJECTS = {
    "machine": "workbench.machines.command",
    "tolerance": "workbench.tolerance.command",
}
_OBJECTS_BETWEEN_COLLECTIONS = 100_000  # `workbench osu` has 1; 50,000: 3, 10,000: 16


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Args:
        argv: the words after ``workbench``; those of this process where it is None.

    Raises:
        SystemExit: the command line asks for help (status 0) or is wrong (status 2).
    """
    if argv is not None:
        return _command(argv)
    # What is imported stays: to look for garbage among it while it grows, and once more as the
    # process ends, takes 0.2 s of 0.6 s (tests/benchmarks/test_cli_start.py).
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    print_in_any_encoding()
    try:
        return _command(sys.argv[1:])
    finally:
        gc.freeze()


def _command(words: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    try:
        try:
            arguments = _parser(words).parse_args(words)
            with option_names(arguments.option_of):
                status: int = _run(arguments)
        finally:
            if sys.stdout is not None:  # a shell may have closed it
                sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe: the buffered output must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SIGNALLED + signal.SIGPIPE
    except KeyboardInterrupt:
        say("stopped")
        return SIGNALLED + signal.SIGINT
    return status


def _run(arguments: argparse.Namespace) -> int:
    try:
        status: int = arguments.run(arguments)
    except BrokenPipeError:
        raise
    except (WorkbenchError, OSError) as error:
        say(f"error: {_wording(error)}")
        return FAILED
    return status


def _parser(words: Sequence[str]) -> Parser:
    """Return the parser of a command line, with all commands only where it names none of them."""
    parser = Parser(
        prog="workbench",
        description="Fit network models to measured machines, simulate them, and replay programs.",
        epilog="workbench COMMAND --help lists the arguments of a command.",
    )
    parser.add_argument("--version", action="version", version=f"workbench {workbench.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    # One command's module instead of all: 30 ms of 0.5 s (tests/benchmarks/test_cli_start.py).
    for name in words[:1] if words and words[0] in _COMMANDS else _COMMANDS:
        module = import_module(_IN_SUBJECTS.get(name, f"workbench.cli.{name}"))
        command = commands.add_parser(
            name,
            help=module.ABOUT,
            description=module.__doc__,
            add_arguments=module.add_arguments,
        )
        command.set_defaults(run=getattr(module, "run", None))  # else its actions have theirs
    return parser


def _wording(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())
