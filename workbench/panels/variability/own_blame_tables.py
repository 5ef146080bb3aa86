"""The user's own tables for the panel of blame: runs, jobs and, if there are any, steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.panels.error_line import ErrorLine
from workbench.panels.style import wrapping_row
from workbench.panels.variability.blame_state import OwnFile
from workbench.panels.variability.blame_tables import BlameTables
from workbench.panels.variability.own_table import OwnTable
from workbench.panels.variability.table_columns import (
    JOB_COLUMNS,
    RUN_COLUMNS,
    STEP_COLUMNS,
    first_job_rows,
    first_rows,
)
from workbench.provenance import Provenance
from workbench.variability import JobLog, Runs, StepTable, read_jobs, read_runs, read_steps

EXPLAINED = (
    "Upload a table of runs (a row a run: run, start, end and, if you have it, time_s) and one of "
    "jobs of all users (job, user, nodes, start, end), or what sacct prints. A table of steps "
    "(run, step, time_s) is needed for the view of one run only. Other names of columns can be "
    "chosen after the upload."
)


class OwnBlameTables:
    """The uploads of the user's files; ``changed`` is called when one was read, or refused."""

    def __init__(self, controls: Mapping[str, Any], changed: Callable[[], None]) -> None:
        zone, offset = controls["zone"], controls["offset_s"]
        self.runs: OwnTable[Runs] = OwnTable(
            "runs",
            RUN_COLUMNS,
            lambda path, columns: read_runs(path, columns=columns, zone=zone.value),
            first_rows,
            changed,
        )
        self.jobs: OwnTable[JobLog] = OwnTable(
            "jobs",
            JOB_COLUMNS,
            lambda path, columns: read_jobs(
                path, columns=columns, zone=zone.value, offset_s=offset.value
            ),
            first_job_rows,
            changed,
        )
        self.steps: OwnTable[StepTable] = OwnTable(
            "steps",
            STEP_COLUMNS,
            lambda path, columns: read_steps(path, columns=columns, zone=zone.value),
            first_rows,
            changed,
        )
        self._uploads = (self.runs, self.jobs, self.steps)
        self.widget = widgets.VBox(
            [wrapping_row(zone, offset), *(one.widget for one in self._uploads)]
        )

    @property
    def by_use(self) -> dict[str, OwnTable[Any]]:
        """The tables by what they are of."""
        return {"runs": self.runs, "jobs": self.jobs, "steps": self.steps}

    @property
    def errors(self) -> list[ErrorLine]:
        """The lines for errors, from the top down."""
        return [one.error for one in self._uploads]

    def tables(self) -> BlameTables | None:
        """Return the tables; None before both runs and jobs are there."""
        runs, jobs, steps = self.runs.table, self.jobs.table, self.steps.table
        if runs is None or jobs is None:
            return None
        if steps is not None and not set(steps.run) & set(runs.run):
            self.steps.error.say(
                f"the runs in {self.steps.file_name} must be named as in {self.runs.file_name}, "
                f"where the first is {runs.run[0]!r}; got {steps.run[0]!r}: choose another column "
                "for run"
            )
            steps = None
        read: list[OwnTable[Any]] = [self.runs, self.jobs]
        if steps is not None:
            read.append(self.steps)
        names = [one.file_name for one in read]
        return BlameTables(
            runs,
            jobs,
            Provenance("measured", f"{', '.join(names[:-1])} and {names[-1]}"),
            files=tuple(OwnFile(one.file_name, one.columns) for one in read),
            own_steps=steps,
        )

    def read_again(self) -> None:
        """Read the files once more, after a setting of the reading has changed."""
        for one in self._uploads:
            one.read_again()


def take_file(table: OwnTable[Any], name: str, data: bytes, columns: Mapping[str, str]) -> None:
    """Take a file as an upload does, with the file's names of some of our columns."""
    table.take(name, data)
    if columns:
        table.choose_columns(columns)


def file_content(path: Any) -> bytes:
    """Return the content of a file; ParameterError if it cannot be read."""
    try:
        return bytes(path.read_bytes())
    except OSError as error:
        raise ParameterError(f"a file must be readable; {error}", key="path") from error
