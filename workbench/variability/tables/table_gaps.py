"""What is missing between tables that belong together: runs, jobs and steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from workbench.variability.tables.job_log import JobLog
from workbench.variability.tables.runs import Runs
from workbench.variability.tables.steps import StepTable
from workbench.variability.tables.table_file import listed

_LEAST_SHARE = 0.5  # of a run's time that its steps take
_MOST_SHARE = 1.05  # chosen: clocks and rounded times of a right table differ by less


def table_gaps(
    runs: Runs, jobs: JobLog | None = None, steps: StepTable | None = None
) -> tuple[str, ...]:
    """Return what is missing between the tables, each a sentence; none where nothing is.

    Runs are named that lie outside the job log, or have no other job beside them, which a shared
    machine hardly has; runs without steps and steps without their run; and runs whose steps take
    less than half of the run's time or more than all of it.

    Args:
        runs: the runs.
        jobs: of all users.
        steps: of the runs.
    """
    found: list[str] = []
    if jobs is not None:
        found += _beside(runs, jobs)
    if steps is not None:
        found += _within(runs, steps)
    return tuple(found)


def _beside(runs: Runs, jobs: JobLog) -> Iterator[str]:
    own = np.array(runs.run, object)[:, None] == np.array(jobs.job, object)
    overlaps = (jobs.start < runs.end[:, None]) & (jobs.end > runs.start[:, None])
    ended = np.where(np.isfinite(jobs.end), jobs.end, jobs.start)
    if not len(jobs):
        yield "the job log has no job"
        return
    outside = (runs.end < jobs.start.min()) | (runs.start > ended.max())
    outside &= ~overlaps.any(axis=1)
    alone = ~(overlaps & ~own).any(axis=1) & ~outside
    unlogged = ~own.any(axis=1)
    yield from _named(runs, outside, "lie before or after all of the job log")
    yield from _named(runs, alone, "have no other job beside them in the job log")
    if not unlogged.all():
        yield from _named(runs, unlogged, "are no jobs of the log, although other runs are")


def _within(runs: Runs, steps: StepTable) -> Iterator[str]:
    with_steps, names = {*steps.run}, {*runs.run}
    yield from _named(runs, np.array([run not in with_steps for run in runs.run]), "have no steps")
    if lost := [run for run in steps.run if run not in names]:
        yield f"{len(lost)} runs with steps are not among the runs: {listed(lost)}"
    total = dict(zip(steps.run, np.nansum(steps.time_s, axis=1).tolist(), strict=True))
    share = np.array([total.get(run, np.nan) for run in runs.run]) / runs.time_s
    yield from _named(runs, share < _LEAST_SHARE, "have steps that take less than half their time")
    yield from _named(runs, share > _MOST_SHARE, "have steps that take longer than they do")


def _named(runs: Runs, which: NDArray[np.bool_], words: str) -> Iterator[str]:
    if which.any():
        names = [runs.run[at] for at in np.flatnonzero(which)]
        yield f"{len(names)} of {len(runs)} runs {words}: {listed(names)}"
