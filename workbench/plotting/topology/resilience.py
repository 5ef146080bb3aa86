"""Growth of distances as links fail at random, a line for each topology."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.plotting import figure

from workbench.plotting.axes import legend_above, live_figure
from workbench.plotting.descriptions import plain_number
from workbench.plotting.marks import Marks, hover
from workbench.plotting.topology.style import TopologyLines, line_styles

if TYPE_CHECKING:
    from workbench.topology.metrics.resilience import Resilience

_COLUMNS = ("failed", "longer", "low", "high", "name", "said")


class ResilienceCurves(TopologyLines):
    """The distances in several topologies with failed links."""

    def show(self, found: Mapping[str, Resilience | None]) -> None:
        """Draw other topologies; None for results that are not known yet."""
        self.draw(found, lambda name: resilience_columns(name, found.get(name)))
        drawn = {
            name: [value for line in self.lines for value in line.source.data[name]]
            for name in ("low", "high", "failed")
        }
        lowest, highest = min([0.0, *drawn["low"]]), max([0.0, *drawn["high"]])
        widest = max([0.0, *drawn["failed"]])
        self.figure.x_range.update(start=0.0, end=1.04 * widest or 50.0)
        # What is left of a network that falls apart may be small.
        self.figure.y_range.update(
            start=1.08 * lowest, end=1.08 * highest or (0.0 if lowest else 50.0)
        )


def plot_resilience(found: Mapping[str, Resilience], *, height: int = 280) -> figure:
    """Return the growth of distances (%) over the share of failed links, ± a standard deviation."""
    return resilience_curves(found, height=height).figure


def resilience_curves(
    found: Mapping[str, Resilience | None], *, height: int = 280
) -> ResilienceCurves:
    """Return the live form of `plot_resilience`, for four topologies; None is not known yet."""
    fig = live_figure(
        title="Distances as links fail at random",
        y_label="longer by (%)",
        height=height,
        file_name="resilience",
    )
    lines, points = [], []
    for colour, dash, marker in line_styles():
        line = Marks(fig, resilience_columns(), x="failed")
        line.band("low", "high", colour, alpha=0.15)
        line.line("longer", colour, dash=dash, legend=marker)
        points.append(
            line.points("longer", colour, edge="white", marker=marker, size=7, legend=marker)
        )
        lines.append(line)
    hover(fig, points, [("", "@name"), ("", "@said")])
    fig.xaxis.axis_label = "links that failed (%)"
    legend_above(fig)
    drawn = ResilienceCurves(fig, tuple(lines))
    drawn.show(found)
    return drawn


def resilience_columns(name: str = "", found: Resilience | None = None) -> dict[str, list[Any]]:
    """Return the columns of one line, empty for None; the first share of failed links must be 0."""
    if found is None:
        return {one: [] for one in _COLUMNS}
    failed = (100 * found.shares).tolist()
    grown = 100 * (found.average / found.average[0] - 1)
    mean, spread = grown.mean(axis=1), grown.std(axis=1)
    together = 100 * np.mean(found.connected, axis=1)
    return {
        "failed": failed,
        "longer": mean.tolist(),
        "low": (mean - spread).tolist(),
        "high": (mean + spread).tolist(),
        "name": [name] * len(failed),
        "said": [
            f"{share:.0f} % failed: distances {plain_number(abs(more))} % "
            f"{'shorter' if more < 0 else 'longer'}, {plain_number(hosts)} % of the hosts together"
            for share, more, hosts in zip(failed, mean, together, strict=True)
        ],
    }
