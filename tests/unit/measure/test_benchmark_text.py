"""Each text here is written in a form that a version of the benchmarks or a launcher prints."""

from __future__ import annotations

import math

import pytest

from workbench.errors import ParseError
from workbench.measure import BenchmarkTable, parse_benchmarks

LATENCY_5 = """\
# OSU MPI Latency Test v5.8
# Size          Latency (us)
0                       1.51
1                       1.57
8192                    4.07
"""
LATENCY_7 = """\

# OSU MPI Latency Test v7.5
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       1.57
8192                    4.07
"""
BANDWIDTH = """\
# OSU MPI Bandwidth Test v5.8
# Size      Bandwidth (MB/s)
1                       4.02
8192                12345.67
"""


def only(text: str | bytes) -> BenchmarkTable:
    (table,) = parse_benchmarks(text)
    return table


def rows(table: BenchmarkTable) -> dict[int, float]:
    return dict(zip(table.sizes.tolist(), table.result.tolist(), strict=True))


def test_a_table_of_version_5() -> None:
    table = only(LATENCY_5)
    assert (table.benchmark, table.version, table.title) == ("latency", "5.8", "OSU MPI Latency")
    assert rows(table) == {0: 1.51, 1: 1.57, 8192: 4.07}
    assert table.lines.tolist() == [3, 4, 5]
    assert table.columns == ("Latency (us)",)
    assert table.notes == ()
    assert not table.truncated
    assert repr(table) == "BenchmarkTable(osu_latency 5.8, 3 rows, text:1)"


def test_a_table_of_version_7() -> None:
    table = only(LATENCY_7)
    assert (table.benchmark, table.version) == ("latency", "7.5")
    assert rows(table) == {1: 1.57, 8192: 4.07}
    assert table.comments == ("Datatype: MPI_CHAR.",)


@pytest.mark.parametrize(
    ("title", "kind", "version"),
    [
        ("# OSU MPI Latency Test (Version 2.0)", "latency", "2.0"),
        ("# OSU MPI Latency Test v3.9", "latency", "3.9"),
        ("# OSU MPI-CUDA Latency Test v7.5.2", "latency", "7.5.2"),
        ("# OSU MPI-ROCM Latency Test v7.0", "latency", "7.0"),
        (" OSU MPI Latency Test v7.2", "latency", "7.2"),
        ("# MPI Latency Test", "latency", ""),
        ("# OSU MPI Multi Latency Test v5.8", "other", "5.8"),
        ("# OSU MPI Multi-threaded Latency Test v5.8", "other", "5.8"),
        ("# OSU MPI_Put Latency Test v5.8", "other", "5.8"),
        ("# OSU MPI Persistent Latency Test v7.5", "other", "7.5"),
    ],
)
def test_titles_tell_the_benchmark_and_its_version(title: str, kind: str, version: str) -> None:
    table = only(f"{title}\n# Size          Latency (us)\n8       2.00\n")
    assert (table.benchmark, table.version) == (kind, version)
    assert table.result.tolist() == [2.0]


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("OSU MPI Bandwidth Test v5.8", "bw"),
        ("OSU MPI Bi-Directional Bandwidth Test v5.8", "bibw"),
        ("OSU MPI Bidirectional Bandwidth Test (Version 2.1)", "bibw"),
        ("OSU MPI-CUDA Bi-Directional Bandwidth Test v7.5", "bibw"),
    ],
)
def test_one_direction_and_both_are_different_benchmarks(title: str, kind: str) -> None:
    assert only(f"# {title}\n# Size\t\tBandwidth (MB/s)\n8\t\t2.00\n").benchmark == kind


def test_message_rates_stand_beside_the_bandwidth() -> None:
    table = only(
        "# OSU MPI Multiple Bandwidth / Message Rate Test v5.8\n"
        "# [ pairs: 4 ] [ window size: 64 ]\n"
        "# Size                  MB/s        Messages/s\n"
        "1                       8.36        8361985.11\n"
        "2                      16.57        8284756.13\n"
    )
    assert table.benchmark == "mbw_mr"
    assert table.columns == ("MB/s", "Messages/s")
    assert table.values.tolist() == [[8.36, 8361985.11], [16.57, 8284756.13]]
    assert table.comments == ("[ pairs: 4 ] [ window size: 64 ]",)


