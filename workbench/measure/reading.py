"""Files of benchmarks between processes and of collectives: what each holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from workbench.measure.benchmark_table import TOOLS, BenchmarkTable
from workbench.measure.benchmark_text import NoTableError
from workbench.measure.experiments import experiments_of
from workbench.measure.log_lines import decoded
from workbench.measure.osu_read import tables_of_text
from workbench.reading import Reading, ReadTable

STEEP = 2.0
"""A fall of the result by more between two sizes is doubtful. Results of shipped machines never
fall so; a switch to a protocol that takes half of the time would have been made earlier."""

_MOST_NOTES = 40  # chosen: a screen; a broken file may have a note for each line


def reading_of(content: bytes, source: str, path: Path | None) -> Reading | None:
    """Return the tables of a text of benchmarks; None where it has none."""
    try:
        tables = tables_of_text(decoded(content, source), source)
    except NoTableError:
        return None
    found = [table for table in tables if len(table.sizes)]
    if not found:
        return None
    notes = [f"{source}:{note.line}: {note.message}" for table in tables for note in table.notes]
    notes += [f"{source}:{line}: {what}" for table in found for line, what in _doubts(table)]
    notes += [
        f"{source}:{table.line}: the text does not say on how many ranks it ran"
        for table in found
        if table.benchmark == "collective" and not {"ranks", "nodes"} & table.labels.keys()
    ]
    notes = list(dict.fromkeys(notes))
    shown: list[ReadTable] = []
    for runs in _joined(found, notes):
        shown.append(_read_table(runs))
    kind = found[0].tool
    if kind == "osu" and all(table.benchmark == "collective" for table in found):
        kind = "collectives"
    left_out = len(notes) - _MOST_NOTES
    if left_out > 0:
        notes[_MOST_NOTES:] = [f"{left_out} further notes"]
    tests = ", ".join(dict.fromkeys(table.test or "a curve" for table in found))
    count = f"{len(shown)} table{'s' if len(shown) > 1 else ''}"
    return Reading(
        file=source,
        kind=kind,
        title=f"{TOOLS[found[0].tool]}: {tests}; {count}",
        tables=tuple(shown),
        notes=tuple(notes),
    )


def _joined(tables: list[BenchmarkTable], notes: list[str]) -> list[list[BenchmarkTable]]:
    """Return the tables that are runs of one experiment together, in the order of the text."""
    joined: list[list[BenchmarkTable]] = []
    for test in dict.fromkeys((table.test, table.unit) for table in tables):
        for experiment in experiments_of(t for t in tables if (t.test, t.unit) == test):
            runs = experiment.tables
            if len(runs) > 1 and not experiment.plausible():
                lines = ", ".join(str(table.line) for table in runs)
                notes.append(
                    f"{runs[0].source}:{runs[0].line}: nothing tells the tables of {test[0]} at "
                    f"lines {lines} apart, but their results differ "
                    f"{experiment.ratio():.3g}-fold; not joined"
                )
                joined += [[table] for table in runs]
            else:
                if len(runs) > 1:
                    notes.append(
                        f"{runs[0].source}:{runs[0].line}: {len(runs)} runs of {test[0]} joined; "
                        f"the median at each size, of results up to {experiment.ratio():.3g}-fold "
                        "apart"
                    )
                joined.append(runs)
    return sorted(joined, key=lambda runs: (runs[0].line, *runs[0].lines[:1]))


def _doubts(table: BenchmarkTable) -> Iterator[tuple[int, str]]:
    """Yield the lines at which a result falls steeply where the messages grow."""
    rows = zip(table.lines.tolist(), table.sizes.tolist(), table.result.tolist(), strict=True)
    for (_, smaller, before), (line, size, after) in pairwise(rows):
        if 0 < after * STEEP < before:
            fall = f"from {before:g} {table.unit} at {smaller} bytes to {after:g} at {size}"
            name = table.test or "the result"
            yield line, f"{name} falls {fall}: another protocol, or a disturbed run"


def _read_table(runs: list[BenchmarkTable]) -> ReadTable:
    values: dict[int, list[float]] = {}
    for table in runs:
        for size, value in zip(table.sizes.tolist(), table.result.tolist(), strict=True):
            values.setdefault(size, []).append(value)
    sizes = sorted(values)
    labels = dict(runs[0].labels)
    if runs[0].version:
        labels["version"] = runs[0].version
    if runs[0].buffers:
        labels["buffers"] = runs[0].buffers
    return ReadTable(
        benchmark=runs[0].test or runs[0].benchmark,
        labels=labels,
        sizes=sizes,
        values=[float(np.median(values[size])) for size in sizes],
        unit=runs[0].unit,
        runs=len(runs),
    )
