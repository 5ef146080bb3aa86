"""Counters over several data sets: relevance to deviations, importance to forecasts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.grid import heading, stacked
from workbench.plotting.variability.tile_table import tile_table

if TYPE_CHECKING:
    from workbench.variability import Deviation, Forecast


def plot_relevance(found: Mapping[str, Deviation], way: str = "by-run") -> LayoutDOM:
    """Return the relevance of each counter in several data sets (Bhatele et al. 2020, figure 9).

    Args:
        found: of ``workbench.variability.deviation``, by the name of the data set.
        way: of the folds.

    Raises:
        ParameterError: there is no data set, or one has no such way.
    """
    _some(found)
    for name, one in found.items():
        if way not in one.ways:
            raise ParameterError(
                f"way must be one of {', '.join(one.ways)} for {name}; got {way!r}", key="way"
            )
    counters = list(dict.fromkeys(name for one in found.values() for name in one.counters))
    values = np.full((len(counters), len(found)), np.nan)
    tips = np.full(values.shape, "", object)
    for column, one in enumerate(found.values()):
        at = one.ways.index(way)
        for place, counter in enumerate(one.counters):
            low, high = one.relevance_interval[at, place]
            values[counters.index(counter), column] = one.relevance[at, place]
            tips[counters.index(counter), column] = f"{low:.2f} to {high:.2f}"
    return stacked(
        heading(
            "Relevance of counters to the deviation of steps from the mean",
            f"share of the folds {way} in which a counter is needed; {_captions(found)}",
        ),
        tile_table(
            values,
            counters,
            list(found),
            title="Relevance",
            file_name="relevance",
            colours=palette.AMOUNTS,
            number="{:.1f}",
            ends=(0.0, 1.0),
            tips={"95 % interval": tips.ravel().tolist()},
        ),
    )


def plot_importances(found: Mapping[str, Forecast]) -> LayoutDOM:
    """Return how much forecasts of data sets rely on each counter (Bhatele et al. 2020, figure 11).

    Where there is the network alone, it stands beside the model whose importances were asked for.

    Args:
        found: of ``workbench.variability.forecast``, by the name of the data set.

    Raises:
        ParameterError: there is no data set.
    """
    _some(found)
    counters = list(dict.fromkeys(name for one in found.values() for name in one.important))
    columns: dict[str, dict[str, float]] = {}
    for name, one in found.items():
        each = {one.importance_of: one.importance}
        if len(one.network_importance):
            each = {"network": one.network_importance, **each}
        for model, rises in each.items():
            columns[f"{name} {model}"] = dict(zip(one.important, rises.tolist(), strict=True))
    values = np.array(
        [[rises.get(counter, np.nan) for rises in columns.values()] for counter in counters]
    )
    return stacked(
        heading(
            "What forecasts rely on",
            "points by which the MAPE rises with another run's readings; attention is the network "
            f"mixed with ridge; {_captions(found)}",
        ),
        tile_table(
            values,
            counters,
            list(columns),
            title="Importance (points of MAPE)",
            file_name="importances",
            colours=palette.AMOUNTS,
            number="{:.2f}",
        ),
    )


def _some(found: Mapping[str, object]) -> None:
    if not found:
        raise ParameterError("there must be at least one data set", key="found")


def _captions(found: Mapping[str, Deviation] | Mapping[str, Forecast]) -> str:
    return "; ".join(f"{name}: {one.provenance.caption()}" for name, one in found.items())
