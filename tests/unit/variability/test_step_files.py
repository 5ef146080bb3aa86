"""Tables of steps as people write them: wide, long, damaged, with gaps, under other names."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.variability import StepTable, read_steps

WIDE = """run,step,time_s,RT_RB_STL,IO_FLIT
a,1,1.5,3,4
a,2,2,3,
b,1,1,2,2
"""
EIGHT = 1548921600.0  # 2019-01-31T08:00 UTC

few = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def steps_of(folder: Path, text: str | bytes, **options: object) -> StepTable:
    path = folder / "steps.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_steps(path, **options)  # type: ignore[arg-type]


def refused(folder: Path, text: str | bytes, **options: object) -> str:
    with pytest.raises(ParseError) as caught:
        steps_of(folder, text, **options)
    return str(caught.value)


def as_long(table: StepTable) -> str:
    rows = ["run,step,counter,value"]
    for run, name in enumerate(table.run):
        for step in range(table.steps):
            cells = [("time_s", table.time_s[run, step])]
            cells += zip(table.counters, table.values[run, step], strict=True)
            rows += [f"{name},{step},{counter},{value!r}" for counter, value in cells]
    return "\n".join(rows).replace("np.float64(", "").replace(")", "") + "\n"


def test_steps_from_one_and_missing_cells_are_read_and_noted(tmp_path: Path) -> None:
    table = steps_of(tmp_path, WIDE)
    assert table.number == (1, 2)
    np.testing.assert_array_equal(table.time_s, [[1.5, 2], [1, np.nan]])
    np.testing.assert_array_equal(table.values[0], [[3, 4], [3, np.nan]])
    assert table.to_frame()["step"].tolist() == [1, 2, 1]
    assert table.notes == (
        "of 2 steps some runs have fewer: b (1)",
        "IO_FLIT has no reading in 1 of 3 steps",
    )


def test_gaps_in_the_numbers_are_named(tmp_path: Path) -> None:
    every_tenth = steps_of(tmp_path, "run,step,time_s\na,10,1\na,20,1\na,30,1\n")
    assert (every_tenth.number, every_tenth.notes) == ((10, 20, 30), ())
    gap = steps_of(tmp_path, "run,step,time_s\na,0,1\na,1,1\na,4,1\n")
    assert gap.steps == 3
    assert "no run has the steps between 1 and 4" in gap.notes[0]


def test_steps_without_counters_or_time_are_named(tmp_path: Path) -> None:
    table = steps_of(tmp_path, "run,step,time_s,X\na,0,1,\na,1,nan,7\na,2,2,8\n")
    assert "1 steps have no counters: run a step 0" in table.notes
    assert "1 steps have counters but no time: run a step 1" in table.notes
    assert np.isnan(table.time_s[0, 1])


def test_a_row_that_stands_twice_is_named_and_counts_once(tmp_path: Path) -> None:
    table = steps_of(tmp_path, WIDE + "b,1,9,9,9\na,2,2,3,\n")
    assert table.time_s[1, 0] == 1
    assert "2 rows stand twice, such as run b, step 1 in line 5; the first one" in table.notes[0]


def test_other_names_and_separators_are_taken(tmp_path: Path) -> None:
    text = "\ufeffJob;Iter;elapsed;X\r\na;1;1.5;3\r\na;2;2;3\r\n"
    table = steps_of(tmp_path, text, columns={"run": "Job", "step": "Iter", "time_s": "elapsed"})
    np.testing.assert_array_equal(table.time_s, [[1.5, 2]])
    assert table.counters == ("X",)
    # One of our names that the file uses for something else stays a counter.
    both = steps_of(tmp_path, "run,step,time_s,wall\na,1,7,1.5\n", columns={"time_s": "wall"})
    assert (both.time_s[0, 0], both.counters) == (1.5, ("time_s of the file",))
    long = "run,step,metric,reading\na,1,elapsed,1.5\na,1,X,3\n"
    names = {"counter": "metric", "value": "reading", "time_s": "elapsed"}
    assert steps_of(tmp_path, long, columns=names).time_s[0, 0] == 1.5
    with pytest.raises(ParameterError, match="got 'tme_s'; did you mean time_s"):
        steps_of(tmp_path, WIDE, columns={"tme_s": "elapsed"})
    assert "'elapsed' that stands for time_s; it has run" in refused(
        tmp_path, WIDE, columns={"time_s": "elapsed"}
    )


def test_a_column_of_texts_is_left_out_and_named(tmp_path: Path) -> None:
    table = steps_of(tmp_path, "run,step,time_s,host,X\na,0,1,nid1,4\na,1,1,nid2,5\n")
    assert table.counters == ("X",)
    assert table.notes == ("column host holds no number and was left out",)


@for_each(
    "text, words",
    [
        ("run,step,time_s\n", "must have rows"),
        ("run,step\na,1\n", "lacks time_s"),
        ("run,step,time_s\na,one,1\n", "2: step must be a whole number; got 'one'"),
        ("run,step,time_s\na,1.5,1\n", "2: step must be a whole number"),
        ("run,step,time_s\na,,1\n", "2: step must be a whole number"),
        ("run,step,time_s\n,1,1\n", "2: a table of steps must name the run in each row"),
        ("run,step,time_s\na,1,0\n", "2: time_s must be a time above 0 s; got '0'"),
        ("run,step,time_s\na,1,inf\n", "2: time_s must be a number"),
        ("run,step,time_s\na,1,nan\n", "must have a time of some step"),
        ("run,step,time_s,X\na,1,1,2\na,2,1,many\n", "3: X must be a number.*got 'many'"),
        ("run,step,time_s,X,X\na,1,1,2,3\n", "each column once; it has X"),
        ("run,step,counter,value\na,1,X,3\n", "readings of the counter time_s; it has X"),
        ("run,step,time_s\na,1,1,7\n", "2: .* a name for each cell.* has 3, .* has 4 cells"),
        ("run,step,time_s\na,1,1\na,2,1,7\n", "line 3"),
        ("", "must begin with the names"),
        (b"\xff\xfe\x00", "must be a CSV file"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, words: str
) -> None:
    assert re.search(words, refused(tmp_path, text))


def test_runs_that_number_their_steps_apart_do_not_fill_the_memory(tmp_path: Path) -> None:
    rows = "".join(f"r{at},{at},1\n" for at in range(10_000))
    assert "number the steps of all runs alike" in refused(tmp_path, "run,step,time_s\n" + rows)


def test_cumulative_counters_become_rises(tmp_path: Path) -> None:
    rows = [f"a,{step},1,{(2**32 - 250 + 100 * step) % 2**32},{100 * step}" for step in range(6)]
    rows += ["b,0,1,10,900", "b,1,1,20,950", "b,2,1,,1000", "b,3,1,40,3", "b,4,1,50,53"]
    text = "run,step,time_s,X,Y\n" + "\n".join(rows) + "\n"
    table = steps_of(tmp_path, text, cumulative="all")
    none = np.nan
    np.testing.assert_array_equal(table.values[0, :, 0], [none, 100, 100, 100, 100, 100])
    np.testing.assert_array_equal(table.values[1, :, 0], [none, 10, none, none, 10, none])
    np.testing.assert_array_equal(table.values[1, :, 1], [none, 50, 50, none, 50, none])
    assert "X wrapped 1 times, which was repaired" in table.notes
    assert "Y was reset 1 times; its rises there are missing" in table.notes
    one = steps_of(tmp_path, text, cumulative=["Y"], bits={"X": 32})
    np.testing.assert_array_equal(one.values[0], table.values[0])
    with pytest.raises(ParameterError, match=r"cumulative must name counters.*got 'Z'"):
        steps_of(tmp_path, text, cumulative=["Z"])
    with pytest.raises(ParameterError, match="bits of a counter must be 32, 48, 64; got 16"):
        steps_of(tmp_path, text, bits={"X": 16})
    assert "3: X must be a whole number from 0 to 2^64 - 1" in refused(
        tmp_path, "run,step,time_s,X\na,0,1,5\na,1,1,-4\n", cumulative="all"
    )


def test_a_counter_that_never_falls_is_pointed_out(tmp_path: Path) -> None:
    rows = "".join(f"a,{step},1,{step**2},{step % 3}\n" for step in range(12))
    notes = steps_of(tmp_path, "run,step,time_s,X,Y\n" + rows).notes
    assert notes == (
        "X never falls within a run; if it counts on from step to step, name it in cumulative",
    )


def test_starts_are_kept_with_their_clock(tmp_path: Path) -> None:
    text = (
        "run,step,time_s,start,end\n"
        "a,0,1,2019-01-31T08:00:00,2019-01-31T08:00:01\n"
        "a,1,1,2019-01-31T08:00:10,2019-01-31T08:00:11\n"
    )
    table = steps_of(tmp_path, text, offset_s=5)
    assert table.step_start is not None
    np.testing.assert_array_equal(table.step_start, [[EIGHT + 5, EIGHT + 15]])
    np.testing.assert_array_equal(table.start, [EIGHT + 5])
    assert table.counters == ()
    # The hour from one to two comes twice on that day: 1:59:50, then 1:00:10.
    fall = "run,step,time_s,start\na,0,1,2018-11-04T01:59:50\na,1,1,2018-11-04T01:00:10\n"
    twice = steps_of(tmp_path, fall, zone="America/Los_Angeles")
    assert twice.step_start is not None
    assert np.diff(twice.step_start[0]) == 20
    assert any("taken for the second" in note for note in twice.notes)
    kept = StepTable.load(table.save(tmp_path / "kept.json"))
    np.testing.assert_array_equal(kept.step_start, table.step_start)
    assert kept.rows([0]).number == (0, 1)


numbers = st.one_of(st.just(np.nan), st.floats(-1e12, 1e12), st.integers(0, 2**53).map(float))


@few
@given(st.integers(1, 3), st.integers(1, 4), st.integers(0, 2), st.data())
def test_long_and_wide_forms_agree(
    tmp_path: Path, runs: int, steps: int, counters: int, data: st.DataObject
) -> None:
    count = runs * steps
    times = data.draw(st.lists(st.floats(1e-6, 1e6), min_size=count, max_size=count))
    cells = data.draw(
        st.lists(numbers, min_size=count * counters, max_size=count * counters).map(
            lambda values: np.array(values).reshape(runs, steps, counters)
        )
    )
    header = ",".join(["run", "step", "time_s", *(f"C{at}" for at in range(counters))])
    rows = [
        ",".join(
            [f"r{run}", str(step), repr(times[run * steps + step])]
            + [repr(float(value)) for value in cells[run, step]]
        )
        for run, step in itertools.product(range(runs), range(steps))
    ]
    names = [f"C{at}" for at in range(counters)]
    wide = steps_of(tmp_path, "\n".join([header, *rows]) + "\n")
    np.testing.assert_array_equal(wide.time_s, np.reshape(times, (runs, steps)))
    np.testing.assert_array_equal(wide.values, cells)
    long = steps_of(tmp_path, as_long(wide))
    assert list(long.counters) == names
    assert (long.run, long.number) == (wide.run, wide.number)
    np.testing.assert_array_equal(long.time_s, wide.time_s)
    np.testing.assert_array_equal(long.values, wide.values)


@few
@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda tail: WIDE.encode() + tail))
def test_any_bytes_are_read_or_refused(tmp_path: Path, data: bytes) -> None:
    try:
        steps_of(tmp_path, data)
    except ParseError as error:
        assert "steps.csv" in str(error)


@few
@given(st.data())
def test_a_damaged_table_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    text = bytearray(WIDE.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        steps_of(tmp_path, bytes(text), cumulative=data.draw(st.sampled_from([(), "all"])))
    except ParseError as error:
        assert "steps.csv" in str(error)


def parquet_of(frame: pd.DataFrame, path: Path) -> Path:
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    frame.to_parquet(path)
    return path


def test_parquet_holds_the_same_table(tmp_path: Path) -> None:
    table = steps_of(tmp_path, WIDE)
    frame = pd.read_csv(tmp_path / "steps.csv")
    for at, each in enumerate((frame, frame.set_index(["run", "step"]))):
        same = read_steps(parquet_of(each, tmp_path / f"{at}.parquet"))
        assert (same.run, same.number, same.counters) == (table.run, table.number, table.counters)
        np.testing.assert_array_equal(same.time_s, table.time_s)
        np.testing.assert_array_equal(same.values, table.values)
        assert same.notes == table.notes


def test_parquet_keeps_64_bits_and_dates(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "run": pd.Series(["a", "a"], dtype="category"),
            "step": np.array([0, 1], np.int8),
            "time_s": np.array([1, 2], np.float32),
            "start": pd.to_datetime(["2019-01-31T08:00:00", "2019-01-31T08:00:02"]),
            "X": np.array([2**64 - 5, 5], np.uint64),
        }
    )
    path = parquet_of(frame, tmp_path / "x.parquet")
    table = read_steps(path, cumulative=["X"], bits={"X": 64})
    assert table.values[0, 1, 0] == 10
    assert table.start[0] == EIGHT


@few
@given(st.binary(max_size=100), st.integers(0, 2**32))
def test_any_bytes_that_say_parquet_are_refused(tmp_path: Path, data: bytes, at: int) -> None:
    frame = pd.DataFrame({"run": ["a"], "step": [0], "time_s": [1.0]})
    whole = parquet_of(frame, tmp_path / "good.parquet").read_bytes()
    cut = 4 + at % (len(whole) - 4)
    for text in (b"PAR1" + data, whole[:cut], whole[:cut] + data + whole[cut + len(data) :]):
        try:
            read_steps_of = steps_of(tmp_path, text)
            assert read_steps_of.run
        except ParseError as error:
            assert "steps.csv" in str(error)


def test_without_an_engine_the_error_tells_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    words = refused(tmp_path, b"PAR1 and more")
    assert "pip install 'interconnect-workbench[parquet]'" in words
