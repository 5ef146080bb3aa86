"""Run times of programs on machines over months: how much they vary, relative to the best.

times = load_run_times("slingshot")
times.summary().to_frame()
times.plot()
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.datapackage import DESCRIPTOR, read_resource
from workbench.datasets import data_folder, described
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.suggestions import did_you_mean
from workbench.text_table import numbers_of
from workbench.variability.tables.clock import seconds_of
from workbench.variability.tables.table_file import TableNotes, names_in, read_table, whole_numbers

if TYPE_CHECKING:
    import pandas as pd


Grouping = Literal["system", "application", "nodes", "month"]
"""What runs can be grouped by."""

_WHAT = "a table of run times"
_NEEDED = ("application", "time_s")
_OPTIONAL = ("system", "nodes", "date")
_FOLDER = "variability"
_TABLE = "run_times.csv"
_INTERVAL = (2.5, 97.5)  # %: ends of ``folds.LEVEL``


@dataclass(frozen=True, eq=False, repr=False)
class RunTimes(StoredResult):
    """Times of runs of several programs, each with the same input whenever it ran.

    Attributes:
        system: machine of each run; empty where the table does not name it.
        application: program of each run.
        nodes: int64[runs]; 0 where the number is not known.
        date: float64[runs], s since 1970-01-01 UTC; nan where it is not known.
        time_s: float64[runs].
        provenance: where the numbers come from.
        notes: what was left out or taken for granted, each a sentence.
    """

    system: tuple[str, ...]
    application: tuple[str, ...]
    nodes: NDArray[np.int64]
    date: FloatArray
    time_s: FloatArray
    provenance: Provenance
    notes: tuple[str, ...] = ()

    plot = Drawing("plot_run_times")

    def __len__(self) -> int:
        return len(self.time_s)

    @property
    def relative(self) -> FloatArray:
        """Each time over the best of its program on its machine and nodes, float64[runs]."""
        found = np.empty(len(self))
        for rows in self.groups(("system", "application", "nodes")).values():
            found[rows] = self.time_s[rows] / self.time_s[rows].min()
        return found

    def groups(self, by: Iterable[str]) -> dict[str, NDArray[np.intp]]:
        """Return the runs of each group by its label, such as ``Frontier MILC``.

        Args:
            by: some of ``system``, ``application``, ``nodes`` and ``month``.

        Raises:
            ParameterError: one of ``by`` is unknown.
        """
        keys = tuple(by)
        if unknown := [key for key in keys if key not in get_args(Grouping)]:
            raise ParameterError(
                f"by must be some of {', '.join(get_args(Grouping))}; got {unknown[0]!r}"
                f"{did_you_mean(unknown[0], get_args(Grouping))}",
                key="by",
            )
        words = [[self._word(key, at) for key in keys] for at in range(len(self))]
        labels = np.array([" ".join(filter(None, each)) for each in words], object)
        return {str(label): np.flatnonzero(labels == label) for label in sorted(set(labels))}

    def only(self, *, system: str | None = None, application: str | None = None) -> RunTimes:
        """Return the runs on a machine or of a program.

        Args:
            system: the machine; None takes all.
            application: the program; None takes all.

        Raises:
            ParameterError: there is no such run.
        """
        kept = [
            at
            for at in range(len(self))
            if system in (None, self.system[at]) and application in (None, self.application[at])
        ]
        if not kept:
            raise ParameterError(
                f"some run must be of {application or 'any program'} on {system or 'any machine'}; "
                f"there are {', '.join(self.groups(('system', 'application')))}",
                key="application",
            )
        return replace(
            self,
            system=tuple(self.system[at] for at in kept),
            application=tuple(self.application[at] for at in kept),
            nodes=self.nodes[kept],
            date=self.date[kept],
            time_s=self.time_s[kept],
        )

    def summary(
        self,
        by: Iterable[str] = ("system", "application", "nodes"),
        *,
        draws: int = 2000,
        seed: int = 0,
    ) -> RunTimeSummary:
        """Return how much the runs of each group vary.

        Args:
            by: what groups are made by, as for ``groups``.
            draws: bootstrap draws of a group's runs, for intervals.
            seed: of the draws.

        Raises:
            ParameterError: one of ``by`` is unknown, or a number is refused.
        """
        draws, seed = whole(draws, "draws", 100), whole(seed, "seed", 0)
        keys, relative = tuple(by), self.relative
        groups = self.groups(keys)
        rng = np.random.default_rng(seed)
        statistics = np.empty((len(groups), len(_STATISTICS)))
        low, high = np.empty_like(statistics), np.empty_like(statistics)
        for at, rows in enumerate(groups.values()):
            times = relative[rows]
            statistics[at] = _statistics(times[None])[0]
            drawn = _statistics(times[rng.integers(len(rows), size=(draws, len(rows)))])
            low[at], high[at] = np.percentile(drawn, _INTERVAL, axis=0)
        named = {
            name + end: values[:, at]
            for end, values in (("", statistics), ("_low", low), ("_high", high))
            for at, name in enumerate(_STATISTICS)
        }
        return RunTimeSummary(
            group=tuple(groups),
            runs=np.array([len(rows) for rows in groups.values()]),
            best_s=np.array([self.time_s[rows].min() for rows in groups.values()]),
            **named,
            by=keys,
            draws=draws,
            seed=seed,
            provenance=self.provenance,
            notes=self.notes,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row a run, with its time relative to the best."""
        import pandas as pd

        return pd.DataFrame(
            {
                "system": self.system,
                "application": self.application,
                "nodes": self.nodes,
                "date": [self._word("date", at) for at in range(len(self))],
                "time (s)": self.time_s,
                "relative": self.relative,
            }
        )

    def __repr__(self) -> str:
        programs = len(self.groups(("system", "application", "nodes")))
        return (
            f"RunTimes({len(self)} runs, {programs} programs on machines, "
            f"{self.provenance.origin}; up to {self.relative.max():.3g} times the best)"
        )

    def _word(self, key: str, at: int) -> str:
        """Return a run's part of a group's label."""
        if key == "nodes":
            return f"{self.nodes[at]} nodes" if self.nodes[at] else ""
        if key in ("month", "date"):
            if np.isnan(self.date[at]):
                return "no date" if key == "month" else ""
            day = datetime.datetime.fromtimestamp(self.date[at], datetime.UTC).date().isoformat()
            return day[:7] if key == "month" else day
        return (self.system if key == "system" else self.application)[at]


