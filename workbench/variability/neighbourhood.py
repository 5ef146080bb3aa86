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
from workbench.variability.job_log import JobLog
from workbench.variability.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

LEAST_NODES = 128
"""Of a neighbour's job, as in Bhatele et al. (2020), V-A, where the runs have 128 or 512 nodes."""


@dataclass(frozen=True, eq=False, repr=False)
class Neighbourhood(StoredResult):
    """Users with a large job beside each run.

    Attributes:
        run: name of each run.
        users: those that were beside some run, users that were beside the same runs together.
        present: bool[runs, users].
        least_nodes: of a job that counts.
        during_all: whether a job had to run from the start of the run to its end.
        notes: what a reader must know of the tables, each a sentence.
    """

    run: tuple[str, ...]
    users: tuple[tuple[str, ...], ...]
    present: NDArray[np.bool_] = field(metadata={"axes": 2})
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
            f"{self.least_nodes} nodes or more during {how})"
        )


def neighbourhood(
    runs: Runs, jobs: JobLog, *, least_nodes: int | None = None, during_all: bool = True
) -> Neighbourhood:
    """Return the users who had a large job while each run ran (Bhatele et al. 2020, V-A).

    A job with the name of a run is that run. Other jobs of its user count.

    Args:
        runs: of one program.
        jobs: of all users.
        least_nodes: of a job that counts; None takes 128 as in the paper, or counts all jobs where
            fewer than two users have such a job beside a run.
        during_all: whether the job must have run from the start of the run to its end; otherwise
            any common time counts.

    Raises:
        ParameterError: no user has such a job beside any run.
    """
    least = LEAST_NODES if least_nodes is None else whole_number(least_nodes, "least_nodes", 1)
    if during_all:
        beside = (jobs.start <= runs.start[:, None]) & (jobs.end >= runs.end[:, None])
    else:
        beside = (jobs.start < runs.end[:, None]) & (jobs.end > runs.start[:, None])
    beside &= np.array(runs.run, object)[:, None] != np.array(jobs.job, object)
    names = sorted(set(jobs.user))
    of_user = np.array([names.index(user) for user in jobs.user], np.int64)
    notes = [*runs.notes, *jobs.notes]
    largest = _largest(beside, jobs.nodes, of_user, len(names))
    if least_nodes is None and (largest >= least).any(axis=0).sum() < 2:
        least = 1
        notes.append(
            f"fewer than two users had a job of {LEAST_NODES} nodes beside a run; jobs of all "
            "sizes count"
        )
    present = largest >= least
    some = present.any(axis=0)
    if not some.any():
        how = "during all of a run" if during_all else "during a part of a run"
        raise ParameterError(
            f"some user must have a job of {least} nodes or more {how}; the {len(jobs)} jobs have "
            f"up to {jobs.nodes.max(initial=0)} nodes and run {_span(jobs)}, the runs "
            f"{_span(runs)}: take fewer nodes, count jobs beside a part of a run, or mend the "
            "clocks (zone, offset)",
            key="least_nodes",
        )
    if absent := int((~some).sum()):
        notes.append(f"{absent} users had no such job beside any run")
    users, columns = _together([names[at] for at in np.flatnonzero(some)], present[:, some])
    notes += [
        f"{', '.join(group)} always ran together and cannot be told apart"
        for group in users
        if len(group) > 1
    ]
    return Neighbourhood(runs.run, users, columns, least, during_all, tuple(notes))


def _span(table: Runs | JobLog) -> str:
    if not len(table):
        return "never"
    return f"from {table.start.min():.10g} to {table.end.max():.10g} s"


def _largest(
    beside: NDArray[np.bool_], nodes: NDArray[np.int64], of_user: NDArray[np.int64], users: int
) -> NDArray[np.int64]:
    """Return the nodes of each user's largest job beside each run, int64[runs, users]."""
    found = np.zeros((len(beside), users), np.int64)
    run, job = np.nonzero(beside)
    np.maximum.at(found, (run, of_user[job]), nodes[job])
    return found


def _together(
    names: Sequence[str], present: NDArray[np.bool_]
) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.bool_]]:
    """Return users grouped by their columns, and the columns that differ."""
    groups: dict[bytes, list[int]] = {}
    for at in range(len(names)):
        groups.setdefault(present[:, at].tobytes(), []).append(at)
    members = tuple(tuple(names[at] for at in group) for group in groups.values())
    return members, present[:, [group[0] for group in groups.values()]]
