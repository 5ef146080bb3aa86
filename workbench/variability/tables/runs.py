"""Runs of one program on a machine that others use too: when they ran, and how long they took.

runs = read_runs("runs.csv")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParseError
from workbench.result import StoredResult
from workbench.text_table import numbers_of
from workbench.variability.tables.clock import seconds_of
from workbench.variability.tables.table_file import TableNotes, names_in, read_table

if TYPE_CHECKING:
    import pandas as pd


_WHAT = "a table of runs"
_NEEDED = ("run", "start", "end")


@dataclass(frozen=True, eq=False, repr=False)
class Runs(StoredResult):
    """Runs of one program with one input on one number of nodes.

    Attributes:
        run: name of each run.
        start: float64[runs], s, on the clock of the job log.
        end: float64[runs], s.
        time_s: float64[runs], what the program took.
        notes: what was taken for granted, each a sentence.
    """

    run: tuple[str, ...]
    start: FloatArray
    end: FloatArray
    time_s: FloatArray
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.run)

    def optimal(self, tau: float = 1.0, trend: FloatArray | None = None) -> NDArray[np.bool_]:
        """Return whether a run took less than tau times the mean (Bhatele et al. 2020, IV-A).

        Args:
            tau: share of the mean; 1 in the paper.
            trend: float64[runs], over which the times are taken before; None takes them as they
                are, as in the paper.

        Returns:
            bool[runs].
        """
        time = self.time_s if trend is None else self.time_s / trend
        return np.asarray(time < tau * time.mean())

    def to_frame(self) -> pd.DataFrame:
        """Return a row a run: ``run``, ``start`` and ``end`` in s, ``time (s)``, ``optimal``."""
        import pandas as pd

        return pd.DataFrame(
            {
                "run": self.run,
                "start (s)": self.start,
                "end (s)": self.end,
                "time (s)": self.time_s,
                "optimal": self.optimal(),
            }
        )

    def __repr__(self) -> str:
        least, most = self.time_s.min(), self.time_s.max()
        return f"Runs({len(self)} runs of {least:.4g} to {most:.4g} s)"


def read_runs(
    path: str | Path, *, columns: Mapping[str, str] | None = None, zone: str = "UTC"
) -> Runs:
    """Return the runs in a CSV or Parquet table ``run,start,end,time_s``.

    Args:
        path: the file. Without ``time_s`` a run took from its start to its end.
        columns: the file's names of our columns, such as ``{"time_s": "elapsed"}``.
        zone: time zone of times that name none, such as ``America/Los_Angeles``.

    Raises:
        ParseError: the file is no such table; names the line.
        ParameterError: the zone, or a column's name of ours, is unknown.
    """
    source = str(path)
    notes = TableNotes()
    table = read_table(path, _WHAT, _NEEDED, columns=columns, optional=("time_s",), notes=notes)
    names = names_in(table, "run", _WHAT, source)
    table = table.assign(run=names)
    if len(table) < 2:
        raise ParseError(f"{_WHAT} must have 2 or more; got {len(table)}", source=source)
    start, words = seconds_of(table, "start", source, zone)
    end, more = seconds_of(table, "end", source, zone)
    _refuse(table, end <= start, "a run must end after it starts; run {run} does not", source)
    twice = table["run"].duplicated().to_numpy()
    _refuse(table, twice, "each run must stand in one row; run {run} stands in two", source)
    if "time_s" in table:
        time = numbers_of(table, "time_s", source, least=1e-9, must="a time above 0 s")
    else:
        time = end - start
        more = (*more, "there is no time_s; a run took from its start to its end")
    return Runs(tuple(names), start, end, time, tuple(dict.fromkeys((*notes, *words, *more))))


def _refuse(table: pd.DataFrame, bad: NDArray[np.bool_], words: str, source: str) -> None:
    """Raise ParseError for the first bad row, if there is one."""
    if bad.any():
        at = int(np.argmax(bad))
        text = words.format(run=table["run"].iloc[at])
        raise ParseError(text, source=source, line=int(table.index[at]))
