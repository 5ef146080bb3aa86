"""Compiling in less time changes nothing of what is compiled."""

from __future__ import annotations

import gc
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from kernels import KNOWN_NUMBA, helper

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.jit_only

# Prints what LLVM is given and what it makes of it; what numba knows of a type is asked repeatedly.
CODE_OF_A_KERNEL = """
import runpy
import sys
if sys.argv[1] != "without":
    runpy.run_path(sys.argv[1])["compile_in_less_time"]()
import numpy as np
from numba import njit

@njit
def part(values, number):
    return number + 1 if values[0] > 2.5 else len(values) // (number - 9)

@njit
def kernel(values, numbers):
    total = 0.0
    for i in range(len(values)):
        if values[i] <= total and numbers[i] % 2 == 0 or -numbers[i] < 3:
            total += values[i] * 2 + numbers[i] ** 2 - (numbers[i] << 1)
            numbers[i] &= 7
        total -= part(values, numbers[i]) + part(numbers, i)
    return total, values[1:]

print(kernel(np.arange(5.0), np.arange(5)))
for function in (part, kernel):
    for code in function.inspect_llvm().values():
        print(code)
    for code in function.inspect_asm().values():
        print(code)
"""


def test_the_known_numba_is_the_pinned_one() -> None:
    """Another one is not hastened until these tests have passed with it."""
    major, minor = KNOWN_NUMBA
    assert f"\nnumba=={major}.{minor}." in (ROOT / "constraints.txt").read_text()


def test_the_same_code_comes_out(tmp_path: Path) -> None:
    """What is remembered between kernels decides nothing: the code is the same to the letter."""
    script = tmp_path / "kernel.py"
    script.write_text(CODE_OF_A_KERNEL)
    hastened = str(ROOT / "kernels" / "compiling.py")
    printed = {
        how: subprocess.run(
            [sys.executable, script, how],
            env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for how in (hastened, "without")
    }
    assert len(printed[hastened]) > 10_000
    digests = {hashlib.sha256(text).hexdigest() for text in printed.values()}
    assert len(digests) == 1


def test_what_two_helpers_call_is_linked_though_the_first_does_not_need_it() -> None:
    """LLVM leaves out what nothing calls when it is linked, so the order matters."""

    @helper()
    def smaller(one, other):
        return min(one, other)

    @helper()
    def first(number):
        smaller(number, 3)
        return number

    @helper()
    def second(number):
        return smaller(number, 4) + max(number, 9)

    @njit
    def kernel(number):
        return first(number) + second(number)

    assert kernel(7) == 7 + 4 + 9


def test_a_helper_that_returns_arrays_must_count_them() -> None:
    @helper()
    def itself(values):
        return values

    @njit
    def kernel(values):
        return itself(values)[0]

    with pytest.raises(TypeError, match=r"itself returns array.*write @helper\(_nrt=True\)"):
        kernel(np.arange(3.0))


def test_garbage_is_collected_again_after_compiling() -> None:
    seen = []

    def doubled(number):
        return 2 * number

    for before in (gc.enable, gc.disable):
        before()
        assert njit(doubled)(3) == 6
        seen.append(gc.isenabled())
    gc.enable()
    assert seen == [True, False]
