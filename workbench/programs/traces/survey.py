"""The facts about a whole liballprof trace that reading the calls of a rank depends on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from kernels.traces import layout
from workbench.programs.traces.calls import TraceCalls
from workbench.programs.traces.handles import CommunicatorUse, Event, Freed
from workbench.programs.traces.liballprof_rank import MAKING, made_communicator, shown_communicator
from workbench.programs.traces.lines import ArgumentReader, Names, Places, TraceLine, number_of
from workbench.programs.traces.mpi_calls import BLOCKING, SIGNATURES
from workbench.programs.traces.plain_lines import NumberedLines, forms_of

MPICH_WORLD = 0x44000000
"""MPI_COMM_WORLD in MPICH and its derivatives: a number, where Open MPI has an address."""

GIVING = frozenset({"recv_matched", "comm_dup"})
"""Kinds of calls of which those with a request give it to a variable, but are no collective."""


class Survey:
    """Facts about the whole trace that reading a single rank's calls depends on."""

    def __init__(self, calls: TraceCalls) -> None:
        self.calls = calls
        # by rank: addresses of the variables that its calls gave a request
        self.made: list[set[int]] = [set() for _ in range(calls.num_ranks)]
        self.arrays: set[tuple[int, int]] = set()  # address and length of arrays of requests
        self.worlds: set[int] = set()
        self.nowhere: set[int] = set()  # negative ranks that something is sent to
        self.negative_source = False
        self.shown_as: dict[int, int] = {}  # by rank: the rank its file shows, if another

    def take(self, rank: int, lines: NumberedLines) -> list[Event]:
        """Return a rank's communicator events; damage elsewhere is refused by the reader."""
        arguments = ArgumentReader(self.calls, rank)
        events: list[Event] = []
        fresh: set[str] = set()
        given, named = self._plain(lines)
        argument_fields = _survey_fields()
        for number in (lines.notable + 1).tolist():
            fields = lines.text(number - 1).split(":")
            look = argument_fields.get((fields[0], len(fields)))
            if look is None:
                continue
            if look.kind:
                line = TraceLine(number, fields[0], None, None, fields)
                if look.kind == "comm_free":
                    events.append(Freed(arguments.number(line, look.at, "newcomm"), number))
                else:
                    parent = self._shown(arguments, line, fields[look.comm], first=not events)
                    events.append(made_communicator(arguments, line, look.kind, look.at, parent))
                fresh.clear()
            elif look.comm and fields[look.comm] not in fresh:
                fresh.add(fields[look.comm])
                line = TraceLine(number, fields[0], None, None, fields)
                events.append(self._shown(arguments, line, fields[look.comm], first=not events))
            if look.request:
                given.add(fields[look.request])
            if look.requests:
                named.add((fields[look.requests], fields[look.count]))
            if look.target and fields[look.target].startswith("-"):
                self.nowhere.add({"-1": -1, "-2": -2}.get(fields[look.target], -3))
            if look.source and fields[look.source].startswith("-"):
                self.negative_source = True
        # what is no number is refused where its line is read
        self.made[rank] = {address for text in given if (address := number_of(text)) is not None}
        self.arrays |= {
            (base, max(0, count))
            for texts in named
            if (base := number_of(texts[0])) is not None
            and (count := number_of(texts[1])) is not None
        }
        return events

    def _plain(self, lines: NumberedLines) -> tuple[set[str], set[tuple[str, str]]]:
        """Take what plain lines show; return the variables given a request, and the arrays named.

        Variables and arrays are texts, an array its address and length.
        """
        forms, values = forms_of(False), lines.values
        form = np.maximum(lines.form, 0)
        both = forms.table[form, layout.S_WHAT] == layout.SENDRECV
        targets = values[forms.sends[form], layout.V_PEER]
        self.nowhere.update(max(-3, peer) for peer in set(targets[targets < 0].tolist()))
        received = forms.receives[form] & ~both
        if (values[received, layout.V_PEER] < 0).any() or (values[both, layout.V_PEER2] < 0).any():
            self.negative_source = True
        given = np.zeros(len(lines.texts), np.bool_)
        given[values[forms.gives[form], layout.V_REQUEST]] = True
        texts = (lines.numbered_text(number) for number in lines.arrays_of_requests())
        named = {(base, count) for count, base in (text.split(":") for text in texts)}
        return {lines.numbered_text(number) for number in np.flatnonzero(given).tolist()}, named

    def names(self) -> Names:
        """Return the meaning of negative ranks in this trace, and note the choice."""
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

    def _shown(
        self, arguments: ArgumentReader, line: TraceLine, text: str, *, first: bool
    ) -> CommunicatorUse:
        shown = shown_communicator(arguments, line, text)
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


@dataclass(frozen=True, slots=True)
class _SurveyField:
    """The fields of a call's lines that the survey looks at; 0 is none."""

    at: Places
    kind: str  # of a call that makes or frees a communicator
    comm: int
    request: int
    requests: int
    count: int
    target: int
    source: int


@cache
def _survey_fields() -> dict[tuple[str, int], _SurveyField]:
    """Return the fields to look at, by call name and number of fields."""
    argument_fields: dict[tuple[str, int], _SurveyField] = {}
    for name, signature in SIGNATURES.items():
        kind = signature.kind
        gives = signature.manner != BLOCKING or kind in GIVING
        target = {"send": "peer", "sendrecv": "dest"}.get(kind, "")
        source = {"recv": "peer", "sendrecv": "source"}.get(kind, "")
        for num_fields, at in signature.forms.items():
            argument_fields[name, num_fields] = _SurveyField(
                at,
                kind if kind in MAKING or kind == "comm_free" else "",
                at.get("comm", 0),
                at.get("request", 0) if gives else 0,
                at.get("requests", 0),
                at.get("count", 0),
                at.get(target, 0),
                at.get(source, 0),
            )
    return argument_fields
