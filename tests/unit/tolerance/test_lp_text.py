"""The linear program as the paper prints it, and T as the maximum of a program's paths."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import GlyphRenderer, Scatter

from tests.cases import for_each
from tests.kernels.loggops_programs import random_graph
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs import generate
from workbench.tolerance import LatencyLP, Sweep, running_example

MODEL = LogGPS(L=30e-9, o=3e-9, g=0.0, G=1e-9, O=0.0, S=100)


def test_equation_6_as_it_is_printed() -> None:
    assert LatencyLP(*running_example()).to_text().splitlines() == [
        "min t        [times in µs]",
        "s.t.",
        "(1) y1 ≥ ℓ + 0.115",
        "(2) y1 ≥ 0.5",
        "(3) t ≥ 1.1",
        "(4) t ≥ y1 + 1",
        "    ℓ ≥ 0.5",
    ]


def test_figure_6_maximises_the_latency_within_a_run_time() -> None:
    lines = LatencyLP(*running_example()).to_text(2e-6).splitlines()
    assert lines[0] == "max ℓ        [times in µs]"
    assert lines[-1] == "    t ≤ 2"


def test_figure_15_has_as_many_constraints() -> None:
    lines = LatencyLP(*running_example(rendezvous=True)).to_text().splitlines()
    assert lines[2:6] == [
        "(1) y1 ≥ 4 ℓ + 0.115",
        "(2) y1 ≥ 3 ℓ + 0.515",
        "(3) t ≥ y1 + 1",
        "(4) t ≥ y1 + 1",
    ]


def test_gaps_and_overheads_may_stay_letters() -> None:
    text = LatencyLP(*running_example()).to_text(variables=["l", "g", "o"])
    assert "(1) y1 ≥ ℓ + 3 g + 2 o + 0.1\n" in text
    assert "    g ≥ 0.005\n" in text
    assert "gaps in µs/B" in text


def test_each_y_is_bounded_before_it_is_used() -> None:
    lp = LatencyLP(random_graph(np.random.default_rng(5), ranks=4, events=40), MODEL)
    text = lp.to_text(most_rows=lp.num_rows)
    bounded = set()
    for line in text.splitlines()[2:-1]:
        head, rest = line.split(")")[1].strip().split(" ≥ ")
        assert {part for part in rest.split(" + ") if part.startswith("y")} <= bounded
        bounded.add(head)


def test_a_long_program_is_cut() -> None:
    lp = LatencyLP(generate.halo((2, 2), cells=16, iterations=2), MODEL)
    lines = lp.to_text(most_rows=3).splitlines()
    assert lines[-2] == f"... and {lp.num_rows - 3} more constraints"


@for_each("seed", range(12))
def test_the_run_time_is_the_greatest_of_the_paths(seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), ranks=3, events=6)
    paths = LatencyLP(graph, MODEL).paths()
    sweep = Sweep(graph, MODEL)
    for L in (0.0, 10e-9, 30e-9, 1e-6):
        longest = max(path.latencies * L * 1e6 + path.constant_us for path in paths)
        assert longest == pytest.approx(sweep.makespan(L) * 1e6, rel=1e-12, abs=1e-9)


def test_what_cannot_be_printed_is_refused() -> None:
    lp = LatencyLP(*running_example())
    with pytest.raises(ParameterError, match="no variable 'G'"):
        lp.to_text(variables=["G"])
    pairs = LatencyLP.by_pair(generate.halo((2, 2), cells=16, iterations=2), MODEL)
    with pytest.raises(ParameterError, match="one latency to maximise"):
        pairs.to_text(1.0)
    with pytest.raises(ParameterError, match="paths are lines over one latency"):
        pairs.paths()
    with pytest.raises(ParameterError, match="at most 200 of them"):
        LatencyLP(generate.cg(8, iterations=2), MODEL).paths()


def points(drawn: object, label: str) -> list[tuple[float, float]]:
    """Return the points of a scatter with a legend's label."""
    for item in drawn.legend[0].items:  # type: ignore[attr-defined]
        if item.label.value == label:
            data = item.renderers[0].data_source.data
            return list(zip(data["x"], data["y"], strict=True))
    raise AssertionError(label)


def test_figures_5_6_and_16_show_the_papers_points() -> None:
    lp = LatencyLP(*running_example())
    assert points(lp.plot(), "optimum") == [pytest.approx((0.5, 1.615))]
    assert points(lp.plot(T=2e-6), "optimum") == [pytest.approx((0.885, 2.0))]
    ranging = lp.critical_latencies(0.2e-6, 0.5e-6, step_s=0)
    drawn = lp.plot(ranging=ranging)
    solves = points(drawn, "solve of Algorithm 2")
    assert solves == [pytest.approx((0.5, 1.615)), pytest.approx((0.385, 1.5), abs=1e-5)]
    shapes = [r.glyph for r in drawn.renderers if isinstance(r, GlyphRenderer)]
    assert sum(isinstance(glyph, Scatter) for glyph in shapes) == 2
