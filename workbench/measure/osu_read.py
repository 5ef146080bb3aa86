"""From the output of the OSU micro-benchmarks to one curve of latency and bandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError, ParseError
from workbench.measure.benchmark_table import PROGRAMS, TOOLS, BenchmarkTable, Note
from workbench.measure.benchmark_text import NoTableError, parse_benchmarks
from workbench.measure.curve import OSUCurve, Spread
from workbench.measure.curve_csv import is_curve_csv, not_read, read_curve_csv
from workbench.measure.delimited import delimited_tables, is_delimited
from workbench.measure.experiments import TableChoice, beside, chosen
from workbench.measure.log_lines import decoded
from workbench.provenance import Origin, Provenance
from workbench.reading import instead
from workbench.suggestions import did_you_mean

OSUSource = str | Path | bytes | tuple[str, str | bytes]

BANDWIDTHS = ("bw", "bibw", "mbw_mr")
"""The benchmarks a curve can take its bandwidth from; ``bw`` unless another is asked for."""

_SUMS = {
    "bibw": "counts both directions",
    "mbw_mr": "is the sum over all pairs of processes",
}
_TOLD = ("label", "series", "nodes", "ranks", "ranks_per_node", "placement", "pairs", "device",
         "environment")  # fmt: skip
"""Labels of a table that a curve's provenance repeats."""


def read_osu(
    *sources: OSUSource,
    name: str = "",
    bandwidth: str = "bw",
    table: TableChoice | None = None,
    provenance: Provenance | None = None,
    origin: Origin = "measured",
) -> OSUCurve:
    """Return one curve from the output of osu_latency and osu_bw on one machine, or from a table.

    Latency and bandwidth may come from one text or from several. Several runs of one benchmark
    give the median at each size and, beside it, their spread: where nothing in the texts tells them
    apart, such as a label above a table or the number of nodes in its command, and where their
    results are near to one another. A size that only some runs or only one benchmark measured is
    kept; what is missing is nan. Rows of size 0 and values printed as 0.00 are left out. All that
    was left out or not understood is in the curve's ``notes``.

    Other benchmarks between two processes are read as well: PingPong, Uniband and Biband of IMB,
    perftest, ucx_perftest and NetPIPE.

    A CSV, or a pasted table, has a column of sizes and one or more of ``latency_us`` and
    ``bandwidth_MBps`` (or what OSU and IMB call them); others, such as ``placement`` or ``nodes``,
    tell experiments apart. With semicolons or tabs between the fields decimal commas are read too.

    Args:
        sources: paths of files; or the output itself, as text of more than one line or as bytes;
            or pairs of a name and the output.
        name: name of the curve; that of the first source where it is empty.
        bandwidth: the benchmark that gives the bandwidth: ``bw``, ``bibw`` or ``mbw_mr``. The last
            two count more than one message stream, so they are only used when asked for.
        table: which experiment, where the texts hold several: its number in the message that lists
            them, words that only it has, several numbers to be joined, or ``all``.
        provenance: where the numbers came from; by default the names of the sources.
        origin: how the numbers came to be, where no provenance is given.

    Raises:
        SeveralExperimentsError: the tables are of different experiments, such as host and GPU
            memory, and ``table`` does not say which.
        ParseError: a file cannot be read, or there is nothing in it that can be used.
        ParameterError: no source was given, or ``bandwidth`` is not one of the three.
    """
    if bandwidth not in BANDWIDTHS:
        raise ParameterError(
            f"bandwidth must be one of {', '.join(BANDWIDTHS)}; got {bandwidth!r}"
            f"{did_you_mean(bandwidth, BANDWIDTHS)}",
            key="bandwidth",
        )
    if not sources:
        raise ParameterError("read_osu needs at least one file or text; got none", key="sources")
    named = [(label, decoded(text, label)) for label, text in map(label_and_content, sources)]
    if len(named) == 1 and is_curve_csv(named[0][1]):
        return _curve_of_csv(*named[0], name, provenance, origin)
    tables = [one for label, text in named for one in _tables_of(text, label)]
    notes = [
        f"{where}: {message}" for label, _ in named for where, message in _lines(label, tables)
    ]
    able = [one for one in tables if one.benchmark in ("latency", bandwidth) and len(one.sizes)]
    used = chosen(able, table)
    latencies = _usable(used, "latency", notes)
    rates = _usable(used, bandwidth, notes)
    notes += _set_aside(tables, rates, bandwidth)
    if not latencies and not rates:
        raise ParseError(
            f"nothing to use: a curve needs rows of osu_latency or {PROGRAMS[bandwidth]}"
            f"{_looks_like(tables)}" + "".join(f"; {note}" for note in notes[:5]),
            source=", ".join(label for label, _ in named),
        )
    if latencies and rates and latencies[0].buffers != rates[0].buffers:
        notes.append(
            f"latency was measured between {_memory(latencies[0])} and bandwidth between "
            f"{_memory(rates[0])}"
        )
    measured = [table.sizes[_measured(table)] for table in (*latencies, *rates)]
    sizes = np.unique(np.concatenate(measured))
    latency, latency_spread = _merged(latencies, sizes, 1e-6)
    rate, rate_spread = _merged(rates, sizes, 1e6)
    first = named[0][0]
    name = name or (Path(first).stem or first)
    return OSUCurve(
        name=name,
        sizes=sizes,
        latency_s=latency,
        bandwidth_Bps=rate,
        provenance=provenance or _provenance(name, origin, named, latencies, rates),
        latency_spread=latency_spread,
        bandwidth_spread=rate_spread,
        notes=tuple(notes),
    )


