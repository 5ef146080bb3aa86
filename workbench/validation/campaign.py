"""Measuring a program on an emulated cluster while latency is added, repeat after repeat."""

from __future__ import annotations

import io
import os
import platform
import shlex
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from workbench.checks import number, whole
from workbench.datapackage import DESCRIPTOR
from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns
from workbench.measure.cluster import Cluster, ClusterError
from workbench.measure.cluster.costs import MessageCost, measure_costs
from workbench.programs.program import Program
from workbench.programs.recording import record
from workbench.tasks import Task, cores, task_of
from workbench.validation.open_mpi import forced_algorithms
from workbench.validation.recording import CostAtLatency, ProgramRecording, provenance
from workbench.validation.suite import TIMEOUT_S, ValidationProgram, program_of

LATENCIES_S = tuple(us / 1e6 for us in (0, 200, 400, 700, 1000, 1300, 1600, 2000, 2500, 3000, 4000))
"""Added latencies of the shipped recordings, over the three zones of the programs."""

_COST_REPEATS = 40  # ten beyond each quartile; 100 round trips of 8 ms would outlast most programs
_MOST_EAGER = 32768  # bytes; Open MPI's limit for TCP is 64 KiB, header and all
_LARGER = 8  # how many times larger the second size is, from which the gap per byte follows
_Traces = dict[float, list[tuple[float, bytes]]]  # by added latency, s: a run's time, s, its trace
_SLOW_SWITCH_S = 1e-3  # a packet that leaves so late marks its run


@dataclass(frozen=True)
class _Row:
    """One run of the program, with the costs of messages before it."""

    added_s: float
    repeat: int
    time_s: float
    load: float
    flagged: bool
    costs: tuple[MessageCost, ...]
    trace: bytes  # a zip file


def measure_program(
    program: str | ValidationProgram,
    folder: str | Path,
    *,
    ranks: int = 4,
    latencies_s: Sequence[float] = LATENCIES_S,
    repeats: int = 5,
    traced_s: Sequence[float] = (0.0,),
    mpirun: str | Path | None = None,
    task: Task | None = None,
) -> ProgramRecording:
    """Measure a program on an emulated cluster under added latency; goes on where it was.

    Repeats are interleaved: each goes through all latencies, in an order of its own. Before each
    run the cost of messages is measured on the same hosts.

    Args:
        program: one of ``SUITE``, by its name, or another.
        folder: of the recording, saved after each run.
        ranks: hosts, each with one rank; at least 2.
        latencies_s: to be added, one way, s; the first must be 0.
        repeats: runs at each latency. Most shipped recordings have 5.
        traced_s: latencies at which a trace is kept, that of the run nearest to their median; 0
            must be among them, and each among ``latencies_s``.
        mpirun: launcher of Open MPI; None takes the path's ``mpirun``.
        task: gets the progress after each run; once it is stopped, the measurement ends after the
            run under way, and finished runs stay.

    Raises:
        ParameterError: a value is out of range, or the folder holds another program's recording.
        NamespaceError: the system allows no network namespaces.
        ClusterError: a part of the cluster failed, or the measurement was stopped before the
            first run had ended.
        MPIError: there is no MPI, or a program failed.
    """
    chosen = program if isinstance(program, ValidationProgram) else program_of(program)
    whole(ranks, "ranks", 2, 64)
    whole(repeats, "repeats", 1, 1000)
    wanted = _checked(latencies_s, traced_s)
    before = _before(Path(folder), chosen, ranks)
    done = set() if before is None else _done(before)
    missing = [
        (added, repeat)
        for repeat in range(repeats)
        for added in _order(wanted, repeat)
        if (added, repeat) not in done
    ]
    task, total = task_of(task), repeats * len(wanted)
    recording = before
    settings = forced_algorithms(chosen.algorithms)
    with Cluster(ranks, mpirun=mpirun, mca=settings) as cluster:
        bench = _Bench(chosen, ranks, cluster)
        traces = _traces_of(before, traced_s)
        for finished, (added, repeat) in enumerate(missing, 1 + total - len(missing)):
            if task.stopping:
                break
            row = bench.measured(added, repeat)
            if added in traces:
                traces[added].append((row.time_s, row.trace))
            recording = _extended(recording, chosen, ranks, row, traces, cluster)
            recording.save(folder)
            task.report(finished, total, f"{finished} of {total} runs")
    if recording is None:
        raise ClusterError("stopped before the first run had ended; nothing was saved")
    return recording


