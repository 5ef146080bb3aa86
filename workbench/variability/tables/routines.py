"""Time that runs of a program spend in computation and in each MPI routine, as mpiP reports it.

times = read_routines("routines.csv")       # run,routine,time_s
times.to_frame()
times.plot()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParseError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.text_table import numbers_of
from workbench.variability.tables.table_file import TableNotes, names_in, positions, read_table

if TYPE_CHECKING:
    import pandas as pd


COMPUTATION = ("compute", "computation", "application")
"""Routines that are the program's own work, in any case of letters; all others are MPI's."""

_WHAT = "a table of routine times"
_NEEDED = ("run", "routine", "time_s")


@dataclass(frozen=True, eq=False, repr=False)
class RoutineTimes(StoredResult):
    """Time of each run in each routine.

    Attributes:
        run: name of each run.
        routine: names, computation first, then by their mean time.
        time_s: float64[runs, routines]; nan where a run names no such routine.
        provenance: where the numbers come from.
        notes: what was left out or taken for granted, each a sentence.
    """

    run: tuple[str, ...]
    routine: tuple[str, ...]
    time_s: NDArray[np.float64] = field(metadata={"axes": 2})
    provenance: Provenance
    notes: tuple[str, ...] = ()

    plot = Drawing("plot_routine_times")

    @property
    def is_mpi(self) -> NDArray[np.bool_]:
        """Whether each routine is MPI's, bool[routines]."""
        return np.array([name.lower() not in COMPUTATION for name in self.routine])

    @property
    def mpi_s(self) -> FloatArray:
        """Time of each run in all MPI routines in s, float64[runs]."""
        return np.asarray(np.nansum(self.time_s[:, self.is_mpi], axis=1))

    @property
    def computation_s(self) -> FloatArray:
        """Time of each run in computation in s, float64[runs]; nan where that was not measured."""
        if self.is_mpi.all():
            return np.full(len(self.run), np.nan)
        return np.asarray(np.nansum(self.time_s[:, ~self.is_mpi], axis=1))

    def to_frame(self) -> pd.DataFrame:
        """Return a row a routine: mean, least and greatest time over the runs, and share in %."""
        import pandas as pd

        total = np.nansum(self.time_s)
        return pd.DataFrame(
            {
                "routine": self.routine,
                "MPI": self.is_mpi,
                "mean (s)": np.nanmean(self.time_s, axis=0),
                "least (s)": np.nanmin(self.time_s, axis=0),
                "greatest (s)": np.nanmax(self.time_s, axis=0),
                "share (%)": 100 * np.nansum(self.time_s, axis=0) / total,
            }
        )

    def __repr__(self) -> str:
        share = 100 * self.mpi_s.sum() / np.nansum(self.time_s)
        known = "" if self.is_mpi.all() else f", {share:.3g} % of the time in MPI"
        return f"RoutineTimes({len(self.run)} runs, {len(self.routine)} routines{known})"


def read_routines(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    provenance: Provenance | None = None,
) -> RoutineTimes:
    """Return the times in a table ``run,routine,time_s``.

    A routine named ``compute``, ``computation`` or ``application`` is the program's own work. Times
    of the same routine of a run, such as of several call sites, are added.

    Args:
        path: the file.
        columns: the file's names of our columns, such as ``{"time_s": "seconds"}``.
        provenance: where the numbers come from; None is ``measured``, with the file's name.

    Raises:
        ParseError: the file is no such table; names the line.
        ParameterError: ``columns`` names a column that the table does not have here.
    """
    source = str(path)
    notes = TableNotes()
    table = read_table(path, _WHAT, _NEEDED, columns=columns, notes=notes)
    if not len(table):
        raise ParseError(f"{_WHAT} must have rows; got none", source=source)
    time = numbers_of(table, "time_s", source, least=0, must="a time of 0 s or more")
    runs, row = positions(names_in(table, "run", _WHAT, source))
    routines, column = positions(names_in(table, "routine", _WHAT, source))
    found = np.zeros((len(runs), len(routines)))
    known = np.zeros(found.shape, bool)
    np.add.at(found, (row, column), time)
    known[row, column] = True
    if again := len(table) - int(known.sum()):
        notes.append(f"{again} rows name a routine of a run again; their times were added")
    for at, name in enumerate(routines):
        if lacking := int((~known[:, at]).sum()):
            notes.append(f"{lacking} of {len(runs)} runs have no time of {name}")
    found[~known] = np.nan
    means = np.nanmean(found, axis=0)
    order = sorted(
        range(len(routines)), key=lambda at: (routines[at].lower() not in COMPUTATION, -means[at])
    )
    return RoutineTimes(
        tuple(runs),
        tuple(routines[at] for at in order),
        found[:, order],
        provenance or Provenance("measured", Path(path).name),
        tuple(notes),
    )
