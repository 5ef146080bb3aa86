"""The chains of a posterior: traces, and ranks of each chain's draws among all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import new_figure, plain_log_ticks
from workbench.plotting.grid import Series, heading, key, line_series, sentence, stacked
from workbench.plotting.marks import Marks, hover, rule
from workbench.plotting.rows import beside
from workbench.plotting.uq.posterior import verdict_reason, verdict_word
from workbench.plotting.uq.quantities import Quantity, quantities

if TYPE_CHECKING:
    from workbench.uq.posterior import Posterior

_BINS = 20  # of 1000 draws 50 in each: chance alone spreads a bar by 14 %, with 40 bins by 20 %
_MOST_POINTS = 400
"""Draws of a chain that a trace shows."""
_LABEL_PX = 20  # label of the horizontal axis (12 px) and its gap, which the last row alone has
_AXIS_PX = 66  # the same room for the labels of all vertical axes
_EXPECTED = Series("expected of equal chains", palette.BLACK, "dotted", 1.5)


def plot_chains(posterior: Posterior, *, height: int = 150) -> LayoutDOM:
    """Return for each quantity the trace of its chains and a histogram of each chain's ranks.

    Ranks are among the draws of all chains. Where the chains agree, each has as many draws in each
    bin; a slope is another centre, a hill or a valley another spread (Vehtari et al. 2021).

    Args:
        posterior: of ``workbench.uq.calibrate``.
        height: of the last row of figures, whose axes are named for all, px.

    Raises:
        ParameterError: the posterior has no draws.
    """
    found = quantities(posterior)
    rows = posterior.summary().to_dict("records") or [{}] * len(found)
    names = [f"chain {number + 1}" for number in range(posterior.chains)]
    series = list(line_series(names).values())
    stride = -(-posterior.draws // _MOST_POINTS)
    figures = [
        beside(
            _trace(quantity, row, series, stride, posterior, height),
            _ranks(quantity, series, height),
            shares=(3, 2),
        )
        for quantity, row in zip(found, rows, strict=True)
    ]
    every = f", every {stride}th in a trace" if stride > 1 else ""
    for row in figures[:-1]:
        for fig in row.select({"type": figure}):
            fig.xaxis.axis_label = None
            fig.height -= _LABEL_PX
    return stacked(
        heading(
            f"Chains of the posterior, {posterior.draws} draws each{every}: "
            f"{verdict_word(posterior)}",
            verdict_reason(posterior),
        ),
        key([*series, _EXPECTED]),
        *figures,
        sentence(
            "Chains agree where their traces cover the same band and their ranks are level; a "
            "chain's draws are not independent, so that its ranks vary more than by chance."
        ),
    )


def _trace(
    quantity: Quantity,
    row: Mapping[Any, Any],  # of the summary, empty where there are too few draws
    series: Sequence[Series],
    stride: int,
    posterior: Posterior,
    height: int,
) -> figure:
    judged = (
        f": R-hat {row['R-hat']:.3f}, effective draws {row['bulk ESS']:.0f} in the bulk, "
        f"{row['tail ESS']:.0f} in the tails"
        if row
        else ""
    )
    fig = new_figure(
        title=f"{quantity.name}{judged}",
        y_label=f"value ({quantity.unit or 'ratio'})",  # the title has the name
        height=height,
        x_type="linear",
        y_type=quantity.axis_type,
        file_name=f"trace {quantity.name}",
        x_range=(0, posterior.draws),
        y_range=quantity.ends,
    )
    fig.xaxis.axis_label = "draw of the chain"
    fig.min_border_left = _AXIS_PX
    if quantity.logarithmic:
        plain_log_ticks(fig.yaxis, count=4)
    else:
        fig.yaxis.ticker.desired_num_ticks = 4
    draws = np.arange(0, posterior.draws, stride)
    unit = f" {quantity.unit}" if quantity.unit else ""
    lines = []
    for style, chain in zip(series, quantity.drawn, strict=True):
        table = {"chain": [style.name] * len(draws), "draw": draws + 1, "value": chain[::stride]}
        marks = Marks(fig, table, x="draw")
        lines.append(marks.line("value", style.colour, width=0.9, alpha=0.75))
    hover(fig, lines, [("@chain, draw", "@draw"), (quantity.name, f"@value{{0.0000}}{unit}")])
    return fig


def _ranks(quantity: Quantity, series: Sequence[Series], height: int) -> figure:
    from scipy.stats import rankdata

    chains, draws = quantity.drawn.shape
    bins = max(min(_BINS, draws // 4), 1)
    ranks = rankdata(quantity.drawn, axis=None).reshape(chains, draws)
    edges = np.linspace(0, 100, bins + 1)
    counts = np.stack([np.histogram(100 * row / ranks.size, edges)[0] for row in ranks])
    fig = new_figure(
        title="Ranks of each chain's draws",
        y_label="draws per bin",
        height=height,
        x_type="linear",
        y_type="linear",
        file_name=f"ranks {quantity.name}",
        x_range=(0, 100),
        y_range=(0, max(1.1 * float(counts.max()), 1.5 * draws / bins)),
    )
    fig.xaxis.axis_label = "rank of the draw (%)"
    fig.yaxis.ticker.desired_num_ticks = 4
    fig.min_border_left = _AXIS_PX
    steps = []
    for style, count in zip(series, counts, strict=True):
        ends = np.append(count, count[-1])
        table = {"chain": [style.name] * len(edges), "rank": edges, "count": ends}
        marks, wide = Marks(fig, table, x="rank"), 0.6 * style.width
        steps.append(marks.steps("count", style.colour, dash=style.dash, width=wide))
    hover(fig, steps, [("@chain, from rank", "@rank{0} %"), ("draws", "@count")])
    rule(fig, y=draws / bins, **_EXPECTED.stroke)
    return fig
