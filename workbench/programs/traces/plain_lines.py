"""The lines of a rank's file as numbers, made by a kernel; Python reads what is not plain.

Which fields of a call the kernels look at follows from its signature. Texts that mean something as
a whole (a communicator, a collective's arguments, an array of requests) are numbered: equal texts
have one number, and what it means is found once.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.goal.scan import hashed
from kernels.traces import layout
from kernels.traces.scan import scan
from workbench.arrays import IntArray
from workbench.errors import SimulationHalted
from workbench.programs.traces.files import TraceFile
from workbench.programs.traces.lines import TraceLine, line_of
from workbench.programs.traces.mpi_calls import (
    BLOCKING,
    NONBLOCKING,
    PERSISTENT,
    RECORDER_SIGNATURES,
    SIGNATURES,
    Signature,
)
from workbench.tasks import Task

AnyLines = TypeVar("AnyLines")

MOST_THREADS = 8
"""Most files that are cut at once; a disk and the memory's bandwidth serve no more."""

_NAME_SALT = 1_597_334_677  # a prime of 31 bits (L'Ecuyer 1999); names are ours
FEW_TEXTS = 1024
"""Texts for which there is room at first."""


@dataclass(frozen=True)
class Forms:
    """The known calls: a form for each name and number of fields."""

    names: tuple[IntArray, NDArray[np.uint8], IntArray, NDArray[np.int16]]
    table: IntArray  # int64[forms, N_FORM]
    gives: NDArray[np.bool_]  # whether a form's call gives its request to a variable
    sends: NDArray[np.bool_]
    receives: NDArray[np.bool_]


@dataclass(frozen=True)
class NumberedLines:
    """The lines of a file, numbered from 0, and its texts; see ``kernels.traces.scan``."""

    file: TraceFile
    data: NDArray[np.uint8]
    begin: NDArray[np.int32]
    form: NDArray[np.int16]
    times: IntArray
    values: IntArray
    notable: NDArray[np.int32]
    texts: IntArray

    def line(self, at: int, *, times: bool = True) -> TraceLine | None:
        """Return a line as text cut at its colons, None for an empty one."""
        return line_of(self.file.name, at + 1, self.text(at), times=times)

    def text(self, at: int) -> str:
        """Return a line without its end."""
        data = self.file.data[self.begin[at] : self.begin[at + 1]]
        return data.decode("latin-1").removesuffix("\n").removesuffix("\r")

    def numbered_text(self, number: int) -> str:
        """Return a text that is numbered."""
        begin, length = self.texts[number, :2].tolist()
        return self.file.data[begin : begin + length].decode("latin-1")

    def texts_of(self, kind: int) -> list[int]:
        """Return the numbers of the texts of a kind or form."""
        found: list[int] = np.flatnonzero(self.texts[:, 2] == kind).tolist()
        return found

    def arrays_of_requests(self) -> list[int]:
        """Return the numbers of the texts ``count:address`` of arrays that liballprof names."""
        kinds = np.flatnonzero(forms_of(False).table[:, layout.S_WHAT] == layout.ENDS_ARRAY)
        found: list[int] = np.flatnonzero(np.isin(self.texts[:, 2], kinds)).tolist()
        return found

    def numbered_requests(self) -> tuple[int, int]:
        """Return the lowest number that a call gives its request, and how many places they need.

        There are none where the numbers lie far apart, which the recorder's never do.
        """
        given = self.values[forms_of(True).gives[np.maximum(self.form, 0)], layout.V_REQUEST]
        given = given[given >= 0]
        if not len(given):
            return 0, 0
        lowest, places = int(given.min()), int(given.max()) - int(given.min()) + 1
        return (lowest, places) if places <= 4 * len(given) + FEW_TEXTS else (0, 0)

    @property
    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """What ``follow`` takes."""
        return self.begin, self.form, self.times, self.values


def report_ranks(task: Task, done: int, total: int, message: str) -> None:
    """Report the ranks that are done; SimulationHalted once the task is stopped."""
    if task.stopping:
        raise SimulationHalted("reading the trace was stopped before its end")
    task.report(done, total, f"{done} of {total} ranks {message}")


def cut(files: Sequence[TraceFile], forms: Forms, task: Task) -> list[NumberedLines]:
    """Return the lines of all files."""
    return side_by_side(lambda file: _cut(file, forms), files, task)


