"""Cumulative counters that a monitoring service reads at its own times, such as LDMS.

samples = read_samples("ldms.csv", columns={"component": "ProducerName"})
steps = samples.add_to(steps, prefix="SYS_", components=routers)
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import above_zero
from workbench.errors import ParameterError, ParseError
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.variability.tables.clock import seconds_of
from workbench.variability.tables.job_placement import JobPlacement
from workbench.variability.tables.rises import WIDTHS, rises_of
from workbench.variability.tables.steps import StepTable
from workbench.variability.tables.table_file import (
    TableNotes,
    TableSource,
    content_of,
    decoded,
    exact_counts,
    holds_no_number,
    line_of_fraction,
    listed,
    names_in,
    numbers_or_missing,
    positions,
    read_table,
    renamed,
    source_of,
)

if TYPE_CHECKING:
    import pandas as pd


Whose = Literal["all", "job", "others"]
"""Whose components count: all, those that a run has nodes on, or those that it has none on."""

_WHAT = "a table of samples"
_NEEDED = ("time", "component")
_MOST_GAP = 3.0  # times the usual time between two samples


@dataclass(frozen=True, eq=False, repr=False)
class CounterSamples(StoredResult):
    """Readings of counters on components, as rises since each component's first reading.

    Attributes:
        component: names.
        counters: names.
        of: int64[samples], position of each sample's component; samples of a component are
            consecutive and in order of time.
        time: float64[samples], s.
        total: float64[samples, counters], what the counter rose by since the component's first
            sample, over wraps and from zero after a reset; nan where there is no reading.
        resets: int64[samples, counters], number of resets so far: a rise is known between samples
            with the same number only.
        provenance: where the numbers come from.
        notes: what is missing, left out, repaired or twice, each a sentence.
    """

    component: tuple[str, ...]
    counters: tuple[str, ...]
    of: NDArray[np.int64]
    time: FloatArray
    total: NDArray[np.float64] = field(metadata={"axes": 2})
    resets: NDArray[np.int64] = field(metadata={"axes": 2})
    provenance: Provenance
    notes: tuple[str, ...] = ()

    @property
    def interval_s(self) -> float:
        """The usual time between two samples of a component, in s; nan with one sample each."""
        apart = np.diff(self.time)[np.diff(self.of) == 0]
        return float(np.median(apart)) if len(apart) else float("nan")

    def to_frame(self) -> pd.DataFrame:
        """Return a row a sample: ``component``, ``time (s)``, and the rises so far."""
        import pandas as pd

        columns = {"component": np.array(self.component, object)[self.of], "time (s)": self.time}
        return pd.DataFrame(
            columns | {name: self.total[:, at] for at, name in enumerate(self.counters)}
        )

    def add_to(
        self,
        steps: StepTable,
        *,
        prefix: str = "",
        whose: Whose = "all",
        placement: JobPlacement | None = None,
        components: Iterable[str] | None = None,
        most_gap_s: float | None = None,
    ) -> StepTable:
        """Return a table of steps with what the counters of components rose by in each step.

        A counter's value at a step's start and end is interpolated between the samples around it.
        Counters are summed over components; a step has nan where one of them has no samples around
        it, was reset in it, or where these are too far apart.

        Args:
            steps: with the starts and ends of the steps, on the clock of the samples.
            prefix: of the counters' names in the table: ``IO_`` and ``SYS_`` say what they are.
            whose: with ``job`` or ``others`` only components of nodes or routers that the run has
                nodes on, or has none on.
            placement: of the runs, for ``job`` and ``others``.
            components: those that count; None takes all.
            most_gap_s: longest time between the samples around a step's start or end; None takes
                three times the usual one.

        Raises:
            ParameterError: the steps have no starts and ends, a component is unknown, ``whose``
                needs a placement, or no step lies within the samples.
        """
        start, end = steps.step_start, steps.step_end
        if start is None or end is None:
            raise ParameterError(
                "the steps must have starts and ends, to find the samples in them; read a table "
                "with the columns start and end",
                key="steps",
            )
        if whose not in get_args(Whose):
            raise ParameterError(
                f"whose must be one of {', '.join(get_args(Whose))}; got {whose!r}"
                f"{did_you_mean(str(whose), get_args(Whose))}",
                key="whose",
            )
        if whose != "all" and placement is None:
            raise ParameterError(
                f"a placement must say which components are a run's own for whose={whose!r}",
                key="placement",
            )
        chosen = self._chosen(components)
        gap = _MOST_GAP * self.interval_s if most_gap_s is None else most_gap_s
        gap = above_zero(gap, "most_gap_s", unit="s")
        rows = {at: np.flatnonzero(self.of == at) for at in chosen}
        values = np.full((*start.shape, len(self.counters)), np.nan)
        without: list[str] = []
        for run, name in enumerate(steps.run):
            counted = chosen
            if whose != "all" and placement is not None:
                own = placement.of(name)
                counted = [at for at in chosen if (self.component[at] in own) == (whose == "job")]
            if not counted:
                without.append(name)
                continue
            total = np.zeros(values.shape[1:])
            for at in counted:
                total += self._rises(rows[at], start[run], end[run], gap)
            values[run] = total
        notes = list(self.notes)
        if without:
            notes.append(f"{len(without)} runs have no component that counts: {listed(without)}")
        timed = np.isfinite(start) & np.isfinite(end)
        lacking = timed & ~np.isfinite(values).all(axis=2)
        if timed.any() and not np.isfinite(values).any():
            raise ParameterError(
                f"some step must lie within the samples, which run from {self.time.min():.10g} to "
                f"{self.time.max():.10g} s; the steps from {np.nanmin(start):.10g} to "
                f"{np.nanmax(end):.10g} s: mend the clocks (zone, offset_s)",
                key="steps",
            )
        if lacking.any():
            first = np.argwhere(lacking)[0]
            notes.append(
                f"{int(lacking.sum())} of {int(timed.sum())} steps lack samples of some component, "
                f"such as run {steps.run[first[0]]}, step {steps.numbers[first[1]]}"
            )
        return steps.with_counters([prefix + name for name in self.counters], values, notes)

    def _chosen(self, components: Iterable[str] | None) -> list[int]:
        """Return the positions of the components that count."""
        if components is None:
            return list(range(len(self.component)))
        names = tuple(components)
        if unknown := [name for name in names if name not in self.component]:
            raise ParameterError(
                f"components must be some of those sampled; got {unknown[0]!r}"
                f"{did_you_mean(unknown[0], self.component)}",
                key="components",
            )
        return [self.component.index(name) for name in names]

    def _rises(
        self, rows: NDArray[np.intp], start: FloatArray, end: FloatArray, gap: float
    ) -> FloatArray:
        """Return the rises of a component's counters between times, float64[steps, counters]."""
        time, found = self.time[rows], np.full((len(start), len(self.counters)), np.nan)
        ends = []
        for at in (start, end):
            after = np.clip(np.searchsorted(time, at, side="left"), 1, max(len(time) - 1, 1))
            within = np.isfinite(at) & (at >= time[0]) & (at <= time[-1]) & (len(time) > 1)
            ends.append((np.where(within, after, -1), at))
        ok = (ends[0][0] > 0) & (ends[1][0] > 0)
        if not ok.any():
            return found
        values, breaks = [], []
        for after, at in ends:
            high = after[ok]
            low = high - 1
            width = time[high] - time[low]
            share = ((at[ok] - time[low]) / width)[:, None]
            before_total, after_total = self.total[rows[low]], self.total[rows[high]]
            value = before_total + share * (after_total - before_total)
            joined = self.resets[rows[low]] == self.resets[rows[high]]
            values.append(np.where(joined & (width <= gap)[:, None], value, np.nan))
            breaks.append(self.resets[rows[low]])
        found[ok] = np.where(breaks[0] == breaks[1], values[1] - values[0], np.nan)
        return found

    def __repr__(self) -> str:
        return (
            f"CounterSamples({len(self.time)} samples of {len(self.component)} components, "
            f"{len(self.counters)} counters, every {self.interval_s:.3g} s)"
        )


