"""Wall times of the linear program, a sweep and a replay, by program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import CustomJSTickFormatter, FactorRange, LayoutDOM, Range1d

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, log_range, new_figure
from workbench.plotting.marks import Marks, Said
from workbench.plotting.replay.style import caption, time_text

if TYPE_CHECKING:
    from workbench.tolerance.solver_times import SolverTimes

_STYLES = {
    "lp": (palette.VERMILLION, "square"),
    "sweep": (palette.BLUE, "circle"),
    "replay": (palette.GREEN, "triangle"),
}
_TICK = """
const [unit, scale] = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]]
  .find(([_, size]) => tick >= size) ?? ['ns', 1]
return `${Number((tick / scale).toPrecision(3))} ${unit}`
"""  # each with its own unit: the axis spans several
_APART = 0.22  # of a program's place on the axis


def plot_solver_times(result: SolverTimes, *, height: int = 320) -> LayoutDOM:
    """Return the median wall time of each way by program, from the least to the greatest.

    Args:
        result: of ``workbench.tolerance.time_solvers``.
        height: pixels.
    """
    from workbench.tolerance.solver_times import WAYS

    names = [
        f"{name}\n{events:,} events"
        for name, events in zip(result.programs, result.events.tolist(), strict=True)
    ]
    every = np.concatenate([result.seconds(way).ravel() for way in WAYS]) * 1e9
    fig = new_figure(
        title="Wall time of one run time, by the linear program, a sweep and a replay",
        y_label="wall time",
        height=height,
        x_type="auto",
        file_name="solver-times",
        x_range=FactorRange(*names),
        y_range=Range1d(*log_range(every.tolist())),
    )
    for at, (way, label) in enumerate(WAYS.items()):
        seconds = result.seconds(way)
        colour, marker = _STYLES[way]
        table = {
            "name": names,
            "median": result.median(way) * 1e9,
            "low": seconds.min(axis=1) * 1e9,
            "high": seconds.max(axis=1) * 1e9,
            "text": [time_text(1e9 * one) for one in result.median(way).tolist()],
        }
        marks = Marks(fig, table, x="name", shift=(at - 1) * _APART, name=way)
        marks.spans("low", "high", colour, width=2)
        said: Said = {"legend": label, "tips": [(label, "@text"), ("", "@name")]}
        marks.points("median", colour, edge="white", marker=marker, size=9, **said)
    fig.yaxis.formatter = CustomJSTickFormatter(code=_TICK)
    legend_above(fig)
    caption(fig, result.provenance)
    return fig
