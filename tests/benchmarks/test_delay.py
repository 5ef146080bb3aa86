"""How exactly messages are delayed: printed, not judged.

Latencies take turns, so that a busy minute of the machine falls on all.
"""

from __future__ import annotations

import statistics
import subprocess
from pathlib import Path

import numpy as np
import pytest

from workbench.measure.delay import run_delayed
from workbench.mpi import find_launcher

SOURCE = Path(__file__).parents[1] / "unit" / "measure" / "delay" / "timing.c"
ADDED = np.array([0, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 1.5e-3, 2e-3])
TURNS = 5


@pytest.mark.parametrize("mpirun", ["mpirun.openmpi", "mpirun.mpich"])
def test_a_ping_pong_under_latency(mpirun: str, tmp_path: Path) -> None:
    launcher = find_launcher(mpirun)
    program = str(tmp_path / "timing")
    words = [str(launcher.compiler()), "-std=c99", "-O1", "-w", "-o", program, str(SOURCE)]
    subprocess.run(words, check=True, timeout=60)
    times_s: dict[float, list[float]] = {added: [] for added in ADDED}
    late_us = []
    for _ in range(TURNS):
        for added, found in times_s.items():
            said: list[str] = []
            command = [program, "ping-pong", "40", "8"]
            run = run_delayed(
                command, 2, added, mpirun=launcher, timeout=60, output=said.append, poll_s=20e-6
            )
            found += [float(line) / 1e6 for line in said]
            late_us.append(1e6 * run.late_median_s)
    print(
        f"\n{mpirun}: releases late by {statistics.median(late_us):.2f} µs, the median of medians"
    )
    for name, of in (("minimum", min), ("median", statistics.median)):
        values = np.array([of(found) for found in times_s.values()])
        slope, base = np.polyfit(ADDED, values, 1)
        residual_us = 1e6 * np.abs(values - base - slope * ADDED).max()
        print(
            f"{name} of one way over added latency: slope {slope:.4f}, {1e6 * base:.1f} µs at 0, "
            f"at most {residual_us:.1f} µs off the line"
        )
