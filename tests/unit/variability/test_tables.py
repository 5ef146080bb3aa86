from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.variability import JobLog, Runs, neighbourhood, read_jobs, read_runs

TABLE = """job,user,nodes,start,end
1,ann,256,0,100
2,bob,128,2019-01-31T00:00:10,2019-01-31T00:05:00+00:00
"""
SACCT = """JobID|User|NNodes|Start|End|State
7|ann|256|2019-01-31T08:00:00|2019-01-31T09:00:00|COMPLETED
7.batch||1|2019-01-31T08:00:00|2019-01-31T09:00:00|COMPLETED
7.0||256|2019-01-31T08:00:01|2019-01-31T09:00:00|COMPLETED
8_2|bob|64|Unknown|Unknown|PENDING
9|bob|64|2019-01-31T08:30:00|Unknown|RUNNING
"""
FIXED = """       JobID      User   NNodes               Start                 End
------------ --------- -------- ------------------- -------------------
7                  ann      256 2019-01-31T08:00:00 2019-01-31T09:00:00
9                  bob       64 2019-01-31T08:30:00             Unknown
"""
EIGHT = 1548921600.0  # 2019-01-31T08:00 UTC


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "table.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_table_of_jobs_is_read(tmp_path: Path) -> None:
    jobs = read_jobs(written(tmp_path, TABLE), offset_s=5)
    assert jobs.user == ("ann", "bob")
    assert_array_equal(jobs.nodes, [256, 128])
    midnight = EIGHT - 8 * 3600
    assert_array_equal(jobs.start, [5, midnight + 15])
    assert_array_equal(jobs.end, [105, midnight + 305])
    assert jobs.notes == ()
    assert repr(jobs) == "JobLog(2 jobs of 2 users, up to 256 nodes)"
    read = JobLog.load(jobs.save(tmp_path / "jobs.json"))
    assert read.to_frame().equals(jobs.to_frame())


@for_each("text", [SACCT, FIXED, SACCT.replace("\n", "|\n")])
def test_what_sacct_prints_is_read(tmp_path: Path, text: str) -> None:
    jobs = read_jobs(written(tmp_path, text))
    assert (jobs.job, jobs.user) == (("7", "9"), ("ann", "bob"))
    assert_array_equal(jobs.start, [EIGHT, EIGHT + 1800])
    assert_array_equal(jobs.end, [EIGHT + 3600, np.inf])
    assert "1 jobs without an end still run" in jobs.notes
    if text is not FIXED:
        assert "2 steps of jobs were left out" in jobs.notes
        assert "1 jobs that never started were left out" in jobs.notes


def test_clocks_that_are_put_back_and_forward_are_reported(tmp_path: Path) -> None:
    rows = [
        "job,user,nodes,start,end",
        "1,ann,1,2018-11-04T01:30:00,2018-11-04T03:00:00",  # 01:30 comes twice in California
        "2,ann,1,2019-03-10T02:30:00,2019-03-10T04:00:00",  # 02:30 is left out
    ]
    jobs = read_jobs(written(tmp_path, "\n".join(rows)), zone="America/Los_Angeles")
    assert_array_equal(jobs.end - jobs.start, [2.5 * 3600, 0.5 * 3600])
    assert len(jobs.notes) == 2
    assert "1 times of start are in an hour that America/Los_Angeles has twice" in jobs.notes[0]
    assert "leaves out" in jobs.notes[1]
    with pytest.raises(ParameterError, match="zone must be a time zone"):
        read_jobs(written(tmp_path, TABLE), zone="Mars/Olympus")


@for_each(
    "text, words, line",
    [
        ("job,user,nodes,start\n1,a,1,0\n", "lacks end", 1),
        ("JobID|User|Start|End\n1|a|0|1\n", "lacks NNodes", 1),
        (TABLE.replace("256", "many"), "nodes must be a whole number of at least 1; got 'many'", 2),
        (TABLE.replace("256", "0"), "nodes must be", 2),
        (TABLE.replace("0,100", "9,3"), "ends? before it starts; job 1 runs from 9 to 3", 2),
        (TABLE.replace("bob", ""), "each job must have a user; job 2 has none", 3),
        (TABLE.replace("0,100", "soon,100"), "start must be seconds or a date", 2),
        (TABLE.replace("0,100", "nan,100"), "start must be seconds or a date", 2),
        (b"\xff\xfe\x00job", "must be a CSV file", 0),
        (b"", "must", 0),
    ],
)
def test_a_bad_job_log_is_refused(tmp_path: Path, text: str | bytes, words: str, line: int) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        read_jobs(written(tmp_path, text))
    assert "table.txt" in str(caught.value)
    assert not line or f"{line}" in str(caught.value)


