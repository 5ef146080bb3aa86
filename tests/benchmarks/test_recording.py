"""The cost of a recorded call: processor time beside the same call without the recorder."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.conftest import Table
from workbench.mpi import find_launcher, run_command
from workbench.programs.recording import record
from workbench.tasks import Task

RUNS = 3


@pytest.mark.parametrize("mpirun", ["mpirun.openmpi", "mpirun.mpich"])
def test_a_recorded_call(mpirun: str, tmp_path: Path, table: Table) -> None:
    launcher = find_launcher(mpirun)
    program = str(tmp_path / "calls")
    source = Path(__file__).with_name("recorded_calls.c")
    subprocess.run([launcher.compiler(), "-std=c99", "-O2", "-o", program, source], check=True)
    plain: list[str] = []
    recorded: list[str] = []
    for run in range(RUNS):
        words = launcher.command([program], 1, {})
        run_command(words, launcher.own_environment(), 60, plain.append, Task())
        folder = tmp_path / str(run)
        record([program], 1, folder, mpirun=launcher, timeout=60, output=recorded.append)
    cost_ns = min(map(float, recorded)) - min(map(float, plain))
    # As much as the shortest messages of a fast network take; 0.4 µs where it was written.
    table.add("11", f"recording a call, {mpirun}", cost_ns, "ns", at_most=1000)
