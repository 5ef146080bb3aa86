"""Forecasts of one run beside what came: at one moment, and over the whole run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import BoxAnnotation, GlyphRenderer, LayoutDOM, Span
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, live_figure, moving_line, set_range
from workbench.plotting.marks import Marks, choosable, hover
from workbench.plotting.rows import beside
from workbench.plotting.variability.run_steps import run_label, run_position
from workbench.variability.forecasting.interval import BAND, forecast_interval, model_row

if TYPE_CHECKING:
    from workbench.variability import Forecast, StepTable


_BASELINES = ("mean-trajectory", "persistence")
_STEPS = ("step", "time", "mean")
_AHEAD = ("step", "low", "high", "predicted", "actual")
_OVER = ("at", "actual", "predicted", "low", "high", *_BASELINES)


@dataclass(frozen=True, eq=False)
class RunForecastFigure:
    """The two figures of a run's forecasts and their marks."""

    moment: figure  # steps of the run, those seen and those forecast
    course: figure  # time of the next steps over the step that is seen last
    steps: Marks
    ahead: Marks  # the forecast at the moment
    over: Marks  # the forecasts of the run
    seen: BoxAnnotation
    now: Span

    def show_steps(self, steps: StepTable, run: int) -> None:
        """Draw a run's steps beside the mean of all runs, without a forecast."""
        time = steps.time_s
        mean = np.nanmean(time, axis=0)
        self.steps.update({"step": np.arange(steps.steps), "time": time[run], "mean": mean})
        self.ahead.update({name: [] for name in _AHEAD})
        self.over.update({name: [] for name in _OVER})
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
        self.over.update(over)
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
        over = self.over.source.data
        place = int(np.searchsorted(over["at"], at - 1))
        known = place < len(over["at"]) and over["at"][place] == at - 1
        self.seen.update(left=at - found.m - 0.5, right=at - 0.5, visible=True)
        self.now.update(location=at - 1, visible=True)
        each: dict[str, FloatArray] = {name: np.empty(0) for name in _AHEAD}
        if known:
            each["step"] = np.array([at - 0.5, at + found.k - 0.5])
            for name in _AHEAD[1:]:
                each[name] = np.full(2, over[name][place] / found.k)
        self.ahead.update(each)


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
    steps = Marks(moment, {name: [] for name in _STEPS}, x="step", name="run steps")
    ahead = Marks(moment, {name: [] for name in _AHEAD}, x="step", name="ahead")
    over = Marks(course, {name: [] for name in _OVER}, x="at", name="forecasts")
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
    interval, black, blue = f"{100 * BAND:g} % interval", palette.BLACK, palette.BLUE
    mean = steps.line("mean", palette.CAPTION, dash="dashed", width=1.6, legend="mean of all runs")
    dots = _dotted(steps, "time", "run")
    ahead.band("low", "high", palette.SKY_BLUE, alpha=0.3, legend=interval)
    ahead.line("actual", black, dash="dotted", width=3, legend="what came, mean")
    expected = ahead.line("predicted", blue, width=3, legend="forecast, mean")
    over.band("low", "high", palette.SKY_BLUE, alpha=0.3, legend=interval)
    actual = _dotted(over, "actual", "what came")
    model = over.line("predicted", blue, width=3, legend="model")
    for name, colour, dash in zip(
        _BASELINES, (palette.CAPTION, palette.ORANGE), ("dashed", "dotdash"), strict=True
    ):
        over.line(name, colour, dash=dash, width=1.6, legend=name)
    hover(moment, [dots, mean], [("step", "@step"), ("run", "@time{0.000} s")])
    hover(moment, [expected], [("forecast, mean", "@predicted{0.000} s")])
    tips = [(name.replace("-", " "), f"@{{{name}}}{{0.00}} s") for name in _OVER[1:]]
    hover(course, [actual, model], [("last step seen", "@at"), *tips])
    choosable(course, actual)
    legend_above(moment)
    legend_above(course)
    return RunForecastFigure(moment, course, steps, ahead, over, seen, now)


def _dotted(marks: Marks, value: str, name: str) -> GlyphRenderer:
    """Draw a black line with a mark at each step; return the marks."""
    marks.line(value, palette.BLACK, width=1.6, legend=name)
    return marks.points(value, palette.BLACK, fill=palette.WHITE, size=5, legend=name)
