"""Why a surrogate is not exact, and what was tried: its worst slice, and errors by remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import new_figure
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import BAR_PX, beside, row_figure
from workbench.plotting.uq.quantities import shown_scale

if TYPE_CHECKING:
    from workbench.uq.surrogate_choice import SurrogateChoice
    from workbench.uq.surrogate_slice import SurrogateSlice

_SIMULATED = Series("simulator", palette.MEASURED, "")
_SURROGATE = Series("surrogate", palette.FITTED, "solid", 2.0)
_KINK = Series("kink or jump of the simulator", palette.PURPLE, "dotted", 2.0)
_ERROR = Series("largest error of all tests", palette.BLUE, "solid", BAR_PX)
_TARGET = Series("target", palette.VERMILLION, "dashed", 1.6)


def plot_surrogate_slice(found: SurrogateSlice) -> LayoutDOM:
    """Return the simulator's points and the surrogate's line along a parameter, and its error.

    Args:
        found: of a surrogate's ``worst_slice``.
    """
    worst = 100 * float(np.abs(found.error).max())
    return stacked(
        heading(
            f"Where the surrogate is worst: {found.test}, up to {worst:.2g} % off",
            f"along {found.parameter}, the other parameters as at its worst point; simulated",
        ),
        key([_SIMULATED, _SURROGATE, *([] if found.shape == "smooth" else [_KINK])]),
        _slice(found),
        sentence(f"{found.reason[0].upper()}{found.reason[1:]}. Instead: {found.remedy}."),
    )


def plot_surrogate_choice(choice: SurrogateChoice) -> LayoutDOM:
    """Return the largest error after each remedy, and the worst slice where none was enough.

    Args:
        choice: of ``workbench.uq.choose_surrogate``.
    """
    labels = [
        f"{remedy}, {points} points"
        for remedy, points in zip(choice.remedies, choice.points.tolist(), strict=True)
    ]
    left = row_figure(
        labels,
        title="Largest error at points that no fit has used",
        x_label="error (%)",
        file_name="surrogate remedies",
        x_range=(0.0, 1.1 * 100 * max(float(choice.errors.max()), choice.target)),
        row_px=34,
    )
    rows = Marks(left, {"error": 100 * choice.errors, "remedy": labels})
    tips = [("", "@remedy"), ("largest error", "@error{0.00} %")]
    rows.bars("error", _ERROR.colour, thick=0.6, tips=tips)
    rule(left, x=100 * choice.target, **_TARGET.stroke)
    shown, figures = [_ERROR, _TARGET], [left]
    if choice.slice is not None:
        figures.append(_slice(choice.slice))
        shown += [_SIMULATED, _SURROGATE]
        shown += [] if choice.slice.shape == "smooth" else [_KINK]
    return stacked(
        heading(
            "How exact the surrogate is, and what was tried",
            f"{len(choice.tests)} tests, {choice.runs} runs of the simulator",
        ),
        key(shown),
        beside(*figures, shares=(2, 3)[: len(figures)]),
        sentence(f"{choice.verdict[0].upper()}{choice.verdict[1:]}."),
    )


def _slice(found: SurrogateSlice) -> figure:
    unit, scale = shown_scale(found.unit, float(np.median(np.abs(found.x))))
    time_unit, time_scale = shown_scale("s", float(np.median(found.simulated)))
    fig = new_figure(
        title=f"{found.test} along {found.parameter}",
        y_label=f"time ({time_unit})",
        height=280,
        x_type="linear",
        y_type="linear",
        file_name="worst slice",
    )
    fig.xaxis.axis_label = f"{found.parameter} ({unit})" if unit else found.parameter
    table = {
        "x": found.x / scale,
        "predicted": found.predicted / time_scale,
        "simulated": found.simulated / time_scale,
        "error": 100 * found.error,
    }
    if found.shape != "smooth":
        rule(fig, x=found.place / scale, **_KINK.stroke)
    tips = [
        ("simulator", f"@simulated{{0.[0000]}} {time_unit}"),
        ("surrogate", f"@predicted{{0.[0000]}} {time_unit} (@error{{+0.00}} %)"),
    ]
    marks = Marks(fig, table, x="x")
    marks.line("predicted", **_SURROGATE.stroke)
    marks.points("simulated", _SIMULATED.colour, fill=palette.WHITE, size=5, tips=tips)
    return fig
