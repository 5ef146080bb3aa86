"""Experiments compared: the best value of each so far over runs or seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import HoverTool, Range1d
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure, set_range
from workbench.plotting.marks import Marks

if TYPE_CHECKING:
    from workbench.tune.result import TuningResult

MOST = 6
"""The number of experiments with distinct colours."""

_COLOURS = (
    palette.BLUE,
    palette.VERMILLION,
    palette.GREEN,
    palette.PURPLE,
    palette.ORANGE,
    palette.BLACK,
)
_OVER = {"runs": "run", "seconds": "time of all runs so far (s)"}


@dataclass(frozen=True, eq=False)
class TuningComparison:
    """Lines of the best so far of several experiments."""

    figure: figure
    lines: tuple[Marks, ...]  # in the order of the colours

    def show(self, results: Mapping[str, TuningResult], *, over: str = "runs") -> None:
        """Draw other experiments, at most the last six, over ``runs`` or ``seconds``."""
        kept = dict(list(results.items())[-MOST:])
        lines = [best_line(result, over) for result in kept.values()]
        names = [*kept, *[""] * (MOST - len(kept))]
        nothing = [(np.empty(0), np.empty(0))] * (MOST - len(kept))
        for marks, name, (x, y) in zip(self.lines, names, lines + nothing, strict=True):
            marks.update({"x": x, "best": y, "name": [name] * len(x)})
            marks.entry(name)
        drawn = [y[np.isfinite(y)] for _, y in lines]
        low = min((float(y.min()) for y in drawn if len(y)), default=0.0)
        high = max((float(y.max()) for y in drawn if len(y)), default=1.0)
        room = 0.06 * (high - low) or 0.1 * abs(low) or 1.0
        set_range(self.figure.y_range, (low - room, high + room))
        longest = max((float(x[-1]) for x, _ in lines if len(x)), default=1.0)
        set_range(self.figure.x_range, (0.0, 1.03 * longest))
        self.figure.xaxis.axis_label = _OVER[over]
        first = next(iter(kept.values()), None)
        unit = f" ({first.unit})" if first is not None and first.unit else ""
        label = "value" if first is None else first.label
        self.figure.yaxis.axis_label = f"best {label} so far{unit}"


def plot_tuning_comparison(
    results: Mapping[str, TuningResult], *, over: str = "runs", height: int = 300
) -> figure:
    """Return the best so far of at most six experiments, a line each."""
    drawn = comparison_figure(height=height)
    drawn.show(results, over=over)
    return drawn.figure


def comparison_figure(*, height: int = 300) -> TuningComparison:
    """Return the live form of `plot_tuning_comparison`, empty."""
    fig = new_figure(
        title="Experiments",
        y_label="best so far",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="experiments",
        x_range=Range1d(0.0, 1.0),
        y_range=Range1d(0.0, 1.0),
    )
    lines = tuple(Marks(fig, {"x": [], "best": [], "name": []}, x="x") for _ in _COLOURS)
    dashes = (palette.DASHES[place % len(palette.DASHES)] for place in range(MOST))
    steps = [
        line.steps("best", colour, dash=dash, width=2, legend=colour)
        for line, colour, dash in zip(lines, _COLOURS, dashes, strict=True)
    ]
    tips = [("", "@name"), ("", "@best{%.5g} at @x{%.4g}")]
    how = {"@best": "printf", "@x": "printf"}
    fig.add_tools(HoverTool(renderers=steps, tooltips=tips, formatters=how))
    legend_above(fig)
    drawn = TuningComparison(fig, lines)
    drawn.show({})
    return drawn


def best_line(result: TuningResult, over: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return runs or cumulative seconds, and the best value by then, float64[runs] each."""
    seconds = np.array([record.run.seconds for record in result.records], dtype=np.float64)
    x = np.cumsum(seconds) if over == "seconds" else np.arange(1.0, len(result) + 1)
    return x, result.best_so_far()


def describe_comparison(
    results: Mapping[str, TuningResult], truth: Mapping[str, float] | None = None
) -> str:
    """Return the sentence on the best experiment; `truth` are values over all recorded runs."""
    values = {name: one.best_value for name, one in results.items()} if truth is None else truth
    known = {name: value for name, value in values.items() if math.isfinite(value)}
    if len(known) < 2:
        return ""
    first = next(iter(results.values()))
    best = (min if first.minimise else max)(known.values())
    names = " and ".join(name for name, value in known.items() if value == best)
    unit = f" {first.unit}" if first.unit else ""
    by = "" if truth is None else " by the median of all recorded runs"
    return f"Of {len(known)} experiments the best was found by {names}: {best:.4g}{unit}{by}."
