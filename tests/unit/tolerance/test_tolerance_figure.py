from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from tests.unit.tolerance.results import MODEL, from_lines
from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns
from workbench.plotting.embedding import standalone_html
from workbench.programs import read_goal
from workbench.provenance import Provenance
from workbench.tolerance import (
    RunPrediction,
    Sweep,
    TracePredictions,
    analyse_bandwidth,
    describe_run_prediction,
    describe_tolerance,
    running_example,
)
from workbench.tolerance.figure import plot_tolerance, tolerance_figure
from workbench.tolerance.figure_columns import MOST_MARKS, curve_columns

# T = 100 us, then 90 us + 5 L from 2 us on, then 50 us + 10 L from 8 us on.
BENT = ((100_000, 0), (90_000, 5), (50_000, 10))


def captions(fig: Any) -> list[str]:
    return [title.text for title in fig.below if "caption" in title.tags]


def legend(fig: Any) -> list[str]:
    return [
        getattr(item.label, "value", None) or item.label.field
        for item in fig.legend[0].items
        if item.visible
    ]


def test_one_program_shows_its_zones_behind_the_curve() -> None:
    drawn = tolerance_figure(from_lines(*BENT))
    assert drawn.time.title.text == "Run time over latency: lines"
    assert drawn.bands.visible and not drawn.strips.visible
    zones = drawn.zones.data
    assert zones["from"] == pytest.approx([1000, 2200, 2400])
    assert zones["to"] == pytest.approx([2200, 2400, 3000])
    assert zones["percent_text"] == ["1 %", "2 %", "5 %"]
    assert len(set(zones["hatch"])) == len(set(zones["colour"])) == 3, "not by colour alone"
    assert drawn.limits.data["T"] == pytest.approx([105_000, 102_000, 101_000])
    assert captions(drawn.share) == ["simulated: lines, LLAMP's semantics"]


def test_all_panes_share_the_latency_and_have_units() -> None:
    drawn = tolerance_figure(from_lines(*BENT))
    panes = (drawn.time, drawn.slope, drawn.share, drawn.strips)
    assert len({id(fig.x_range) for fig in panes}) == 1
    assert (drawn.time.x_range.start, drawn.time.x_range.end) == pytest.approx((1000, 20_000))
    assert drawn.share.xaxis.axis_label == "latency L"
    labels = [fig.yaxis.axis_label for fig in panes[:3]]
    assert labels == ["run time T", "λ_L (latencies)", "ρ_L (%)"]
    assert "µs" in drawn.time.yaxis.formatter.code and "µs" in drawn.time.xaxis.formatter.code


def test_lines_are_the_curves_corners() -> None:
    drawn = tolerance_figure(from_lines(*BENT))
    data = {**drawn.curves.data, **drawn.slopes.data, **drawn.shares.data}
    assert data["L"][0] == pytest.approx([1000, 2000, 8000, 20_000])
    assert data["T"][0] == pytest.approx([100_000, 100_000, 130_000, 250_000])
    assert data["steps"][0] == pytest.approx([1000, 2000, 2000, 8000, 8000, 20_000])
    assert data["slope"][0] == [0, 0, 5, 5, 10, 10]
    rho = dict(zip(data["rho_L"][0], data["rho"][0], strict=True))
    assert rho[20_000.0] == pytest.approx(80.0)
    at = np.array(data["rho_L"][0])
    just_below = int(np.searchsorted(at, 8000.0 - 1e-6))
    assert data["rho"][0][just_below] == pytest.approx(100 * 40 / 130)
    assert data["rho"][0][just_below + 1] == pytest.approx(100 * 80 / 130)


def test_critical_latencies_are_marked_with_their_slopes() -> None:
    drawn = tolerance_figure(from_lines(*BENT))
    data = drawn.corners.data
    assert data["L"] == pytest.approx([2000, 8000])
    assert list(zip(data["below"], data["above"], strict=True)) == [(0, 5), (5, 10)]
    assert legend(drawn.time) == ["name", "critical latency"]
    drawn.show(from_lines((100_000, 3)))
    assert legend(drawn.time) == ["name"]


