"""The arguments of one line of a liballprof-like trace, as numbers and bytes."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import ParseError
from workbench.programs.traces.calls import MOST_SIZE, TraceCalls
from workbench.programs.traces.lines import Line

Places = dict[str, int]
"""The field in which each argument of a call stands."""


@dataclass(frozen=True)
class Names:
    """What negative ranks mean.

    Attributes:
        any_source: MPI_ANY_SOURCE; every other negative rank is MPI_PROC_NULL.
    """

    any_source: int = -1


class Arguments:
    """Reads the arguments of one rank's lines.

    Args:
        calls: of all ranks, for errors.
        rank: whose lines they are.
    """

    def __init__(self, calls: TraceCalls, rank: int) -> None:
        self.calls = calls
        self.rank = rank
        self._type_sizes: dict[str, int] = {}

    def fail(self, line: Line, message: str) -> ParseError:
        """Return an error that names the file and line.

        Args:
            line: the line.
            message: what must hold and what was got.
        """
        return self.calls.fail(self.rank, line.number, message)

    def number(self, line: Line, at: Places, name: str) -> int:
        """Return an argument that is a number.

        Args:
            line: the line.
            at: field of each argument.
            name: of the argument.

        Raises:
            ParseError: it is no number of at most 64 bits.
        """
        text = line.fields[at[name]]
        try:
            value = int(text)
        except ValueError:
            value = 2**64
        if not -(2**63) <= value < 2**64:
            raise self.fail(line, f"{name} of {line.name} must be a number; got {text[:40]!r}")
        return value

    def size(self, line: Line, at: Places, count: str, kind: str) -> int | None:
        """Return the bytes of a buffer, None where the line says they mean nothing here.

        Args:
            line: the line.
            at: field of each argument.
            count: name of the argument that counts elements.
            kind: name of the argument with their datatype.

        Raises:
            ParseError: the count or the datatype is damaged.
        """
        if line.fields[at[count]] == "-" or line.fields[at[kind]] == "-":
            return None
        size = self.number(line, at, count) * self.type_size(line, line.fields[at[kind]])
        if not 0 <= size <= MOST_SIZE:
            raise self.fail(line, f"{line.name} must move 0 to {MOST_SIZE} bytes; got {size}")
        return size

    def type_size(self, line: Line, text: str) -> int:
        """Return the bytes of a datatype.

        Args:
            line: the line.
            text: ``id,size,extent``.

        Raises:
            ParseError: the text is something else.
        """
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
