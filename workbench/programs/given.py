"""The program that a caller means: itself, its file or folder, or the name it ships under."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.programs.graph import ExecutionGraph
from workbench.programs.program import Program
from workbench.programs.recognise import read

GivenProgram = ExecutionGraph | Program | str | Path
"""What a program may be given as; a text is a path where there is a file or folder of that name,
else the name of a shipped program."""


def find(given: GivenProgram) -> ExecutionGraph | Program:
    """Return the program that a caller means; a note records the choice where a name was given.

    Args:
        given: a program or graph; the path of a GOAL file or of a trace; or the name of a shipped
            program, where there is no file or folder of that name.

    Raises:
        ParseError: the file cannot be read, or holds no program.
        DatasetError: there is neither a file nor a shipped program of that name.
        ParameterError: it is nothing of all this.
    """
    if isinstance(given, ExecutionGraph | Program):
        return given
    if not isinstance(given, str | Path):
        raise ParameterError(
            "a program must be a Program, an ExecutionGraph, the path of a GOAL file or of a "
            "trace's folder, or the name of a shipped program such as 'cg-8'; got "
            f"{type(given).__name__}",
            key="program",
        )
    from workbench.programs import shipped

    name = str(given)
    catalogue = shipped.list()
    try:
        program = read(given)
    except ParseError:
        if Path(given).exists() or isinstance(given, Path) or "/" in name or "\\" in name:
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
            program,
            f"{name} was read from {Path(given).resolve()}; the shipped program of that name was "
            "not taken.",
        )
    return program


def graph_of(given: GivenProgram, algorithms: Mapping[str, str] | None = None) -> ExecutionGraph:
    """Return the execution graph of a given program; a graph is returned as it is."""
    program = find(given)
    return program.graph(dict(algorithms or {})) if isinstance(program, Program) else program


def _noted(program: ExecutionGraph | Program, note: str) -> ExecutionGraph | Program:
    return dataclasses.replace(program, notes=(note, *program.notes))
