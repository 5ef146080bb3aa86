"""Record Open MPI's collectives on this machine: every configuration, in passes, to files.

    record_open_mpi("datasets/tuning/open-mpi-4-ranks", ranks=4, rounds=5)

Each pass runs every configuration once, in an order of its own, so that a slow hour of the machine
falls on all of them alike. One start of ``mpirun`` measures all sizes of one configuration; its
times are written at once. A recording that was stopped is resumed, and a complete one is continued
by asking for more passes.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.atomic_write import replace_file
from workbench.checks import whole
from workbench.datapackage import DESCRIPTOR
from workbench.errors import ParameterError, ParseError
from workbench.programs.recording import Launcher, RecordingError, find_launcher
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
from workbench.tune.recorded.files import (
    Description,
    read_tables,
    write_recording,
)
from workbench.tune.recorded.run_table import STATISTICS, RecordedMeasurement, RecordedTable
from workbench.tune.runners.local import Local
from workbench.tune.runners.runner import RunOutput, RunRequest, run_to_end
from workbench.tune.space.space import Configuration, TuningSpace

SIZES = (4096, 16384, 65536, 262144, 1048576)
"""The default message sizes, in bytes."""

_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class RecordingProgress:
    """The progress of a recording, counted in starts of ``mpirun``."""

    started: int  # starts that are in the files
    wanted: int  # starts of the complete recording
    failed: int  # of those started, without a table

    @property
    def whole(self) -> bool:
        """Whether the recording is complete."""
        return self.started >= self.wanted


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
    on_start: Callable[[RecordingProgress, str], object] | None = None,  # before each start
    stop: threading.Event | None = None,  # ends after the current run
) -> RecordingProgress:
    """Run every configuration of Open MPI's collectives in passes, and record each run."""
    ranks, rounds = whole(ranks, "ranks", 2), whole(rounds, "rounds", 1)
    launcher = find_launcher(mpirun)
    if launcher.family != "openmpi":
        raise RecordingError(
            f"the parameters are Open MPI's; {launcher.mpirun} is {launcher.version}; name that of "
            "Open MPI with mpirun="
        )
    chosen = loop or Loop()
    for collective in collectives:
        benchmark_arguments(collective, sizes, chosen)
    found = find_benchmark(launcher, benchmark)
    work = _Recording(Path(folder), launcher, found, tuple(sizes), chosen, ranks, seed)
    work.open(collectives)
    deadline = math.inf if limit_s is None else time.monotonic() + limit_s
    left = work.left(rounds)
    try:
        for at, (number, collective, configuration) in enumerate(left):
            if time.monotonic() >= deadline or (stop is not None and stop.is_set()):
                break
            if on_start is not None:
                configuration_text = ", ".join(
                    f"{k}={v}" for k, v in configuration.items() if v is not None
                )
                wanted = work.starts + len(left) - at
                on_start(
                    RecordingProgress(work.starts, wanted, work.failed),
                    f"{collective} {configuration_text}",
                )
            work.run(number, collective, configuration)
    finally:
        work.close(created_by)
    return RecordingProgress(work.starts, work.starts + len(work.left(rounds)), work.failed)