class _Bench:
    """A program on a cluster, ready to be run."""

    def __init__(self, program: ValidationProgram, ranks: int, cluster: Cluster) -> None:
        self._program, self._ranks, self._cluster = program, ranks, cluster
        self._words = [str(program.build(cluster.launcher)), *program.arguments]

    def measured(self, added_s: float, repeat: int) -> _Row:
        """Return a run at a latency, after what messages cost."""
        self._cluster.set_latency(added_s)
        small = self._program.message_bytes
        # Larger ones would be sent by a rendezvous, whose handshake is delayed as well.
        sizes = (small, max(min(_LARGER * small, _MOST_EAGER), small + 1))
        costs = measure_costs(self._cluster, sizes, repeats=_COST_REPEATS)
        load = os.getloadavg()[0]
        self._cluster.report()
        with self._run() as (folder, program):
            span_s, trace = _span_s(program), _zipped(folder)
        switch = self._cluster.report()
        late = switch.lateness_max_s > _SLOW_SWITCH_S or switch.dropped > 0
        return _Row(added_s, repeat, span_s, load, late, costs, trace)

    def _run(self) -> _Run:
        return _Run(self._words, self._ranks, self._cluster, self._program.slowdown)


class _Run:
    """A recorded run, a context manager: the folder of its traces lives within."""

    def __init__(self, words: Sequence[str], ranks: int, cluster: Cluster, slowdown: float) -> None:
        self._words, self._ranks, self._cluster, self._slowdown = words, ranks, cluster, slowdown
        self._scratch = tempfile.TemporaryDirectory(prefix="workbench-validation-")

    def __enter__(self) -> tuple[Path, Program]:
        folder = Path(self._scratch.name) / "trace"
        program = record(
            self._words,
            self._ranks,
            folder,
            mpirun=self._cluster.launcher,
            timeout=TIMEOUT_S,
            slowdown=self._slowdown,
        )
        return folder, program

    def __exit__(self, *error: object) -> None:
        self._scratch.cleanup()


def _checked(latencies_s: Sequence[float], traced_s: Sequence[float]) -> tuple[float, ...]:
    wanted = tuple(number(one, "latencies_s", 0, 10) for one in latencies_s)
    if len(wanted) < 2 or wanted[0] != 0 or len(set(wanted)) != len(wanted):
        raise ParameterError(
            f"latencies_s must be different latencies, the first one 0; got {list(latencies_s)}",
            key="latencies_s",
        )
    if 0 not in traced_s or not set(traced_s) <= set(wanted):
        raise ParameterError(
            "traced_s must hold 0, the trace that predictions start from, and latencies of "
            f"latencies_s; got {list(traced_s)}",
            key="traced_s",
        )
    return wanted


def _before(folder: Path, program: ValidationProgram, ranks: int) -> ProgramRecording | None:
    if not (folder / DESCRIPTOR).exists():
        return None
    found = ProgramRecording.load(folder)
    if (found.name, found.ranks) != (program.name, ranks):
        raise ParameterError(
            f"the folder must be empty or hold a recording of {program.name} on {ranks} ranks; it "
            f"holds {found.name} on {found.ranks}; name another",
            key="folder",
        )
    return found


def _done(recording: ProgramRecording) -> set[tuple[float, int]]:
    runs = recording.runs
    return set(zip(runs.added_s.tolist(), runs.repeat.tolist(), strict=True))


def _order(latencies_s: Sequence[float], repeat: int) -> Iterator[float]:
    """Yield the latencies in an order that is the repeat's own, the same every time.

    The first repeat begins with no latency, from which predictions start: it may be stopped.
    """
    order = np.random.default_rng(repeat).permutation(len(latencies_s)).tolist()
    if repeat == 0:
        order.sort(key=lambda at: at != 0)
    for at in order:
        yield latencies_s[at]


