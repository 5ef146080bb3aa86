"""Find a program: an object, a file or folder recognised by its contents, or a shipped name."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path

from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.programs.graph import ExecutionGraph
from workbench.programs.program import Program
from workbench.tasks import Task

HEAD_BYTES = 65536
"""Bytes of a file by which its format is recognised: chosen, a thousand lines of comments."""

_GOAL_BINARY = tuple(magic.to_bytes(8, "little") for magic in (4223, 2342))
# Comments may stand before the first item of GOAL text; atomic, or many comments take forever.
_GOAL_TEXT = re.compile(rb"(?>\s+|//[^\n]*\n|/\*.*?\*/)*+num_ranks\b", re.DOTALL)


def read(path: str | Path, *, task: Task | None = None) -> Program | ExecutionGraph:
    """Read GOAL (text or binary) as an `ExecutionGraph`, a trace as a `Program`.

    The format is recognised from the content, not from the name.

    Args:
        path: a GOAL file; a liballprof, SimGrid or workbench trace, as its folder, its rank-0
            file or a zip of it.
        task: as for ``read_trace``; files in GOAL are read in one step.

    Raises:
        ParseError: it cannot be read, or is none of these; names the line.
        SimulationHalted: the task was stopped.
    """
    from workbench.programs.goal import read_goal
    from workbench.programs.traces import read_trace

    path = Path(path)
    if path.is_dir():
        return read_trace(path, task=task)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise ParseError(
            f"a program's file must be readable; got {error.strerror}", source=str(path)
        ) from error
    return read_goal(path) if is_goal(head) else read_trace(path, task=task)


def is_goal(content: bytes) -> bool:
    """Return whether a content begins as GOAL does, as text or as LogGOPSim's binary."""
    head = content[:HEAD_BYTES]
    return head.startswith(_GOAL_BINARY) or _GOAL_TEXT.match(head) is not None


ProgramLike = ExecutionGraph | Program | str | Path
"""A program, or how to find it; a text is a path where there is a file or folder of that name,
else the name of a shipped program."""


def find(program: ProgramLike, *, task: Task | None = None) -> ExecutionGraph | Program:
    """Return the program of an object, a file, a folder or a shipped name; a note records which.

    Args:
        program: a program or graph; the path of a GOAL file or of a trace; or the name of a shipped
            program, where there is no file or folder of that name.
        task: as for ``read_trace``; files in GOAL are read in one step.

    Raises:
        ParseError: the file cannot be read, or holds no program.
        DatasetError: there is neither a file nor a shipped program of that name.
        ParameterError: it is of another type.
        SimulationHalted: the task was stopped.
    """
    if isinstance(program, ExecutionGraph | Program):
        return program
    if not isinstance(program, str | Path):
        raise ParameterError(
            "a program must be a Program, an ExecutionGraph, the path of a GOAL file or of a "
            "trace's folder, or the name of a shipped program such as 'cg-8'; got "
            f"{type(program).__name__}",
            key="program",
        )
    from workbench.programs import shipped

    name = str(program)
    catalogue = shipped.list()
    try:
        found = read(program, task=task)
    except ParseError:
        if Path(program).exists() or isinstance(program, Path) or "/" in name or "\\" in name:
            raise
        try:
            loaded = shipped.load(name)
        except DatasetError as unknown:
            if name in catalogue:
                raise
            raise DatasetError(f"no file or folder is called {name!r}: {unknown}") from None
        return _noted(loaded, f"{name} is the shipped program of that name.")
    if name in catalogue:
        return _noted(
            found,
            f"{name} was read from {Path(program).resolve()}; the shipped program of that name was "
            "not taken.",
        )
    return found


def graph_of(program: ProgramLike, algorithms: Mapping[str, str] | None = None) -> ExecutionGraph:
    """Return the execution graph of a program; a graph is returned as it is."""
    found = find(program)
    return found.graph(dict(algorithms or {})) if isinstance(found, Program) else found


def _noted(program: ExecutionGraph | Program, note: str) -> ExecutionGraph | Program:
    return dataclasses.replace(program, notes=(note, *program.notes))
