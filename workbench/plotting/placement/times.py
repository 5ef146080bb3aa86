"""Placements compared while they are being found: a row for each method, live, one of them chosen.

``plot_placements`` draws the same table once it is complete.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bokeh.models import ColumnDataSource, FixedTicker, Range1d, Span
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import live_figure
from workbench.plotting.marks import Marks, choosable, hover, rule
from workbench.plotting.numbered_rows import numbered_rows
from workbench.plotting.replay.style import time_axis, time_text

if TYPE_CHECKING:
    import pandas as pd

_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
_TEXT_SHARE = 1.5
"""Room right of the points for their numbers, in widths of what the points span."""


@dataclass(frozen=True, eq=False)
class PlacementTimes:
    """The run time of each placement and its source.

    Attributes:
        figure: the figure.
        source: a row for each method, nan where it has not been found yet.
        block: the line at the run time of block placement.
        methods: the rows, from the top down.
    """

    figure: figure
    source: ColumnDataSource
    block: Span
    methods: tuple[str, ...]

    def show(self, placements: pd.DataFrame, *, chosen: str = "") -> None:
        """Draw other placements.

        Args:
            placements: of ``workbench.placement.frame_of``; methods that have no row
                are drawn as not found yet.
            chosen: the method whose row is marked.
        """
        columns = time_columns(placements, self.methods, chosen)
        known = [value for value in columns["T_ns"] if math.isfinite(value)]
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        span = (high - low) or 0.05 * high or 1.0
        ends = low - 0.12 * span, high + _TEXT_SHARE * span
        # In a column of their own the numbers cover no point and no line.
        columns["text_ns"] = [high + 0.1 * span] * len(self.methods)
        self.source.data = columns
        self.figure.x_range.update(
            start=ends[0], end=ends[1], reset_start=ends[0], reset_end=ends[1]
        )
        in_order = placements.loc[placements["method"] == "block", "T_ns"]
        self.block.update(
            visible=len(in_order) > 0,
            location=float(in_order.iloc[0]) if len(in_order) else 0.0,
        )


def placement_times(
    placements: pd.DataFrame, methods: Sequence[str], *, chosen: str = ""
) -> PlacementTimes:
    """Return the live figure of run times; a click on a point selects its row in the source.

    Args:
        placements: as in `PlacementTimes.show`.
        methods: the rows, from the top down.
        chosen: as in `PlacementTimes.show`.
    """
    fig = live_figure(
        title="Predicted run time by placement",
        height=96 + 44 * len(methods),  # chosen: roomy, as a click on a mark selects its row
        file_name="placements",
        y_range=Range1d(len(methods) - 0.5, -0.5),
    )
    block = rule(fig, x=0.0, colour=palette.FAINT, dash="dashed")
    marks = Marks(fig, {"method": []}, name="times")
    drawn = PlacementTimes(fig, marks.source, block, tuple(methods))
    drawn.show(placements, chosen=chosen)
    marks.spans("block_ns", "T_ns", palette.FAINT)
    points, texts = numbered_rows(marks, value="T_ns", text_at="text_ns")
    tips = [("", "@method"), ("T", "@T_text"), ("", "@gain_text"), ("found in", "@found_text")]
    hover(fig, [points], tips)
    choosable(fig, points, texts)
    time_axis(fig.xaxis[0])
    fig.xaxis.axis_label = "run time T, without contention"
    fig.xaxis.ticker.desired_num_ticks = 5
    fig.yaxis.ticker = FixedTicker(ticks=list(range(len(methods))))
    fig.yaxis.major_label_overrides = dict(enumerate(methods))
    return drawn


def time_columns(
    placements: pd.DataFrame, methods: Sequence[str], chosen: str = ""
) -> dict[str, list[Any]]:
    """Return the columns of the figure, a row for each method; `chosen` is marked."""
    rows = {str(one["method"]): one for one in placements.to_dict("records")}
    block_ns = float(rows["block"]["T_ns"]) if "block" in rows else math.nan
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            *("row", "method", "T_ns", "block_ns", "text", "T_text", "gain_text", "found_text"),
            *("size", "fill", "line"),
        )
    }
    for place, method in enumerate(methods):
        found = rows.get(method)
        T_ns = math.nan if found is None else float(found["T_ns"])
        T, gain, spent = ("", "", "") if found is None else _words(found)
        marked = method == chosen
        values = (
            *(place, method, T_ns, block_ns),
            # How long the search took stands in the panel's table: here it would be cut at 1280 px.
            *(f"{T}, {gain}" if found is not None else "", T, gain, spent),
            *(14 if marked else 10, palette.VERMILLION if marked else palette.BLUE),
            palette.BLACK if marked else "white",
        )
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
    return columns


def _words(found: dict[Any, Any]) -> tuple[str, str, str]:
    T = run_time_text(float(found["T_ns"]))
    return T, gain_text(float(found["less_than_block_percent"])), time_text(1e9 * found["seconds"])


def run_time_text(T_ns: float) -> str:
    """Return a run time with five digits, as placements often differ in the fourth."""
    unit, scale = next((one for one in _UNITS if T_ns >= one[1]), _UNITS[-1])
    return f"{T_ns / scale:.5g} {unit}"


def gain_text(less_than_block_percent: float) -> str:
    """Return a gain in words: ``3.07 % less``, ``0.7 % more``, ``as block``."""
    if less_than_block_percent == 0:
        return "as block"
    word = "less" if less_than_block_percent > 0 else "more"
    return f"{abs(less_than_block_percent):.3g} % {word}"
