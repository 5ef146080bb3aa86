"""A rank of a liballprof trace: requests and communicators are named by addresses and handles."""

from __future__ import annotations

from workbench.programs.traces.arguments import Arguments, Names, Places
from workbench.programs.traces.calls import Comm, TraceCalls
from workbench.programs.traces.communicators import Freed, Handles, Made, Shown
from workbench.programs.traces.interpret import RankReader
from workbench.programs.traces.lines import Line
from workbench.programs.traces.mpi_calls import Signature

MAKING = frozenset(
    {
        "comm_dup",
        "comm_split",
        "comm_groups",
        "comm_create",
        "comm_create_group",
        "comm_order",
        "comm_other",
    }
)
"""Kinds of calls that make a communicator."""


class AddressReader(RankReader):
    """Reads the lines of one rank, settling by their order what the trace does not tell.

    Args:
        calls: of all ranks.
        rank: whose lines are read.
        names: what negative ranks mean.
        stride: bytes from one request of an array to the next.
        handles: the rank's communicators.
    """

    def __init__(
        self, calls: TraceCalls, rank: int, names: Names, stride: int, handles: Handles
    ) -> None:
        super().__init__(calls, rank, names, stride)
        self._handles = handles
        self._shown: dict[str, Comm | None] = {}
        self._variables: set[int] = set()

    def comm(self, line: Line, text: str) -> Comm | None:
        """Return the communicator that a line names, None where its ranks are not known.

        Args:
            line: the line.
            text: as it names it.
        """
        if text not in self._shown:
            shown = to_shown(self, line, text)
            self._shown[text] = self._handles.show(shown)
        return self._shown[text]

    def make_comm(self, line: Line, at: Places, signature: Signature) -> None:
        """Take in a line that makes a communicator.

        Args:
            line: the line.
            at: field of each argument.
            signature: of the call.
        """
        parent = to_shown(self, line, line.fields[at["comm"]])
        self._handles.make(to_made(self, line, signature.kind, at, parent))
        self._shown.clear()

    def free_comm(self, line: Line, at: Places, signature: Signature) -> None:
        """Take in a line that frees a communicator.

        Args:
            line: the line.
            at: field of each argument.
            signature: of the call.
        """
        self._handles.free(Freed(self.number(line, at, "newcomm"), line.number))
        self._shown.clear()

    def keys(self, line: Line, at: Places) -> list[int]:
        """Return the addresses in an array at which a request was made.

        Args:
            line: the line.
            at: field of each argument.

        Raises:
            ParseError: the address or the count is damaged.
        """
        count = self.number(line, at, "count")
        if not 0 <= count < 2**31:
            raise self.fail(line, f"the count of {line.name} must not be negative; got {count}")
        return self.requests.array(self.number(line, at, "requests"), count)

    def wait(self, line: Line, at: Places, signature: Signature) -> None:
        """Take in a call that waits for requests.

        Args:
            line: the line.
            at: field of each argument.
            signature: of the call.
        """
        keys = self._named(line, at)
        if not keys:
            return
        entry = self.calls.wait(self.rank, line.number)
        if signature.kind in ("wait", "waitall"):
            self.requests.complete(keys, entry)
            return
        self.requests.any(keys, entry)
        if signature.kind == "waitsome":
            self.requests.test(keys, entry)

    def test(self, line: Line, at: Places, signature: Signature) -> None:
        """Take in a call that asks whether requests have ended.

        Args:
            line: the line.
            at: field of each argument.
            signature: of the call.
        """
        keys = self._named(line, at)
        if keys:
            self.requests.test(keys, self.calls.wait(self.rank, line.number))

    def _named(self, line: Line, at: Places) -> list[int]:
        """Return the variables that a wait or test names and that hold a request."""
        if "requests" in at:
            keys = self.keys(line, at)
            if not keys and self.number(line, at, "count") > 0:
                base = self.number(line, at, "requests")
                if not self.requests.was_made(base):
                    self.unknown_request(line)
            return keys
        key = self.number(line, at, "request")
        if not self.requests.was_made(key):
            self.unknown_request(line)
        return [key] if self.requests.holds(key) else []


def to_shown(arguments: Arguments, line: Line, text: str) -> Shown:
    """Return the communicator that a line shows.

    Args:
        arguments: of the rank.
        line: the line.
        text: ``handle,myrank,size``.

    Raises:
        ParseError: the text is something else.
    """
    try:
        handle, place, size = (int(part) for part in text.split(","))
    except ValueError:
        handle, place, size = 0, -1, 0
    if not 0 <= place < size < 2**31:
        raise arguments.fail(
            line,
            f"a communicator of {line.name} must be handle,myrank,size; got {text[:40]!r} (traces "
            "of liballprof 2 are not read; record the program with `workbench trace`)",
        )
    return Shown(handle, place, size, line.number)


def to_made(arguments: Arguments, line: Line, kind: str, at: Places, parent: Shown) -> Made:
    """Return what a line that makes a communicator tells of it.

    Args:
        arguments: of the rank.
        line: the line.
        kind: of the call's signature.
        at: field of each argument.
        parent: the communicator it was made of.

    Raises:
        ParseError: an argument is no number.
    """
    numbers = (0, 0)
    if kind == "comm_split":
        numbers = (arguments.number(line, at, "color"), arguments.number(line, at, "key"))
    elif kind == "comm_create_group":
        numbers = (arguments.number(line, at, "tag"), 0)
    elif kind == "comm_order":
        numbers = (0, arguments.number(line, at, "reorder"))
    address = arguments.number(line, at, "newcomm")
    return Made(kind, line.name, parent, address, line.number, numbers)
