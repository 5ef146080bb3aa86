"""Whether intervals cover the truth: coverage and ranks of simulation-based calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import BoxAnnotation, LayoutDOM
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks, PointLook, rule
from workbench.plotting.rows import BAR_PX, beside, row_figure

if TYPE_CHECKING:
    from workbench.uq.simulation_based import CalibrationCheck

_WITHIN = Series("within chance", palette.BLUE, "")
_BEYOND = Series("beyond chance", palette.VERMILLION, "")
_BAND = Series("explained by chance", palette.WAITING, "solid", BAR_PX)
_STATED = Series("stated level, and ranks of a right calibration", palette.BLACK, "dashed", 1.5)
_ROW_PX = 28  # a histogram of ranks in each row of the right figure is 24 px high
_HIGH = 0.86  # of a row: the tallest bar of a histogram


def plot_calibration_check(check: CalibrationCheck) -> LayoutDOM:
    """Draw the coverage of the intervals of each quantity, and the histogram of its ranks.

    The band holds all coverages together with a probability of 95 %, if the calibration is right.
    Ranks are then level too; a hill means intervals that are too wide, a valley too narrow ones, a
    slope a bias.

    Args:
        check: of ``workbench.uq.simulation_based_calibration``.
    """
    labels = [
        f"{name} ({kind})" if kind in ("next replica", "further test") else name
        for name, kind in zip(check.quantities, check.kinds, strict=True)
    ]
    left = _coverage(check, labels)
    right = _ranks(check, labels, left)
    judged = "calibrated" if check.calibrated else "not calibrated"
    return stacked(
        heading(
            f"Coverage of {100 * check.level:g} % intervals, {check.noise} data, "
            f"{check.fitted} fitted: {judged}",
            f"{check.datasets} data sets made by the surrogate from draws of the prior",
        ),
        key([_WITHIN, _BEYOND, _BAND, _STATED]),
        beside(left, right, shares=(3, 2)),
        sentence(f"{check.verdict[0].upper()}{check.verdict[1:]}."),
    )


def _coverage(check: CalibrationCheck, labels: list[str]) -> figure:
    percent = 100 * check.coverage
    low, high = (100 * end for end in check.band)
    least = min(float(percent.min()), low)
    fig = row_figure(
        labels,
        title="Truths inside the interval",
        x_label="coverage (%)",
        file_name="coverage",
        x_range=(max(least - 0.08 * (104 - least), -4), 104),
        row_px=_ROW_PX,
    )
    band = BoxAnnotation(
        left=low,
        right=high,
        fill_color=_BAND.colour,
        fill_alpha=0.5,
        line_color=None,
        level="underlay",
    )
    fig.add_layout(band)
    rule(fig, x=100 * check.level, **_STATED.stroke).level = "underlay"
    for style, fill, marker, size, chosen in (
        (_WITHIN, palette.WHITE, "circle", 8, ~check.outside),
        (_BEYOND, _BEYOND.colour, "diamond", 11, check.outside),
    ):
        at = np.flatnonzero(chosen)
        table = {
            "row": at,
            "coverage": percent[at],
            "quantity": [labels[row] for row in at],
            "p": check.p_value[at],
        }
        tips = [("", "@quantity"), ("covered", "@coverage{0.0} %"), ("p of the ranks", "@p{0.000}")]
        look: PointLook = {"fill": fill, "marker": marker, "size": size, "width": 2, "tips": tips}
        Marks(fig, table).points("coverage", style.colour, **look)
    return fig


def _ranks(check: CalibrationCheck, labels: list[str], left: figure) -> figure:
    from workbench.uq.simulation_based import PLACES

    bins = check.bins
    edges = np.linspace(0, 100, bins + 1)
    counts = np.stack([np.histogram(100 * row / PLACES, edges)[0] for row in check.ranks.T])
    expected = check.datasets / bins
    scale = _HIGH / max(float(counts.max()), expected)
    rows = np.arange(len(labels))
    floor = np.repeat(rows + 0.5 * _HIGH, bins)
    fig = row_figure(
        labels,
        title=f"Data sets by rank of the truth, {expected:g} expected per bin",
        x_label="rank among the draws (%)",
        file_name="ranks",
        x_range=(0, 100),
        y_range=left.y_range,
        row_px=_ROW_PX,
    )
    colours = np.where(check.outside, _BEYOND.colour, _WITHIN.colour)
    table = {
        "left": np.tile(edges[:-1], len(labels)),
        "right": np.tile(edges[1:], len(labels)),
        "bottom": floor,
        "top": floor - scale * counts.ravel(),
        "count": counts.ravel(),
        "colour": np.repeat(colours, bins),
        "quantity": np.repeat(labels, bins),
    }
    tips = [("", "@quantity"), ("rank", "@left{0} to @right{0} %"), ("data sets", "@count")]
    ends = ("left", "right"), ("bottom", "top")
    white = palette.WHITE
    Marks(fig, table).boxes(*ends, "colour", alpha=0.75, edge=white, width=0.5, tips=tips)
    level = rows + 0.5 * _HIGH - scale * expected
    Marks(fig, {"row": level}).spans(0, 100, _STATED.colour, dash=_STATED.dash)
    return fig