def test_of_very_many_critical_latencies_the_sharpest_are_marked() -> None:
    corners = np.linspace(1e-6, 3e-5, 3002)
    slopes = np.arange(3001)
    slopes[1500:] += 500
    T = 1e-3 + np.concatenate([[0.0], np.cumsum(slopes * np.diff(corners))])
    result = from_lines((0, 0), corners=corners, corner_T=T, slopes=slopes, T=1e-3)
    assert len(result.critical_latencies) == 3000
    drawn = tolerance_figure(result)
    marked = drawn.corners.data
    assert len(marked["L"]) == MOST_MARKS
    assert max(np.subtract(marked["above"], marked["below"])) == 501
    assert marked["L"] == sorted(marked["L"])
    assert len(drawn.curves.data["L"][0]) <= 2000
    assert f"of which {MOST_MARKS} are marked" in describe_tolerance(result)
    assert len(standalone_html(drawn.layout, "many")) < 5_000_000


def test_several_programs_get_a_row_of_zones_each() -> None:
    steep = from_lines((100_000, 20), lo_ns=1000, source="steep")
    drawn = tolerance_figure({"flat one": from_lines(*BENT), "steep": steep})
    assert drawn.strips.visible and not drawn.bands.visible
    assert drawn.strips.y_range.factors == ["steep", "flat one"], "the first is on top"
    assert drawn.curves.data["name"] == ["flat one", "steep"]
    assert len(set(drawn.curves.data["dash"])) == 2
    assert drawn.zones.data["name"].count("steep") == 3
    assert set(drawn.limits.data["text"]) == {""}
    assert drawn.time.title.text == "Run time over latency: 2 programs"
    assert captions(drawn.share) == [
        f"simulated: 2 programs, LLAMP's semantics, no contention, {MODEL}"
    ]
    drawn.show([steep])
    assert drawn.bands.visible and not drawn.strips.visible


def test_programs_of_one_name_are_distinguished() -> None:
    drawn = tolerance_figure([from_lines(*BENT), from_lines(*BENT)])
    assert drawn.curves.data["name"] == ["lines", "lines (2)"]


def test_run_times_far_apart_are_drawn_by_their_growth() -> None:
    small, large = from_lines((100_000, 0)), from_lines((900_000, 100))
    drawn = tolerance_figure([small, large])
    assert drawn.time.yaxis.axis_label == "growth of T"
    assert drawn.curves.data["T"][1] == pytest.approx([0, 100 * 1900 / 1000])
    assert tolerance_figure([small, large], relative=False).curves.data["T"][1][0] > 900_000
    near = tolerance_figure([small, from_lines((120_000, 0))])
    assert near.time.yaxis.axis_label == "run time T"


def test_without_bound_the_first_zone_fills_the_axis() -> None:
    drawn = tolerance_figure(from_lines((100_000, 0)))
    assert drawn.zones.data["from"] == pytest.approx([1000])
    assert drawn.zones.data["to"] == pytest.approx([20_000])
    assert drawn.zones.data["text"] == ["any L"]
    assert drawn.limits.data["L"] == []


def test_texts_do_not_stand_on_one_another() -> None:
    drawn = tolerance_figure(from_lines((1000, 100), hi_ns=900_000))
    assert [bool(text) for text in drawn.limits.data["text"]] == [True, False, False]
    assert drawn.limits.data["align"][0] == "left", "at the left end there is no room before it"


def test_the_pointer_moves_and_goes() -> None:
    drawn = tolerance_figure(from_lines(*BENT))
    assert drawn.pointers[0].data == {"L": []}
    drawn.mark(3e-6)
    assert drawn.pointers[0].data["L"] == pytest.approx([3000])
    drawn.mark(None)
    assert drawn.pointers[0].data == {"L": []}