def test_full_validation_and_percentile_columns() -> None:
    table = only(
        "# OSU MPI Latency Test v7.5\n"
        "# Datatype: MPI_CHAR.\n"
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
        "        Validation  P50 Tail Lat(us)  P90 Tail Lat(us)\n"
        "1    1.57   1.50   1.60   10000   Pass   1.56   1.59\n"
        "2    1.58   1.51   1.61   10000   Fail   1.57   1.60\n"
        "4    1.59   1.52   1.62   10000   Pass   1.58   1.61\n"
    )
    assert rows(table) == {1: 1.57, 4: 1.59}
    assert table.columns[2:5] == ("Max Latency(us)", "Iterations", "Validation")
    assert table.values[0, [0, 1, 2, 3, 5, 6]].tolist() == [1.57, 1.5, 1.6, 10000, 1.56, 1.59]
    assert math.isnan(table.values[0, 4])
    (note,) = table.notes
    assert (note.line, note.message) == (
        5,
        "validation failed at 2 bytes; the row was left out",
    )


@pytest.mark.parametrize(
    "label",
    [
        "[1,0]<stdout>:",
        "[1,0]<stdout>: ",
        "[prterun-node1-4711@1,0]<stdout>: ",
        "Sat Nov 21 00:04:31 2026[1,0]<stdout>:",
        "0: ",
        "[0] ",
        "2026-01-31T12:00:00.123456789Z ",
        "[2026-01-31 12:00:00] ",
        "Jan 31 12:00:00 ",
        "Sat Jan 31 12:00:00 2026 ",
        "12:00:00.5 ",
        "12:00:00 [0] ",
        "launcher-0  | ",
    ],
)
def test_labels_of_launchers_are_taken_off(label: str) -> None:
    labelled = "".join(f"{label}{line}\n" for line in LATENCY_7.splitlines())
    table = only(labelled)
    assert rows(table) == {1: 1.57, 8192: 4.07}
    assert table.notes == ()


def test_lines_of_launchers_are_named_and_change_nothing() -> None:
    table = only(
        "srun: job 9906524 has been allocated resources\n"
        "/usr/bin/osu_latency: libnl-3.so.200: no version information available\n"
        + LATENCY_5.replace(
            "1                       1.57\n",
            "1                       1.57\n[node1:123] 5 more processes have sent help message\n",
        )
        + "slurmstepd: error: *** STEP 1.0 CANCELLED DUE TO TIME LIMIT ***\n"
    )
    assert rows(table) == {0: 1.51, 1: 1.57, 8192: 4.07}
    assert [note.line for note in table.notes] == [1, 2, 7, 9]
    assert all(note.unread for note in table.notes)
    assert "5 more processes" in table.notes[2].message


def test_a_row_torn_by_another_line_is_not_used() -> None:
    table = only(LATENCY_5.replace("1.57\n", "1.5srun: error: node1\n"))
    assert rows(table) == {0: 1.51, 8192: 4.07}
    assert table.notes[0].line == 4
    table = only(LATENCY_5.replace("1.57\n", "1.\n"))
    assert rows(table) == {0: 1.51, 8192: 4.07}


def test_thousands_separators() -> None:
    table = only(BANDWIDTH.replace("8192 ", "4,194,304 ").replace("12345.67", "12,345.67"))
    assert rows(table) == {1: 4.02, 4194304: 12345.67}
    table = only(BANDWIDTH.replace("12345.67", "12,34"))
    assert rows(table) == {1: 4.02}
    assert "not understood" in table.notes[0].message


def test_comments_after_the_numbers() -> None:
    table = only(LATENCY_5.replace("1.57\n", "1.57  # min 1.50 p50 1.56 n 100\n"))
    assert rows(table) == {0: 1.51, 1: 1.57, 8192: 4.07}


