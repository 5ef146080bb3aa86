"""The mean time of each step, and the mean of counters, over all runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import ColumnDataSource, LayoutDOM
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import new_figure
from workbench.plotting.grid import heading, hover, sentence, stacked
from workbench.plotting.rows import panels
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.variability import StepTable

FloatArray = NDArray[np.float64]

_HEIGHT = 260
_SHOWN = 2


def plot_step_trends(steps: StepTable, counters: Sequence[str] | None = None) -> LayoutDOM:
    """Return the mean time of each step beside the means of counters (figure 7 of the paper).

    Bands are from the 10th to the 90th percentile of the runs.

    Args:
        steps: of many runs of one program.
        counters: names; None takes the two that follow the mean time most.

    Raises:
        ParameterError: there is no such counter.
    """
    for name in counters or ():
        if name not in steps.counters:
            raise ParameterError(
                f"counters must be of the table; got {name!r}{did_you_mean(name, steps.counters)}",
                key="counters",
            )
    likeness = trend_likeness(steps)
    shown = list(counters or sorted(likeness, key=lambda name: -abs(likeness[name]))[:_SHOWN])
    figures = [_trend(steps, steps.time_s, "mean time of a step (s)", palette.BLACK)]
    figures += [
        _trend(steps, steps.values[:, :, steps.counters.index(name)], name, palette.BLUE)
        for name in shown
    ]
    return stacked(
        heading(
            "Mean time and mean counters of each step",
            f"{len(steps)} runs; bands from the 10th to the 90th percentile; "
            f"{steps.provenance.caption()}",
        ),
        panels(figures, 3),
        sentence(describe_step_trends(steps, shown)),
    )


def describe_step_trends(steps: StepTable, counters: Sequence[str]) -> str:
    """Return a sentence on how alike the means of counters and of times are.

    Args:
        steps: as for `plot_step_trends`.
        counters: their names.
    """
    likeness = trend_likeness(steps)
    each = ", ".join(f"{name} {likeness[name]:.2f}" for name in counters if name in likeness)
    if not each:
        return "No counter has means that change from step to step."
    return f"Correlation of a counter's means with those of the time, over the steps: {each}."


def trend_likeness(steps: StepTable) -> dict[str, float]:
    """Return the correlation of counters' means with the mean time over steps, by name."""
    time = _mean(steps.time_s)
    found = {}
    for at, name in enumerate(steps.counters):
        mean = _mean(steps.values[:, :, at])
        both = np.isfinite(time) & np.isfinite(mean)
        if both.sum() > 2 and np.ptp(mean[both]) > 0 and np.ptp(time[both]) > 0:
            found[name] = float(np.corrcoef(time[both], mean[both])[0, 1])
    return found


def _trend(steps: StepTable, values: FloatArray, label: str, colour: str) -> figure:
    known = np.isfinite(values).any(axis=0)
    seen = values[:, known]
    low, high = np.nanpercentile(seen, (10, 90), axis=0)
    source = ColumnDataSource(
        data={
            "step": np.array(steps.numbers)[known].tolist(),
            "mean": np.nanmean(seen, axis=0).tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }
    )
    fig = new_figure(
        title=label,
        y_label="s" if "(s)" in label else "rise in a step (count)",
        height=_HEIGHT,
        x_type="linear",
        y_type="linear",
        file_name="step-trends",
    )
    fig.xaxis.axis_label = "step"
    fig.varea(x="step", y1="low", y2="high", source=source, fill_color=colour, fill_alpha=0.2)
    line = fig.line(x="step", y="mean", source=source, line_color=colour, line_width=2)
    hover(fig, [line], [("step", "@step"), ("mean", "@mean"), ("10 to 90 %", "@low to @high")])
    return fig


def _mean(values: FloatArray) -> FloatArray:
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    mean: FloatArray = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return mean
