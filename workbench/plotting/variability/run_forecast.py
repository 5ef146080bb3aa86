"""Forecasts of one run beside what came: at one moment, and over the whole run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, LayoutDOM, Span, TapTool
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, live_figure, moving_line, set_range
from workbench.plotting.grid import hover
from workbench.plotting.rows import beside
from workbench.plotting.variability.run_steps import run_label, run_position
from workbench.variability.forecasting.interval import BAND, forecast_interval, model_row

if TYPE_CHECKING:
    from workbench.variability import Forecast, StepTable

FloatArray = NDArray[np.float64]

_BASELINES = ("mean-trajectory", "persistence")
_STEPS = ("step", "time", "mean")
_AHEAD = ("step", "low", "high", "predicted", "actual")
_OVER = ("at", "actual", "predicted", "low", "high", *_BASELINES)


@dataclass(frozen=True, eq=False)
class RunForecastFigure:
    """The two figures of a run's forecasts and their sources."""

    moment: figure  # steps of the run, those seen and those forecast
    course: figure  # time of the next steps over the step that is seen last
    steps: ColumnDataSource
    ahead: ColumnDataSource  # the forecast at the moment
    over: ColumnDataSource  # the forecasts of the run
    seen: BoxAnnotation
    now: Span

    def show_steps(self, steps: StepTable, run: int) -> None:
        """Draw a run's steps beside the mean of all runs, without a forecast."""
        time = steps.time_s
        mean = np.nanmean(time, axis=0)
        self.steps.data = {"step": np.arange(steps.steps), "time": time[run], "mean": mean}
        self.ahead.data = {name: [] for name in _AHEAD}
        self.over.data = {name: [] for name in _OVER}
        self.seen.visible = self.now.visible = False
        most = float(np.nanmax([np.nanmax(time[run]), np.nanmax(mean)]))
        set_range(self.moment.y_range, (0.0, 1.12 * most))
        for fig in (self.moment, self.course):
            set_range(fig.x_range, (-0.7, steps.steps - 0.3))
        name, origin = run_label(steps.run[run]), steps.provenance.origin
        self.moment.title.text = f"Step times of {name} ({origin})"
        self.course.title.text = f"Forecasts of {name} ({origin})"

    def show(self, found: Forecast, run: int, at: int, model: str) -> None:
        """Draw the forecasts of a run by a model, and the one after ``at`` steps."""
        windows = windows_of_run(found, run)
        ends = forecast_interval(found, model)[windows]
        over = {
            "at": found.at[windows] - 1,
            "actual": found.actual_s[windows],
            "predicted": found.predicted_s[model_row(found, model)][windows],
            "low": ends[:, 0],
            "high": ends[:, 1],
        } | {name: found.predicted_s[model_row(found, name)][windows] for name in _BASELINES}
        self.over.data = over
        values = np.concatenate([over[name] for name in _OVER[1:]])
        set_range(self.course.y_range, (0.0, 1.08 * float(values.max(initial=1e-9))))
        self.course.yaxis.axis_label = f"time of the next {found.k} steps (s)"
        items = self.course.legend[0].items
        items[2].label = {"value": model}
        # A baseline that is the chosen model is drawn once.
        for item, name in zip(items[3:], _BASELINES, strict=True):
            item.visible = name != model
            for renderer in item.renderers:
                renderer.visible = name != model
        self.mark(found, run, at)

    def mark(self, found: Forecast, run: int, at: int) -> None:
        """Draw the forecast after another number of steps."""
        over = self.over.data
        place = int(np.searchsorted(over["at"], at - 1))
        known = place < len(over["at"]) and over["at"][place] == at - 1
        self.seen.update(left=at - found.m - 0.5, right=at - 0.5, visible=True)
        self.now.update(location=at - 1, visible=True)
        each: dict[str, FloatArray] = {name: np.empty(0) for name in _AHEAD}
        if known:
            each["step"] = np.array([at - 0.5, at + found.k - 0.5])
            for name in _AHEAD[1:]:
                each[name] = np.full(2, over[name][place] / found.k)
        self.ahead.data = each


def plot_run_forecast(
    found: Forecast,
    steps: StepTable,
    run: int | str,
    *,
    at: int | None = None,
    model: str | None = None,
    height: int = 360,
) -> LayoutDOM:
    """Return the forecasts of a run's next steps beside what came.

    To the left are the times of its steps; those that the model sees are on a shaded ground, and
    the forecast of those that follow is a line at their mean time, with the interval that should
    hold 80 % of what comes. To the right are all forecasts of the run.

    Args:
        found: of ``workbench.variability.forecast``.
        steps: that it was computed from.
        run: its position in ``steps`` or its name.
        at: number of steps that have passed; None takes as few as a forecast needs.
        model: one of ``found.models``; None takes the best one.
        height: pixels.

    Raises:
        ParameterError: there is no such run, moment or model, or the run is too short.
    """
    row = run_position(steps, run)
    at = _moment(found, row, at)
    drawn = run_forecast_figure(height=height)
    drawn.show_steps(steps, row)
    drawn.show(found, row, at, found.best if model is None else model)
    return run_forecast_layout(drawn)


