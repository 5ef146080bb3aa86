"""Reports of ranks: what they hold, and what is wrong with damaged ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from workbench.errors import ParseError
from workbench.measure.delay.report import quantile_ns, read_report

REPORT = """workbench delay 1
rank 0 of 2
mpi Open MPI v4.1.4
latency 500000
poll 20000
program 812345678
already-due 3
latest 91250
late 1023 17
late 91263 1
undelayed MPI_Iallreduce 2
end
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "delay-0.txt"
    path.write_text(text)
    return path


def test_a_report_is_read(tmp_path: Path) -> None:
    report = read_report(written(tmp_path, REPORT))
    assert (report.mpi, report.program_ns, report.already_due) == ("Open MPI v4.1.4", 812345678, 3)
    assert (report.latest_ns, report.late) == (91250, {1023: 17, 91263: 1})
    assert report.undelayed == {"MPI_Iallreduce": 2}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("workbench delay 1", "workbench trace 1", "must begin with 'workbench delay 1'"),
        ("end\n", "", "and finish with 'end'"),
        (REPORT, "", "must begin with"),
        ("late 1023 17", "late 1023", r"delay-0.txt:9: a line must be a name and its numbers"),
        ("program 8", "program x8", r"delay-0.txt:6: .*got 'program x812345678'"),
    ],
)
def test_a_damaged_report(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    with pytest.raises(ParseError, match=complaint):
        read_report(written(tmp_path, REPORT.replace(old, new)))


@given(st.lists(st.integers(0, 10**6), min_size=1), st.sampled_from([0.5, 0.99, 1.0]))
def test_quantiles_are_those_of_the_values(values: list[int], share: float) -> None:
    expected = np.quantile(values, share, method="inverted_cdf")
    assert quantile_ns(Counter(values), share) == expected


def test_the_quantile_of_none_is_zero() -> None:
    assert quantile_ns(Counter(), 0.5) == 0
