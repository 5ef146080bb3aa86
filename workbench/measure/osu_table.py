"""One table printed by an OSU micro-benchmark, as it stood in the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

OSUTest = Literal["latency", "bw", "bibw", "mbw_mr", "other"]

PROGRAMS: dict[str, str] = {
    "latency": "osu_latency",
    "bw": "osu_bw",
    "bibw": "osu_bibw",
    "mbw_mr": "osu_mbw_mr",
    "other": "another benchmark",
}
"""The program that prints each kind of table."""


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
class OSUTable:
    """The rows of one run of one benchmark, before any judgement about their use.

    Attributes:
        benchmark: which program printed it; ``other`` where it is none of those that are read.
        title: the benchmark's own title line without the version; empty where there was none.
        version: version of the benchmarks in the title, such as ``7.5``; empty where not stated.
        source: name of the file, or a word such as ``text``.
        line: line of the title, or of the column headings where there is no title.
        columns: headings of the columns after the size, such as ``Latency (us)``.
        sizes: int64[n], message sizes in bytes, ascending; osu_latency may print size 0.
        values: float64[n, k], one column each; the first is the latency in microseconds or the
            bandwidth in MB/s. A passed validation is nan.
        lines: int64[n], line of each row.
        comments: the other comment lines of the table, such as ``Datatype: MPI_CHAR.``
        notes: rows left out and lines not understood.
        truncated: whether the table ends in the middle of a row.
    """

    benchmark: OSUTest
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

    @property
    def result(self) -> NDArray[np.float64]:
        """The benchmark's result at each size, float64[n] in microseconds or MB/s."""
        return self.values[:, 0]

    @property
    def program(self) -> str:
        """Name of the program with its version where it is known, such as ``osu_bw 7.5``."""
        return f"{PROGRAMS[self.benchmark]} {self.version}".strip()

    @property
    def buffers(self) -> str:
        """Memory of the message buffers as the benchmark prints it; empty for plain host memory.

        ``OSU MPI-CUDA Latency`` gives ``CUDA``; a line ``Send Buffer on DEVICE (D) and Receive
        Buffer on HOST (H)`` adds ``D H``.
        """
        devices = [
            word[4:].upper() for word in self.title.split() if word.upper().startswith("MPI-")
        ]
        places: list[str] = []
        for comment in self.comments:
            words = comment.replace("(", " ").replace(")", " ").split()
            if "Buffer" in words:
                places = [word for word in words if word in {"D", "H", "M", "MD", "MH"}]
        # Host to host is the same experiment whichever build of the benchmark ran it.
        return "" if places == ["H", "H"] else " ".join(devices + places)

    def __repr__(self) -> str:
        cut = ", truncated" if self.truncated else ""
        return f"OSUTable({self.program}, {len(self.sizes)} rows, {self.source}:{self.line}{cut})"
