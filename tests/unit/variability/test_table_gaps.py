"""What is missing between runs, jobs and steps is named."""

from __future__ import annotations

import numpy as np

from workbench.provenance import Provenance
from workbench.variability import JobLog, Runs, StepTable, shipped, table_gaps


def test_gaps_are_named() -> None:
    start = np.array([0.0, 100, 200, 300, 9000])
    runs = Runs(tuple("abcde"), start, start + 50, np.full(5, 50.0))
    jobs = JobLog(
        ("a", "1", "2", "b", "c"),
        ("me", "ann", "bob", "me", "me"),
        np.ones(5, np.int64),
        np.array([0.0, 10, 110, 100, 200]),
        np.array([50.0, 90, 400, 150, 250]),
    )
    time_s = np.array([[25.0, 25], [30, 40], [5, np.nan], [1, 1]])
    steps = StepTable(
        ("a", "b", "c", "x"),
        np.full(4, np.nan),
        time_s,
        (),
        np.empty((4, 2, 0)),
        Provenance("measured", "by hand"),
    )
    assert table_gaps(runs, jobs, steps) == (
        "1 of 5 runs lie before or after all of the job log: e",
        "2 of 5 runs are no jobs of the log, although other runs are: d, e",
        "2 of 5 runs have no steps: d, e",
        "1 runs with steps are not among the runs: x",
        "1 of 5 runs have steps that take less than half their time: c",
        "1 of 5 runs have steps that take longer than they do: b",
    )
    alone = JobLog(
        ("a", "1"), ("me", "bob"), np.ones(2, np.int64), np.array([0.0, 90]), np.array([60.0, 9010])
    )
    assert (
        table_gaps(runs, alone)[0] == "1 of 5 runs have no other job beside them in the job log: a"
    )
    empty = JobLog((), (), np.empty(0, np.int64), np.empty(0), np.empty(0))
    assert table_gaps(runs, empty) == ("the job log has no job",)


def test_the_recording_has_none() -> None:
    recorded = shipped("emulated-link")
    assert table_gaps(recorded.runs, recorded.jobs, recorded.steps) == ()
