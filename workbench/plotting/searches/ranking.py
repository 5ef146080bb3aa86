"""Searches ranked, each with its interval over the seeds, and those not separable by them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bokeh.models import ColumnDataSource, FixedTicker
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import live_figure, set_range
from workbench.plotting.marks import Marks, hover
from workbench.plotting.numbered_rows import numbered_rows
from workbench.plotting.searches.style import (
    Measure,
    interval_text,
    listed,
    measure_of,
    name_places,
    rows_of,
)

if TYPE_CHECKING:
    import pandas as pd

_ROW_PX = 30  # the chosen mark has 13 px, the numbers 11
_AROUND_PX = 78  # title, numbers of the axis and two lines of its label; no tools
_TEXT_SHARE = 0.72
"""Room for the numbers right of the points, in widths of what the points span."""
_MOST_TICKS = 7  # of 11 px, on the half of the width that the numbers leave
_SLACK = 1e-9  # of a step


@dataclass(frozen=True, eq=False)
class RankingFigure:
    """The ranking and its source."""

    figure: figure
    source: ColumnDataSource  # a row for each method, the best first

    def show(
        self,
        rows: pd.DataFrame,  # of ``methods`` or ``collectives``, differing in `by` only
        measure: str = "share",
        *,
        by: str = "heuristic",
        chosen: str = "",  # value of `by` with a larger point
        title: str = "",
    ) -> None:
        """Draw other methods."""
        known = measure_of(measure)
        columns = ranking_columns(rows, known, by, chosen)
        values = [v for name in ("low", "high", "value") for v in columns[name] if math.isfinite(v)]
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        span = (high - low) or 1.0
        # In a column of their own the numbers cover no interval.
        columns["text_at"] = [high + 0.08 * span] * len(columns["name"])
        self.source.data = columns
        fig = self.figure
        set_range(fig.x_range, (low - 0.06 * span, high + _TEXT_SHARE * span))
        fig.xaxis.ticker.ticks = ticks_within(low, low + span)
        count = max(len(columns["name"]), 1)
        fig.y_range.update(start=count - 0.5, end=-0.5)
        name_places(fig.yaxis[0], columns["name"])
        fig.height = _AROUND_PX + _ROW_PX * count
        seeds = int(rows["seeds"].max()) if len(rows) else 0
        fig.xaxis.axis_label = f"{known.title} (%),\nmean and 95 % interval over {seeds} seeds"
        fig.title.text = f"{title or 'Ranked'}; hollow: behind the first"


def ranking_figure() -> RankingFigure:
    """Return the live form of `plot_search_ranking`, empty."""
    fig = live_figure(height=_AROUND_PX + _ROW_PX, file_name="ranking")
    fig.xaxis.ticker, fig.yaxis.ticker = FixedTicker(), FixedTicker()
    marks = Marks(fig, {name: [] for name in (*_COLUMNS, "text_at")})
    intervals = marks.spans("low", "high", "line", width=3)
    points, _ = numbered_rows(marks, value="value", text_at="text_at")
    hover(fig, [points, intervals], [("", "@name"), ("", "@text")])
    return RankingFigure(fig, marks.source)


def plot_search_ranking(
    rows: pd.DataFrame, measure: str = "share", *, by: str = "heuristic"
) -> figure:
    """Return methods, or values of the column `by`, ranked with their intervals over seeds."""
    drawn = ranking_figure()
    drawn.show(rows, measure, by=by)
    return drawn.figure


_COLUMNS = (
    *("row", "name", "value", "low", "high", "text"),
    *("apart", "size", "fill", "line"),
)


def ranking_columns(
    rows: pd.DataFrame, measure: Measure, by: str, chosen: str = ""
) -> dict[str, list[Any]]:
    """Return the columns of the source, the best first; ``apart``: interval apart from the best."""
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    ranked = rows_of(measure.best_first(rows))
    for place, one in enumerate(ranked):
        apart = not measure.overlaps(one, ranked[0])
        marked = one[by] == chosen
        colour = palette.FAINT if apart else palette.BLUE
        values = (
            *(place, str(one[by]), float(one[measure.name])),
            *(float(one[f"{measure.name}_{end}"]) for end in ("low", "high")),
            interval_text(one, measure.name),
            apart,
            13 if marked else 9,
            "white" if apart else colour,
            palette.VERMILLION if marked else colour,
        )
        for name, value in zip(_COLUMNS, values, strict=True):
            columns[name].append(value)
    return columns


def describe_search_ranking(
    rows: pd.DataFrame, measure: str = "share", *, by: str = "heuristic"
) -> str:
    """Return a sentence on the first method, those not separable from it, and those behind.

    Overlapping intervals do not show that two methods are equal, only that there are too few seeds
    to separate them.
    """
    known = measure_of(measure)
    columns = ranking_columns(rows, known, by)
    names = [n for n, v in zip(columns["name"], columns["value"], strict=True) if math.isfinite(v)]
    if not names:
        return "No search has a value of this measure here."
    apart = dict(zip(columns["name"], columns["apart"], strict=True))
    near = [name for name in names[1:] if not apart[name]]
    behind = [name for name in names[1:] if apart[name]]
    seeds = int(rows["seeds"].max())
    text = f"{names[0]} is first with {columns['text'][0]} {known.text}"
    if near:
        verb = "is" if len(near) == 1 else "are"
        text += f"; {listed(near)} {verb} not significantly different over {seeds} seeds"
    if behind:
        verb = "is" if len(behind) == 1 else "are"
        text += f"; {listed(behind)} {verb} behind it"
    return f"{text}."


def ticks_within(low: float, high: float) -> list[float]:
    """Return two to seven ticks in `low` to `high`, 1, 2 or 5 times a power of ten apart."""
    power = 10.0 ** math.floor(math.log10(high - low))
    # A tenth of the power leaves ten or more: one of the steps has seven or fewer.
    for step in (0.1 * power, 0.2 * power, 0.5 * power, power, 2.0 * power):
        places = range(math.ceil(low / step - _SLACK), math.floor(high / step + _SLACK) + 1)
        if len(places) <= _MOST_TICKS:
            break
    return [float(f"{place * step:.12g}") for place in places]
