"""A world as tables: what a site has, as CSV for any program, and the truth beside them."""

from __future__ import annotations

import datetime
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.datapackage import Column
from workbench.variability.tables.job_log import JobLog
from workbench.variability.tables.routines import RoutineTimes
from workbench.variability.tables.runs import Runs
from workbench.variability.tables.steps import StepTable
from workbench.variability.world.counters import COUNTERS
from workbench.variability.world.truth import WorldTruth

if TYPE_CHECKING:
    import pandas as pd

RUNS: Mapping[str, Column] = {
    "run": ("string", "", "name of the run, which is its job's in jobs.csv"),
    "start": ("string", "", "when it started, UTC"),
    "end": ("string", "", "when it ended, UTC"),
    "time_s": ("number", "s", "sum of its steps"),
}
JOBS: Mapping[str, Column] = {
    "JobID": ("string", "", "number of the job, or name of the run"),
    "User": ("string", "", "user; user-00 submitted the runs"),
    "NNodes": ("integer", "", "nodes of the job"),
    "Start": ("string", "", "when it started, UTC, to the second"),
    "End": ("string", "", "when it ended, UTC, to the second"),
}
PLACEMENT: Mapping[str, Column] = {
    "run": ("string", "", "name of the run"),
    "node": ("integer", "", "a node of it, in the order of its ranks"),
    "router": ("integer", "", "router of the node"),
    "group": ("integer", "", "group of the router"),
}
ROUTINES: Mapping[str, Column] = {
    "run": ("string", "", "name of the run"),
    "routine": ("string", "", "computation, or the MPI routine without MPI_"),
    "time_s": ("number", "s", "time in it, mean of the ranks"),
}
TRUTH: Mapping[str, Column] = {
    "run": ("string", "", "name of the run"),
    "step": ("integer", "", "step, from 0"),
    "user": ("string", "", "a user with a job beside the run"),
    "time_s": ("number", "s", "time of the step"),
    "without_s": ("number", "s", "its time in the same world without what the user sends"),
}


def steps_columns(counters: tuple[str, ...]) -> dict[str, Column]:
    """Return the columns of the table of steps."""
    return {
        "run": ("string", "", "name of the run"),
        "step": ("integer", "", "step, from 0"),
        "time_s": ("number", "s", "time of the step"),
        **{name: ("number", "", COUNTERS[name]) for name in counters},
    }


def routines_table(routines: RoutineTimes) -> bytes:
    """Return the table of routines."""
    each = len(routines.routine)
    return csv_bytes(
        {
            "run": np.repeat(np.array(routines.run, object), each),
            "routine": np.tile(np.array(routines.routine, object), len(routines.run)),
            "time_s": routines.time_s.ravel(),
        }
    )


def csv_bytes(columns: Mapping[str, Any]) -> bytes:
    """Return a table as CSV whose numbers are read back as they were."""
    import pandas as pd

    return pd.DataFrame(dict(columns)).to_csv(index=False, lineterminator="\n").encode()


def read_csv_bytes(data: bytes) -> pd.DataFrame:
    """Return the cells of the table that ``csv_bytes`` wrote, as texts; nan where one is empty."""
    import pandas as pd

    return pd.read_csv(io.BytesIO(data), dtype=str)


def runs_table(runs: Runs) -> bytes:
    """Return the table of runs."""
    return csv_bytes(
        {
            "run": runs.run,
            "start": [iso_time(when) for when in runs.start],
            "end": [iso_time(when, "milliseconds") for when in runs.end],
            "time_s": runs.time_s,
        }
    )


def jobs_table(jobs: JobLog) -> bytes:
    """Return the table of jobs with the columns of sacct."""
    return csv_bytes(
        {
            "JobID": jobs.job,
            "User": jobs.user,
            "NNodes": jobs.nodes,
            "Start": [iso_time(when) for when in jobs.start],
            "End": [iso_time(when) for when in np.ceil(jobs.end)],
        }
    )


def steps_table(steps: StepTable) -> bytes:
    """Return the table of steps; a missing reading is an empty cell."""
    runs, count = steps.time_s.shape
    values = steps.values.reshape(runs * count, -1)
    return csv_bytes(
        {
            "run": np.repeat(np.array(steps.run, object), count),
            "step": np.tile(np.arange(count), runs),
            "time_s": steps.time_s.ravel(),
            **{name: values[:, at] for at, name in enumerate(steps.counters)},
        }
    )


def truth_table(truth: WorldTruth) -> bytes:
    """Return the table of the truth: a row a user beside a run and a step."""
    run, user = np.nonzero(truth.beside.T)
    count = len(truth.step)
    return csv_bytes(
        {
            "run": np.repeat(np.array(truth.run, object)[run], count),
            "step": np.tile(truth.step, len(run)),
            "user": np.repeat(np.array(truth.users, object)[user], count),
            "time_s": truth.time_s[run].ravel(),
            "without_s": truth.without_s[user, run].ravel(),
        }
    )


def iso_time(seconds: float, timespec: str = "seconds") -> str:
    """Return a time of the clock in UTC, such as 2018-12-05T08:15:00."""
    when = datetime.datetime.fromtimestamp(float(seconds), datetime.UTC)
    return when.replace(tzinfo=None).isoformat(timespec=timespec)
