"""A long run's pieces as forecast and as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import LayoutDOM
from bokeh.plotting import figure

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


def plot_long_forecast(found: LongForecast, model: str = "") -> LayoutDOM:
    """Return the time of each piece of a long run, as forecast with its interval and as it came.

    Args:
        found: of ``workbench.variability.forecast_long``.
        model: the one that is drawn; empty takes the best on the shorter runs.
    """
    drawn = model or found.best
    own = "; models see the run's own step times" if found.own_times else ""
    return stacked(
        heading(
            f"{found.run_name}: pieces of {found.k} steps forecast from the {found.m} before",
            f"{len(found.time_s)} steps; learned from {found.runs} shorter runs{own}; seed "
            f"{found.seed}; {found.provenance.caption()}",
        ),
        _pieces(found, drawn),
        sentence(describe_long_forecast(found, drawn)),
    )


def describe_long_forecast(found: LongForecast, model: str = "") -> str:
    """Return sentences on the errors and on how often the interval holds.

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
    return (
        f"Over {len(found.at)} pieces {found.models[at]} has a MAPE of {found.mape[at]:.1f} % "
        f"({found.short_mape[at]:.1f} % on the shorter runs; {', '.join(others)}). Its 90 % "
        f"interval holds {held} of {len(found.at)} pieces."
    )


def _pieces(found: LongForecast, model: str) -> figure:
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
    middle = found.at + found.k / 2
    table = {
        "left": found.at,
        "right": found.at + found.k,
        "middle": middle,
        "actual": found.actual_s,
        "time": found.predicted_s[row],
        "low": found.interval_s[row, :, 0],
        "high": found.interval_s[row, :, 1],
    }
    pieces = Marks(fig, table, x="middle")
    ends = ("left", "right"), ("low", "high")
    pieces.boxes(*ends, palette.SKY_BLUE, alpha=0.3, legend="90 % interval")
    for name, colour, dash, marker in _OTHERS:
        if name != model:
            time = found.predicted_s[found.models.index(name)]
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
