"""A first look through a liballprof trace: what must be known before its calls are understood."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.programs.traces.addressed import MAKING, to_made, to_shown
from workbench.programs.traces.arguments import Arguments, Names
from workbench.programs.traces.calls import TraceCalls
from workbench.programs.traces.communicators import Event, Freed, Shown
from workbench.programs.traces.lines import COMMENT, Line
from workbench.programs.traces.mpi_calls import NONBLOCKING, PERSISTENT, SIGNATURES

MPICH_WORLD = 0x44000000
"""MPI_COMM_WORLD of MPICH and what descends from it: a number, where Open MPI has an address."""


class Survey:
    """What the whole trace must tell before a rank's calls can be understood.

    Args:
        calls: of all ranks, for errors and notes.

    Attributes:
        made: addresses of the variables that calls gave a request.
        arrays: address and number of elements of arrays of requests.
        shown_as: rank that a file shows, where it is another than that of its name.
    """

    def __init__(self, calls: TraceCalls) -> None:
        self.calls = calls
        self.made: set[int] = set()
        self.arrays: list[tuple[int, int]] = []
        self.worlds: set[int] = set()
        self.nowhere: set[int] = set()  # negative ranks that something is sent to
        self.negative_source = False
        self.shown_as: dict[int, int] = {}

    def take(self, rank: int, lines: Iterable[Line]) -> list[Event]:
        """Look through a rank's lines; return what they tell of communicators.

        Args:
            rank: whose lines they are.
            lines: in order.

        Raises:
            ParseError: an address or communicator is damaged, or ranks' files are missing.
        """
        arguments = Arguments(self.calls, rank)
        events: list[Event] = []
        fresh: set[str] = set()
        for line in lines:
            signature = SIGNATURES.get(line.name)
            if line.name == COMMENT or signature is None:
                continue
            at = signature.places(len(line.fields))
            if at is None:
                continue
            kind, fields = signature.kind, line.fields
            if "comm" in at and kind not in MAKING and fields[at["comm"]] not in fresh:
                fresh.add(fields[at["comm"]])
                events.append(self._shown(arguments, line, fields[at["comm"]], first=not events))
            if kind in MAKING:
                parent = self._shown(arguments, line, fields[at["comm"]], first=not events)
                events.append(to_made(arguments, line, kind, at, parent))
                fresh.clear()
            elif kind == "comm_free":
                address = arguments.number(line, at, "newcomm")
                events.append(Freed(address, line.number))
                fresh.clear()
            if signature.manner in (NONBLOCKING, PERSISTENT) and "request" in at:
                self.made.add(arguments.number(line, at, "request"))
            elif "requests" in at:
                base = arguments.number(line, at, "requests")
                self.arrays.append((base, max(0, arguments.number(line, at, "count"))))
            self._peers(kind, fields, at)
        return events

    def names(self) -> Names:
        """Return what negative ranks mean in this trace, and note what was taken for what."""
        mpich = MPICH_WORLD in self.worlds
        if self.nowhere and self.nowhere <= {-1, -2}:
            mpich = self.nowhere == {-1}  # a message cannot go to any source
        names = Names(-2) if mpich else Names(-1)
        if self.negative_source:
            self.calls.notes.say(
                f"of negative ranks {names.any_source} is read as MPI_ANY_SOURCE and the others as "
                f"MPI_PROC_NULL, as {'MPICH' if mpich else 'Open MPI'} has them"
            )
        return names

    def _shown(self, arguments: Arguments, line: Line, text: str, *, first: bool) -> Shown:
        shown = to_shown(arguments, line, text)
        if first and shown.size > 1:
            self.worlds.add(shown.handle)
            if shown.size != self.calls.num_ranks:
                raise arguments.fail(
                    line,
                    f"the files of all {shown.size} ranks must be there; got "
                    f"{self.calls.num_ranks}",
                )
            if shown.place != arguments.rank:
                self.shown_as[arguments.rank] = shown.place
                self.calls.notes.count(
                    "a file shows another rank than its name: the name's is taken",
                    arguments.rank,
                    line.number,
                )
        return shown

    def _peers(self, kind: str, fields: list[str], at: dict[str, int]) -> None:
        names = {"send": ("peer",), "recv": ("peer",), "sendrecv": ("dest", "source")}
        for name in names.get(kind, ()):
            text = fields[at[name]]
            if text.startswith("-"):
                if kind == "send" or name == "dest":
                    self.nowhere.add(-1 if text == "-1" else -2 if text == "-2" else -3)
                else:
                    self.negative_source = True
