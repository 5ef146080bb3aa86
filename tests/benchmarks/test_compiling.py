"""Processor time to compile kernels from nothing, each part in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ONE_KERNEL = "import numba; numba.njit('f8(f8)')(lambda x: 2 * x)"


def cpu_seconds(cache: Path, *words: str) -> float:
    """Return the user's and the system's processor seconds of a Python process."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(("part", "most"), [("first", None), ("all", 120)])
def test_compiling_from_nothing(table: Any, tmp_path: Path, part: str, most: float | None) -> None:
    """Beside numba's start with one line compiled; 150 s where that takes 1.25 s."""
    line_s = min(cpu_seconds(tmp_path / "line", "-c", ONE_KERNEL) for _ in range(3))
    kernels_s = cpu_seconds(tmp_path / "kernels", "-m", "workbench.warmup", part)
    table.add(
        "1",
        f"compiling kernels from nothing, `warmup {part}`",
        kernels_s,
        "CPU s",
        at_most=most,
        ratio=kernels_s / line_s,
        reference="numba's import and one line",
    )
