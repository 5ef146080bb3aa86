"""What a file is: its kind, what it holds, and what is doubtful about it.

Each subject that reads files has a function ``reading_of``, which looks at a content and says what
it is, or None where it is not of its kinds. ``workbench.measure.read`` asks them in turn.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbench.errors import ParseError
from workbench.jsonfile import plain

KINDS = (
    "osu",
    "imb",
    "perftest",
    "nccl",
    "ucx",
    "netpipe",
    "collectives",
    "netgauge",
    "topology",
    "jobs",
    "counters",
    "trace",
    "goal",
)
"""The kinds of files, each a word of ``Reading.kind``."""


@dataclass(frozen=True)
class ReadTable:
    """One table of measurements of a file.

    Attributes:
        benchmark: the program or test that printed it, such as ``osu_latency``.
        labels: what the text says of it, such as ``buffers``: ``D D``.
        sizes: bytes of a message, ascending.
        values: the result at each size, in ``unit``.
        unit: ``us``, ``MB/s`` or another unit of the result.
        runs: how many runs it joins.
    """

    benchmark: str
    labels: Mapping[str, str]
    sizes: Sequence[int]
    values: Sequence[float]
    unit: str
    runs: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Return values that JSON can hold; what is not a number is None."""
        return {
            "benchmark": self.benchmark,
            "labels": dict(self.labels),
            "sizes": [int(size) for size in self.sizes],
            "values": plain(list(map(float, self.values))),
            "unit": self.unit,
            "runs": self.runs,
        }


@dataclass(frozen=True)
class Reading:
    """What a file is and what it holds.

    Attributes:
        file: its name.
        kind: one of ``KINDS``.
        title: what it is, in a sentence.
        facts: further values by name, such as ``hosts`` and ``links`` of a topology.
        tables: the tables of measurements, in the file's order.
        notes: what was assumed, joined or left out, each with its line where it has one.
    """

    file: str
    kind: str
    title: str
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    tables: tuple[ReadTable, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return values that JSON can hold: the facts beside the others."""
        return {
            "file": self.file,
            "kind": self.kind,
            "title": self.title,
            **{name: plain(value) for name, value in self.facts.items()},
            "tables": [table.to_dict() for table in self.tables],
            "notes": list(self.notes),
        }


_READERS: tuple[str, ...] = (
    "workbench.models.netgauge",
    "workbench.variability.known_files",
    "workbench.programs.reading",
    "workbench.topology.files.reading",
    "workbench.measure.reading",
)
"""Modules with a ``reading_of``, in the order in which they are asked."""


def as_utf8(content: bytes) -> bytes:
    """Return a text in UTF-16 with its mark, as Windows writes it, in UTF-8; others as they are."""
    if not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content
    text = content.decode("utf-16", "replace")
    return re.sub(r"^(<\?xml[^>]{0,100}?)\s+encoding=[\"'][^\"']*[\"']", r"\1", text).encode()


def reading_of(content: bytes, source: str, path: Path | None = None) -> Reading:
    """Return what a file is; ``path`` is where it lies, for formats of several files."""
    content = as_utf8(content)
    for module in _READERS:
        found: Reading | None = import_module(module).reading_of(content, source, path)
        if found is not None:
            return found
    raise ParseError(
        f"{_looks_like(content)}; read are the output of OSU, IMB, perftest, nccl-tests, "
        "ucx_perftest, NetPIPE and netgauge, topologies, tables of jobs and counters, traces and "
        "GOAL",
        source=source,
    )


_WAYS = {
    **dict.fromkeys(("osu", "imb", "perftest", "ucx", "netpipe"), "workbench fit --osu FILE"),
    "nccl": "workbench uq calibrate FILE",
    "collectives": "workbench uq calibrate FILE",
    "netgauge": "workbench replay and models.read_netgauge",
    "topology": "workbench topology metrics FILE",
    "jobs": "workbench variability blame --jobs FILE",
    "counters": "workbench variability deviation",
    "trace": "workbench replay FILE",
    "goal": "workbench replay FILE",
}
"""What takes a file of each kind."""


def instead(content: bytes, source: str, *, but: str = "") -> str:
    """Return what a file is that is not of the kind asked for, and what takes it; else nothing."""
    try:
        found = reading_of(content, source)
    except ParseError:
        return ""
    if found.kind == but:
        return ""
    return f"it is {found.title}, which {_WAYS[found.kind]} takes"


_GRAPHS = "networkx reads, and networkx.write_graphml writes what is read here"
_JOBS = "sacct -a -P -o JobID,User,NNodes,Start,End prints what is read here"
_OTHERS = tuple(
    (re.compile(pattern, re.MULTILINE), what)
    for pattern, what in (
        (rb"\A(?:[^\n]*\n){0,9}graph\s*\[", f"GML, which {_GRAPHS}"),
        (rb"<gexf\b", f"GEXF, which {_GRAPHS}"),
        (rb'\A\{\s*"(directed|multigraph|graph|nodes)"', f"a graph in JSON, which {_GRAPHS}"),
        (rb"^Tiers \d+\s[^{}]*^Tier 0", "a fat tree of htsim: workbench topology build makes one"),
        (rb"^\s*(CA|Switch): \S", "iblinkinfo's output: ibnetdiscover prints what is read here"),
        (rb"^\s*JOBID\s+(PARTITION|USER)\b", f"squeue's output, without the jobs' ends: {_JOBS}"),
        (rb'\A\{\s*"(jobs|meta)"\s*:', f"sacct's JSON: {_JOBS}"),
        (rb"^%EventDef Paje", "a trace of Pajé: smpirun -trace-ti writes what is read here"),
    )
)
"""Files that are not read: how they look, what they are, and the way that exists."""


def _looks_like(content: bytes) -> str:
    """Return what a file that is not read looks like."""
    head = content[:4096].lstrip()
    if not head:
        return "it is empty"
    if b"\0" in head:
        return "it is binary, of a kind that is not read"
    for pattern, what in _OTHERS:
        if pattern.search(head):
            return f"it looks like {what}"
    if re.match(rb'[{\[]\s*["{\[}\]\d-]', head):
        return "it looks like JSON, but not like one that is read here"
    first = head.splitlines()[0].decode("utf-8", "replace")
    shown = "".join(letter if letter.isprintable() else " " for letter in first[:60]).strip()
    return f"it is text, but nothing that is read: it begins with {shown!r}"
