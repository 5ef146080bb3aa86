"""Run a program with delayed messages, and collect what its ranks report."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.checks import above_zero, number, whole
from workbench.measure.delay.build import DelayError, build_delay_library
from workbench.measure.delay.report import RankReport, quantile_ns, read_report
from workbench.mpi import Launcher, find_launcher, preload, run_command
from workbench.mpi.command import check_command
from workbench.result import StoredResult
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    import pandas as pd

_MOST_S = 3600.0  # chosen: a mistyped unit is refused; a satellite adds 0.3 s
_COLUMNS = (
    *("ranks", "latency_s", "poll_s", "exit", "wall_s", "program_s", "delayed", "already_due"),
    *("late_median_s", "late_p99_s", "late_max_s"),
)


@dataclass(frozen=True)
class DelayedRun(StoredResult):
    """A run of a program whose messages were delayed on their way; all of it is measured.

    A release is a delayed message's completion at the receiver; it is late by the time from when
    it was due until the library completed it, apart from what the program takes to notice.

    Attributes:
        command: the program and its arguments.
        ranks: number of ranks.
        latency_s: what was added to the latency of each message, s.
        poll_s: time between two looks for messages, s.
        mpi: name and version of the MPI.
        exit: exit status of the launcher, 0 where the program succeeded.
        wall_s: from the launcher's start to its end, s.
        program_s: from MPI_Init to MPI_Finalize, the longest of the ranks, s.
        delayed: number of messages that were released when their time had come.
        already_due: number of messages that were older than the added latency when their
            receives were posted, and completed at once.
        late_median_s: median of how late releases were, s; up to 3 % too large, as is the next.
        late_p99_s: 99 % of the releases were at most so late, s.
        late_max_s: the largest lateness, s.
        undelayed: calls whose messages were not delayed, with their number over all ranks.
    """

    command: tuple[str, ...]
    ranks: int
    latency_s: float
    poll_s: float
    mpi: str
    exit: int
    wall_s: float
    program_s: float
    delayed: int
    already_due: int
    late_median_s: float
    late_p99_s: float
    late_max_s: float
    undelayed: dict[str, int]

    def __repr__(self) -> str:
        late_us = [1e6 * value for value in (self.late_median_s, self.late_p99_s, self.late_max_s)]
        text = (
            f"DelayedRun({self.ranks} ranks, {1e3 * self.program_s:.4g} ms, + "
            f"{1e6 * self.latency_s:g} µs on each of {self.delayed} messages, late by "
            f"{late_us[0]:.3g} µs in the median, {late_us[1]:.3g} at 99 %, {late_us[2]:.3g} at most"
        )
        if self.undelayed:
            calls = ", ".join(f"{n} {name}" for name, n in sorted(self.undelayed.items()))
            text += f"; not delayed: {calls}"
        return text + (f"; exit status {self.exit})" if self.exit else ")")

    def to_frame(self) -> pd.DataFrame:
        """Return one row: settings, times in s and numbers of messages."""
        import pandas as pd

        row = {name: getattr(self, name) for name in _COLUMNS}
        return pd.DataFrame([row | {"undelayed": sum(self.undelayed.values())}])


def run_delayed(
    command: Sequence[str],
    ranks: int,
    latency_s: float,
    *,
    mpirun: str | Path | Launcher | None = None,
    timeout: float | None = None,
    oversubscribe: bool = True,
    output: Callable[[str], object] | None = None,
    poll_s: float = 50e-6,
    task: Task | None = None,
) -> DelayedRun:
    """Run an MPI program, each of whose messages completes ``latency_s`` later than it would.

    The library's own cost, a look every ``poll_s`` and two threads a rank, is there without a
    latency as well: measure the difference to a run with ``latency_s=0``, not to one without the
    library. A message of more than the MPI's eager limit is delayed once, when its data are here;
    on a network as slow, its handshake would be delayed too, two latencies more.

    Args:
        command: the program and its arguments, without the launcher; no shell reads them.
        ranks: number of ranks, at least 1.
        latency_s: what is added to the latency of each message, s, from 0 to 3600.
        mpirun: launcher of the MPI that the program was built with; None takes the path's
            ``mpirun``.
        timeout: time limit of the program, s; None is no limit.
        oversubscribe: whether there may be more ranks than cores.
        output: called with each line that the program writes, from a thread; None drops them.
        poll_s: seconds between two looks for messages, in each rank, from 1e-6 to 1. Long ones make
            arrivals late by half of it on average, short ones cost processor time: 16 % of a
            virtual machine's core at 50 µs, 50 % at 5 µs (Open MPI 4.1).
        task: once it is stopped, the program is ended.

    Raises:
        ParameterError: a value is out of range.
        MPIError: there is no MPI or compiler, or the program ran too long or was stopped.
        DelayError: a rank left no report: the program did not finalize MPI, or is not linked to
            this one.
    """
    check_command(command)
    whole(ranks, "ranks", 1)
    latency_s = number(latency_s, "latency_s", 0.0, _MOST_S, unit="s")
    poll_s = number(poll_s, "poll_s", 1e-6, 1.0, unit="s")
    if timeout is not None:
        above_zero(timeout, "timeout", unit="s")
    launcher = mpirun if isinstance(mpirun, Launcher) else find_launcher(mpirun)
    library = build_delay_library(launcher.compiler())
    before = os.environ.get("LD_PRELOAD")
    with tempfile.TemporaryDirectory(prefix="workbench-delay-") as folder:
        environment = {
            "LD_PRELOAD": preload(library, before),
            "WORKBENCH_DELAY_NS": str(round(1e9 * latency_s)),
            "WORKBENCH_DELAY_POLL_NS": str(round(1e9 * poll_s)),
            "WORKBENCH_DELAY_FOLDER": folder,
        }
        words = launcher.command(command, ranks, environment, oversubscribe=oversubscribe)
        start = time.monotonic()
        environment = launcher.own_environment()
        status, last = run_command(words, environment, timeout, output, task_of(task))
        wall_s = time.monotonic() - start
        paths = [Path(folder) / f"delay-{rank}.txt" for rank in range(ranks)]
        if not all(path.exists() for path in paths):
            raise DelayError(
                f"each rank of {command[0]} must report on its messages at MPI_Finalize; "
                f"{sum(path.exists() for path in paths)} of {ranks} did, and it ended with status "
                f"{status}" + (f" and wrote: {last}" if last else " and wrote nothing") + "; if it "
                "succeeded, it may be linked to another MPI, or statically; name its own launcher "
                "with mpirun="
            )
        reports = [read_report(path) for path in paths]
    return _summary(tuple(command), latency_s, poll_s, status, wall_s, reports)


def _summary(
    command: tuple[str, ...],
    latency_s: float,
    poll_s: float,
    status: int,
    wall_s: float,
    reports: Sequence[RankReport],
) -> DelayedRun:
    late: Counter[int] = Counter()
    undelayed: Counter[str] = Counter()
    for report in reports:
        late += report.late
        undelayed += report.undelayed
    latest_ns = max(report.latest_ns for report in reports)
    return DelayedRun(
        command=command,
        ranks=len(reports),
        latency_s=latency_s,
        poll_s=poll_s,
        mpi=reports[0].mpi,
        exit=status,
        wall_s=wall_s,
        program_s=max(report.program_ns for report in reports) / 1e9,
        delayed=late.total(),
        already_due=sum(report.already_due for report in reports),
        late_median_s=min(quantile_ns(late, 0.5), latest_ns) / 1e9,
        late_p99_s=min(quantile_ns(late, 0.99), latest_ns) / 1e9,
        late_max_s=latest_ns / 1e9,
        undelayed=dict(sorted(undelayed.items())),
    )
