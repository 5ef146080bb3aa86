"""Read traces of liballprof 1 and of the workbench's own recorder, which are similar.

The format: one text file per rank, one line per MPI call (Hoefler, Schneider, Lumsdaine: LogGOPSim,
HPDC 2010, section 3; the header and the ``# comm`` lines of the recorder are described in
``workbench.programs.recording``). The time between two calls is the program's own work; the time
inside a call is not kept, since a replay computes it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.programs.find_program import HEAD_BYTES
from workbench.programs.program import Program
from workbench.programs.traces.calls import TraceCalls, fit_receives
from workbench.programs.traces.communicators import reconstruct
from workbench.programs.traces.files import TraceFile
from workbench.programs.traces.handles import Handles
from workbench.programs.traces.liballprof_rank import AddressReader
from workbench.programs.traces.lines import line_of
from workbench.programs.traces.mpi_calls import SIGNATURES
from workbench.programs.traces.plain_lines import cut, forms_of, report_ranks
from workbench.programs.traces.ranges import RequestVariables
from workbench.programs.traces.recorder_rank import RecordedComms, RecordedReader, check_header
from workbench.programs.traces.requests import detect_stride
from workbench.programs.traces.survey import Survey
from workbench.tasks import Task


def read_liballprof(files: Sequence[TraceFile], source: str, task: Task) -> Program:
    """Return the program of a liballprof 1 trace of one file per rank."""
    if ranks := _shown_ranks(files):
        files = [files[i] for i in ranks]
    calls = TraceCalls(len(files), source, [file.name for file in files])
    survey = Survey(calls)
    lines = cut(files, forms_of(False), task)
    events = [survey.take(rank, mine) for rank, mine in enumerate(lines)]
    names = survey.names()
    stride, recognised = detect_stride(set().union(*survey.made), survey.arrays)
    if not recognised:
        calls.notes.say(
            "the trace does not record whether its MPI's requests take 4 or 8 bytes; arrays of "
            f"requests are read with {stride}"
        )
    known = reconstruct(events, survey.shown_as, calls.files, calls.notes)
    lines.reverse()  # each is freed once it is read
    for rank in range(len(files)):
        handles = Handles(rank, known, calls.notes)
        variables = RequestVariables(survey.made[rank], stride)
        AddressReader(calls, lines.pop(), rank, names, variables, handles).read()
        report_ranks(task, rank + 1, len(files), "read")
    fit_receives(calls)
    return calls.build()


def read_recorded(files: Sequence[TraceFile], source: str, task: Task) -> Program:
    """Return the program of the workbench recorder's trace; its headers order the files by rank."""
    files = check_header(files)
    calls = TraceCalls(len(files), source, [file.name for file in files])
    comms = RecordedComms(calls)
    lines = cut(files, forms_of(True), task)[::-1]
    for rank in range(len(files)):
        RecordedReader(calls, lines.pop(), rank, comms).read()
        report_ranks(task, rank + 1, len(files), "read")
    fit_receives(calls)
    return calls.build()


def _shown_ranks(files: Sequence[TraceFile]) -> list[int]:
    """Return the index of each rank's file, by the ranks that files show; empty if unordered."""
    at_rank: dict[int, int] = {}
    for i, file in enumerate(files):
        head = file.data[:HEAD_BYTES]
        if len(file.data) > len(head):
            head = head.rpartition(b"\n")[0]
        text = head.decode("latin-1").replace("\r\n", "\n").removesuffix("\r")
        for number, one in enumerate(text.split("\n"), 1):
            line = line_of(file.name, number, one, times=False)
            if line is None:
                continue
            signature = SIGNATURES.get(line.name)
            at = signature.places(len(line.fields)) if signature else None
            if at and "comm" in at:
                parts = line.fields[at["comm"]].split(",")
                if len(parts) == 3 and parts[2] == str(len(files)) and parts[1].isdecimal():
                    at_rank[int(parts[1][:10])] = i
                break
    ranks = range(len(files))
    return [at_rank[rank] for rank in ranks] if sorted(at_rank) == list(ranks) else []
