"""Output of IMB, perftest, nccl-tests, ucx_perftest and NetPIPE, in the variants of versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.measure import parse_benchmarks, read_osu
from workbench.measure.benchmark_text import NoTableError

REPORTS = Path(__file__).parents[2] / "data" / "reports"

PERFTEST = """\
---------------------------------------------------------------------------------------
                    RDMA_Write Latency Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 1\t\tTransport type : IB
 Mtu             : 4096[B]
---------------------------------------------------------------------------------------
 local address: LID 0x1a QPN 0x0062 PSN 0x3bc18d RKey 0x1fffbd VAddr 0x005599b0c2f000
---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]\
   99% percentile[usec]   99.9% percentile[usec]
 2       1000          0.92           3.10         0.95     \t       0.96        \t0.06   1.02  3.10
 65536   1000          6.02           9.87         6.10     \t       6.12        \t0.05   6.50  9.87
"""
BANDWIDTH = """\
                    {title}
 #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]
 65536      5000             98.02              97.99  \t\t   0.186902
"""
IMB = """\
# Benchmarking {test}
# #processes = {ranks}
#------------------------------------------------------------
       #bytes #repetitions {columns}
{rows}
"""


def results(text: str) -> list[tuple[str, str, str, dict[int, float]]]:
    return [
        (t.test, t.benchmark, t.unit, dict(zip(t.sizes.tolist(), t.result.tolist(), strict=True)))
        for t in parse_benchmarks(text)
    ]


def test_perftest_latency() -> None:
    assert results(PERFTEST) == [("ib_write_lat", "latency", "us", {2: 0.96, 65536: 6.12})]
    (table,) = parse_benchmarks(PERFTEST)
    assert dict(table.labels) == {"device": "mlx5_0", "queue_pairs": "1", "mtu": "4096"}
    assert table.notes == ()
    oldest = PERFTEST.replace(
        "    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]", ""
    ).replace("0.96        \t0.06   1.02  3.10", "")
    assert results(oldest.replace("6.12        \t0.05   6.50  9.87", ""))[0][3] == {
        2: 0.95, 65536: 6.1
    }  # fmt: skip


@pytest.mark.parametrize(
    ("title", "unit", "test", "role", "value"),
    [
        ("RDMA_Write BW Test", "Gb/sec", "ib_write_bw", "bw", 97.99 * 125),
        ("RDMA_Read BW Test", "MiB/sec", "ib_read_bw", "bw", 97.99 * 1.048576),
        ("Send BW Test", "MB/sec", "ib_send_bw", "bw", 97.99 * 1.048576),
        ("RDMA_Write Bidirectional BW Test", "Gb/sec", "ib_write_bw", "bibw", 97.99 * 125),
    ],
)
def test_perftest_bandwidth(title: str, unit: str, test: str, role: str, value: float) -> None:
    ((name, found, shown, rows),) = results(BANDWIDTH.format(title=title, unit=unit))
    assert (name, found, shown) == (test, role, "MB/s")
    assert rows == pytest.approx({65536: value})


def test_imb() -> None:
    times = "t_min[usec]  t_max[usec]  t_avg[usec]"
    text = (
        IMB.format(test="Allreduce", ranks=2, columns=times, rows="4  1000  1.60  1.62  1.61")
        + IMB.format(test="Allreduce", ranks=4, columns=times, rows="4  1000  2.60  2.62  2.61")
        + IMB.format(test="Exchange", ranks=2, columns=times + " Mbytes/sec",
                     rows="1024  1000  2.90  2.90  2.95  706.21")
        + IMB.format(test="Uniband", ranks=2, columns="Mbytes/sec  Msg/sec",
                     rows="1024 255 1500.00 1464843")
        + "# Benchmarking Barrier\n#repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
        "1000  1.53  1.55  1.54\n"
    )  # fmt: skip
    assert results(text) == [
        ("Allreduce", "collective", "us", {4: 1.61}),
        ("Allreduce", "collective", "us", {4: 2.61}),
        ("Exchange", "other", "us", {1024: 2.95}),
        ("Uniband", "bw", "MB/s", {1024: 1500.0}),
        ("Barrier", "collective", "us", {0: 1.54}),
    ]
    assert [table.labels.get("ranks") for table in parse_benchmarks(text)][:2] == ["2", "4"]


def test_imb_of_before_2018_counts_mebibytes() -> None:
    rows = "1048576 100 953.67 1000.00"  # 1000 messages of 1 MiB a second are 1000 MiB
    text = IMB.format(test="Uniband", ranks=2, columns="Mbytes/sec  Msg/sec", rows=rows)
    ((_, _, _, found),) = results(text.replace("953.67", "1000.00"))
    assert found == pytest.approx({1048576: 1048.576})


NCCL = """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   \
algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  \
(GB/s)  (GB/s)
     1048576        262144     float    {redop}      -1    100.0   10.00   {bus}      0    110.0   \
