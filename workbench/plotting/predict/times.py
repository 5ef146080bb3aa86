"""Predicted times of a collective against the size of its blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import ColumnDataSource, LayoutDOM
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting.axes import log_range, set_range
from workbench.plotting.grid import sentence, stacked
from workbench.plotting.topology.collective_times import plot_collective_times
from workbench.plotting.topology.style import line_styles

if TYPE_CHECKING:
    from workbench.predict import CollectivePrediction, MachineProfile


def plot_collective_prediction(
    found: CollectivePrediction, *others: CollectivePrediction, height: int = 300
) -> LayoutDOM:
    """Return predicted times with their intervals against the block size, a line each.

    Args:
        found: of ``workbench.predict.predict_collective``.
        others: such as other algorithms or other numbers of nodes.
        height: pixels.

    Raises:
        ParameterError: there are more than four predictions.
    """
    every = (found, *others)
    if len(every) > (most := len(line_styles())):
        raise ParameterError(
            f"at most {most} predictions have a line of their own; got {len(every)}",
            key="others",
        )
    pairs = ((one.block_bytes.tolist(), one.times.tolist()) for one in every)
    lines = [
        {size: time for size, time in zip(sizes, times, strict=True) if size}
        for sizes, times in pairs
    ]
    names = (f"{one.algorithm}, {one.nodes} nodes" for one in every)
    title = f"{found.collective} on {found.system}, predicted from two nodes (simulated)"
    fig = plot_collective_times(dict(zip(names, lines, strict=True)), title=title, height=height)
    ends = [1e6 * end for one in every for end in one.interval]
    set_range(fig.y_range, log_range([end for some in ends for end in some.tolist() if end > 0]))
    for one, (colour, dash, _) in zip(every, line_styles(), strict=False):
        drawn = one.block_bytes > 0
        low, high = (1e6 * end[drawn] for end in one.interval)
        band = ColumnDataSource(
            {"size": one.block_bytes[drawn], "low": low, "high": high}, name="interval"
        )
        fig.varea("size", "low", "high", source=band, fill_alpha=0.12, fill_color=colour)
        for end in ("low", "high"):
            fig.line("size", end, source=band, line_color=colour, line_alpha=0.6, line_dash=dash)
    said = dict.fromkeys(one.spread.sentence for one in every)
    return stacked(fig, sentence(f"Bands are intervals: {'; '.join(said)}."))


def plot_machine_profile(machine: MachineProfile, *, height: int = 300) -> figure:
    """Return the measured messages of a machine against their size, those within a node too.

    Args:
        machine: of ``workbench.predict.machine_of``.
        height: pixels.
    """
    between = machine.between
    curves = {
        "one way, between nodes": between.latency,
        "one after another": machine.interval("between"),
        "both ways at once": between.both_ways,
        "one way, within a node": machine.within.latency,
    }
    lines = {
        name: {
            int(size): float(time)
            for size, time in zip(curve.sizes, curve.times, strict=True)
            if size
        }
        for name, curve in curves.items()
        if curve is not None
    }
    title = f"Messages of {machine.name} (measured or assumed, see the table)"
    return plot_collective_times(lines, title=title, height=height)
