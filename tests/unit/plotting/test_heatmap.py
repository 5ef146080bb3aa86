from __future__ import annotations

import math

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.measure import OSUCurve
from workbench.plotting import error_figure
from workbench.plotting.fit.error_heatmap import error_columns, percent_text


def test_errors_are_signed_percent_of_the_measured_value(
    measured: OSUCurve, simulated: OSUCurve
) -> None:
    latency, bandwidth = measured.percent_error(simulated)
    np.testing.assert_allclose(latency, [0, 100, 25, -50], atol=1e-12)  # a few eps of 100
    np.testing.assert_allclose(bandwidth, [100, np.nan, 0, -50], atol=1e-12)


def test_other_sizes_are_refused(measured: OSUCurve, simulated: OSUCurve) -> None:
    shorter = OSUCurve(
        "short",
        simulated.sizes[:2],
        simulated.latency_s[:2],
        simulated.bandwidth_Bps[:2],
        simulated.provenance,
    )
    with pytest.raises(ParameterError, match=r"same sizes to be compared; got 4 and 2"):
        measured.percent_error(shorter)


def test_cells_carry_their_numbers(measured: OSUCurve, simulated: OSUCurve) -> None:
    columns = error_columns(measured, simulated)
    assert columns["text"] == ["0", "+100", "+25", "−50", "+100", "–", "0", "−50"]
    assert columns["size"][:4] == ["1 B", "512 B", "8 KiB", "1 MiB"]
    assert columns["benchmark"] == ["latency"] * 4 + ["bandwidth"] * 4
    assert math.isnan(columns["error"][5])


def test_a_number_takes_no_more_room_than_a_cell_has(
    measured: OSUCurve, simulated: OSUCurve
) -> None:
    far = OSUCurve(
        "far",
        simulated.sizes,
        simulated.latency_s * 12345,
        simulated.bandwidth_Bps * 99,
        simulated.provenance,
    )
    assert max(len(text) for text in error_columns(measured, far)["text"]) <= 6


def test_the_figure_follows_a_machine_with_other_sizes(
    measured: OSUCurve, simulated: OSUCurve
) -> None:
    drawn = error_figure(measured, simulated)
    keep = slice(1, 3)
    fewer = [
        OSUCurve(c.name, c.sizes[keep], c.latency_s[keep], c.bandwidth_Bps[keep], c.provenance)
        for c in (measured, simulated)
    ]
    drawn.show(*fewer)
    assert drawn.figure.xaxis[0].major_label_overrides == {0: "512 B", 1: "8 KiB"}
    assert (drawn.figure.x_range.start, drawn.figure.x_range.end) == (-0.5, 1.5)
    assert drawn.source.data["text"] == ["+100", "+25", "–", "0"]


def test_nothing_simulated_gives_empty_cells(measured: OSUCurve) -> None:
    assert set(error_columns(measured, None)["text"]) == {"–"}


@for_each(
    "error, text",
    [
        (-0.4, "0"),
        (-7.2, "−7"),
        (782.0, "+782"),
        (999.4, "+999"),
        (999.6, "+1k"),
        (523_000.0, "+523k"),
        (7e6, "+7M"),
        (float("nan"), "–"),
    ],
)
def test_a_large_error_is_written_short(error: float, text: str) -> None:
    assert percent_text(error) == text