9.00   {bus}    N/A
"""


@pytest.mark.parametrize(
    ("command", "redop", "bus", "test", "ranks"),
    [
        ("", "sum", "17.50", "all_reduce", "8"),
        ("./build/all_gather_perf -b 8", "none", "7.50", "all_gather", "4"),
        ("./build/alltoall_perf -b 8", "none", "9.375", "alltoall", "16"),
        ("", "sum", "7.50", "reduce_scatter", "4"),
        ("./broadcast_perf", "none", "10.00", "broadcast", None),
    ],
)
def test_nccl(command: str, redop: str, bus: str, test: str, ranks: str | None) -> None:
    tables = parse_benchmarks(f"{command}\n{NCCL.format(redop=redop, bus=bus)}", "x.txt")
    assert [table.test for table in tables] == [test, test]
    assert [table.result.tolist() for table in tables] == [[100.0], [110.0]]
    assert tables[0].labels.get("ranks") == ranks


def test_ucx_with_its_settings() -> None:
    text = """\
+----------------------------------------------------------------------------------------------+
| API:          protocol layer                                                                 |
| Test:         tag match latency                                                              |
| Send memory:  cuda                                                                           |
| Message size: 65536                                                                          |
+--------------+--------------+------------------------------+---------------------+-----------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall  |  average  |
Final:                100000      5.100     5.200     5.210    12000.00   11990.10   192000   191842
"""
    time, rate = results(text)
    assert time == ("ucx_perftest tag match latency", "latency", "us", {65536: 5.21})
    assert rate[1:3] == ("other", "MB/s")
    assert parse_benchmarks(text)[0].labels["send_memory"] == "cuda"


def test_netpipe() -> None:
    text = (
        "  0:       1 bytes 125766 times -->     17.83 Mbps in       0.43 usec\n"
        "  1:    8192 bytes   1000 times -->  20000.10 Mbps in       3.12 usec\n"
    )
    assert results(text) == [("NetPIPE", "latency", "us", {1: 0.43, 8192: 3.12})]
    assert read_osu(text).latency_us.tolist() == pytest.approx([0.43, 3.12])


def test_the_file_of_netpipe() -> None:
    # 8 x 8192 bits in 3.12 us are 20,000 Mbps of 2^20; other columns of three numbers are not its.
    text = (REPORTS / "09b_np.out").read_text()
    right = {1: 0.43, 8192: 3.12, 4194304: 806.05}
    assert results(text) == [("NetPIPE", "latency", "us", pytest.approx(right))]
    assert read_osu(text).latency_us.tolist() == pytest.approx([*right.values()])
    (cut,) = parse_benchmarks(text + " 8388608 397")
    assert "the text ends in the middle of this row; left out: 8388608 397" in cut.notes[0].message
    with pytest.raises(NoTableError):
        parse_benchmarks(text.replace("20000.1", "30000.1"))


def test_a_last_row_that_is_cut_is_left_out() -> None:
    sent = BANDWIDTH.format(title="Send BW Test", unit="Gb/sec")
    rows = sent.replace("65536 ", "2 5000 1.00 1.00 0.100000\n 65536 ")
    for whole in (PERFTEST, rows):
        cut = whole.rstrip()[:-4]
        (table,) = parse_benchmarks(cut)
        assert table.sizes.tolist() == [2] and table.truncated
        assert "ends in the middle of this row" in table.notes[-1].message
