"""Who else ran on the machine while a run did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole as whole_number
from workbench.errors import ParameterError
from workbench.result import StoredResult
from workbench.variability.tables.job_log import JobLog
from workbench.variability.tables.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

LEAST_NODES = 128
"""Of a neighbour's job, as in Bhatele et al. (2020), V-A, where the runs have 128 or 512 nodes."""


@dataclass(frozen=True, eq=False, repr=False)
class Neighbourhood(StoredResult):
    """Users with a large job beside some run, and what they had beside each.

    Attributes:
        run: name of each run.
        users: those with a large job beside some run, users that were beside the same runs
            together.
        present: bool[runs, users], whether large jobs ran beside the run.
        nodes: float64[runs, users], nodes of all jobs of the user, mean over the time of the run.
        least_nodes: of a large job.
        during_all: whether large jobs had to run from the start of the run to its end to be
            ``present``.
        notes: what a reader must know of the tables, each a sentence.
    """

    run: tuple[str, ...]
    users: tuple[tuple[str, ...], ...]
    present: NDArray[np.bool_] = field(metadata={"axes": 2})
    nodes: NDArray[np.float64] = field(metadata={"axes": 2})
    least_nodes: int
    during_all: bool
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row a run and a column a user, or users: whether they were beside it."""
        import pandas as pd

        columns = [", ".join(together) for together in self.users]
        return pd.DataFrame(self.present, index=pd.Index(self.run, name="run"), columns=columns)

    def __repr__(self) -> str:
        how = "all of it" if self.during_all else "some of it"
        return (
            f"Neighbourhood({len(self.run)} runs, {sum(map(len, self.users))} users with a job of "
            f"{self.least_nodes} nodes or more, present where they ran during {how})"
        )


def neighbourhood(
    runs: Runs, jobs: JobLog, *, least_nodes: int | None = None, during_all: bool = True
) -> Neighbourhood:
    """Return the users who had a large job while a run ran (Bhatele et al. 2020, V-A).

    A job with the name of a run is that run. Other jobs of its user count.

    Args:
        runs: of one program.
        jobs: of all users.
        least_nodes: nodes of a large job, at least, which a user must have beside a run; None takes
            128 as in the paper, or 1 where users with such jobs have less than half of the time of
            nodes beside the runs.
        during_all: whether such jobs of the user, one or several that follow each other without a
            gap, must have run from the start of the run to its end; otherwise any common time
            counts.

    Raises:
        ParameterError: no user has such a job beside any run.
    """
    least = LEAST_NODES if least_nodes is None else whole_number(least_nodes, "least_nodes", 1)
    at, job, share = _overlaps(runs, jobs)
    names = sorted(set(jobs.user))
    of_user = np.array([names.index(user) for user in jobs.user], np.int64)[job]
    nodes = np.zeros((len(runs), len(names)))
    np.add.at(nodes, (at, of_user), share * jobs.nodes[job])
    largest = _largest(at, of_user, jobs.nodes[job], nodes.shape)
    notes = [*runs.notes, *jobs.notes]
    if least_nodes is None and not _hold_half(largest >= least, nodes):
        least = 1
        notes.append(
            f"users with jobs of {LEAST_NODES} nodes held less than half of what ran beside the "
            "runs; jobs of all sizes count"
        )
    some = (largest >= least).any(axis=0)
    if not some.any():
        raise ParameterError(
            f"some user must have a job of {least} nodes or more beside a run; the {len(jobs)} "
            f"jobs have up to {jobs.nodes.max(initial=0)} nodes and run {_span(jobs)}, the runs "
            f"{_span(runs)}: take fewer nodes, or mend the clocks (zone, offset)",
            key="least_nodes",
        )
    if absent := int((~some).sum()):
        notes.append(f"{absent} users had no such job beside any run")
    present = largest >= least
    if during_all:
        large = jobs.nodes[job] >= least
        pairs = at[large], of_user[large], job[large]
        present = _spanned(runs, jobs, *pairs, present.shape)
    users, columns = _together(
        [names[user] for user in np.flatnonzero(some)],
        np.concatenate([present, nodes > 0])[:, some],
    )
    notes += [
        f"{', '.join(group)} always ran together and cannot be told apart"
        for group in users
        if len(group) > 1
    ]
    number = {name: user for user, name in enumerate(names)}
    held = [nodes[:, [number[name] for name in group]].sum(axis=1) for group in users]
    return Neighbourhood(
        runs.run,
        users,
        columns[: len(runs)],
        np.stack(held, axis=1),
        least,
        during_all,
        tuple(notes),
    )


def _overlaps(
    runs: Runs, jobs: JobLog
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return the run and the job of each pair that overlaps, and the share of the run's time.

    A job with the name of the run is that run.
    """
    overlap = (jobs.start < runs.end[:, None]) & (jobs.end > runs.start[:, None])
    overlap &= np.array(runs.run, object)[:, None] != np.array(jobs.job, object)
    run, job = np.nonzero(overlap)
    start, end = runs.start[run], runs.end[run]
    common = np.minimum(jobs.end[job], end) - np.maximum(jobs.start[job], start)
    return run, job, common / (end - start)


