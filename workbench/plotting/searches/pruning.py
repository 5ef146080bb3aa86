"""Time saved by ending slow runs of a search, and the change of its result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bokeh.models import ColumnDataSource
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, live_figure, set_range
from workbench.plotting.marks import LineLook, Marks, hover, rule
from workbench.plotting.searches.style import (
    interval_text,
    listed,
    percent_text,
    picked,
    resampling_text,
    rows_of,
    rule_styles,
    values_of,
)
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

CHANGES: Mapping[str, str] = {
    "share_change": "points of the possible gain",
    "gain_change": "points of gain over the default",
}
"""What pruning may cost, by the name of its column in ``prunings``."""

TABLE_COLUMNS: Mapping[str, str] = {
    "pruned": "runs ended (%)",
    "quicker": "time saved (%)",
    "share_change": "of the possible gain, change (points)",
}
"""What the columns of a table of ``prunings`` are called, by the comparison's names."""

_COLUMNS = ("x", "y", "x_low", "x_high", "y_low", "y_high", "name", "saved", "change", "ended")
_ROOM = 0.08  # of the range, at three ends, or the outermost marks would be cut
_TOOLS_ROOM = 0.25  # of the range: the toolbar lies over the upper end
_TIME = "quicker"


@dataclass(frozen=True, eq=False)
class PruningFigure:
    """Time saved by each pruning rule, and its change of the result."""

    figure: figure
    chosen: Mapping[str, ColumnDataSource]  # of one heuristic, by pruning rule
    others: Mapping[str, ColumnDataSource]  # of the other heuristics, by pruning rule

    def show(self, rows: pd.DataFrame, heuristic: str, change: str = "share_change") -> None:
        """Draw other searches: rows of ``prunings`` as in `plot_search_pruning`."""
        what = _change(change)
        every = rows_of(rows)
        for own, sources in ((True, self.chosen), (False, self.others)):
            for pruning, source in sources.items():
                source.data = pruning_points(
                    [
                        one
                        for one in every
                        if one["pruning"] == pruning and (one["heuristic"] == heuristic) is own
                    ],
                    change,
                )
        # What a rule costs one heuristic may be a hundred times what it costs another.
        own_rows = [one for one in every if one["heuristic"] == heuristic] or every
        for ends, name, above in (
            (self.figure.x_range, _TIME, _ROOM),
            (self.figure.y_range, change, _TOOLS_ROOM),
        ):
            known = [float(one[f"{name}{e}"]) for one in own_rows for e in ("", "_low", "_high")]
            # Zero is the reference.
            known = [0.0, *(value for value in known if math.isfinite(value))]
            span = (max(known) - min(known)) or 1.0
            set_range(ends, (min(known) - _ROOM * span, max(known) + above * span))
        self.figure.yaxis.axis_label = f"change, {what}"
        others = [name for name in values_of(rows, "heuristic") if name != heuristic]
        small = f"; small: {listed(others)}, where they are as near" if others else ""
        self.figure.title.text = f"Large: {heuristic}{small}; lines: without pruning"


def pruning_figure(prunings: Sequence[str], *, height: int = 320) -> PruningFigure:
    """Return the live form of `plot_search_pruning`, empty, for at most seven rules."""
    styles = rule_styles(prunings)
    fig = live_figure(height=height, file_name="pruning")
    rule(fig, y=0, colour=palette.FAINT, dash="dashed")
    rule(fig, x=0, colour=palette.FAINT, dash="dashed")
    chosen, others, points = {}, {}, []
    for pruning, colour, marker in styles:
        large, small = (ColumnDataSource({name: [] for name in _COLUMNS}) for _ in range(2))
        for source, width, alpha in ((small, 1.0, 0.5), (large, 1.5, 1.0)):
            look: LineLook = {"width": width, "alpha": alpha}
            Marks(fig, source, x="x").spans("y_low", "y_high", colour, **look)
            Marks(fig, source, y="y").spans("x_low", "x_high", colour, **look)
        few, own = Marks(fig, small, x="x"), Marks(fig, large, x="x")
        points.append(few.points("y", colour, edge=None, alpha=0.6, marker=marker, size=7))
        points.append(own.points("y", colour, edge="white", marker=marker, size=13, legend=pruning))
        chosen[pruning], others[pruning] = large, small
    tips = [("", "@name"), ("time saved", "@saved"), ("change", "@change"), ("ended", "@ended")]
    hover(fig, points, tips)
    fig.xaxis.axis_label = "time saved against the same searches without pruning (%)"
    legend_above(fig)
    return PruningFigure(fig, chosen, others)


