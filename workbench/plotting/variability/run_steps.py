"""The step times of one run beside the mean of all runs, and what they were without a user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import GlyphRenderer, Span
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, live_figure, moving_line, set_range
from workbench.plotting.marks import Marks, choosable, hover

if TYPE_CHECKING:
    from workbench.variability import StepTable


_LOW, _HIGH = 10, 90
"""Percentiles of the runs between which the band lies."""
_EMPTY: dict[str, list[float]] = {"step": [], "time": []}


@dataclass(frozen=True, eq=False)
class RunStepsFigure:
    """The figure of one run's steps and its marks."""

    figure: figure
    all_runs: Marks  # mean and band of each step
    run: Marks
    without: Marks
    chosen: Span  # the chosen step

    def show(
        self,
        steps: StepTable,
        run: int,
        *,
        step: int | None = None,  # marked; None marks none
        without: ArrayLike | None = None,  # float64[steps], s, of the run without a user
        user: str = "",  # who was left out
    ) -> None:
        """Draw another run, another step, or the run without another user."""
        low, mean, high = _band(steps.time_s)
        numbers = np.arange(steps.steps)
        self.all_runs.update({"step": numbers, "low": low, "mean": mean, "high": high})
        time = steps.time_s[run]
        self.run.update({"step": numbers, "time": time})
        self.run.entry(run_label(steps.run[run]))
        left = None if without is None else np.asarray(without, np.float64)
        self.without.update(_EMPTY if left is None else {"step": numbers, "time": left})
        self.without.entry("" if left is None else f"without {user}")
        self.mark(step)
        most = np.nanmax([np.nanmax(high), np.nanmax(time)])
        set_range(self.figure.y_range, (0.0, 1.08 * float(most)))
        set_range(self.figure.x_range, (-0.7, steps.steps - 0.3))
        self.figure.title.text = (
            f"Step times of {run_label(steps.run[run])} ({steps.provenance.origin})"
        )

    def mark(self, step: int | None) -> None:
        """Mark a step, or none."""
        self.chosen.update(location=0 if step is None else step, visible=step is not None)


def plot_run_steps(
    steps: StepTable,
    run: int | str,
    *,
    step: int | None = None,
    without: ArrayLike | None = None,
    user: str = "a user",
    height: int = 320,
) -> figure:
    """Return the step times of a run beside the mean of all runs and their band of 10 to 90 %.

    Args:
        steps: of many runs of one program.
        run: its position or its name.
        step: the step that is marked; None marks none.
        without: float64[steps], s, what the steps take without a user.
        user: who that is.
        height: pixels.

    Raises:
        ParameterError: there is no such run.
    """
    drawn = run_steps_figure(height=height)
    drawn.show(steps, run_position(steps, run), step=step, without=without, user=user)
    return drawn.figure


def describe_run_steps(
    steps: StepTable, run: int | str, *, without: ArrayLike | None = None, user: str = "a user"
) -> str:
    """Return a sentence on how long a run took, beside the mean and without a user.

    Args:
        steps: of many runs of one program.
        run: its position or its name.
        without: as for `plot_run_steps`.
        user: as for `plot_run_steps`.

    Raises:
        ParameterError: there is no such run.
    """
    at = run_position(steps, run)
    name = run_label(steps.run[at])
    total = np.nansum(steps.time_s, axis=1)
    took = float(total[at])
    text = (
        f"{name[0].upper()}{name[1:]} took {took:.4g} s, {_more(took, float(total.mean()))} the "
        f"mean of {len(steps)} runs"
    )
    if without is None:
        return f"{text}."
    left = float(np.nansum(np.asarray(without, np.float64)))
    return f"{text}; without {user} it takes {left:.4g} s, {_more(left, took)} with."


def run_position(steps: StepTable, run: int | str) -> int:
    """Return the position of a run in a table; ParameterError if it has no such run."""
    if isinstance(run, str):
        if run in steps.run:
            return steps.run.index(run)
    elif 0 <= run < len(steps):
        return int(run)
    raise ParameterError(
        f"run must be a position from 0 to {len(steps) - 1} or one of the runs' names; got {run!r}",
        key="run",
    )


def run_label(name: str) -> str:
    """Return a run's name in a sentence: numbers get the word."""
    return name if name.lower().startswith("run") else f"run {name}"


def run_steps_figure(*, height: int = 320) -> RunStepsFigure:
    """Return the live form of `plot_run_steps`, empty; its source ``steps`` has the run's steps."""
    fig = live_figure(height=height, file_name="steps", y_label="time of a step (s)")
    fig.xaxis.axis_label = "step"
    empty: dict[str, list[float]] = {"step": [], "low": [], "mean": [], "high": []}
    every = Marks(fig, empty, x="step", name="all runs")
    run = Marks(fig, _EMPTY, x="step", name="steps")
    without = Marks(fig, _EMPTY, x="step", name="without")
    every.band("low", "high", palette.WAITING, alpha=0.6, legend=f"{_LOW} to {_HIGH} % of runs")
    every.line(
        "mean",
        palette.CAPTION,
        dash="dashed",
        width=2,
        legend="mean of all runs",
        tips=[("step", "@step"), ("mean", "@mean{0.000} s")],
    )
    dots = _line(run, palette.BLACK, "solid", "circle", "run")
    others = _line(without, palette.BLUE, "dotdash", "triangle", "without")
    hover(fig, [dots, others], [("step", "@step"), ("time", "@time{0.000} s")])
    choosable(fig, dots)
    chosen = moving_line(fig, palette.VERMILLION)
    legend_above(fig)
    return RunStepsFigure(fig, every, run, without, chosen)


def _line(marks: Marks, colour: str, dash: str, marker: str, name: str) -> GlyphRenderer:
    """Draw a line with a mark at each step; return the marks."""
    marks.line("time", colour, dash=dash, width=1.6, legend=name)
    return marks.points("time", colour, fill=palette.WHITE, marker=marker, legend=name)


def _band(time_s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the low percentile, the mean and the high percentile of each step, over runs."""
    low, high = np.nanpercentile(time_s, (_LOW, _HIGH), axis=0)
    return low, np.nanmean(time_s, axis=0), high


def _more(value: float, than: float) -> str:
    """Return by how much a value is more or less than another, in percent."""
    percent = 100 * (value / than - 1)
    if abs(percent) < 0.05:
        return "as much as"
    return f"{abs(percent):.1f} % {'more' if percent > 0 else 'less'} than"
