"""Inputs of the kinds that people bring, each with what is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.measure import SeveralExperimentsError, parse_benchmarks, read, read_osu

REPORTS = Path(__file__).parents[2] / "data" / "reports"

# file: kind, and for each table the test, labels that it must have, the unit, and some results
RIGHT: dict[str, tuple[str, list[tuple[str, dict[str, str], str, dict[int, float]]]]] = {
    "01_gpu_mixed_v75.out": (
        "osu",
        [
            ("osu_bw", {"buffers": "CUDA D D", "nodes": "1"}, "MB/s", {4194304: 180000.0}),
            ("osu_bw", {"buffers": "CUDA H D", "nodes": "1"}, "MB/s", {4194304: 23800.0}),
            (
                "osu_bw",
                {"environment": "UCX_NET_DEVICES=mlx5_6:1", "nodes": "2"},
                "MB/s",
                {4194304: 11960.0},
            ),
        ],
    ),
    "01b_intra_inter_host.out": (
        "osu",
        [
            ("osu_latency", {"label": "inter-node", "nodes": "2"}, "us",
             {1: 3.60, 65536: 10.90, 1048576: 50.10}),
            ("osu_latency", {"label": "intra-node", "nodes": "1"}, "us",
             {1: 0.20, 65536: 6.10, 1048576: 80.00}),
        ],
    ),
    "05_imb.txt": (
        "imb",
        [("PingPong", {"ranks": "2", "version": "2021.3"}, "us",
          {1: 1.77, 65536: 18.11, 4194304: 780.0})],
    ),
    "07_nccl_allreduce.txt": (
        "nccl",
        [
            ("all_reduce", {"ranks": "40", "in_place": "out-of-place"}, "us", {1048576: 354.9}),
            ("all_reduce", {"ranks": "40", "in_place": "in-place"}, "us", {1048576: 345.7}),
        ],
    ),
    "07b_nccl_sendrecv.txt": (
        "nccl",
        [
            ("sendrecv", {"in_place": "out-of-place"}, "us", {8: 14.2, 134217728: 2900.0}),
            ("sendrecv", {"in_place": "in-place"}, "us", {8: 14.1, 134217728: 2901.0}),
        ],
    ),
    "08_ucx_perftest.txt": (
        "ucx",
        [
            ("ucx_perftest", {}, "us", {30000: 16.416}),
            ("ucx_perftest", {}, "MB/s", {30000: 1745.00 * 1.048576}),
        ],
    ),
    "20_p2p.csv": (
        "osu",
        [
            ("osu_latency", {"system": "gpu", "nodes": "2"}, "us", {8: 2.0, 16777216: 337.54}),
            ("osu_bw", {"system": "gpu", "nodes": "2"}, "MB/s", {1048576: 50000.0}),
        ],
    ),
    "21a_ansi.out": ("osu", [("osu_latency", {"version": "7.3"}, "us", {1: 1.57, 1024: 2.1})]),
    "21b_quoted.txt": ("osu", [("osu_latency", {}, "us", {1: 1.57, 8: 1.6, 1024: 2.1})]),
    "22_gpu_hd_bump.out": (
        "osu",
        [("osu_latency", {"buffers": "ROCM H D"}, "us", {1024: 103.0, 2048: 5.1})],
    ),
    "28b.csv": ("osu", [("osu_latency", {}, "us", {1: 1.5, 8: 1.6})]),
    "28c_imb.csv": (
        "imb",
        [("PingPong", {}, "us", {0: 1.59, 1024: 2.61}), ("PingPong", {}, "MB/s", {1024: 392.34})],
    ),
    "28g_placement.csv": (
        "osu",
        [
            ("osu_latency", {"placement": "intra"}, "us", {1: 0.2}),
            ("osu_bw", {"placement": "intra"}, "MB/s", {1024: 4000.0}),
            ("osu_latency", {"placement": "inter"}, "us", {1024: 2.6}),
            ("osu_bw", {"placement": "inter"}, "MB/s", {1: 4.0}),
        ],
    ),
    "28h_osu_full.csv": ("osu", [("osu_latency", {}, "us", {1: 1.5, 8: 1.6})]),
    "28i_nodes.csv": (
        "osu",
        [
            ("osu_latency", {"nodes": "1"}, "us", {1: 0.2}),
            ("osu_bw", {"nodes": "1"}, "MB/s", {1024: 4000.0}),
            ("osu_latency", {"nodes": "2"}, "us", {1: 1.5}),
            ("osu_bw", {"nodes": "2"}, "MB/s", {1: 4.0}),
        ],
    ),
    "31_three_libraries.out": (
        "osu",
        [
            ("osu_latency", {"label": "openmpi@1.10.7%intel"}, "us", {1: 1.2}),
            ("osu_latency", {"label": "openmpi@4.0.5%gcc"}, "us", {1: 1.9}),
            ("osu_latency", {"label": "openmpi@3.1.6%gcc"}, "us", {1: 1.3}),
        ],
    ),
    "31b_markdown_wide.md": (
        "osu",
        [
            ("osu_latency", {"series": "Host to Host"}, "us", {1: 1.7, 4194304: 383.0}),
            ("osu_latency", {"series": "Device to Device"}, "us", {1: 3.4, 4194304: 766.0}),
        ],
    ),
}  # fmt: skip


@for_each("file", RIGHT)
def test_a_file_says_what_it_is_and_holds(file: str) -> None:
    kind, tables = RIGHT[file]
    found = read(REPORTS / file)
    assert (found.file, found.kind) == (file, kind)
    assert len(found.tables) == len(tables)
    for table, (test, labels, unit, results) in zip(found.tables, tables, strict=True):
        assert (table.benchmark, table.unit, table.runs) == (test, unit, 1)
        assert labels.items() <= dict(table.labels).items()
        read_results = dict(zip(table.sizes, table.values, strict=True))
        assert {size: read_results[size] for size in results} == pytest.approx(results)
    assert found.to_dict()["tables"][0]["sizes"] == list(found.tables[0].sizes)


def test_different_experiments_are_not_joined_and_can_be_chosen() -> None:
    file = REPORTS / "01b_intra_inter_host.out"
    with pytest.raises(
        SeveralExperimentsError, match=r"label, nodes.*18-fold.*table=1 to 2"
    ) as got:
        read_osu(file)
    assert [choice.partition(",")[0] for choice in got.value.choices] == [
        "inter-node", "intra-node"
    ]  # fmt: skip
    for table in (2, "2", "intra-node", [2]):
        np.testing.assert_allclose(read_osu(file, table=table).latency_us, [0.2, 0.21, 6.1, 80.0])
    both = read_osu(file, table="all").latency_us
    np.testing.assert_allclose(both, [1.9, 1.91, 8.5, 65.05])
    for table in (0, 3, "nowhere", "node", []):
        with pytest.raises(ParameterError, match="table must be"):
            read_osu(file, table=table)
    inter, intra = REPORTS / "01c_inter.out", REPORTS / "01d_intra.out"
    with pytest.raises(SeveralExperimentsError, match="experiments in these files"):
        read_osu(inter, intra)
    with pytest.raises(SeveralExperimentsError, match="placement"):
        read_osu(REPORTS / "28g_placement.csv")
    chosen = read_osu(REPORTS / "28g_placement.csv", table="inter")
    np.testing.assert_allclose(chosen.bandwidth_MBps, [4.0, 3900.0])


TITLE = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"


def rows(*values: float) -> str:
    return "".join(f"{2**at}   {value:.2f}\n" for at, value in enumerate(values))


def test_runs_too_far_apart_are_not_joined_though_nothing_tells_them_apart() -> None:
    near = TITLE + rows(1.5, 1.6, 1.7) + TITLE + rows(1.6, 1.7, 1.8)
    curve = read_osu(near)
    np.testing.assert_allclose(curve.latency_us, [1.55, 1.65, 1.75])
    far = TITLE + rows(1.5, 1.6, 1.7) + TITLE + rows(0.3, 0.3, 0.4)
    with pytest.raises(SeveralExperimentsError, match=r"up to 5\.33-fold apart"):
        read_osu(far)
    np.testing.assert_allclose(read_osu(far, table=2).latency_us, [0.3, 0.3, 0.4])
    found = read(("far.out", far))
    assert [table.runs for table in found.tables] == [1, 1]
    assert any("not joined" in note for note in found.notes)


@pytest.mark.parametrize(
    "line", ["run 2", "Iteration 2/5", "Sat Jan 31 12:00:00 2026", "--- #2 ---"]
)
def test_lines_that_only_count_runs_tell_nothing_apart(line: str) -> None:
    curve = read_osu(TITLE + rows(1.5, 1.6) + f"\n{line}\n" + TITLE + rows(1.7, 1.8))
    np.testing.assert_allclose(curve.latency_us, [1.6, 1.7])


def test_what_is_printed_twice_counts_once() -> None:
    doubled = "".join(line * 2 for line in (TITLE + rows(1.5, 1.6, 1.7)).splitlines(keepends=True))
    tables = [table for table in parse_benchmarks(doubled) if len(table.sizes)]
    assert len(tables) == 1
    assert any("printed twice" in note.message for note in tables[0].notes)
    again = parse_benchmarks((TITLE + rows(1.5, 1.6, 1.7)) * 2)
    assert len(again) == 1 and "the same as the table at line 1" in again[0].notes[-1].message
    mixed = TITLE + "1  1.50\n1  1.60\n2  1.70\n2  1.80\n4  1.90\n4  2.00\n"
    assert [table.sizes.tolist() for table in parse_benchmarks(mixed)] == [[1, 2, 4]] * 2


def test_commands_tell_experiments_apart() -> None:
    text = ""
    commands = {
        "mpirun -np 2 --map-by ppr:1:node ./osu_latency": ("2", "1"),
        "+ srun --nodes=1 --ntasks=2 ./osu_latency": ("1", "2"),
        "user@login:~$ UCX_TLS=tcp mpiexec -n 4 -ppn 2 /opt/osu/osu_latency -x 10": ("2", "2"),
        "jsrun -n 2 -r 1 osu_latency D D": ("2", "1"),
    }
    for at, command in enumerate(commands):
        text += f"{command}\n{TITLE}{rows(1.5 + at, 1.6 + at, 1.7)}"
    tables = parse_benchmarks(text)
    assert [(t.labels["nodes"], t.labels["ranks_per_node"]) for t in tables] == list(
        commands.values()
    )
    assert tables[2].labels["environment"] == "UCX_TLS=tcp"
    assert tables[3].buffers == "D D"
    assert len({tuple(table.experiment.items()) for table in tables}) == 4


def test_a_label_is_of_its_command_and_a_module_of_what_follows() -> None:
    srun = "srun -N{} -n2 ./osu_latency\n"
    text = f"== intra ==\n{srun.format(1)}{TITLE}{rows(0.2, 0.3)}{srun.format(2)}{TITLE}{rows(1.5)}"
    assert [table.labels.get("label") for table in parse_benchmarks(text)] == ["intra", None]
    text = "".join(
        f"+ module load {name}\n+ {srun.format(2)}{TITLE}{rows(1.5, 1.6 + at)}"
        for at, name in enumerate(("openmpi/4.1", "mpich/4.2"))
    )
    assert [table.labels["library"] for table in parse_benchmarks(text)] == [
        "openmpi/4.1",
        "mpich/4.2",
    ]
    with pytest.raises(SeveralExperimentsError, match="told apart by library"):
        read_osu(text)


def test_pairs_of_a_message_rate_are_named() -> None:
    text = (
        "# OSU MPI Multiple Bandwidth / Message Rate Test v5.9\n"
        "# [ pairs: {} ] [ window size: 64 ]\n# Size   MB/s   Messages/s\n1  {}  100.00\n"
    )
    both = text.format(2, "4.00") + text.format(8, "16.00")
    with pytest.raises(SeveralExperimentsError, match="told apart by pairs"):
        read_osu(both, bandwidth="mbw_mr")
    curve = read_osu(both, bandwidth="mbw_mr", table="pairs 8")
    assert curve.provenance.details["pairs"] == "8"
    assert any("sum over all pairs of processes (8)" in note for note in curve.notes)


def test_tables_of_several_data_types_or_headings_in_one_text() -> None:
    types = TITLE.replace("\n#", "\n# Datatype: MPI_CHAR.\n#") + rows(1.5, 1.6)
    types += "# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n" + rows(1.7, 1.8)
    with pytest.raises(SeveralExperimentsError, match="told apart by datatype"):
        read_osu(types)
    heads = "| Size | Latency (us) |\n|---|---|\n"
    text = f"## Intra\n\n{heads}| 1 | 0.2 |\n| 1 KiB | 0.3 |\n## Inter\n\n{heads}| 1 | 1.5 |\n"
    intra, inter = read(("notes.md", text)).tables
    assert (dict(intra.labels), list(intra.sizes)) == ({"label": "Intra"}, [1, 1024])
    assert (dict(inter.labels), list(inter.values)) == ({"label": "Inter"}, [1.5])
    twice = "size_bytes,latency_us\n1,1.5\n8,1.6\n"
    np.testing.assert_allclose(read_osu(("a.csv", twice + twice.replace("1.", "2."))).latency_us,
                               [2.0, 2.1])  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "unit", "value"),
    [
        ("Latency (ns)", "us", 0.002),
        ("time [ms]", "us", 2000.0),
        ("t (s)", "us", 2e6),
        ("latency_usec", "us", 2.0),
        ("Bandwidth (GB/s)", "MB/s", 2000.0),
        ("bw_Gbps", "MB/s", 250.0),
        ("throughput (MiB/s)", "MB/s", 2.097152),
        ("Mbits/s", "MB/s", 0.25),
    ],
)
def test_units_of_columns(heading: str, unit: str, value: float) -> None:
    (table,) = read(("a.csv", f"Message Size (KiB),{heading}\n64,2\n")).tables
    assert (table.unit, list(table.sizes)) == (unit, [65536])
    assert list(table.values) == pytest.approx([value])


def test_a_page_of_mail_and_a_log_of_ci_are_read() -> None:
    page = (
        "<html><body><p>Hi,</p>\n\n<pre># OSU MPI Latency Test v5.6.3\n# Size  Latency (us)\n"
        "1    1.57\n&gt; 8    1.60\n</pre></body></html>\n"
    )
    np.testing.assert_allclose(read_osu(page).latency_us, [1.57, 1.6])
    stamped = "".join(
        f"2024-05-01T10:00:01.1234567Z {line}\n" for line in (TITLE + rows(1.5, 1.6)).splitlines()
    )
    np.testing.assert_allclose(read_osu(stamped).latency_us, [1.5, 1.6])


@for_each(
    "data", [b"", b"{}", b"\0\1", b"# a README\n", b"import os\n", b"1 2\n3 4\n", b"a,b\n1,2\n"]
)
def test_what_is_nothing_that_is_read_says_so(data: bytes) -> None:
    with pytest.raises(ParseError, match=r"x\.txt: it (is|looks)"):
        read(("x.txt", data))


IMB = """# Benchmarking {}
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            1         1000         1,30         0,77
         1024         1000     1.002,50       409,60
