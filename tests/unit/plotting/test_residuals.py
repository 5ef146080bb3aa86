from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource

from workbench import datasets
from workbench.measure import OSUCurve
from workbench.plotting import plot_residuals
from workbench.plotting.fit.residuals import residual_columns


def test_residuals_are_the_percent_errors_of_what_was_measured(
    measured: OSUCurve, simulated: OSUCurve
) -> None:
    figures = plot_residuals(measured, simulated)
    sources = {one.name: one.data for one in figures.select({"type": ColumnDataSource})}
    latency, bandwidth = measured.percent_error(simulated)
    assert sources["residuals latency"]["error"] == latency.tolist()
    assert sources["residuals bandwidth"]["error"] == bandwidth[np.isfinite(bandwidth)].tolist()
    assert sources["residuals bandwidth"]["label"] == ["1 B", "8 KiB", "1 MiB"]
    alone = plot_residuals(measured.alone("latency"), simulated)
    assert len(alone.children) == 1


def test_the_band_is_the_middle_half_of_the_runs() -> None:
    curve = datasets.load("azure-hb96v3-hdr")
    spread = curve.latency_spread
    assert spread is not None
    columns = residual_columns(curve, "latency", np.zeros(len(curve)))
    np.testing.assert_allclose(columns["low"], 100 * (spread.p25 / curve.latency_s - 1))
    np.testing.assert_allclose(columns["high"], 100 * (spread.p75 / curve.latency_s - 1))
