"""The figures and the table of a comparison of topologies."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.plotting.topology.collective_times import (
    collective_times,
    describe_collective_times,
    plot_collective_times,
)
from workbench.plotting.topology.hop_histogram import hop_histogram, plot_hops
from workbench.plotting.topology.load_curves import (
    LoadCurve,
    describe_load_curves,
    load_curves,
    plot_latency_load,
    plot_load_curves,
)
from workbench.plotting.topology.metrics_table import (
    MetricRow,
    Standing,
    describe_comparison,
    metrics_table,
)
from workbench.plotting.topology.resilience import plot_resilience, resilience_curves
from workbench.plotting.topology.style import line_styles
from workbench.simulate.fabric import Fabric, load_curve
from workbench.tolerance.figure_network import (
    describe_wire_tolerance,
    plot_wire_tolerance,
    wire_tolerance_figure,
)
from workbench.topology import star, torus
from workbench.topology.metrics.resilience import resilience


def test_topologies_differ_in_more_than_colour() -> None:
    colours, dashes, markers = zip(*line_styles(), strict=True)
    for one in (colours, dashes, markers):
        assert len(set(one)) == 4


def test_hops_are_shares_of_the_pairs() -> None:
    drawn = hop_histogram({"a": [0, 2, 0, 6], "b": [0, 4]})
    first, second, *others = (line.source.data for line in drawn.lines)
    assert first["hops"] == [1, 2, 3]
    assert first["percent"] == [25, 0, 75], "a distance that no pair has is on the line too"
    assert second == {"hops": [1], "percent": [100], "name": ["b"]}
    assert all(not one["hops"] for one in others)
    assert [item.visible for item in drawn.figure.legend[0].items] == [True, True, False, False]
    assert drawn.figure.legend[0].items[1].label["value"] == "b"
    drawn.show({})
    assert not drawn.lines[0].source.data["hops"]
    assert "routers" in plot_hops({"a": [0, 1]}).xaxis[0].axis_label


def test_distances_grow_as_links_fail() -> None:
    found = resilience(torus((4, 4)), shares=(0.0, 0.1, 0.3), trials=4, rng=0)
    drawn = resilience_curves({"torus": found, "star": None})
    data = drawn.lines[0].source.data
    grown = 100 * (found.average / found.average[0] - 1)
    assert data["failed"] == [0.0, 10.0, 30.0]
    assert data["longer"] == pytest.approx(grown.mean(axis=1).tolist())
    assert data["longer"][0] == 0 < data["longer"][1] < data["longer"][2]
    assert np.subtract(data["high"], data["low"]) == pytest.approx(2 * grown.std(axis=1))
    assert "30 % failed: distances" in data["said"][2]
    assert "of the hosts together" in data["said"][2]
    assert drawn.lines[1].source.data["failed"] == [], "of the other nothing is known yet"
    items = drawn.figure.legend[0].items
    assert [item.visible for item in items] == [True, True, False, False]
    assert drawn.figure.y_range.end > max(data["high"])
    torn = resilience(star(16), shares=(0.0, 0.5), trials=2, rng=0)
    drawn.show({"star": torn})
    assert drawn.lines[0].source.data["longer"][1] < 0, "the largest part is small"
    assert drawn.figure.y_range.start < min(drawn.lines[0].source.data["low"])
    assert drawn.figure.y_range.end == 0
    assert "5.56 % shorter" in drawn.lines[0].source.data["said"][1]
    drawn.show({})
    assert drawn.lines[0].source.data["failed"] == []
    assert drawn.figure.x_range.end == 50, "an empty figure has an axis too"
    assert (drawn.figure.y_range.start, drawn.figure.y_range.end) == (0, 50)
    assert plot_resilience({"torus": found}).title.text == "Distances as links fail at random"


def test_saturated_loads_are_hollow_points_beside_the_line() -> None:
    curve = LoadCurve([0.9, 0.1, 0.5], [9.0, 1.0, 2.0], [0.6, 0.1, 0.5], [True, False, False], 0.7)
    drawn = load_curves({"net": curve})
    data = drawn.lines[0].source.data
    assert data["load"] == [0.1, 0.5, 0.9]
    assert data["line"][:2] == [1.0, 2.0]
    assert np.isnan(data["line"][2])
    assert data["fill"] == [1.0, 1.0, 0.0]
    assert data["said"][2] == "offered 0.9, accepted 0.6: saturated"
    assert drawn.bounds.source.data["x"] == [0.7]
    assert "µs" in drawn.figure.yaxis[0].axis_label
    assert "simulated" in drawn.figure.title.text
    assert len(drawn.lines[0].source.data["load"]) == 3
    drawn.show({"net": LoadCurve([0.2], [1.0], [0.2])})
    assert drawn.lines[0].source.data["fill"] == [1.0]
    assert drawn.bounds.source.data["x"] == []
    with pytest.raises(ParameterError, match="one latency"):
        plot_load_curves({"net": LoadCurve([0.1], [1.0, 2.0], [0.1])})


def test_several_runs_of_a_load_have_whiskers() -> None:
    ends = [[1.8, 0.9, 4.0], [2.4, 1.1, 9.0]]
    curve = LoadCurve(
        [0.5, 0.1, 0.9],
        [2.0, 1.0, 7.0],
        [0.5, 0.1, 0.6],
        [False, False, True],
        ends_us=ends,
        runs=[3, 3, 3],
    )
    drawn = load_curves({"net": curve, "one": LoadCurve([0.1], [1.0], [0.1])})
    data = drawn.lines[0].source.data
    assert data["load"] == [0.1, 0.5, 0.9]
    assert (data["low"][:2], data["high"][:2]) == ([0.9, 1.8], [1.1, 2.4])
    assert np.isnan([data["low"][2], data["high"][2]]).all(), "saturated: no latency"
    assert data["said"][1] == "offered 0.5, accepted 0.5: 2 µs, 1.8 to 2.4 in 3 runs"
    assert np.isnan(drawn.lines[1].source.data["low"]).all(), "one run has no spread"
    assert drawn.lines[1].source.data["said"] == ["offered 0.1, accepted 0.1: 1 µs"]
    assert drawn.figure.y_range.start <= 0.9
    with pytest.raises(ParameterError, match="one latency"):
        plot_load_curves({"net": LoadCurve([0.1], [1.0], [0.1], ends_us=[[1, 1], [2, 2]])})


def test_curves_of_several_routings_are_in_one_figure() -> None:
    ring = torus((4,))
    both = {
        name: load_curve(Fabric(ring, routing=name), "uniform", [0.2], messages=200)
        for name in ("minimal", "valiant")
    }
    drawn = [r.data_source.data for r in plot_latency_load(both).renderers]
    shown = {one["name"][0]: one["latency"] for one in drawn if one.get("name")}
    assert shown == {name: list(one.mean_latency_s * 1e6) for name, one in both.items()}
    assert shown["valiant"] > shown["minimal"]


def test_the_sentence_names_what_delivers_the_most() -> None:
    curves = {
        "ring": LoadCurve([0.1, 0.3], [1, 5], [0.1, 0.2]),
        "star": LoadCurve([0.1, 0.9], [1, 2], [0.1, 0.8]),
    }
    text = describe_load_curves(curves)
    assert text == (
        "Simulated, star delivers the most: 0.80 of the hosts' bandwidth, 4× what ring does."
    )
    assert "Nothing" in describe_load_curves({})
    assert describe_load_curves({"ring": curves["ring"]}).endswith("bandwidth.")


def test_collective_times_are_in_us_by_size() -> None:
    times = {"a": {1024: 2e-6, 64: 1e-6}, "b": {64: 1e-6, 1024: 8e-6}}
    drawn = collective_times(times, title="what")
    assert drawn.lines[0].source.data["size"] == [64, 1024]
    assert drawn.lines[0].source.data["time"] == pytest.approx([1, 2])
    assert drawn.lines[1].source.data["said"][1] == "1 KiB: 8 µs"
    assert drawn.figure.title.text == "what"
    assert describe_collective_times(times, "bcast") == (
        "Simulated, bcast of 1 KiB is quickest on a: 2 µs, and takes 4× as long on b."
    )
    one = {"a": {64: 1e-6}}
    assert describe_collective_times(one, "bcast") == "Simulated, bcast of 64 B takes 1 µs on a."
    assert "on all alike" in describe_collective_times({**one, "b": {64: 1e-6}}, "bcast")
    assert "Nothing" in describe_collective_times({"a": {64: 1.0}, "b": {}}, "bcast")
    assert "message size" in plot_collective_times(times).xaxis[0].axis_label


def test_wire_tolerances_are_rows_from_where_they_start() -> None:
    borne = {"b": {1: 284.0, 2: 294.0, 5: 324.0}}
    drawn = wire_tolerance_figure({}, base_ns=274.0)
    drawn.show(borne, base_ns=274.0, names=["a", "b"], title="CG")
    data = drawn.marks.source.data
    assert data["name"] == ["a", "b"]
    assert np.isnan(data["ns_1"][0])
    assert [data[f"ns_{p}"][1] for p in (1, 2, 5)] == [284, 294, 324]
    assert drawn.base.location == 274.0
    assert drawn.figure.x_range.start < 274.0
    assert drawn.figure.x_range.end > 324.0
    text = describe_wire_tolerance({"a": {1: 280.0}, **borne}, "CG", 274.0)
    assert text == "CG is 1 % slower with 10 ns more on each wire of b, and with 6 ns on a."
    assert "Nothing" in describe_wire_tolerance({}, "CG", 274.0)
    assert "ns" in plot_wire_tolerance(borne, base_ns=274.0).xaxis[0].axis_label


def test_the_best_of_a_row_has_a_star() -> None:
    rows = [MetricRow("di<am", {"a": "2", "b": "3"}, ["a"], 'the "most"'), MetricRow("hosts", {})]
    text = metrics_table(rows, {"a": "#000000", "b": "#111111"})
    assert "<b>★ 2</b>" in text
    assert "★ 3" not in text
    assert "di&lt;am" in text
    assert "the &quot;most&quot;" in text
    assert text.count("–") == 2
    assert text.index("#000000") < text.index("#111111")


def test_the_sentence_sets_the_best_beside_the_next() -> None:
    slim = Standing("Slim Fly", 0.7, 0.9, 2.7)
    dragon = Standing("dragonfly", 0.5, 1.0, 3.6)
    ring = Standing("ring", 0.05, 1.0, 90.0)
    text = describe_comparison([dragon, slim], "adversarial", "Valiant routing")
    assert text == (
        "Slim Fly carries 1.4× the adversarial load of dragonfly: 0.7 against 0.5 of the hosts' "
        "bandwidth with Valiant routing, at 0.9× its links a host and 0.75× its mean distance."
    )
    assert describe_comparison([dragon, slim, ring], "x", "y").endswith("The least is 0.05, ring.")
    also = Standing("tree", 0.7, 2.0, 5.0)
    assert describe_comparison([also, slim, ring], "x", "y").startswith(
        "Slim Fly, like tree, carries 14× the x load of ring"
    )
    assert "does it with 0.45× the links a host of tree" in describe_comparison(
        [also, slim], "x", "y"
    )
    assert describe_comparison([slim], "x", "y") == (
        "Slim Fly carries 0.7 of the hosts' bandwidth of x traffic with y."
    )
    assert describe_comparison([], "x", "y") == "Choose a topology."
