"""Error of bandwidth against error of latency: what was tried, and what nothing beats in both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM, Range1d
from bokeh.plotting import figure

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.plotting.axes import legend_above, log_range, new_figure, plain_log_ticks
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks, hover
from workbench.plotting.palette import CATEGORIES, FAINT, FITTED, MARKERS

if TYPE_CHECKING:
    from workbench.fit.baseline import HasErrors
    from workbench.fit.pareto import ParetoFront


def plot_pareto(
    front: ParetoFront, fits: Mapping[str, HasErrors] | None = None, *, height: int = 360
) -> LayoutDOM:
    """Return the front of a search for low errors in latency and in bandwidth.

    Args:
        front: of ``workbench.fit.pareto``.
        fits: fits of the same machine to show beside it, by name.
        height: pixels.

    Raises:
        ParameterError: no configuration could be simulated.
    """
    best = front.errors[front.front]
    if not len(best):
        raise ParameterError(
            "at least one configuration must have been simulated; got none; run more trials",
            key="front",
        )
    named = {} if fits is None else {name: fit.rmspe for name, fit in fits.items()}
    ends = np.array([[e["latency"], e["bandwidth"]] for e in named.values()]).reshape(-1, 2)
    shown = np.concatenate([best, ends])
    # What is worse than the ends of the front in either benchmark does not stretch the axes.
    (left, right), (low, high) = (log_range(shown[:, i].tolist()) for i in (0, 1))
    fig = new_figure(
        title="",
        y_label="error of bandwidth (RMSPE, %)",
        height=height,
        file_name="pareto",
        x_range=Range1d(left, right),
        y_range=Range1d(low, high),
    )
    fig.xaxis.axis_label = "error of latency (RMSPE, %)"
    plain_log_ticks(fig.xaxis)
    plain_log_ticks(fig.yaxis)
    finite = np.flatnonzero(np.isfinite(front.errors).all(axis=1))
    tried = _marks(fig, front.errors[finite], [f"trial {trial}" for trial in finite])
    points = [tried.points("bandwidth", FAINT, size=4, legend="tried")]
    ours = _marks(fig, best, [f"trial {trial}" for trial in front.front])
    # Everything above and right of the steps is beaten by a point of the front.
    ours.steps("bandwidth", FITTED, width=2, legend="front")
    points.append(ours.points("bandwidth", FITTED, size=7, legend="front"))
    for i, (name, error) in enumerate(zip(named, ends, strict=True)):
        colour, marker = CATEGORIES[(i + 3) % len(CATEGORIES)], MARKERS[(i + 1) % len(MARKERS)]
        fit = _marks(fig, error[None, :], [name])
        points.append(fit.points("bandwidth", colour, marker=marker, size=12, legend=name))
    tips = [("", "@name"), ("latency", "@latency{0.0} %"), ("bandwidth", "@bandwidth{0.0} %")]
    hover(fig, points, tips)
    legend_above(fig)
    return stacked(
        heading(
            f"{front.measured.name}: latency against bandwidth",
            front.provenance.caption(),
        ),
        fig,
        sentence(describe_pareto(front)),
    )


def describe_pareto(front: ParetoFront) -> str:
    """Return a sentence on the ends of a front and on the point where both errors are alike.

    Args:
        front: of ``workbench.fit.pareto``.
    """
    best = front.errors[front.front]
    even = best[np.argmin(np.abs(np.log(best[:, 0] / best[:, 1])))]
    return (
        f"The least error of latency, {best[0, 0]:.0f} %, costs {best[0, 1]:.0f} % in bandwidth; "
        f"the least of bandwidth, {best[-1, 1]:.0f} %, costs {best[-1, 0]:.0f} % in latency; "
        f"nearest to balance lie {even[0]:.0f} and {even[1]:.0f} %."
    )


def _marks(fig: figure, errors: FloatArray, names: list[str]) -> Marks:
    latency, bandwidth = errors.T
    return Marks(fig, {"latency": latency, "bandwidth": bandwidth, "name": names}, x="latency")
