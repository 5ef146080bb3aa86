"""The lines of a liballprof trace, times in ns and arguments still as text."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import ParseError
from workbench.programs.traces.calls import MOST_SIZE, TraceCalls

MOST_NS = 2**62  # 146 years; differences of two such times stay an int64
COMMENT = "#"


@dataclass(slots=True)
class TraceLine:
    """One line of one rank."""

    number: int  # in the file, from 1
    name: str  # of the call, or ``#`` for a comment
    start_ns: int | None  # None where the line has none
    end_ns: int | None  # likewise
    fields: list[str]  # all of a call, name and times included; the words of a comment


def line_of(source: str, number: int, text: str, *, times: bool = True) -> TraceLine | None:
    """Return a line of a file, None for an empty one; without ``times`` its times are None."""
    if text.startswith(COMMENT):
        return TraceLine(number, COMMENT, None, None, text[1:].split())
    if not text or text.isspace():
        return None
    fields = text.split(":")
    name = fields[0]
    if len(fields) < 3 or not (name.isascii() and name.isidentifier()):
        raise ParseError(
            f"a line must be MPI_Name:start:arguments:end; got {text[:60]!r}",
            source=source,
            line=number,
        )
    try:
        start, end = (_ns(fields[1]), _ns(fields[-1])) if times else (None, None)
    except ValueError:
        raise ParseError(
            f"{name} must begin and end with a time in µs; got {fields[1][:40]!r} and "
            f"{fields[-1][:40]!r} (traces of liballprof 2 are not read; record the program "
            "with `workbench trace`)",
            source=source,
            line=number,
        ) from None
    return TraceLine(number, name, start, end, fields)


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


Places = dict[str, int]
"""The field in which each argument of a call stands."""


@dataclass(frozen=True)
class Names:
    """The meaning of negative ranks."""

    any_source: int = -1  # all other negative ranks are MPI_PROC_NULL


class ArgumentReader:
    """Reads the arguments of one rank's lines."""

    def __init__(self, calls: TraceCalls, rank: int) -> None:
        self.calls = calls
        self.rank = rank
        self._type_sizes: dict[str, int] = {}

    def fail(self, line: TraceLine, message: str) -> ParseError:
        """Return an error that names the file and line."""
        return self.calls.fail(self.rank, line.number, message)

    def number(self, line: TraceLine, at: Places, name: str) -> int:
        """Return an argument that is an integer of at most 64 bits."""
        text = line.fields[at[name]]
        try:
            value = int(text)
        except ValueError:
            value = 2**64
        if not -(2**63) <= value < 2**64:
            raise self.fail(line, f"{name} of {line.name} must be a number; got {text[:40]!r}")
        return value

    def size(self, line: TraceLine, at: Places, count: str, kind: str) -> int | None:
        """Return the bytes of a buffer, None where count or datatype is ``-``: not significant."""
        if line.fields[at[count]] == "-" or line.fields[at[kind]] == "-":
            return None
        size = self.number(line, at, count) * self.type_size(line, line.fields[at[kind]])
        if not 0 <= size <= MOST_SIZE:
            raise self.fail(line, f"{line.name} must move 0 to {MOST_SIZE} bytes; got {size}")
        return size

    def type_size(self, line: TraceLine, text: str) -> int:
        """Return the bytes of a datatype from ``id,size,extent``."""
        size = self._type_sizes.get(text)
        if size is not None:
            return size
        try:
            size = int(text.split(",")[1])
        except (IndexError, ValueError):
            raise self.fail(line, f"a datatype must be id,size,extent; got {text[:40]!r}") from None
        if not 0 <= size <= MOST_SIZE:
            raise self.fail(line, f"a datatype must have 0 to {MOST_SIZE} bytes; got {size}")
        self._type_sizes[text] = size
        return size


def number_of(text: str) -> int | None:
    """Return a number of at most 64 bits, None where a text is none."""
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -(2**63) <= number < 2**64 else None
