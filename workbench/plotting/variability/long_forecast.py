"""A long run's pieces as forecast and as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import ColumnDataSource, LayoutDOM
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure
from workbench.plotting.grid import heading, hover, sentence, stacked

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
    source = ColumnDataSource(
        data={
            "left": found.at.tolist(),
            "right": (found.at + found.k).tolist(),
            "middle": middle.tolist(),
            "actual": found.actual_s.tolist(),
            "time": found.predicted_s[row].tolist(),
            "low": found.interval_s[row, :, 0].tolist(),
            "high": found.interval_s[row, :, 1].tolist(),
        }
    )
    fig.quad(
        left="left",
        right="right",
        bottom="low",
        top="high",
        source=source,
        fill_color=palette.SKY_BLUE,
        fill_alpha=0.3,
        line_color=None,
        legend_label="90 % interval",
    )
    for name, colour, dash, marker in _OTHERS:
        if name == model:
            continue
        other = ColumnDataSource(
            data={
                "middle": middle.tolist(),
                "time": found.predicted_s[found.models.index(name)].tolist(),
            }
        )
        fig.line(x="middle", y="time", source=other, line_color=colour, line_dash=dash)
        fig.scatter(
            x="middle",
            y="time",
            source=other,
            marker=marker,
            size=5,
            color=colour,
            legend_label=name,
        )
    fig.segment(
        x0="left",
        x1="right",
        y0="time",
        y1="time",
        source=source,
        line_color=palette.BLUE,
        line_width=2,
    )
    expected = fig.scatter(
        x="middle",
        y="time",
        source=source,
        marker="diamond",
        size=9,
        color=palette.BLUE,
        legend_label=f"forecast by {model}",
    )
    came = fig.segment(
        x0="left",
        x1="right",
        y0="actual",
        y1="actual",
        source=source,
        line_color=palette.BLACK,
        line_width=3,
        legend_label="as it came",
    )
    hover(
        fig,
        [expected, came],
        [
            ("steps", "@left to @right"),
            ("came", "@actual{0.0} s"),
            ("forecast", "@time{0.0} s (@low{0.0} to @high{0.0} s)"),
        ],
    )
    legend_above(fig)
    return fig
