"""What a posterior was carried on to: intervals of numbers, comparisons, curves and crossovers."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import BoxAnnotation, Div, LayoutDOM
from bokeh.plotting import figure

from workbench.arrays import FloatArray
from workbench.plotting import palette
from workbench.plotting.axes import log_range, message_size_axis, new_figure, plain_log_ticks
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import BAR_PX, beside, row_figure, signed_percent
from workbench.plotting.theme import NOTE
from workbench.plotting.uq.prediction import SHADES
from workbench.plotting.uq.quantities import shown_scale
from workbench.uq.pushed import LEVELS, middle_and_ends, value_text

if TYPE_CHECKING:
    from workbench.uq.pushed import (
        PosteriorOrigin,
        PushedComparison,
        PushedCrossover,
        PushedCurves,
        PushedForward,
    )


WIDEST_FIRST = sorted(LEVELS, reverse=True)
BANDS = [
    Series(f"{100 * level:g} % interval", shade, "solid", BAR_PX)
    for level, shade in zip(WIDEST_FIRST, SHADES, strict=False)
]
MEDIAN = Series("median of the draws", palette.BLACK, "solid", 1.6)
FITTED = Series("fitted model", palette.FITTED, "dashed", 2.0)

_QUANTITIES = {"s": "time", "B": "size"}
_ROW_PX = 34  # bars of 20 and 12 px, one over the other, and the median, 26 px
_HEIGHT_PX = 270  # of the first; two more, of 0.6 of it, fit below it in a window 900 px high
_SIZES = 240  # of a crossover's lines


def plot_pushed_forward(pushed: PushedForward) -> LayoutDOM:
    """Return the intervals of each quantity, with its median and the fitted model's value.

    Args:
        pushed: of ``workbench.uq.carry``, or of a posterior's ``push``.
    """
    fig, shown = _interval_rows(pushed, "Values for the models that the data allow")
    return stacked(
        question(pushed.origin, "What follows from a posterior", len(pushed.values)),
        key(shown),
        fig,
        sentence(describe_pushed_forward(pushed)),
        *source_lines(pushed.origin),
    )


def describe_pushed_forward(pushed: PushedForward) -> str:
    """Return a sentence on each quantity: its median and the ends of its 90 % interval.

    Args:
        pushed: of ``workbench.uq.carry``, or of a posterior's ``push``.
    """
    parts = []
    for name, column in zip(pushed.names, pushed.values.T, strict=True):
        middle, low, high = (
            value_text(value, pushed.unit) for value in middle_and_ends(column, LEVELS[-1])
        )
        parts.append(f"{name}: {middle} ({low} to {high})")
    return f"{'; '.join(parts)}. In brackets, the {100 * LEVELS[-1]:g} % interval."


def plot_comparison(compared: PushedComparison) -> LayoutDOM:
    """Return the times of alternatives, and how much slower each is than the likely fastest.

    The differences are draw by draw, so that they are surer than the times.

    Args:
        compared: of ``workbench.uq.carry``.
    """
    left, shown = _interval_rows(compared, "Run time")
    best = max(compared.probabilities.items(), key=lambda each: each[1])[0]
    slower = 100 * (compared.values / compared.of(best)[:, None] - 1.0)
    right = row_figure(
        [""] * len(compared.names),
        title=f"Slower than {best}, on the same draws",
        x_label="slower (%)",
        file_name="slower",
        y_range=left.y_range,
        row_px=_ROW_PX,
    )
    _intervals(
        right, compared.names, slower, [f"{one:+.2g} %" for one in np.median(slower, axis=0)]
    )
    rule(right, x=0, colour=palette.FAINT)
    signed_percent(right)
    return stacked(
        question(compared.origin, "Alternatives compared", len(compared.values)),
        key(shown),
        beside(left, right, shares=(3, 2)),
        sentence(f"{compared.verdict[0].upper()}{compared.verdict[1:]}. {_shares(compared)}"),
        *source_lines(compared.origin),
    )


def plot_pushed_curves(curves: PushedCurves) -> LayoutDOM:
    """Return each curve as bands of 50 and 90 %, with the median and the fitted model's.

    Args:
        curves: of ``workbench.uq.carry``.
    """
    x_unit, x_scale = shown_scale(curves.x_unit, float(np.median(curves.x)))
    figures: list[figure] = []
    for at, (name, unit) in enumerate(zip(curves.names, curves.units, strict=True)):
        shown, scale = shown_scale(unit, float(np.median(curves.fitted[at])))
        fig = new_figure(
            title="",
            y_label=f"{name} ({shown})" if shown else name,
            height=_HEIGHT_PX if at == 0 else round(0.6 * _HEIGHT_PX),
            x_type="linear",
            y_type="linear",
            file_name=f"{name} bands",
            x_range=figures[0].x_range if figures else None,
        )
        fig.min_border_left = 70  # so that the places stand above one another
        columns = curves.values[:, at] / scale
        draw_bands(fig, curves.x / x_scale, columns, [series.colour for series in BANDS])
        for style, line in (
            (MEDIAN, np.median(columns, axis=0)),
            (FITTED, curves.fitted[at] / scale),
        ):
            tips = [(f"{name}, {style.name}", f"@value{{0.[0000]}} {shown}")]
            marks = Marks(fig, {"x": curves.x / x_scale, "value": line}, x="x")
            marks.line("value", **style.stroke, tips=tips)
        figures.append(fig)
    figures[-1].xaxis.axis_label = f"{curves.x_name} ({x_unit})"
    return stacked(
        question(curves.origin, "Curves", len(curves.values)),
        key([*BANDS, MEDIAN, FITTED]),
        *figures,
        sentence(describe_pushed_curves(curves)),
        *source_lines(curves.origin),
    )


def describe_pushed_curves(curves: PushedCurves) -> str:
    """Return a sentence on the width of each curve's 90 % band at both ends.

    Args:
        curves: of ``workbench.uq.carry``.
    """
    parts = []
    for at, (name, unit) in enumerate(zip(curves.names, curves.units, strict=True)):
        middle, low, high = middle_and_ends(curves.values[:, at], LEVELS[-1])
        ends = (
            f"{value_text(middle[end], unit)} ({value_text(low[end], unit)} to "
            f"{value_text(high[end], unit)}) at {value_text(curves.x[end], curves.x_unit)}"
            for end in (0, -1)
        )
        parts.append(f"{name} is {' and '.join(ends)}")
    return f"{'; '.join(parts)}. In brackets, the {100 * LEVELS[-1]:g} % interval."


def plot_crossover(found: PushedCrossover) -> LayoutDOM:
    """Return both algorithms' times over the size as bands, and how probably each is the faster.

    The grey band in the lower figure is the 90 % interval of the crossover.

    Args:
        found: of ``workbench.uq.carry``.
    """
    times = found.times
    upper = new_figure(
        title="Time of each, median and 90 % interval",
        y_label="time (µs)",
        height=_HEIGHT_PX,
        file_name="crossover times",
        y_range=log_range((1e6 * times.values).ravel()),
    )
    lower = new_figure(
        title="",
        y_label="probability (%)",
        height=round(0.75 * _HEIGHT_PX),
        y_type="linear",
        file_name="crossover probability",
        x_range=upper.x_range,
        y_range=(-4.0, 104.0),
    )
    # Times are linear in the size, which a straight line on these axes is not.
    sizes = np.unique(np.append(np.geomspace(times.x[0], times.x[-1], _SIZES), times.x))
    faster = 100 * found.probability_faster(sizes)
    series = [
        Series(times.names[0], palette.BLUE, "solid", 2.0),
        Series(times.names[1], palette.VERMILLION, "dashed", 2.0),
    ]
    for style, shade, percent in zip(
        series, (palette.SKY_BLUE, palette.ORANGE), (faster, 100 - faster), strict=True
    ):
        microseconds = 1e6 * found.times_at(style.name, sizes)
        draw_bands(upper, sizes, microseconds, [shade], alpha=0.5)
        median = Marks(upper, {"size": sizes, "time": np.median(microseconds, axis=0)}, x="size")
        tips = [(style.name, "@time{0.00} µs at @size{0} B")]
        median.line("time", **style.stroke, tips=tips)
        share = Marks(lower, {"size": sizes, "percent": percent}, x="size")
        share.line("percent", **style.stroke, tips=[(f"{style.name} is faster", "@percent{0} %")])
    known = found.crossing[np.isfinite(found.crossing)]
    if len(known):
        _, low, high = middle_and_ends(known, LEVELS[-1])
        lower.add_layout(
            BoxAnnotation(left=float(low), right=float(high), fill_color=palette.WAITING)
        )
    for fig in (upper, lower):
        message_size_axis(fig, times.x.tolist())
        fig.min_border_left = 70
    plain_log_ticks(upper.yaxis)
    return stacked(
        question(times.origin, "Crossover", len(found.crossing)),
        key(series),
        upper,
        lower,
        sentence(f"{found.verdict[0].upper()}{found.verdict[1:]}."),
        *source_lines(times.origin),
    )


def draw_bands(
    fig: figure,
    x: FloatArray,  # [points]
    values: FloatArray,  # [draws, points]
    colours: list[str],  # of the intervals, the widest first
    alpha: float = 1.0,
) -> None:
    """Draw central intervals over the draws as bands, the widest first."""
    for level, colour in zip(WIDEST_FIRST, colours, strict=False):
        _, low, high = middle_and_ends(values, level)
        Marks(fig, {"x": x, "low": low, "high": high}, x="x").band(
            "low", "high", colour, alpha=alpha
        )


def question(origin: PosteriorOrigin | None, otherwise: str, draws: int) -> Div:
    """Return the heading of a figure: the question, and the posterior's verdict below it."""
    if origin is None:
        return heading(otherwise, f"{draws} draws")
    verdict = f"{origin.verdict[0].upper()}{origin.verdict[1:]}"
    return heading(
        origin.title if origin.trusted else f"{origin.title}: intervals are rough",
        f"{draws} draws of the posterior. {verdict}",
    )