def read_samples(
    path: TableSource,
    *,
    columns: Mapping[str, str] | None = None,
    bits: Mapping[str, int] | None = None,
    header: str | Path | Sequence[str] | None = None,
    zone: str = "UTC",
    offset_s: float = 0.0,
    provenance: Provenance | None = None,
) -> CounterSamples:
    """Return the samples in a CSV or Parquet table ``time,component,<counter>,...``.

    LDMS writes ``#Time`` and ``ProducerName`` or ``component_id`` in the first line; these are
    known. Where it writes the names of columns into another file (``altheader``), that file is
    found beside this one as ``<name>.HEADER...``. Counters are what they have counted so far. A
    counter that wrapped is repaired; one that was reset starts anew. Rates (``X.rate``) are left
    out where their counter is there, and added up over time where it is not; what falls as it
    rises, or has fractions, is no counter and left out. Samples need not be in order; of two at
    one time the first counts.

    Args:
        path: the file, or its name and content.
        columns: the file's names of our columns, such as ``{"time": "timestamp"}``.
        bits: of counters, where that is known, such as ``{"RT_FLIT": 48}``; each fall of these is
            a wrap.
        header: names of the columns, or the file whose first line they are, where the file does
            not name them.
        zone: time zone of dates that name none, such as ``America/Los_Angeles``; in an hour that
            comes twice, the order of the rows tells which it is.
        offset_s: added to all times, where the clock of the samples differs from that of the runs.
        provenance: where the numbers come from; None is ``measured``, with the file's name.

    Raises:
        ParseError: the file is no such table; names the line.
        ParameterError: a name in ``columns`` or ``bits``, or the zone, is unknown.
    """
    source, notes = source_of(path), TableNotes()
    content = content_of(path, _WHAT)
    given = dict(columns or {})
    table = read_table(
        (source, content),
        _WHAT,
        notes=notes,
        heads=(*_LDMS_TIME[:2], _MILLISECONDS, given.get("time", "#Time")),
        names=_names_elsewhere(path, content, header, notes),
    )
    named = _ldms_names(table) | given
    table = renamed(table, named, _WHAT, _NEEDED, source)
    if not len(table):
        raise ParseError(f"{_WHAT} must have rows; got none", source=source)
    components, of = positions(names_in(table, "component", _WHAT, source))
    order = np.argsort(of, kind="stable")
    table, of = table.iloc[order], of[order]
    time, words = seconds_of(table, "time", source, zone, within=of)
    if named.get("time") == _MILLISECONDS:
        time /= 1000
    notes += words
    order = np.lexsort((time, of))
    table, of, time = table.iloc[order], of[order], time[order]
    again = np.concatenate([[False], (np.diff(of) == 0) & (np.diff(time) == 0)])
    if again.any():
        at = int(np.argmax(again))
        notes.append(
            f"{int(again.sum())} samples are of a component and time that have one already, such "
            f"as {components[of[at]]} in line {table.index[at]}; the first one of each counts"
        )
        table, of, time = table[~again], of[~again], time[~again]
    names = _counters(table, notes)
    widths = _widths(bits or {}, names)
    edges = np.flatnonzero(np.diff(of, prepend=-1, append=-1))
    found = {}
    for name in names:
        if (rises := _rises_of(table, name, source, time, edges, widths, notes)) is not None:
            found[name] = rises
    if not found:
        raise ParseError(f"{_WHAT} must have a column for each counter; it has none", source=source)
    return CounterSamples(
        tuple(components),
        tuple(found),
        of,
        time + offset_s,
        np.stack([total for total, _ in found.values()], axis=1),
        np.stack([resets for _, resets in found.values()], axis=1),
        provenance or Provenance("measured", Path(source).name),
        tuple(notes),
    )


