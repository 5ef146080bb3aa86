"""A long run's pieces as forecast and as they came, and the errors of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks, hover

if TYPE_CHECKING:
    from workbench.variability import LongForecast

_OTHERS = (
    ("persistence", palette.ORANGE, "dashed", "square"),
    ("mean-trajectory", palette.FAINT, "dotted", "triangle"),
)


def plot_long_forecast(found: LongForecast, model: str = "", run: int = 0) -> LayoutDOM:
    """Return the time of each piece of a long run, as forecast with its interval and as it came.

    Args:
        found: of ``workbench.variability.forecast_long``.
        model: the one that is drawn; empty takes the best on the shorter runs.
        run: position of the long run that is drawn; the sentence is about all.
    """
    drawn = model or found.best
    run = whole(run, "run", 0, len(found.run_names) - 1)
    own = "; models see the run's own step times" if found.own_times else ""
    return stacked(
        heading(
            f"{found.run_names[run]}: pieces of {found.k} steps forecast from the {found.m} before",
            f"{int(np.isfinite(found.time_s[run]).sum())} steps; learned from {found.runs} shorter "
            f"runs{own}; seed {found.seed}; {found.provenance.caption()}",
        ),
        _pieces(found, drawn, found.run == run),
        sentence(describe_long_forecast(found, drawn)),
    )


def describe_long_forecast(found: LongForecast, model: str = "") -> str:
    """Return sentences on the errors over all long runs, and on how often the interval holds.

    Args:
        found: of ``workbench.variability.forecast_long``.
        model: as for `plot_long_forecast`.
    """
    at = found.models.index(model or found.best)
    held = round(float(found.coverage[at]) * len(found.at))
    others = [
        f"{name} {found.mape[row]:.1f} %"
        for row, name in enumerate(found.models)
        if row != at and name in ("persistence", "mean-trajectory")
    ]
    several = len(found.run_names) > 1
    text = (
        f"Over {len(found.at)} pieces{f' of {len(found.run_names)} runs' if several else ''} "
        f"{found.models[at]} has a MAPE of {found.mape[at]:.1f} % "
        f"({found.short_mape[at]:.1f} % on the shorter runs; {', '.join(others)}). Its 90 % "
        f"interval holds {held} of {len(found.at)} pieces."
    )
    if several and found.models[at] != "persistence":
        by_run = found.mape_by_run()
        beats = by_run[at] < by_run[found.models.index("persistence")]
        high, low = 1 - found.skill_interval[at, 1]
        text += (
            f" Its error is {1 - found.skill[at, 1]:.2f} times ({low:.2f} to {high:.2f}) that of "
            f"persistence, which it beats in {int(beats.sum())} of {len(beats)} runs."
        )
    return text


def _pieces(found: LongForecast, model: str, drawn: NDArray[np.bool_]) -> figure:
    fig = new_figure(
        title="Time of each piece",
        y_label=f"time of {found.k} steps (s)",
        height=340,
        x_type="linear",
        y_type="linear",
        file_name="long-forecast",
    )
    fig.xaxis.axis_label = "step"
    row = found.models.index(model)
    first = found.at[drawn]
    middle = first + found.k / 2
    table = {
        "left": first,
        "right": first + found.k,
        "middle": middle,
        "actual": found.actual_s[drawn],
        "time": found.predicted_s[row, drawn],
        "low": found.interval_s[row, drawn, 0],
        "high": found.interval_s[row, drawn, 1],
    }
    pieces = Marks(fig, table, x="middle")
    ends = ("left", "right"), ("low", "high")
    pieces.boxes(*ends, palette.SKY_BLUE, alpha=0.3, legend="90 % interval")
    for name, colour, dash, marker in _OTHERS:
        if name != model:
            time = found.predicted_s[found.models.index(name), drawn]
            others = Marks(fig, {"middle": middle, "time": time}, x="middle")
            others.line("time", colour, dash=dash)
            others.points("time", colour, marker=marker, size=5, legend=name)
    Marks(fig, pieces.source, y="time").spans("left", "right", palette.BLUE, width=2)
    by = f"forecast by {model}"
    expected = pieces.points("time", palette.BLUE, marker="diamond", size=9, legend=by)
    came = Marks(fig, pieces.source, y="actual").spans(
        "left", "right", palette.BLACK, width=3, legend="as it came"
    )
    tips = [
        ("steps", "@left to @right"),
        ("came", "@actual{0.0} s"),
        ("forecast", "@time{0.0} s (@low{0.0} to @high{0.0} s)"),
    ]
    hover(fig, [expected, came], tips)
    legend_above(fig)
    return fig
