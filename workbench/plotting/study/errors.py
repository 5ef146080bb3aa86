"""Errors and curves of the fits of a study: machine by target, size by size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from bokeh.models import FixedTicker, LayoutDOM
from bokeh.plotting import figure
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.measure.curve import OSUCurve, byte_label
from workbench.named_options import named_options
from workbench.plotting import palette
from workbench.plotting.axes import log_range
from workbench.plotting.grid import (
    Series,
    heading,
    key,
    line_series,
    sentence,
    small_multiples,
    stacked,
)
from workbench.plotting.marks import Marks, hover, rule
from workbench.plotting.study.cells import distinct, fitted, in_common, value
from workbench.study.cell import AxisFilter, CellResult
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.study.result import StudyResult

BENCHMARKS = ("latency", "bandwidth")
_UNITS = {"latency": "latency (µs)", "bandwidth": "bandwidth (MB/s)"}
_FITTED_TO = {"both": "both", "latency": "latency alone", "bandwidth": "bandwidth alone"}
Simulate = Callable[["CellResult"], OSUCurve]
SMALL = 512
"""Size in bytes up to which a message counts as small in the sentences, as in the paper."""

# 1 and 3 a decade, as percents round: -99, -97, -90, -70, 0, +200, +900.
_RATIO_TICKS = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
_MOST_RATIO = 30.0  # chosen: errors of -97 to +2900 % are drawn to scale


@dataclass(frozen=True, eq=False)
class _Drawn:
    """One fit, simulated again: both curves at the same sizes."""

    cell: CellResult
    measured: OSUCurve
    simulated: OSUCurve

    def ratio(self, benchmark: str) -> NDArray[np.float64]:
        latency, bandwidth = self.measured.percent_error(self.simulated)
        return 1 + (latency if benchmark == "latency" else bandwidth) / 100


@named_options(AxisFilter)
def plot_study_errors(
    result: StudyResult,
    benchmark: str = "latency",
    *,
    rows: str = "target",
    columns: str = "machine",
    lines: str = "loss",
    simulate: Simulate | None = None,
    **where: Unpack[AxisFilter],
) -> LayoutDOM:
    """Return the percent error of one benchmark by size, a line a loss: the paper's Figures 4, 5.

    The vertical axis is even in the ratio simulated to measured, so that twice and half are as far
    from equal, and says percent.

    Args:
        result: the study.
        benchmark: ``latency`` or ``bandwidth``.
        rows: the property that differs between the rows.
        columns: the property that differs between the columns.
        lines: the property that differs between the lines.
        simulate: returns a fit's curve; None simulates each fit again.
        where: which cells, such as ``machine=("llnl-dane-omnipath",)``.

    Raises:
        ParameterError: an argument is not known, or no cell is left.
    """
    drawn = _simulated(result, benchmark, (rows, columns, lines), where, simulate)
    ratios = np.concatenate([item.ratio(benchmark) for item in drawn])
    ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
    # most of the points; a few beyond must not flatten the rest
    low, high = (float(x) for x in np.percentile(ratios, (1, 99))) if len(ratios) else (0.5, 2.0)
    ends = (max(min(low, 0.5), 1 / _MOST_RATIO) / 1.15, min(max(high, 2.0), _MOST_RATIO) * 1.15)
    return _multiples(
        drawn,
        (rows, columns, lines),
        lambda item: item.ratio(benchmark).tolist(),
        title=f"Percent error of simulated {benchmark} by message size",
        label="error (%)",
        y_ranges=ends,
        description=_describe_errors(drawn, benchmark),
        percent=True,
    )


@named_options(AxisFilter)
def plot_study_curves(
    result: StudyResult,
    benchmark: str = "latency",
    *,
    rows: str = "target",
    columns: str = "machine",
    lines: str = "loss",
    simulate: Simulate | None = None,
    **where: Unpack[AxisFilter],
) -> LayoutDOM:
    """Return simulated lines over measured points by size, a line a loss: the paper's Figures 6, 7.

    Args:
        result: the study.
        benchmark: ``latency`` or ``bandwidth``.
        rows: the property that differs between the rows.
        columns: the property that differs between the columns.
        lines: the property that differs between the lines.
        simulate: returns a fit's curve; None simulates each fit again.
        where: which cells, such as ``machine=("llnl-dane-omnipath",)``.

    Raises:
        ParameterError: an argument is not known, or no cell is left.
    """
    drawn = _simulated(result, benchmark, (rows, columns, lines), where, simulate)
    values = [_values(curve, benchmark) for item in drawn for curve in (item.measured,)]
    values += [_values(item.simulated, benchmark) for item in drawn]
    return _multiples(
        drawn,
        (rows, columns, lines),
        lambda item: _values(item.simulated, benchmark).tolist(),
        title=f"Simulated lines and measured points: {benchmark} by message size",
        label=_UNITS[benchmark],
        y_ranges=log_range(np.concatenate(values).tolist()),
        description=describe_study_curves(result, **where),
        points=lambda item: _values(item.measured, benchmark).tolist(),
    )


@named_options(AxisFilter)
def describe_study_errors(
    result: StudyResult, benchmark: str = "latency", **where: Unpack[AxisFilter]
) -> str:
    """Return a sentence on the errors of small and large messages, and the best loss for each.

    Args:
        result: the study.
        benchmark: ``latency`` or ``bandwidth``.
        where: which cells.
    """
    return _describe_errors(
        _simulated(result, benchmark, ("machine", "target", "loss"), where), benchmark
    )


def _describe_errors(drawn: Sequence[_Drawn], benchmark: str) -> str:
    parts = []
    for name, small in ((f"up to {byte_label(SMALL)}", True), ("above", False)):
        by_loss: dict[str, list[NDArray[np.float64]]] = {}
        for item in drawn:
            below = item.measured.sizes <= SMALL
            off = 100 * np.abs(item.ratio(benchmark)[below if small else ~below] - 1)
            if np.isfinite(off).any():
                by_loss.setdefault(item.cell.cell.loss, []).append(off[np.isfinite(off)])
        if not by_loss:
            continue
        medians = {loss: float(np.median(np.concatenate(off))) for loss, off in by_loss.items()}
        every = np.concatenate([part for off in by_loss.values() for part in off])
        best = min(medians, key=lambda loss: medians[loss])
        text = f"{name} {np.median(every):.0f} %"
        if len(medians) > 1:
            text += f" (nearest {best}, {medians[best]:.0f} %)"
        parts.append(text)
    return f"Half of the simulated {benchmark} values are off by at least: {', '.join(parts)}."


@named_options(AxisFilter)
def describe_study_curves(result: StudyResult, **where: Unpack[AxisFilter]) -> str:
    """Return a sentence on the errors of both benchmarks by the one that was fitted.

    Args:
        result: the study.
        where: which cells.
    """
    cells = fitted(result, ("machine", "target", "loss"), where)
    parts = []
    for target in distinct(cells, "target"):
        errors = {
            name: float(np.median([c.rmspe[name] for c in cells if value(c, "target") == target]))
            for name in BENCHMARKS
        }
        parts.append(
            f"fitted to {_FITTED_TO[target]}: latency {errors['latency']:.0f} %, "
            f"bandwidth {errors['bandwidth']:.0f} %"
        )
    return f"Median RMSPE over machines and losses, {'; '.join(parts)}."


def _simulated(
    result: StudyResult,
    benchmark: str,
    axes: tuple[str, ...],
    where: Mapping[str, object],
    simulate: Simulate | None = None,
) -> list[_Drawn]:
    if benchmark not in BENCHMARKS:
        raise ParameterError(
            f"benchmark must be one of {', '.join(BENCHMARKS)}; got {benchmark!r}"
            f"{did_you_mean(benchmark, BENCHMARKS)}",
            key="benchmark",
        )
    cells = fitted(result, axes, where)
    if not cells:
        raise ParameterError(
            "at least one cell must have a fitted model to be drawn; got none; run the study",
            key="result",
        )
    curves = [cell.simulated() if simulate is None else simulate(cell) for cell in cells]
    return [_Drawn(cell, cell.measured(), curve) for cell, curve in zip(cells, curves, strict=True)]


def _values(curve: OSUCurve, benchmark: str) -> NDArray[np.float64]:
    return curve.latency_us if benchmark == "latency" else curve.bandwidth_MBps


def _multiples(
    drawn: Sequence[_Drawn],
    axes: tuple[str, str, str],
    of: Any,
    *,
    title: str,
    label: str,
    y_ranges: tuple[float, float],
    description: str,
    percent: bool = False,
    points: Any = None,
) -> LayoutDOM:
    """Return heading, key, grid and description; `of` returns a fit's line, `points` its points."""
    rows, columns, lines = axes
    cells = [item.cell for item in drawn]
    styles = line_series([str(name) for name in distinct(cells, lines)])
    sizes = sorted({size for item in drawn for size in item.measured.sizes.tolist()})
    by_place: dict[tuple[str, str], list[_Drawn]] = {}
    for item in drawn:
        place = (str(value(item.cell, rows)), str(value(item.cell, columns)))
        by_place.setdefault(place, []).append(item)

    def draw(fig: figure, row: str, column: str) -> None:
        here = by_place.get((row, column), [])
        if percent:
            rule(fig, y=1.0, colour=palette.FAINT)
        elif here:
            _points(fig, here[0], points(here[0]))
        _lines(fig, here, styles, lines, of, label)

    origins = sorted({item.measured.provenance.origin for item in drawn})
    measured = f"measured ({' and '.join(origins)})"
    shown = list(styles.values())
    if not percent:
        shown.append(Series(measured, palette.MEASURED, ""))
    about = in_common(cells, besides=axes)
    grid = small_multiples(
        [str(name) for name in distinct(cells, rows)],
        [str(name) for name in distinct(cells, columns)],
        draw,
        row_labels=lambda row: f"{_row_name(rows, row)}\n{label}",
        x_label="message size",
        x_range=(sizes[0] / 1.6, sizes[-1] * 1.6),
        y_ranges=lambda row: y_ranges,
        sizes=sizes,
        height=150,
        y_ticks=_percent_ticks if percent else None,
    )
    return stacked(
        heading(title, f"simulated: {about}; against {measured}"),
        key(shown),
        grid,
        sentence(description),
    )


