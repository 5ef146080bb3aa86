"""Two ways to add latency, held against each other: a switch between hosts, and a library.

    compare_injectors("cg", ranks=4).to_frame()

The same program runs on the same emulated hosts. Once the switch holds each packet; once it adds
nothing, and a library in the program lets each message complete later (`workbench.measure.delay`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import number, whole
from workbench.errors import ParameterError
from workbench.measure.cluster import Cluster
from workbench.measure.delay import run_delayed
from workbench.programs.recording import record
from workbench.result import StoredResult
from workbench.tasks import Task, task_of
from workbench.validation.open_mpi import forced_algorithms
from workbench.validation.suite import TIMEOUT_S, ValidationProgram, program_of

if TYPE_CHECKING:
    import pandas as pd


LATENCIES_S = (0.0, 1e-3, 2e-3, 4e-3)  # up to the highest of a campaign, each twice the last


@dataclass(frozen=True, eq=False, repr=False)
class InjectorComparison(StoredResult):
    """Run times of a program with latency added by a switch and by a library; both emulated.

    Attributes:
        program: its name.
        ranks: number of hosts, each with one rank.
        added_s: float64[latencies], one way, s.
        switch_s: float64[latencies], median run time with the switch, s.
        library_s: float64[latencies], median run time with the library, s.
        repeats: of each.
    """

    program: str
    ranks: int
    added_s: FloatArray
    switch_s: FloatArray
    library_s: FloatArray
    repeats: int

    def _check(self) -> None:
        self._check_lengths(dict.fromkeys(("added_s", "switch_s", "library_s"), len(self.added_s)))

    @property
    def growth_ratio(self) -> float:
        """Growth of the run time over all latencies, with the library over with the switch."""
        switch, library = np.ptp(self.switch_s), np.ptp(self.library_s)
        return float(library / switch)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each latency, with how much longer than without any."""
        import pandas as pd

        return pd.DataFrame(
            {
                "added (µs)": 1e6 * self.added_s,
                "switch (ms)": 1e3 * self.switch_s,
                "library (ms)": 1e3 * self.library_s,
                "switch, longer (ms)": 1e3 * (self.switch_s - self.switch_s[0]),
                "library, longer (ms)": 1e3 * (self.library_s - self.library_s[0]),
            }
        )

    def __repr__(self) -> str:
        return (
            f"InjectorComparison({self.program} on {self.ranks} emulated hosts, "
            f"{len(self.added_s)} latencies: with the library the time grows "
            f"{self.growth_ratio:.3f} times as much as with the switch)"
        )


def compare_injectors(
    program: str | ValidationProgram,
    *,
    ranks: int = 4,
    latencies_s: Sequence[float] = LATENCIES_S,
    repeats: int = 3,
    mpirun: str | Path | None = None,
    task: Task | None = None,
) -> InjectorComparison:
    """Run a program with latency added by a switch and by a library, in turn, and compare.

    Args:
        program: one of ``SUITE``, by its name, or another.
        ranks: hosts, each with one rank; at least 2.
        latencies_s: to be added, one way, s; the first must be 0.
        repeats: runs of each latency and way, of which the median counts.
        mpirun: launcher of Open MPI; None takes the path's ``mpirun``.
        task: gets the progress after each pair of runs; once it is stopped, the comparison ends.

    Raises:
        ParameterError: a value is out of range.
        NamespaceError: the system allows no network namespaces.
        ClusterError: a part of the cluster failed.
        MPIError: there is no MPI, a program failed, or the comparison was stopped.
    """
    chosen = program if isinstance(program, ValidationProgram) else program_of(program)
    whole(ranks, "ranks", 2, 64)
    whole(repeats, "repeats", 1, 1000)
    added = [number(one, "latencies_s", 0, 10) for one in latencies_s]
    if len(added) < 2 or added[0] != 0:
        raise ParameterError(
            f"latencies_s must be at least two, the first one 0; got {list(latencies_s)}",
            key="latencies_s",
        )
    task = task_of(task)
    times = np.zeros((2, repeats, len(added)))
    with Cluster(ranks, mpirun=mpirun, mca=forced_algorithms(chosen.algorithms)) as cluster:
        words = [str(chosen.build(cluster.launcher)), *chosen.arguments]
        for repeat in range(repeats):
            for at, latency in enumerate(added):
                times[0, repeat, at] = _by_switch(cluster, words, ranks, latency, task)
                times[1, repeat, at] = _by_library(cluster, words, ranks, latency, task)
                done = 2 * (repeat * len(added) + at + 1)
                task.report(done, times.size, f"{done} of {times.size} runs")
    switch, library = np.median(times, axis=1)
    return InjectorComparison(chosen.name, ranks, np.array(added), switch, library, repeats)


def _by_switch(
    cluster: Cluster, words: list[str], ranks: int, latency_s: float, task: Task
) -> float:
    cluster.set_latency(latency_s)
    with tempfile.TemporaryDirectory(prefix="workbench-validation-") as folder:
        program = record(
            words,
            ranks,
            Path(folder) / "trace",
            mpirun=cluster.launcher,
            timeout=TIMEOUT_S,
            task=task,
        )
    if program.recorded is None:
        raise ParameterError("the trace must hold times")
    return program.recorded.span_s


def _by_library(
    cluster: Cluster, words: list[str], ranks: int, latency_s: float, task: Task
) -> float:
    cluster.set_latency(0.0)
    return run_delayed(
        words, ranks, latency_s, mpirun=cluster.launcher, timeout=TIMEOUT_S, task=task
    ).program_s