def side_by_side(
    read: Callable[[TraceFile], AnyLines], files: Sequence[TraceFile], task: Task
) -> list[AnyLines]:
    """Return the lines of all files, several of which are cut at once."""
    threads = min(len(files), os.cpu_count() or 1, MOST_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        found: list[AnyLines] = []
        for lines in pool.map(read, files):
            found.append(lines)
            report_ranks(task, len(found), len(files), "split into lines")
    return found


def _cut(file: TraceFile, forms: Forms) -> NumberedLines:
    data = np.frombuffer(file.data, np.uint8)
    count = file.data.count(b"\n") + (file.data != b"" and not file.data.endswith(b"\n"))
    begin, notable = np.empty(count + 1, np.int32), np.empty(count, np.int32)
    form = np.empty(count, np.int16)
    times = np.empty((count, 2), np.int64)
    values = np.empty((count, layout.N_VALUES), np.int64)
    fields = np.empty(layout.MOST_FIELDS + 1, np.int64)
    # texts cannot be chosen so that their hashes are equal
    salt = np.array([_NAME_SALT, secrets.randbits(31) | 1])
    room = FEW_TEXTS
    while True:
        slots, texts = np.zeros(2 * room, np.int64), np.zeros((room, 4), np.int64)
        state = np.zeros(layout.LAST_TEXTS + len(layout.TEXT_VALUES), np.int64)
        lines = begin, form, times, values
        if scan(data, forms.names, forms.table, salt, slots, texts, lines, notable, fields, state):
            room *= 16
            continue
        return NumberedLines(
            file, data, *lines, notable[: state[1]].copy(), texts[: state[0]].copy()
        )


@cache
def forms_of(recorder: bool) -> Forms:
    """Return the forms of the recorder's calls, or of liballprof's."""
    signatures = RECORDER_SIGNATURES if recorder else SIGNATURES
    rows = [np.zeros(layout.N_FORM, np.int64) for _ in range(layout.BLANK + 1)]
    rows[layout.BLANK][layout.S_WHAT] = layout.BLANK
    gives, sends, receives = [False] * len(rows), [False] * len(rows), [False] * len(rows)
    numbers = np.zeros((len(signatures), layout.MOST_FIELDS), np.int16)
    for name, signature in enumerate(signatures.values()):
        for count, at in signature.forms.items():
            numbers[name, count] = len(rows)
            rows.append(_form(signature, count, at, recorder=recorder, name=list(signatures)[name]))
            gives.append(signature.manner != BLOCKING)
            sends.append(signature.kind in ("send", "sendrecv"))
            receives.append(signature.kind in ("recv", "sendrecv"))
    pool = np.frombuffer("".join(signatures).encode(), np.uint8)
    start = np.concatenate([[0], np.cumsum([len(name) for name in signatures])]).astype(np.int64)
    slots = np.zeros(1024, np.int64)
    for number, each in enumerate(signatures):
        slot = hashed(each.encode(), 0, len(each), _NAME_SALT) % len(slots)
        while slots[slot]:
            slot = (slot + 1) % len(slots)
        slots[slot] = number + 1
    flags = (np.array(one) for one in (gives, sends, receives))
    return Forms((slots, pool, start, numbers), np.array(rows), *flags)


def _form(
    signature: Signature, count: int, at: dict[str, int], *, recorder: bool, name: str
) -> IntArray:
    """Return which fields the kernels look at, and what they do with the line."""
    row = np.zeros(layout.N_FORM, np.int64)
    kind, blocking = signature.kind, signature.manner == BLOCKING
    row[layout.S_MAKES] = kind.startswith("comm_")
    if signature.manner == PERSISTENT:
        return row

    def numbers(**columns: str) -> None:
        for column, argument in columns.items():
            row[layout.S_NUMBER + getattr(layout, f"V_{column}")] = at[argument]

    def text(value: int, first: int, after: int) -> None:
        column = layout.S_TEXT + 2 * layout.TEXT_VALUES.index(value)
        row[column], row[column + 1] = first, after

    if "request" in at and (signature.manner == NONBLOCKING or kind == "wait"):
        if recorder:
            numbers(REQUEST="request")
        else:
            text(layout.V_REQUEST, at["request"], at["request"] + 1)
    if recorder and kind in ("recv", "sendrecv", "wait"):
        row[layout.S_STATUS] = at.get("status", 0)
    probes = name in ("MPI_Iprobe", "MPI_Improbe")
    if kind in ("send", "recv", "sendrecv", "collective", "local") or probes:
        row[layout.S_COMM] = at["comm"]
        text(layout.V_COMM, at["comm"], at["comm"] + 1)
        row[layout.S_WHAT] = layout.NOTHING
    if kind in ("send", "recv"):
        row[layout.S_WHAT] = layout.MESSAGE
        first = layout.SEND if kind == "send" else layout.RECV
        row[layout.S_KIND] = first + (0 if blocking else layout.ISEND - layout.SEND)
        numbers(SIZE="count", PEER="peer", TAG="tag")
        row[layout.S_TYPE] = at["type"]
    elif kind == "sendrecv":
        row[layout.S_WHAT] = layout.SENDRECV
        received = "recv" if "recvcount" in at else "send"
        numbers(SIZE="sendcount", PEER="dest", TAG="sendtag")
        numbers(SIZE2=f"{received}count", PEER2="source", TAG2="recvtag")
        row[layout.S_TYPE], row[layout.S_TYPE2] = at["sendtype"], at[f"{received}type"]
    elif kind == "wait":
        row[layout.S_WHAT] = layout.ENDS_ONE
    elif kind == "waitall" and recorder:
        row[layout.S_WHAT] = layout.ENDS_LISTED
        row[layout.S_LIST], row[layout.S_STATUS] = at["requests"], at["statuses"]
    elif kind == "waitany" and recorder:
        row[layout.S_WHAT] = layout.ENDS_ANY
        row[layout.S_LIST], row[layout.S_STATUS] = at["requests"], at["status"]
        numbers(INDEX="index")
    elif kind == "waitall":
        row[layout.S_WHAT] = layout.ENDS_ARRAY
        text(layout.V_TEXT, at["count"], at["statuses"])
    elif kind == "test" and recorder:
        row[layout.S_WHAT] = layout.TEST
        numbers(SIZE="flag")
    elif kind == "collective":
        row[layout.S_WHAT] = layout.GROUP_CALL
        row[layout.S_KIND] = layout.COLLECTIVE if blocking else layout.ICOLLECTIVE
        text(layout.V_TEXT, 2, count - 1 if blocking else at["request"])
    return row