def _counters(table: pd.DataFrame, notes: TableNotes) -> list[str]:
    """Return the names of the columns that may be counters."""
    names, rates = [], []
    for name in map(str, table.columns):
        rate = _RATE.fullmatch(name)
        if name in ("", *_NEEDED, *_LDMS_OTHERS) or name.endswith(_LDMS_FLAGS):
            continue
        if rate is not None and rate[1] + rate[2] in table:
            rates.append(name)
        elif holds_no_number(table, name):
            notes.append(f"column {name} holds no number and was left out")
        else:
            names.append(name)
    if rates:
        notes.append(f"{listed(rates)} are rates of counters that are there too; left out")
    return names


def _rises_of(
    table: pd.DataFrame,
    name: str,
    source: str,
    time: FloatArray,
    edges: NDArray[np.intp],  # where the rows of each component begin, and the end of all
    widths: Mapping[str, int],
    notes: TableNotes,
) -> tuple[FloatArray, NDArray[np.int64]] | None:
    """Return a counter's rises and resets so far, one a row; None where it is no counter."""
    total, restarts = np.full(len(time), np.nan), np.zeros(len(time), np.int64)
    if _RATE.fullmatch(name):
        rate = numbers_or_missing(table, name, source)
        for low, high in itertools.pairwise(edges):
            here = low + np.flatnonzero(np.isfinite(rate[low:high]))
            risen = rate[here[1:]] * np.diff(time[here])
            total[here] = np.concatenate([[0.0], np.cumsum(risen)])[: len(here)]
        notes.append(f"{name} is a rate; it was added up over the time since the sample before")
        return total, restarts
    try:
        readings, known = exact_counts(table, name, source)
    except ParseError:
        line = line_of_fraction(table, name)
        if line is None:
            raise
        notes.append(f"{name} counts nothing (line {line} has a fraction or a sign); left out")
        return None
    wraps = resets = changes = 0
    for low, high in itertools.pairwise(edges):
        here = low + np.flatnonzero(known[low:high])
        rises = rises_of(readings[here], None, widths.get(name, 0))
        reset = np.isnan(rises.values)
        total[here] = np.concatenate([[0.0], np.cumsum(np.where(reset, 0, rises.values))])[
            : len(here)
        ]
        restarts[here] = np.concatenate([[0], np.cumsum(reset)])[: len(here)]
        wraps, resets = wraps + rises.wraps, resets + rises.resets
        changes += int(np.count_nonzero(np.diff(readings[here])))
    if resets >= _LEAST_FALLS and resets >= _FALLS_OF_A_LEVEL * changes:
        notes.append(
            f"{name} falls in {resets} of {changes} changes: it is a level, no counter; left out"
        )
        return None
    if wraps:
        notes.append(f"{name} wrapped {wraps} times, which was repaired")
    if resets:
        notes.append(f"{name} was reset {resets} times; its rises there are missing")
    if missing := int((~known).sum()):
        notes.append(f"{name} has no reading in {missing} of {len(time)} samples")
    return total, restarts


