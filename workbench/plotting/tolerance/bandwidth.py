"""A program's time over the gap per byte G, and its slope λ_G below."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from bokeh.layouts import column
from bokeh.models import CustomJSTickFormatter, LayoutDOM, NumeralTickFormatter, Range1d

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure
from workbench.plotting.replay.spacetime_js import TIME_TICK
from workbench.plotting.replay.style import caption

if TYPE_CHECKING:
    from workbench.sensitivity.bandwidth import BandwidthSensitivity

_LEFT_PX = 78  # one width for both, so that the gaps stand above one another


def plot_bandwidth(result: BandwidthSensitivity, *, height: int = 280) -> LayoutDOM:
    """Return T over G with the tolerances, and below it λ_G in bytes on the same axis.

    Args:
        result: of ``workbench.sensitivity.analyse_bandwidth``.
        height: of the upper figure, pixels.
    """
    G, T = result.corners * 1e9, result.corner_T * 1e9
    shared = Range1d(float(G[0]), float(G[-1]))
    time, slope = (
        new_figure(
            title=title,
            y_label=label,
            height=pixels,
            x_type="linear",
            y_type="linear",
            file_name=name,
            x_range=shared,
        )
        for title, label, pixels, name in (
            (f"Run time over gap per byte: {result.source}", "run time T", height, "gap"),
            ("", "λ_G (bytes)", round(height * 0.7), "lambda-g"),
        )
    )
    time.line(x=G, y=T, line_color=palette.BLUE, line_width=2, legend_label="run time")
    time.scatter(
        x=G[1:-1],
        y=T[1:-1],
        marker="circle",
        size=6,
        fill_color=palette.WHITE,
        line_color=palette.BLUE,
        legend_label="critical gap",
    )
    shown = {
        percent: largest
        for percent, largest in result.tolerance.items()
        if math.isfinite(largest) and result.corners[0] <= largest <= result.corners[-1]
    }
    at = np.array(list(shown.values()), float)
    time.scatter(
        x=at * 1e9,
        y=result.T_of(at) * 1e9,
        marker="square",
        size=8,
        fill_color=palette.VERMILLION,
        line_color=None,
        legend_label="tolerance",
    )
    time.text(
        x=at * 1e9,
        y=result.T_of(at) * 1e9,
        text=[f"{percent:g} %: {1e-9 / G:.3g} GB/s" for percent, G in shown.items()],
        x_offset=-8,
        y_offset=-4,
        text_align="right",
        text_font_size="11px",
    )
    slope.line(
        x=np.repeat(G, 2)[1:-1],
        y=np.repeat(result.slopes, 2),
        line_color=palette.BLUE,
        line_width=2,
    )
    slope.y_range.start = 0
    time.yaxis.formatter = CustomJSTickFormatter(code=TIME_TICK)
    slope.yaxis.formatter = NumeralTickFormatter(format="0,0")
    slope.xaxis.axis_label = "gap per byte G (ns/B), the inverse of bandwidth (GB/s)"
    for fig in (time, slope):
        fig.min_border_left = _LEFT_PX
    legend_above(time)
    caption(slope, result.provenance)
    return column(time, slope, sizing_mode="stretch_width")
