"""Point-to-point measurements: curves by hand, rows of every benchmark, files that are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.predict.machines import ROWS, written
from workbench import datasets
from workbench.errors import ParameterError, ParseError
from workbench.predict import (
    MessageCurve,
    machine_of,
    point_to_point_of_curve,
    point_to_point_of_osu,
    read_point_to_point,
)

OSU_LATENCY = """\
# OSU MPI Latency Test v7.5
# Size          Latency (us)
1               1.50
1024            2.50
"""
OSU_PAIRS = """\
# OSU MPI Multiple Bandwidth / Message Rate Test v7.5
# [ pairs: 4 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1024                 4096.00        4000000.00
"""


def test_a_curve_is_straight_between_its_sizes_and_goes_on_as_large_messages_do() -> None:
    curve = MessageCurve(
        np.array([8.0, 16.0, 2.0**18, 2.0**19]), np.array([1.0, 3.0, 10.0, 10.0 + 2.0**18])
    )
    assert curve.at([0, 8, 12, 16]).tolist() == [1.0, 1.0, 2.0, 3.0]
    # Through the two large sizes goes one line: one second a byte.
    assert curve.per_byte == pytest.approx(1.0, rel=1e-9)
    assert curve.at(2**20) == pytest.approx(10.0 + 2.0**18 + 2.0**19, rel=1e-9)
    assert float(MessageCurve.from_dict(curve.to_dict()).at(12)) == 2.0


@for_each("sizes, times", [([], []), ([1.0], [0.0]), ([2.0, 1.0], [1.0, 1.0]), ([1.0], [1.0, 2.0])])
def test_a_curve_without_sizes_or_order_is_refused(sizes: list[float], times: list[float]) -> None:
    with pytest.raises(ParameterError, match=r"must (have|be)"):
        MessageCurve(np.array(sizes), np.array(times))


def test_every_benchmark_of_a_table_has_its_curve(tmp_path: Path) -> None:
    found = read_point_to_point(written(tmp_path), "a")
    between = found.between
    assert between.latency.at([0, 1024]) == pytest.approx([3e-6, 4e-6])  # medians of two runs
    assert between.interval is not None
    assert between.interval.at([1, 1024]) == pytest.approx([5e-7, 5e-7])
    # Both ways at the rate of one: an exchange takes as much longer as one message takes.
    assert between.both_ways is not None
    assert between.both_ways.at(1024) == pytest.approx(4e-6 + 5e-7)
    # Four pairs share 4096 MB/s: a message of each takes 1 us.
    assert between.shared is not None
    assert (between.pairs, float(between.shared.at(1024))) == (4, pytest.approx(1e-6))
    # The most pairs count: with four, a message takes 3 and 6 us more than alone, 1 and 2 for each
    # of three others.
    assert (between.crowd, between.crowded is not None) == (4, True)
    assert between.wait_of(np.array([0.0, 1024.0])) == pytest.approx([1e-6, 2e-6])
    assert found.within is not None
    assert float(found.within.latency.at(8)) == 5e-7
    other = read_point_to_point(tmp_path / "p2p.csv", "b").between
    assert (float(other.latency.at(8)), other.interval) == (1.5e-6, None)
    assert other.both_ways is not None
    assert float(other.both_ways.at(8)) == pytest.approx(2.5e-6)


def test_pairs_differ_as_the_runs_of_the_latency_do(tmp_path: Path) -> None:
    rows = [f"c,osu_latency,{run},2,8,{run},us" for run in range(1, 102)]
    path = written(tmp_path, "\n".join([ROWS.splitlines()[0], *rows, ""]))
    between = read_point_to_point(path).between
    slow = between.latency_of(np.full(4, 8.0), np.array([1.0, 2.0, 4.0, 1e6]))
    # Runs 1 to 101 us: a share q of them is up to 1 + 100 q.
    wanted = [1 + 100 * q for q in (1 / 2, 2 / 3, 4 / 5, 128 / 129)]
    assert 1e6 * slow == pytest.approx(wanted)
    between_two_and_four = float(between.latency_of(np.array([8.0]), np.array([3.0]))[0])
    assert slow[1] < between_two_and_four < slow[2]


def test_output_of_osu_is_read_for_both_levels(tmp_path: Path) -> None:
    for name, text in (("latency", OSU_LATENCY), ("pairs", OSU_PAIRS)):
        (tmp_path / name).write_text(text)
    files = [tmp_path / "latency", tmp_path / "pairs"]
    found = point_to_point_of_osu(files, files[:1], system="mine", pairs=4)
    assert float(found.between.latency.at(1024)) == pytest.approx(2.5e-6)
    assert found.between.shared is not None
    assert float(found.between.shared.at(1024)) == pytest.approx(1e-6)
    assert found.within is not None
    assert found.within.shared is None
    with pytest.raises(ParameterError, match="must hold a file of osu_latency"):
        point_to_point_of_osu(files[1:])


def test_a_shipped_curve_has_latency_and_interval() -> None:
    curve = datasets.load("azure-hb96v3-hdr")
    found = point_to_point_of_curve(curve).between
    assert found.latency.at(curve.sizes) == pytest.approx(curve.latency_s)
    assert found.interval is not None
    assert found.interval.at(curve.sizes) == pytest.approx(curve.sizes / curve.bandwidth_Bps)


@for_each(
    "before, after, message",
    [
        ("a,osu_latency,1,2,0,2,us", "a,osu_latency,1,2,0,fast,us", r"p2p\.csv:2: value must be"),
        ("a,osu_latency,1,2,0,2,us", "a,osu_latency,1,2,0,2,feet", r"p2p\.csv:2: unit must be one"),
        ("a,osu_latency,1,2,0,2,us", "a,osu_latency,1,2,0,2,MB/s", "osu_latency must be in us"),
        ("a,osu_bw,1,2,1,2,MB/s", "a,osu_bw,1,2,1,2,us", "osu_bw must be in MB/s"),
        ("a,osu_latency,1,2,0,2,us", "a,osu_latency,1,2.5,0,2,us", "nodes must be a whole number"),
        ("a,osu_latency,1,2,0,2,us", "a,osu_latency,1,2,-1,2,us", "size_bytes must be a number"),
        ("benchmark", "test", "must have the columns system, benchmark"),
    ],
)
def test_a_damaged_table_is_refused_by_its_line(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    with pytest.raises(ParseError, match=message):
        read_point_to_point(written(tmp_path, ROWS.replace(before, after, 1)), "a")


def test_a_system_must_be_in_the_table_and_have_a_latency(tmp_path: Path) -> None:
    path = written(tmp_path)
    with pytest.raises(ParameterError, match="must hold one system where none is named; it has a"):
        read_point_to_point(path)
    with pytest.raises(ParameterError, match="must hold the system; got 'c'; it has a, b"):
        read_point_to_point(path, "c")
    without = "\n".join(line for line in ROWS.splitlines() if "latency" not in line)
    with pytest.raises(ParameterError, match="must hold osu_latency or imb_pingpong of a"):
        read_point_to_point(written(tmp_path, without), "a")


OSU_BW = """# OSU MPI Bandwidth Test v7.3
# Size      Bandwidth (MB/s)
1024              1000.00
1048576          10000.00

