from __future__ import annotations

import re

import numpy as np
import pytest

from workbench import datasets
from workbench.errors import ParameterError, ParseError
from workbench.measure import OSU_SIZES, OSUCurve, Spread
from workbench.measure.curve import byte_label
from workbench.measure.curve_csv import read_curve_csv
from workbench.provenance import Provenance

MADE_UP = Provenance("synthetic", "two points <made up>")


def spread(scale: float, count: int = 4) -> Spread:
    rows = scale * np.arange(1, 6)[:, None] * np.ones(2)
    return Spread.from_quartiles(rows, [count, count])


def curve(**changes: object) -> OSUCurve:
    fields: dict[str, object] = {
        "name": "made-up",
        "sizes": [1, 8192],
        "latency_s": [1.57e-6, np.nan],
        "bandwidth_Bps": [4.02e6, 2.467e10],
        "provenance": MADE_UP,
    }
    return OSUCurve(**(fields | changes))  # type: ignore[arg-type]


def test_the_sizes_of_the_benchmarks_are_the_powers_of_two_up_to_4_mib() -> None:
    assert OSU_SIZES[0] == 1
    assert OSU_SIZES[-1] == 4 * 1024**2
    assert len(OSU_SIZES) == 23


def test_units_of_the_benchmarks_are_microseconds_and_millions_of_bytes() -> None:
    made_up = curve()
    # One multiplication by 1e-6 or 1e6 on each side.
    assert made_up.latency_us[0] == pytest.approx(1.57, rel=1e-15)
    assert made_up.bandwidth_MBps.tolist() == pytest.approx([4.02, 24670.0], rel=1e-15)


def test_a_curve_cannot_be_changed_through_the_arrays_it_was_made_of() -> None:
    latency = np.array([1e-6, 2e-6])
    made_up = curve(latency_s=latency)
    latency[0] = 99.0
    assert made_up.latency_s[0] == 1e-6
    with pytest.raises(ValueError, match="read-only"):
        made_up.latency_s[0] = 1.0


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"sizes": [1]}, "sizes", "got 1, 2 and 2"),
        ({"sizes": [0, 8]}, "sizes", "at least 1 byte"),
        ({"sizes": [8, 8]}, "sizes", "got 8, 8"),
        ({"sizes": [[1, 2]]}, "sizes", "one-dimensional"),
        ({"latency_s": [1e-6, -2e-6]}, "latency_s", "-2e-06 at 8192 bytes"),
        ({"bandwidth_Bps": [-1.0, 1.0]}, "bandwidth_Bps", "-1 at 1 bytes"),
        (
            {"latency_spread": Spread.from_quartiles(np.ones((5, 3)), [1, 1, 1])},
            "latency_spread",
            "each of the 2 sizes; got 3",
        ),
    ],
)
def test_a_curve_says_what_is_wrong_with_it(
    changes: dict[str, object], key: str, message: str
) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        curve(**changes)
    assert caught.value.key == key


def test_the_arrays_of_a_spread_have_one_length() -> None:
    with pytest.raises(ParameterError, match="one length"):
        Spread.from_quartiles(np.ones((5, 2)), [1])


def test_a_curve_prints_itself_in_one_line() -> None:
    assert repr(curve()) == (
        "OSUCurve(made-up, synthetic, 2 sizes 1 B to 8 KiB, latency 1.57 to 1.57 us, "
        "bandwidth 4.02 to 24670 MB/s)"
    )
    assert "no sizes" in repr(curve(sizes=[], latency_s=[], bandwidth_Bps=[]))
    assert repr(spread(1e-6)) == "Spread(2 sizes, 4 runs)"


def test_the_html_table_escapes_its_texts_and_leaves_unmeasured_cells_empty() -> None:
    table = curve(notes=("a.out:3: not understood: <b>",))._repr_html_()
    assert "two points &lt;made up&gt;" in table
    assert re.findall(">([^<>]*)</t[hd]>", table)[-3:] == ["8 KiB", "", "24670.00"]
    assert "<li>a.out:3: not understood: &lt;b&gt;</li>" in table


def test_a_frame_has_the_units_in_its_columns() -> None:
    frame = curve(latency_spread=spread(1e-6)).to_frame()
    assert list(frame.columns[:3]) == ["size_bytes", "latency_us", "bandwidth_MBps"]
    assert frame["latency_us"].isna().tolist() == [False, True]
    assert frame["latency_p75_us"].tolist() == pytest.approx([4.0, 4.0])
    assert frame["latency_count"].tolist() == [4, 4]
    assert not any(column.startswith("bandwidth_p") for column in frame)


