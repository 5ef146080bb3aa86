from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.measure import OSUCurve, read_osu
from workbench.provenance import Provenance


def output(what: str, rows: dict[int, float], version: str = "5.8", device: str = "") -> str:
    title, heading = {
        "latency": ("Latency", "Latency (us)"),
        "bw": ("Bandwidth", "Bandwidth (MB/s)"),
        "bibw": ("Bi-Directional Bandwidth", "Bandwidth (MB/s)"),
        "mbw_mr": ("Multiple Bandwidth / Message Rate", "MB/s    Messages/s"),
    }[what]
    rate = "    1000.00" if what == "mbw_mr" else ""
    return f"# OSU MPI{device} {title} Test v{version}\n# Size    {heading}\n" + "".join(
        f"{size}    {value:.2f}{rate}\n" for size, value in rows.items()
    )


LATENCY = output("latency", {0: 1.5, 1: 1.57, 8: 1.58})
BANDWIDTH = output("bw", {1: 4.02, 8: 32.26, 16: 64.62})


def test_latency_and_bandwidth_of_one_text() -> None:
    curve = read_osu(LATENCY + BANDWIDTH, name="here")
    assert curve.name == "here"
    assert curve.sizes.tolist() == [1, 8, 16]
    # One multiplication by 1e-6 or 1e6 on each side.
    np.testing.assert_allclose(curve.latency_us, [1.57, 1.58, np.nan], rtol=1e-15)
    np.testing.assert_allclose(curve.bandwidth_MBps, [4.02, 32.26, 64.62], rtol=1e-15)
    assert curve.latency_spread is None
    assert curve.provenance.origin == "measured"
    assert curve.provenance.details == {
        "statistic": "single run",
        "programs": "osu_latency 5.8, osu_bw 5.8",
        "memory": "host memory",
    }
    assert curve.notes == ("text:3: size 0 is not part of a curve; left out",)


def test_files_give_their_names(tmp_path: Path) -> None:
    latency, bandwidth = tmp_path / "lat.out", tmp_path / "bw.out"
    latency.write_text(LATENCY)
    bandwidth.write_bytes(BANDWIDTH.replace("\n", "\r\n").encode("utf-16"))
    curve = read_osu(latency, str(bandwidth))
    assert curve.name == "lat"
    assert curve.provenance.source == "lat.out, bw.out"
    assert curve.sizes.tolist() == [1, 8, 16]


def test_an_upload_is_a_name_and_its_bytes() -> None:
    curve = read_osu(("job-17.out", LATENCY.encode()), BANDWIDTH.encode(), origin="emulated")
    assert curve.name == "job-17"
    assert curve.provenance.caption() == "emulated: job-17; single run (job-17.out, text)"


def test_a_curve_reads_text_itself() -> None:
    curve = OSUCurve.from_osu_text(LATENCY, name="here")
    assert curve.sizes.tolist() == [1, 8]
    assert np.isnan(curve.bandwidth_Bps).all()


def test_several_runs_give_median_and_spread() -> None:
    runs = [
        output("latency", {1: 2.0, 8: 3.0}),
        output("latency", {1: 1.5, 8: 5.0}),
        output("latency", {1: 3.0, 8: 4.0, 16: 7.0}),
    ]
    curve = read_osu(*runs, output("bw", {1: 4.0}), name="three")
    np.testing.assert_allclose(curve.latency_us, [2.0, 4.0, 7.0], rtol=1e-15)
    spread = curve.latency_spread
    assert spread is not None
    np.testing.assert_allclose(spread.minimum, [1.5e-6, 3e-6, 7e-6], rtol=1e-15)
    np.testing.assert_allclose(spread.p25, [1.75e-6, 3.5e-6, 7e-6], rtol=1e-15)
    np.testing.assert_allclose(spread.maximum, [3e-6, 5e-6, 7e-6], rtol=1e-15)
    assert spread.count.tolist() == [3, 3, 1]
    assert curve.bandwidth_spread is None
    assert curve.provenance.details["statistic"] == (
        "median over 3 runs of latency and 1 of bandwidth"
    )
    assert read_osu(*runs).provenance.details["statistic"] == "median over 3 runs"


