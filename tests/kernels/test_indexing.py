"""Kernels take indices as they are; all other functions keep Python's negative ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit, version_info

from kernels import KNOWN_NUMBA

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.jit_only,
    pytest.mark.skipif(version_info.short != KNOWN_NUMBA, reason="this numba compiles as it does"),
]

FUNCTIONS = """
def at(values, i):
    return values[i]

def last(values, i):
    return values[-1]
"""


def functions(module: str) -> dict[str, object]:
    """Return the functions above, uncompiled, as a module of that name would have them."""
    names: dict[str, object] = {"__name__": module}
    exec(FUNCTIONS, names)
    return names


def code_of(function: object) -> str:
    """Return what LLVM makes of a function of an array and an index."""
    compiled = njit("i8(i8[::1], i8)")(function)
    return "".join(compiled.inspect_llvm().values())


def test_a_kernel_does_not_look_at_an_index_s_sign() -> None:
    assert "select i1" not in code_of(functions("kernels.some")["at"])
    assert "select i1" in code_of(functions("somebody.s")["at"])


def test_a_function_that_is_no_kernel_counts_from_the_end() -> None:
    assert njit(functions("somebody.s")["at"])(np.arange(5), -2) == 3


def test_a_negative_number_in_a_kernel_s_text_counts_from_the_end() -> None:
    assert njit(functions("kernels.some")["last"])(np.arange(5), 0) == 4


def test_checked_bounds_find_a_negative_index_of_a_kernel(tmp_path: Path) -> None:
    """So `make deep`, which tests the kernels with checked bounds, finds what does not wrap."""
    script = tmp_path / "negative.py"
    script.write_text(
        f"import numpy, kernels, numba\n__name__ = 'kernels.some'\n{FUNCTIONS}\n"
        "numba.njit(at)(numpy.arange(5), -1)\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_BOUNDSCHECK": "1"},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert "IndexError: index is out of bounds" in done.stderr
