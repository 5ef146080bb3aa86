from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.reading import reading_of as reading_of_any
from workbench.variability import JobLog, Runs, neighbourhood, read_jobs, read_runs
from workbench.variability.known_files import reading_of

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
NINE_OCLOCK = "2019-01-31T09:00:00"
REPORTS = Path(__file__).parents[2] / "data" / "reports"


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


@for_each("before", ["#", " ", "> "])
def test_columns_of_fixed_width_as_they_are_pasted(tmp_path: Path, before: str) -> None:
    pasted = "".join(f"{before}{line}\n" for line in FIXED.splitlines())
    jobs = read_jobs(written(tmp_path, f"$ sacct -a\n{pasted}\n. . .\n"))
    assert (jobs.job, jobs.user) == (("7", "9"), ("ann", "bob"))
    assert_array_equal(jobs.start, [EIGHT, EIGHT + 1800])
    assert any("without a job's number" in note for note in jobs.notes)


def test_a_carriage_return_within_a_line_begins_none(tmp_path: Path) -> None:
    lines = FIXED.splitlines()
    damaged = "\n".join([lines[0], *lines[2:], f"-----\r{lines[1]}"])
    with pytest.raises(ParseError):
        read_jobs(written(tmp_path, damaged))


def test_a_column_of_steps_may_be_empty_beside_a_name_with_the_separator(tmp_path: Path) -> None:
    text = "JobID|JobName|NTasks|User|NNodes|Start|End\n"
    text += "7|a|b||ann|2|2019-01-31T08:00:00|2019-01-31T09:00:00\n"
    assert read_jobs(written(tmp_path, text)).user == ("ann",)


def test_a_row_that_fits_no_columns_is_left_out_soon(tmp_path: Path) -> None:
    # 30 columns without a shape and 8 separators too many: 5e8 ways, none of which fits.
    names = [*(f"Field{at}" for at in range(30)), "JobID", "User", "NNodes", "Start", "End"]
    good = ["x"] * 30 + ["7", "ann", "2", "2019-01-31T08:00:00", "2019-01-31T09:00:00"]
    bad = [*good[:30], *["y"] * 8, "8", "ann", "two", *good[33:]]
    text = "".join("|".join(cells) + "\n" for cells in (names, good, bad, good))
    jobs = read_jobs(written(tmp_path, text))
    assert jobs.job == ("7",)
    assert any("rows have other columns" in note for note in jobs.notes)


def test_a_table_below_its_command_quoted_or_in_markdown(tmp_path: Path) -> None:
    command = "ann@n1:~$ sacct -P -X \\\n  --format=JobID,User,NNodes,Start,End,State\n"
    quoted = "".join(f"> {line}\n" for line in (command + SACCT).splitlines())
    head, *rows = (f"|{line}|\n" for line in SACCT.splitlines())
    for text in (command + SACCT, quoted, head + "|---|:--|--:|---|---|---|\n" + "".join(rows)):
        jobs = read_jobs(written(tmp_path, text))
        assert (jobs.job, jobs.user) == (("7", "9"), ("ann", "bob"))
        assert "2 steps of jobs were left out" in jobs.notes
    with pytest.raises(ParseError, match="it has none; 1 jobs that never started"):
        reading_of(SACCT.splitlines(keepends=True)[0].encode() + b"8|b|1|None|None|x\n", "x", None)


@for_each(
    "column, cells",
    [
        ("NodeList", ("w[01-03,7]", "None assigned", "w9")),
        ("AllocTRES", ("cpu=96,mem=4G,node=4", "", "billing=1,node=1")),
    ],
)
def test_nodes_are_counted_where_no_column_does(
    tmp_path: Path, column: str, cells: tuple[str, ...]
) -> None:
    times = "2019-01-31T08:00:00|2019-01-31T09:00:00"
    rows = [f"{at}|ann|{cell}|{times}\n" for at, cell in enumerate(cells)]
    jobs = read_jobs(written(tmp_path, f"JobID|User|{column}|Start|End\n" + "".join(rows)))
    assert_array_equal(jobs.nodes, [4, 1])
    assert f"the numbers of nodes are those in {column}" in jobs.notes
    cut = f"JobID|User|NodeList|Start|End\n1|ann|w[01-0+|{times}\n"
    with pytest.raises(ParseError, match=r"cut off.*NNodes"):
        read_jobs(written(tmp_path, cut))


