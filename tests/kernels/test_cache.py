"""Compiled kernels on disk, where several processes write them at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core import caching

from kernels import helper

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


@pytest.mark.jit_only
def test_a_helper_is_compiled_for_its_types_when_it_is_first_called() -> None:
    @helper("i8(i8)", nogil=True)
    def twice(number: int) -> int:
        return 2 * number

    @njit
    def eight_times(number: int) -> int:
        return twice(twice(twice(number)))

    assert len(twice.overloads) == 0
    assert eight_times(3) == 24
    assert len(twice.overloads) == 1
    assert twice(True) == 2
    with pytest.raises(TypeError, match="No matching definition"):
        twice("3")
    assert len(twice.overloads) == 1


@pytest.mark.jit_only
def test_python_may_call_a_helper_first() -> None:
    @helper("i8(i8)", nogil=True)
    def twice(number: int) -> int:
        return 2 * number

    assert twice(np.int32(3)) == 6
    assert len(twice.overloads) == 1


@pytest.mark.jit_only
def test_a_kernel_from_the_cache_loads_none_of_its_helpers() -> None:
    import kernels.two_node  # noqa: F401 - in the cache from here on

    loaded = "import kernels.two_node.queues as q; print(len(q.put.overloads))"
    words = [sys.executable, "-c", f"import kernels.two_node; {loaded}"]
    assert subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout == b"0\n"
