"""The columns of the tables that users upload, and the first rows of their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.panels.variability.own_table import TableColumn
from workbench.variability.tables.job_log import cells_of_jobs
from workbench.variability.tables.table_file import TableNotes, read_table

if TYPE_CHECKING:
    import pandas as pd

RUN_COLUMNS = (
    TableColumn("run", "Name of each run", ("run id", "job", "job id", "name")),
    TableColumn("start", "When it started: s, or a date", ("begin", "start time", "started")),
    TableColumn("end", "When it ended", ("finish", "end time", "ended", "stop")),
    TableColumn(
        "time_s",
        "What the program took, s; without it from start to end",
        ("time", "elapsed", "runtime", "seconds", "duration"),
        optional=True,
    ),
)
JOB_COLUMNS = (
    TableColumn("job", "Name or number of each job", ("job id", "id")),
    TableColumn("user", "Who submitted it", ("user id", "uid", "account")),
    TableColumn("nodes", "How many nodes it had", ("nnodes", "node count", "num nodes")),
    TableColumn("start", "When it started: s, or a date", ("begin", "start time", "started")),
    TableColumn("end", "When it ended; empty while it runs", ("finish", "end time", "ended")),
)
STEP_COLUMNS = (
    TableColumn("run", "Name of the run of each step", ("run id", "job", "job id")),
    TableColumn("step", "Number of the step in its run", ("time step", "iteration", "iter")),
    TableColumn("time_s", "What the step took, s", ("time", "elapsed", "seconds", "duration")),
)


def first_rows(path: Path, rows: int) -> pd.DataFrame:
    """Return the first rows of a file as texts."""
    return read_table(path, "a table", notes=TableNotes()).head(rows)


def first_job_rows(path: Path, rows: int) -> pd.DataFrame:
    """Return the first rows of a job log as texts, such as what sacct prints."""
    return cells_of_jobs(path, TableNotes()).head(rows)
