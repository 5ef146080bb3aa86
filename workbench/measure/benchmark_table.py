"""One table printed by a benchmark, as it stood in the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Role = Literal["latency", "bw", "bibw", "mbw_mr", "collective", "other"]
"""What a table is good for: a curve's latency, one of its bandwidths, times of collectives."""

PROGRAMS: dict[str, str] = {
    "latency": "osu_latency",
    "bw": "osu_bw",
    "bibw": "osu_bibw",
    "mbw_mr": "osu_mbw_mr",
    "other": "another benchmark",
}
"""The program of OSU that prints each kind of table."""

TOOLS: dict[str, str] = {
    "osu": "OSU micro-benchmarks",
    "imb": "Intel MPI Benchmarks",
    "perftest": "perftest",
    "nccl": "nccl-tests",
    "ucx": "ucx_perftest",
    "netpipe": "NetPIPE",
}
"""The collections of benchmarks that are read, by the word of their kind."""


@dataclass(frozen=True)
class Note:
    """A remark on a line of the text.

    Attributes:
        line: 1-based line number.
        message: what was found there and what was done about it.
        unread: whether the line is text that is not part of any table.
    """

    line: int
    message: str
    unread: bool = False


@dataclass(frozen=True, eq=False)
class BenchmarkTable:
    """The rows of one run of one benchmark, before any judgement about their use.

    Attributes:
        benchmark: what it is good for; ``other`` where no curve can be made of it.
        title: the benchmark's own title line without the version; empty where there was none.
        version: version of the benchmarks in the title, such as ``7.5``; empty where not stated.
        source: name of the file, or a word such as ``text``.
        line: line of the title, or of the column headings where there is no title.
        columns: headings of the columns after the size, such as ``Latency (us)``.
        sizes: int64[n], message sizes in bytes, ascending; a benchmark may print size 0.
        values: float64[n, k], one column each; the first is the result, in ``unit``. A passed
            validation is nan.
        lines: int64[n], line of each row.
        comments: the other comment lines of the table, such as ``Datatype: MPI_CHAR.``
        notes: rows left out and lines not understood.
        truncated: whether the table ends in the middle of a row.
        tool: whose benchmark it is, one of ``TOOLS``.
        test: the program or test, such as ``osu_latency`` or ``PingPong``.
        unit: of the result, ``us`` or ``MB/s`` of 10^6 bytes.
        labels: what the text says of the experiment, by name: ``command``, ``label`` (the line
            above it), ``nodes``, ``ranks``, ``ranks_per_node``, ``map_by``, ``binding``,
            ``hosts``, ``environment``, ``device``, ``buffers``, ``pairs``, and what a tool prints.
    """

    benchmark: Role
    title: str
    version: str
    source: str
    line: int
    columns: tuple[str, ...]
    sizes: NDArray[np.int64]
    values: NDArray[np.float64]
    lines: NDArray[np.int64]
    comments: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    truncated: bool = False
    tool: str = "osu"
    test: str = ""
    unit: str = "us"
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def result(self) -> NDArray[np.float64]:
        """The benchmark's result at each size, float64[n] in ``unit``."""
        return self.values[:, 0]

    @property
    def program(self) -> str:
        """Name of the program with its version where it is known, such as ``osu_bw 7.5``."""
        name = self.test or PROGRAMS[self.benchmark]
        return f"{name} {self.version}".strip() if self.tool == "osu" else name

    @property
    def buffers(self) -> str:
        """Memory of the message buffers as the benchmark prints it; empty for plain host memory.

        ``OSU MPI-CUDA Latency`` gives ``CUDA``; a line ``Send Buffer on DEVICE (D) and Receive
        Buffer on HOST (H)``, or the command's ``D H``, adds these letters.
        """
        devices = [
            word[4:].upper() for word in self.title.split() if word.upper().startswith("MPI-")
        ]
        places = self.labels.get("buffers", "").split()
        for comment in self.comments:
            words = comment.replace("(", " ").replace(")", " ").split()
            if "Buffer" in words:
                places = [word for word in words if word in {"D", "H", "M", "MD", "MH"}]
        # Host to host is the same experiment whichever build of the benchmark ran it.
        return "" if places == ["H", "H"] else " ".join(devices + places)

    @property
    def experiment(self) -> dict[str, str]:
        """What tells the table's experiment from another's, by name."""
        told = {name: self.labels[name] for name in _TELLING if name in self.labels}
        told["buffers"] = self.buffers or "host"
        return told | ({"version": self.version} if self.version else {})

    def __repr__(self) -> str:
        cut = ", truncated" if self.truncated else ""
        rows = f"{len(self.sizes)} rows"
        return f"BenchmarkTable({self.program}, {rows}, {self.source}:{self.line}{cut})"


_TELLING = (
    "label",
    "series",
    "nodes",
    "ranks",
    "ranks_per_node",
    "map_by",
    "binding",
    "hosts",
    "partition",
    "environment",
    "device",
    "window",
    "datatype",
    "pairs",
    "placement",
    "system",
    "queue_pairs",
    "direction",
    "in_place",
    "transport",
    "library",
    "mode",
    "groups",
)
"""Labels that make two tables different experiments; ``command`` holds paths and sizes as well."""

_LEAST_ALIKE = 3
"""Rows from which on equal tables are one that was printed twice: two decimals of three sizes do
not repeat by chance."""


def counted_once(tables: list[BenchmarkTable]) -> list[BenchmarkTable]:
    """Return the tables without those that repeat an earlier one in every row."""
    kept: dict[tuple[object, ...], int] = {}
    found: list[BenchmarkTable] = []
    for table in tables:
        key = (table.test, table.sizes.tobytes(), table.values.tobytes(), *table.experiment.items())
        first = kept.get(key)
        if first is None or len(table.sizes) < _LEAST_ALIKE:
            kept.setdefault(key, len(found))
            found.append(table)
            continue
        note = Note(table.line, f"the same as the table at line {found[first].line}; counted once")
        if found[first].line == table.line:
            note = Note(table.line, "each row is printed twice; counted once")
        found[first] = replace(found[first], notes=(*found[first].notes, note, *table.notes))
    return found
