"""Cumulative counters that a monitoring service reads at its own times, such as LDMS.

samples = read_samples("ldms.csv", columns={"component": "ProducerName"})
steps = samples.add_to(steps, prefix="SYS_", components=routers)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

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
    exact_counts,
    holds_no_number,
    listed,
    names_in,
    positions,
    read_table,
    renamed,
)

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

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
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    bits: Mapping[str, int] | None = None,
    zone: str = "UTC",
    offset_s: float = 0.0,
    provenance: Provenance | None = None,
) -> CounterSamples:
    """Return the samples in a CSV or Parquet table ``time,component,<counter>,...``.

    LDMS writes ``#Time`` and ``ProducerName`` or ``component_id`` in the first line; these are
    known. Counters are what they have counted so far. A counter that wrapped is repaired; one that
    was reset starts anew. Samples need not be in order; of two at one time the first counts.

    Args:
        path: the file.
        columns: the file's names of our columns, such as ``{"time": "timestamp"}``.
        bits: of counters, where that is known, such as ``{"RT_FLIT": 48}``; each fall of these is
            a wrap.
        zone: time zone of dates that name none, such as ``America/Los_Angeles``; in an hour that
            comes twice, the order of the rows tells which it is.
        offset_s: added to all times, where the clock of the samples differs from that of the runs.
        provenance: where the numbers come from; None is ``measured``, with the file's name.

    Raises:
        ParseError: the file is no such table; names the line.
        ParameterError: a name in ``columns`` or ``bits``, or the zone, is unknown.
    """
    source = str(path)
    table = read_table(path, _WHAT)
    names_of = _ldms_names(table) | dict(columns or {})
    table = renamed(table, names_of, _WHAT, _NEEDED, source)
    if not len(table):
        raise ParseError(f"{_WHAT} must have rows; got none", source=source)
    components, of = positions(names_in(table, "component", _WHAT, source))
    order = np.argsort(of, kind="stable")
    table, of = table.iloc[order], of[order]
    time, words = seconds_of(table, "time", source, zone, within=of)
    notes = list(words)
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
    names = []
    for name in map(str, table.columns):
        if name in (*_NEEDED, *_LDMS_OTHERS):
            continue
        if holds_no_number(table, name):
            notes.append(f"column {name} holds no number and was left out")
        else:
            names.append(name)
    if not names:
        raise ParseError(f"{_WHAT} must have a column for each counter; it has none", source=source)
    widths = _widths(bits or {}, names)
    total = np.full((len(time), len(names)), np.nan)
    restarts = np.zeros((len(time), len(names)), np.int64)
    edges = np.flatnonzero(np.diff(of, prepend=-1, append=-1))
    for at, name in enumerate(names):
        readings, known = exact_counts(table, name, source)
        wraps = resets = 0
        for low, high in itertools.pairwise(edges):
            here = low + np.flatnonzero(known[low:high])
            rises = rises_of(readings[here], None, widths.get(name, 0))
            reset = np.isnan(rises.values)
            total[here, at] = np.concatenate([[0.0], np.cumsum(np.where(reset, 0, rises.values))])[
                : len(here)
            ]
            restarts[here, at] = np.concatenate([[0], np.cumsum(reset)])[: len(here)]
            wraps, resets = wraps + rises.wraps, resets + rises.resets
        if wraps:
            notes.append(f"{name} wrapped {wraps} times, which was repaired")
        if resets:
            notes.append(f"{name} was reset {resets} times; its rises there are missing")
        if missing := int((~known).sum()):
            notes.append(f"{name} has no reading in {missing} of {len(time)} samples")
    return CounterSamples(
        tuple(components),
        tuple(names),
        of,
        time + offset_s,
        total,
        restarts,
        provenance or Provenance("measured", Path(path).name),
        tuple(notes),
    )


_LDMS_TIME = ("#Time", "# Time")
_LDMS_COMPONENTS = ("ProducerName", "component_id", "CompId")
_LDMS_OTHERS = (
    *("Time_usec", "Time_ms", "DT_usec", "job_id", "app_id", "instance", "Producer"),
    *_LDMS_COMPONENTS,
)
"""Columns of LDMS's CSV store that are no counters."""


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