def test_csv_text_is_read_back_as_the_same_curve(tmp_path) -> None:  # type: ignore[no-untyped-def]
    written = curve(latency_spread=spread(1e-6), bandwidth_spread=spread(1e9, count=7))
    path = tmp_path / "curve.csv"
    text = written.to_csv(path)
    assert path.read_bytes() == text.encode()
    assert text.splitlines()[2].startswith("8192,,24670,")
    again = read_curve_csv(("curve.csv", text), name="made-up", provenance=MADE_UP)
    # The text has 12 significant digits.
    np.testing.assert_allclose(again.latency_s, written.latency_s, rtol=1e-11)
    np.testing.assert_allclose(again.bandwidth_Bps, written.bandwidth_Bps, rtol=1e-11)
    assert again.latency_spread is not None
    assert again.bandwidth_spread is not None
    assert again.bandwidth_spread.count.tolist() == [7, 7]
    np.testing.assert_allclose(again.latency_spread.p25, [2e-6, 2e-6], rtol=1e-11)
    assert again.to_csv() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "c.csv:1: the first column must be size_bytes; got an empty text"),
        ("bytes,latency_us\n1,2\n", "got bytes"),
        ("size_bytes,latency_us\n1,2,3\n", "c.csv:2: a row must have 2 fields .* got 3"),
        ("size_bytes,latency_us\n1,2\n2,fast\n", "c.csv:3: a field must be a number"),
        ("size_bytes,latency_us\n2,2\n1,2\n", "c.csv: sizes must ascend"),
    ],
)
def test_a_csv_text_that_is_no_curve_is_named_by_line(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_curve_csv(("c.csv", text), name="x", provenance=MADE_UP)


def test_two_csv_texts_of_one_curve_share_their_sizes() -> None:
    first = ("curve.csv", "size_bytes,latency_us\n1,2\n")
    with pytest.raises(ParseError, match=r"spread\.csv: its sizes must be those of curve\.csv"):
        read_curve_csv(
            first, ("spread.csv", "size_bytes,latency_count\n2,4\n"), name="x", provenance=MADE_UP
        )
    with pytest.raises(ParseError, match="latency_us is in another file"):
        read_curve_csv(first, ("again.csv", first[1]), name="x", provenance=MADE_UP)


@pytest.mark.parametrize(
    ("size", "label"),
    [(1, "1 B"), (1000, "1000 B"), (1024, "1 KiB"), (1536, "1536 B"), (4 << 20, "4 MiB")],
)
def test_sizes_are_labelled_exactly(size: int, label: str) -> None:
    assert byte_label(size) == label


def test_a_selection_keeps_its_sizes_with_their_spread_and_reports_it() -> None:
    whole = curve(latency_spread=spread(1e-6), bandwidth_spread=spread(1e9, count=7))
    part = whole.select(whole.sizes > 512, ">512")
    assert part.name == "made-up[>512]"
    assert part.sizes.tolist() == [8192]
    assert np.isnan(part.latency_s).all()
    assert part.bandwidth_Bps.tolist() == [2.467e10]
    assert part.latency_spread is not None
    assert part.bandwidth_spread is not None
    assert part.latency_spread.maximum.tolist() == [5 * 1e-6]
    assert part.bandwidth_spread.count.tolist() == [7]
    assert part.provenance.details == {"selection": ">512: 1 of 2 sizes"}
    assert part.provenance.origin == "synthetic"
    again = part.select(part.sizes > 1, ">1")
    assert again.name == "made-up[>512][>1]"
    assert again.provenance.details["selection"] == ">512: 1 of 2 sizes; >1: 1 of 1 sizes"
    assert again.latency_spread is not None
    assert curve().select([True, False], "first").latency_spread is None


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ([True], r"each of the 2 sizes; got bool of shape \(1,\)"),
        ([0, 1], r"got int64 of shape \(2,\)"),
        ([False, False], "'none' keeps none of the 2 of made-up"),
    ],
)
def test_a_selection_is_one_truth_value_a_size(keep: list[int], message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        curve().select(keep, "none")
    assert caught.value.key == "keep"


def test_one_benchmark_alone_hides_the_other() -> None:
    curve = datasets.load("azure-hb96v3-hdr")
    latency, bandwidth = curve.alone("latency"), curve.alone("bandwidth")
    assert np.isnan(latency.bandwidth_Bps).all()
    assert np.isnan(bandwidth.latency_s).all()
    assert latency.bandwidth_spread is None
    assert latency.latency_spread is curve.latency_spread
    np.testing.assert_array_equal(bandwidth.bandwidth_Bps, curve.bandwidth_Bps)
    with pytest.raises(ParameterError, match="latency or bandwidth; got 'both'"):
        curve.alone("both")
