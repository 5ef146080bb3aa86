"""Collectives in the benchmarks' own output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.measure import read_measured_runs, read_osu
from workbench.predict import read_point_to_point
from workbench.uq.collectives import read_measured

REPORTS = Path(__file__).parents[2] / "data" / "reports"
OSU = """\
mpirun -np 64 -ppn 16 ./osu_allreduce -f

# OSU MPI Allreduce Latency Test v5.6.3
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                      12.10             10.10             14.20        1000
8                      12.20             10.20             14.30        1000
"""


def test_the_command_says_on_how_many_nodes(tmp_path: Path) -> None:
    path = tmp_path / "allreduce.out"
    path.write_text(OSU)
    found = read_measured(path, "allreduce")
    assert [(t.nodes, t.ranks_per_node, t.block_bytes) for t in found.tests] == [
        (4, 16, 4),
        (4, 16, 8),
    ]
    np.testing.assert_allclose(found.medians, [12.1e-6, 12.2e-6])


def test_nodes_are_asked_for_where_nothing_says_them(tmp_path: Path) -> None:
    path = tmp_path / "imb.out"
    path.write_text(
        "# Benchmarking Allgather\n# #processes = 8\n"
        "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n4 1000 1.60 1.62 1.61\n"
    )
    with pytest.raises(ParameterError, match=r"nodes must be given.* only its 8 ranks"):
        read_measured(path, "allgather")
    (test,) = read_measured(path, "allgather", nodes=2).tests
    assert (test.nodes, test.ranks_per_node, test.block_bytes) == (2, 4, 4)


def test_sizes_of_nccl_are_of_all_ranks_where_each_keeps_a_part(tmp_path: Path) -> None:
    found = read_measured(REPORTS / "07_nccl_allreduce.txt", "allreduce", nodes=5)
    assert [(t.nodes, t.ranks_per_node, t.block_bytes) for t in found.tests] == [
        (5, 8, 1 << 20),
        (5, 8, 1 << 30),
    ]
    np.testing.assert_allclose(found.medians, [354.9e-6, 11030e-6])  # out of place
    text = (REPORTS / "07_nccl_allreduce.txt").read_text()
    path = tmp_path / "gather.txt"
    halves = {"5.76": "2.88", "189.83": "94.92", "5.92": "2.95", "190.00": "95.00"}
    for printed, half in halves.items():
        text = text.replace(printed, half)
    path.write_text("./all_gather_perf\n" + text)
    gathered = read_measured(path, "allgather", nodes=5)
    assert [test.block_bytes for test in gathered.tests] == [(1 << 20) // 40, (1 << 30) // 40]


def test_a_last_row_that_is_cut_is_left_out_with_a_note(tmp_path: Path) -> None:
    collectives = tmp_path / "times.csv"
    collectives.write_text("benchmark,nodes,block_bytes,avg_us\nosu_gather,2,4,1.5\nosu_gather,2,")
    found = read_measured(collectives, "gather")
    assert len(found.tests) == 1 and "times.csv:3: the text ends in the middle" in found.notes[0]
    runs = read_measured_runs(("runs.csv", "latency_us,time_s,ranks\n0,1.25,4\n500,1"))
    assert len(runs.time_s) == 1 and "runs.csv:3: the text ends in the middle" in runs.notes[0]
    messages = tmp_path / "p2p.csv"
    messages.write_text(
        "system,benchmark,nodes,size_bytes,value,unit\na,osu_latency,2,8,1.5,us\na,osu_lat"
    )
    assert "p2p.csv:3: the text ends in the middle" in read_point_to_point(messages).notes[0]
    for name in ("curve.csv", "fitted.csv"):
        text = "size_bytes,latency_us,placement\n1,1.5,a\n8,1."
        text = text if name == "curve.csv" else text.replace("placement", "fitted_latency_us")
        curve = read_osu((name, text.replace(",a", ",1")))
        assert len(curve) == 1 and f"{name}:3: the text ends in the middle" in " ".join(curve.notes)
