"""The errors of one bolted pair: low half, high half, whole, beside a single model; live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, log_range, new_figure, set_range, steady_log_ticks

_ERRORS = (
    ("latency", palette.SKY_BLUE, "square", 8),
    ("bandwidth", palette.ORANGE, "triangle", 9),
    ("joint", palette.BLACK, "circle", 10),
)

Part = tuple[str, Mapping[str, float]]
"""What a row is called, and its RMSPE ``joint``, ``latency`` and ``bandwidth`` in percent."""


@dataclass(frozen=True, eq=False)
class PartsFigure:
    """RMSPE of a few parts as points: a bar has no start on a logarithmic axis."""

    figure: figure
    source: ColumnDataSource  # a row for each part

    def show(self, parts: Sequence[Part]) -> None:
        """Draw other errors, from the top down; nan leaves a row empty."""
        columns: dict[str, list[Any]] = {
            "row": list(range(len(parts))),
            "name": [name for name, _ in parts],
            **{error: [float(rmspe[error]) for _, rmspe in parts] for error, *_ in _ERRORS},
        }
        columns["end"] = [_largest(rmspe) for _, rmspe in parts]
        columns["text"] = [_percent(rmspe["joint"]) for _, rmspe in parts]
        self.source.data = columns
        shown = [value for error, *_ in _ERRORS for value in columns[error]]
        low, high = log_range(shown)
        set_range(self.figure.x_range, (low, high * 1.6))
        self.figure.y_range.update(start=len(parts) - 0.5, end=-0.5)
        names = dict(enumerate(columns["name"]))
        if names != self.figure.yaxis[0].major_label_overrides:
            self.figure.yaxis[0].ticker.ticks = list(names)
            self.figure.yaxis.major_label_overrides = names


def parts_figure(parts: Sequence[Part], *, height: int = 230) -> PartsFigure:
    """Return the figure of the errors of parts, from the top down."""
    source = ColumnDataSource(name="parts")
    fig = new_figure(
        title="RMSPE of the simulated values",
        y_label="",
        height=height,
        x_type="log",
        y_type="linear",
        file_name="parts",
        x_range=Range1d(),
        y_range=Range1d(),
    )
    fig.yaxis.ticker = FixedTicker()  # once: for a new model Bokeh visits the whole document
    drawn = PartsFigure(fig, source)
    drawn.show(parts)
    steady_log_ticks(fig.xaxis)
    fig.xaxis.axis_label = "RMSPE (%)"
    points = [
        fig.scatter(
            x=error,
            y="row",
            source=source,
            marker=marker,
            size=size,
            fill_color=colour,
            line_color="white",
            legend_label=error,
        )
        for error, colour, marker, size in _ERRORS
    ]
    fig.text(
        x="end",
        y="row",
        text="text",
        source=source,
        x_offset=9,
        text_baseline="middle",
        text_font_size="12px",
    )
    tips = [("", "@name"), *((error, f"@{error}{{0.0}} %") for error, *_ in _ERRORS)]
    fig.add_tools(HoverTool(renderers=points, tooltips=tips))
    fig.ygrid.grid_line_color = None
    fig.yaxis.axis_line_color = None
    fig.yaxis.major_tick_line_color = fig.yaxis.minor_tick_line_color = None
    legend_above(fig)
    return drawn


def _largest(rmspe: Mapping[str, float]) -> float:
    known = [float(rmspe[error]) for error, *_ in _ERRORS if np.isfinite(rmspe[error])]
    return max(known, default=float("nan"))


def _percent(value: float) -> str:
    if not np.isfinite(value):
        return ""
    return f"{value:.1f} %" if value < 10 else f"{value:.0f} %"
