"""Shared by the commands: streams of their output, and JSON that every reader accepts."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import io
import json
import os
import re
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from workbench.errors import ParameterError
from workbench.jsonfile import plain
from workbench.units import parse_typed_quantity

_OPTIONS: ContextVar[Mapping[str, str]] = ContextVar("options")

FAILED = 1
"""The exit status of a command whose work did not succeed; argparse ends wrong words with 2."""

SHOWN_RANKS = 32
"""Ranks that a replay prints, the last to finish. Chosen: a page with the summary above them."""

SIGNALLED = 128
"""The exit status where a signal ended the run, less the signal's number."""

BINARY_SUFFIX = ".bin"
"""The end of a name by which GOAL is written as LogGOPSim's binary."""

# Ten times what an import of compiled kernels may take (tests/benchmarks/test_cli_start.py).
_SLOW_S = 5.0

_IN_ASCII = {
    **{"µ": "u", "μ": "u", "λ": "lambda", "ρ": "rho", "Σ": "sum", "Δ": "delta", "∞": "inf"},
    **{"≤": "<=", "≥": ">=", "±": "+-", "×": "x", "·": "*", "√": "sqrt", "→": "->", "…": "..."},
    **{"–": "-", "−": "-", "─": "-", "━": "-", "“": '"', "”": '"', "★": "*", "■": "#", "▶": ">"},
}
"""How a terminal shows the workbench's characters that its encoding lacks."""


def print_in_any_encoding() -> None:
    """Let stdout and stderr print replacements, such as ``us``, for what their encoding lacks."""
    codecs.register_error("workbench.ascii", _replacement)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None where a shell has closed it
            stream.reconfigure(errors="workbench.ascii")


def _replacement(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters, and where to go on, as codecs ask."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = []
    for letter in error.object[error.start : error.end]:
        plain_letter = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
        escaped = letter.encode("ascii", "backslashreplace").decode()
        found.append(_IN_ASCII.get(letter) or plain_letter or escaped)
    return "".join(found), error.end


def say(text: str) -> None:
    """Write a note or an error as one line to stderr, with options for Python's arguments."""
    print(f"workbench: {in_options(text, _OPTIONS.get({}))}", file=sys.stderr)


@contextlib.contextmanager
def option_names(option_of: Mapping[str, str]) -> Iterator[None]:
    """Let notes and errors name these options instead of Python's arguments."""
    token = _OPTIONS.set(option_of)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def in_options(text: str, options: Mapping[str, str]) -> str:
    """Return a message with options for arguments: ``bandwidth='bibw'`` as ``--bandwidth bibw``."""
    for name, option in options.items():
        word = rf"(?<![\w.\-/]){re.escape(name)}"
        text = re.sub(rf"{word}=(['\"]?)([\w.:+-]+)\1", rf"{option} \2", text)
        text = re.sub(rf"{word}=(?=\s|$)", option, text)
        if "_" in name:
            text = re.sub(rf"{word}(?![\w.=:])", option, text)
    return text


def output_file(*suffixes: str) -> Callable[[str], str]:
    """Return an argparse type for a file to write, with one of the suffixes if any are given."""

    def checked(text: str) -> str:
        path = Path(text)
        if suffixes and path.suffix not in suffixes:
            raise argparse.ArgumentTypeError(f"must end in {' or '.join(suffixes)}; got {text!r}")
        if path.is_dir():
            raise argparse.ArgumentTypeError(f"must be a file; {text} is a folder")
        if not path.parent.is_dir():
            raise argparse.ArgumentTypeError(f"must be in a folder that exists; got {text!r}")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise argparse.ArgumentTypeError(f"must be a file that can be written; got {text!r}")
        return text

    return checked


def counts(text: str) -> tuple[int, ...]:
    """Return the numbers of an argument such as ``8,64``, at least 1 each."""
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(
            f"must be whole numbers of at least 1, such as 8,64; got {text!r}"
        )
    return found


def words(text: str) -> tuple[str, ...]:
    """Return the words of an argument such as ``lassen,fugaku``."""
    return tuple(part.strip() for part in text.split(","))


def add_columns(parser: argparse.ArgumentParser, *tables: str) -> None:
    """Add an option for each table, by its plural, that says what a file calls our columns."""
    for table in tables:
        parser.add_argument(
            f"--{table.removesuffix('s')}-columns",
            dest=f"{table}_columns",
            type=_columns,
            metavar="OURS=THEIRS,...",
            help=f"what the table of {table} calls our columns, such as user=Account,nodes=NNodes"
            if table == "jobs"
            else f"what the table of {table} calls our columns, such as run=JobID",
        )


def _columns(text: str) -> dict[str, str]:
    """Return the names of an option such as ``user=Account,nodes=NNodes``."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(ours and theirs for ours, _, theirs in pairs):
        raise argparse.ArgumentTypeError(
            f"must be OURS=THEIRS,..., such as user=Account,nodes=NNodes; got {text!r}"
        )
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def output_folder(text: str) -> str:
    """Return the name of a folder to write to, for argparse; it need not exist."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"must be a folder, or one to be made; {text} is a file")
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise argparse.ArgumentTypeError(f"must be in a folder that can be written; got {text!r}")
    return text


def print_json(values: Mapping[str, Any]) -> None:
    """Write values to stdout as one line of JSON, nan and inf as null."""
    print(json.dumps(plain(values), allow_nan=False))


def given(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the given ones of the named options; the others have the function's defaults."""
    values = {name: getattr(arguments, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def byte_count(text: str) -> int:
    """Return an option's size in bytes: a whole number (-1 may mean all), or one such as 64KiB."""
    with contextlib.suppress(ValueError):
        return int(text)
    try:
        return int(parse_typed_quantity(text, "bytes", name="a size"))
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_variant(parser: argparse.ArgumentParser) -> None:
    """Add ``--variant``, which the commands that simulate share."""
    parser.add_argument(
        "--variant",
        metavar="NAME",
        help="sstmacro (default): as SST/macro computes, defects included; repaired: without them",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, which every command has."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


@contextlib.contextmanager
def slow_import_notice() -> Iterator[None]:
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
