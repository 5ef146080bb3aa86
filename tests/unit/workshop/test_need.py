from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from workbench import workshop
from workbench.errors import ParameterError
from workbench.workshop.need import SERVER_BYTES, free_bytes, kernel_bytes, seats_for

MB = 1_000_000


def of(people: int, free: int) -> workshop.Need:
    return seats_for(people, "one.ipynb", 100 * MB, 50 * MB, free)


def test_seats_and_ready_kernels_fit_the_memory() -> None:
    plenty = of(30, 64_000 * MB)
    assert (plenty.seats, plenty.ready) == (33, 6)
    assert plenty.memory == 39 * 100 * MB + 50 * MB + SERVER_BYTES
    assert "at most 33 open pages" in plenty.to_text()
    assert "a kernel holds 100 MB beside 50 MB that all share" in plenty.to_text()
    scarce = of(30, 3_750 * MB)
    assert (scarce.seats, scarce.ready) == (33, 2)
    assert scarce.memory <= scarce.free
    assert of(1, 64_000 * MB).ready == 1


def test_too_little_memory_is_refused_with_how_many_fit() -> None:
    with pytest.raises(ParameterError, match=r"ask for at most 20") as refused:
        of(30, 2_450 * MB)
    assert "33 kernels of 100 MB each, with the server 3.5 GB, and 2.5 GB are free" in str(
        refused.value
    )
    fits = of(20, 2_450 * MB)
    assert fits.memory <= fits.free
    with pytest.raises(ParameterError, match=r"are free; end other programs"):
        of(30, 100 * MB)


def test_there_must_be_people() -> None:
    with pytest.raises(ParameterError, match="people must be at least 1"):
        workshop.need(0, Path("absent.ipynb"))


def test_a_kernel_is_measured_with_what_its_notebook_holds(tmp_path: Path) -> None:
    held = "block = bytearray(300_000_000); block[::4096] = b'1' * len(block[::4096])"
    cells = [nbformat.v4.new_code_cell(held)]
    path = tmp_path / "one.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    own, shared = kernel_bytes(path)
    assert 300 * MB < own < 400 * MB
    assert 0 < shared < 300 * MB


def test_this_machine_has_memory() -> None:
    assert 0 < free_bytes() < 1 << 50
