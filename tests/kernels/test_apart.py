"""Parts of kernels that are called by their address."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit

from kernels.compiler.apart import apart

ROOT = Path(__file__).resolve().parents[2]
# Runs a model, and counts the parts of PISCES that were compiled or loaded for it.
RUN = """
import sys
from kernels.two_node import pisces
from workbench import models
from workbench.simulate import simulate_osu

found = []
find = pisces.serve.address
pisces.serve.address = lambda: found.append(find()) or found[0]
simulate_osu(getattr(models, sys.argv[1])(), [8, 65536])
print(len(found), len(pisces.send_message.overloads))
"""


@apart("i8(i8[::1], f8[::1], i8)", _nrt=False)
def moved(places: Any, values: Any, number: int) -> int:
    if number < 0:
        raise ValueError("number must be at least 0")
    values[places[0]] = values[places[1]]
    return places[1] * number


@njit
def move(address: int, places: Any, values: Any, number: int) -> int:
    found: int = moved(address, places, values, number) + moved(address, places, values, 1)
    return found


def test_a_kernel_calls_a_part_by_its_address() -> None:
    places, values = np.array([0, 6]), np.arange(7.0)
    assert move(moved.address(), places, values, 2) == 12 + 6
    assert values.tolist() == [6, 1, 2, 3, 4, 5, 6]


def test_an_error_in_the_part_is_one_of_the_kernel() -> None:
    with pytest.raises(ValueError, match="at least 0"):
        move(moved.address(), np.array([0, 6]), np.arange(7.0), -1)


@pytest.mark.jit_only
@pytest.mark.parametrize(("model", "found"), [("SNAPPR", 0), ("PISCES", 1)])
def test_only_a_run_of_pisces_needs_its_code(model: str, found: int) -> None:
    """And in a process that has the code from the cache, no helper of it is compiled."""
    words = [sys.executable, "-c", RUN, model]
    for _ in range(2 if found else 1):
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == f"{found} 0\n"