@dataclass(frozen=True, eq=False, repr=False)
class RunTimeSummary(StoredResult):
    """How much run times vary, in groups.

    Times are relative to the best of the program on its machine and nodes, in whatever group that
    was. Intervals are those of the middle 95 % of bootstrap draws of the group's runs; no draw has
    a run that is slower than the slowest, so that the interval of ``worst`` says how much it hangs
    on single runs, not how slow a run may be.

    Attributes:
        group: labels.
        runs: int64[groups].
        best_s: float64[groups], the least time of the group's runs.
        median: float64[groups], of the relative times.
        spread: float64[groups], their interquartile range over the median.
        worst: float64[groups], the greatest over the least of the group.
        median_low: float64[groups], lower end of the interval.
        spread_low: float64[groups].
        worst_low: float64[groups].
        median_high: float64[groups], upper end.
        spread_high: float64[groups].
        worst_high: float64[groups].
        by: what groups were made by.
        draws: bootstrap draws.
        seed: of the draws.
        provenance: where the numbers come from.
        notes: what was left out or taken for granted, each a sentence.
    """

    group: tuple[str, ...]
    runs: NDArray[np.int64]
    best_s: FloatArray
    median: FloatArray
    spread: FloatArray
    worst: FloatArray
    median_low: FloatArray
    spread_low: FloatArray
    worst_low: FloatArray
    median_high: FloatArray
    spread_high: FloatArray
    worst_high: FloatArray
    by: tuple[str, ...]
    draws: int
    seed: int
    provenance: Provenance
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return a row a group: each statistic, and the ends of its interval."""
        import pandas as pd

        columns: dict[str, object] = {
            "group": self.group,
            "runs": self.runs,
            "best (s)": self.best_s,
        }
        for name in _STATISTICS:
            columns |= {
                name: getattr(self, name),
                f"{name}, low": getattr(self, f"{name}_low"),
                f"{name}, high": getattr(self, f"{name}_high"),
            }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        return (
            f"RunTimeSummary({int(self.runs.sum())} runs in {len(self.group)} groups; slowest over "
            f"fastest {self.worst.min():.3g} to {self.worst.max():.3g})"
        )


_STATISTICS = ("median", "spread", "worst")


def _statistics(times: FloatArray) -> FloatArray:
    """Return median, spread and worst of each draw's times, float64[draws, 3]."""
    low, median, high = np.percentile(times, (25, 50, 75), axis=1)
    worst = times.max(axis=1) / times.min(axis=1)
    return np.stack([median, (high - low) / median, worst], axis=1)