# OSU MPI Bi-Directional Bandwidth Test v7.3
# Size      Bandwidth (MB/s)
1024              1600.00
1048576          16000.00
"""


def test_what_benchmarks_print_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "log.out"
    path.write_text(OSU_LATENCY + OSU_BW)
    found = read_point_to_point(path, within=path)
    printed = point_to_point_of_osu([path])
    assert (found.system, found.buffers) == ("log", "host")
    for curve in ("latency", "interval", "both_ways"):
        ours, theirs = getattr(found.between, curve), getattr(printed.between, curve)
        assert ours.times == pytest.approx(theirs.times)
    assert found.within is not None
    device = OSU_LATENCY.replace(
        "# Size", "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n# Size", 1
    )
    path.write_text(device)
    on_gpu = read_point_to_point(path, "gpu")
    assert (on_gpu.system, on_gpu.buffers) == ("gpu", "device")
    assert machine_of(on_gpu, ranks_per_node=4).combine_s_per_byte == pytest.approx(3 / 1.5e12)
    assert machine_of(on_gpu, buffers="host").combine_s_per_byte == pytest.approx(3 / 30e9)
    several = Path(__file__).parents[2] / "data" / "reports" / "01b_intra_inter_host.out"
    with pytest.raises(ParseError, match="choose one with table=1 to 2"):
        read_point_to_point(several)
    both = read_point_to_point(several, table="inter-node", within=several, within_table="2")
    assert both.within is not None
    at = float(both.between.latency.start), float(both.within.latency.start)
    assert at == pytest.approx((3.6e-6, 0.2e-6))
    with pytest.raises(ParameterError, match="within is of a text"):
        read_point_to_point(written(tmp_path), "a", within=path)


def test_the_rate_of_many_pairs_and_of_both_ways_is_used(tmp_path: Path) -> None:
    path = tmp_path / "log.out"
    path.write_text(OSU_LATENCY + OSU_BW + OSU_PAIRS)
    found = read_point_to_point(path, table="1")
    between = found.between
    assert between.interval is not None
    assert float(between.interval.at(1024)) == pytest.approx(1.024e-6)
    # 1600 MB/s both ways: 1.28 us for two messages, 0.256 us more than for one of osu_bw.
    assert between.both_ways is not None
    assert float(between.both_ways.at(1024)) == pytest.approx(2.5e-6 + 0.256e-6)
    # 4096 MB/s of four pairs: 1 us for a message of each.
    assert between.shared is not None
    assert (between.pairs, float(between.shared.at(1024))) == (4, pytest.approx(1e-6))
    node_rate = next(one for one in machine_of(found).parts if one.name == "node rate")
    assert (node_rate.source, node_rate.note) == ("measured", "osu_mbw_mr of 4 pairs")
    assert found.notes == (
        "log.out:10: osu_bibw 7.3 gives what an exchange takes",
        "log.out:14: osu_mbw_mr 7.5 of 4 pairs gives the rate that ranks of a node share",
    )


@for_each(
    "text, note",
    [
        (OSU_PAIRS.replace("pairs: 4", "pair"), "does not say how many pairs of ranks it ran"),
        (OSU_BW.partition("\n\n")[2], "without osu_bw it does not say what an exchange takes"),
        ("$ srun -N 1 -n 8 ./osu_mbw_mr\n" + OSU_PAIRS, "ran on 1 nodes; not used"),
    ],
)
def test_a_table_of_which_nothing_can_be_made_is_named(
    tmp_path: Path, text: str, note: str
) -> None:
    path = tmp_path / "log.out"
    path.write_text(f"{OSU_LATENCY}\n{text}")
    found = read_point_to_point(path)
    assert (found.between.shared, found.between.both_ways) == (None, None)
    assert any(note in one for one in found.notes), found.notes
    path.write_text(text)
    with pytest.raises(ParseError, match=r"log.out: a prediction needs latencies, .* it has osu_"):
        read_point_to_point(path)