@pytest.mark.parametrize(
    ("end", "kept"),
    [
        ("8192                    4.07", True),
        ("8192                    4.0", False),
        ("8192                    4.", False),
        ("8192                    4", False),
        ("8192  ", False),
        ("81", False),
        ("8192      4.07  # min 4.0", True),
    ],
)
def test_a_text_that_ends_inside_a_row_says_so(end: str, kept: bool) -> None:
    table = only(LATENCY_5.replace("8192                    4.07\n", end))
    assert rows(table) == {0: 1.51, 1: 1.57} | ({8192: 4.07} if kept else {})
    assert table.truncated is not kept
    assert ("truncated" in repr(table)) is not kept
    if not kept:
        assert table.notes[-1].line == 5
        assert "ends in the middle of this row" in table.notes[-1].message


def test_a_cut_in_a_later_column_drops_the_row_too() -> None:
    text = "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)        Validation\n"
    text += "1   0.88   Pass\n2   1.76   P"
    table = only(text)
    assert rows(table) == {1: 0.88}
    assert table.truncated
    whole = only(text + "ass")
    assert rows(whole) == {1: 0.88, 2: 1.76}
    assert not whole.truncated


def test_a_table_without_decimals_is_not_taken_for_cut() -> None:
    table = only("# OSU MPI Latency Test v5.8\n# Size  Latency (us)\n1  2\n2  3\n4  4")
    assert rows(table) == {1: 2.0, 2: 3.0, 4: 4.0}


def test_two_benchmarks_in_one_text() -> None:
    first, second = parse_benchmarks(LATENCY_5 + "\n" + BANDWIDTH, "job.out")
    assert (first.benchmark, second.benchmark) == ("latency", "bw")
    assert rows(second) == {1: 4.02, 8192: 12345.67}
    assert (second.source, second.line) == ("job.out", 7)


def test_sizes_that_start_again_are_another_run() -> None:
    first, second = parse_benchmarks(LATENCY_5 + "1   1.60\n8192   4.10\n")
    assert rows(first) == {0: 1.51, 1: 1.57, 8192: 4.07}
    assert rows(second) == {1: 1.6, 8192: 4.1}
    # Version 7 prints the heading again for each data type.
    first, second = parse_benchmarks(
        LATENCY_7 + "# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n8192     4.20\n"
    )
    assert rows(second) == {8192: 4.2}
    assert second.benchmark == "latency"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\r\r\n"])
def test_line_ends_of_other_systems(end: str) -> None:
    table = only(LATENCY_5.replace("\n", end))
    assert rows(table) == {0: 1.51, 1: 1.57, 8192: 4.07}
    assert table.lines.tolist() == [3, 4, 5]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