def read_run_times(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    provenance: Provenance | None = None,
) -> RunTimes:
    """Return the times in a CSV or Parquet table ``application,time_s``.

    The columns ``system``, ``nodes`` and ``date`` may be there too; a program on another machine or
    number of nodes has another best time.

    Args:
        path: the file.
        columns: the file's names of our columns, such as ``{"time_s": "runtime"}``.
        provenance: where the numbers come from; None is ``measured``, with the file's name.

    Raises:
        ParseError: the file is no such table; names the line.
        ParameterError: ``columns`` names a column that such a table does not have.
    """
    source = str(path)
    notes = TableNotes()
    table = read_table(path, _WHAT, _NEEDED, columns=columns, optional=_OPTIONAL, notes=notes)
    if not len(table):
        raise ParseError(f"{_WHAT} must have rows; got none", source=source)
    count = len(table)
    date = np.full(count, np.nan)
    if "date" in table:
        known = (table["date"].astype(str).str.strip() != "").to_numpy(bool)
        date[known], words = seconds_of(table[known], "date", source)
        notes += words
        if not known.all():
            notes.append(f"{int((~known).sum())} runs have no date")
    return RunTimes(
        tuple(names_in(table, "system", _WHAT, source)) if "system" in table else ("",) * count,
        tuple(names_in(table, "application", _WHAT, source)),
        whole_numbers(table, "nodes", source) if "nodes" in table else np.zeros(count, np.int64),
        date,
        numbers_of(table, "time_s", source, least=1e-12, must="a time above 0 s"),
        provenance or Provenance("measured", Path(path).name),
        tuple(notes),
    )


def load_run_times(name: str = "slingshot") -> RunTimes:
    """Return run times that ship with the workbench, checked against their checksum.

    Args:
        name: ``slingshot``: five programs on two machines with Slingshot networks, published.

    Raises:
        DatasetError: there is no such table, or it is not the one whose checksum is recorded.
    """
    folders = (data_folder() / _FOLDER).glob(f"*/{DESCRIPTOR}")
    known = sorted(path.parent.name for path in folders if (path.parent / _TABLE).exists())
    if name not in known:
        raise DatasetError(
            f"no run times are named {name!r}{did_you_mean(name, known)}; known: "
            f"{', '.join(known) or 'none'}"
        )
    dataset = described(data_folder() / _FOLDER / name)
    repair = f"restore datasets/{_FOLDER}/{name} or reinstall the package"
    read_resource(dataset.folder, dataset.descriptor, _TABLE, repair)
    times = read_run_times(dataset.folder / _TABLE, provenance=dataset.provenance)
    return replace(times, notes=(*dataset.caveats, *times.notes))