@for_each(
    "text, said",
    [
        ("7|7|m|ann|2019-01-31T08:00:00|2019-01-31T09:00:00|4\n", "without -n"),
        ("  JobID  User NNodes  Start  End  State\n  7  ann  4  x  y  z\n", "line of dashes"),
        ("  JOBID PARTITION NAME USER ST\n  7  batch  x  ann  R\n", "squeue's output"),
        ('{\n  "jobs": []\n}\n', "sacct's JSON"),
    ],
)
def test_what_is_no_job_log_names_the_way(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        reading_of_any(text.encode(), "jobs.txt")


def test_a_field_that_holds_the_separator_is_told_by_the_others(tmp_path: Path) -> None:
    jobs = read_jobs(REPORTS / "16b_pipe_in_name.txt")
    assert (len(jobs), jobs.left_out) == (31, 50)
    at = jobs.job.index("8003_3")  # whose name is: run . | grep hot
    assert (jobs.user[at], jobs.nodes[at], jobs.end[at] - jobs.start[at]) == ("bully", 256, 1499)
    assert any("line 20; their columns were found" in n for n in jobs.notes)
    head = "JobID|JobName|User|NNodes|Start|End|Comment"
    row = "1|{}|ann|4|2024-03-01T00:00:00|2024-03-01T01:00:00|{}"
    for end in ("", "|"):
        rows = [row.format("|a|b|", ""), row.format("x|5|2024", "a|b"), row.format("", "||")]
        text = "\n".join(line + end for line in [head, *rows])
        assert read_jobs(written(tmp_path, text.replace("1|x", "2|x"))).user == ("ann", "ann")
        lines = "\n".join([head + end, row.format("two\nlines", "") + end, rows[2] + end])
        assert len(read_jobs(written(tmp_path, lines.replace("1||", "2||")))) == 2
        # A name that looks like the columns after it: which they are is not certain.
        both = row.format("x|bob|8|2024-03-01T00:00:00|2024-03-01T02:00:00|y", "")
        found = read_jobs(written(tmp_path, "\n".join([head + end, rows[0] + end, both + end])))
        assert (found.user, found.left_out) == (("ann",), 1)
        assert "were left out: line 3" in found.notes[1]
    lists = 'JobID,User,NNodes,Start,End,NodeList\n1,ann,4,0,9,n[1,3-5]\n2,bob,4,0,9,"n[1,3-5]"\n'
    for text in (lists, lists.replace('"', "")):
        assert read_jobs(written(tmp_path, text)).user == ("ann", "bob")
    own = "job|user|nodes|start|end\n1|ann|2|0|9\n2|bob|x|2|0|9\n"
    assert read_jobs(written(tmp_path, own)).user == ("ann",)


def test_latin_1_and_utf_16_are_read(tmp_path: Path) -> None:
    jobs = read_jobs(REPORTS / "16g_latin1.txt")
    assert jobs.user == ("bully", "bully", "bully", "nice")
    assert jobs.notes == ("the file is not UTF-8; it was read as Latin-1",)
    assert read_jobs(written(tmp_path, SACCT.encode("utf-16"))).user == ("ann", "bob")
    # sacct counts bytes in columns of fixed width.
    for coding, name in (("utf-8", "  jörg"), ("latin-1", "   jörg")):
        text = FIXED.replace("    ann", name)
        assert read_jobs(written(tmp_path, text.encode(coding))).user == ("jörg", "bob")


def test_what_sacct_abbreviates_and_cuts_off_is_named(tmp_path: Path) -> None:
    text = SACCT.replace("|256|", "|1.50K|").replace("9|bob|64", "9|bob|0")
    jobs = read_jobs(written(tmp_path, text))
    assert_array_equal(jobs.nodes, [1536])
    assert any("such as 1.50K as 1536" in note for note in jobs.notes)
    assert "1 jobs with 0 nodes, cancelled before they started, were left out" in jobs.notes
    assert jobs.left_out == 4
    cut = read_jobs(
        written(tmp_path, FIXED.replace(" ann", "ann+").replace("      bob", "abcdefgh+"))
    )
    assert (
        "2 names of User end in +, where sacct cut them off: print with -P, or User%30" in cut.notes
    )


ENDED = """JobID|User|NNodes|Start|End
7|ann|256|2019-01-31T08:00:00|2019-01-31T09:00:00
8|bob|64|2019-01-31T08:30:00|2019-01-31T09:00:00
9|eve|64|2019-01-31T08:31:00|2019-01-31T09:00:00
"""


@for_each("text", [ENDED, ENDED.replace("\n", "|\n"), ENDED.replace("|", ","), FIXED])
def test_a_file_cut_off_in_its_last_line_has_the_others(tmp_path: Path, text: str) -> None:
    text = text.replace("            Unknown", NINE_OCLOCK)
    whole = read_jobs(written(tmp_path, text)).to_frame()
    last = text.rstrip("\n").rindex("\n") + 1
    for length in range(last + 1, len(text.rstrip("|\n")), 6):
        found = read_jobs(written(tmp_path, text[:length]))
        assert found.to_frame().equals(whole.iloc[:-1]), text[last:length]
        assert (found.left_out, len(found.notes)) == (1, 1)
        assert "the last, is cut off" in found.notes[0]


def test_files_that_were_put_one_after_another_are_read(tmp_path: Path) -> None:
    later = SACCT.replace(
        "9|bob|64|2019-01-31T08:30:00|Unknown", "9|bob|64|2019-01-31T08:30:00|" + NINE_OCLOCK
    )
    jobs = read_jobs(written(tmp_path, "$ sacct -a -P\n" + SACCT + later))
    assert_array_equal(jobs.end, [EIGHT + 3600, EIGHT + 3600])  # the row with an end counts
    assert "1 lines before the names of columns were left out" in jobs.notes
    assert "the names of columns stand 1 more times; left out" in jobs.notes
    assert "2 rows are of a job and start that another row has too; left out" in jobs.notes
    with pytest.raises(ParseError, match="3: start must be"):
        read_jobs(written(tmp_path, "$ sacct\n" + SACCT.replace("2019-01-31T08", "soon", 1)))


def test_a_job_log_says_what_it_is() -> None:
    name = "16b_pipe_in_name.txt"
    reading = reading_of((REPORTS / name).read_bytes(), name, None)
    assert reading is not None
    assert (reading.kind, reading.facts["rows"], reading.facts["left_out"]) == ("jobs", 31, 50)
    assert reading.title == "sacct: 31 jobs of 4 users, up to 256 nodes"
    fixed = reading_of(FIXED.encode(), "fixed", None)
    assert fixed is not None
    assert fixed.facts["rows"] == 2
    for other in (b"", b"# OSU MPI Latency\n1 2.0\n", b"run,start,end\n", b"PAR1", b"a|b\n1|2\n"):
        assert reading_of(other, "other", None) is None
    with pytest.raises(ParseError, match="lacks User; print them with sacct -a -P -o"):
        reading_of(b"JobID|Account|NNodes|Start|End\n1|a|2|0|1\n", "x", None)


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
        (TABLE.replace("256", "many"), "nodes must be a whole number of at least 0; got 'many'", 2),
        (TABLE.replace("256", "-1"), "nodes must be", 2),
        (TABLE.replace("0,100", "9,3"), "ends? before it starts; job 1 runs from 9 to 3", 2),
        (TABLE.replace("bob", ""), "each job must have a user; job 2 has none", 3),
        (TABLE.replace("0,100", "soon,100"), "start must be seconds or a date", 2),
        (TABLE.replace("0,100", "nan,100"), "start must be seconds or a date", 2),
        (b"\xff\x00job", "must be a CSV file", 0),
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
    assert_array_equal(runs.optimal(), [True, False])
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


def test_jobs_of_a_user_that_together_span_a_run_count_as_one() -> None:
    runs = runs_of((10, 20), (30, 40))
    jobs = jobs_of(
        ("1", "ann", 128, 5, 15),  # these two meet in the first run,
        ("2", "ann", 256, 15, 22),
        ("3", "ann", 128, 29, 34),  # these leave a second of the other one
        ("4", "ann", 128, 35, 45),
        ("5", "bob", 128, 0, 12),  # between these two is one that is too small
        ("6", "bob", 64, 12, 18),
        ("7", "bob", 128, 18, 21),
        ("8", "bob", 128, 25, 33),  # a job inside another one
        ("9", "bob", 128, 31, 32),
        ("10", "bob", 128, 33, 40),
    )
    found = neighbourhood(runs, jobs, least_nodes=128)
    assert found.users == (("ann",), ("bob",))
    assert_array_equal(found.present, [[1, 0], [0, 1]])


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
