"""Latency and accepted load over offered load, a line for each topology (simulated)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import Range1d, Span
from bokeh.plotting import figure
from numpy.typing import ArrayLike, NDArray

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import (
    legend_above,
    log_range,
    moving_line,
    new_figure,
    set_range,
    steady_log_ticks,
)
from workbench.plotting.marks import Marks, hover
from workbench.plotting.topology.style import TopologyLines, line_styles

if TYPE_CHECKING:
    from workbench.simulate.fabric import LatencyLoad

_COLUMNS = ("load", "latency", "line", "fill", "low", "high", "name", "said")


@dataclass(frozen=True, eq=False)
class LoadCurve:
    """One topology's run at several loads.

    Attributes:
        load: float64[n], offered, as a share of the hosts' bandwidth.
        latency_us: float64[n], mean latency of the messages that arrived, µs.
        accepted: float64[n], delivered, as a share of the hosts' bandwidth.
        saturated: bool[n], whether less is delivered than offered, so that queues grow without
            limit; None for nowhere.
        bound: the load at which the expected load of some link reaches its bandwidth; nan for none.
        ends_us: float64[2, n], smallest and largest mean latency of several runs of each load with
            different seeds, µs; None for one run.
        runs: int[n], number of runs of each load; None for one.
    """

    load: ArrayLike
    latency_us: ArrayLike
    accepted: ArrayLike
    saturated: ArrayLike | None = None
    bound: float = float("nan")
    ends_us: ArrayLike | None = None
    runs: ArrayLike | None = None

    def columns(self) -> NDArray[np.float64]:
        """Return the curve as float64[7, n], by the load.

        Rows are load, latency, accepted load, saturation, both ends of the latency and runs.

        Raises:
            ParameterError: they are not of one length.
        """
        full = np.zeros(np.shape(self.load)) if self.saturated is None else self.saturated
        low, high = (self.latency_us,) * 2 if self.ends_us is None else np.asarray(self.ends_us)
        runs = np.ones(np.shape(self.load)) if self.runs is None else self.runs
        columns = (self.load, self.latency_us, self.accepted, full, low, high, runs)
        given = [np.asarray(one, float) for one in columns]
        shapes = [one.shape for one in given]
        if len(set(shapes)) > 1 or given[0].ndim != 1:
            raise ParameterError(
                "a curve must have one latency, one accepted load and one saturation for each "
                f"load; got shapes {', '.join(map(str, shapes))}",
                key="load",
            )
        order = np.argsort(given[0], kind="stable")
        return np.stack(given)[:, order]


@dataclass(frozen=True, eq=False)
class LoadCurves(TopologyLines):
    """The curves of latency over load of several topologies."""

    bounds: Marks  # upright lines at the known bounds
    mark: Span  # upright line at the chosen load, hidden at first

    def show(self, curves: Mapping[str, LoadCurve], *, title: str = "") -> None:
        """Draw other curves; an empty title takes the usual one."""
        columns = {name: load_columns(name, one) for name, one in curves.items()}
        nothing: dict[str, list[Any]] = {one: [] for one in _COLUMNS}
        self.draw(columns, lambda name: columns.get(name, nothing))
        latencies = [
            value
            for one in columns.values()
            for key in ("latency", "low", "high")
            for value in one[key]
            if np.isfinite(value)
        ]
        ends = log_range(latencies)
        set_range(self.figure.y_range, ends)
        known = [
            (one.bound, colour)
            for one, (colour, *_) in zip(curves.values(), line_styles(), strict=False)
            if np.isfinite(one.bound)
        ]
        self.bounds.update(
            {
                "x": [x for x, _ in known],
                "low": [ends[0]] * len(known),
                "high": [ends[1]] * len(known),
                "colour": [colour for _, colour in known],
            }
        )
        self.figure.title.text = title or _TITLE


_TITLE = "Latency over offered load (simulated)"


def plot_load_curves(
    curves: Mapping[str, LoadCurve], *, title: str = "", height: int = 300
) -> figure:
    """Return mean latency over offered load; dotted vertical lines: some link is full.

    Hollow points are loads that the network does not carry. Whiskers go from the smallest to the
    largest of several runs of a load.

    Args:
        curves: by topology.
        title: over the figure; empty takes a default one.
        height: pixels.

    Raises:
        ParameterError: a curve's columns are not of one length.
    """
    return load_curves(curves, title=title, height=height).figure


def plot_latency_load(
    result: LatencyLoad | Mapping[str, LatencyLoad], *, title: str = "", height: int = 300
) -> figure:
    """Return the latency of a network over its offered load; hollow points are saturated.

    With several seeds the line is their mean, and whiskers go from the smallest to the largest.

    Args:
        result: of ``workbench.simulate.fabric.load_curve``, or up to four by their names, such as
            one for each routing.
        title: over the figure; empty takes a default one.
        height: pixels.
    """
    named = result if isinstance(result, Mapping) else {result.fabric.topology.name: result}
    curves = {name: _curve_of(each) for name, each in named.items()}
    return plot_load_curves(curves, title=title, height=height)


def _curve_of(result: LatencyLoad) -> LoadCurve:
    """Return the drawn form of a result."""
    return LoadCurve(
        load=result.offered,
        latency_us=result.of("mean_latency_s") * 1e6,
        accepted=result.accepted,
        saturated=result.saturated,
        ends_us=result.latency_ends_s * 1e6,
        runs=result.num_runs,
    )


def load_curves(
    curves: Mapping[str, LoadCurve], *, title: str = "", height: int = 300
) -> LoadCurves:
    """Return the live form of `plot_load_curves`, with room for four topologies."""
    fig = new_figure(
        title=title or _TITLE,
        y_label="mean latency (µs)",
        height=height,
        x_type="linear",
        file_name="latency-load",
        x_range=Range1d(0.0, 1.02),
        y_range=Range1d(),
    )
    steady_log_ticks(fig.yaxis)
    bounds = Marks(fig, {"x": [], "low": [], "high": [], "colour": []}, x="x")
    bounds.spans("low", "high", "colour", dash="dotted", width=1.5)
    lines, points = [], []
    for colour, dash, marker in line_styles():
        line = Marks(fig, {one: [] for one in _COLUMNS}, x="load")
        line.line("line", colour, dash=dash, width=2, legend=marker)
        line.spans("low", "high", colour, width=1.5)
        for end in ("low", "high"):
            line.points(end, colour, marker="dash", size=8, width=1.5)
        points.append(
            line.points("latency", colour, alpha="fill", marker=marker, size=7, legend=marker)
        )
        lines.append(line)
    hover(fig, points, [("", "@name"), ("", "@said")])
    fig.xaxis.axis_label = "offered load (of the hosts' bandwidth)"
    legend_above(fig)
    fig.legend.spacing = 8
    fig.legend.glyph_width = 14
    mark = moving_line(fig, palette.FAINT, width=1)
    drawn = LoadCurves(fig, tuple(lines), bounds, mark)
    drawn.show(curves, title=title)
    return drawn


def load_columns(name: str, curve: LoadCurve) -> dict[str, list[Any]]:
    """Return the columns of one topology's line."""
    load, latency, *_ = columns = curve.columns().tolist()
    rows = list(zip(*columns, strict=True))
    return {
        "load": load,
        "latency": latency,
        # Where queues grow for ever, latency is that of the run's length: no point of the line.
        "line": [float("nan") if over else y for _, y, _, over, *_ in rows],
        "fill": [0.0 if over else 1.0 for _, _, _, over, *_ in rows],
        "low": [_whisker(low, over, runs) for _, _, _, over, low, _, runs in rows],
        "high": [_whisker(high, over, runs) for _, _, _, over, _, high, runs in rows],
        "name": [name] * len(rows),
        "said": [
            f"offered {x:.3g}, accepted {a:.3g}: "
            + ("saturated" if over else f"{y:.3g} µs")
            + (f", {low:.3g} to {high:.3g} in {runs:.0f} runs" if runs > 1 and not over else "")
            for x, y, a, over, low, high, runs in rows
        ],
    }


def _whisker(end: float, over: float, runs: float) -> float:
    """Return the end of a whisker; nan where there is none."""
    return float("nan") if over or runs < 2 else end


def describe_load_curves(curves: Mapping[str, LoadCurve]) -> str:
    """Return a sentence on the topologies that accept the most and the least load."""
    carried = {
        name: float(columns[2].max())
        for name, columns in ((name, one.columns()) for name, one in curves.items())
        if columns.size
    }
    if not carried:
        return "Nothing has been simulated yet."
    most = max(carried, key=carried.__getitem__)
    least = min(carried, key=carried.__getitem__)
    text = f"Simulated, {most} delivers the most: {carried[most]:.2f} of the hosts' bandwidth"
    if most == least:
        return text + "."
    return f"{text}, {_times(carried[most], carried[least])} what {least} does."


def _times(one: float, other: float) -> str:
    return f"{one / other:.2g}×" if other > 0 else "many times"
