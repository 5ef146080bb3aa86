"""Common parts of the figures of a comparison of searches: measures, rows and texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.suggestions import did_you_mean
from workbench.tune.search_comparison.plan import (
    HEURISTICS_COMPARED,
    PRUNINGS_COMPARED,
    RESAMPLINGS_COMPARED,
    STOPPINGS_COMPARED,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measure:
    """A column of the comparison's tables, in percent, that measures the quality of a search."""

    name: str  # of the column
    title: str
    more_is_better: bool
    text: str  # within a sentence, after the number

    def best_first(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table by this measure, the best first and unknown ones last."""
        return table.sort_values(self.name, ascending=not self.more_is_better, kind="stable")

    def overlaps(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the intervals of two rows overlap: the seeds do not separate them."""
        low, high = f"{self.name}_low", f"{self.name}_high"
        return bool(one[low] <= other[high] and other[low] <= one[high])


MEASURES: Mapping[str, Measure] = {
    one.name: one
    for one in (
        Measure("share", "share of the possible gain", True, "of the possible gain"),
        Measure("gain", "gain over the default", True, "gained over the default"),
        Measure("distance", "distance to the optimum", False, "above the optimum"),
        Measure(
            "saved_grid",
            "time saved against the whole grid",
            True,
            "of time saved against the whole grid",
        ),
        Measure(
            "saved",
            "time saved against each configuration once",
            True,
            "of time saved against each configuration once",
        ),
        Measure(
            "tied",
            "searches tied with the optimum within the repeats' noise",
            True,
            "of searches ended at what the repeats cannot tell from the optimum",
        ),
    )
}
"""What the figures can show, by the name of its column."""

_RULE_COLOURS = (
    palette.BLACK,
    palette.BLUE,
    palette.VERMILLION,
    palette.GREEN,
    palette.PURPLE,
    palette.ORANGE,
    palette.SKY_BLUE,
)
_FILLED = 5  # markers of the palette that have an inside

_ORDERS: Mapping[str, tuple[str, ...]] = {
    "heuristic": tuple(HEURISTICS_COMPARED),
    "resampling": tuple(RESAMPLINGS_COMPARED),
    "stopping": tuple(STOPPINGS_COMPARED),
    "pruning": tuple(PRUNINGS_COMPARED),
}


def measure_of(name: str) -> Measure:
    """Return a measure by the name of its column."""
    if name not in MEASURES:
        raise ParameterError(
            f"the measure must be one of {', '.join(MEASURES)}; got {name!r}"
            f"{did_you_mean(name, MEASURES)}",
            key="measure",
        )
    return MEASURES[name]


def picked(table: pd.DataFrame, **where: str) -> pd.DataFrame:
    """Return the rows of a table with these values by column; empty where there are none."""
    kept = np.ones(len(table), bool)
    for name, value in where.items():
        if name not in table:
            raise ParameterError(
                f"rows are selected by columns of the table; got {name!r}; known: "
                f"{', '.join(map(str, table.columns))}",
                key=name,
            )
        kept &= table[name].to_numpy() == value
    # The rows are taken once: of a table of forty columns that is most of the work.
    return table.iloc[np.flatnonzero(kept)]


def usual_noise(table: pd.DataFrame, recording: str) -> str:
    """Return the noise of most searches of a recording in ``methods``."""
    counts = picked(table, recording=recording)["noise"].value_counts(sort=False)
    if not len(counts):
        raise ParameterError(
            f"the comparison must hold searches of the recording; got {recording!r}, it has "
            f"{', '.join(values_of(table, 'recording'))}",
            key="recording",
        )
    return str(counts.idxmax())


def values_of(table: pd.DataFrame, name: str) -> list[str]:
    """Return the different values of a column, rules in the comparison's order, others as found."""
    order = _ORDERS.get(name, ())
    found = table[name].unique().tolist()
    return sorted(found, key=lambda value: order.index(value) if value in order else len(order))


def rule_styles(rules: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the rules of a figure, seven at most, each with its colour and marker."""
    if not 0 < len(rules) <= len(_RULE_COLOURS):
        raise ParameterError(
            f"the rows must hold a search, and {len(_RULE_COLOURS)} rules at most; got "
            f"{len(rules)} rules; pick other rows",
            key="rows",
        )
    return [
        (rule, colour, palette.MARKERS[place % _FILLED])
        for place, (rule, colour) in enumerate(zip(rules, _RULE_COLOURS, strict=False))
    ]


def name_places(axis: Any, names: Sequence[str]) -> None:
    """Write names at the places 0, 1, 2, … of an axis with a ``FixedTicker``, if they changed."""
    labels = dict(enumerate(names))
    if axis.major_label_overrides != labels or not axis.ticker.ticks:
        # A new ticker would make Bokeh look through the whole document again, 50 ms each.
        axis.ticker.ticks = list(labels)
        axis.major_label_overrides = labels


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries by column."""
    names = [str(name) for name in table]
    # Six times as fast as pandas, which visits each column of each row.
    return [dict(zip(names, row, strict=True)) for row in table.to_numpy(object).tolist()]


def percent_text(value: float) -> str:
    """Return a percentage with one decimal below 100, without the sign; a dash for nan."""
    if not math.isfinite(value):
        return "–"
    digits = 1 if abs(value) < 99.95 else 0
    text = f"{value:.{digits}f}"
    return ("0.0" if text == "-0.0" else text).replace("-", "−")


def interval_text(row: Mapping[str, Any], name: str) -> str:
    """Return a value of a row with its interval, e.g. ``95.9 % (94.5 to 96.9)``."""
    low, high = row.get(f"{name}_low", math.nan), row.get(f"{name}_high", math.nan)
    text = f"{percent_text(float(row[name]))} %"
    if not (math.isfinite(low) and math.isfinite(high)):
        return text
    return f"{text} ({percent_text(float(low))} to {percent_text(float(high))})"


def listed(names: Iterable[str], word: str = "and") -> str:
    """Return at least one name as a list in a sentence: ``a, b and c``."""
    *head, last = names
    return f"{', '.join(head)} {word} {last}" if head else last


def resampling_text(name: str) -> str:
    """Return a resampling rule's label as a phrase in a sentence."""
    return "no resampling" if name == "none" else f"{name} resampling"