_LEAST_FALLS = 2  # one fall may be the restart of a component
_FALLS_OF_A_LEVEL = 1 / 3  # of its changes; half of them where a level stays about the same
_RATE = re.compile(r"(.+)\.rate((?:#.*)?)")
_MILLISECONDS = "#Time_msec"
"""LDMS's name of the time where it is in ms; behind ``#Time`` a Time_msec is its fraction."""

_LDMS_TIME = ("#Time", "# Time", "Time", _MILLISECONDS)
_LDMS_COMPONENTS = ("ProducerName", "producer", "component_id", "CompId")
_LDMS_OTHERS = (
    *("Time_usec", "Time_msec", "Time_ms", "DT", "DT_usec", "job_id", "app_id", "instance"),
    *("Producer", "uid", "jobid", "timestamp", *_LDMS_COMPONENTS),
)
"""Columns of LDMS's CSV store that are no counters."""

_LDMS_FLAGS = (".Flag", ".userdata")
_UNNAMED = re.compile(rb"\d{9,}\.\d+\s*,\s*\d+\s*,")  # seconds since 1970, and their fraction


def names_no_columns(content: bytes) -> bool:
    """Return whether a content begins with a sample of LDMS, not with the names of columns."""
    return _UNNAMED.match(content) is not None


def _names_elsewhere(
    path: TableSource, content: bytes, header: str | Path | Sequence[str] | None, notes: TableNotes
) -> list[str] | None:
    """Return the names of columns that stand in another file, or are given; None otherwise."""
    if not names_no_columns(content) and header is None:
        return None
    source = source_of(path)
    if header is None:
        header = None if isinstance(path, tuple) else header_beside(Path(path))
    if header is None:
        raise ParseError(
            "LDMS wrote the names of these columns into another file, <name>.HEADER...: put it "
            "beside this one, or give it as header=, or the names themselves",
            source=source,
            line=1,
        )
    if isinstance(header, str | Path):
        text = decoded(content_of(header, "a header"), "a header", source_of(header), notes)
        names = text.partition("\n")[0].split(",")
        notes.append(f"the columns are named by {Path(source_of(header)).name}")
    else:
        names = [str(name) for name in header]
    names = [name.strip() for name in names]
    cells = content.partition(b"\n")[0].count(b",") + 1
    if len(names) != cells:
        raise ParseError(
            f"a header must name each column; it has {len(names)} names, and the first row has "
            f"{cells} cells",
            source=source,
            line=1,
        )
    return names


def header_beside(path: Path) -> Path | None:
    """Return the file beside a file of LDMS that names its columns, the newest before it."""
    stem, _, begun = path.name.rpartition(".")
    stems = {path.name, path.stem, stem if begun.isdigit() else path.name}
    try:
        found = {
            one.name.rpartition(".")[2]: one
            for one in sorted(path.parent.iterdir())
            if one.name.partition(".HEADER")[0] in stems and ".HEADER" in one.name
        }
    except OSError:
        return None
    before = [
        time for time in found if time.isdigit() and begun.isdigit() and int(time) <= int(begun)
    ]
    return found[max(before, key=int)] if before else next(iter(found.values()), None)


def _ldms_names(table: pd.DataFrame) -> dict[str, str]:
    """Return LDMS's names of our columns, as far as a table has them."""
    found = {}
    for ours, names in (("time", _LDMS_TIME), ("component", _LDMS_COMPONENTS)):
        theirs = next((name for name in names if name in table), None)
        if theirs is not None and ours not in table:
            found[ours] = theirs
    return found


def _widths(bits: Mapping[str, int], names: Iterable[str]) -> dict[str, int]:
    known = tuple(names)
    for name, width in bits.items():
        if name not in known:
            raise ParameterError(
                f"bits must name counters of the table; got {name!r}{did_you_mean(name, known)}",
                key="bits",
            )
        if width not in WIDTHS:
            raise ParameterError(
                f"bits of a counter must be {', '.join(map(str, WIDTHS))}; got {width!r} for "
                f"{name}",
                key="bits",
            )
    return dict(bits)
