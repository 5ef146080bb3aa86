"""Stopping rules of a search: the result of each against the time it saves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import live_figure, set_range
from workbench.plotting.marks import Marks, hover
from workbench.plotting.searches.style import (
    interval_text,
    listed,
    measure_of,
    percent_text,
    picked,
    resampling_text,
    rows_of,
    rule_styles,
    values_of,
)
from workbench.plotting.theme import LEGEND_STYLE

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("x", "y", "x_low", "x_high", "y_low", "y_high", "name", "found", "saved", "runs")
_ROOM = 0.06  # of the range, at three ends, or the outermost marks would be cut
_TOOLS_ROOM = 0.2  # of the range: the toolbar lies over the upper end
_LARGE_PX = 18  # of the first rule; each next is 2 px smaller, the small ones have 5


@dataclass(frozen=True, eq=False)
class StoppingFigure:
    """Stopping rules by measure and time saved."""

    figure: figure
    chosen: Mapping[str, ColumnDataSource]  # one heuristic and resampling rule, by stopping rule
    others: Mapping[str, ColumnDataSource]  # other methods, by stopping rule
    front: Marks  # line through the Pareto front

    def show(
        self,
        rows: pd.DataFrame,
        heuristic: str,
        resampling: str,
        *,
        measure: str = "share",
        time: str = "saved_grid",
    ) -> None:
        """Draw other methods: arguments as in `plot_search_stopping`."""
        up, across = measure_of(measure), measure_of(time)
        method = heuristic, resampling
        shown = [*dict.fromkeys((measure, time))]
        best = pareto(rows[shown], measure, time)
        self.front.update({"x": best[time].tolist(), "y": best[measure].tolist()})
        every = rows_of(rows)
        own = [one for one in every if (one["heuristic"], one["resampling"]) == method]
        others = [one for one in every if (one["heuristic"], one["resampling"]) != method]
        for points, sources in ((own, self.chosen), (others, self.others)):
            for stopping, source in sources.items():
                here = [one for one in points if one["stopping"] == stopping]
                source.data = point_columns(here, measure, time)
        for ends, name, above in (
            (self.figure.x_range, time, _ROOM),
            (self.figure.y_range, measure, _TOOLS_ROOM),
        ):
            known = [one[name] for one in every]
            known += [one[f"{name}_{end}"] for one in own for end in ("low", "high")]
            known = [value for value in known if math.isfinite(value)]
            low, high = (min(known), max(known)) if known else (0.0, 1.0)
            span = (high - low) or 1.0
            set_range(ends, (low - _ROOM * span, high + above * span))
        self.figure.xaxis.axis_label = f"{across.title} (%)"
        self.figure.yaxis.axis_label = f"{up.title} (%)"
        self.figure.title.text = (
            f"Large: {heuristic}, {resampling}; small: all other methods; line: none is better in "
            "both"
        )


def stopping_figure(stoppings: Sequence[str], *, height: int = 320) -> StoppingFigure:
    """Return the live form of `plot_search_stopping`, empty, for at most seven rules."""
    styles = rule_styles(stoppings)
    fig = live_figure(height=height, file_name="stopping")
    front = Marks(fig, {"x": [], "y": []}, x="x")
    front.line("y", palette.FAINT, dash="dashed")
    chosen, others, points = {}, {}, []
    for place, (stopping, colour, marker) in enumerate(styles):
        small, large = (ColumnDataSource({name: [] for name in _COLUMNS}) for _ in range(2))
        few = Marks(fig, small, x="x")
        points.append(few.points("y", colour, edge=None, alpha=0.45, marker=marker, size=5))
        own = Marks(fig, large, x="x")
        own.spans("y_low", "y_high", colour, width=1.5)
        Marks(fig, large, y="y").spans("x_low", "x_high", colour, width=1.5)
        points.append(
            own.points(
                "y",
                colour,
                edge="white",
                width=1.5,
                marker=marker,
                # Rules that end alike lie on one another: each shows around the next.
                size=_LARGE_PX - 2 * place,
                legend=stopping,
            )
        )
        chosen[stopping], others[stopping] = large, small
    tips = [("", "@name"), ("found", "@found"), ("time saved", "@saved"), ("runs", "@runs{0.0}")]
    hover(fig, points, tips)
    legend = fig.legend[0]
    fig.add_layout(legend, "right")
    legend.title = "stopping rule"
    legend.title_text_font_size = legend.label_text_font_size = "11px"
    legend.title_text_font_style = "normal"
    legend.border_line_color = None
    legend.stylesheets = [LEGEND_STYLE]
    return StoppingFigure(fig, chosen, others, front)


def plot_search_stopping(
    rows: pd.DataFrame,  # one recording, noise and pick
    heuristic: str,  # with large points
    resampling: str = "none",  # of the large points
    *,
    measure: str = "share",
    time: str = "saved_grid",  # or ``saved``
    height: int = 320,
) -> figure:
    """Return a measure against the time saved for each stopping rule, rows of ``methods``."""
    drawn = stopping_figure(values_of(rows, "stopping"), height=height)
    drawn.show(rows, heuristic, resampling, measure=measure, time=time)
    return drawn.figure


def pareto(rows: pd.DataFrame, measure: str = "share", time: str = "saved_grid") -> pd.DataFrame:
    """Return the Pareto-optimal methods by the means of measure and time, the slowest first."""
    sign = 1.0 if measure_of(measure).more_is_better else -1.0
    known = rows[np.isfinite(rows[measure]) & np.isfinite(rows[time])]
    ordered = known.assign(_found=sign * known[measure]).sort_values(
        [time, "_found"], ascending=False, kind="stable"
    )
    before = ordered["_found"].cummax().shift(fill_value=-math.inf)
    best: pd.DataFrame = ordered[ordered["_found"] > before]
    return best.drop(columns="_found").iloc[::-1]


def describe_search_stopping(
    rows: pd.DataFrame,
    heuristic: str,
    resampling: str = "none",
    *,
    measure: str = "share",
    time: str = "saved_grid",
) -> str:
    """Return sentences on the stopping rule with the best measure, and on the quickest one."""
    known, across = measure_of(measure), measure_of(time)
    own = picked(rows, heuristic=heuristic, resampling=resampling)
    own = own[np.isfinite(own[measure])]
    if not len(own):
        return "No search of this method has a value of this measure here."
    most = rows_of(known.best_first(own))[0]
    quick = rows_of(across.best_first(own))[0]
    text = (
        f"{heuristic} with {resampling_text(resampling)}: “{most['stopping']}” gives the most: "
        f"{interval_text(most, measure)} {known.text}, with "
        f"{percent_text(most[time])} % {across.text}"
    )
    alike = [names for names in _alike(own, measure, time) if len(names) > 1]
    tail = "".join(f" {listed(names)} ended alike." for names in alike)
    if most["stopping"] == quick["stopping"]:
        return f"{text}; it is also the quickest.{tail}"
    told = not known.overlaps(most, quick)
    verdict = "less" if told else "which these seeds cannot tell from it"
    return (
        f"{text}. The quickest, “{quick['stopping']}”, gives {interval_text(quick, measure)}, "
        f"{verdict}, with {percent_text(quick[time])} %.{tail}"
    )


def _alike(rows: pd.DataFrame, measure: str, time: str) -> list[list[str]]:
    """Return the stopping rules grouped by equal results, whose points coincide."""
    places: dict[tuple[float, float], list[str]] = {}
    for one in rows_of(rows):
        places.setdefault((one[measure], one[time]), []).append(f"“{one['stopping']}”")
    return list(places.values())


def point_columns(
    rows: Sequence[Mapping[str, Any]], measure: str, time: str
) -> dict[str, list[Any]]:
    """Return the columns of a source, a row for each method."""
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for one in rows:
        values = (
            *(one[time], one[measure]),
            *(one[f"{time}_low"], one[f"{time}_high"]),
            *(one[f"{measure}_low"], one[f"{measure}_high"]),
            f"{one['heuristic']}, {one['resampling']}, {one['stopping']}",
            *(interval_text(one, measure), interval_text(one, time), one["runs"]),
        )
        for name, value in zip(_COLUMNS, values, strict=True):
            columns[name].append(value)
    return columns
