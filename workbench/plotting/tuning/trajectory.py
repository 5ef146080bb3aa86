"""The course of an experiment: every run, repeats aggregated, the best so far, the default."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import HoverTool, Range1d, Span
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure, set_range
from workbench.plotting.grid import Series
from workbench.plotting.marks import Marks, PointLook, rule

if TYPE_CHECKING:
    from workbench.tune.result import TuningResult
    from workbench.tune.space.constraints import Configuration

_RUN = ("run", "value", "shown", "text", "status", "seconds")
_KINDS = ("run", "repeat", "outside", "pruned", "failed")
_LOOKS: dict[str, tuple[str, str, PointLook]] = {
    # text in the legend, colour, and what differs from a full circle
    "run": ("one run", palette.FAINT, {}),
    "repeat": ("run again", palette.FAINT, {"fill": None}),
    "outside": ("off the axis", palette.FAINT, {"marker": "triangle"}),
    "pruned": ("pruned", palette.ORANGE, {"marker": "inverted_triangle", "size": 7}),
    "failed": ("failed", palette.VERMILLION, {"marker": "x", "size": 7, "fill": None}),
}
_TOGETHER, _BEST = "its runs together", "best so far"
_ROOM = 0.06  # of the range, above and below: 17 px of 280 for the best mark, of 10 px
_EDGE = 0.025  # of the range: 7 px of 280, so that marks at the edge are drawn whole
# Chosen: the axis holds the better three quarters of the runs and half of their range more.
_FEW, _SPREADS = 0.75, 1.5


@dataclass(frozen=True, eq=False)
class TrajectoryFigure:
    """The course of an experiment and its sources."""

    figure: figure
    runs: dict[str, Marks]  # by ``run``, ``repeat``, ``outside``, ``pruned``, ``failed``
    repeats: Marks  # aggregated value at a configuration's last run
    best: Marks  # so far, as steps
    default: Span  # value of the default configuration

    def show(self, result: TuningResult, *, title: str = "") -> None:
        """Draw the current state of an experiment; an empty title keeps the last one."""
        low, high = trajectory_range(result)
        set_range(self.figure.y_range, (low, high))
        set_range(self.figure.x_range, (0.0, max(len(result), 10) + 1.0))
        columns = run_columns(result, low, high)
        # A mark that is nowhere has no entry in the legend either.
        for kind, marks in self.runs.items():
            marks.update(columns[kind])
            marks.entry(_LOOKS[kind][0] if columns[kind]["run"] else "")
        again = repeat_columns(result)
        self.repeats.update(again)
        self.repeats.entry(_TOGETHER if again["run"] else "")
        numbers: list[float] = list(range(1, len(result) + 1))
        best: list[float] = result.best_so_far().tolist()
        if numbers:
            # The last step has a width, so that it is seen.
            best.append(best[-1])
            numbers.append(len(result) + 0.7)
        self.best.update({"run": numbers, "best": best})
        self.best.entry(_BEST if numbers else "")
        default = result.default_value
        known = math.isfinite(default)
        self.default.update(location=default if known else 0.0, visible=known)
        self.figure.legend[0].items[-1].visible = known
        unit = f" ({result.unit})" if result.unit else ""
        self.figure.yaxis.axis_label = f"{result.label}{unit}"
        if title:
            self.figure.title.text = title


def plot_trajectory(result: TuningResult, *, height: int = 320) -> figure:
    """Return the course of an experiment, a mark for each run."""
    drawn = trajectory_figure(height=height)
    drawn.show(result, title=result.name)
    return drawn.figure


def trajectory_figure(*, height: int = 320) -> TrajectoryFigure:
    """Return the live form of `plot_trajectory`, empty."""
    fig = new_figure(
        title="Runs",
        y_label="value",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="trajectory",
        x_range=Range1d(0.0, 11.0),
        y_range=Range1d(0.0, 1.0),
    )
    fig.xaxis.axis_label = "run"
    runs, points = {}, []
    for kind, (label, colour, own) in _LOOKS.items():
        look: PointLook = {**own, "alpha": 0.6, "legend": label}
        runs[kind] = Marks(fig, {name: [] for name in _RUN}, x="run")
        points.append(runs[kind].points("shown", colour, **look))
    repeats = Marks(fig, {"run": [], "value": [], "count": [], "text": []}, x="run")
    blue, white = palette.BLUE, palette.WHITE
    several = repeats.points("value", blue, edge=white, marker="diamond", size=10, legend=_TOGETHER)
    best = Marks(fig, {"run": [], "best": []}, x="run", name="best")
    best.steps("best", palette.FITTED, width=2.5, legend=_BEST)
    look_of_default = Series("default", palette.BLACK, "dashed", 1.5).stroke
    default = rule(fig, y=0.0, **look_of_default)
    default.visible = False
    # A rule has no entry in a legend: a line that is nowhere has.
    nowhere = Marks(fig, {"run": [math.nan, math.nan], "value": [math.nan, math.nan]}, x="run")
    nowhere.line("value", **look_of_default, legend="default")
    how = {"@value": "printf", "@seconds": "printf"}
    tips = [("run", "@run"), ("", "@value{%.5g} (@status), @seconds{%.4g} s"), ("", "@text")]
    fig.add_tools(HoverTool(renderers=points, tooltips=tips, formatters=how))
    tips = [("", "@value{%.5g} over @count runs"), ("", "@text")]
    fig.add_tools(HoverTool(renderers=[several], tooltips=tips, formatters=how))
    legend_above(fig)
    return TrajectoryFigure(fig, runs, repeats, best, default)


def trajectory_range(result: TuningResult) -> tuple[float, float]:
    """Return the ends of the value axis for the best, the default and most of the runs.

    A search tries configurations that are worse by orders of magnitude; on such an axis the others
    would coincide. They are drawn at its edge.
    """
    values = np.array([r.run.value for r in result.records if r.run.status == "complete"])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    sign = 1.0 if result.minimise else -1.0
    losses = sign * values
    best = float(losses.min())
    worst = float(np.quantile(losses, _FEW))
    worst = best + _SPREADS * max(worst - best, 0.0)
    default = result.default_value
    if math.isfinite(default):
        worst = max(worst, sign * default)
    # No further than what is there.
    worst = min(worst, max(float(losses.max()), sign * default if math.isfinite(default) else best))
    room = _ROOM * (worst - best) or 0.1 * abs(best) or 1.0
    ends = sorted((sign * (best - room), sign * (worst + room)))
    return ends[0], ends[1]


def run_columns(result: TuningResult, low: float, high: float) -> dict[str, dict[str, list[Any]]]:
    """Return the columns of the marks by kind; values beyond `low` or `high` are at the edge."""
    found: dict[str, dict[str, list[Any]]] = {k: {name: [] for name in _RUN} for k in _KINDS}
    margin = _EDGE * (high - low)
    low, high = low + margin, high - margin
    edge = high if result.minimise else low
    for number, record in enumerate(result.records, 1):
        run = record.run
        known = math.isfinite(run.value)
        shown = min(max(run.value, low), high) if known else edge
        kind: str = run.status
        if kind == "complete":
            kind = "repeat" if run.repeat else "run"
        if kind in ("run", "repeat") and shown != run.value:
            kind = "outside"
        columns = found[kind]
        row = (number, run.value, shown, configuration_text(run.configuration), run.status)
        for name, value in zip(_RUN, (*row, run.seconds), strict=True):
            columns[name].append(value)
    return found


def repeat_columns(result: TuningResult) -> dict[str, list[Any]]:
    """Return the aggregated value of each configuration that ran more than once."""
    table = result.history.aggregated()
    last = {key: number for number, key in enumerate(result.history.keys, 1)}
    rows = [
        (last[key], result.history.value(float(table.losses[row])), int(table.counts[row]), row)
        for row, key in enumerate(table.keys)
        if table.counts[row] > 1 and table.known[row]
    ]
    return {
        "run": [row[0] for row in rows],
        "value": [row[1] for row in rows],
        "count": [row[2] for row in rows],
        "text": [configuration_text(table.configurations[row[3]]) for row in rows],
    }


def configuration_text(configuration: Any) -> str:
    """Return a configuration in one line, without parameters that are not passed (None)."""
    parts = [f"{name} {value}" for name, value in configuration.items() if value is not None]
    return ", ".join(parts) or "nothing is passed"


def describe_trajectory(result: TuningResult) -> str:
    """Return sentences on an experiment's best configuration and its runs."""
    if result.best is None:
        return "No run has given a value yet." if not len(result) else "No run gave a value."
    unit = f" {result.unit}" if result.unit else ""
    best, value = result.best
    text = f"Best: {value:.4g}{unit} ({_runs(result, best)}) with {configuration_text(best)}"
    default = result.space.default
    if default is not None and math.isfinite(result.improvement):
        gain = f"{100 * result.improvement:.1f} % better" if result.improvement > 0 else "no better"
        text += f", {gain} than the default's {result.default_value:.4g}{unit}"
        text += f" ({_runs(result, default)})"
    text += "."
    counts = {status: n for status, n in result.counts.items() if n and status != "complete"}
    spoilt = "".join(f", {n} {status}" for status, n in counts.items())
    text += f" {len(result)} runs{spoilt}, {result.seconds:.3g} s of the program's time"
    if math.isfinite(result.explored):
        text += f"; {100 * result.explored:.0f} % of {result.space.size} configurations were run"
    return text + "."


def _runs(result: TuningResult, configuration: Configuration) -> str:
    count = len(result.history.runs_of(configuration))
    return "one run" if count == 1 else f"{count} runs"