class _Recording:
    """The files of one recording, and how a run is done."""

    def __init__(
        self,
        folder: Path,
        launcher: Launcher,
        benchmark: Benchmark,
        sizes: tuple[int, ...],
        loop: Loop,
        ranks: int,
        seed: int,
    ) -> None:
        self.folder, self.launcher, self.benchmark = folder, launcher, benchmark
        self.sizes, self.loop, self.ranks, self.seed = sizes, loop, ranks, seed
        self.runner = Local(environment=launcher.own_environment())
        self.tables: dict[str, RecordedTable] = {}
        self.runs: dict[str, list[RecordedMeasurement]] = {}
        self.context: dict[str, object] = {}

    @property
    def starts(self) -> int:
        """Number of starts in the files."""
        return sum(map(len, self.runs.values())) // len(self.sizes)

    @property
    def failed(self) -> int:
        """Number of starts that gave no table."""
        bad = sum(run.state != "completed" for runs in self.runs.values() for run in runs)
        return bad // len(self.sizes)

    def open(self, collectives: Sequence[str]) -> None:
        """Read the folder's files and create the missing ones."""
        self.folder.mkdir(parents=True, exist_ok=True)
        known: dict[str, RecordedTable] = {}
        if (self.folder / DESCRIPTOR).is_file():
            # The files of a recording that was killed are longer than the descriptor says.
            self._drop_torn_lines()
            description, tables = read_tables(self.folder, check=False)
            known = {table.component: table for table in tables}
            # The recordings that do not say what called the collectives were all made from C.
            self.context = {"benchmark": "C", **description.context}
        held = {
            "ranks": self.ranks,
            "sizes": list(self.sizes),
            "mpi": self.launcher.version,
            "benchmark": self.benchmark.caller,
            "loop": vars(self.loop),
        }
        for key, value in held.items():
            if self.context.get(key, value) != value:
                raise ParameterError(
                    f"{self.folder} holds a recording with {key} {self.context[key]}; got {value}; "
                    f"use the same {key}, or name another folder",
                    key=key,
                )
        for collective in dict.fromkeys([*known, *collectives]):
            space = _component(collective).space()
            table = known.get(collective, RecordedTable(collective, space))
            if table.space.to_dict() != space.to_dict():
                raise ParameterError(
                    f"{self.folder} holds a recording of {collective} over other values; name "
                    "another folder",
                    key="collectives",
                )
            whole = _whole(table.runs, self.sizes, space)
            self.runs[collective] = whole
            self.tables[collective] = replace(table, runs=())
        self.context |= held
        self._write("record_open_mpi")

    def left(self, rounds: int) -> list[tuple[int, str, Configuration]]:
        """Return the missing runs in order: pass, collective and configuration."""
        found: list[tuple[int, str, Configuration]] = []
        done = {
            (run.round, name, self.tables[name].space.key(run.configuration))
            for name, runs in self.runs.items()
            for run in runs
        }
        everything = [
            (name, configuration)
            for name, table in self.tables.items()
            for configuration in table.space.all()
        ]
        for number in range(rounds):
            order = np.random.default_rng((self.seed, number)).permutation(len(everything))
            for name, configuration in (everything[at] for at in order):
                if (number, name, tuple(configuration.values())) not in done:
                    found.append((number, name, configuration))
        return found

    def run(self, number: int, collective: str, configuration: Configuration) -> None:
        """Run one configuration at all sizes and append the results to the file."""
        arguments = benchmark_arguments(collective, self.sizes, self.loop)
        words = self.launcher.command((*self.benchmark.words, *arguments), self.ranks, {})
        invocation = _component(collective).invocation(configuration, words)
        busy = load()
        request = RunRequest(configuration, invocation, timeout_s=_TIMEOUT_S)
        output = run_to_end(self.runner, request)
        rows = _rows(output, number, configuration, self.sizes, busy)
        self.runs[collective] += rows
        table = self.tables[collective]
        with (self.folder / f"{collective}.csv").open("a", encoding="utf-8") as file:
            file.write("".join(map(table.line, rows)))

    def close(self, created_by: str) -> None:
        """Write the descriptor with the checksums of the files."""
        here = environment()
        loads = [run.load for runs in self.runs.values() for run in runs]
        self.context |= {
            "system": here["system"],
            "processor": here["processor"],
            "cores": here["cores"],
            "loop": vars(self.loop),
            "starts": self.starts,
            "failed starts": self.failed,
        }
        if loads:
            low, middle, high = np.nanquantile(loads, (0.0, 0.5, 1.0))
            self.context["load average"] = f"{low:.1f} to {high:.1f}, median {middle:.1f}"
        self._write(created_by)

    def _write(self, created_by: str) -> None:
        title = (
            f"Open MPI's {', '.join(self.tables)} on {self.ranks} ranks of one machine, "
            f"called from {self.benchmark.caller}"
        )
        write_recording(
            self.folder,
            Description(
                self.folder.resolve().name,
                title,
                "measured",
                created_by,
                self.context,
                _caveats(self.ranks, int(environment()["cores"]), self.benchmark.caller),
            ),
            [replace(table, runs=tuple(self.runs[name])) for name, table in self.tables.items()],
        )

    def _drop_torn_lines(self) -> None:
        for path in self.folder.glob("*.csv"):
            data = path.read_bytes()
            if not data.endswith(b"\n"):
                replace_file(path, data[: data.rfind(b"\n") + 1])


def _component(collective: str) -> Component:
    return components()[f"open-mpi-{collective}"]


def _caveats(ranks: int, cores: int, caller: str) -> tuple[str, ...]:
    found = [
        "messages go through shared memory; what is best here says nothing of a network",
        "the machine was shared: load tells how busy it was at each run",
    ]
    if ranks > cores:
        found.append(
            f"{ranks} ranks share {cores} cores and give way when they wait "
            "(mpi_yield_when_idle): the scheduler's part in each time is large"
        )
    if caller != "C":
        found.append(
            f"each call comes from {caller}, which takes time of its own: compare with no times "
            "of calls from C"
        )
    return tuple(found)


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


def _whole(
    runs: Sequence[RecordedMeasurement], sizes: Sequence[int], space: TuningSpace
) -> list[RecordedMeasurement]:
    """Return the runs of the starts that have every size; raise on an unknown size."""
    count: dict[tuple[object, ...], set[int]] = {}
    for run in runs:
        if run.size not in sizes:
            raise ParseError(f"sizes must be {', '.join(map(str, sizes))}; got {run.size}")
        count.setdefault((run.round, *space.key(run.configuration)), set()).add(run.size)
    return [
        run for run in runs if len(count[(run.round, *space.key(run.configuration))]) == len(sizes)
    ]
