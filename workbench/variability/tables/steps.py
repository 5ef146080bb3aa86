"""Step times and counters of many runs of one program.

table = read_steps("steps.csv")          # run,step,time_s,<counter>,... or run,step,counter,value
table.notes                              # what is missing, left out, repaired or twice
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError, ParseError
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.variability.tables.clock import seconds_of
from workbench.variability.tables.rises import WIDTHS, rises_of
from workbench.variability.tables.table_file import (
    TableNotes,
    exact_counts,
    holds_no_number,
    is_missing,
    listed,
    names_in,
    numbers_or_missing,
    positions,
    read_table,
    renamed,
    whole_numbers,
)

if TYPE_CHECKING:
    import pandas as pd


Feature = Literal["app", "placement", "io", "sys"]
"""Where a counter was read (Bhatele et al. 2020, V-C): the job's own routers, where its nodes are,
routers of I/O nodes, all other routers."""
FEATURES: tuple[Feature, ...] = get_args(Feature)

ALL = "all"
"""Name that stands for all counters."""

_WHAT = "a table of steps"
_KEYS = ("run", "step")
_TIME = "time_s"
_CLOCKS = ("start", "end")
_LONG = ("counter", "value")
_PLACEMENT = ("NUM_ROUTERS", "NUM_GROUPS")
_LEAST_STEPS = 10  # of a run, to say that a counter never falls in it
_MOST_CELLS = 50_000_000  # 400 MB: chosen, what a laptop still holds
_SPARSE = 20  # cells to a number: chosen; a table that is so empty has its steps misnumbered


@dataclass(frozen=True, eq=False, repr=False)
class StepTable(StoredResult):
    """Time of each step of each run, and what counters rose by during it.

    Attributes:
        run: name of each run.
        start: float64[runs], s, when each run started; nan where that is not known.
        time_s: float64[runs, steps]; nan where a step is missing.
        counters: names; those of ``IO_`` and ``SYS_`` were read at I/O nodes' routers and at
            routers without nodes of the job, ``NUM_ROUTERS`` and ``NUM_GROUPS`` are placement.
        values: float64[runs, steps, counters]; nan where a reading is missing.
        provenance: where the numbers come from.
        notes: what was left out or taken for granted, each a sentence.
        number: of each step, as its makers count; empty counts from 0.
        step_start: float64[runs, steps], s, when each step started; None where that is not known.
        step_end: float64[runs, steps], s.
    """

    run: tuple[str, ...]
    start: FloatArray
    time_s: NDArray[np.float64] = field(metadata={"axes": 2})
    counters: tuple[str, ...]
    values: NDArray[np.float64] = field(metadata={"axes": 3})
    provenance: Provenance
    notes: tuple[str, ...] = ()
    number: tuple[int, ...] = ()
    step_start: NDArray[np.float64] | None = field(default=None, metadata={"axes": 2})
    step_end: NDArray[np.float64] | None = field(default=None, metadata={"axes": 2})

    def __len__(self) -> int:
        return len(self.run)

    @property
    def steps(self) -> int:
        """Return the number of steps of a run."""
        return int(self.time_s.shape[1])

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return the number of each step, as its makers count or from 0."""
        return self.number or tuple(range(self.steps))

    @property
    def features(self) -> tuple[Feature, ...]:
        """Return where each counter was read."""
        return tuple(feature_of(name) for name in self.counters)

    def only(self, features: Iterable[str]) -> StepTable:
        """Return the table with the counters of some features.

        Args:
            features: some of ``app``, ``placement``, ``io`` and ``sys``.

        Raises:
            ParameterError: a feature is unknown.
        """
        wanted = set(features)
        if unknown := wanted - {*FEATURES}:
            raise ParameterError(
                f"features must be some of {', '.join(FEATURES)}; got {', '.join(sorted(unknown))}",
                key="features",
            )
        kept = [at for at, feature in enumerate(self.features) if feature in wanted]
        names = tuple(self.counters[at] for at in kept)
        return replace(self, counters=names, values=self.values[:, :, kept])

    def rows(self, runs: NDArray[np.intp] | list[int]) -> StepTable:
        """Return the table with some runs.

        Args:
            runs: their positions.
        """
        return replace(
            self,
            run=tuple(self.run[at] for at in runs),
            start=self.start[runs],
            time_s=self.time_s[runs],
            values=self.values[runs],
            step_start=None if self.step_start is None else self.step_start[runs],
            step_end=None if self.step_end is None else self.step_end[runs],
        )

    def with_counters(
        self, counters: Iterable[str], values: NDArray[np.float64], notes: Iterable[str] = ()
    ) -> StepTable:
        """Return the table with more counters.

        Args:
            counters: their names.
            values: float64[runs, steps, counters].
            notes: what was left out or taken for granted, each a sentence.

        Raises:
            ParameterError: a counter is there already, or the shape is another.
        """
        names = tuple(counters)
        if twice := [name for name in names if name in self.counters]:
            raise ParameterError(
                f"counters must be new ones; the table has {', '.join(twice)}", key="counters"
            )
        if values.shape != (len(self), self.steps, len(names)):
            raise ParameterError(
                f"values must be of {len(self)} runs, {self.steps} steps and {len(names)} "
                f"counters; got {values.shape}",
                key="values",
            )
        return replace(
            self,
            counters=(*self.counters, *names),
            values=np.concatenate([self.values, values], axis=2),
            notes=(*self.notes, *notes),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row a step that was measured: ``run``, ``step``, ``time (s)``, the counters."""
        import pandas as pd

        run, step = np.nonzero(np.isfinite(self.time_s))
        columns = {
            "run": np.array(self.run, object)[run],
            "step": np.array(self.numbers, np.int64)[step],
            "time (s)": self.time_s[run, step],
        }
        values = self.values[run, step]
        return pd.DataFrame(
            columns | {name: values[:, at] for at, name in enumerate(self.counters)}
        )

    def __repr__(self) -> str:
        least, most = np.nansum(self.time_s, axis=1).min(), np.nansum(self.time_s, axis=1).max()
        return (
            f"StepTable({len(self)} runs of {self.steps} steps, counters: {len(self.counters)}, "
            f"{self.provenance.origin}; runs of {least:.4g} to {most:.4g} s)"
        )


def feature_of(counter: str) -> Feature:
    """Return where a counter was read, from its name."""
    if counter in _PLACEMENT:
        return "placement"
    if counter.startswith("IO_"):
        return "io"
    return "sys" if counter.startswith("SYS_") else "app"


def read_steps(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    cumulative: str | Iterable[str] = (),
    bits: Mapping[str, int] | None = None,
    zone: str = "UTC",
    offset_s: float = 0.0,
    provenance: Provenance | None = None,
) -> StepTable:
    """Return the steps in a CSV or Parquet table, in wide or in long form.

    In wide form a row is a step, ``run,step,time_s,<counter>,...``; in long form it is a reading,
    ``run,step,counter,value``, with ``time_s`` among the counters. ``start`` and ``end`` of each
    step, seconds or dates, are kept where there are such columns (in long form, counters). Steps
    are numbered from 0, from 1 or with gaps; runs may have different numbers of them. Empty cells
    and ``nan`` are missing readings. A column without any number is left out. The result's
    ``notes`` say what is missing, left out, repaired or twice.

    Args:
        path: the file.
        columns: the file's names of our columns, such as ``{"time_s": "elapsed"}``.
        cumulative: counters, or ``all``, whose readings at the end of each step are what they have
            counted so far. They become what they rose by in the step, over wraps of 32, 48 and 64
            bits; a first step has no reading before it, and a counter that was reset no rise.
        bits: of cumulative counters, where that is known, such as ``{"RT_FLIT": 48}``; each fall of
            these is a wrap.
        zone: time zone of dates that name none, such as ``America/Los_Angeles``.
        offset_s: added to start and end, where the clock of the file differs from that of the runs.
        provenance: where the numbers come from; None is ``measured``, with the file's name.

    Raises:
        ParseError: the file is no such table, or has a cell that is no number; names the line.
        ParameterError: a name in ``columns``, ``cumulative`` or ``bits``, or the zone, is unknown.
    """
    grid = _Grid.of(path, columns)
    cells = grid.cells()
    time_s = _times(cells.pop(_TIME), grid)
    clocks = {
        name: _clock(cells.pop(name), grid, name, zone, offset_s)
        for name in _CLOCKS
        if name in cells
    }
    names = tuple(cells)
    widths = _cumulative(cumulative, bits or {}, names)
    values = np.full((*time_s.shape, len(names)), np.nan)
    for at, (name, table) in enumerate(cells.items()):
        if name in widths:
            values[:, :, at] = _rises(table, grid, name, widths[name])
        else:
            values[:, :, at] = grid.placed(table, numbers_or_missing(table, name, grid.source))
    grid.note_gaps(time_s, values, names, frozenset(widths))
    start = clocks.get("start")
    return StepTable(
        grid.runs,
        np.full(len(grid.runs), np.nan) if start is None else _first(start),
        time_s,
        names,
        values,
        provenance or Provenance("measured", Path(path).name),
        tuple(grid.notes),
        grid.numbers,
        start,
        clocks.get("end"),
    )


@dataclass(frozen=True)
class _Grid:
    """A table of steps or readings, and where its rows are among runs and steps."""

    table: pd.DataFrame  # with the columns _row and _column, which are positions
    source: str
    is_long: bool
    runs: tuple[str, ...]
    numbers: tuple[int, ...]  # of the steps, ascending
    notes: TableNotes

    @classmethod
    def of(cls, path: str | Path, columns: Mapping[str, str] | None) -> _Grid:
        """Return the rows of a file, those that stand twice once."""
        source, notes = str(path), TableNotes()
        table, is_long = _read(path, columns, notes)
        if not len(table):
            raise ParseError(f"{_WHAT} must have rows; got none", source=source)
        runs, row = positions(names_in(table, "run", _WHAT, source))
        numbers, column = np.unique(whole_numbers(table, "step", source), return_inverse=True)
        each = ["_row", "_column", *(["counter"] if is_long else [])]
        table = table.assign(_row=row, _column=column)
        again = table.duplicated(each).to_numpy()
        if again.any():
            at = int(np.argmax(again))
            place = f"run {runs[row[at]]}, step {numbers[column[at]]}"
            notes.append(
                f"{int(again.sum())} rows stand twice, such as {place} in line "
                f"{table.index[at]}; the first one of each counts"
            )
            table = table[~again]
        cells = len(runs) * len(numbers) * (1 if is_long else max(table.shape[1] - 4, 1))
        if cells > _MOST_CELLS and cells > _SPARSE * table.size:
            raise ParseError(
                f"{_WHAT} must number the steps of all runs alike; {len(runs)} runs have "
                f"{len(numbers)} different step numbers in {len(table)} rows",
                source=source,
            )
        known = tuple(int(number) for number in numbers)
        return cls(table, source, is_long, tuple(runs), known, notes)

    def cells(self) -> dict[str, pd.DataFrame]:
        """Return a table for each counter, times among them, with its cells under its name."""
        if not self.is_long:
            table, found = self.table, {}
            for name in table.columns:
                if name in (*_KEYS, "_row", "_column"):
                    continue
                if name not in (_TIME, *_CLOCKS) and holds_no_number(table, name):
                    self.notes.append(f"column {name} holds no number and was left out")
                else:
                    found[str(name)] = table
            return found
        names = names_in(self.table, "counter", _WHAT, self.source)
        found = {
            str(name): rows.rename(columns={"value": str(name)})
            for name, rows in self.table.groupby(np.array(names, object), sort=False)
        }
        if _TIME not in found:
            raise ParseError(
                f"{_WHAT} in long form must have readings of the counter {_TIME}; it has "
                f"{listed(found)}",
                source=self.source,
            )
        return found

    def placed(self, table: pd.DataFrame, values: FloatArray) -> FloatArray:
        """Return the values of a table's rows as float64[runs, steps]."""
        found = np.full((len(self.runs), len(self.numbers)), np.nan)
        found[table["_row"].to_numpy(), table["_column"].to_numpy()] = values
        return found

    def note_gaps(
        self,
        time_s: FloatArray,
        values: FloatArray,
        names: tuple[str, ...],
        cumulative: frozenset[str],
    ) -> None:
        """Note what is missing, and counters that look as if they were cumulative."""
        known = np.isfinite(time_s)
        read = np.isfinite(values)
        numbers = np.array(self.numbers)
        if len(numbers) > 1:
            apart = np.diff(numbers)
            stride = int(np.gcd.reduce(apart))
            if (apart > stride).any():
                at = int(np.argmax(apart > stride))
                self.notes.append(
                    f"no run has the steps between {numbers[at]} and {numbers[at + 1]}; the table "
                    "goes on as if there were none"
                )
        short = ~(known | read.any(axis=2)).all(axis=1)
        if short.any():
            names_of = [
                f"{self.runs[at]} ({int((known[at] | read[at].any(axis=1)).sum())})"
                for at in np.flatnonzero(short)
            ]
            self.notes.append(f"of {len(numbers)} steps some runs have fewer: {listed(names_of)}")
        self._note_steps(~known & read.any(axis=2), "have counters but no time")
        if names:
            self._note_steps(known & ~read.any(axis=2), "have no counters")
        per_step = known.sum()
        for at, name in enumerate(names):
            some = known & read.any(axis=2) & ~read[:, :, at]
            if name not in cumulative and some.any():
                self.notes.append(
                    f"{name} has no reading in {int(some.sum())} of {int(per_step)} steps"
                )
            if name not in cumulative and _never_falls(values[:, :, at]):
                self.notes.append(
                    f"{name} never falls within a run; if it counts on from step to step, name it "
                    "in cumulative"
                )

    def _note_steps(self, which: NDArray[np.bool_], words: str) -> None:
        if which.any():
            steps = [
                f"run {self.runs[run]} step {self.numbers[step]}"
                for run, step in np.argwhere(which)
            ]
            self.notes.append(f"{len(steps)} steps {words}: {listed(steps)}")


def _read(
    path: str | Path, columns: Mapping[str, str] | None, notes: TableNotes
) -> tuple[pd.DataFrame, bool]:
    """Return a file's cells under our names, and whether they are in long form."""
    given = dict(columns or {})
    table, source = read_table(path, _WHAT, notes=notes), str(path)
    keys = {given.get(name, name) for name in _LONG}
    if not keys <= {*table.columns} or given.get(_TIME, _TIME) in table:
        needed = (*_KEYS, _TIME)
        return renamed(table, given, _WHAT, needed, source, optional=(*_CLOCKS, *_LONG)), False
    # In long form the times are counters, whose names are cells.
    ours = {name: given.pop(name) for name in (_TIME, *_CLOCKS) if name in given}
    cells = [*_KEYS, *_LONG]
    table = renamed(table, given, _WHAT, cells, source, optional=(_TIME, *_CLOCKS))[cells]
    texts = table["counter"].astype(str).str.strip()
    return table.assign(counter=texts.replace({theirs: our for our, theirs in ours.items()})), True


def _times(table: pd.DataFrame, grid: _Grid) -> FloatArray:
    """Return the times of the steps; ParseError names the line of one that is not above 0."""
    values = numbers_or_missing(table, _TIME, grid.source)
    if (values <= 0).any():
        at = int(np.argmax(values <= 0))
        raise ParseError(
            f"{_TIME} must be a time above 0 s; got {table[_TIME].iloc[at]!r}",
            source=grid.source,
            line=int(table.index[at]),
        )
    if not np.isfinite(values).any():
        raise ParseError(f"{_WHAT} must have a time of some step; it has none", source=grid.source)
    return grid.placed(table, values)


def _clock(table: pd.DataFrame, grid: _Grid, name: str, zone: str, offset_s: float) -> FloatArray:
    """Return when steps start or end; hours that come twice are told apart by the steps' order."""
    kept = table[~is_missing(table[name])].sort_values(["_row", "_column"], kind="stable")
    seconds, words = seconds_of(kept, name, grid.source, zone, within=kept["_row"].to_numpy())
    grid.notes.extend(words)
    return grid.placed(kept, seconds + offset_s)


def _first(start: FloatArray) -> FloatArray:
    """Return the first time of each run; nan where it has none."""
    least = np.min(np.where(np.isfinite(start), start, np.inf), axis=1)
    return np.where(np.isfinite(least), least, np.nan)


def _cumulative(
    cumulative: str | Iterable[str], bits: Mapping[str, int], names: tuple[str, ...]
) -> dict[str, int]:
    """Return the cumulative counters with their bits, 0 where these are not known."""
    wanted = names if cumulative == ALL else cumulative
    wanted = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    for key, given in (("cumulative", wanted), ("bits", tuple(bits))):
        if unknown := [name for name in given if name not in names]:
            raise ParameterError(
                f"{key} must name counters of the table; got {unknown[0]!r}"
                f"{did_you_mean(unknown[0], names)}; it has {listed(names)}",
                key=key,
            )
    if wrong := [name for name, width in bits.items() if width not in WIDTHS]:
        raise ParameterError(
            f"bits of a counter must be {', '.join(map(str, WIDTHS))}; got {bits[wrong[0]]!r} for "
            f"{wrong[0]}",
            key="bits",
        )
    return dict.fromkeys(wanted, 0) | dict(bits)


def _rises(table: pd.DataFrame, grid: _Grid, name: str, bits: int) -> FloatArray:
    """Return what a cumulative counter rose by in each step; wraps and resets are noted."""
    readings, known = exact_counts(table, name, grid.source)
    shape = len(grid.runs), len(grid.numbers)
    placed, there = np.zeros(shape, np.uint64), np.zeros(shape, bool)
    row, column = table["_row"].to_numpy(), table["_column"].to_numpy()
    placed[row, column], there[row, column] = readings, known
    found, wraps, resets = np.full(shape, np.nan), 0, 0
    for run in range(len(grid.runs)):
        rises = rises_of(placed[run], there[run], bits)
        found[run, 1:] = rises.values
        wraps, resets = wraps + rises.wraps, resets + rises.resets
    if wraps:
        grid.notes.append(f"{name} wrapped {wraps} times, which was repaired")
    if resets:
        grid.notes.append(f"{name} was reset {resets} times; its rises there are missing")
    return found


def _never_falls(values: FloatArray) -> bool:
    """Return whether a counter of [runs, steps] only rises, in all runs that are long enough."""
    rises = 0
    for run in values:
        known = run[np.isfinite(run)]
        if len(known) < _LEAST_STEPS:
            continue
        steps = np.diff(known)
        if (steps < 0).any() or not (steps > 0).any():
            return False
        rises += 1
    return rises > 0
