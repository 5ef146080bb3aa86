"""Rows of numbers in SQLite and PostgreSQL: exact, whole or not there, and of one problem."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.unit.storage.postgresql import address, server  # noqa: F401 - the fixtures
from tests.unit.uq.simulators import NETWORK, allgather
from workbench.errors import StudyError
from workbench.storage.database import locate
from workbench.storage.row_table import RowTable, StoredRow
from workbench.uq import DesignPlan, evaluate_design

PROBLEM = {"seed": 0, "method": "sobol"}


def fill(where: str | Path) -> RowTable:
    """Write rows from four threads, each of which also writes some of another's."""
    table = RowTable(where)

    def write(first: int) -> None:
        one = RowTable(where)
        one.prepare("a", PROBLEM)
        one.write("a", [StoredRow(n, (n + 0.1, math.pi)) for n in range(first, first + 30)])

    threads = [threading.Thread(target=write, args=(20 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return table


def check(table: RowTable) -> None:
    assert table.read("a") == {n: StoredRow(n, (n + 0.1, math.pi)) for n in range(90)}
    assert [*table.read("a", 5, 8)] == [5, 6, 7]
    assert table.read("b") == {}
    assert table.stored_problem("a") == PROBLEM
    # A row with numbers stays as it is; one without is replaced.
    table.write("a", [StoredRow(5, (1.0, 2.0)), StoredRow(100, (), "it failed")])
    assert table.read("a", 5, 6)[5].values == (5.1, math.pi)
    assert table.read("a", 100)[100] == StoredRow(100, (), "it failed")
    table.write("a", [StoredRow(100, (3.0,))])
    assert table.read("a", 100)[100] == StoredRow(100, (3.0,))
    with pytest.raises(StudyError, match="holds 'a' of another problem: seed was 0 and is 1"):
        table.prepare("a", {**PROBLEM, "seed": 1})
    table.prepare("b", {"seed": 1})


def test_rows_in_a_file_are_exact_whoever_writes_at_the_same_moment(tmp_path: Path) -> None:
    table = RowTable(tmp_path / "rows.db")
    assert (table.read("a"), table.stored_problem("a")) == ({}, None)
    assert not (tmp_path / "rows.db").exists()
    check(fill(tmp_path / "rows.db"))
    # Studies may share the file.
    assert locate(tmp_path / "rows.db").has_table("studies")


def test_more_rows_than_a_statement_takes(tmp_path: Path) -> None:
    table = RowTable(tmp_path / "rows.db")
    table.prepare("many", PROBLEM)
    table.write("many", [StoredRow(n, (float(n),)) for n in range(1200)])
    assert [row.values[0] for row in table.read("many").values()] == [*range(1200)]


def test_rows_on_a_server_are_the_same(address: str) -> None:  # noqa: F811 - the fixture
    check(fill(address))
    plan = DesignPlan("ring", NETWORK, 20, rows_at_once=3)
    runs = evaluate_design(plan, address, model=allgather, tests=[*"abcdef"], workers=2)
    assert np.array_equal(runs.times, allgather(plan.design))
