"""Time of a collective against message size, a line for each topology (simulated)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bokeh.models import Range1d
from bokeh.plotting import figure

from workbench.measure.curve import byte_label
from workbench.plotting.axes import (
    legend_above,
    log_range,
    message_size_axis,
    new_figure,
    plain_log_ticks,
    set_range,
)
from workbench.plotting.descriptions import plain_number
from workbench.plotting.topology.style import TopologyLines, topology_lines

_COLUMNS = ("size", "time", "name", "said")
_TITLE = "Time of a collective (simulated)"


class CollectiveTimesFigure(TopologyLines):
    """The times of a collective on several topologies."""

    def show(self, times: Mapping[str, Mapping[int, float]], *, title: str = "") -> None:
        """Draw other times, seconds by message size in bytes."""
        self.draw(times, lambda name: collective_columns(name, times.get(name)))
        sizes = sorted({size for one in times.values() for size in one}) or [512, 524288]
        if (self.figure.x_range.start, self.figure.x_range.end) != (
            min(sizes) / 1.3,
            max(sizes) * 1.3,
        ):
            message_size_axis(self.figure, sizes, count=4)
        set_range(self.figure.x_range, (min(sizes) / 1.3, max(sizes) * 1.3))
        drawn = [value * 1e6 for one in times.values() for value in one.values()]
        set_range(self.figure.y_range, log_range(drawn))
        self.figure.title.text = title or _TITLE


def plot_collective_times(
    times: Mapping[str, Mapping[int, float]], *, title: str = "", height: int = 300
) -> figure:
    """Return the time of a collective against message size, with a line for each topology.

    Args:
        times: by topology, seconds by message size in bytes.
        title: over the figure; empty takes a default one.
        height: pixels.
    """
    return collective_times(times, title=title, height=height).figure


def collective_times(
    times: Mapping[str, Mapping[int, float]], *, title: str = "", height: int = 300
) -> CollectiveTimesFigure:
    """Return the live form of `plot_collective_times`, with room for four topologies."""
    fig = new_figure(
        title=title or _TITLE,
        y_label="time (µs)",
        height=height,
        file_name="collectives",
        x_range=Range1d(),
        y_range=Range1d(),
    )
    plain_log_ticks(fig.yaxis)
    tips = [("", "@name"), ("", "@said")]
    empty = collective_columns()
    lines = topology_lines(fig, empty, "size", "time", width=2, size=7, tips=tips)
    legend_above(fig)
    fig.legend.spacing = 8
    fig.legend.glyph_width = 14
    drawn = CollectiveTimesFigure(fig, lines)
    drawn.show(times, title=title)
    return drawn


def collective_columns(
    name: str = "", times: Mapping[int, float] | None = None
) -> dict[str, list[Any]]:
    """Return the columns of one topology's line from seconds by message size in bytes."""
    rows = sorted((times or {}).items())
    return {
        "size": [size for size, _ in rows],
        "time": [seconds * 1e6 for _, seconds in rows],
        "name": [name] * len(rows),
        "said": [f"{byte_label(size)}: {plain_number(s * 1e6)} µs" for size, s in rows],
    }


def describe_collective_times(times: Mapping[str, Mapping[int, float]], what: str) -> str:
    """Return a sentence on the quickest topology at the largest common message size."""
    common: Sequence[int] = sorted(
        set.intersection(*(set(one) for one in times.values())) if times else set()
    )
    if not common:
        return "Nothing has been simulated yet."
    size = common[-1]
    at = {name: one[size] for name, one in times.items()}
    best = min(at, key=at.__getitem__)
    worst = max(at, key=at.__getitem__)
    if at[best] == at[worst]:
        where = f"on {best}" if len(at) == 1 else "on all alike"
        taken = plain_number(at[best] * 1e6)
        return f"Simulated, {what} of {byte_label(size)} takes {taken} µs {where}."
    ratio = at[worst] / at[best]
    longer = f"{ratio:.2g}× as long" if ratio >= 1.1 else f"{100 * (ratio - 1):.2g} % longer"
    return (
        f"Simulated, {what} of {byte_label(size)} is quickest on {best}: "
        f"{plain_number(at[best] * 1e6)} µs, and takes {longer} on {worst}."
    )
