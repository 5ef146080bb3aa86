"""When runs started and how long they took, those beside a user marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import AdaptiveTicker, CustomJSTickFormatter, Span
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, live_figure, set_range
from workbench.plotting.marks import Marks, PointLook, choosable, hover, rule
from workbench.variability.trend import smooth_trend

if TYPE_CHECKING:
    from workbench.variability import Runs


_A_DATE_S = 1e8
"""Least number of seconds that is taken for a date; smaller ones count from an origin."""

_OPEN = "the run that is open"
_DAY_S = 86400.0  # 24 h of UTC, which has no days of other lengths
_TICKS = """
const text = new Date(tick * 1000).toISOString()
return dated ? text.slice(0, 10) + (hours ? ` ${text.slice(11, 16)}` : "") : `${tick / 86400}`
"""


@dataclass(frozen=True, eq=False)
class RunDatesFigure:
    """The figure of all runs and its marks."""

    figure: figure
    alone: Marks  # runs without the user
    beside: Marks  # runs beside the user
    chosen: Marks  # the run that is looked at
    trend: Marks  # the smooth trend of the times
    mean: Span

    def show(
        self,
        runs: Runs,
        *,
        beside: ArrayLike | None = None,  # bool[runs]; None marks none
        user: str = "",
        run: int | None = None,  # that is looked at
    ) -> None:
        """Draw runs, and mark those beside a user."""
        marked = np.zeros(len(runs), bool) if beside is None else np.asarray(beside, bool)
        columns = run_columns(runs)
        open_run = np.zeros(0, int) if run is None else np.array([run])
        for marks, at, label in (
            (self.alone, np.flatnonzero(~marked), "runs without the user" if user else "runs"),
            (self.beside, np.flatnonzero(marked), f"runs beside {user}" if marked.any() else ""),
            (self.chosen, open_run, "" if run is None else _OPEN),
        ):
            marks.update({name: [values[n] for n in at] for name, values in columns.items()})
            marks.entry(label)
        order = np.argsort(runs.start, kind="stable")
        trend = np.exp(np.log(runs.time_s).mean()) * smooth_trend(runs).factor
        self.trend.update({"start": runs.start[order].tolist(), "trend": trend[order].tolist()})
        self.mean.location = float(runs.time_s.mean())
        room = 0.03 * max(float(np.ptp(runs.start)), 1.0)
        set_range(self.figure.x_range, (runs.start.min() - room, runs.start.max() + room))
        least, most = float(runs.time_s.min()), float(runs.time_s.max())
        margin = 0.1 * (most - least) or 0.1 * most
        set_range(self.figure.y_range, (least - margin, most + margin))
        formatter = self.figure.xaxis[0].formatter
        dated = bool(runs.start.min() >= _A_DATE_S)
        # Whole days, at midnight; runs of less than two days have hours.
        hours = bool(np.ptp(runs.start) < 2 * _DAY_S)
        formatter.args = {"dated": dated, "hours": hours}
        self.figure.xaxis[0].ticker.update(
            base=24 if hours else 10,
            mantissas=[1, 3, 6, 12] if hours else [1, 2, 5],
            min_interval=3600.0 if hours else _DAY_S,
        )
        self.figure.xaxis.axis_label = "start of the run (UTC)" if dated else "start (days)"


def plot_run_dates(
    runs: Runs, *, beside: ArrayLike | None = None, user: str = "a user", height: int = 320
) -> figure:
    """Return the time of each run over its start, and the smooth trend of the times.

    The dashed line is the mean of all.

    Args:
        runs: of one program.
        beside: bool[runs], which runs are marked as beside a user; None marks none.
        user: who that is.
        height: pixels.

    Raises:
        ParameterError: there are not as many marks as runs.
    """
    if beside is not None and np.shape(beside) != (len(runs),):
        raise ParameterError(
            f"beside must have one value for each of {len(runs)} runs; got shape "
            f"{np.shape(beside)}",
            key="beside",
        )
    drawn = run_dates_figure(height=height)
    drawn.show(runs, beside=beside, user=user if beside is not None else "")
    return drawn.figure


def describe_run_dates(runs: Runs, beside: ArrayLike | None = None, user: str = "a user") -> str:
    """Return a sentence on how much the runs' times differ, and on those beside a user.

    Args:
        runs: of one program.
        beside: as for `plot_run_dates`.
        user: as for `plot_run_dates`.
    """
    time = runs.time_s
    text = (
        f"{len(runs)} runs took {time.min():.4g} to {time.max():.4g} s: the slowest "
        f"{time.max() / time.min():.2f} times the fastest"
    )
    if note := smooth_trend(runs).note:
        text += f"; {note}"
    marked = None if beside is None else np.asarray(beside, bool)
    if marked is None or not marked.any() or marked.all():
        return f"{text}."
    there, elsewhere = float(time[marked].mean()), float(time[~marked].mean())
    return (
        f"{text}. The {int(marked.sum())} beside {user} took {there:.4g} s on average, the others "
        f"{elsewhere:.4g} s, which alone proves nothing: others were there as well."
    )


def run_dates_figure(*, height: int = 320) -> RunDatesFigure:
    """Return the live form of `plot_run_dates`, empty; source ``runs`` has the unmarked ones."""
    fig = live_figure(
        height=height, file_name="runs", title="All runs", y_label="time of a run (s)"
    )
    fig.xaxis.ticker = AdaptiveTicker()
    fig.xaxis.formatter = CustomJSTickFormatter(args={"dated": True, "hours": False}, code=_TICKS)
    empty: dict[str, list[float]] = {"start": [], "time": [], "run": [], "percent": [], "at": []}
    alone, beside, chosen = (
        Marks(fig, empty, x="start", name=name) for name in ("runs", "beside", "chosen")
    )
    white, orange = palette.WHITE, palette.ORANGE
    trend = Marks(fig, {"start": [], "trend": []}, x="start", name="trend")
    trend.line("trend", palette.BLACK, width=1.5, legend="smooth trend")
    dots = [
        alone.points("time", palette.BLUE, fill=white, size=7, width=1.2, legend="runs"),
        beside.points("time", orange, marker="triangle", size=9, width=1.2, legend="beside"),
    ]
    look: PointLook = {"fill": None, "size": 15, "width": 2.5, "legend": _OPEN}
    chosen.points("time", palette.VERMILLION, **look)
    mean = rule(fig, y=0, dash="dashed", width=1.5)
    tips = [("run", "@run"), ("time", "@time{0.0} s"), ("than the mean", "@percent{+0.0} %")]
    hover(fig, dots, tips)
    choosable(fig, *dots)
    legend_above(fig)
    return RunDatesFigure(fig, alone, beside, chosen, trend, mean)


def run_columns(runs: Runs) -> dict[str, list[object]]:
    """Return the columns of the runs: start, time, name, % over the mean, position."""
    percent = 100 * (runs.time_s / runs.time_s.mean() - 1)
    return {
        "start": runs.start.tolist(),
        "time": runs.time_s.tolist(),
        "run": list(runs.run),
        "percent": percent.tolist(),
        "at": list(range(len(runs))),
    }
