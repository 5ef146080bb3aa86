"""Jobs of all users of a machine, from a table or from Slurm's accounting.

jobs = read_jobs("sacct.txt", zone="America/Los_Angeles")
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParseError
from workbench.result import StoredResult
from workbench.text_table import check_columns
from workbench.variability.tables.clock import seconds_of
from workbench.variability.tables.table_file import read_table, renamed, texts_of, whole_numbers

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

_WHAT = "a job log"
_NEEDED = ("job", "user", "nodes", "start", "end")
_SACCT = {"JobID": "job", "User": "user", "NNodes": "nodes", "Start": "start", "End": "end"}
"""Columns of sacct, and what they are called here."""

_NOT_YET = ("", "Unknown", "None", "N/A")
_STEP = re.compile(r"\.[\w+]+$")


@dataclass(frozen=True, eq=False, repr=False)
class JobLog(StoredResult):
    """Jobs with their users, sizes and times.

    Attributes:
        job: name or number of each job.
        user: of each job.
        nodes: int64[jobs].
        start: float64[jobs], s since 1970-01-01 UTC, or since the log's own origin.
        end: float64[jobs], s; infinite for a job that still runs.
        notes: what was left out or taken for granted, each a sentence.
    """

    job: tuple[str, ...]
    user: tuple[str, ...]
    nodes: NDArray[np.int64]
    start: FloatArray
    end: FloatArray
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.job)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a job: ``job``, ``user``, ``nodes``, ``start`` and ``end`` in s."""
        import pandas as pd

        return pd.DataFrame(
            {
                "job": self.job,
                "user": self.user,
                "nodes": self.nodes,
                "start (s)": self.start,
                "end (s)": self.end,
            }
        )

    def __repr__(self) -> str:
        users = len(set(self.user))
        return f"JobLog({len(self)} jobs of {users} users, up to {self.nodes.max(initial=0)} nodes)"


def read_jobs(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    zone: str = "UTC",
    offset_s: float = 0.0,
) -> JobLog:
    """Return the jobs in a table ``job,user,nodes,start,end``, CSV or Parquet, or sacct's output.

    Of sacct the columns JobID, User, NNodes, Start and End are needed, as ``--parsable2`` separates
    them or in columns of fixed width. Steps of jobs are left out, as are jobs that never started; a
    job without an end still runs. The result's ``notes`` say how many there were of each.

    Args:
        path: the file.
        columns: the file's names of our columns, such as ``{"user": "account"}``.
        zone: time zone of times that name none, such as ``America/Los_Angeles``.
        offset_s: added to all times, where the clock of the log differs from that of the runs.

    Raises:
        ParseError: the file is no job log; names the line.
        ParameterError: the zone, or a column's name of ours, is unknown.
    """
    table, source = _read(path, columns), str(path)
    steps = table["job"].str.contains(_STEP)
    # A job that has not started yet, or never will, has no start.
    waiting = ~steps & table["start"].isin(_NOT_YET)
    kept = table[~steps & ~waiting]
    running = kept["end"].isin(_NOT_YET)
    start, words = seconds_of(kept, "start", source, zone)
    end = np.full(len(kept), np.inf)
    ended, more = seconds_of(kept[~running], "end", source, zone)
    end[~running.to_numpy()] = ended
    nodes = whole_numbers(kept, "nodes", source, least=1)
    _check(kept, start, end, source)
    counted = (
        (int(steps.sum()), "steps of jobs were left out"),
        (int(waiting.sum()), "jobs that never started were left out"),
        (int(running.sum()), "jobs without an end still run"),
    )
    notes = [f"{count} {what}" for count, what in counted if count]
    return JobLog(
        tuple(kept["job"]),
        tuple(kept["user"]),
        nodes,
        start + offset_s,
        end + offset_s,
        (*notes, *dict.fromkeys((*words, *more))),
    )


def _read(path: str | Path, columns: Mapping[str, str] | None) -> pd.DataFrame:
    """Return the cells of the needed columns as texts, under our names."""
    import pandas as pd

    table = _fixed_width(path)
    if table is None:
        table = read_table(path, _WHAT)
    given = dict(columns or {})
    if "JobID" in table:
        needed = [theirs for theirs, ours in _SACCT.items() if ours not in given]
        check_columns(table, "sacct's output", needed, str(path))
        given = {ours: theirs for theirs, ours in _SACCT.items()} | given
    table = renamed(table, given, _WHAT, _NEEDED, str(path))
    return pd.DataFrame(
        {name: texts_of(table[name]) for name in _NEEDED}, table.index, dtype=object
    )


def _fixed_width(path: str | Path) -> pd.DataFrame | None:
    """Return sacct's columns of fixed width, a blank between them; None for another file."""
    import pandas as pd

    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            second = [file.readline(), file.readline()][1]
            if not second.strip() or second.strip(" -\n"):
                return None
            file.seek(0)
            lines = file.read().splitlines()
    except UnicodeDecodeError:
        return None
    except OSError as error:
        raise ParseError(
            f"{_WHAT} must be a file that can be read; {error}", source=str(path)
        ) from error
    ends = list(itertools.accumulate(len(dashes) + 1 for dashes in second.split()))
    starts = [0, *ends[:-1]]
    rows = [
        [line[start : end - 1].strip() for start, end in zip(starts, ends, strict=True)]
        for line in lines
    ]
    table = pd.DataFrame(rows[2:], columns=rows[0], index=range(3, len(rows) + 1), dtype=str)
    return table[(table != "").any(axis=1)]


def _check(table: pd.DataFrame, start: FloatArray, end: FloatArray, source: str) -> None:
    """Refuse a job without a user, and one that ends before it starts."""
    nameless = table["user"] == ""
    for bad, words in (
        (nameless.to_numpy(), "each job must have a user; job {job} has none"),
        (end < start, "a job must not end before it starts; job {job} runs from {start} to {end}"),
    ):
        if bad.any():
            at = int(np.argmax(bad))
            cells = {name: table[name].iloc[at] for name in _NEEDED}
            raise ParseError(words.format(**cells), source=source, line=int(table.index[at]))
