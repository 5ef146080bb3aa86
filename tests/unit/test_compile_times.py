"""What compiling took is attributed to the function that was compiled, not to its caller."""

from __future__ import annotations

import pytest
from numba import njit

from workbench.compile_times import NUMBA, Compiled, recorded, report


def test_what_is_called_is_not_a_callers_own() -> None:
    @njit
    def inner(number):
        return number * number + 1

    @njit
    def outer(number):
        return inner(number) - inner(number + 2)

    with recorded() as compiled:
        assert outer(3) == 10 - 26
    assert [each.name.rpartition(".")[2] for each in compiled] == ["inner", "outer"]
    for each in compiled:
        assert 0 < each.llvm_s < each.own_s <= each.total_s
        assert each.file == NUMBA
    first, second = compiled
    assert second.total_s == pytest.approx(second.own_s + first.total_s)
    with recorded() as compiled:
        assert outer(4) == 17 - 37
    assert compiled == []


def test_the_report_lists_files_and_functions_dearest_first() -> None:
    compiled = [
        Compiled("kernels/a.py", "small", own_s=0.5, llvm_s=0.25, total_s=0.5),
        Compiled("kernels/b.py", "part", own_s=1.0, llvm_s=0.5, total_s=1.0),
        Compiled("kernels/b.py", "part", own_s=2.0, llvm_s=0.5, total_s=3.0),
        Compiled(NUMBA, "sum", own_s=0.25, llvm_s=0.0, total_s=0.25),
    ]
    lines = [line.split() for line in report(compiled).splitlines()]
    assert lines[1:4] == [
        ["3.00", "1.00", "2", "1", "kernels/b.py"],
        ["0.50", "0.25", "1", "1", "kernels/a.py"],
        ["0.25", "0.00", "1", "1", *NUMBA.split()],
    ]
    assert lines[6] == ["3.00", "2.00", "0.50", "kernels/b.py:", "part"]
    assert " ".join(lines[-1]) == "3.8 s for 4 functions, 1.2 s of it in LLVM"
