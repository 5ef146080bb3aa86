"""Predicted times with their intervals, and where their width comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.arrays import FloatArray
from workbench.plotting import palette
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks
from workbench.plotting.rows import BAR_PX, beside, row_figure, signed_percent
from workbench.units import format_quantity

if TYPE_CHECKING:
    from workbench.uq.prediction import Prediction
    from workbench.uq.replicas import Replicas


SHADES = (palette.SKY_BLUE, palette.BLUE, palette.OLIVE)
"""Colours of intervals, from the widest to the narrowest."""

MEASURED = Series("measured replicas", palette.MEASURED, "")
MOST_REPLICAS = 60
"""Of a test, that are drawn."""

_PARTS = (
    Series("parameters", palette.BLUE, "solid", BAR_PX),
    Series("discrepancy", palette.ORANGE, "solid", BAR_PX),
    Series("noise", palette.GREEN, "solid", BAR_PX),
)
_WHOLE = Series("half of the whole interval", palette.BLACK, "solid", 2.0)
_ROW_PX = 30  # three parts of an interval below one another are bars of 7 px


def plot_prediction(prediction: Prediction, measured: Replicas | None = None) -> LayoutDOM:
    """Return the intervals of each test in percent of its median, and their three parts.

    The parts are half-widths of the widest interval with the other two left out; they do not add
    up to the whole.

    Args:
        prediction: of ``workbench.uq.predict``.
        measured: replicas of tests with the same labels, drawn as points.
    """
    order = np.argsort(prediction.levels)[::-1]
    widest = int(order[0])
    percent = 100 * prediction.levels[widest]
    labels = [
        f"{test}: {format_quantity(median, 'time')}"
        for test, median in zip(prediction.tests, prediction.median.tolist(), strict=True)
    ]
    left = row_figure(
        labels,
        title=(
            "Intervals of one more replica"
            if prediction.replicas == 1
            else f"Intervals of the median of {prediction.replicas} replicas"
        ),
        x_label="off the median (%)",
        file_name="prediction",
        row_px=_ROW_PX,
    )
    shown = draw_intervals(left, prediction, prediction.median)
    signed_percent(left)
    if measured is not None:
        draw_replicas(left, prediction.tests, measured, prediction.median)
        shown.append(MEASURED)
    right = row_figure(
        labels,
        title=f"Half-widths at {percent:g} %",
        x_label="half-width (% of the median)",
        file_name="prediction parts",
        y_range=left.y_range,
        row_px=_ROW_PX,
    )
    parts = _draw_parts(right, prediction, widest)
    return stacked(
        heading(
            f"Predicted times of {len(prediction.tests)} tests, {prediction.model} noise",
            f"{prediction.draws} draws of the posterior; the median is behind each test's name",
        ),
        key([*shown, *parts, _WHOLE]),
        beside(left, right, shares=(3, 2)),
        sentence(describe_prediction(prediction)),
    )


def describe_prediction(prediction: Prediction) -> str:
    """Return sentences on the widest interval, and on the part that is largest in most tests.

    Args:
        prediction: of ``workbench.uq.predict``.
    """
    level = int(np.argmax(prediction.levels))
    half = 50 * (prediction.high[level] - prediction.low[level]) / prediction.median
    worst, best = int(np.argmax(half)), int(np.argmin(half))
    parts = np.stack([part[level] for part in _parts(prediction)])
    counts = np.bincount(parts.argmax(axis=0), minlength=len(parts))
    first = int(np.argmax(counts))
    return (
        f"{100 * prediction.levels[level]:g} % intervals are from ± {plain_percent(half[best])} "
        f"({prediction.tests[best]}) to ± {plain_percent(half[worst])} "
        f"({prediction.tests[worst]}). The largest part is {_PARTS[first].name} in "
        f"{counts[first]} of {len(prediction.tests)} tests."
    )


def draw_intervals(
    fig: figure,
    prediction: Prediction,
    reference: FloatArray,  # [tests], s
) -> list[Series]:
    """Draw the intervals and medians relative to times of reference; return them for a key."""
    shown = []
    order = np.argsort(prediction.levels)[::-1].tolist()
    for at, level in enumerate(order):
        name = f"{100 * prediction.levels[level]:g} % interval"
        style = Series(name, SHADES[min(at, len(SHADES) - 1)], "solid", BAR_PX)
        low, high = prediction.low[level], prediction.high[level]
        table = {
            "left": 100 * (low / reference - 1),
            "right": 100 * (high / reference - 1),
            "test": prediction.tests,
            "low": [format_quantity(time, "time") for time in low.tolist()],
            "high": [format_quantity(time, "time") for time in high.tolist()],
        }
        tips = [("", "@test"), (name, "@low to @high (@left{+0.0} to @right{+0.0} %)")]
        thick = 0.62 if at == 0 else max(0.4 - 0.1 * at, 0.1)
        Marks(fig, table).bars("right", style.colour, start="left", thick=thick, tips=tips)
        shown.append(style)
    return shown


def draw_replicas(
    fig: figure,
    tests: tuple[str, ...],
    measured: Replicas,
    reference: FloatArray,  # [tests], s
) -> None:
    """Draw measured replicas as points, relative to times of reference, in the rows of tests."""
    found = dict(zip(measured.tests, measured.rows, strict=True))
    row, off, text = [], [], []
    for at, test in enumerate(tests):
        times = np.sort(found.get(test, np.empty(0)))
        kept = np.unique(np.linspace(0, len(times) - 1, min(len(times), MOST_REPLICAS)).astype(int))
        for time in times[kept].tolist():
            row.append(at)
            off.append(100 * (time / float(reference[at]) - 1))
            text.append(format_quantity(time, "time"))
    replicas = Marks(fig, {"row": row, "off": off, "time": text, "test": [tests[at] for at in row]})
    tips = [("", "@test"), ("measured", "@time (@off{+0.0} %)")]
    replicas.points("off", MEASURED.colour, fill=palette.WHITE, size=4, width=0.8, tips=tips)


def _parts(prediction: Prediction) -> tuple[FloatArray, ...]:
    """Return the half-widths of `_PARTS`, float64[levels, tests], s."""
    return prediction.parameter, prediction.discrepancy, prediction.noise


def _draw_parts(fig: figure, prediction: Prediction, level: int) -> list[Series]:
    """Draw the parts that are not 0 as bars below one another in each row; return them."""
    drawn = [
        (style, 100 * part[level] / prediction.median)
        for style, part in zip(_PARTS, _parts(prediction), strict=True)
        if part.any()
    ]
    height = 0.72 / max(len(drawn), 1)
    for at, (style, percent) in enumerate(drawn):
        shift = (at - 0.5 * (len(drawn) - 1)) * height
        parts = Marks(fig, {"percent": percent, "test": prediction.tests}, shift=shift)
        tips = [("", "@test"), (style.name, "± @percent{0.00} %")]
        parts.bars("percent", style.colour, thick=0.92 * height, tips=tips)
    whole = 50 * (prediction.high[level] - prediction.low[level]) / prediction.median
    tips = [("", "@test"), ("whole interval", "± @percent{0.00} %")]
    marks = Marks(fig, {"percent": whole, "test": prediction.tests})
    marks.ticks("percent", half=0.42, **_WHOLE.stroke, tips=tips)
    most = max([float(whole.max()), *(float(percent.max()) for _, percent in drawn)])
    fig.x_range.update(start=0.0, end=1.08 * most)
    return [style for style, _ in drawn]
