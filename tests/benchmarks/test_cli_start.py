"""How long the shell waits for ``workbench --help``."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 0.5


@pytest.mark.parametrize("words", ["--help", "osu --help", "fit --help", "--version"])
def test_the_command_answers(words: str) -> None:
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "workbench", *words.split()],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        times.append(time.perf_counter() - began)
    print(f"\nworkbench {words}: median {statistics.median(times):.2f} s, least {min(times):.2f} s")
    # Whatever else runs on the machine only ever adds to the time: the least is the command's own.
    assert min(times) <= LIMIT_S
