"""Predicted times of a collective against the size of its blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting.topology.collective_times import plot_collective_times
from workbench.plotting.topology.style import line_styles

if TYPE_CHECKING:
    from workbench.predict import CollectivePrediction, MachineProfile


def plot_collective_prediction(
    found: CollectivePrediction, *others: CollectivePrediction, height: int = 300
) -> figure:
    """Return the predicted times against the block size, a line for each prediction.

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
    return plot_collective_times(dict(zip(names, lines, strict=True)), title=title, height=height)


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