def _hold_half(large: NDArray[np.bool_], nodes: NDArray[np.float64]) -> bool:
    """Return whether users with large jobs beside some run held half of all nodes beside runs."""
    return bool(nodes[:, large.any(axis=0)].sum() >= 0.5 * nodes.sum() > 0)


def _span(table: Runs | JobLog) -> str:
    if not len(table):
        return "never"
    return f"from {table.start.min():.10g} to {table.end.max():.10g} s"


def _largest(
    run: NDArray[np.intp],
    user: NDArray[np.int64],
    nodes: NDArray[np.int64],
    shape: tuple[int, ...],
) -> NDArray[np.int64]:
    """Return the nodes of each user's largest job beside each run, int64[runs, users]."""
    found = np.zeros(shape, np.int64)
    np.maximum.at(found, (run, user), nodes)
    return found


def _spanned(
    runs: Runs,
    jobs: JobLog,
    run: NDArray[np.intp],  # of each pair that overlaps
    user: NDArray[np.int64],
    job: NDArray[np.intp],
    shape: tuple[int, ...],
) -> NDArray[np.bool_]:
    """Return whether each user's jobs together span each run, bool[runs, users]."""
    order = np.lexsort((jobs.start[job], user, run))
    run, user, job = run[order], user[order], job[order]
    group = run * shape[1] + user
    first = np.r_[True, group[1:] != group[:-1]][: len(group)]
    length = runs.end[run] - runs.start[run]
    start = np.maximum(jobs.start[job] - runs.start[run], 0.0)
    end = np.minimum(jobs.end[job] - runs.start[run], length)
    # Until when the jobs so far last: the times of each run and user are above all before it.
    above = (np.cumsum(first) - 1) * 2 * length.max(initial=0.0)
    lasted = np.maximum.accumulate(end + above) if len(group) else end
    before = np.r_[0.0, lasted[:-1]][: len(group)]
    gap = np.where(first, start > 0, start + above > before)
    broken, until = np.zeros(shape, bool), np.full(shape, -np.inf)
    broken[run[gap], user[gap]] = True
    np.maximum.at(until, (run, user), end - length)
    return np.asarray(~broken & (until >= 0))


def _together(
    names: Sequence[str], present: NDArray[np.bool_]
) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.bool_]]:
    """Return users grouped by their columns, and the columns that differ."""
    groups: dict[bytes, list[int]] = {}
    for at in range(len(names)):
        groups.setdefault(present[:, at].tobytes(), []).append(at)
    members = tuple(tuple(names[at] for at in group) for group in groups.values())
    return members, present[:, [group[0] for group in groups.values()]]