def plot_search_pruning(
    rows: pd.DataFrame, heuristic: str, change: str = "share_change", *, height: int = 320
) -> figure:
    """Return time saved against `change` by pruning rule; `heuristic` has the large points."""
    drawn = pruning_figure(values_of(rows, "pruning"), height=height)
    drawn.show(rows, heuristic, change)
    return drawn.figure


def pruning_rows(table: pd.DataFrame, **where: str) -> pd.DataFrame:
    """Return rows of ``prunings`` that differ only in heuristic and pruning rule.

    If the comparison lacks the resampling or stopping rule in ``where`` for searches that prune,
    its first one is taken.
    """
    rules = ("resampling", "stopping")
    rows = picked(table, **{name: value for name, value in where.items() if name not in rules})
    for name in rules:
        known = values_of(rows, name)
        if known:
            asked = where.get(name, "")
            rows = picked(rows, **{name: asked if asked in known else known[0]})
    return rows


def describe_search_pruning(
    rows: pd.DataFrame, heuristic: str, change: str = "share_change"
) -> str:
    """Return a sentence on the time saved and the change by each pruning rule, for a heuristic."""
    what = _change(change)
    if not len(rows):
        return "The comparison has no search here that prunes."
    own = picked(rows, heuristic=heuristic)
    if not len(own):
        return (
            f"The comparison does not prune {heuristic} here; choose "
            f"{listed(values_of(rows, 'heuristic'), 'or')}."
        )
    seeds = int(own["seeds"].max())
    parts = [
        f"“{one['pruning']}” ends {percent_text(one['pruned'])} % of the runs, "
        f"{_saves(one)}; {_finds(one, change, what)}"
        for one in rows_of(_in_order(own, "pruning"))
    ]
    with_it = resampling_text(str(own["resampling"].iloc[0]))
    return (
        f"{heuristic} with {with_it}, stopped by “{own['stopping'].iloc[0]}”, each search "
        f"compared with the same one without pruning, {seeds} seeds: {'; '.join(parts)}."
    )


def pruning_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of ``prunings`` with readable column names, each value with its interval."""
    import pandas as pd

    index = ["recording", "noise", "heuristic", "pruning"]
    lines = [
        {
            **{name: one[name] for name in index},
            **{
                title: interval_text(one, name).replace(" %", "")
                for name, title in TABLE_COLUMNS.items()
            },
        }
        for one in rows_of(_in_order(rows, *index))
    ]
    return pd.DataFrame(lines, columns=[*index, *TABLE_COLUMNS.values()]).set_index(index)


def pruning_points(rows: Sequence[Mapping[str, Any]], change: str) -> dict[str, list[Any]]:
    """Return the columns of a source, a row for each search."""
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for one in rows:
        values = (
            *(one[_TIME], one[change]),
            *(one[f"{_TIME}_low"], one[f"{_TIME}_high"]),
            *(one[f"{change}_low"], one[f"{change}_high"]),
            f"{one['heuristic']}, {one['pruning']}",
            interval_text(one, _TIME),
            f"{interval_text(one, change).replace(' %', '')} {CHANGES[change]}",
            f"{percent_text(one['pruned'])} % of the runs",
        )
        for name, value in zip(_COLUMNS, values, strict=True):
            columns[name].append(value)
    return columns


def _saves(one: Mapping[str, Any]) -> str:
    if one[f"{_TIME}_low"] > 0.0:
        return f"saves {interval_text(one, _TIME)} of the time"
    if one[f"{_TIME}_high"] < 0.0:
        return f"takes longer, time saved {interval_text(one, _TIME)}"
    return f"saves no significant time, {interval_text(one, _TIME)}"


def _finds(one: Mapping[str, Any], change: str, what: str) -> str:
    if not math.isfinite(one[change]):
        return "what it finds is not known here"
    if one[f"{change}_high"] < 0.0:
        verdict = "it finds less"
    elif one[f"{change}_low"] > 0.0:
        verdict = "it finds more"
    else:
        verdict = "what it finds does not differ significantly"
    return f"{verdict}, {interval_text(one, change).replace(' %', '')} {what}"


def _in_order(rows: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Return rows sorted by these columns, values in the comparison's order."""
    for name in reversed(names):
        known = values_of(rows, name)
        places = sorted(range(len(rows)), key=lambda at: known.index(rows[name].iloc[at]))
        rows = rows.iloc[places]
    return rows


def _change(name: str) -> str:
    if name not in CHANGES:
        raise ParameterError(
            f"the change must be one of {', '.join(CHANGES)}; got {name!r}"
            f"{did_you_mean(name, CHANGES)}",
            key="change",
        )
    return CHANGES[name]
