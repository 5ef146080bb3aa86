"""The columns of the figure of latency tolerance, thinned to the capacity of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.plotting import palette
from workbench.tolerance.curve import PARAMETERS
from workbench.units import format_quantity

if TYPE_CHECKING:
    from workbench.tolerance.curve import ToleranceCurve

    Named = Mapping[str, ToleranceCurve]

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


def curve_columns(named: Named, *, relative: bool) -> dict[str, list[Any]]:
    """Return a row for each program: its lines as lists, and their colour and dash.

    ``L`` and ``T`` are the corners of T(L), ``steps`` and ``slope`` the stairs of λ_L, ``rho_L``
    and ``rho`` the curve of ρ_L in percent. L is in ns, or G in ns/B; T in ns or percent of growth.
    """
    rows: dict[str, list[Any]] = {
        name: [] for name in ("name", "L", "T", "steps", "slope", "rho_L", "rho", "colour", "dash")
    }
    for place, (name, result) in enumerate(named.items()):
        kept = _thinned(len(result.corners), _MOST_CORNERS)
        corners = result.corners[kept] * 1e9
        slopes = result.slopes[kept[:-1]]
        at = _between(result)
        row = {
            "name": name,
            "L": corners.tolist(),
            "T": height_of(result, result.corner_T[kept], relative).tolist(),
            "steps": np.repeat(corners, 2)[1:-1].tolist(),
            "slope": np.repeat(slopes, 2).tolist(),
            "rho_L": (at * 1e9).tolist(),
            "rho": (100 * result.rho_of(at)).tolist(),
            "colour": colour_of(place),
            "dash": palette.DASHES[place % len(palette.DASHES)],
        }
        for key, value in row.items():
            rows[key].append(value)
    return rows


def zone_columns(named: Named) -> dict[str, list[Any]]:
    """Return the zones within each program's interval, ``from`` and ``to`` in ns, a row each."""
    rows: dict[str, list[Any]] = {
        name: []
        for name in ("name", "from", "to", "colour", "hatch", "percent_text", "label", "text")
    }
    ends = [result.interval for result in named.values()]
    narrow = _NARROW * (max(high for _, high in ends) - min(low for low, _ in ends))
    for name, result in named.items():
        low, high = result.interval
        begin = max(result.base, low)
        for number, percent in enumerate(sorted(result.tolerance)):
            largest = result.tolerance[percent]
            end = min(largest, high)
            if end <= begin:
                continue
            colour, hatch = _ZONES[min(number, len(_ZONES) - 1)]
            row = {
                "name": name,
                "from": begin * 1e9,
                "to": end * 1e9,
                "colour": colour,
                "hatch": hatch,
                "percent_text": f"{percent:g} %",
                "label": f"{percent:g} %" if end - begin > narrow else "",
                "text": largest_of(result.variable, largest),
            }
            for key, value in row.items():
                rows[key].append(value)
            begin = end
    return rows


def limit_columns(named: Named, *, relative: bool) -> dict[str, list[Any]]:
    """Return a row for each tolerance on its program's curve; those of a single one have texts."""
    rows: dict[str, list[Any]] = {
        name: [] for name in ("L", "T", "text", "align", "baseline", "x_offset", "colour")
    }
    for place, result in enumerate(named.values()):
        low, high = result.interval
        span = high - low, max(float(result.corner_T[-1] - result.corner_T[0]), 1e-300)
        named_at: list[tuple[float, float]] = []
        for percent in sorted(result.tolerance, reverse=True):
            largest = result.tolerance[percent]
            if not low <= largest <= high:
                continue
            T = float(result.T_of(largest))
            at = (largest - low) / span[0], (T - result.corner_T[0]) / span[1]
            room = len(named) == 1 and all(
                abs(at[0] - x) > _TEXT_WIDTH or abs(at[1] - y) > _TEXT_HEIGHT for x, y in named_at
            )
            left = at[0] > _TEXT_WIDTH  # of the point; else to its right, below the curve
            row = {
                "L": largest * 1e9,
                "T": float(height_of(result, T, relative)),
                "text": f"{percent:g} %: {mark_text(result.variable, largest)}" if room else "",
                "align": "right" if left else "left",
                "baseline": "bottom" if left else "top",
                "x_offset": -6 if left else 8,
                "colour": colour_of(place),
            }
            if room:
                named_at.append(at)
            for key, value in row.items():
                rows[key].append(value)
    return rows


def corner_columns(named: Named, *, relative: bool) -> dict[str, list[Any]]:
    """Return a row for each critical latency that is marked; `relative`: T as percent of growth."""
    rows: dict[str, list[Any]] = {
        name: [] for name in ("name", "L", "T", "below", "above", "text", "colour")
    }
    for place, (name, result) in enumerate(named.items()):
        change = np.diff(result.slopes)
        chosen = np.sort(np.argsort(-change, kind="stable")[:MOST_MARKS])
        critical = result.critical[chosen]
        heights = height_of(result, result.corner_T[1:-1][chosen], relative)
        rows["name"] += [name] * len(chosen)
        rows["L"] += (critical * 1e9).tolist()
        rows["T"] += heights.tolist()
        rows["below"] += result.slopes[:-1][chosen].tolist()
        rows["above"] += result.slopes[1:][chosen].tolist()
        rows["text"] += [value_text(result.variable, value) for value in critical.tolist()]
        rows["colour"] += [colour_of(place)] * len(chosen)
    return rows


def largest_of(variable: str, largest: float) -> str:
    """Return a tolerance for people: ``L up to 12.3 µs``, or ``any L`` for inf."""
    if not math.isfinite(largest):
        return f"any {variable}"
    return f"{variable} up to {value_text(variable, largest)}"


def value_text(variable: str, value: float) -> str:
    """Return a value of a curve's parameter: ``12.3 µs``, or ``0.05 ns/B (20 GB/s)``."""
    return format_quantity(value, PARAMETERS[variable].quantity)


def mark_text(variable: str, value: float) -> str:
    """Return a value as it stands beside a mark: of a gap per byte only its bandwidth."""
    if PARAMETERS[variable].quantity == "gap" and value:
        return f"{1e-9 / value:.3g} GB/s"
    return value_text(variable, value)


def colour_of(place: int) -> str:
    """Return the colour of a curve by its place in the legend."""
    return _COLOURS[place % len(_COLOURS)]


def height_of(result: ToleranceCurve, T: ArrayLike, relative: bool) -> Any:
    """Return run times in s as they are drawn: in ns, or in percent of growth from the base's."""
    if not relative:
        return np.asarray(T) * 1e9
    return 100 * (np.asarray(T) / result.T - 1) if result.T > 0 else np.zeros(np.shape(T))


def _thinned(count: int, most: int) -> NDArray[np.intp]:
    """Return the indices of a curve's corners to draw: all, or evenly spaced with both ends."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).round().astype(np.intp))


def _between(result: ToleranceCurve) -> NDArray[np.float64]:
    """Return latencies that show ρ_L with its steps, ascending, in s."""
    low, high = result.interval
    kept = result.corners[_thinned(len(result.corners), _MOST_CORNERS)]
    just_below = np.nextafter(kept[1:-1], low)
    return np.unique(np.concatenate([np.linspace(low, high, _RHO_POINTS), kept, just_below]))