def test_bytes_of_files(encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    text = "Tâche démarrée\n" + LATENCY_5
    table = only(mark + text.encode(encoding))
    assert rows(table) == {0: 1.51, 1: 1.57, 8192: 4.07}
    assert table.labels["label"] == "Tâche démarrée"


@pytest.mark.parametrize(
    ("text", "line", "unit"),
    [
        (LATENCY_5.replace("(us)", "(ms)"), 2, "ms"),
        (LATENCY_7.replace("(us)", "(ns)"), 4, "ns"),
        (BANDWIDTH.replace("MB/s", "GB/s"), 2, "GB/s"),
        (BANDWIDTH.replace("MB/s", "MiB/s"), 2, "MiB/s"),
        (BANDWIDTH.replace("MB/s", "Mb/s"), 2, "Mb/s"),
    ],
)
def test_other_units_are_refused(text: str, line: int, unit: str) -> None:
    with pytest.raises(ParseError, match=f"got the unit '{unit}'; convert the column") as caught:
        parse_benchmarks(text, "a.out")
    assert (caught.value.source, caught.value.line) == ("a.out", line)


def test_buffers_are_distinguished() -> None:
    device = LATENCY_5.replace("MPI Latency", "MPI-CUDA Latency")
    both = "# Send Buffer on {} and Receive Buffer on {}\n# Size"
    assert only(LATENCY_5).buffers == ""
    assert only(device).buffers == "CUDA"
    on_device = device.replace("# Size", both.format("DEVICE (D)", "DEVICE (D)"))
    assert only(on_device).buffers == "CUDA D D"
    on_host = device.replace("# Size", both.format("HOST (H)", "HOST (H)"))
    assert only(on_host).buffers == ""


def test_rows_of_other_benchmarks_are_kept_apart() -> None:
    collective, barrier, latency = parse_benchmarks(
        "# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n4   9.99\n8   9.98\n"
        "# OSU MPI Barrier Latency Test v7.5\n# Avg Latency(us)\n             4.91\n" + LATENCY_7
    )
    assert (collective.benchmark, barrier.benchmark) == ("collective", "collective")
    assert (collective.test, rows(collective)) == ("osu_allreduce", {4: 9.99, 8: 9.98})
    assert (barrier.test, rows(barrier)) == ("osu_barrier", {0: 4.91})
    assert rows(latency) == {1: 1.57, 8192: 4.07}


def test_headings_without_a_title() -> None:
    latency, bandwidth, either = parse_benchmarks(
        "# Size  Latency (us)\n8  2.00\n# Size  Bandwidth (MB/s)\n8  4.00\n"
        "# Size  Avg Latency(us)\n8  2.00\n"
    )
    assert (latency.benchmark, bandwidth.benchmark) == ("latency", "bw")
    assert "taken for osu_latency" in latency.notes[0].message
    assert "taken for osu_bw" in bandwidth.notes[0].message
    assert either.benchmark == "other"
    assert "put a line such as '# OSU MPI Latency Test' above it" in either.notes[0].message


def test_a_title_without_headings_has_the_usual_columns() -> None:
    table = only("# OSU MPI Bandwidth Test v5.8\n8  4.00\n")
    assert rows(table) == {8: 4.0}
    assert "no column headings" in table.notes[0].message


def test_columns_that_no_heading_names_are_not_taken() -> None:
    table = only(
        "# OSU MPI Multiple Bandwidth / Message Rate Test v5.8\n"
        "# [ pairs: 1 ] [ window size: varied ]\n"
        "# Uni-directional Bandwidth (MB/sec)\n"
        "1    0.50   0.60   0.70   0.80\n"
    )
    assert len(table.sizes) == 0
    assert "not understood" in table.notes[-1].message


def test_brackets_around_units() -> None:
    table = only("# MPI Bandwidth Test\n# Size [B]    Bandwidth [MB/s]\n8  4.00\n")
    assert rows(table) == {8: 4.0}
    assert table.notes == ()


def test_rows_shorter_than_the_heading_are_read_where_all_are() -> None:
    table = only(
        "# OSU MPI Latency Test v7.5\n# Size  Avg Latency(us)  Min Latency(us)\n1  2.00\n2  3.00\n"
    )
    assert rows(table) == {1: 2.0, 2: 3.0}
    assert table.columns == ("Avg Latency(us)",)


def test_a_title_without_rows_is_kept_and_noted() -> None:
    empty, full = parse_benchmarks("# OSU MPI Latency Test v5.8\n" + LATENCY_5)
    assert len(empty.sizes) == 0
    assert empty.notes[0].message == "OSU MPI Latency has no rows"
    assert len(full.sizes) == 3


def test_a_column_of_the_wrong_quantity_is_not_used() -> None:
    table = only("# OSU MPI Latency Test v5.8\n# Size  Bandwidth (MB/s)\n8  4.00\n")
    assert table.benchmark == "other"
    assert "where latency was expected" in table.notes[0].message


@pytest.mark.parametrize("text", ["", "\n\n", b"", "1 2.00\n", b"\xff\xfe", "# Size of things\n"])
def test_a_text_without_a_table_says_what_was_expected(text: str | bytes) -> None:
    with pytest.raises(ParseError, match=r"a\.out: no table of a benchmark found in \d+ line"):
        parse_benchmarks(text, "a.out")


def test_numbers_too_large_to_hold_are_not_understood() -> None:
    text = LATENCY_5 + f"{'9' * 30}   5.00\n16384   {'9' * 400}\n"
    assert rows(only(text)) == {0: 1.51, 1: 1.57, 8192: 4.07}
