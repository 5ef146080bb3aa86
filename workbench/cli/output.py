"""What the commands share: where their words go, and JSON that every reader accepts."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.errors import ParameterError
from workbench.jsonfile import plain
from workbench.units import read_quantity

FAILED = 1
SIGNALLED = 128
"""The exit status where a signal ended the run, less the signal's number."""

BINARY_SUFFIX = ".bin"
"""The end of a name by which GOAL is written as LogGOPSim's binary."""

_SLOW_S = 5.0


def say(text: str) -> None:
    """Write one line to stderr, under the command's name.

    Args:
        text: a note or an error.
    """
    print(f"workbench: {text}", file=sys.stderr)


def print_json(values: Mapping[str, Any]) -> None:
    """Write values to stdout as one line of JSON; nan and inf, which it lacks, become null.

    Args:
        values: anything that JSON can hold, by text or number.
    """
    print(json.dumps(plain(values), allow_nan=False))


def given(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the options that were given; the others are left to the function's own defaults.

    Args:
        arguments: the parsed command line.
        names: the options to look at.
    """
    values = {name: getattr(arguments, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def byte_count(text: str) -> int:
    """Return a size in bytes that an option was given: a whole number, or one with its unit.

    Args:
        text: the option's word, such as 65536, 64KiB, 64kB, or -1 where that means all.

    Raises:
        ArgumentTypeError: it is no such size.
    """
    with contextlib.suppress(ValueError):
        return int(text)
    try:
        return int(read_quantity(text, "bytes", name="a size"))
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_variant(parser: argparse.ArgumentParser) -> None:
    """Add ``--variant``, which the commands that simulate share.

    Args:
        parser: a command's parser.
    """
    parser.add_argument(
        "--variant",
        metavar="NAME",
        help="sstmacro (default): as SST/macro computes, defects included; repaired: without them",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, which every command has.

    Args:
        parser: a command's parser.
    """
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


@contextlib.contextmanager
def patience() -> Iterator[None]:
    """Explain a slow import: numba compiles the kernels once, which takes up to a minute."""
    timer = threading.Timer(
        _SLOW_S, say, ["loading; the first time the kernels are compiled, up to a minute"]
    )
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
