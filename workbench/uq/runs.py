"""A table of a simulator's runs: the points of a design and the times there, as a CSV file.

    runs = read_runs("runs.csv", box)
    runs.failed  # a sentence for each run without times
    surrogate = runs.surrogate()

The first line names the columns: each parameter by its name or as ``name (unit)``, and each test by
whatever it is called, with its times in seconds. A column ``run`` is ignored. ``failed`` stands
where a run failed; the other runs are kept.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.errors import ParseError
from workbench.suggestions import did_you_mean
from workbench.uq.parameters import FloatArray, ParameterBox
from workbench.uq.surrogate import Surrogate, fit_surrogate

FAILED = ("failed", "nan", "error", "timeout")
"""What may stand for the time of a run that failed."""

RUN = "run"

_OUTSIDE = 1e-9  # of a bound, that rounding may add


@dataclass(frozen=True, eq=False)
class SimulatorRuns:
    """The runs of a table that have all their times.

    Attributes:
        box: the parameters.
        tests: names of the columns of times.
        points: float64[n, parameters], in the units of the box.
        times: float64[n, tests], seconds.
        failed: a sentence for each run that was left out.
    """

    box: ParameterBox
    tests: tuple[str, ...]
    points: FloatArray
    times: FloatArray
    failed: tuple[str, ...]

    def surrogate(self) -> Surrogate:
        """Return the surrogate that ``fit_surrogate`` fits to the runs.

        Raises:
            ParameterError: there are too few runs.
        """
        return fit_surrogate(self.box, self.points, self.times)

    def __repr__(self) -> str:
        lost = f", {len(self.failed)} runs failed" if self.failed else ""
        return f"SimulatorRuns({len(self.points)} runs of {', '.join(self.tests)}{lost})"


def read_runs(
    path: str | Path, box: ParameterBox, tests: Sequence[str] | None = None
) -> SimulatorRuns:
    """Return the runs of a CSV file.

    Args:
        path: the file; the module's docstring describes it.
        box: the parameters; each must have a column, and each value must be within its bounds.
        tests: columns of times; all that are no parameter and not ``run`` by default.

    Raises:
        ParseError: the file is no such table, a value is not within its bounds, a time is missing
            or not above 0, or all runs failed; names the line and the column.
    """
    head, rows = read_table(path)
    names = column_names(box)
    places = [_place(path, head, *pair) for pair in zip(box.names, names, strict=True)]
    others = [name for at, name in enumerate(head) if at not in places and name != RUN]
    chosen = tuple(others if tests is None else map(str, tests))
    if not chosen or (unknown := [name for name in chosen if name not in others]):
        got = f"; it lacks {', '.join(unknown)}" if chosen else ""
        raise ParseError(
            f"a table of runs must have a column of times for each test{got}; besides the "
            f"parameters it has {', '.join(others) or 'none'}",
            source=str(path),
            line=1,
        )
    points, times, failed = [], [], []
    for line, cells in rows:
        point = [
            _value(path, line, parameter.name, cells[at], parameter.low, parameter.high)
            for parameter, at in zip(box, places, strict=True)
        ]
        found = [_time(path, line, test, cells[head.index(test)]) for test in chosen]
        if lost := [test for test, time in zip(chosen, found, strict=True) if np.isnan(time)]:
            failed.append(f"line {line}: {', '.join(lost)} failed")
            continue
        points.append(point)
        times.append(found)
    if not points:
        raise ParseError(
            f"a table of runs must have a run that did not fail; got {len(failed)} that did",
            source=str(path),
        )
    return SimulatorRuns(box, chosen, np.array(points), np.array(times), tuple(failed))


def read_points(path: str | Path, box: ParameterBox) -> FloatArray:
    """Return the points of a design's CSV file, float64[n, parameters]."""
    head, rows = read_table(path)
    pairs = zip(box.names, column_names(box), strict=True)
    places = [_place(path, head, *pair) for pair in pairs]
    found = [
        [
            _value(path, line, parameter.name, cells[at], parameter.low, parameter.high)
            for parameter, at in zip(box, places, strict=True)
        ]
        for line, cells in rows
    ]
    return np.array(found, np.float64).reshape(-1, len(box))


def column_names(box: ParameterBox) -> tuple[str, ...]:
    """Return the heads of the parameters' columns: ``latency (s)``."""
    return tuple(f"{one.name} ({one.unit})" if one.unit else one.name for one in box)


def read_table(path: str | Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the heads of a CSV file's columns, and each row with its line."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ParseError(f"a table must be a CSV file; {error}", source=str(path)) from error
    if len(rows) < 2:
        raise ParseError(
            f"a table must have a line of names and a row or more; got {len(rows)} lines",
            source=str(path),
        )
    head = rows[0][1]
    if twice := next((name for name in head if head.count(name) > 1), None):
        raise ParseError(f"columns must differ; {twice!r} is there twice", source=str(path), line=1)
    for line, cells in rows[1:]:
        if len(cells) != len(head):
            raise ParseError(
                f"a row must have {len(head)} cells, as the first line; got {len(cells)}",
                source=str(path),
                line=line,
            )
    return head, rows[1:]


def _place(path: str | Path, head: Sequence[str], name: str, with_unit: str) -> int:
    """Return the number of a parameter's column."""
    for known in (with_unit, name):
        if known in head:
            return list(head).index(known)
    raise ParseError(
        f"a table of runs must have a column {with_unit!r}{did_you_mean(with_unit, head)}; it has "
        f"{', '.join(head)}",
        source=str(path),
        line=1,
    )


def _value(path: str | Path, line: int, name: str, cell: str, low: float, high: float) -> float:
    """Return a parameter's value, which must be within its bounds."""
    value = _number(cell)
    room = _OUTSIDE * max(abs(low), abs(high))
    if not low - room <= value <= high + room:
        raise ParseError(
            f"{name} must be from {low:g} to {high:g}, the bounds of its design; got "
            f"{cell or 'nothing'}; leave the row out, or widen the bounds and run more points",
            source=str(path),
            line=line,
        )
    return min(max(value, low), high)


def _time(path: str | Path, line: int, test: str, cell: str) -> float:
    """Return a time in s, nan where the run failed."""
    if cell.lower() in FAILED:
        return float("nan")
    time = _number(cell)
    if not 0 < time < float("inf"):
        got = f"got {cell!r}" if cell else "it is missing"
        raise ParseError(
            f"the time of {test} must be above 0 s and finite; {got}; write failed where the run "
            "failed, or leave the row out",
            source=str(path),
            line=line,
        )
    return time


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")
