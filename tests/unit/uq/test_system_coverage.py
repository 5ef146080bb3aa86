"""What intervals hold on real systems: counted by hand, computed, shipped and drawn."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource

from tests.unit import commands
from workbench.cli import uq
from workbench.errors import ParameterError
from workbench.plotting import describe_system_coverage
from workbench.tasks import JobError, Task
from workbench.uq.collectives import (
    SystemCoverage,
    cover_systems,
    shipped_collectives,
    shipped_coverage,
)
from workbench.uq.collectives.system_coverage import CoverageCase

pytestmark = pytest.mark.usefixtures("short_chains")

command = partial(commands.run, uq)
CASES = (
    CoverageCase("a", "A", "gather", "default-x", "growth", "64 nodes", 8, True),
    CoverageCase("b", "B", "bcast", "", "rounds:ring (60%)", "every other size", 4, False),
)
BY_HAND = SystemCoverage(
    cases=CASES,
    case=np.array([0, 0, 0, 0, 1]),
    nodes=np.array([64, 64, 64, 64, 8]),
    block_bytes=np.array([4, 16, 64, 256, 4]),
    measured=np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
    predicted=np.array([1.1, 2.0, 1.5, 4.4, 10.0]),
    low=np.array([[1.05, 1.9, 1.4, 4.3, 9.0], [0.9, 1.5, 1.2, 3.9, 5.0]]),
    high=np.array([[1.2, 2.1, 1.6, 4.5, 11.0], [1.3, 2.5, 1.8, 5.0, 20.0]]),
    levels=(0.5, 0.9),
    noise="relative",
    draws=100,
    seed=0,
)


def test_medians_inside_are_counted() -> None:
    assert BY_HAND.within.tolist() == [
        [False, True, False, False, False],
        [True, True, False, True, True],
    ]
    assert BY_HAND.shares().tolist() == [0.75, 1.0]
    assert BY_HAND.shares(0).tolist() == [0.25, 0.0]
    frame = BY_HAND.to_frame()
    assert frame["within 50 % (%)"].tolist() == [25.0, 0.0]
    assert frame["median error (%)"].tolist() == pytest.approx([10.0, 100.0])
    assert frame["width 90 %"][1] == 4.0
    assert [case.larger for case in CASES] == [True, False]
    assert "90 % intervals hold 80%" in repr(BY_HAND)


def test_the_figure_has_a_row_for_each_case_and_names_the_worst() -> None:
    layout = BY_HAND.plot()
    sources = {one.name: one.data for one in layout.select({"type": ColumnDataSource})}
    assert list(sources["90 % intervals"]["percent"]) == [75.0, 100.0]
    outside = sources["median outside"]
    assert list(outside["ratio"]) == [2.0]
    assert round(outside["row"][0]) == 0
    text = describe_system_coverage(BY_HAND)
    assert "Of all 5 held-out medians 50 % intervals hold 20 % and 90 % intervals hold 80 %" in text
    assert "The worst is A: gather, where 90 % intervals hold 75 %" in text


def test_arrays_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    again = SystemCoverage.load(BY_HAND.save(tmp_path / "one.json"))
    assert again.to_frame().equals(BY_HAND.to_frame())
    with pytest.raises(ParameterError, match="low must be"):
        SystemCoverage(**{**vars(BY_HAND), "low": BY_HAND.low[:1]})._check()


def test_a_system_is_covered_by_the_command_and_its_numbers_are_the_shipped_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "found.json"
    words = ("--tables", "marenostrum5", "--noise", "relative", "--draws", 50)
    assert command("coverage", *words, "--save", path, "--json") == 0
    rows = json.loads(capsys.readouterr().out)["cases"]
    assert [row["collective"] for row in rows] == ["allgather", "gather", "bcast"]
    found = SystemCoverage.load(path)
    assert {case.held_out for case in found.cases} == {"every other size"}
    shipped = shipped_coverage()
    for at, case in enumerate(shipped.cases):
        if case.table == "marenostrum5":
            mine = shipped.measured[shipped.case == at]
            same = [one.collective for one in found.cases].index(case.collective)
            np.testing.assert_array_equal(found.measured[found.case == same], mine)


def test_the_shipped_coverage_is_of_every_shipped_system() -> None:
    shipped = shipped_coverage()
    assert {case.table for case in shipped.cases} == set(shipped_collectives())
    assert len(shipped.measured) > 100
    # The bar of the project's own target for all systems together.
    assert 0.8 <= shipped.within[-1].mean() <= 0.97


def test_a_stop_before_the_first_collective_is_an_error() -> None:
    task = Task()
    task.stop()
    with pytest.raises(JobError, match="stopped before its first collective"):
        cover_systems(["fugaku"], noise="relative", draws=100, task=task)
