"""What people paste: markdown, mail, loggers, several commands, and labels that are none."""

from __future__ import annotations

import pytest

from workbench.measure import parse_benchmarks, read, read_osu
from workbench.measure.benchmark_table import BenchmarkTable
from workbench.measure.collectives import collective_rows
from workbench.reading import ReadTable


def tables(text: str) -> list[BenchmarkTable]:
    return [table for table in parse_benchmarks(text) if len(table.sizes)]


def read_tables(text: str) -> tuple[ReadTable, ...]:
    return read(("pasted.txt", text)).tables


def results(text: str) -> list[dict[int, float]]:
    return [dict(zip(t.sizes.tolist(), t.result.tolist(), strict=True)) for t in tables(text)]


OSU = """\
# OSU MPI Bandwidth Test v5.9
# Size      Bandwidth (MB/s)
1024             {first}
2048             {second}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Markdown escapes, and bold numbers
        ("\\# OSU MPI Latency Test v7.1\n\\# Size  Latency (us)\n8 1.25\n", {8: 1.25}),
        ("# OSU MPI Latency Test v7.1\n# Size  Latency (us)\n8 **1.25**\n16 1.5\n",
         {8: 1.25, 16: 1.5}),
        # Somebody's arrow at a row
        ("# OSU MPI Latency Test v7.1\n# Size  Latency (us)\n8 1.25\n16 9.50 <-- !\n32 1.75 ★← !\n",
         {8: 1.25, 16: 9.5, 32: 1.75}),
        # Python's benchmarks, in a logger's lines
        ("[2024-02-03 10:11:12,345] {util.py:33} INFO - # OMB Python MPI Latency Test\n"
         "[2024-02-03 10:11:12,346] {util.py:34} INFO - # Size (B)      Latency (us)\n"
         "[2024-02-03 10:11:12,400] {lat.py:64} INFO - 512       7.25\n"
         "[2024-02-03 10:11:12,401] {lat.py:64} INFO - 1024      8.50\n", {512: 7.25, 1024: 8.5}),
    ],
)  # fmt: skip
def test_what_is_put_around_a_row_is_taken_off(text: str, expected: dict[int, float]) -> None:
    assert results(text) == [expected]
    assert [table.test for table in tables(text)] == ["osu_latency"]


def test_fences_and_tags_of_markdown_are_no_labels() -> None:
    text = (
        "mtl-one:\n\n```bash\n" + OSU.format(first=10.0, second=20.0) + "```\n\nLibrary-2.0-two\n\n"
        "```\n" + OSU.format(first=11.0, second=21.0) + "```\n<details>\n<summary>\n\n```\n"
        + OSU.format(first=12.0, second=22.0)
    )  # fmt: skip
    assert [table.labels["label"] for table in tables(text)][:2] == ["mtl-one", "Library-2.0-two"]
    assert "<" not in tables(text)[2].labels["label"]
    assert len(read_tables(text)) == 2  # the third has no label of its own


@pytest.mark.parametrize(
    "line",
    [
        "real    0m2.194s",
        "[ 3420.09] infiniband mlx5_1: create_qp:3323:(pid 371): Create QP type 2 failed",
        "# Size of pages is taken from the system, and may be changed by the user. Like this",
        "I ran it for a minute with small messages only, and got the statistics that follow here",
        "    8192   2048   float   33.10   0.25   0.25",
        "+ for b in latency bw",
        "And here is the bandwidth of the same:",
        "```console",
        "</summary>",
    ],
)
def test_what_only_stands_above_a_title_is_no_label(line: str) -> None:
    (table,) = tables(f"{line}\n" + OSU.format(first=10.0, second=20.0))
    assert "label" not in table.labels


def test_bindings_and_exported_variables_tell_experiments_apart() -> None:
    run = "$ srun -n2 -c8 --gpu-bind=map_gpu:{gpus} ./osu_bw-here -m 1024:2048 D D\n"
    first, second = OSU.format(first=10.0, second=20.0), OSU.format(first=9.0, second=17.0)
    text = run.format(gpus="0,1") + first + run.format(gpus="0,4") + second
    assert [table.labels["binding"] for table in read_tables(text)] == [
        "--gpu-bind=map_gpu:0,1", "--gpu-bind=map_gpu:0,4"
    ]  # fmt: skip
    assert not any("map_by" in table.labels for table in read_tables(text))
    text = f"export A_DEVICES=0,1\n{first}export A_DEVICES=0,2\n{second}"
    assert [table.labels["environment"] for table in read_tables(text)] == [
        "A_DEVICES=0,1", "A_DEVICES=0,2"
    ]  # fmt: skip
    text = f"mpirun -n 2 osu_bw\n{first}module load x ; CVAR_A=1 ; mpirun -n 2 osu_bw\n{second}"
    assert [table.labels.get("environment") for table in read_tables(text)] == [None, "CVAR_A=1"]


def test_a_command_over_several_lines_is_one() -> None:
    table = OSU.format(first=10.0, second=20.0)
    told = {"ranks": "2", "nodes": "2", "environment": "btl=^openib"}
    for command in (
        "me@host$ mpirun -np 2 -N 1 \\\n  --mca btl ^openib \\\n  ./osu_bw\n",
        "(env)me@host:~$ mpirun -np 2 -N 1 --mca btl\n^openib osu_bw\n",
        "root@host:~# time mpirun -np 2 -N 1 --mca btl ^openib osu_bw\n",
        "`mpirun -np 2 -N 1 --mca btl ^openib osu_bw`\n",
    ):
        (found,) = tables(command + table)
        assert told.items() <= found.labels.items(), command
        assert "label" not in found.labels


def test_of_several_commands_the_one_counts_that_ran_the_test() -> None:
    text = "mpirun -np 2 osu_bw\nmpirun -np 8 osu_allreduce\n\n" + OSU.format(first=1.0, second=2.0)
    text += "# OSU MPI Allreduce Latency Test v5.9\n# Size  Avg Latency(us)\n4  3.5\n"
    assert [table.labels["ranks"] for table in tables(text)] == ["2", "8"]


def test_results_that_no_heading_names_are_noted() -> None:
    (table,) = tables(
        "# OSU MPI Latency Test v7.2\n# Size  Latency (us)\n8 1.5 2.5 3.5\n16 2 3 4\n"
    )
    assert any("the heading names 1" in note.message for note in table.notes)


@pytest.mark.parametrize(
    ("title", "test", "role"),
    [
        ("MPI Persistent Latency Test v7.3", "osu_latency_persistent", "other"),
        ("MPI Persistent Broadcast Latency Test v7.3", "osu_bcast_persistent", "collective"),
        ("NCCL Allreduce Latency Test v7.4", "osu_allreduce_nccl", "collective"),
        ("MPI_Put Latency Test v5.8", "osu_put_latency", "other"),
    ],
)
def test_variants_of_a_benchmark_are_its_kind(title: str, test: str, role: str) -> None:
    (table,) = tables(f"# OSU {title}\n# Size  Avg Latency(us)\n8  1.5\n")
    assert (table.test, table.benchmark) == (test, role)


def test_a_table_of_message_rates_does_not_stop_the_others() -> None:
    text = OSU.format(first=1, second=2)
    text += "# OSU MPI_Put Rate Test v5.8\n# Size  Messages/s\n8 9e6\n"
    assert [(table.unit, table.benchmark) for table in tables(text)] == [
        ("MB/s", "bw"), ("messages/s", "other")
    ]  # fmt: skip


IMB = (
    "# Benchmarking {test}\n# #processes = {ranks}\n       #bytes #repetitions {columns}\n{rows}\n"
)


def test_rates_of_many_pairs_are_no_stream() -> None:
    text = IMB.format(
        test="Uniband", ranks=8, columns="Mbytes/sec Msg/sec", rows="1024 9 800 781250"
    )
    ((table),) = tables(text)
    assert (table.benchmark, table.labels["pairs"]) == ("mbw_mr", "4")
    with pytest.raises(Exception, match="nothing to use"):
        read_osu(("log", text))


def test_a_collective_in_the_background_takes_its_time_without_computation() -> None:
    columns = "t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]      defects"
    text = IMB.format(test="Ibcast", ranks=4, columns=columns, rows="8 1000 6.5 3.25 3.0 0.0 0.0")
    assert results(text) == [{8: 3.25}]


def test_a_test_of_imb_is_named_by_the_line_above_its_rows() -> None:
    text = "Exchange:\n#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec\n"
    (table,) = tables(text + "1024 160 2.5 2.7 2.6 1500.0\n")
    assert (table.test, table.result.tolist()) == ("Exchange", [2.6])


NCCL = """\
# nThread 1 nGpus 2 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid   11 on   nodeA device  0 [0x1a] A card
#  Rank  1 Group  0 Pid   11 on   nodeA device  1 [0x1b] A card
#  Rank  2 Group  0 Pid   12 on   nodeB device  0 [0x1a] A card
#  Rank  3 Group  0 Pid   12 on   nodeB device  1 [0x1b] A card
#   size   count    type    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
    1024     256   float       0    10.50    0.10    {bus}      0    11.50    0.09    {bus}      0
