"""Convergence of a fit: the loss of every trial, and the best so far, over the trial's number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from workbench.plotting import palette
from workbench.plotting.axes import new_figure, place_legend, plain_log_ticks
from workbench.plotting.marks import Marks


@dataclass(frozen=True, eq=False)
class ConvergenceFigure:
    """The figure and its source, so that a running fit adds points with one write.

    Attributes:
        figure: the figure.
        source: columns of `convergence_columns`; `source.stream` adds trials.
    """

    figure: figure
    source: ColumnDataSource


def plot_convergence(losses: ArrayLike, *, loss: str = "loss", height: int = 240) -> figure:
    """Return the convergence of a fit: best so far as steps, single trials faint.

    Args:
        losses: float64[trials], the loss of each trial in order; inf or nan where the
            configuration was refused.
        loss: name of the loss, for the axis.
        height: pixels.
    """
    return convergence_figure(losses, loss=loss, height=height).figure


def convergence_figure(
    losses: ArrayLike, *, loss: str = "loss", height: int = 240
) -> ConvergenceFigure:
    """Return the live form of `plot_convergence`.

    Args:
        losses: float64[trials], inf or nan where refused; may be empty.
        loss: name of the loss, for the axis.
        height: pixels.
    """
    fig = new_figure(
        title="Convergence",
        y_label=f"loss ({loss})",
        height=height,
        x_type="linear",
        file_name="convergence",
    )
    plain_log_ticks(fig.yaxis, count=4)
    low, high = convergence_range(losses)
    fig.y_range = Range1d(low, high)
    fig.xaxis.axis_label = "trial"
    tips = [("trial", "@trial"), ("loss", "@loss{0.0000}"), ("best", "@best{0.0000}")]
    trials = Marks(fig, convergence_columns(losses), x="trial", name="convergence")
    trials.points(
        "loss", palette.FAINT, edge=None, alpha=0.45, size=4, legend="one trial", tips=tips
    )
    trials.steps("best", palette.FITTED, width=2.5, legend="best so far")
    place_legend(fig, "top_right")
    return ConvergenceFigure(fig, trials.source)


def convergence_range(losses: ArrayLike) -> tuple[float, float]:
    """Return the ends of the loss axis: from below the best to above three quarters of the losses.

    A search tries configurations with losses that are orders of magnitude larger; on such an axis
    the others would coincide. `describe_convergence` counts those above. Refused trials are inf
    or nan.
    """
    values = np.asarray(losses, dtype=np.float64)
    values = values[np.isfinite(values) & (values > 0)]
    if not len(values):
        return 0.1, 10.0
    best = float(values.min())
    return best / 1.2, max(3 * best, 1.2 * float(np.percentile(values, 75)), 1.2 * values[0])


def convergence_columns(
    losses: ArrayLike, *, first: int = 0, best: float = np.inf
) -> dict[str, list[Any]]:
    """Return the columns of trials from number `first` on; refused losses are nan, not drawn."""
    values = np.asarray(losses, dtype=np.float64)
    finite = np.where(np.isfinite(values), values, np.inf)
    running = np.minimum(np.minimum.accumulate(finite), best) if len(finite) else finite
    return {
        "trial": list(range(first, first + len(values))),
        "loss": np.where(np.isfinite(values), values, np.nan).tolist(),
        "best": np.where(np.isfinite(running), running, np.nan).tolist(),
    }