def describe_run_forecast(
    found: Forecast,
    run: int | str,
    *,
    at: int | None = None,
    model: str | None = None,
) -> str:
    """Return a sentence on a forecast of a run and on what came.

    Args:
        found: as for `plot_run_forecast`.
        run: its position or its name.
        at: as for `plot_run_forecast`.
        model: as for `plot_run_forecast`.

    Raises:
        ParameterError: as for `plot_run_forecast`.
    """
    row = found.run_names.index(run) if isinstance(run, str) else run
    at = _moment(found, row, at)
    model = found.best if model is None else model
    windows = windows_of_run(found, row)
    window = int(windows[found.at[windows] == at][0])
    predicted, actual = found.predicted_s[model_row(found, model), window], found.actual_s[window]
    ends = forecast_interval(found, model)
    low, high = ends[window]
    held = (ends[windows, 0] <= found.actual_s[windows]) & (
        found.actual_s[windows] <= ends[windows, 1]
    )
    error = 100 * (predicted / actual - 1)
    return (
        f"After {at} steps of {run_label(found.run_names[row])}, {model} forecast {predicted:.4g} "
        f"s for the next {found.k} steps ({low:.4g} to {high:.4g} s in {100 * BAND:g} % of cases); "
        f"they took {actual:.4g} s: {abs(error):.1f} % too {'much' if error > 0 else 'little'}. "
        f"The intervals hold {int(held.sum())} of the run's {len(windows)} forecasts."
    )


def windows_of_run(found: Forecast, run: int) -> NDArray[np.intp]:
    """Return the windows of a run by the steps that have passed, int[n]; none for a short run."""
    windows = np.flatnonzero(found.run == run)
    return windows[np.argsort(found.at[windows], kind="stable")]


def _moment(found: Forecast, run: int, at: int | None) -> int:
    """Return the number of steps that have passed; ParameterError if nothing is forecast then."""
    known = found.at[windows_of_run(found, run)]
    if not len(known):
        raise ParameterError(
            f"a run must have {found.m + found.k} steps (m + k) for a forecast; "
            f"{run_label(found.run_names[run])} has fewer: choose another run, or smaller m and k",
            key="run",
        )
    if at is None:
        return int(known[0])
    if at not in known:
        raise ParameterError(
            f"at must be a number of steps after which the next {found.k} are forecast, from "
            f"{known[0]} to {known[-1]}; got {at!r}",
            key="at",
        )
    return at


def run_forecast_layout(drawn: RunForecastFigure) -> LayoutDOM:
    """Return both figures beside one another."""
    return beside(drawn.moment, drawn.course, shares=[1, 1])


def run_forecast_figure(*, height: int = 360) -> RunForecastFigure:
    """Return the live form of `plot_run_forecast`, empty; source ``forecasts`` has a run's."""
    moment = live_figure(height=height, file_name="moment", y_label="time of a step (s)")
    course = live_figure(height=height, file_name="forecasts", y_label="time of the next steps (s)")
    moment.xaxis.axis_label = "step"
    course.xaxis.axis_label = "last step that is seen"
    steps = ColumnDataSource({name: [] for name in _STEPS}, name="run steps")
    ahead = ColumnDataSource({name: [] for name in _AHEAD}, name="ahead")
    over = ColumnDataSource({name: [] for name in _OVER}, name="forecasts")
    seen = BoxAnnotation(
        left=0,
        right=0,
        visible=False,
        fill_color=palette.SKY_BLUE,
        fill_alpha=0.15,
        line_color=None,
        level="underlay",
    )
    moment.add_layout(seen)
    now = moving_line(course, palette.CAPTION, width=1.5)
    mean = _line(moment, steps, "step", "mean", palette.CAPTION, "dashed", "mean of all runs")
    _line(moment, steps, "step", "time", palette.BLACK, "solid", "run")
    marks = _marks(moment, steps, "step", "time", palette.BLACK, "circle", "run")
    _band(moment, ahead, "step", f"{100 * BAND:g} % interval")
    _line(moment, ahead, "step", "actual", palette.BLACK, "dotted", "what came, mean", 3)
    expected = _line(moment, ahead, "step", "predicted", palette.BLUE, "solid", "forecast, mean", 3)
    _band(course, over, "at", f"{100 * BAND:g} % interval")
    _line(course, over, "at", "actual", palette.BLACK, "solid", "what came")
    actual = _marks(course, over, "at", "actual", palette.BLACK, "circle", "what came")
    model = _line(course, over, "at", "predicted", palette.BLUE, "solid", "model", 3)
    for name, colour, dash in zip(
        _BASELINES, (palette.CAPTION, palette.ORANGE), ("dashed", "dotdash"), strict=True
    ):
        _line(course, over, "at", name, colour, dash, name)
    hover(moment, [marks, mean], [("step", "@step"), ("run", "@time{0.000} s")])
    hover(moment, [expected], [("forecast, mean", "@predicted{0.000} s")])
    tips = [(name.replace("-", " "), f"@{{{name}}}{{0.00}} s") for name in _OVER[1:]]
    hover(course, [actual, model], [("last step seen", "@at"), *tips])
    course.add_tools(TapTool(renderers=[actual]))
    legend_above(moment)
    legend_above(course)
    return RunForecastFigure(moment, course, steps, ahead, over, seen, now)


def _line(
    fig: figure,
    source: ColumnDataSource,
    x: str,
    y: str,
    colour: str,
    dash: str,
    name: str,
    width: float = 1.6,
) -> object:
    return fig.line(
        x=x,
        y=y,
        source=source,
        line_color=colour,
        line_dash=dash,
        line_width=width,
        legend_label=name,
    )


def _marks(
    fig: figure, source: ColumnDataSource, x: str, y: str, colour: str, marker: str, name: str
) -> object:
    return fig.scatter(
        x=x,
        y=y,
        source=source,
        marker=marker,
        size=5,
        fill_color=palette.WHITE,
        line_color=colour,
        nonselection_fill_alpha=1.0,
        nonselection_line_alpha=1.0,
        legend_label=name,
    )


def _band(fig: figure, source: ColumnDataSource, x: str, name: str) -> object:
    return fig.varea(
        x=x,
        y1="low",
        y2="high",
        source=source,
        fill_color=palette.SKY_BLUE,
        fill_alpha=0.3,
        legend_label=name,
    )
