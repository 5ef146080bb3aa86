"""Compiled kernels on disk: whose code is there, and what happens where none can be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kernels

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.jit_only

KERNELS = {
    "entry.py": """
from kernels import kernel
from kernels.called import times


@kernel(cache=True, nogil=True)
def total(values):
    sum = 0 * values[0]
    for value in values:
        sum += times(value)
    return sum
""",
    "called.py": """
from numba.extending import register_jitable


@register_jitable
def times(value):
    return 2 * value
""",
}
CALL = """
import sys
import numpy as np
from kernels.entry import total

for kind in sys.argv[1:]:
    print(total(np.array([1, 2.5]).astype(kind)))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a package of two files of kernels, of which one calls the other."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    shutil.copy(kernels.__file__, folder)
    for name, text in KERNELS.items():
        (folder / name).write_text(text)
    return tmp_path


def start(package: Path, *kinds: str, **environment: str) -> subprocess.Popen[str]:
    """Call the kernel in a process of its own, with an array of each kind."""
    inherited = {name: of for name, of in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return subprocess.Popen(
        [sys.executable, "-c", CALL, *kinds],
        cwd=package,
        env={**inherited, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def results(process: subprocess.Popen[str]) -> list[str]:
    printed, errors = process.communicate()
    assert process.returncode == 0, errors
    return printed.split()


def compiled(package: Path) -> int:
    return len(list(package.rglob("*.nbc")))


def test_processes_that_compile_a_kernel_at_once_keep_each_others_code_till_the_sources_change(
    package: Path,
) -> None:
    both = [start(package, kind) for kind in ("i8", "f8")]
    assert [results(process) for process in both] == [["6"], ["7.0"]]
    assert compiled(package) == 2
    assert results(start(package, "i8", "f8")) == ["6", "7.0"]
    assert compiled(package) == 2
    # Numba sees that a kernel's own file has changed, and not that of a function it calls.
    called = package / "kernels" / "called.py"
    called.write_text(called.read_text().replace("2 *", "3 *"))
    assert results(start(package, "i8")) == ["9"]


def test_a_cache_for_another_processor_is_ignored(package: Path) -> None:
    """As it is where an image with compiled kernels starts on a machine that cannot run them."""
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    found = []
    for processor in (generic, {}):
        assert results(start(package, "i8", **processor)) == ["6"]
        found.append(compiled(package))
    assert found == [1, 2]


def test_where_no_cache_can_be_written_kernels_compile_and_say_so_once() -> None:
    """As in a read-only installation without a home, or here, where there is no file of sources."""
    text = (
        "from kernels import kernel\n"
        "double = kernel(cache=True, nogil=True)(lambda x: 2 * x)\n"
        "triple = kernel(cache=True, nogil=True)(lambda x: 3 * x)\n"
        "print(double(2) + triple(3))\n"
    )
    words = [sys.executable, "-c", text]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "13\n"
    assert done.stderr.count("no folder for compiled kernels can be written") == 1


def test_every_command_finds_what_make_has_compiled() -> None:
    """It is beside the sources, where numba looks by itself."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert "export NUMBA_CACHE_DIR" not in makefile