def test_the_order_of_runs_does_not_matter() -> None:
    runs = [output("latency", {1: value, 8: 2 * value}) for value in (3.0, 1.6, 2.0, 2.7)]
    forward, backward = read_osu("".join(runs)), read_osu(*reversed(runs))
    np.testing.assert_array_equal(forward.latency_s, backward.latency_s)


@pytest.mark.parametrize(
    ("what", "reason"),
    [("bibw", "counts both directions"), ("mbw_mr", "is the sum over all pairs")],
)
def test_bandwidth_of_several_streams_is_only_used_when_asked_for(what: str, reason: str) -> None:
    both = LATENCY + output(what, {1: 8.0, 8: 64.0})
    curve = read_osu(both)
    assert np.isnan(curve.bandwidth_Bps).all()
    assert any(
        reason in note and f"ask for it with bandwidth={what!r}" in note for note in curve.notes
    )
    asked = read_osu(both + BANDWIDTH, bandwidth=what)
    np.testing.assert_allclose(asked.bandwidth_MBps, [8.0, 64.0], rtol=1e-15)
    assert any(reason in note and "osu_bw were not used" in note for note in asked.notes)


def test_nothing_to_use_names_what_was_found() -> None:
    with pytest.raises(ParseError, match=r"needs rows of osu_latency or osu_bw; .*bandwidth='bibw"):
        read_osu(output("bibw", {1: 8.0}))
    with pytest.raises(ParseError, match=r"this is output of OSU micro-benchmarks, osu_allreduce"):
        read_osu("# OSU MPI Allreduce Latency Test v7.5\n# Size  Avg Latency(us)\n8  2.00\n")


def test_host_and_device_memory_are_not_one_experiment() -> None:
    device = output("latency", {1: 2.5}, device="-CUDA")
    with pytest.raises(ParseError, match=r"told apart by buffers.* 2: buffers CUDA"):
        read_osu(LATENCY + device)
    curve = read_osu(device + BANDWIDTH)
    assert "latency was measured between buffers CUDA" in curve.notes[-1]
    assert curve.provenance.details["memory"] == "buffers CUDA, host memory"


def test_values_too_small_to_print_are_left_out() -> None:
    curve = read_osu(output("bw", {1: 0.0, 2: 0.0, 4: 0.01}))
    assert curve.sizes.tolist() == [4]
    assert curve.notes[0].startswith("text:3 and 1 more: printed as 0, too small")
    with pytest.raises(ParseError, match="nothing to use"):
        read_osu(output("bw", {1: 0.0}) + output("latency", {0: 1.5}))


def test_lines_in_a_row_are_one_note() -> None:
    noise = "".join(f"srun: step {i}\n" for i in range(20))
    curve = read_osu(("job.out", noise + LATENCY + "bye\n"))
    assert curve.notes[0] == "job.out:1-20: 20 lines not understood: srun: step 0"
    assert curve.notes[1] == "job.out:26: not understood: bye"


def test_a_cut_file_says_so() -> None:
    curve = read_osu(("job.out", LATENCY.removesuffix("8\n")))
    assert curve.sizes.tolist() == [1]
    assert "job.out:5: the text ends in the middle of this row" in curve.notes[0]


@for_each(
    "text",
    [
        "size_bytes,latency_us\n1,1.5\n2,",
        "Size (B),Avg Latency(us),Max Latency(us)\n1,1.5,2\n2,1.5,",
        '"Size","Latency (us)"\n"1","1.5"\n"2","1.',
        "| Size | Latency (us) |\n|---|---|\n| 1 | 1.5 |\n| 2 | 1.",
        "size_bytes\tlatency_us\tlatency_min_us\r\n1\t1,5\t1\r\n2\t1,5",
        "size_bytes,latency_us,fitted_latency_us\n1,1.5,1\n2,1.5,",
    ],
)
def test_a_row_of_a_table_that_is_cut_is_left_out(text: str) -> None:
    curve = read_osu(("job.csv", text))
    assert (curve.sizes.tolist(), curve.latency_s.tolist()) == ([1], [pytest.approx(1.5e-6)])
    assert any("the text ends in the middle of this row; left out" in one for one in curve.notes)


def test_a_given_provenance_is_kept() -> None:
    provenance = Provenance("published", "a table in a paper")
    assert read_osu(LATENCY, provenance=provenance).provenance is provenance


