"""A recording of a shared link as the tables that analyses read.

link_tables(record_link("recording"), "my-recording", created_by="...").save("recording")
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable

import numpy as np

from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.tasks import cores
from workbench.variability.recorded_link import LinkUser, RecordedLink
from workbench.variability.recording.record import LinkRecording, LinkRun
from workbench.variability.recording.step_program import ROUTINES
from workbench.variability.tables.job_log import JobLog
from workbench.variability.tables.routines import RoutineTimes
from workbench.variability.tables.runs import Runs
from workbench.variability.tables.steps import StepTable

_OWN_USER = "me"
_HOSTS_OF_A_JOB = 2  # a sender and a receiver
_PAUSE_S = 10.0  # between two slots: a job that spans a longer one is two

_CAVEATS = (
    "the network is emulated: namespaces of one kernel, virtual cables and a token bucket; what "
    "is true of it need not be true of a dragonfly",
    "the program's computation is sleeping to a clock, and ranks that wait sleep 0.3 ms between "
    "tests, so that other work on the machine delays them less",
    "the machine was shared: machine.csv tells how busy it was in each step",
    "between the runs users go on sending; the program's start and end are not in its steps",
)


def link_tables(recording: LinkRecording, name: str, *, created_by: str) -> RecordedLink:
    """Return a recording's tables with the truth about its users.

    Args:
        recording: with at least 2 runs.
        name: of the tables, for captions.
        created_by: the command that recorded it.

    Raises:
        ParameterError: there are fewer than 2 runs.
    """
    runs, settings = recording.runs, recording.settings
    if len(runs) < 2:
        raise ParameterError(
            f"a recording must have 2 or more finished runs to be tables; it has {len(runs)}",
            key="runs",
        )
    names = tuple(f"r{run.number:03d}" for run in runs)
    title = "a shared link, emulated in network namespaces"
    context = _context(recording)
    provenance = Provenance(
        "emulated", title, name, "MIT", {key: str(value) for key, value in context.items()}
    )
    time_s = np.array([run.time_s for run in runs])
    starts = np.array([run.start[0] for run in runs])
    return RecordedLink(
        name=name,
        runs=Runs(names, starts, np.array([run.end[-1] for run in runs]), time_s.sum(axis=1)),
        jobs=_job_log(recording, names),
        steps=StepTable(
            names,
            starts,
            time_s,
            runs[0].counters,
            np.array([run.values for run in runs], np.float64),
            provenance,
        ),
        users=tuple(
            LinkUser(
                each.user,
                each.crosses,
                each.sender,
                each.receiver,
                round(each.rate * settings.rate_Mbps, 6),
                each.connections,
                each.pattern,
                each.companion,
            )
            for each in recording.users
        ),
        sent_kB=np.array([run.sent for run in runs]) / 1000,
        routines=RoutineTimes(names, ROUTINES, np.array([r.routine_s for r in runs]), provenance),
        load_average=np.array([run.load for run in runs]),
        busy=np.array([run.busy for run in runs]),
        context=context,
        caveats=_CAVEATS,
        created_by=created_by,
    )


def _context(recording: LinkRecording) -> dict[str, str | int | float]:
    settings, loads = recording.settings, [load for run in recording.runs for load in run.load]
    return {
        "system": f"one machine of {cores()} cores, Linux {os.uname().release}",
        "processor": platform.machine(),
        "interconnect": f"a link of {settings.rate_Mbps:g} Mbit/s in each direction, "
        f"{recording.shaper}, with a queue of {settings.queue_kB} kB",
        "mpi": f"{recording.mpi}, over TCP ({recording.congestion_control})",
        "ranks": 2 * settings.ranks_per_side,
        "exchange_bytes": settings.exchange_bytes,
        "compute_s": settings.compute_s,
        "seed": settings.seed,
        "load average": f"{min(loads):.1f} to {max(loads):.1f}, median {np.median(loads):.1f}",
    }


def _job_log(recording: LinkRecording, names: Iterable[str]) -> JobLog:
    """Return when the users' jobs ran, of a job that spans a pause of the recording each part."""
    schedule, users = recording.schedule, recording.users
    rows: list[tuple[str, str, float, float]] = []
    open_row: dict[int, int] = {}  # row of each job that goes on after the slot before
    before: LinkRun | None = None
    for run, name in zip(recording.runs, names, strict=True):
        if before is not None and run.slot_start - before.slot_end > _PAUSE_S:
            open_row = {}
        goes_on = {}
        for job in schedule.during(run.number):
            end = run.slot_end if job.end is None else run.slot_start + job.end
            # A job that ends in its schedule after the run has ended is cut there with the slot.
            end = min(end, run.slot_end)
            start = run.slot_start + job.start
            if start >= end:
                continue
            at = open_row.get(job.number)
            if at is None:
                at = len(rows)
                user = users[job.user].user
                rows.append((f"{user}-{at}", user, start, end))
            rows[at] = (*rows[at][:3], end)
            if job.end is None:
                goes_on[job.number] = at
        open_row, before = goes_on, run
        rows.append((name, _OWN_USER, math.floor(1e3 * run.start[0]) / 1e3, run.end[-1]))
    rows.sort(key=lambda row: row[2])
    return JobLog(
        tuple(row[0] for row in rows),
        tuple(row[1] for row in rows),
        np.full(len(rows), _HOSTS_OF_A_JOB, np.int64),
        np.array([row[2] for row in rows]),
        np.array([row[3] for row in rows]),
    )