def source_lines(origin: PosteriorOrigin | None) -> list[Div]:
    """Return where the numbers come from and the line of Python that gives them, for below."""
    if origin is None:
        return []
    code = f"<code>{html.escape(origin.python)}</code>"
    return [
        Div(
            text=f"{html.escape(origin.provenance.caption())}<br>{code}",
            sizing_mode="stretch_width",
            styles={"font-size": "12px", "color": NOTE},
        )
    ]


def _interval_rows(pushed: PushedForward, title: str) -> tuple[figure, list[Series]]:
    """Return a figure with a row for each quantity, and what its key has."""
    finite = pushed.values[np.isfinite(pushed.values)]
    unit, scale = shown_scale(pushed.unit, float(np.median(np.abs(finite))) if len(finite) else 0.0)
    medians = [middle_and_ends(column, LEVELS[-1])[0] for column in pushed.values.T]
    texts = [value_text(middle, pushed.unit) for middle in medians]
    fig = row_figure(
        [f"{name}: {text}" for name, text in zip(pushed.names, texts, strict=True)],
        title=title,
        x_label=f"{_QUANTITIES[pushed.unit]} ({unit})" if unit else "value",
        file_name="pushed forward",
        row_px=_ROW_PX,
    )
    _intervals(fig, pushed.names, pushed.values / scale, texts)
    shown = [*BANDS, MEDIAN]
    if pushed.fitted is not None and np.isfinite(pushed.fitted).any():
        _marks(fig, pushed.fitted / scale, FITTED)
        shown.append(FITTED)
    return fig, shown