@pytest.mark.parametrize("source", ["no-such-file.out", "nul\0byte", Path("/")])
def test_a_file_that_cannot_be_read_is_named(source: str | Path) -> None:
    with pytest.raises(ParseError, match=r"cannot be read as a file .* give the path of a file"):
        read_osu(source)


def test_arguments_are_checked() -> None:
    with pytest.raises(ParameterError, match="at least one file or text"):
        read_osu()
    with pytest.raises(ParameterError, match="one of bw, bibw, mbw_mr; got 'both'"):
        read_osu(LATENCY, bandwidth="both")


def test_our_own_export_is_read_back_with_its_spread() -> None:
    curve = read_osu(*[output("latency", {1: v, 8: 2 * v}) for v in (1.5, 1.6, 1.9)])
    again = read_osu(("mine.csv", curve.to_csv()))
    assert again.name == "mine" and again.provenance.origin == "measured"
    assert again.sizes.tolist() == [1, 8]
    np.testing.assert_allclose(again.latency_us, [1.6, 3.2], rtol=1e-11)
    assert again.latency_spread is not None
    np.testing.assert_allclose(again.latency_spread.maximum, [1.9e-6, 3.8e-6], rtol=1e-11)
    assert again.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "size_bytes,latency_us,bandwidth_MBps\n1,1.5,4\n8,,32.25\n",
        "size_bytes;latency_us;bandwidth_MBps\r\n1;1,5;4,0\r\n8;;32,25\r\n",
        "\ufeffSize (B)\tLatency (µs)\tBandwidth (MB/s)\n1\t1,5\t4\n8\t\t32,25\n",
        '# by hand\n"size","latency_usec","bw_MB/s"\n1,1.5,4\n\n8,,32.25\n',
        "size_bytes,measured_latency_us,measured_bandwidth_MBps,fitted_latency_us\n"
        "1,1.5,4,9\n8,,32.25,9\n",
    ],
)
def test_a_csv_is_read_with_decimal_points_or_commas(text: str) -> None:
    curve = read_osu(("mine.csv", text.encode()))
    assert curve.sizes.tolist() == [1, 8]
    np.testing.assert_allclose(curve.latency_us, [1.5, np.nan])
    np.testing.assert_allclose(curve.bandwidth_MBps, [4.0, 32.25])
    assert len(curve.notes) == text.count("fitted_latency_us")


def test_latency_and_bandwidth_may_come_in_two_csv_files() -> None:
    one = ("l.csv", "size_bytes,latency_us\n1,1.5\n8,2\n")
    other = ("b.csv", "size_bytes;bandwidth_MBps\n8;32,5\n16;64\n")
    curve = read_osu(one, other, ("more.txt", LATENCY))
    assert curve.sizes.tolist() == [1, 8, 16]
    np.testing.assert_allclose(curve.latency_us[:2], [(1.5 + 1.57) / 2, (2 + 1.58) / 2])
    np.testing.assert_allclose(curve.bandwidth_MBps[1:], [32.5, 64.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("size_bytes,latency_us\n1,1,5\n", "line|decimal commas need semicolons"),
        ("size_bytes,latency\n1,1500\n", "latency_us or bandwidth_MBps; got latency"),
        ("size_bytes,bandwidth\n1,1500\n", "got bandwidth; convert the values"),
        ("size_bytes,latency_us\n1.5,2\n", "whole number of bytes"),
        ("size_bytes,latency_us\n1,inf\n", "finite"),
        ("size_bytes,latency_us,latency_us\n8,2,2\n", "twice"),
    ],
)
def test_what_is_wrong_with_a_csv_is_reported(text: str, words: str) -> None:
    with pytest.raises(ParseError, match=words) as error:
        read_osu(("mine.csv", text))
    assert "mine.csv" in str(error.value)


def test_decimal_commas_of_the_benchmarks_are_read() -> None:
    text = LATENCY.replace(".57", ",57").replace(".58", ",58").replace("1.50", "1.001,50")
    curve = read_osu(("job.out", text.rstrip("\n")))
    np.testing.assert_allclose(curve.latency_us, [1.57, 1.58])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "this is a picture .PNG"),
        (b"PK\x03\x04rest", "save it as CSV"),
        (b"\x1f\x8b\x08", "unpack it first"),
    ],
)
def test_what_is_no_text_is_named(data: bytes, words: str) -> None:
    with pytest.raises(ParseError, match=f"must be a text file.*{words}"):
        read_osu(("upload", data))
