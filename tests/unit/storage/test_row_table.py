"""Rows in SQLite and PostgreSQL: exact, whole or not there, and of one problem."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.unit.storage.postgresql import address, server  # noqa: F401 - the fixtures
from tests.unit.uq.simulators import NETWORK, allgather
from workbench.errors import StudyError
from workbench.storage.row_table import RowTable, StoredRow
from workbench.uq import DesignPlan, evaluate_design

PROBLEM = {"seed": 0, "method": "sobol"}


def fill(where: str | Path) -> RowTable:
    """Write rows from four threads, each of which also writes some of another's."""
    failures: list[BaseException] = []

    def write(first: int) -> None:
        try:
            one = RowTable(where, "design")
            one.prepare("a", PROBLEM)
            one.write("a", [StoredRow([n + 0.1, math.pi], n) for n in range(first, first + 30)])
            for _ in range(5):
                one.append("appended", StoredRow(None))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(20 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    return RowTable(where, "design")


def check(table: RowTable) -> None:
    assert table.read("a") == {n: StoredRow([n + 0.1, math.pi], n) for n in range(90)}
    assert [*table.read("appended")] == [*range(20)]
    assert [*table.read("a", 5, 8)] == [5, 6, 7]
    assert table.read("b") == {}
    assert table.stored_problem("a") == PROBLEM
    # A row that failed is replaced; one that is known stays as it is.
    failed = StoredRow([], 100, "failed", message="it failed")
    table.write("a", [StoredRow([1.0, 2.0], 5), failed])
    assert table.read("a", 5, 6)[5].content == [5.1, math.pi]
    assert table.read("a", 100)[100] == failed
    again = StoredRow({"key": 3}, 100, "pruned", 1 / 3, 0.1)
    table.write("a", [again])
    assert table.read("a", 100)[100] == again
    assert table.read("a", 100, content=False)[100].value == 1 / 3
    assert table.states("a") == {"done": 90, "pruned": 1}
    assert table.summaries(["a", "b"]) == {"a": (91, 1 / 3)}
    with pytest.raises(StudyError, match=r"row 101 of the design 'a' .* must come next; got row 7"):
        table.append("a", StoredRow([], 7))
    with pytest.raises(StudyError, match="for another problem: seed was 0 and is 1"):
        table.prepare("a", {**PROBLEM, "seed": 1})
    with pytest.raises(StudyError, match="it was of kind design and is of kind fit"):
        RowTable(table.database.path or table.database.address, "fit").prepare("a", PROBLEM)
    table.prepare("b", {"seed": 1})
    assert table.names() == ["a", "b"]


def test_rows_in_a_file_are_exact_whoever_writes_at_the_same_moment(tmp_path: Path) -> None:
    table = RowTable(tmp_path / "rows.db", "design")
    assert (table.read("a"), table.stored_problem("a"), table.names()) == ({}, None, [])
    assert not (tmp_path / "rows.db").exists()
    check(fill(tmp_path / "rows.db"))


def test_rows_on_a_server_are_the_same(address: str) -> None:  # noqa: F811 - the fixture
    check(fill(address))
    plan = DesignPlan("ring", NETWORK, 20, rows_at_once=3)
    runs = evaluate_design(plan, address, model=allgather, tests=[*"abcdef"], workers=2)
    assert np.array_equal(runs.times, allgather(plan.design))


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    table = RowTable(tmp_path / "rows.db", "design")
    table.prepare("a", PROBLEM)
    with pytest.raises(StudyError, match=r"rows.db cannot be used .*NOT NULL"):
        table.write("a", [StoredRow([], 0), StoredRow([], 1, message=None)])  # type: ignore[arg-type]
    assert table.read("a") == {}