def test_a_program_without_time_can_be_drawn() -> None:
    empty = from_lines((0, 0))
    columns = curve_columns({"empty": empty}, relative=True)
    assert columns["T"] == [[0.0, 0.0]]
    assert all(math.isfinite(value) for value in columns["rho"][0])
    plot_tolerance(empty, relative=True)


def test_describe_one_program() -> None:
    text = describe_tolerance(from_lines(*BENT, warnings=("CPUs matter",)))
    assert text == (
        "At L = 1 µs the program takes 100 µs, and 0.0 % of that is latency: 0 latencies on the "
        "critical path. It tolerates an L of at most 2.20 µs for 1 %, 2.40 µs for 2 %, 3 µs for 5 "
        "%. "
        "2 critical latencies between 1 µs and 20 µs. Warning: CPUs matter."
    )


def test_describe_several_programs() -> None:
    text = describe_tolerance({"a": from_lines(*BENT), "b": from_lines((100_000, 50))})
    assert "Within 1 % a tolerates the most, an L of 2.20 µs, and b the least, 1.03 µs" in text
    assert text.endswith("a 0.0 %, b 33 %.")


def test_there_must_be_something_to_draw() -> None:
    for nothing in ([], {}):
        with pytest.raises(ParameterError, match="at least one analysis"):
            plot_tolerance(nothing)


def some_runs(*medians_us: float, program: str = "lines") -> MeasuredRuns:
    """Return three runs at each of 0, 2, 4 … µs of added latency, 1 µs below and 3 above."""
    added = np.repeat(2e-6 * np.arange(len(medians_us)), 3)
    times = np.add.outer(np.array(medians_us), [-1, 0, 3]).ravel() * 1e-6
    about = Provenance("emulated", "a namespace")
    return MeasuredRuns.of(added, times, provenance=about, program=program, ranks=2)


def test_measured_runs_stand_on_the_curve_with_their_spread() -> None:
    drawn = tolerance_figure(from_lines(*BENT), measured=some_runs(101, 106, 115))
    points = drawn.measured.points.data
    assert points["L"] == pytest.approx([1000, 3000, 5000])
    assert points["T"] == pytest.approx([101_000, 106_000, 115_000])
    assert points["low"] == pytest.approx([100_500, 105_500, 114_500])
    assert points["high"] == pytest.approx([102_500, 107_500, 116_500])
    assert points["least"] == pytest.approx([100_000, 105_000, 114_000])
    assert points["error"][1] == "-0.94 %"
    slopes = drawn.measured.slopes.data
    assert slopes["slope"] == pytest.approx([2.5, 4.5])
    assert slopes["low"] == pytest.approx([1.5, 3.5])
    assert "emulated runs: median, quartiles, minimum" in legend(drawn.time)
    assert captions(drawn.share)[0].endswith("\nemulated: a namespace")
    drawn.show(from_lines(*BENT))
    assert drawn.measured.points.data["L"] == []
    assert legend(drawn.time) == ["name", "critical latency"]


def test_the_axes_hold_measured_points_but_not_every_steep_slope() -> None:
    drawn = tolerance_figure(from_lines(*BENT), measured=some_runs(60, 400))
    assert drawn.time.y_range.start < 59_000
    assert drawn.time.y_range.end > 403_000
    assert drawn.time.x_range.start < 1000
    assert drawn.slope.y_range.end < 15, "170 latencies between two points are noise"


def test_measured_runs_of_several_programs_have_their_colours() -> None:
    both = {"a": from_lines(*BENT), "b": from_lines((100_000, 50))}
    drawn = tolerance_figure(both, measured={name: some_runs(100, 120) for name in both})
    assert drawn.measured.points.data["name"] == ["a", "a", "b", "b"]
    assert len(set(drawn.measured.points.data["colour"])) == 2
    with pytest.raises(ParameterError, match="by the names of analyses, a, b; got c"):
        plot_tolerance(both, measured={"c": some_runs(9)})


