"""Effect of noise on a search, and the gain by running configurations again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bokeh.models import FixedTicker
from bokeh.plotting import figure

from workbench.plotting.axes import legend_above, live_figure, set_range
from workbench.plotting.marks import Marks, hover
from workbench.plotting.searches.style import (
    Measure,
    interval_text,
    listed,
    measure_of,
    name_places,
    resampling_text,
    rows_of,
    rule_styles,
    values_of,
)
from workbench.tune.search_comparison.plan import HELD_OUT

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("x", "y", "low", "high", "name", "noise", "text")
_BESIDE = 0.09  # between two resamplings of one noise; noises are 1 apart
_ROOM = 0.08  # of the range, above and below, or the outermost marks would be cut
_LAST = 99.0  # a place behind all of _ORDER
# Places; a normal noise has 1, and those of one place go by their spread.
_ORDER = {"none": 0.0, "measured": 0.5, HELD_OUT: 0.6}


@dataclass(frozen=True, eq=False)
class NoiseFigure:
    """Results of a heuristic under each noise, a colour for each resampling rule."""

    figure: figure
    rules: Mapping[str, Marks]  # by resampling rule, a row for each noise

    def show(self, rows: pd.DataFrame, measure: str = "share") -> None:
        """Draw other searches: rows of ``methods`` as in `plot_search_noise`."""
        known = measure_of(measure)
        noises = in_order(values_of(rows, "noise"))
        present = [name for name in self.rules if name in set(rows["resampling"])]
        every = rows_of(rows)
        drawn: list[float] = []
        for name, marks in self.rules.items():
            place = present.index(name) - 0.5 * (len(present) - 1) if name in present else 0.0
            here = [one for one in every if one["resampling"] == name]
            columns = noise_columns(here, known, noises, _BESIDE * place)
            marks.update(columns)
            marks.entry(resampling_text(name) if name in present else "")
            drawn += [*columns["low"], *columns["high"], *columns["y"]]
        drawn = [value for value in drawn if math.isfinite(value)]
        low, high = (min(drawn), max(drawn)) if drawn else (0.0, 1.0)
        room = _ROOM * (high - low) or 1.0
        set_range(self.figure.y_range, (low - room, high + room))
        set_range(self.figure.x_range, (-0.5, max(len(noises), 1) - 0.5))
        name_places(self.figure.xaxis[0], [noise_text(noise) for noise in noises])
        self.figure.yaxis.axis_label = f"{known.title} (%)"
        seeds = int(rows["seeds"].max()) if len(rows) else 0
        who = " and ".join(values_of(rows, "heuristic"))
        self.figure.title.text = f"{who}: mean and 95 % interval over {seeds} seeds"


def noise_figure(resamplings: Sequence[str], *, height: int = 300) -> NoiseFigure:
    """Return the live form of `plot_search_noise`, empty, for at most seven resampling rules."""
    styles = rule_styles(resamplings)
    fig = live_figure(height=height, file_name="noise")
    fig.xaxis.ticker = FixedTicker()
    rules, points = {}, []
    for name, colour, marker in styles:
        marks, label = Marks(fig, {column: [] for column in _COLUMNS}, x="x"), resampling_text(name)
        marks.spans("low", "high", colour, width=2)
        points.append(marks.points("y", colour, edge="white", marker=marker, size=10, legend=label))
        rules[name] = marks
    hover(fig, points, [("", "@name, noise: @noise"), ("", "@text")])
    fig.xgrid.grid_line_color = None
    fig.xaxis.axis_label = "noise that is added to each run"
    legend_above(fig)
    return NoiseFigure(fig, rules)


def plot_search_noise(rows: pd.DataFrame, measure: str = "share", *, height: int = 300) -> figure:
    """Return a heuristic's results by noise and resampling; all else is fixed."""
    drawn = noise_figure(values_of(rows, "resampling"), height=height)
    drawn.show(rows, measure)
    return drawn.figure


def describe_search_noise(rows: pd.DataFrame, measure: str = "share") -> str:
    """Return a sentence that compares the best resampling with none, for each noise."""
    known = measure_of(measure)
    parts = []
    for noise in in_order(values_of(rows, "noise")):
        ranked = rows_of(known.best_first(rows[rows["noise"] == noise]))
        plain = [one for one in ranked if one["resampling"] == "none"]
        again = [one for one in ranked if one["resampling"] != "none"]
        if not plain or not again:
            continue
        first, none = again[0], plain[0]
        better = (first[measure] > none[measure]) == known.more_is_better
        if known.overlaps(first, none):
            verdict = "no significant difference"
        else:
            verdict = "resampling is better" if better else "resampling is worse"
        parts.append(
            f"{noise_text(noise)}: {interval_text(none, measure)} without, "
            f"{interval_text(first, measure)} with {first['resampling']}, {verdict}"
        )
    if not parts:
        return "These searches were made with one resampling rule only."
    title = f"{known.title[0].upper()}{known.title[1:]}"
    return f"{title}, without resampling and with the best rule of it: {'; '.join(parts)}."


def describe_other_noises(rows: pd.DataFrame, heuristic: str) -> str:
    """Return a sentence on heuristics with several noises; empty unless this one has only one."""
    searched = set(zip(rows["heuristic"], rows["noise"], strict=True))
    noises = Counter(name for name, _ in searched)
    several = [name for name in values_of(rows, "heuristic") if noises[name] > 1]
    if noises[heuristic] != 1 or not several:
        return ""
    own = next(noise for name, noise in searched if name == heuristic)
    return (
        f"The comparison has {heuristic} with one noise only, {noise_text(own)}; "
        f"to compare noises, choose {listed(several, 'or')}."
    )


def noise_columns(
    rows: Sequence[Mapping[str, Any]], measure: Measure, noises: Sequence[str], beside: float
) -> dict[str, list[Any]]:
    """Return the columns of one resampling rule's source; points are shifted by `beside`."""
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for one in rows:
        values = (
            *(noises.index(one["noise"]) + beside, one[measure.name]),
            *(one[f"{measure.name}_low"], one[f"{measure.name}_high"]),
            *(resampling_text(one["resampling"]), noise_text(one["noise"])),
            interval_text(one, measure.name),
        )
        for name, value in zip(_COLUMNS, values, strict=True):
            columns[name].append(value)
    return columns


def in_order(noises: Sequence[str]) -> list[str]:
    """Return noises with none first, then by their spread, heavy tails last."""
    return sorted(noises, key=_place)


def noise_text(noise: str) -> str:
    """Return the text for a noise of the tables in a figure."""
    named = {"none": "no noise", "measured": "as measured", HELD_OUT: "other repeats judge"}
    return named.get(noise, noise)


def _place(noise: str) -> tuple[float, float]:
    name, _, rest = noise.partition(" ")
    digits = rest.removesuffix("%").strip()
    spread = float(digits) if digits.replace(".", "", 1).isdigit() else 0.0
    return _ORDER.get(name, 1.0 if name == "normal" else _LAST), spread
