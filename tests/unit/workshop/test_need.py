from __future__ import annotations

from pathlib import Path

import pytest

from workbench import jobs, workshop
from workbench.errors import ParameterError
from workbench.workshop import VisitorTable, Visits
from workbench.workshop.memory import free_bytes
from workbench.workshop.need import SERVER_BYTES, _need
from workbench.workshop.visitors import visits

MB = 1_000_000
TABLE = VisitorTable(
    "a processor",
    2,
    "00-start-here.ipynb",
    20,
    True,
    0.1,
    (Visits(2, 1.0, 1.5, 0.03, 0.1, 100 * MB, 0), Visits(10, 5.0, 9.0, 0.1, 0.5, 90 * MB, 0)),
)


def of(people: int, free: int, table: VisitorTable | None = TABLE) -> workshop.Need:
    return _need(people, "one.ipynb", 100 * MB, 0, free, 2, table)


def test_seats_and_warm_kernels_fit_the_memory() -> None:
    plenty = of(30, 64_000 * MB)
    assert (plenty.seats, plenty.warm, plenty.kept) == (33, 6, 6)
    assert plenty.memory == 39 * 100 * MB + SERVER_BYTES
    scarce = of(30, 3_700 * MB)
    assert (scarce.seats, scarce.warm) == (33, 2)
    assert scarce.memory <= scarce.free
    assert of(1, 64_000 * MB).warm == 1


def test_too_little_memory_is_refused_with_how_many_fit() -> None:
    with pytest.raises(ParameterError, match=r"ask for at most 20") as refused:
        of(30, 2_400 * MB)
    assert "33 kernels of 100 MB each, 3.5 GB with the server, and 2.4 GB are free" in str(
        refused.value
    )
    fits = of(20, 2_400 * MB)
    assert fits.memory <= fits.free
    with pytest.raises(ParameterError, match=r"are free; end other programs"):
        of(30, 100 * MB)


def test_what_kernels_share_counts_once() -> None:
    shared = _need(30, "one.ipynb", 100 * MB, 300 * MB, 64_000 * MB, 2, TABLE)
    assert shared.memory == of(30, 64_000 * MB).memory + 300 * MB
    assert (shared.warm, shared.kept) == (30, 6)
    assert "a kernel holds 100 MB beside 300 MB that all share" in shared.to_text()
    with pytest.raises(ParameterError, match=r"3\.8 GB with the server"):
        _need(30, "one.ipynb", 100 * MB, 300 * MB, 3_700 * MB, 2, TABLE)


@pytest.mark.parametrize("people", [0, -1])
def test_there_must_be_people(people: int) -> None:
    with pytest.raises(ParameterError, match="people must be at least 1"):
        workshop.need(people, Path("absent.ipynb"))


def test_answers_are_those_of_as_many_visitors_for_each_core() -> None:
    assert TABLE.p95_s(1.0) == 0.1
    assert TABLE.p95_s(3.0) == pytest.approx(0.3)
    assert TABLE.p95_s(10.0) == 1.0  # twice the visitors of the last row
    assert of(2, 64_000 * MB).p95_s == 0.1
    assert not of(2, 64_000 * MB).slow
    slow = of(30, 64_000 * MB)
    assert slow.p95_s == 1.5
    assert "within 1500 ms" in slow.to_text() and "that is slow" in slow.to_text()


def test_figures_of_visitors() -> None:
    answers = [k / 100 for k in range(1, 101)]
    found = visits([1.0, 2.0, 9.0], answers, [100, 201], 0)
    assert found == Visits(3, 2.0, 9.0, 0.505, pytest.approx(0.9505), 150, 0)


def test_a_table_is_read_back(tmp_path: Path) -> None:
    path = TABLE.save(tmp_path / "table.json")
    assert VisitorTable.load(path) == TABLE
    assert list(TABLE.to_frame()["p95 (ms)"]) == [100.0, 500.0]


def test_this_machine_has_memory_and_cores() -> None:
    assert 0 < free_bytes() < 1 << 50
    assert jobs.cores() >= 1