def test_a_comparison_says_how_far_and_where() -> None:
    found = RunPrediction(from_lines(*BENT), some_runs(101, 106, 115, 120, 150, program="halo"))
    text = describe_run_prediction(found)
    assert text.startswith("Predicted and emulated run times differ by 4.3 % (root mean square")
    assert "off by -0.99 %, and most with 8 µs added, by -6.67 %. The" in text
    at_first = describe_run_prediction(RunPrediction(found.analysis, some_runs(110, 106, 115)))
    assert "added the prediction is off by -9.09 %, the most. The predicted" in at_first
    assert "begins to rise at 1 µs of added latency, and has risen at 7 µs" in text
    layout = found.plot(height=200)
    assert isinstance(layout, LayoutDOM)
    assert layout.children[0].children[0].title.text == "Run time over latency: halo", (
        "not the trace's file"
    )


def test_traces_share_one_set_of_points() -> None:
    one = RunPrediction(from_lines(*BENT), some_runs(100, 105))
    two = RunPrediction(from_lines((500_000, 3)), some_runs(100, 105))
    layout = TracePredictions(np.array([0, 1e-5]), (one, two)).plot()
    sources = {model.name: model for model in layout.references() if model.name}
    assert len(sources["measured"].data["L"]) == 2
    assert sources["curves"].data["name"] == ["traced with 0 µs added", "traced with 10 µs added"]
    titles = {fig.title.text for fig in layout.references() if isinstance(fig, figure)}
    assert "Run time over latency: lines, 2 traces" in titles


def test_a_curve_over_the_gap_per_byte_says_its_units() -> None:
    found = analyse_bandwidth(*running_example(), interval=(0.0, 50e-9))
    drawn = tolerance_figure(found)
    assert drawn.time.title.text.startswith("Run time over gap per byte: ")
    assert "critical gap" not in legend(drawn.time), "T is one line"
    assert "ns/B" in drawn.time.xaxis.formatter.code
    assert "GB/s" in drawn.share.xaxis.formatter.code
    assert "MB" in drawn.slope.yaxis.formatter.code
    assert drawn.limits.data["text"][0] == "5 %: 0.0313 GB/s"
    assert drawn.zones.data["text"][0].startswith("G up to 10.38 ns/B (0.096")
    text = describe_tolerance(found)
    assert text.startswith("At G = 5 ns/B (0.2 GB/s) the program takes 1.61 µs, and 0.9 % of that")
    assert "is bytes: 3 of them on the critical path. It tolerates a G of at most" in text
    assert "0 critical gaps between 0 ns/B and 50 ns/B (0.02 GB/s)" in text
    drawn.show(from_lines(*BENT))
    assert "critical latency" in legend(drawn.time)
    assert "µs" in drawn.share.xaxis.formatter.code


def test_a_figure_is_over_one_parameter() -> None:
    gap = analyse_bandwidth(*running_example())
    with pytest.raises(ParameterError, match="over one parameter; got L and G"):
        plot_tolerance([from_lines(*BENT), gap])
    with pytest.raises(ParameterError, match="analyses must be over L; got G"):
        plot_tolerance(gap, measured=some_runs(5, 6))
    several = describe_tolerance({"a": gap, "b": gap})
    assert "Within 1 % b tolerates the most, a G of 10.38 ns/B" in several
    assert "Bytes' share of the critical path: a 0.9 %, b 0.9 %." in several
    silent = analyse_bandwidth(Sweep(read_goal("num_ranks 1\nrank 0 {\ncalc 10\n}\n"), MODEL))
    assert "a G of at most any gap for 1 %" in describe_tolerance(silent)
    assert tolerance_figure(silent).zones.data["text"] == ["any G"]
