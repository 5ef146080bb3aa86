"""The lines of a liballprof trace, times in ns and arguments still as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.errors import ParseError
from workbench.programs.traces.files import TraceFile

MOST_NS = 2**62
COMMENT = "#"


@dataclass(slots=True)
class Line:
    """One line of one rank.

    Attributes:
        number: in the file, from 1.
        name: of the call, or ``#`` for a comment.
        start_ns: when it was called, None where the line has none.
        end_ns: when it returned, likewise.
        fields: of a call all fields, name and times included; of a comment its words.
    """

    number: int
    name: str
    start_ns: int | None
    end_ns: int | None
    fields: list[str]


def cut(file: TraceFile) -> list[str]:
    """Return the lines of a file as they are, without their ends.

    Args:
        file: of one rank.
    """
    return file.data.decode("latin-1").replace("\r\n", "\n").removesuffix("\r").split("\n")


def parse_lines(file: TraceFile, *, times: bool = True) -> Iterator[Line]:
    """Yield the lines of a file, without those that are empty.

    One after the other: all lines of a large trace as objects would take many times its size.

    Args:
        file: of one rank.
        times: whether the times are wanted; otherwise they are None.

    Raises:
        ParseError: a line is neither a comment nor a call with its times.
    """
    names: set[str] = set()
    for number, text in enumerate(cut(file), 1):
        fields = text.split(":")
        name = fields[0]
        if name not in names or len(fields) < 3:
            if text.startswith("#"):
                yield Line(number, COMMENT, None, None, text[1:].split())
                continue
            if not text or text.isspace():
                continue
            if len(fields) < 3 or not (name.isascii() and name.isidentifier()):
                raise ParseError(
                    f"a line must be MPI_Name:start:arguments:end; got {text[:60]!r}",
                    source=file.name,
                    line=number,
                )
            names.add(name)
        try:
            start, end = (_ns(fields[1]), _ns(fields[-1])) if times else (None, None)
        except ValueError:
            raise ParseError(
                f"{name} must begin and end with a time in µs; got {fields[1][:40]!r} and "
                f"{fields[-1][:40]!r} (traces of liballprof 2 are not read; record the program "
                "with `workbench trace`)",
                source=file.name,
                line=number,
            ) from None
        yield Line(number, name, start, end, fields)


def _ns(text: str) -> int | None:
    """Return a time in µs as whole ns, None for ``-``; digits beyond ns are cut off."""
    if text == "-":
        return None
    whole, _, part = text.partition(".")
    if whole.isdecimal() and part.isdecimal():
        ns = int(whole + (part + "00")[:3])
        if ns < MOST_NS:
            return ns
    if part and not part.isdecimal():
        raise ValueError(text)
    ns = int(whole) * 1000
    if part:
        below = int((part + "00")[:3])
        ns += -below if text[0] == "-" else below
    if not -MOST_NS < ns < MOST_NS:
        raise ValueError(text)
    return ns
