"""Wire-latency tolerance of a program on several topologies: a row for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh.models import FixedTicker, Range1d, Span
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure
from workbench.plotting.descriptions import plain_number
from workbench.plotting.marks import Marks, hover, rule
from workbench.plotting.topology.style import line_styles

PERCENT: tuple[float, ...] = (1, 2, 5)
"""The tolerated slowdowns in percent, one for each point of a row."""

_MARKERS = ("circle", "square", "triangle")


@dataclass(frozen=True, eq=False)
class WireTolerance:
    """Wire-latency tolerances of a program on several topologies."""

    figure: figure
    marks: Marks  # a row for each topology
    base: Span  # line at the base latency

    def show(
        self,
        tolerances: Mapping[str, Mapping[float, float]],  # by topology, ns by percent
        *,
        base_ns: float,
        names: Sequence[str] = (),  # of the rows, unknown ones too; empty: as tolerances
        title: str = "",
    ) -> None:
        """Draw other tolerances."""
        rows = list(names) or list(tolerances)
        colours = [colour for colour, *_ in line_styles()]
        data: dict[str, list[Any]] = {
            "name": rows,
            "colour": [colours[at % len(colours)] for at in range(len(rows))],
            "base": [base_ns] * len(rows),
        }
        for percent in PERCENT:
            data[_column(percent)] = [
                float(tolerances.get(name, {}).get(percent, np.nan)) for name in rows
            ]
        data["said"] = [
            ", ".join(
                f"{p:g} %: {plain_number(data[_column(p)][at])} ns"
                for p in PERCENT
                if np.isfinite(data[_column(p)][at])
            )
            for at in range(len(rows))
        ]
        self.marks.update(data)
        self.base.location = base_ns
        known = [v for p in PERCENT for v in data[_column(p)] if np.isfinite(v)]
        high = max([base_ns * 1.02, *known])
        span = (high - base_ns) or 1.0
        self.figure.x_range.update(start=base_ns - 0.06 * span, end=high + 0.1 * span)
        self.figure.y_range.update(start=max(len(rows), 1) - 0.5, end=-0.5)
        self.figure.yaxis.ticker.ticks = list(range(len(rows)))
        self.figure.yaxis.major_label_overrides = dict(enumerate(rows))
        self.figure.title.text = title or _TITLE


_TITLE = "Wire latency that a program tolerates"


def plot_wire_tolerance(
    tolerances: Mapping[str, Mapping[float, float]],  # by topology, ns by percent
    *,
    base_ns: float,  # latency of a wire at which they start
    title: str = "",
    height: int = 300,
) -> figure:
    """Return the largest wire latency with which a program is 1, 2 and 5 % slower, a row each."""
    return wire_tolerance_figure(tolerances, base_ns=base_ns, title=title, height=height).figure


def wire_tolerance_figure(
    tolerances: Mapping[str, Mapping[float, float]],
    *,
    base_ns: float,
    title: str = "",
    height: int = 300,
) -> WireTolerance:
    """Return the live form of `plot_wire_tolerance`."""
    fig = new_figure(
        title=title or _TITLE,
        y_label="",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name="wire-tolerance",
        x_range=Range1d(),
        y_range=Range1d(),
    )
    base = rule(fig, x=base_ns, colour=palette.FAINT, dash="dashed")
    fig.yaxis.ticker = FixedTicker(ticks=[])
    marks = Marks(fig, {"name": []})
    drawn = WireTolerance(fig, marks, base)
    drawn.show(tolerances, base_ns=base_ns, title=title)
    marks.spans("base", _column(PERCENT[-1]), "colour", width=2)
    points = [
        marks.points(
            _column(percent), "colour", edge="white", marker=marker, size=9, legend=f"{percent:g} %"
        )
        for percent, marker in zip(PERCENT, _MARKERS, strict=True)
    ]
    hover(fig, points, [("", "@name"), ("", "@said")])
    fig.xaxis.axis_label = "wire latency (ns)"
    fig.ygrid.grid_line_color = None
    fig.yaxis.axis_line_color = None
    fig.yaxis.major_tick_line_color = fig.yaxis.minor_tick_line_color = None
    legend_above(fig)
    fig.legend[0].title = "run time longer by"
    fig.legend[0].update(
        title_text_font_size="11px", title_text_font_style="normal", title_standoff=2
    )
    return drawn


def describe_wire_tolerance(
    tolerances: Mapping[str, Mapping[float, float]], program: str, base_ns: float
) -> str:
    """Return a sentence on the topologies with the most and the least tolerance (ns)."""
    added = {name: one[1] - base_ns for name, one in tolerances.items() if 1 in one}
    if not added:
        return "Nothing has been analysed yet."
    most = max(added, key=added.__getitem__)
    least = min(added, key=added.__getitem__)
    text = (
        f"{program} is 1 % slower with {plain_number(added[most])} ns more on each wire of {most}"
    )
    if added[most] == added[least]:
        return text + "."
    return f"{text}, and with {plain_number(added[least])} ns on {least}."


def _column(percent: float) -> str:
    return f"ns_{percent:g}"