def _curve_of_csv(
    label: str, text: str, name: str, provenance: Provenance | None, origin: Origin
) -> OSUCurve:
    """Return the curve of one CSV, with its spread where it has one."""
    name = name or (Path(label).stem or label)
    about = provenance or Provenance(
        origin=origin, title=name, source=label, details={"statistic": "as in the file"}
    )
    curve = read_curve_csv((label, text), name=name, provenance=about)
    notes = tuple(f"{label}:{line}: {what}" for line, what in not_read(text))
    return replace(curve, notes=notes)


def _tables_of(text: str, label: str) -> list[BenchmarkTable]:
    try:
        return tables_of_text(text, label)
    except NoTableError as error:
        what = instead(text.encode("utf-8", "replace"), label)
        if not what:
            raise
        raise NoTableError(f"must hold the table of a benchmark; {what}", source=label) from error


def tables_beside(
    source: OSUSource, table: TableChoice | None = None
) -> tuple[list[BenchmarkTable], list[BenchmarkTable]]:
    """Return the tables of osu_mbw_mr and others of ``read_osu``'s experiment, and the rest."""
    label, content = label_and_content(source)
    tables = [one for one in _tables_of(decoded(content, label), label) if len(one.sizes)]
    able = [one for one in tables if one.benchmark in ("latency", "bw")]
    others = [one for one in tables if one.benchmark not in ("latency", "bw", "collective")]
    same = others if table == "all" else beside(others, chosen(able, table))
    return same, [one for one in others if one not in same]


def not_one_stream(table: BenchmarkTable) -> str:
    """Return the note on a table with the sum of several bandwidths."""
    return (
        f"{table.source}:{table.line}: {table.program} {_SUMS[table.benchmark]}; not used as the "
        f"bandwidth of one stream; ask for it with bandwidth={table.benchmark!r}"
    )


def tables_of_text(text: str, label: str) -> list[BenchmarkTable]:
    """Return the tables of a text, whether printed by a benchmark or with separators, or both."""
    if not is_delimited(text):
        return parse_benchmarks(text, label)
    if "```" not in text:
        return delimited_tables(text, label)
    # Markdown may have tables in its text and, between fences, what the benchmarks printed.
    try:
        printed = [one for one in parse_benchmarks(text, label) if len(one.sizes)]
    except ParseError:
        printed = []
    try:
        tables = delimited_tables(text, label)
    except ParseError:
        if not printed:
            raise
        return printed
    lines = {line for one in tables for line in one.lines.tolist()}
    return [*tables, *(one for one in printed if lines.isdisjoint(one.lines.tolist()))]


def _looks_like(tables: Iterable[BenchmarkTable]) -> str:
    """Name the benchmarks that printed these tables; empty where no table has rows."""
    found = [table for table in tables if len(table.sizes) and table.benchmark not in _SUMS]
    if not found:
        return ""
    tests = ", ".join(dict.fromkeys(table.test or "an unnamed test" for table in found))
    ways = {
        "collective": "uq and predict take times of collectives",
        "other": "no model here is fitted to it",
    }
    way = ways.get(found[0].benchmark, "")
    return f"; this is output of {TOOLS[found[0].tool]}, {tests}{f': {way}' if way else ''}"


def label_and_content(source: OSUSource) -> tuple[str, str | bytes]:
    """Return a label and the content of a source, whichever way it was given."""
    if isinstance(source, tuple):
        return source
    if isinstance(source, bytes):
        return "text", source
    if isinstance(source, str) and ("\n" in source or "\r" in source):
        return "text", source
    path = Path(source)
    try:
        return path.name, path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ParseError(
            f"cannot be read as a file ({reason}); give the path of a file, or the output itself "
            "with its line ends",
            source=str(source)[:200],
        ) from error


