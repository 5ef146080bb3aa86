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

# Where numba would cache what it compiles while the innermost of three folders is imported.
PLACE = """
import importlib
import sys
from numba import config

class Look:
    def find_spec(self, name, path, target=None):
        if name == "kernels.fabric.collectives":
            print(config.CACHE_DIR)

sys.meta_path.insert(0, Look())
importlib.import_module(sys.argv[1])
"""


def test_a_folder_has_one_cache_whichever_process_imports_first(tmp_path: Path) -> None:
    """A second one is a minute of compilation, for whoever meets the kernels in that order."""
    places = {
        subprocess.run(
            [sys.executable, "-c", PLACE, first],
            cwd=ROOT,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "1"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.strip()
        for first in ("kernels.fabric", "kernels.fabric_programs")
    }
    assert [Path(place).parent for place in places] == [tmp_path]


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