def _traces_of(before: ProgramRecording | None, traced_s: Sequence[float]) -> _Traces:
    """Return the times and traces that a recording has, and room for the runs to come."""
    found: _Traces = {added: [] for added in traced_s}
    if before is not None:
        for added, data in before.traces.items():
            span_s = _span_s(before.program(added))
            found.setdefault(added, []).append((span_s, data))
    return found


def _span_s(program: Program) -> float:
    if program.recorded is None:
        raise ParameterError("the trace must hold times")
    return program.recorded.span_s


def _typical(traces: _Traces, runs: MeasuredRuns) -> dict[float, bytes]:
    """Return at each latency the trace of the run nearest to the median.

    An older recording may have a trace at a latency that no run had.
    """
    points = runs.points()
    medians = dict(zip(points.added_s.tolist(), points.spread.median.tolist(), strict=True))
    return {
        added: min(found, key=lambda one: abs(one[0] - medians.get(added, one[0])))[1]
        for added, found in traces.items()
        if found
    }


def _extended(
    before: ProgramRecording | None,
    program: ValidationProgram,
    ranks: int,
    row: _Row,
    traces: _Traces,
    cluster: Cluster,
) -> ProgramRecording:
    """Return a recording with one run more."""
    command = _command(program, ranks)
    runs = MeasuredRuns.of(
        [row.added_s],
        [row.time_s],
        provenance=provenance(f"{program.title}, {ranks} ranks", "emulated", command),
        program=program.name,
        ranks=ranks,
        repeat=[row.repeat],
        load_average=[row.load],
        flagged=[row.flagged],
    )
    costs = tuple(CostAtLatency(row.added_s, row.repeat, cost) for cost in row.costs)
    if before is None:
        return ProgramRecording(
            program.name,
            program.title,
            program.algorithms,
            runs,
            costs,
            _typical(traces, runs),
            _context(program, cluster),
        )
    joined = MeasuredRuns.of(
        np.concatenate([before.runs.added_s, runs.added_s]),
        np.concatenate([before.runs.time_s, runs.time_s]),
        provenance=runs.provenance,
        program=program.name,
        ranks=ranks,
        repeat=np.concatenate([before.runs.repeat, runs.repeat]),
        load_average=np.concatenate([before.runs.load_average, runs.load_average]),
        flagged=np.concatenate([before.runs.flagged, runs.flagged]),
    )
    return replace(before, runs=joined, costs=before.costs + costs, traces=_typical(traces, joined))


def _command(program: ValidationProgram, ranks: int) -> str:
    """Return the command that measures a program again."""
    words = ["workbench", "validate", "measure", program.name, "--ranks", str(ranks)]
    if program.path:
        words += ["--program", Path(program.path).name, "--slowdown", f"{program.slowdown:g}"]
        words += ["--message-bytes", str(program.message_bytes)]
        for collective, algorithm in program.algorithms.items():
            words += ["--algorithm", f"{collective}={algorithm}"]
        words += [f"--arguments={shlex.join(program.arguments)}"]
    return shlex.join(words)


def _context(program: ValidationProgram, cluster: Cluster) -> dict[str, Any]:
    return {
        "system": f"one machine of {cores()} cores, Linux {os.uname().release}",
        "processor": platform.machine(),
        "interconnect": "TAP devices of network namespaces, joined by a switch in user space",
        "mpi": f"{cluster.launcher.version}, over TCP, ranks sleep while they wait",
        "priority": "real-time" if cluster.realtime else "usual",
        "arguments": list(program.arguments),
        "computation": (
            f"by processors made {program.slowdown:g} times slower"
            if program.path
            else "sleep to a clock"
        ),
        "begun": datetime.now(UTC).date().isoformat(),
    }


def _zipped(folder: Path) -> bytes:
    """Return the traces of a folder as a zip file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.glob("trace-*.txt")):
            archive.writestr(zipfile.ZipInfo(path.name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()