"""


def test_a_collective_of_nccl_is_named_and_its_ranks_counted() -> None:
    """The title has two lines, and -np counts processes, not ranks."""
    text = "mpirun -np 2 broadcast_perf_mpi -g 2\n# Collective test starting: broadcast_perf_mpi\n"
    for table in tables(text + NCCL.format(bus="0.10")):
        assert table.test == "broadcast"
        assert [table.labels[n] for n in ("ranks", "nodes", "ranks_per_node")] == ["4", "2", "2"]
    above = "======== broadcast_perf ========\n" + NCCL.format(bus="0.10")
    assert {table.test for table in tables(above)} == {"broadcast"}


def test_a_rank_that_ran_alone_is_said() -> None:
    found = tables("mpirun -np 2 all_reduce_perf\n" + NCCL.format(bus="0.00"))
    assert {table.labels["ranks"] for table in found} == {"1"}
    assert any("ran alone" in note.message for note in found[0].notes)


def test_a_row_that_comes_twice_is_another_run() -> None:
    row = (
        "    1024     256   float       0    12.50    0.09    0.10     0   13.50   0.08   0.10  0\n"
    )
    text = NCCL.format(bus="0.10") + row
    assert [table.result.tolist() for table in tables(text)] == [[10.5], [12.5], [11.5], [13.5]]


UCX = """\
+--------------+--------------+------------------------------+---------------------+--------------+
|              |              |       {what} (usec)        |   bandwidth (MB/s)  |  rate (msg/s) |
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |
Final:                  1000      0.250  50.000   50.000    20000.00   20000.00      20000     20000
"""


def test_ucx_says_by_its_heading_whether_it_is_a_bandwidth() -> None:
    line = 60 * "="
    text = f"{line} tag_bw {line}\n{UCX.format(what='overhead')}"
    (table,) = tables(text)
    assert (table.benchmark, table.unit) == ("bw", "MB/s")
    assert table.test == "ucx_perftest tag_bw"
    older = UCX.format(what="latency").replace("|    Stage     ", "").replace("Final:", "")
    assert [table.unit for table in tables(older)] == ["us", "MB/s"]


def test_netpipe_of_version_5_and_in_tagged_lines() -> None:
    text = (
        "  1:       1  B     24000 times -->   10.2 Mbps  in  781.500 nsecs\n"
        " 30:   1.026 KB     97000 times -->    6.6 Gbps  in    1.250 usecs\n"
        " 60:   1.049 MB      4600 times -->   80.6 Gbps  in  104.000 usecs\n"
    )
    assert results(text) == [{1: 0.7815, 1026: 1.25, 1049000: 104.0}]
    tag = "Mon Feb 19 19:09:19 2018[1,0]<stdout>:"
    text = f"{tag} 67:     16381 bytes 22330 times --> {tag} 22104.91 Mbps in 0.000005500 sec\n"
    assert results(text) == [{16381: pytest.approx(5.5)}]


def test_series_may_follow_their_unit() -> None:
    head = "| #bytes | Mbytes/sec (PingPong) | Mbytes/sec (other) |\n|---|---|---|\n"
    text = f"{head}| 8 | 4.5 | 5.5 |\n"
    assert [(t.benchmark, list(t.values)) for t in read_tables(text)] == [
        ("PingPong", [4.5]), ("osu_bw", [5.5])
    ]  # fmt: skip


def test_markdown_may_hold_both_kinds_of_tables() -> None:
    text = "| Size | Latency (us) |\n|---|---|\n| 8 | 1.5 |\n\n```\n" + OSU.format(
        first=3, second=4
    )
    assert [list(table.values) for table in read_tables(text + "```\n")] == [[1.5], [3.0, 4.0]]
    broken = text.replace("Size |", "Size | a? | a? |").replace("| 8 |", "| 8 | x | y |")
    assert [list(table.values) for table in read_tables(broken + "```\n")] == [[3.0, 4.0]]


def test_the_benchmarks_of_mpi_jl() -> None:
    text = (
        "Running benchmark OSU Scatterv with type Float32 on 4 MPI ranks\n\n```\n"
        "size (bytes),iterations,avg_time (seconds)\n8,1000,2.5e-6\n16,1000,3.0e-6\n```\n"
    )
    (table,) = read_tables(text)
    assert (table.benchmark, table.labels["ranks"]) == ("osu_scatterv", "4")
    assert list(table.values) == pytest.approx([2.5, 3.0])


def test_labels_stand_for_algorithms_where_they_alone_tell_tables_apart() -> None:
    table = "# OSU MPI Allreduce Latency Test v6.2\n# Size  Avg Latency(us)\n8  {value}\n"
    text = "mpirun -n 8 -N 4 osu_allreduce\n"
    text += f"Tree:\n{table.format(value=4.5)}Ring:\n{table.format(value=40.5)}"
    rows = collective_rows(parse_benchmarks(text), "log.txt")
    assert rows["algorithm"].tolist() == ["Tree", "Ring"]
    alone = collective_rows(parse_benchmarks(text.partition("Ring")[0]), "log.txt")
    assert alone["algorithm"].tolist() == [""]
