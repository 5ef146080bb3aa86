from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.cases import for_each
from workbench.checks import above_zero, integer, number, whole, whole_each
from workbench.errors import ParameterError


def test_numbers_of_numpy_are_taken_as_python_s() -> None:
    for taken, wanted in (
        (whole(np.uint8(3), "n", 1, 3), 3),
        (number(np.float32(0.5), "x", 0, 1), 0.5),
        (number(np.int64(2), "x"), 2.0),
        (above_zero(1, "x"), 1.0),
        (whole(10**30, "n", 1, None), 10**30),
    ):
        assert (taken, type(taken)) == (wanted, type(wanted))
    assert whole_each(np.arange(3), "n", 0) == (0, 1, 2)
    assert [integer(value) for value in (True, np.True_, 2.0, "2", None)] == [None] * 5


@for_each(
    "check, message",
    [
        (lambda: whole(2.0, "n"), "n must be a whole number; got 2.0"),
        (lambda: whole(True, "n", 1), "n must be a whole number of at least 1; got True"),
        (lambda: whole(-1, "n", 0, unit="B"), "n must be a whole number of at least 0 B; got -1"),
        (lambda: whole(9, "n", 0, 8, unit="B"), "n must be at most 8 B; got 9"),
        (lambda: whole(2**63, "n", 0), f"n must be at most {2**63 - 1}; got {2**63}"),
        (lambda: whole(0, "n", 1, meaning="hosts"), "n, hosts, must be a whole number of at"),
        (lambda: whole_each([1, 0], "n", 1), "n must be whole numbers of at least 1; got 0"),
        (lambda: number("1", "x", 0), "x must be a number of at least 0; got '1'"),
        (lambda: number(False, "x"), "x must be a number; got False"),
        (lambda: number(math.nan, "x", unit="s"), "x must be a number; got nan"),
        (lambda: number(-1, "x", 0, unit="s"), "x must be a number of at least 0 s; got -1"),
        (lambda: number(2, "x", 0, 1, unit="s"), "x must be at most 1 s; got 2"),
        (lambda: number(10**400, "x", 0), "x must be finite; got 1000"),
        (lambda: number(-math.inf, "x"), "x must be finite; got -inf"),
        (lambda: above_zero(0, "x", unit="s"), "x must be above 0 s and finite; got 0"),
        (lambda: above_zero(math.inf, "x"), "x must be above 0 and finite; got inf"),
    ],
)
def test_an_error_says_what_must_hold_and_what_was_got(
    check: Callable[[], object], message: str
) -> None:
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}") as error:
        check()
    assert error.value.key in ("n", "x")
