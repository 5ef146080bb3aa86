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
from numba.core import event

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
    hastened = str(ROOT / "kernels" / "compiler" / "compiling.py")
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


ELEMENTS = """
import sys
if sys.argv[1] == "with":
    import kernels
import numpy as np
from numba import njit

@njit
def kernel(values, numbers, flags, at):
    total = 0.0
    for i in range(len(values)):
        if values[i] <= total and numbers[i] % 2 == 0 or flags[i + 1]:
            total += values[at[i]] * 2 + numbers[i] ** 2 - (numbers[-3] << 1)
            numbers[i - 2] &= 7
            flags[at[i]] = total > 3
    return total

kernel(np.arange(5.0), np.arange(5), np.zeros(6, bool), np.arange(5, dtype=np.uint8))
for code in kernel.inspect_asm().values():
    print(code)
"""


def test_elements_become_the_same_machine_code(tmp_path: Path) -> None:
    script = tmp_path / "kernel.py"
    script.write_text(ELEMENTS)
    ours, numbas = (
        subprocess.run(
            [sys.executable, script, how],
            env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for how in ("with", "without")
    )
    assert len(ours) > 1000
    assert ours == numbas


@pytest.mark.parametrize("kind", [np.int16, np.bool_, "U3"])
def test_elements_are_those_of_numpy(kind: type | str) -> None:
    @njit
    def move(values, of, to):
        before = values[of]
        values[to] = values[of - 1]
        values[1] = before
        return before

    row = np.array([0, 1, 1, 0, 1, 0, 0, 1]).astype(kind)
    for values in (row, row[::2].copy(), np.repeat(row, 3)[::3], row.reshape(2, 4)[:, :3]):
        for of, to in ((3, 0), (-1, 2), (1, -2)):
            if values.ndim == 2:
                of, to = of % 2, to % 2
            ours, expected = values.copy(), values.copy()
            before = move(ours, of, to)
            taken = move.py_func(expected, of, to)
            np.testing.assert_array_equal(ours, expected)
            if values.ndim == 1:
                np.testing.assert_array_equal(before, taken)


def test_functions_of_numba_are_compiled_once_whatever_the_callers_options() -> None:
    compiled = []

    class Count(event.Listener):
        def on_start(self, event: event.Event) -> None:
            compiled.append(event.data["dispatcher"].py_func.__qualname__)

        def on_end(self, event: event.Event) -> None:
            pass

    @helper(_nrt=True)
    def smallest(first, second):
        return min(first, second, np.int8(7))

    @njit
    def kernel(first, second):
        return smallest(first, second) + min(first, second, np.int8(7))

    with event.install_listener("numba:compile", Count()):
        assert kernel(np.int16(3), np.int32(4)) == 6
    assert compiled.count("ol_min.<locals>.impl") == 1


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
