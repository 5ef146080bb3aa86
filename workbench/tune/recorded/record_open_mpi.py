"""Record Open MPI's collectives on this machine: every configuration, in passes, to files.

    record_open_mpi("datasets/tuning/open-mpi-4-ranks", ranks=4, rounds=5)

One start of ``mpirun`` measures all sizes of one configuration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from workbench.checks import whole
from workbench.mpi import Launcher, MPIError, find_launcher
from workbench.tasks import Task, task_of
from workbench.tune.benchmark import (
    COLLECTIVES,
    BenchmarkRow,
    Loop,
    benchmark_arguments,
    parse_benchmark,
)
from workbench.tune.benchmark.forms import Benchmark, Form, find_benchmark
from workbench.tune.component.component import Component, components
from workbench.tune.environment import environment, load
from workbench.tune.recorded.passes import RecordingProgress, checked_rounds, record_in_passes
from workbench.tune.recorded.run_table import STATISTICS, RecordedMeasurement, RecordedTable
from workbench.tune.runners.local import Local
from workbench.tune.runners.runner import RunOutput, RunRequest, run_to_end
from workbench.tune.space.constraints import Configuration

SIZES = (4096, 16384, 65536, 262144, 1048576)
"""The default message sizes, in bytes."""

_TIMEOUT_S = 120.0  # no shipped run took more than 0.7 s: this ends those that hang


def record_open_mpi(
    folder: str | Path,
    *,
    ranks: int = 4,  # of each run, at least 2
    rounds: int = 5,  # passes in total, those in the folder included
    collectives: Sequence[str] = COLLECTIVES,
    sizes: Sequence[int] = SIZES,  # bytes, in a constant ratio
    loop: Loop | None = None,  # None: the default one
    limit_s: float | None = None,  # no run is started later; None: no limit
    seed: int = 0,  # of the order of the runs
    mpirun: str | Path | None = None,  # None: that of the path
    benchmark: Form | None = None,  # None: C where it compiles
    created_by: str = "record_open_mpi",  # the command, for the descriptor
    task: Task | None = None,  # gets the number of starts before each; ends after the current run
) -> RecordingProgress:
    """Run every configuration of Open MPI's collectives in passes, and record each run."""
    ranks, rounds = whole(ranks, "ranks", 2), checked_rounds(rounds)
    launcher = find_launcher(mpirun)
    if launcher.family != "openmpi":
        raise MPIError(
            f"the parameters are Open MPI's; {launcher.mpirun} is {launcher.version}; name that of "
            "Open MPI with mpirun="
        )
    chosen = loop or Loop()
    for collective in collectives:
        benchmark_arguments(collective, sizes, chosen)
    found = find_benchmark(launcher, benchmark)
    return record_in_passes(
        folder,
        _Collectives(launcher, found, tuple(sizes), chosen, ranks),
        collectives,
        task_of(task),
        rounds=rounds,
        seed=seed,
        created_by=created_by,
        limit_s=limit_s,
    )


class _Collectives:
    """Open MPI's collectives, measured by one benchmark at all sizes in one start."""

    unsaid: Mapping[str, object] = MappingProxyType({"benchmark": "C"})

    def __init__(
        self,
        launcher: Launcher,
        benchmark: Benchmark,
        sizes: tuple[int, ...],
        loop: Loop,
        ranks: int,
    ) -> None:
        self.launcher, self.benchmark = launcher, benchmark
        self.sizes: Sequence[int] = sizes
        self.loop, self.ranks = loop, ranks
        self.runner = Local(environment=launcher.own_environment())
        self.held: Mapping[str, object] = {
            "ranks": ranks,
            "sizes": list(sizes),
            "mpi": launcher.version,
            "benchmark": benchmark.caller,
            "loop": vars(loop),
        }

    def table(self, name: str) -> RecordedTable:
        return RecordedTable(name, _component(name).space())

    def run(
        self, number: int, name: str, configuration: Configuration
    ) -> list[RecordedMeasurement]:
        arguments = benchmark_arguments(name, self.sizes, self.loop)
        words = self.launcher.command((*self.benchmark.words, *arguments), self.ranks, {})
        invocation = _component(name).invocation(configuration, words)
        busy = load()
        request = RunRequest(configuration, invocation, timeout_s=_TIMEOUT_S)
        output = run_to_end(self.runner, request)
        return _rows(output, number, configuration, self.sizes, busy)

    def title(self, names: Sequence[str]) -> str:
        return (
            f"Open MPI's {', '.join(names)} on {self.ranks} ranks of one machine, "
            f"called from {self.benchmark.caller}"
        )

    def caveats(self) -> tuple[str, ...]:
        cores, caller = int(environment()["cores"]), self.benchmark.caller
        found = [
            "messages go through shared memory; what is best here says nothing of a network",
            "the machine was shared: load tells how busy it was at each run",
        ]
        if self.ranks > cores:
            found.append(
                f"{self.ranks} ranks share {cores} cores and give way when they wait "
                "(mpi_yield_when_idle): the scheduler's part in each time is large"
            )
        if caller != "C":
            found.append(
                f"each call comes from {caller}, which takes time of its own: compare with no "
                "times of calls from C"
            )
        return tuple(found)


def _component(collective: str) -> Component:
    return components()[f"open-mpi-{collective}"]


def _rows(
    output: RunOutput,
    number: int,
    configuration: Configuration,
    sizes: Sequence[int],
    busy: float | None,
) -> list[RecordedMeasurement]:
    """Return one run per size, all of them failed if the table is incomplete."""
    table = {row.size: row for row in parse_benchmark(output.stdout)}
    load_now = math.nan if busy is None else busy
    good = output.state == "completed" and all(size in table for size in sizes)
    state = "completed" if good else "failed" if output.state == "completed" else output.state
    start_s = max(output.seconds - sum(row.seconds for row in table.values()), 0.0)
    return [
        RecordedMeasurement(
            number,
            configuration,
            size,
            start_s + table[size].seconds if good else math.nan,
            _latencies(table[size]) if good else {},
            output.started[:19],
            load_now,
            state,
        )
        for size in sizes
    ]


def _latencies(row: BenchmarkRow) -> dict[str, float]:
    return dict(zip(STATISTICS, row.latencies_us, strict=True))