def test_runs_are_read_and_refused(tmp_path: Path) -> None:
    good = "run,start,end,time_s\na,0,10,8\nb,20,40,15\n"
    runs = read_runs(written(tmp_path, good))
    assert_array_equal(runs.time_s, [8, 15])
    assert_array_equal(runs.optimal, [True, False])
    assert repr(runs) == "Runs(2 runs of 8 to 15 s)"
    bare = read_runs(written(tmp_path, "run,start,end\na,0,10\nb,20,40\n"))
    assert_array_equal(bare.time_s, [10, 20])
    assert "from its start to its end" in bare.notes[0]
    for text, words in (
        (good.replace("0,10", "10,10"), "must end after it starts; run a does not"),
        (good.replace("b,", "a,"), "run a stands in two"),
        (good.replace(",15", ",-15"), "time_s must be a time above 0 s; got '-15'"),
        ("run,start,end\na,0,1\n", "must have 2 or more; got 1"),
    ):
        with pytest.raises(ParseError, match=words):
            read_runs(written(tmp_path, text))


def runs_of(*times: tuple[float, float]) -> Runs:
    start, end = np.array(times, np.float64).T
    return Runs(tuple("rst"[: len(times)]), start, end, end - start)


def jobs_of(*rows: tuple[str, str, int, float, float]) -> JobLog:
    job, user, nodes, start, end = zip(*rows, strict=True)
    return JobLog(job, user, np.array(nodes), np.array(start, float), np.array(end, float))


def test_neighbours_have_a_large_job_during_all_of_a_run() -> None:
    runs = runs_of((10, 20), (30, 40), (50, 60))
    jobs = jobs_of(
        ("r", "me", 512, 10, 20),  # the first run itself
        ("1", "ann", 256, 0, 45),
        ("2", "bob", 128, 15, 100),
        ("3", "cid", 127, 0, 100),
        ("4", "dan", 300, 5, np.inf),
        ("5", "dot", 200, 0, 99),
    )
    found = neighbourhood(runs, jobs)
    assert found.users == (("ann",), ("bob",), ("dan", "dot"))
    assert_array_equal(found.present, [[1, 0, 1], [1, 1, 1], [0, 1, 1]])
    assert_array_equal(found.nodes, [[256, 64, 500], [256, 128, 500], [0, 128, 500]])
    assert "2 users had no such job beside any run" in found.notes
    assert "dan, dot always ran together and cannot be told apart" in found.notes
    assert found.to_frame().loc["r"].tolist() == [True, False, True]
    some = neighbourhood(runs, jobs, during_all=False)
    assert some.present[0, some.users.index(("bob", "dan", "dot"))]
    small = neighbourhood(runs, jobs, least_nodes=100)
    assert ("cid", "dan", "dot") in small.users


def test_small_machines_have_small_neighbours() -> None:
    runs = runs_of((10, 20), (30, 40))
    jobs = jobs_of(("1", "ann", 8, 0, 25), ("2", "bob", 4, 0, 100), ("3", "cid", 2, 0, 50))
    found = neighbourhood(runs, jobs)
    assert found.least_nodes == 1
    assert found.users == (("ann",), ("bob", "cid"))
    assert "users with jobs of 128 nodes held less than half" in found.notes[0]
    with pytest.raises(ParameterError, match="mend the clocks"):
        neighbourhood(runs, jobs_of(("1", "ann", 8, 1e9, 2e9)))


def test_other_names_separators_and_parquet_are_taken(tmp_path: Path) -> None:
    table = "id;who;n;from;to\n1;ann;256;0;100\n2;bob;128;10;300\n"
    names = {"job": "id", "user": "who", "nodes": "n", "start": "from", "end": "to"}
    jobs = read_jobs(written(tmp_path, table), columns=names)
    assert jobs.user == ("ann", "bob")
    sacct = SACCT.replace("User", "Account")
    assert read_jobs(written(tmp_path, sacct), columns={"user": "Account"}).user == ("ann", "bob")
    runs = read_runs(
        written(tmp_path, "Job\tt0\tt1\na\t0\t10\nb\t20\t40\n"),
        columns={"run": "Job", "start": "t0", "end": "t1"},
    )
    assert_array_equal(runs.time_s, [10, 20])
    with pytest.raises(ParameterError, match="did you mean start"):
        read_runs(written(tmp_path, "run,start,end\n"), columns={"strat": "x"})
    pytest.importorskip("pyarrow", reason="Parquet needs the extra parquet")
    path = tmp_path / "jobs.parquet"
    pd.DataFrame(
        {
            "job": [1, 2],
            "user": ["ann", "bob"],
            "nodes": [256, 128],
            "start": [0, 10],
            "end": [100, None],
        }
    ).to_parquet(path)
    same = read_jobs(path)
    assert (same.job, same.user) == (("1", "2"), ("ann", "bob"))
    assert_array_equal(same.end, [100, np.inf])
    dated = pd.DataFrame({"run": ["a", "b"], "start": [0, 1], "end": [5, 6]})
    dated[["start", "end"]] = dated[["start", "end"]].apply(pd.to_datetime, unit="s")
    dated.to_parquet(path)
    assert_array_equal(read_runs(path).end, [5, 6])
