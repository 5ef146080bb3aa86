"""Marginal densities of a posterior, with the priors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.arrays import FloatArray
from workbench.plotting import palette
from workbench.plotting.axes import new_figure, plain_log_ticks
from workbench.plotting.descriptions import plain_number
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.rows import BAR_PX, panels
from workbench.plotting.uq.quantities import Quantity, quantities

if TYPE_CHECKING:
    from workbench.uq.posterior import Posterior

_BINS = 48  # of three figures on 1400 px each bar has 8 px
_PRIOR_POINTS = 240  # of a line of 400 px: a corner every 2 px
# Widths of priors are off by 0.5 % (uniform), 1.3 % (normal) and 2.4 % (log-uniform over three
# decades), root mean square over 100 seeds; with 1000 draws by 1.2, 2.6 and 4.8 %. Sentences
# show widths as whole percents of these.
_PRIOR_DRAWS = 4000

_POSTERIOR = Series("posterior", palette.SKY_BLUE, "solid", BAR_PX)
_PRIOR = Series("prior", palette.BLACK, "solid", 1.3)
_MEDIAN = Series("median", palette.FITTED, "solid", 2.0)
_INTERVAL = Series("5 % and 95 %", palette.FITTED, "dashed", 1.6)


def plot_posterior(posterior: Posterior, *, height: int = 200) -> LayoutDOM:
    """Return the density of each parameter and hyper-parameter, with its prior and 5, 50, 95 %.

    An axis goes around the draws; it ends just beyond a bound of the prior that they come near.
    Where the greatest draw is more than 5 times the least, it is logarithmic, and densities are
    per decade.

    Args:
        posterior: of ``workbench.uq.calibrate``.
        height: of each figure, px.

    Raises:
        ParameterError: the posterior has no draws.
    """
    found = quantities(posterior)
    return stacked(
        heading(
            f"Posterior of the parameters, {posterior.noise.name} noise, "
            f"{len(posterior.replicas)} tests: {verdict_word(posterior)}",
            verdict_reason(posterior),
        ),
        key([_POSTERIOR, _PRIOR, _MEDIAN, _INTERVAL]),
        panels([_marginal(quantity, height) for quantity in found], columns=3),
        sentence(describe_posterior(posterior)),
    )


def describe_posterior(posterior: Posterior) -> str:
    """Return sentences on what the measurements say of each parameter, and on bounds.

    Args:
        posterior: of ``workbench.uq.calibrate``, with draws.

    Raises:
        ParameterError: the posterior has no draws.
    """
    found = quantities(posterior)[: len(posterior.names)]
    prior = _width(posterior.box.sample(_PRIOR_DRAWS))
    posterior_widths = _width(posterior.parameters.reshape(-1, len(found)))
    shares = 100 * posterior_widths / prior
    order = np.argsort(shares, kind="stable")
    parts = [f"{found[i].name} {shares[i]:.0f} %" for i in order]
    text = f"Width of the 90 % interval, of that of the prior: {', '.join(parts)}."
    bounds = posterior.at_bounds
    return f"{text} Draws crowd at a bound: {', '.join(bounds)}." if bounds else text


def verdict_word(posterior: Posterior) -> str:
    """Return ``converged`` or ``not converged``."""
    return "converged" if posterior.converged else "not converged"


def verdict_reason(posterior: Posterior) -> str:
    """Return why the chains have converged, or have not."""
    reason = posterior.shortcoming or posterior.verdict.partition(": ")[2]
    return f"{reason[0].upper()}{reason[1:]}"


def draw_histogram(fig: figure, quantity: Quantity, bins: int) -> float:
    """Draw the density of a quantity's draws as bars, and return the greatest density."""
    edges = quantity.grid(bins)
    density = quantity.density(edges)
    width = np.diff(np.log10(edges) if quantity.logarithmic else edges)
    shown = density > 0
    table = {
        "left": edges[:-1][shown],
        "right": edges[1:][shown],
        "density": density[shown],
        "percent": (100 * density * width)[shown],
    }
    unit = f" {quantity.unit}" if quantity.unit else ""
    tips = [
        (quantity.name, f"@left{{0.[0000]}} to @right{{0.[0000]}}{unit}"),
        ("draws", "@percent{0.0} %"),
    ]
    colour, ends = _POSTERIOR.colour, (("left", "right"), (0.0, "density"))
    # With an edge there are no gaps from rounding to pixels.
    Marks(fig, table).boxes(*ends, colour, edge=colour, width=0.5, tips=tips)
    return float(density.max())


def _marginal(quantity: Quantity, height: int) -> figure:
    low, middle, high = np.quantile(quantity.drawn, [0.05, 0.5, 0.95])
    unit = f" {quantity.unit}" if quantity.unit else ""
    per = "decade" if quantity.logarithmic else quantity.unit
    fig = new_figure(
        title=(
            f"{quantity.name}: {plain_number(middle)}{unit}, "
            f"{plain_number(low)} to {plain_number(high)}"
        ),
        y_label=f"density (1/{per})" if per else "density",
        height=height,
        x_type=quantity.axis_type,
        y_type="linear",
        file_name=f"posterior {quantity.name}",
        x_range=quantity.ends,
    )
    fig.xaxis.axis_label = quantity.label
    if quantity.logarithmic:
        plain_log_ticks(fig.xaxis, count=4)
    top = draw_histogram(fig, quantity, _BINS)
    values = quantity.grid(_PRIOR_POINTS)
    prior = quantity.prior_density(values)
    top = 1.08 * max(top, float(prior.max()))
    fig.y_range.update(start=0.0, end=top)
    fig.ygrid.grid_line_color = None
    fig.yaxis.ticker.desired_num_ticks = 4
    Marks(fig, {"value": values, "prior": prior}, x="value").line("prior", **_PRIOR.stroke)
    for series, at in ((_INTERVAL, [low, high]), (_MEDIAN, [middle])):
        Marks(fig, {"at": at}, x="at").spans(0.0, top, **series.stroke)
    return fig


def _width(values: FloatArray) -> FloatArray:
    """Return the width of the central 90 % of each column."""
    low, high = np.quantile(values, [0.05, 0.95], axis=0)
    return np.asarray(high - low)
