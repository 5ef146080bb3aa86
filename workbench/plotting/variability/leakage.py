"""By how much usual mistakes flatter a forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.plotting import palette
from workbench.plotting.axes import legend_above
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import row_figure

if TYPE_CHECKING:
    from workbench.variability import Leakage

_COLOURS = (palette.BLUE, palette.ORANGE, palette.GREEN)
_MARKS = ("circle", "square", "triangle")


def plot_leakage(found: Leakage) -> LayoutDOM:
    """Return by how many points of MAPE each mistake flatters each model, with intervals.

    Args:
        found: of ``workbench.variability.forecast_leakage``.
    """
    there = [at for at in range(len(found.leaks)) if np.isfinite(found.flattery[at]).any()]
    names = [found.leaks[at] for at in there]
    fig = row_figure(
        names,
        title="What each mistake hides",
        x_label="the MAPE looks smaller by (points)",
        file_name="forecast-leakage",
        row_px=44,  # marks of 9 px of two models lie 0.24 of it apart: 10.6 px
    )
    for row, model in enumerate(found.models):
        table = {
            "leak": names,
            "by": found.flattery[there, row],
            "low": found.flattery_interval[there, row, 0],
            "high": found.flattery_interval[there, row, 1],
            "honest": found.honest[there, row],
            "leaky": found.leaky[there, row],
        }
        tips = [
            ("", f"{model}, @leak"),
            ("MAPE without the mistake", "@honest{0.00} %"),
            ("with it", "@leaky{0.00} %"),
            ("flatters by", "@by{0.00} points (@low{0.00} to @high{0.00})"),
        ]
        marks = Marks(fig, table, shift=0.24 * (row - (len(found.models) - 1) / 2))
        marks.spans("low", "high", _COLOURS[row], width=2.5)
        marks.points("by", _COLOURS[row], marker=_MARKS[row], size=9, legend=model, tips=tips)
    rule(fig, x=0)
    legend_above(fig)
    own = "; models see the run's own step times" if found.own_times else ""
    return stacked(
        heading(
            "How much mistakes flatter a forecast",
            f"m = {found.m}, k = {found.k}; {found.runs} runs, {found.windows} windows{own}; "
            f"{found.folds} folds, seed {found.seed}; {found.provenance.caption()}",
        ),
        fig,
        sentence(describe_leakage(found)),
    )


def describe_leakage(found: Leakage) -> str:
    """Return a sentence on the mistake that flatters most, and on those that do not.

    Args:
        found: of ``workbench.variability.forecast_leakage``.
    """
    flattery = np.where(np.isfinite(found.flattery), found.flattery, -np.inf)
    leak, model = np.unravel_index(int(flattery.argmax()), flattery.shape)
    low, high = found.flattery_interval[leak, model]
    text = (
        f"{_capital(found.leaks[leak])} flatter most: the MAPE of {found.models[model]} looks like "
        f"{found.leaky[leak, model]:.1f} % and is {found.honest[leak, model]:.1f} % "
        f"({low:.1f} to {high:.1f} points more)."
    )
    if flattery[leak, model] <= 0:
        text = "No mistake makes a forecast look better here."
    else:
        harmless = [
            name
            for at, name in enumerate(found.leaks)
            if np.isfinite(found.flattery[at]).any()
            and not (found.flattery_interval[at, :, 0] > 0).any()
        ]
        if harmless:
            text += f" Not beyond chance here: {', '.join(harmless)}."
    return text


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
