"""Gains of one search over the default as distributions: a point a space, with their median."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import FixedTicker
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import live_figure, set_range
from workbench.plotting.marks import Marks
from workbench.plotting.rows import FRAME_PX
from workbench.plotting.searches.style import name_places, percent_text

if TYPE_CHECKING:
    import pandas as pd

_ROW_PX = 34  # points of 9 px that cover one another, and a median of 22
_HALF = 0.32  # of a row, the mark of the median


def plot_search_gains(rows: pd.DataFrame) -> figure:
    """Return the gains of one method's ``cells`` by recording and collective, and of all."""
    groups = gains_by_collective(rows)
    fig = live_figure(height=FRAME_PX + _ROW_PX * len(groups), file_name="gains")
    fig.yaxis.ticker = FixedTicker()
    gains = [gain for one in groups.values() for gain in one["gain"]]
    spaces = {
        "row": [row for row, one in enumerate(groups.values()) for _ in range(len(one))],
        "gain": gains,
        "space": [space for one in groups.values() for space in one["space"]],
    }
    tips = [("", "@space"), ("gain", "@gain{0.0} %")]
    Marks(fig, spaces).points("gain", palette.BLUE, edge=None, alpha=0.45, size=9, tips=tips)
    medians = {"gain": [float(one["gain"].median()) for one in groups.values()]}
    Marks(fig, medians).ticks("gain", palette.BLACK, half=_HALF, width=3)
    low, high = min(0.0, *gains), max(0.0, *gains)
    room = 0.04 * (high - low or 1.0)
    set_range(fig.x_range, (low - room, high + room))
    fig.y_range.update(start=len(groups) - 0.5, end=-0.5)
    name_places(fig.yaxis[0], list(groups))
    fig.xaxis.axis_label = "gain over the default (%); a point a message size, the line the median"
    fig.title.text = "Gain over the default"
    return fig


def describe_search_gains(rows: pd.DataFrame) -> str:
    """Return mean and median of the gains of each recording as a sentence."""
    told = [
        f"{name}: {percent_text(one['gain'].mean())} % in the mean, "
        f"{percent_text(one['gain'].median())} % in the median of {len(one)} spaces"
        for name, one in rows.groupby("recording", sort=False)
    ]
    return f"Gain over the default on {'; '.join(told)}."


def gains_by_collective(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each recording and of each of its collectives, by name."""
    groups: dict[str, pd.DataFrame] = {}
    for recording, own in rows.groupby("recording", sort=False):
        groups[f"{recording}: all"] = own
        collective = own["space"].str.partition("/")[0]
        for name, some in own.groupby(collective, sort=False):
            groups[f"{recording}: {name}"] = some
    return groups