"""
TWO_TITLES = """\
# OSU MPI Latency Test v5.9

| Size | A | B |
|---|---|---|
| 1 | 1.1 | 1.2 |

# OSU MPI Bandwidth Test v5.9

| Size | A | B |
|---|---|---|
| 1 | 3.1 | 4.2 |
"""


@for_each(
    "text, values",
    [
        (IMB.format("PingPong"), [[1.3, 1002.5]]),
        ("Size;Avg Latency(us)\n1;1,77\n1.024;2,31\n65.536;1.009,80\n", [[1.77, 2.31, 1009.8]]),
        ("| Msg size | MPICH (us) | Open MPI (us) |\n| 1 B | 1.2 | 1.4 |\n", [[1.2], [1.4]]),
        # Mixed in one table: the rows whose results are alike are of one run.
        ("size_bytes,latency_us\n1,1\n1,9\n2,1.1\n2,9.1\n", [[1.0, 1.1], [9.0, 9.1]]),
        (TWO_TITLES, [[1.1], [1.2], [3.1], [4.2]]),
    ],
)
def test_other_ways_to_write_a_table(text: str, values: list[list[float]]) -> None:
    found = read(("a.txt", text)).tables
    assert [list(table.values) for table in found] == [pytest.approx(one) for one in values]


@for_each("name", [path.name for path in sorted(REPORTS.iterdir()) if path.name[:2] != "16"])
def test_windows_writes_the_same(name: str) -> None:
    content = (REPORTS / name).read_bytes()
    right = read((name, content))
    for written in (content.decode().encode("utf-16"), content.replace(b"\n", b"\r\n")):
        found = read((name, written))
        assert found.to_dict() == right.to_dict(), name


@for_each("name", ["31b_markdown_wide.md", "07_nccl_allreduce.txt", "05_imb.txt"])
def test_what_is_doubled_counts_once(name: str) -> None:
    content = (REPORTS / name).read_bytes()
    right, found = read((name, content)), read((name, content + b"\n" + content))
    for ours, theirs in zip(found.tables, right.tables, strict=False):
        assert ours.to_dict() == theirs.to_dict() | {"runs": ours.runs}
    labels = [dict(table.labels) for table in found.tables]
    assert all(one in [dict(table.labels) for table in right.tables] for one in labels)
