"""Tables of steps: read, chosen from, saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.variability import StepTable, read_steps

TEXT = "run,step,time_s,RT_RB_STL,IO_FLIT\na,1,1.5,3,4\na,2,2,3,4\nb,1,1,2,2\n"


@pytest.fixture
def table(tmp_path: Path) -> StepTable:
    path = tmp_path / "steps.csv"
    path.write_text(TEXT)
    return read_steps(path)


def test_a_missing_step_is_nan(table: StepTable) -> None:
    np.testing.assert_array_equal(table.time_s, [[1.5, 2.0], [1.0, np.nan]])
    np.testing.assert_array_equal(table.values[:, :, 1], [[4, 4], [2, np.nan]])


def test_counters_are_chosen_by_where_they_were_read(table: StepTable) -> None:
    assert table.features == ("app", "io")
    assert table.only(["io"]).counters == ("IO_FLIT",)
    with pytest.raises(ParameterError, match="features must be some of app, placement, io, sys"):
        table.only(["cpu"])


def test_rows_keep_the_runs_that_are_named(table: StepTable) -> None:
    assert table.rows([1]).run == ("b",)


def test_a_saved_table_is_read_back(table: StepTable, tmp_path: Path) -> None:
    back = StepTable.load(table.save(tmp_path / "saved.json"))
    assert back.run == table.run
    np.testing.assert_array_equal(back.values, table.values)
