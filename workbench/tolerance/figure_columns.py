"""The columns of the figure of latency tolerance, thinned to the capacity of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.replay.style import time_text
from workbench.tolerance.curve import PARAMETERS, LatencySensitivity
from workbench.tolerance.run_prediction import RunPrediction
from workbench.units import format_quantity

if TYPE_CHECKING:
    from workbench.measure import MeasuredRuns
    from workbench.tolerance.curve import ToleranceCurve

    Named = Mapping[str, ToleranceCurve]
    Results = ToleranceCurve | Sequence[ToleranceCurve] | Named
    Measured = MeasuredRuns | Mapping[str, MeasuredRuns]
    Predictions = Mapping[str, RunPrediction]
    Columns = dict[str, list[Any]]

MOST_MARKS = 200
"""Critical latencies of a program that are marked: those at which λ_L changes most."""

_MOST_CORNERS = 2000  # more than a figure of 1400 px has columns
# The line is off by 0.004 points of ρ_L for one path, with 200 points by 0.016: below a pixel.
_RHO_POINTS = 400
_TEXT_WIDTH, _TEXT_HEIGHT = 0.15, 0.08  # of the axes: what a text takes
_NARROW = 0.05  # of the axis: a zone in which its percentage does not fit

_COLOURS = (
    palette.BLUE,
    palette.VERMILLION,
    palette.GREEN,
    palette.PURPLE,
    palette.ORANGE,
    palette.SKY_BLUE,
    palette.BLACK,
)
# Green, orange, red as in the paper, and with different hatches; further zones stay red.
_ZONES = ((palette.GREEN, " "), (palette.ORANGE, "/"), (palette.VERMILLION, "x"))


def by_name(results: Results) -> dict[str, ToleranceCurve]:
    """Return analyses of one parameter by unique names, in their order."""
    if isinstance(results, Mapping):
        named = dict(results)
    else:
        named = {}
        for result in results if isinstance(results, Sequence) else [results]:
            name, number = result.source, 1
            while name in named:
                number += 1
                name = f"{result.source} ({number})"
            named[name] = result
    if not named:
        raise ParameterError("at least one analysis must be given; got none", key="results")
    variables = dict.fromkeys(result.variable for result in named.values())
    if len(variables) > 1:
        raise ParameterError(
            f"analyses in one figure must be over one parameter; got {' and '.join(variables)}",
            key="results",
        )
    return named


def predictions_of(named: Named, measured: Measured | None) -> dict[str, RunPrediction]:
    """Return predictions of measured runs by the names of analyses; ParameterError if of none.

    Runs without a name are of the program that all analyses are of; the first one's L is the base.
    """
    if measured is None:
        return {}
    analyses = {name: one for name, one in named.items() if isinstance(one, LatencySensitivity)}
    first, *others = named
    variable = named[first].variable
    if variable != "L":
        raise ParameterError(
            f"measured runs are by added latency, so that analyses must be over L; got {variable}",
            key="measured",
        )
    if not isinstance(measured, Mapping):
        name = f"measured; beside {first}" if others else first
        return {name: RunPrediction(analyses[first], measured)}
    if unknown := [name for name in measured if name not in named]:
        raise ParameterError(
            f"measured runs must be by the names of analyses, {', '.join(named)}; got {unknown[0]}",
            key="measured",
        )
    return {name: RunPrediction(analyses[name], runs) for name, runs in measured.items()}


def curve_columns(named: Named, *, relative: bool) -> Columns:
    """Return a row for each program: its lines as lists, and their colour and dash.

    ``L`` and ``T`` are the corners of T(L), ``steps`` and ``slope`` the stairs of λ_L, ``rho_L``
    and ``rho`` the curve of ρ_L in percent. L is in ns, or G in ns/B; T in ns or percent of growth.
    """
    rows = []
    for place, (name, result) in enumerate(named.items()):
        most = min(len(result.corners), _MOST_CORNERS)
        kept = np.unique(np.linspace(0, len(result.corners) - 1, most).round().astype(np.intp))
        corners, (low, high) = result.corners[kept], result.interval
        just_below = np.nextafter(corners[1:-1], low)  # ρ_L has a step at each
        at = np.unique(np.concatenate([np.linspace(low, high, _RHO_POINTS), corners, just_below]))
        lines = (
            corners * 1e9,
            _height(result, result.corner_T[kept], relative),
            np.repeat(corners * 1e9, 2)[1:-1],
            np.repeat(result.slopes[kept[:-1]], 2),
            at * 1e9,
            100 * result.rho_of(at),
        )
        dash = palette.DASHES[place % len(palette.DASHES)]
        rows.append((name, *(line.tolist() for line in lines), _colour(place), dash))
    return _columns(rows, "name", "L", "T", "steps", "slope", "rho_L", "rho", "colour", "dash")


def zone_columns(named: Named) -> Columns:
    """Return the zones within each program's interval, ``from`` and ``to`` in ns, a row each."""
    rows = []
    ends = [result.interval for result in named.values()]
    narrow = _NARROW * (max(high for _, high in ends) - min(low for low, _ in ends))
    for name, result in named.items():
        low, high = result.interval
        begin, symbol = max(result.base, low), result.variable
        for number, (percent, largest) in enumerate(sorted(result.tolerance.items())):
            end = min(largest, high)
            if end <= begin:
                continue
            look = _ZONES[min(number, len(_ZONES) - 1)]
            share = f"{percent:g} %"
            label = share if end - begin > narrow else ""
            up_to = f"{symbol} up to {value_text(symbol, largest)}"
            text = up_to if math.isfinite(largest) else f"any {symbol}"
            rows.append((name, begin * 1e9, end * 1e9, *look, share, label, text))
            begin = end
    names = ("name", "from", "to", "colour", "hatch", "percent_text", "label", "text")
    return _columns(rows, *names)


