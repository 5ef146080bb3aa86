"""The arguments of one line of a liballprof-like trace, as numbers and bytes."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import ParseError
from workbench.programs.traces.calls import MOST_SIZE, TraceCalls
from workbench.programs.traces.lines import TraceLine

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
