"""Measured run times on the figure of latency tolerance: points with their spread, and slopes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, LegendItem
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.marks import Marks
from workbench.plotting.replay.style import time_text
from workbench.tolerance.curve import LatencySensitivity
from workbench.tolerance.figure_columns import colour_of, height_of
from workbench.tolerance.run_prediction import RunPrediction

if TYPE_CHECKING:
    from workbench.measure import MeasuredRuns
    from workbench.tolerance.curve import ToleranceCurve

    Measured = MeasuredRuns | Mapping[str, MeasuredRuns]

_POINTS = ("name", "L", "T", "least", "low", "high", "added", "text", "repeats", "colour", "error")
_SLOPES = ("name", "from", "to", "middle", "slope", "low", "high", "colour")
_STEEPEST = 1.5  # of the predicted slopes: what noise makes steeper does not set the axis


@dataclass(frozen=True, eq=False)
class MeasuredMarks:
    """Measured points on T(L), and the slopes between them on λ_L."""

    points: ColumnDataSource  # a row for each added latency: median, quartiles and minimum
    slopes: ColumnDataSource  # a row for each pair of neighbouring points
    legend: LegendItem  # of the points; hidden where there are none

    def show(self, predictions: Mapping[str, RunPrediction], *, relative: bool) -> None:
        """Draw the runs of some predictions, by the names of their curves; of none, nothing."""
        if not predictions and not self.legend.visible:
            return  # a slider moves, and nothing is measured
        self.points.data = point_columns(predictions, relative=relative)
        self.slopes.data = slope_columns(predictions)
        origins = dict.fromkeys(one.runs.provenance.origin for one in predictions.values())
        label = f"{' and '.join(origins)} runs: median, quartiles, minimum"
        self.legend.update(visible=bool(predictions), label={"value": label})

    def heights(self) -> list[list[float]]:
        """Return the lines that the axis of T must hold."""
        data = self.points.data
        return [list(data[name]) for name in ("least", "high") if len(data[name])]

    def steepest(self, predicted: float) -> list[list[float]]:
        """Return what the axis of λ_L must hold, given the largest predicted slope."""
        slopes = [one for one in self.slopes.data["slope"] if one <= _STEEPEST * predicted]
        return [slopes] if slopes else []


def add_measured(time: figure, slope: figure) -> MeasuredMarks:
    """Add empty marks of measured runs to the figures of T and of λ_L."""
    points = ColumnDataSource(data={name: [] for name in _POINTS})
    slopes = ColumnDataSource(data={name: [] for name in _SLOPES})
    points.name, slopes.name = "measured", "measured slopes"
    marks = Marks(time, points, x="L")
    marks.spans("low", "high", "colour", width=2)
    marks.points("least", "colour", marker="dash", size=9)
    dots = marks.points("T", "colour", edge="white", marker="diamond", size=9, width=0.5)
    time.add_tools(
        HoverTool(
            renderers=[dots],
            attachment="right",
            tooltips=[
                ("", "@name"),
                ("added", "@added"),
                ("median", "@text"),
                ("runs", "@repeats"),
                ("predicted", "@error"),
            ],
        )
    )
    Marks(slope, slopes, y="slope").spans("from", "to", "colour", width=2)
    Marks(slope, slopes, x="middle").spans("low", "high", "colour")
    legend = LegendItem(label={"value": ""}, renderers=[dots], visible=False)
    time.legend[0].items.append(legend)
    return MeasuredMarks(points, slopes, legend)


def predictions_of(
    named: Mapping[str, ToleranceCurve], measured: Measured | None
) -> dict[str, RunPrediction]:
    """Return predictions of measured runs by the names of analyses; ParameterError if of none.

    Runs without a name are of the program that all analyses are of; the first one's L is the base.
    """
    if measured is None:
        return {}
    analyses: dict[str, LatencySensitivity] = {}
    for name, result in named.items():
        if not isinstance(result, LatencySensitivity) or result.variable != "L":
            raise ParameterError(
                f"measured runs are by added latency, so that analyses must be over L; got "
                f"{result.variable}",
                key="measured",
            )
        analyses[name] = result
    if not isinstance(measured, Mapping):
        first, *others = named
        name = f"measured; beside {first}" if others else first
        return {name: RunPrediction(analyses[first], measured)}
    if unknown := [name for name in measured if name not in named]:
        raise ParameterError(
            f"measured runs must be by the names of analyses, {', '.join(named)}; got {unknown[0]}",
            key="measured",
        )
    return {name: RunPrediction(analyses[name], runs) for name, runs in measured.items()}


def point_columns(
    predictions: Mapping[str, RunPrediction], *, relative: bool
) -> dict[str, list[Any]]:
    """Return a row for each measured point, latencies in ns, times as `height_of` draws them."""
    rows: dict[str, list[Any]] = {name: [] for name in _POINTS}
    for place, (name, one) in enumerate(predictions.items()):
        added, spread = one.points
        for key, values in (
            ("T", spread.median),
            ("least", spread.minimum),
            ("low", spread.p25),
            ("high", spread.p75),
        ):
            rows[key] += height_of(one.analysis, values, relative).tolist()
        rows["L"] += ((one.analysis.L + added) * 1e9).tolist()
        rows["name"] += [name] * len(added)
        rows["added"] += [time_text(value * 1e9) for value in added.tolist()]
        rows["text"] += [time_text(value * 1e9) for value in spread.median.tolist()]
        rows["repeats"] += spread.count.tolist()
        rows["error"] += [f"{value:+.2f} %" for value in one.error_percent.tolist()]
        rows["colour"] += [_colour(predictions, place)] * len(added)
    return rows


def slope_columns(predictions: Mapping[str, RunPrediction]) -> dict[str, list[Any]]:
    """Return a row for each pair of neighbouring points: the slope of the medians.

    ``low`` and ``high`` are the slopes between a point's upper quartile and the next one's lower,
    and the other way round.
    """
    rows: dict[str, list[Any]] = {name: [] for name in _SLOPES}
    for place, (name, one) in enumerate(predictions.items()):
        added, spread = one.points
        step = np.diff(added)
        L = (one.analysis.L + added) * 1e9
        count = len(step)
        rows["name"] += [name] * count
        rows["from"] += L[:-1].tolist()
        rows["to"] += L[1:].tolist()
        rows["middle"] += ((L[:-1] + L[1:]) / 2).tolist()
        rows["slope"] += one.measured_slope.tolist()
        rows["low"] += ((spread.p25[1:] - spread.p75[:-1]) / step).tolist()
        rows["high"] += ((spread.p75[1:] - spread.p25[:-1]) / step).tolist()
        rows["colour"] += [_colour(predictions, place)] * count
    return rows


def _colour(predictions: Mapping[str, RunPrediction], place: int) -> str:
    """Return black for runs of one program, else the colour of its curve."""
    return palette.MEASURED if len(predictions) == 1 else colour_of(place)
