"""How well the next steps of runs are forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM, Range1d
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.rows import beside, row_figure

if TYPE_CHECKING:
    from workbench.variability import Forecast

_ROW_PX = 26  # a bar of 16 px with its interval
_MOST_COUNTERS = 20  # chosen: 520 px of rows, below the errors in a window 900 px high
_LEARNED = ("attention", "network", "trees", "ridge")


def plot_forecast(found: Forecast) -> LayoutDOM:
    """Return the error of each model with its interval, and what the forecast relies on.

    Args:
        found: of ``workbench.variability.forecast``.
    """
    errors = _error_rows(found)
    drawn: LayoutDOM = errors
    if found.important:
        drawn = beside(errors, _importance_rows(found), shares=[1, 1])
    seen = ", ".join(found.features) or "no counters"
    own = " and the run's own step times" if found.own_times else ""
    return stacked(
        heading(
            f"The next {found.k} steps forecast from the last {found.m}",
            f"{len(np.unique(found.run))} runs, {len(found.run)} windows; features: {seen}{own}; "
            f"{found.folds} folds by run, seed {found.seed}; {found.provenance.caption()}",
        ),
        drawn,
        sentence(describe_forecast(found)),
    )


def describe_forecast(found: Forecast) -> str:
    """Return a sentence on the best model and how much better it is than those without learning.

    Args:
        found: of ``workbench.variability.forecast``.
    """
    at = found.models.index(found.best)
    low, high = found.mape_interval[at]
    text = (
        f"The least error is that of {found.best}: a MAPE of {found.mape[at]:.1f} % "
        f"({low:.1f} to {high:.1f} % in 95 % of draws of runs)"
    )
    others = []
    for column, name in enumerate(("mean-trajectory", "persistence")):
        if name != found.best:
            least, most = 100 * found.skill_interval[at, column]
            others.append(
                f"{100 * found.skill[at, column]:.0f} % ({least:.0f} to {most:.0f} %) of the error "
                f"of {name}"
            )
    return f"{text}. It saves {' and '.join(others)}."


def _error_rows(found: Forecast) -> figure:
    """Return a bar for each model, its whisker the interval."""
    fig = row_figure(
        found.models,
        title="Error of each model",
        x_label="mean absolute percentage error (%)",
        file_name="forecast-errors",
        x_range=Range1d(0.0, 1.04 * float(found.mape_interval.max()) or 1.0),
        row_px=_ROW_PX,
    )
    table = {
        "model": found.models,
        "mape": found.mape,
        "low": found.mape_interval[:, 0],
        "high": found.mape_interval[:, 1],
        "mae": found.mae_s,
        "fill": [palette.FITTED if name in _LEARNED else palette.WAITING for name in found.models],
    }
    tips = [
        ("", "@model"),
        ("MAPE", "@mape{0.00} % (@low{0.00} to @high{0.00} %)"),
        ("MAE", "@mae{0.000} s"),
    ]
    marks = Marks(fig, table)
    marks.bars("mape", "fill", edge=palette.CAPTION, tips=tips)
    marks.whiskers("low", "high")
    return fig


def _importance_rows(found: Forecast) -> figure:
    """Return a bar for each counter: how much worse the forecast is with another run's readings."""
    order = np.argsort(-found.importance, kind="stable")[:_MOST_COUNTERS]
    names = [found.important[at] for at in order]
    fig = row_figure(
        names,
        title=f"What {found.importance_of} relies on",
        x_label="MAPE rises with another run's readings by (points)",
        file_name="forecast-importance",
        row_px=_ROW_PX,
    )
    marks = Marks(fig, {"name": names, "rise": found.importance[order]})
    tips = [("", "@name"), ("MAPE rises by", "@rise{0.00} points")]
    marks.bars("rise", palette.SIMULATED, edge=palette.CAPTION, tips=tips)
    if len(found.network_importance) and found.importance_of != "network":
        alone = Marks(fig, {"name": names, "rise": found.network_importance[order]})
        alone.points(
            "rise", palette.ORANGE, marker="diamond", size=8, legend="the network alone", tips=tips
        )
        legend_above(fig)
    return fig
