from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from workbench.errors import ParameterError, ParseError
from workbench.measure import MeasuredRuns, read_measured_runs
from workbench.provenance import Provenance

EMULATED = """\
# origin: emulated
# title: halo exchange between network namespaces
# licence: MIT
# mpi: Open MPI 4.1.4
latency_us,time_s,repeat,program,ranks,load,flagged
0,1.0,0,halo,4,0.5,false
0,1.2,1,halo,4,0.6,false
0,1.1,2,halo,4,,
0,9.0,3,halo,4,7.5,true
500,2.5,0,halo,4,0.5,yes
500,2.7,1,halo,4,0.5,1
0,3.0,0,cg,8,0.5,no
"""


def test_columns_comments_and_empty_cells_are_read() -> None:
    runs = read_measured_runs(("halo.csv", EMULATED))
    assert len(runs) == 7
    assert runs.added_s.tolist() == [0, 0, 0, 0, 5e-4, 5e-4, 0]
    assert runs.time_s[:3].tolist() == [1.0, 1.2, 1.1]
    assert runs.repeat.tolist() == [0, 1, 2, 3, 0, 1, 0]
    assert runs.flagged.tolist() == [False, False, False, True, True, True, False]
    assert math.isnan(runs.load_average[2])
    assert runs.programs == (("halo", 4), ("cg", 8))
    assert runs.provenance == Provenance(
        "emulated",
        "halo exchange between network namespaces",
        "halo.csv",
        "MIT",
        {"mpi": "Open MPI 4.1.4"},
    )
    assert repr(runs) == (
        "MeasuredRuns(halo on 4 ranks, cg on 8 ranks; emulated: 7 runs with 2 added latencies, "
        "0 s to 500 µs; 3 on a busy machine)"
    )


def test_points_leave_flagged_runs_out_where_there_are_others() -> None:
    points = read_measured_runs(EMULATED).only("halo").points()
    assert points.added_s.tolist() == [0, 5e-4]
    assert points.spread.median.tolist() == [1.1, 2.6]  # by hand: 9.0 s is flagged
    assert points.spread.minimum.tolist() == [1.0, 2.5]
    assert points.spread.p25 == pytest.approx([1.05, 2.55])
    assert points.spread.count.tolist() == [3, 2]


def test_points_are_of_one_program() -> None:
    runs = read_measured_runs(EMULATED)
    with pytest.raises(ParameterError, match="halo on 4 ranks, cg on 8 ranks: take one with only"):
        runs.points()
    assert len(runs.only(ranks=8)) == 1
    with pytest.raises(ParameterError, match="be of hallo; did you mean halo"):
        runs.only("hallo")
    frame = runs.to_frame()
    assert frame["median (s)"].tolist() == [1.1, 2.6, 3.0]
    assert frame["flagged"].tolist() == [1, 2, 0]


def test_what_is_optional_may_be_missing() -> None:
    runs = read_measured_runs(b"\xef\xbb\xbflatency_us;time_s\r\n0,5;1,25\r\n0,5;1,5\r\n2;3\r\n")
    assert runs.added_s.tolist() == [5e-7, 5e-7, 2e-6]
    assert runs.time_s.tolist() == [1.25, 1.5, 3.0]
    assert runs.repeat.tolist() == [0, 1, 0]
    assert runs.programs == (("", 0),)
    assert runs.provenance.origin == "measured"


def test_a_provenance_given_is_the_one_that_stands(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("latency_us,time_s\n0,1\n", encoding="utf-8")
    known = Provenance("published", "someone's runs")
    assert read_measured_runs(path, provenance=known).provenance == known
    assert read_measured_runs(path, origin="emulated").provenance.origin == "emulated"
    assert read_measured_runs(path).provenance.title == "runs"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 0, "must begin with the names"),
        ("# origin: emulated\n", 0, "must begin with the names"),
        ("latency_us,time_s\n", 0, "must have rows"),
        ("latency,time_s\n0,1\n", 1, "lacks latency_us; did you mean latency"),
        ("latency_us,time_s,time_s\n0,1,1\n", 1, "time_s more than once"),
        ("# origin: real\nlatency_us,time_s\n0,1\n", 1, "origin must be one of measured"),
        ("latency_us,time_s\n0,1\n0,1,2\n", 3, "must have 2 fields as the heading; got 3"),
        ("latency_us,time_s\n\n-1,1\n", 3, "latency_us must be a latency of at least 0 µs"),
        ("latency_us,time_s\n0,0\n", 2, "time_s must be a time above 0 s; got '0'"),
        ("latency_us,time_s\n0,nan\n", 2, "time_s must be a time above 0 s; got 'nan'"),
        ("latency_us,time_s,ranks\n0,1,2.5\n", 2, "ranks must be a whole number"),
        ("latency_us,time_s,repeat\n0,1,\n", 2, "repeat must be a whole number"),
        ("latency_us,time_s,flagged\n0,1,maybe\n", 2, "flagged must be true or false"),
        ('latency_us,time_s,program\n0,1,"a\n', 2, "a row must be CSV"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        read_measured_runs(("runs.csv", text))
    assert (caught.value.source, caught.value.line) == ("runs.csv", line)


def test_columns_that_do_not_fit_are_refused() -> None:
    about = Provenance("measured", "here")
    with pytest.raises(ParameterError, match="one value of each kind a run"):
        MeasuredRuns.of([0, 1], [1.0], provenance=about)
    with pytest.raises(ParameterError, match="time_s must be above 0 s and finite; got inf s"):
        MeasuredRuns.of(0, [1.0, math.inf], provenance=about)
    with pytest.raises(ParameterError, match="added_s must be at least 0 s"):
        MeasuredRuns.of(-1e-6, [1.0], provenance=about)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
TIMES = st.floats(1e-9, 1e6)


@given(st.lists(st.tuples(st.floats(0, 10.0), TIMES, NAMES, st.booleans()), min_size=1, max_size=8))
def test_what_is_written_is_read_back(rows: list[tuple[float, float, str, bool]]) -> None:
    added, time, names, flagged = zip(*rows, strict=True)
    about = Provenance("simulated", "drawn", "text", "", {"statistic": "a: b"})
    runs = MeasuredRuns.of(added, time, provenance=about, program=names, flagged=flagged)
    again = read_measured_runs(runs.to_csv())
    np.testing.assert_array_equal(again.time_s, runs.time_s)
    np.testing.assert_array_equal(again.flagged, runs.flagged)
    np.testing.assert_allclose(again.added_s, runs.added_s, rtol=1e-14)  # 15 digits are written
    assert again.program == runs.program
    assert again.provenance == about


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for data in (content, b"latency_us,time_s,program\n" + content):
        try:
            runs = read_measured_runs(("runs.csv", data))
        except ParseError:
            continue
        assert len(runs) > 0
