"""Whether intervals cover the truth: coverage and ranks of simulation-based calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import BoxAnnotation, ColumnDataSource, LayoutDOM, Span
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.grid import Series, heading, hover, key, sentence, stacked
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
    fig.add_layout(
        Span(
            location=100 * check.level,
            dimension="height",
            line_color=_STATED.colour,
            line_dash=_STATED.dash,
            line_width=_STATED.width,
            level="underlay",
        )
    )
    for style, marker, chosen in (
        (_WITHIN, "circle", ~check.outside),
        (_BEYOND, "diamond", check.outside),
    ):
        at = np.flatnonzero(chosen)
        points = fig.scatter(
            x="coverage",
            y="row",
            source=ColumnDataSource(
                data={
                    "row": at,
                    "coverage": percent[at],
                    "quantity": [labels[row] for row in at],
                    "p": check.p_value[at],
                }
            ),
            marker=marker,
            size=8 if marker == "circle" else 11,
            fill_color=palette.WHITE if marker == "circle" else style.colour,
            line_color=style.colour,
            line_width=2,
        )
        tips = [("", "@quantity"), ("covered", "@coverage{0.0} %"), ("p of the ranks", "@p{0.000}")]
        hover(fig, [points], tips)
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
    bars = fig.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        source=ColumnDataSource(
            data={
                "left": np.tile(edges[:-1], len(labels)),
                "right": np.tile(edges[1:], len(labels)),
                "bottom": floor,
                "top": floor - scale * counts.ravel(),
                "count": counts.ravel(),
                "colour": np.repeat(colours, bins),
                "quantity": np.repeat(labels, bins),
            }
        ),
        fill_color="colour",
        fill_alpha=0.75,
        line_color=palette.WHITE,
        line_width=0.5,
    )
    level = rows + 0.5 * _HIGH - scale * expected
    fig.segment(
        x0=0,
        x1=100,
        y0=level,
        y1=level,
        line_color=_STATED.colour,
        line_dash=_STATED.dash,
        line_width=1,
    )
    tips = [("", "@quantity"), ("rank", "@left{0} to @right{0} %"), ("data sets", "@count")]
    hover(fig, [bars], tips)
    return fig
