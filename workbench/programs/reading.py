"""Files of programs: GOAL, and traces of their ranks."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import ParseError
from workbench.programs.find_program import HEAD_BYTES, is_goal
from workbench.programs.goal import read_goal
from workbench.programs.program import Program
from workbench.programs.traces import read_trace, recognise
from workbench.programs.traces.files import lists_traces
from workbench.programs.traces.simgrid import is_action
from workbench.reading import Reading

_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b")
_ANCHOR = b"BOTF2"
"""The name of the byte order and that of the format, behind the first byte of an anchor file."""

_FIRST_LINES = 20  # chosen: that so many of another text are actions by chance is not seen

_FORMATS = {
    "workbench": "a trace of the workbench's recorder",
    "liballprof": "a trace of liballprof",
    "simgrid": "a time-independent trace of SimGrid",
}


def reading_of(content: bytes, source: str, path: Path | None) -> Reading | None:
    """Return what a file of a program holds, None where it is none.

    A trace's other ranks are read where they lie beside it.
    """
    if path is not None and path.is_dir():
        return _trace(read_trace(path), source, "a trace")
    if is_goal(content):
        graph = read_goal(content if path is None else path)
        facts = {"ranks": graph.num_ranks, "operations": graph.num_ops}
        title = f"GOAL: {graph.num_ranks} ranks, {graph.num_ops:,} operations"
        return Reading(source, "goal", title, facts, notes=graph.notes)
    if content.startswith(_ARCHIVES):
        try:
            return _trace(read_trace({source: content}), source, "an archive of a trace")
        except ParseError:
            return None
    if content[1 : 1 + len(_ANCHOR)] == _ANCHOR:
        if path is None:
            raise ParseError(
                "it is the anchor of an OTF2 archive, which lies in several files: give its path",
                source=source,
            )
        return _trace(read_trace(path), source, "an OTF2 archive")
    if path is not None and lists_traces(content, path.parent):
        return _trace(read_trace(path), source, "a list of a trace's files")
    format = recognise(content)
    if format is None or (format == "simgrid" and not _acts(content)):
        return None
    program = read_trace({source: content} if path is None else path)
    return _trace(program, source, _FORMATS[format])


def _trace(program: Program, source: str, what: str) -> Reading:
    facts = {"ranks": program.num_ranks, "calls": program.num_calls}
    title = f"{what}: {program.num_ranks} ranks, {program.num_calls:,} calls"
    return Reading(source, "trace", title, facts, notes=program.notes)


def _acts(content: bytes) -> bool:
    """Return whether the first lines are actions of SimGrid's: a rank and a known word."""
    lines = content[:HEAD_BYTES].splitlines()[:_FIRST_LINES]
    words = [line.split() for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
    return bool(words) and all(len(one) > 1 and is_action(one[1]) for one in words)
