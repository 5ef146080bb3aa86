"""A rank of a liballprof trace: requests and communicators are named by addresses and handles."""

from __future__ import annotations

from kernels.traces import layout
from workbench.programs.traces.calls import Comm, TraceCalls
from workbench.programs.traces.handles import CommunicatorUse, Freed, Handles, Made
from workbench.programs.traces.interpret import RankReader
from workbench.programs.traces.lines import ArgumentReader, Names, Places, TraceLine, number_of
from workbench.programs.traces.mpi_calls import Signature
from workbench.programs.traces.plain_lines import NumberedLines
from workbench.programs.traces.ranges import RequestVariables
from workbench.programs.traces.requests import AddressTable

STARTED_ANYHOW, STARTED_PER_BYTE = 2**20, 16
"""Most requests that the MPI_Startall calls of a rank start: a constant, and a number for each
byte of its file. A line of 50 bytes may start an array of any size, and starting 800 at each line
needs memory that a trace of that size does not justify.
"""

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
    """Reads the lines of one rank; what a trace leaves open is settled by their order."""

    def __init__(
        self,
        calls: TraceCalls,
        lines: NumberedLines,
        rank: int,
        names: Names,
        variables: RequestVariables,  # those that the rank's calls give a request
        handles: Handles,
    ) -> None:
        self._table = AddressTable(calls, rank, variables)
        super().__init__(calls, lines, rank, names, self._table)
        self._handles = handles
        self._may_start = STARTED_ANYHOW + STARTED_PER_BYTE * len(lines.data)
        for number in lines.texts_of(layout.REQUEST_TEXT):
            address = number_of(lines.numbered_text(number))
            if address is not None:
                self.places[number] = self._table.place(address)
        first, after = self.arrays
        for number in lines.arrays_of_requests():
            count, base = map(number_of, lines.numbered_text(number).split(":"))
            if count is not None and base is not None and 0 <= count < 2**31:
                first[number], after[number] = variables.array(base, count)

    def comm(self, line: TraceLine, text: str) -> Comm | None:
        """Return the communicator that a line names, None where its ranks are not known."""
        if text not in self._shown:
            shown = shown_communicator(self, line, text)
            self._shown[text] = self._handles.show(shown)
        return self._shown[text]

    def make_comm(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Record the communicator that a line makes."""
        parent = shown_communicator(self, line, line.fields[at["comm"]])
        self._handles.make(made_communicator(self, line, signature.kind, at, parent))
        self.forget_comms()

    def free_comm(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Record the communicator that a line frees."""
        self._handles.free(Freed(self.number(line, at, "newcomm"), line.number))
        self.forget_comms()

    def keys(self, line: TraceLine, at: Places) -> list[int]:
        """Return the addresses of the persistent requests that an MPI_Startall starts."""
        keys = self._table.lasting(*self._array(line, at))
        self._may_start -= len(keys)
        if self._may_start < 0:
            raise self.fail(
                line,
                f"the MPI_Startall calls of a rank must start at most {STARTED_ANYHOW} requests "
                "and "
                f"{STARTED_PER_BYTE} more for each byte of its file; this rank starts {len(keys)}; "
                "record fewer iterations",
            )
        return keys

    def wait(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Add a wait for requests; without pending ones it has no effect."""
        base, count = self._named(line, at)
        if not self._table.under_way(base, count):
            return
        entry = self.calls.wait(self.rank, line.number)
        if signature.kind in ("wait", "waitall"):
            self._table.wait(base, count, entry)
            return
        self._table.any(base, count, entry)
        if signature.kind == "waitsome":
            self._table.test(base, count, entry)

    def test(self, line: TraceLine, at: Places, signature: Signature) -> None:
        """Add a test of requests; without pending ones it has no effect."""
        base, count = self._named(line, at)
        if self._table.under_way(base, count):
            self._table.test(base, count, self.calls.wait(self.rank, line.number))

    def _named(self, line: TraceLine, at: Places) -> tuple[int, int]:
        """Return the address and number of the variables that a wait or test names."""
        named = self._array(line, at) if "requests" in at else (self.number(line, at, "request"), 1)
        if named[1] > 0 and not self._table.was_made(*named):
            self.unknown_request(line)
        return named

    def _array(self, line: TraceLine, at: Places) -> tuple[int, int]:
        count = self.number(line, at, "count")
        if not 0 <= count < 2**31:
            raise self.fail(line, f"the count of {line.name} must not be negative; got {count}")
        return self.number(line, at, "requests"), count


def shown_communicator(arguments: ArgumentReader, line: TraceLine, text: str) -> CommunicatorUse:
    """Return the communicator that a line shows as ``handle,myrank,size``."""
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
    return CommunicatorUse(handle, place, size, line.number)


def made_communicator(
    arguments: ArgumentReader, line: TraceLine, kind: str, at: Places, parent: CommunicatorUse
) -> Made:
    """Return the record of a line that makes a communicator from ``parent``."""
    numbers = (0, 0)
    if kind == "comm_split":
        numbers = (arguments.number(line, at, "color"), arguments.number(line, at, "key"))
    elif kind == "comm_create_group":
        numbers = (arguments.number(line, at, "tag"), 0)
    elif kind == "comm_order":
        numbers = (0, arguments.number(line, at, "reorder"))
    address = arguments.number(line, at, "newcomm")
    return Made(kind, line.name, parent, address, line.number, numbers)