def limit_columns(named: Named, *, relative: bool) -> Columns:
    """Return a row for each tolerance on its program's curve; those of a single one have texts."""
    rows = []
    for place, result in enumerate(named.values()):
        low, high = result.interval
        least, most = result.corner_T[[0, -1]].tolist()
        texts: list[tuple[float, float]] = []
        for percent, largest in sorted(result.tolerance.items(), reverse=True):
            if not low <= largest <= high:
                continue
            T = float(result.T_of(largest))
            across, up = (largest - low) / (high - low), (T - least) / max(most - least, 1e-300)
            room = len(named) == 1 and all(
                abs(across - x) > _TEXT_WIDTH or abs(up - y) > _TEXT_HEIGHT for x, y in texts
            )
            text = f"{percent:g} %: {_mark_text(result.variable, largest)}" if room else ""
            texts += [(across, up)] if room else []
            left = across > _TEXT_WIDTH  # of the point; else to its right, below the curve
            beside = ("right", "bottom", -6) if left else ("left", "top", 8)
            height = float(_height(result, T, relative))
            rows.append((largest * 1e9, height, text, *beside, _colour(place)))
    return _columns(rows, "L", "T", "text", "align", "baseline", "x_offset", "colour")


def corner_columns(named: Named, *, relative: bool) -> Columns:
    """Return a row for each critical latency that is marked; `relative`: T as percent of growth."""
    rows: list[Sequence[Any]] = []
    for place, (name, result) in enumerate(named.items()):
        change = np.diff(result.slopes)[: len(result.critical)]
        chosen = np.sort(np.argsort(-change, kind="stable")[:MOST_MARKS])
        critical = result.critical[chosen]
        columns = (
            (critical * 1e9).tolist(),
            _height(result, result.corner_T[1:-1][chosen], relative).tolist(),
            result.slopes[:-1][chosen].tolist(),
            result.slopes[1:][chosen].tolist(),
            [value_text(result.variable, value) for value in critical.tolist()],
        )
        rows += zip(repeat(name), *columns, repeat(_colour(place)), strict=False)
    return _columns(rows, "name", "L", "T", "below", "above", "text", "colour")


def measured_columns(predictions: Predictions, *, relative: bool) -> tuple[Columns, Columns]:
    """Return a row for each measured point, and one for each pair of neighbouring points.

    Points have L in ns, and times in ns or percent of growth. Pairs have the slope of the medians;
    ``low`` and ``high`` are the slopes between a point's upper quartile and the next one's lower,
    and the other way round.
    """
    points: list[Sequence[Any]] = []
    pairs: list[Sequence[Any]] = []
    for place, (name, one) in enumerate(predictions.items()):
        added, spread = one.points
        step, L = np.diff(added), (one.analysis.L + added) * 1e9
        colour = palette.MEASURED if len(predictions) == 1 else _colour(place)
        times = (spread.median, spread.minimum, spread.p25, spread.p75)
        of_points = (
            L.tolist(),
            *(_height(one.analysis, values, relative).tolist() for values in times),
            [time_text(value * 1e9) for value in added.tolist()],
            [time_text(value * 1e9) for value in spread.median.tolist()],
            spread.count.tolist(),
            [f"{value:+.2f} %" for value in one.error_percent.tolist()],
        )
        points += zip(repeat(name), *of_points, repeat(colour), strict=False)
        of_pairs = (
            L[:-1],
            L[1:],
            (L[:-1] + L[1:]) / 2,
            one.measured_slope,
            (spread.p25[1:] - spread.p75[:-1]) / step,
            (spread.p75[1:] - spread.p25[:-1]) / step,
        )
        lists = [values.tolist() for values in of_pairs]
        pairs += zip(repeat(name), *lists, repeat(colour), strict=False)
    names = ("name", "L", "T", "least", "low", "high", "added", "text", "repeats", "error")
    return (
        _columns(points, *names, "colour"),
        _columns(pairs, "name", "from", "to", "middle", "slope", "low", "high", "colour"),
    )


def value_text(variable: str, value: float) -> str:
    """Return a value of a curve's parameter: ``12.3 µs``, or ``0.05 ns/B (20 GB/s)``."""
    return format_quantity(value, PARAMETERS[variable].quantity)


def _mark_text(variable: str, value: float) -> str:
    """Return a value as it stands beside a mark: of a gap per byte only its bandwidth."""
    if PARAMETERS[variable].quantity == "gap" and value:
        return f"{1e-9 / value:.3g} GB/s"
    return value_text(variable, value)


def _height(result: ToleranceCurve, T: ArrayLike, relative: bool) -> Any:
    """Return run times in s as they are drawn: in ns, or in percent of growth from the base's."""
    if not relative:
        return np.asarray(T) * 1e9
    return 100 * (np.asarray(T) / result.T - 1) if result.T > 0 else np.zeros(np.shape(T))


def _colour(place: int) -> str:
    """Return the colour of a curve by its place in the legend."""
    return _COLOURS[place % len(_COLOURS)]


def _columns(rows: Sequence[Sequence[Any]], *names: str) -> Columns:
    """Return the columns of a table by their names."""
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
