"""Residuals of a simulated curve: percent errors over message size, beside the spread of runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.layouts import row
from bokeh.models import LayoutDOM, Range1d
from bokeh.plotting import figure

from workbench.measure.curve import OSUCurve, byte_label
from workbench.plotting import palette
from workbench.plotting.axes import message_size_axis, new_figure
from workbench.plotting.marks import Marks, rule

_LEAST_PERCENT = 5.0  # half of the axis at least, so that errors below 1 % look small


def plot_residuals(measured: OSUCurve, simulated: OSUCurve, *, height: int = 180) -> LayoutDOM:
    """Return the percent errors of latency and bandwidth over message size, side by side.

    Points on one side of zero over several sizes show what the model lacks. The band is the middle
    half of the measured runs, where there were several: a point inside it is as good as a run.

    Args:
        measured: what the errors are relative to.
        simulated: at the same sizes.
        height: of each figure in pixels.
    """
    errors = measured.percent_error(simulated)
    panes = [
        _pane(what, residual_columns(measured, what, error), height)
        for what, error in zip(("latency", "bandwidth"), errors, strict=True)
        if np.isfinite(error).any()
    ]
    return row(panes, sizing_mode="stretch_width")


def residual_columns(
    measured: OSUCurve, what: str, errors: np.ndarray[Any, Any]
) -> dict[str, list[Any]]:
    """Return size, label and percent error of each point, and the ends of the band of runs."""
    known = np.isfinite(errors)
    spread = measured.latency_spread if what == "latency" else measured.bandwidth_spread
    middle = measured.latency_s if what == "latency" else measured.bandwidth_Bps
    ends = (middle, middle) if spread is None else (spread.p25, spread.p75)
    low, high = (100.0 * (end[known] / middle[known] - 1.0) for end in ends)
    sizes = measured.sizes[known].tolist()
    return {
        "size": sizes,
        "label": [byte_label(size) for size in sizes],
        "error": errors[known].tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
    }


def _pane(what: str, columns: dict[str, list[Any]], height: int) -> figure:
    sizes = columns["size"]
    most = max(_LEAST_PERCENT, *(1.15 * abs(error) for error in columns["error"]))
    fig = new_figure(
        title=f"Residuals of {what}: fitted above (+) or below (−) measured",
        y_label="error (%)",
        height=height,
        y_type="linear",
        file_name=f"residuals_{what}",
        x_range=Range1d(min(sizes) / 1.5, max(sizes) * 1.5),
        y_range=Range1d(-most, most),
    )
    message_size_axis(fig, sizes, count=5)
    marks = Marks(fig, columns, x="size", name=f"residuals {what}")
    marks.band("low", "high", palette.FAINT, alpha=0.25)
    rule(fig, y=0, colour=palette.FAINT)
    marks.spans(0, "error", palette.FITTED)
    marks.points("error", palette.FITTED, tips=[("@label", "@error{+0.0} %")])
    return fig
