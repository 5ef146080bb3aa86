"""Compiled kernels on disk, where several processes write them at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from numba.core import caching

ROOT = Path(__file__).resolve().parents[2]
PROCESSES, ENTRIES = 4, 25
WRITE = """
import sys
import kernels
from numba.core import caching

folder, process, entries = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for entry in range(entries):
    caching.IndexDataCacheFile(folder, "kernel", "stamp").save((process, entry), [process, entry])
"""

PLACE = """
from kernels import fabric_programs
from kernels.fabric import collectives
print(collectives.run._cache.cache_path)
"""


def test_a_folder_has_one_cache_whoever_imports_it_first(tmp_path: Path) -> None:
    """A second one is a minute of compilation, for whoever meets the kernels in that order."""
    told = subprocess.run(
        [sys.executable, "-c", PLACE],
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert Path(told.stdout.strip()).parents[1] == tmp_path


def test_processes_that_compile_at_once_keep_each_others_code(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(tmp_path), str(process), str(ENTRIES)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for process in range(PROCESSES)
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0
    cache = caching.IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    for key in ((process, entry) for process in range(PROCESSES) for entry in range(ENTRIES)):
        assert cache.load(key) == list(key)
