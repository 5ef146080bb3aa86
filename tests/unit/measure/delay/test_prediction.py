"""Run time over added latency grows as a replay of the recorded program predicts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from workbench.measure.delay import run_delayed
from workbench.models import LogGPS
from workbench.mpi import Launcher
from workbench.programs.recording import record
from workbench.simulate import replay

APPS = Path(__file__).resolve().parents[4] / "datasets" / "traces" / "apps"
# What the library runs, by the names of workbench.programs.collectives.
ALGORITHMS = {"allreduce": "recursive-doubling", "alltoall": "pairwise"}
NETWORK = LogGPS(L=1e-6, o=5e-7, g=0.0, G=1e-10, O=0.0, S=2**30)
SHORT_S, LONG_S = 20e-3, 120e-3  # either hides all computation


@pytest.mark.deep
@pytest.mark.parametrize("arguments", [("halo", "64", "20"), ("transpose", "12", "2")])
def test_latencies_on_the_critical_path(
    any_mpi: Launcher, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    name, *numbers = arguments
    command = [str(tmp_path / name), *numbers]
    words = [str(any_mpi.compiler()), "-O2", "-w", "-o", command[0], str(APPS / f"{name}.c")]
    subprocess.run([*words, "-lm"], check=True, timeout=60)
    program = record(command, 4, tmp_path / "trace", mpirun=any_mpi.mpirun, timeout=60)
    graph = program.graph(**{k: v for k, v in ALGORITHMS.items() if k in program.operations})
    predicted_s, measured_s = [], []
    for latency_s in (SHORT_S, LONG_S):
        predicted_s.append(replay(graph, NETWORK.replace(L=latency_s)).makespan_s)
        runs = [run_delayed(command, 4, latency_s, mpirun=any_mpi, timeout=60) for _ in range(3)]
        measured_s.append(min(run.program_s for run in runs))
        assert runs[0].undelayed == {}
    predicted, measured = (
        (long - short) / (LONG_S - SHORT_S) for short, long in (predicted_s, measured_s)
    )
    assert measured == pytest.approx(predicted, rel=0.05)  # a busy machine: 0.1 s of 2 to 4
