"""Which counters say by how much steps deviate from the mean, and how well."""

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
    from workbench.variability import Deviation

_ROW_PX = 24  # three marks of 6 to 9 px, as far apart as in _SHIFTS
_MOST_COUNTERS = 30  # chosen: 720 px of rows, which fit in a window 900 px high
_WAYS = {"by-run": palette.BLUE, "by-step": palette.ORANGE, "paper": palette.FAINT}
# Of a row: the first has larger marks with an interval; the others, of 6 px, are 6 px apart.
_SHIFTS = {"by-run": -0.22, "by-step": 0.06, "paper": 0.3}
_MARKS = {"by-run": "circle", "by-step": "square", "paper": "triangle"}


def plot_deviation(found: Deviation) -> LayoutDOM:
    """Return the relevance of each counter with its interval, and the error of each model.

    Args:
        found: of ``workbench.variability.deviation``.
    """
    rates = " per second" if found.per_second else ""
    return stacked(
        heading(
            "Which counters explain how a step deviates from the mean",
            f"{len(np.unique(found.run))} runs, {len(found.run)} steps, {len(found.counters)} "
            f"counters{rates} of {' + '.join(found.features)}; {found.folds} folds by run, seed "
            f"{found.seed}; {found.provenance.caption()}",
        ),
        beside(_relevance_rows(found), _error_rows(found), shares=[3, 2]),
        sentence(describe_deviation(found)),
    )


def describe_deviation(found: Deviation) -> str:
    """Return sentences on the error, on what is most relevant, and on what folds by step hide.

    Args:
        found: of ``workbench.variability.deviation``.
    """
    trees, mean = (found.models.index(name) for name in ("trees", "mean-trajectory"))
    low, high = found.mape_interval[0, trees]
    rows = found.to_frame()
    needed = rows[rows["relevance"] >= 0.5]["counter"].tolist()
    text = (
        f"From the counters of a step its time follows with a MAPE of {found.mape[0, trees]:.1f} % "
        f"({low:.1f} to {high:.1f} %), where the mean trajectory has "
        f"{found.mape[0, mean]:.1f} %."
    )
    if needed:
        named = ", ".join(needed[:4])
        more = f" and {len(needed) - 4} more" if len(needed) > 4 else ""
        text += f" In at least half of the folds {named}{more} {_are(needed)} needed."
    else:
        text += " No counter is needed in half of the folds."
    together = max(found.groups, key=len)
    if len(together) > 1:
        text += (
            f" {together[0]} goes up and down with {len(together) - 1} other "
            f"{'counter' if len(together) == 2 else 'counters'}: which of them is needed is chance."
        )
    if "by-step" in found.ways:
        other = found.mape[found.ways.index("by-step"), trees]
        if other < 0.95 * found.mape[0, trees]:
            text += f" Folds by step, which see other steps of the same run, say {other:.1f} %."
    return text


def _relevance_rows(found: Deviation) -> figure:
    rows = found.to_frame()["counter"].tolist()[:_MOST_COUNTERS]
    at = [found.counters.index(name) for name in rows]
    fig = row_figure(
        rows,
        title="Relevance of counters",
        x_label="share of folds in which the counter is needed",
        file_name="deviation-relevance",
        row_px=_ROW_PX,
    )
    fig.x_range = Range1d(-0.02, 1.02)
    for way, name in enumerate(found.ways):
        table = {
            "counter": rows,
            "share": found.relevance[way, at],
            "low": found.relevance_interval[way, at, 0],
            "high": found.relevance_interval[way, at, 1],
            "place": found.place[way, at],
        }
        tips = [
            ("", "@counter"),
            (f"relevance {name}", "@share{0.00} (@low{0.00} to @high{0.00})"),
            ("mean place, 1 was left last", "@place{0.0}"),
        ]
        marks, size = Marks(fig, table, shift=_SHIFTS[name]), 6
        if way == 0:
            marks.spans("low", "high", _WAYS[name], width=2, alpha=0.6)
            size = 9
        marks.points("share", _WAYS[name], marker=_MARKS[name], size=size, legend=name, tips=tips)
    legend_above(fig)
    return fig


def _error_rows(found: Deviation) -> figure:
    labels = [f"{model}, {way}" for way in found.ways for model in found.models]
    ends = found.mape_interval.reshape(-1, 2)
    fig = row_figure(
        labels,
        title="Error of the time of a step",
        x_label="mean absolute percentage error (%)",
        file_name="deviation-errors",
        x_range=Range1d(0.0, 1.04 * float(ends.max()) or 1.0),
        row_px=_ROW_PX,
    )
    table = {
        "label": labels,
        "mape": found.mape.ravel(),
        "low": ends[:, 0],
        "high": ends[:, 1],
        "r2": 100 * found.r2.ravel(),
        "fill": [
            palette.WAITING if model == "mean-trajectory" else _WAYS[way]
            for way in found.ways
            for model in found.models
        ],
    }
    tips = [
        ("", "@label"),
        ("MAPE", "@mape{0.00} % (@low{0.00} to @high{0.00} %)"),
        ("variance of deviations explained", "@r2{0} %"),
    ]
    marks = Marks(fig, table)
    marks.bars("mape", "fill", edge=palette.CAPTION, tips=tips)
    marks.whiskers("low", "high")
    return fig


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