def _intervals(
    fig: figure,
    names: tuple[str, ...],
    values: FloatArray,  # [draws, quantities]
    texts: list[str],  # of the medians
) -> None:
    """Draw each quantity's intervals and median in its row; what has no bound ends at the axis."""
    finite = values[np.isfinite(values)]
    least, most = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    margin = 0.05 * (most - least) or 0.05 * abs(most) or 1.0
    fig.x_range.update(start=float(least - margin), end=float(most + margin))
    columns = [middle_and_ends(values, level) for level in WIDEST_FIRST]
    for at, (style, (_, low, high)) in enumerate(zip(BANDS, columns, strict=True)):
        known = np.isfinite(low)
        table = {
            "row": np.flatnonzero(known),
            "left": low[known],
            "right": np.minimum(high[known], most + margin),
            "name": [name for name, shown in zip(names, known, strict=True) if shown],
            "text": [text for text, shown in zip(texts, known, strict=True) if shown],
        }
        tips = [("", "@name: @text"), (style.name, "@left{0.[0000]} to @right{0.[0000]}")]
        thick = 0.6 - 0.26 * at
        Marks(fig, table).bars("right", style.colour, start="left", thick=thick, tips=tips)
    _marks(fig, columns[0][0], MEDIAN)


def _marks(fig: figure, values: FloatArray, style: Series) -> None:
    """Draw an upright mark at a value in each row."""
    rows = np.flatnonzero(np.isfinite(values))
    Marks(fig, {"row": rows, "value": values[rows]}).ticks("value", half=0.38, **style.stroke)


def _shares(compared: PushedComparison) -> str:
    """Return each alternative's probability of being the fastest."""
    shares = ", ".join(f"{name} {share:.2f}" for name, share in compared.probabilities.items())
    return f"Probability of being the fastest: {shares}."
