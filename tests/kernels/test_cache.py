"""Compiled kernels on disk, where several processes write them at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


# Compiles a kernel, or takes it from the cache; then calls it.
CALL = """
import numpy as np
from kernels import spacetime

end, latest = np.array([5, 3, 9]), np.zeros(3, np.int64)
assert spacetime.running_latest(end, np.array([0, 3]), latest) and latest.tolist() == [5, 5, 9]
print(sum(spacetime.running_latest.stats.cache_hits.values()))
"""


@pytest.mark.jit_only
def test_a_cache_for_another_processor_is_ignored(tmp_path: Path) -> None:
    """As it is where an image with compiled kernels starts on a machine that cannot run them."""
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    hits = [
        subprocess.run(
            [sys.executable, "-c", CALL],
            cwd=ROOT,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **processor},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for processor in (generic, generic, {})
    ]
    assert hits == ["0\n", "1\n", "0\n"]


@pytest.mark.jit_only
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


@pytest.mark.jit_only
def test_commands_use_what_make_has_compiled() -> None:
    """They are not told where it is."""
    place = subprocess.run(
        [sys.executable, "-c", PLACE, "kernels.fabric"],
        cwd=ROOT,
        env={name: of for name, of in os.environ.items() if name != "NUMBA_CACHE_DIR"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    assert Path(place).parent == ROOT / ".cache" / "numba"
    assert "NUMBA_CACHE_DIR := $(CURDIR)/.cache/numba" in (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.jit_only
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
def test_a_helper_is_compiled_for_its_signature_when_a_kernel_first_calls_it() -> None:
    @helper("i8(i8)")
    def twice(number: int) -> int:
        return 2 * number

    @njit
    def eight_times(number: int) -> int:
        return twice(twice(twice(number)))

    assert len(twice.overloads) == 0
    assert eight_times(3) == 24
    assert eight_times(True) == 8
    assert len(twice.overloads) == 1


def made_of_a_helper(*signature: str) -> tuple[Any, Any]:
    """Return a helper and a kernel that calls it twice."""

    @helper(*signature, _nrt=False)
    def twice(number: float) -> float:
        return 2 * number

    @njit
    def four_times(number: float) -> float:
        return twice(twice(number))

    return twice, four_times


@pytest.mark.jit_only
def test_a_helper_without_a_signature_is_compiled_for_each_type() -> None:
    twice, four_times = made_of_a_helper()
    assert four_times(3) == 12
    assert four_times(0.25) == 1.0
    assert len(twice.overloads) == 2


@pytest.mark.jit_only
def test_a_helper_has_no_code_of_its_own() -> None:
    """Internals of numba make it so: with another numba it may take the longer way again."""
    twice, four_times = made_of_a_helper("i8(i8)")
    assert four_times(3) == 12
    (compiled,) = twice.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


@pytest.mark.jit_only
def test_helpers_may_raise() -> None:
    @helper("i8(i8)")
    def positive(number: int) -> int:
        if number <= 0:
            raise ValueError("not positive")
        return number

    @njit
    def checked(number: int) -> int:
        return positive(number)

    assert checked(3) == 3
    with pytest.raises(ValueError, match="not positive"):
        checked(0)


@pytest.mark.jit_only
def test_python_may_call_a_helper_before_and_after_kernels() -> None:
    twice, four_times = made_of_a_helper("i8(i8)")
    assert twice(np.int32(3)) == 6
    assert four_times(3) == 12
    assert twice(True) == 2
    with pytest.raises(TypeError, match="No matching definition"):
        twice("3")


@pytest.mark.jit_only
def test_a_kernel_from_the_cache_compiles_none_of_its_helpers() -> None:
    from kernels.two_node import run

    run.osu.compile(run.OSU_TYPES)  # in the cache from here on
    lines = (
        "from kernels.two_node import queues, run",
        "run.osu.compile(run.OSU_TYPES)",
        "print(sum(run.osu.stats.cache_hits.values()), len(queues.put.overloads))",
    )
    words = [sys.executable, "-c", "; ".join(lines)]
    assert subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout == b"1 0\n"


@pytest.mark.jit_only
def test_a_kernel_from_the_cache_loads_nothing_that_only_a_compilation_needs() -> None:
    """Neither numba's registries nor scipy; one that allocates gets the runtime it needs."""
    from kernels import paths
    from kernels.two_node import run

    assert paths.girth(np.arange(0, 8, 2, "i4"), np.array([1, 2, 0, 2, 0, 1], "i4")) == 3
    run.osu.compile(run.OSU_TYPES)  # both are in the cache from here on
    lines = (
        "import sys, numpy",
        "from kernels import paths",
        "from kernels.two_node import run",
        "run.osu.compile(run.OSU_TYPES)",
        "length = paths.girth(numpy.arange(0, 8, 2, 'i4'), numpy.array([1, 2, 0, 2, 0, 1], 'i4'))",
        "hits = [sum(k.stats.cache_hits.values()) for k in (run.osu, paths.girth)]",
        "print(length, hits, {'numba.np.linalg', 'scipy.linalg'} & set(sys.modules))",
    )
    words = [sys.executable, "-c", "; ".join(lines)]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "3 [1, 1] set()\n"


@pytest.mark.jit_only
def test_a_kernel_may_be_compiled_after_another_came_from_the_cache() -> None:
    lines = (
        "import numba, numpy",
        "from kernels.two_node import run",
        "run.osu.compile(run.OSU_TYPES)",
        "total = numba.njit(lambda a: numpy.sort(a).sum() + len({1: 2}))",
        "print(total(numpy.arange(4)))",
    )
    words = [sys.executable, "-c", "; ".join(lines)]
    assert subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout == b"7\n"