def _usable(
    tables: Iterable[BenchmarkTable], benchmark: str, notes: list[str]
) -> list[BenchmarkTable]:
    """Return the runs of one role that hold measurements; note rows left out."""
    runs = [table for table in tables if table.benchmark == benchmark and len(table.sizes)]
    for reason, left_out in (
        ("size 0 is not part of a curve", [table.sizes == 0 for table in runs]),
        (
            "printed as 0, too small for the table's decimals",
            [(table.sizes > 0) & (table.result == 0) for table in runs],
        ),
    ):
        places = [
            f"{table.source}:{line}"
            for table, rows in zip(runs, left_out, strict=True)
            for line in table.lines[rows]
        ]
        if places:
            more = f" and {len(places) - 1} more" if places[1:] else ""
            notes.append(f"{places[0]}{more}: {reason}; left out")
    return [table for table in runs if np.any(_measured(table))]


def _measured(table: BenchmarkTable) -> NDArray[np.bool_]:
    """Return a mask of the rows of a table with a size and a result above 0, bool[rows]."""
    return (table.sizes > 0) & (table.result > 0)


def _merged(
    runs: Sequence[BenchmarkTable], sizes: IntArray, scale: float
) -> tuple[FloatArray, Spread | None]:
    """Return the median of the runs at each size in SI units, and their spread if several."""
    values = np.full((len(runs), len(sizes)), np.nan)
    for row, table in zip(values, runs, strict=True):
        used = _measured(table)
        row[np.searchsorted(sizes, table.sizes[used])] = table.result[used] * scale
    count = (~np.isnan(values)).sum(axis=0)
    quartiles = np.full((5, len(sizes)), np.nan)
    for at in np.flatnonzero(count):
        column = values[:, at]
        quartiles[:, at] = np.percentile(column[~np.isnan(column)], (0, 25, 50, 75, 100))
    spread = Spread.from_quartiles(quartiles, count) if count.max(initial=0) > 1 else None
    return quartiles[2], spread


def _provenance(
    name: str,
    origin: Origin,
    named: Sequence[tuple[str, str | bytes]],
    latencies: Sequence[BenchmarkTable],
    rates: Sequence[BenchmarkTable],
) -> Provenance:
    programs = dict.fromkeys(table.program for table in (*latencies, *rates))
    memory = dict.fromkeys(_memory(table) for table in (*latencies, *rates))
    told = {
        name.replace("_", " "): table.labels[name]
        for table in (*rates, *latencies)
        for name in _TOLD
        if name in table.labels
    }
    return Provenance(
        origin=origin,
        title=name,
        source=", ".join(dict.fromkeys(label for label, _ in named)),
        details={
            "statistic": _statistic(len(latencies), len(rates)),
            "programs": ", ".join(programs),
            "memory": ", ".join(memory),
            **told,
        },
    )


def _statistic(latencies: int, rates: int) -> str:
    if max(latencies, rates) == 1:
        return "single run"
    if latencies == rates or not latencies or not rates:
        return f"median over {max(latencies, rates)} runs"
    return f"median over {latencies} runs of latency and {rates} of bandwidth"


def _set_aside(
    tables: Iterable[BenchmarkTable], rates: Iterable[BenchmarkTable], bandwidth: str
) -> list[str]:
    """Return notes on tables with bandwidths that the curve does not use, and on those it uses."""
    notes = [
        not_one_stream(table)
        for table in tables
        if table.benchmark in _SUMS and table.benchmark != bandwidth and len(table.sizes)
    ]
    ignored = sum(table.benchmark == "bw" and len(table.sizes) > 0 for table in tables)
    if bandwidth != "bw":
        pairs = next((f" ({t.labels['pairs']})" for t in rates if "pairs" in t.labels), "")
        notes.append(
            f"the bandwidth is that of {PROGRAMS[bandwidth]}, which {_SUMS[bandwidth]}{pairs}"
            + ("; the tables of osu_bw were not used" if ignored else "")
        )
    return notes


def _lines(label: str, tables: Iterable[BenchmarkTable]) -> list[tuple[str, str]]:
    """Return the notes of one source as places and messages; lines in a row become one place."""
    found = dict.fromkeys(n for table in tables if table.source == label for n in table.notes)
    notes = sorted(found, key=lambda note: note.line)
    blocks: list[list[Note]] = []
    for note in notes:
        last = blocks[-1][-1] if blocks else None
        if last and last.unread and note.unread and note.line == last.line + 1:
            blocks[-1].append(note)
        else:
            blocks.append([note])
    return [
        (f"{label}:{block[0].line}", block[0].message)
        if len(block) == 1
        else (
            f"{label}:{block[0].line}-{block[-1].line}",
            f"{len(block)} lines {block[0].message}",
        )
        for block in blocks
    ]


def _memory(table: BenchmarkTable) -> str:
    return f"buffers {table.buffers}" if table.buffers else "host memory"