def _row_name(axis: str, row: str) -> str:
    return f"fit: {row}" if axis == "target" else row


def _points(fig: figure, item: _Drawn, values: list[float]) -> None:
    marks = Marks(fig, {"size": item.measured.sizes, "value": values}, x="size")
    marks.points("value", palette.MEASURED, fill="white", size=4)


def _lines(
    fig: figure,
    drawn: Sequence[_Drawn],
    styles: dict[str, Series],
    axis: str,
    of: Any,
    label: str,
) -> None:
    renderers = []
    for item in drawn:
        name = str(value(item.cell, axis))
        style = styles[name]
        sizes = item.measured.sizes.tolist()
        values = of(item)
        table = {
            "size": sizes,
            "value": values,
            "label": [byte_label(size) for size in sizes],
            "percent": [100 * (ratio - 1) for ratio in values],
            "name": [name] * len(sizes),
        }
        renderers.append(Marks(fig, table, x="size").line("value", **style.stroke))
    shown = "@percent{+0.0} %" if "%" in label else "@value{0.00}"
    hover(fig, renderers, [("", "@name, @label"), (label, shown)])


def _percent_ticks(fig: figure) -> None:
    fig.yaxis.ticker = FixedTicker(ticks=list(_RATIO_TICKS))
    fig.yaxis.major_label_overrides = {
        tick: "0" if tick == 1 else f"{100 * (tick - 1):+.0f}".replace("-", "−")
        for tick in _RATIO_TICKS
    }
