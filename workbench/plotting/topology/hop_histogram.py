"""Distances between hosts: one line a topology, the share of all pairs at each distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import FixedTicker
from bokeh.plotting import figure
from numpy.typing import ArrayLike

from workbench.plotting.axes import legend_above, live_figure
from workbench.plotting.topology.style import TopologyLines, topology_lines


class HopHistogram(TopologyLines):
    """The distances between hosts in several topologies."""

    def show(self, histograms: Mapping[str, ArrayLike]) -> None:
        """Draw other topologies, from histograms as in `plot_hops`."""
        shares = {name: _shares(one) for name, one in histograms.items()}
        longest = max((len(one) for one in shares.values()), default=2) - 1
        highest = max((float(one.max(initial=0)) for one in shares.values()), default=1.0)
        self.draw(shares, lambda name: hop_columns(name, shares[name]) if name else _EMPTY)
        self.figure.x_range.update(start=0.5, end=max(longest, 2) + 0.5)
        self.figure.y_range.update(start=0.0, end=108 * highest or 100.0)
        step = -(-max(longest, 2) // 12)
        # The same ticker: a new model makes the document look through all it has.
        self.figure.xaxis.ticker.ticks = list(range(step, longest + 1, step))


def plot_hops(histograms: Mapping[str, ArrayLike], *, height: int = 300) -> figure:
    """Return the percent of host pairs by distance, from counts int[k + 1] with 0 to k routers."""
    return hop_histogram(histograms, height=height).figure


def hop_histogram(histograms: Mapping[str, ArrayLike], *, height: int = 300) -> HopHistogram:
    """Return the live form of `plot_hops`, with room for four topologies."""
    fig = live_figure(
        title="Distances between hosts",
        y_label="pairs of hosts (%)",
        height=height,
        file_name="hops",
    )
    tips = [("", "@name"), ("", "@hops routers: @percent{0.0} % of the pairs")]
    lines = topology_lines(fig, _EMPTY, "hops", "percent", width=1, size=8, tips=tips)
    fig.xaxis.axis_label = "routers that a message passes"
    fig.xaxis.ticker = FixedTicker(ticks=[])
    legend_above(fig)
    drawn = HopHistogram(fig, lines)
    drawn.show(histograms)
    return drawn


def hop_columns(name: str, shares: Sequence[float] | Any) -> dict[str, list[Any]]:
    """Return the columns of one topology's line from the shares at the distances 0, 1, 2, …."""
    hops = np.flatnonzero(np.asarray(shares) > 0)
    # A distance that does not occur between two that do is a zero on the line, not a gap.
    everything = list(range(int(hops.min()), int(hops.max()) + 1)) if len(hops) else []
    return {
        "hops": everything,
        "percent": [100 * float(shares[h]) for h in everything],
        "name": [name] * len(everything),
    }


_EMPTY: dict[str, list[Any]] = {"hops": [], "percent": [], "name": []}


def _shares(histogram: ArrayLike) -> Any:
    counts = np.asarray(histogram, float)
    return counts / max(float(counts.sum()), 1.0)
