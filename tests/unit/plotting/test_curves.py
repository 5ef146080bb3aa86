from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import Div

from workbench.measure import OSUCurve
from workbench.plotting import curve_figures, plot_curve
from workbench.plotting.fit.curves import measured_columns, simulated_columns


def legend_names(figures: object) -> set[str]:
    items = figures.latency.legend[0].items  # type: ignore[attr-defined]
    return {item.label["value"] for item in items if item.visible}


def test_the_sources_hold_the_curves_in_the_units_of_the_axes(
    measured: OSUCurve, simulated: OSUCurve
) -> None:
    figures = curve_figures(measured, simulated)
    assert figures.measured.data["latency"] == pytest.approx([1, 2, 4, 100], rel=1e-12)
    assert figures.simulated.data["bandwidth"] == pytest.approx([8, 1e3, 1e4, 1e4], rel=1e-12)
    assert figures.latency.yaxis[0].axis_label == "latency (µs)"
    assert figures.bandwidth.yaxis[0].axis_label == "bandwidth (MB/s)"


def test_a_spread_becomes_whiskers_and_none_becomes_none(measured: OSUCurve) -> None:
    columns = measured_columns(measured)
    low, p25, middle, p75, high = (
        np.array(columns[f"latency{part}"]) for part in ("_low", "_p25", "", "_p75", "_high")
    )
    assert (low < p25).all()
    assert (p25 < middle).all()
    assert (middle < p75).all()
    assert (p75 < high).all()
    # No runs are known for the bandwidth: whiskers of no length.
    np.testing.assert_array_equal(columns["bandwidth_low"], columns["bandwidth"])


def test_columns_have_one_length_so_that_one_write_redraws(
    measured: OSUCurve, simulated: OSUCurve
) -> None:
    for columns in (measured_columns(measured), simulated_columns(simulated)):
        assert {len(values) for values in columns.values()} == {4}
    assert measured_columns(None).keys() == measured_columns(measured).keys()
    assert simulated_columns(None).keys() == simulated_columns(simulated).keys()


def test_the_legend_names_what_is_drawn_and_nothing_else(
    measured: OSUCurve, simulated: OSUCurve
) -> None:
    assert legend_names(curve_figures(measured)) == {"measured"}
    assert legend_names(curve_figures(None, simulated)) == {"simulated"}
    figures = curve_figures(measured, simulated)
    assert legend_names(figures) == {"measured", "simulated"}
    figures.name_in_legend("fitted", True)
    assert legend_names(figures) == {"measured", "simulated", "fitted"}


def test_the_titles_say_whose_points_and_where_from(measured: OSUCurve) -> None:
    figures = curve_figures(measured)
    assert figures.latency.title.text == "Latency, a-machine (published)"
    assert figures.bandwidth.title.text == "Bandwidth, a-machine (published)"


def test_lines_differ_in_dash_and_not_only_in_colour(simulated: OSUCurve) -> None:
    figures = curve_figures(None, simulated, simulated)
    lines = [r.glyph for r in figures.latency.renderers if hasattr(r.glyph, "line_dash")]
    dashes = {tuple(glyph.line_dash) for glyph in lines if type(glyph).__name__ == "Line"}
    assert len(dashes) == 2


def test_plot_curve_carries_the_captions(measured: OSUCurve, simulated: OSUCurve) -> None:
    caption = plot_curve(measured, simulated).select_one({"type": Div}).text
    assert measured.provenance.caption() in caption
    assert simulated.provenance.caption() in caption
    alone = plot_curve(simulated).select_one({"type": Div}).text
    assert alone == simulated.provenance.caption()
