"""The errors of one bolted pair: low half, high half, whole, beside a single model; live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import FixedTicker, Range1d
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, log_range, new_figure, set_range, steady_log_ticks
from workbench.plotting.marks import Marks, hover

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
    marks: Marks  # a row for each part

    def show(self, parts: Sequence[Part]) -> None:
        """Draw other errors, from the top down; nan leaves a row empty."""
        columns: dict[str, list[Any]] = {
            "name": [name for name, _ in parts],
            **{error: [float(rmspe[error]) for _, rmspe in parts] for error, *_ in _ERRORS},
        }
        columns["end"] = [_largest(rmspe) for _, rmspe in parts]
        columns["text"] = [_percent(rmspe["joint"]) for _, rmspe in parts]
        self.marks.update(columns)
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
    marks = Marks(fig, {"name": []}, name="parts")
    drawn = PartsFigure(fig, marks)
    drawn.show(parts)
    steady_log_ticks(fig.xaxis)
    fig.xaxis.axis_label = "RMSPE (%)"
    points = [
        marks.points(error, colour, edge="white", marker=marker, size=size, legend=error)
        for error, colour, marker, size in _ERRORS
    ]
    marks.texts("text", "end", offset=9, size=12)
    tips = [("", "@name"), *((error, f"@{error}{{0.0}} %") for error, *_ in _ERRORS)]
    hover(fig, points, tips)
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
