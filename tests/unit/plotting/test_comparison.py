from __future__ import annotations

from workbench import datasets
from workbench.models import LogP
from workbench.plotting.fit.comparison import ComparedCurves, comparison_figures
from workbench.simulate import simulate_osu

AZURE, AWS = datasets.load("azure-hb96v3-hdr"), datasets.load("aws-hpc6a-efa")


def compared(name: str, curve: object = AZURE, **changes: float) -> ComparedCurves:
    return ComparedCurves(name, curve, simulate_osu(LogP(**changes), curve.sizes))


def test_one_fit_is_a_line_over_points() -> None:
    first = compared("the fit")
    drawn = comparison_figures(first)
    assert drawn.curves.simulated.data["latency"] == first.simulated.latency_us.tolist()
    assert drawn.curves.fitted.data["latency"] == []
    assert not drawn.other_errors.figure.visible
    shown = [item.label["value"] for item in drawn.curves.latency.legend[0].items if item.visible]
    assert shown == ["measured (published)", "the fit, simulated"]


def test_two_fits_have_a_line_and_errors_each() -> None:
    first, second = compared("B"), compared("A", out_in_latency=9e-6)
    drawn = comparison_figures(first, second)
    assert drawn.curves.fitted.data["latency"] == second.simulated.latency_us.tolist()
    assert drawn.other.data["size"] == [], "the points are those of the first"
    off = second.measured.percent_error(second.simulated)[0].tolist()
    assert drawn.other_errors.source.data["error"][: len(off)] == off
    shown = [item.label["value"] for item in drawn.curves.latency.legend[0].items if item.visible]
    assert shown == ["measured (published)", "B, simulated", "A, simulated"]


def test_another_machine_has_points_of_its_own_within_the_axes() -> None:
    drawn = comparison_figures(compared("B"))
    drawn.show(compared("B"), compared("A", AWS))
    assert drawn.other.data["latency"] == AWS.latency_us.tolist()
    assert drawn.curves.latency.y_range.end > AWS.latency_us.max()
    drawn.show(compared("the fit"))
    assert drawn.other.data["latency"] == []


def test_a_fit_without_a_model_shows_its_points() -> None:
    drawn = comparison_figures(ComparedCurves("the fit", AZURE, None))
    assert drawn.curves.simulated.data["latency"] == []
    assert drawn.curves.measured.data["latency"] == AZURE.latency_us.tolist()
