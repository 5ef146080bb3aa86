"""How far a fitted parameter can go before the loss has grown too much.

The other parameters follow by Gauss-Newton steps with the slopes at the fit. A time adds to what a
message takes, and so does the inverse of a bandwidth; in these the slopes hold much further than in
positions, so the steps are taken in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.fit.result import FitResult
from workbench.fit.trust.residuals import Probe, Response

FloatArray = NDArray[np.float64]

# For the protocol model on azure-hb96v3-hdr (18 parameters):
_HALVINGS = 5  # ends are within 4 % of those of 8, one at 13 %; with 3 one is at half
_REFITS = 2  # 1 and 4 give the same ends to four digits


@dataclass(frozen=True)
class Interval:
    """The values around a fitted one that fit about as well.

    It is connected: it ends at the first worse value; values beyond are not tried.

    Attributes:
        low, high: its ends, SI.
        at_low, at_high: whether the end is the bound of the search, so that no end was found.
    """

    low: float
    high: float
    at_low: bool
    at_high: bool

    @property
    def everywhere(self) -> bool:
        """Whether it goes from bound to bound."""
        return self.at_low and self.at_high

    def union(self, other: Interval) -> Interval:
        """Return the interval that covers both; both contain the fitted value.

        Args:
            other: around the same value.
        """
        return Interval(
            min(self.low, other.low),
            max(self.high, other.high),
            self.at_low or other.at_low,
            self.at_high or other.at_high,
        )


class Scan:
    """Moves one parameter, refits the others if asked, and records the least loss."""

    def __init__(self, probe: Probe, slopes: FloatArray, limit: float) -> None:
        self.probe = probe
        self.slopes = slopes
        self.limit = limit
        self.least = probe.best.loss
        self._times = _mask(probe, "time")
        self._rates = _mask(probe, "bandwidth")
        self._width = np.array([np.log(d.high / d.low) if d.log else 1.0 for d in probe.dimensions])
        self._low = np.array([d.low if d.log else 1.0 for d in probe.dimensions])
        # d residual / d natural = d residual / d position * d position / d natural
        natural = self.natural(probe.start)
        per_position = np.ones(len(natural))
        per_position[self._times] = (self._width * natural)[self._times]
        per_position[self._rates] = (-self._width * natural)[self._rates]
        self.natural_slopes = slopes / per_position

    def natural(self, positions: FloatArray) -> FloatArray:
        """Return times in s and inverse bandwidths in s/B; other entries stay positions."""
        values = self._low * np.exp(positions * self._width)
        found = positions.copy()
        found[self._times] = values[self._times]
        found[self._rates] = 1.0 / values[self._rates]
        return found

    def positions(self, natural: FloatArray) -> FloatArray:
        """Return the positions of ``natural`` values, cut at the bounds."""
        found = natural.copy()
        for mask, sign in ((self._times, 1.0), (self._rates, -1.0)):
            values = np.maximum(natural[mask], 1e-300)
            found[mask] = (sign * np.log(values) - np.log(self._low[mask])) / self._width[mask]
        return np.clip(found, 0.0, 1.0)

    def follow(
        self, positions: FloatArray, free: NDArray[np.bool_], residuals: FloatArray
    ) -> FloatArray:
        """Return positions with the free ones moved to best cancel the residuals."""
        columns = self.natural_slopes[:, free]
        norms = np.linalg.norm(columns, axis=0)
        norms[norms == 0.0] = np.inf
        natural = self.natural(positions)
        # Directions below a ten-thousandth of the strongest stay where they are.
        natural[free] -= np.linalg.lstsq(columns / norms, residuals, rcond=1e-4)[0] / norms
        moved = positions.copy()
        moved[free] = self.positions(natural)[free]
        return moved

    def good(
        self,
        positions: FloatArray,  # (n_dimensions,), tried first
        free: NDArray[np.bool_] | None = None,  # (n_dimensions,), may be refitted
        thresholds: dict[str, int] | None = None,
    ) -> FloatArray | None:
        """Return positions with the loss within the limit, None if none were found."""
        response = self._response_at(positions, thresholds)
        for _ in range(_REFITS):
            if response is None or response.loss <= self.limit or free is None or not free.any():
                break
            following = self.follow(positions, free, response.residuals)
            refitted = self._response_at(following, thresholds)
            if refitted is None or refitted.loss >= response.loss:
                break
            positions, response = following, refitted
        return positions if response is not None and response.loss <= self.limit else None

    def _response_at(
        self, positions: FloatArray, thresholds: dict[str, int] | None
    ) -> Response | None:
        response = self.probe.at(positions, thresholds)
        if response is not None:
            self.least = min(self.least, response.loss)
        return response


def _mask(probe: Probe, kind: str) -> NDArray[np.bool_]:
    return np.array([d.log and d.kind == kind for d in probe.dimensions], bool)


def scan_dimension(scan: Scan, index: int, variance: float) -> tuple[Interval, Interval]:
    """Return a parameter's interval with the others held, and with them refitted."""
    probe = scan.probe
    column = scan.slopes[:, index]
    start = probe.start
    reach = float(np.sqrt(0.1 * probe.points * variance))
    others = np.arange(len(start)) != index

    def held(x: float) -> bool:
        positions = start.copy()
        positions[index] = x
        return scan.good(positions) is not None

    # The others start from their values at the last scanned value that fitted as well.
    last = start.copy()

    def refitted(x: float) -> bool:
        nonlocal last
        positions = last.copy()
        positions[index] = x
        change = scan.natural(positions)[index] - scan.natural(last)[index]
        positions = scan.follow(positions, others, scan.natural_slopes[:, index] * change)
        found = scan.good(positions, others)
        if found is not None:
            last = found
        return found is not None

    def back() -> None:
        nonlocal last
        last = start.copy()

    first = _guess(reach, column)
    alone = _interval(probe, index, held, first, lambda: None)
    together = _interval(probe, index, refitted, 2.0 * first, back)
    return alone, together.union(alone)


def scan_threshold(scan: Scan, result: FitResult, key: str) -> tuple[Interval, Interval]:
    """Return a threshold's interval with the others held, and with them refitted."""
    free = np.ones(len(scan.probe.start), bool)
    alone = _threshold(scan, result, key, None)
    return alone, _threshold(scan, result, key, free).union(alone)


def _threshold(scan: Scan, result: FitResult, key: str, free: NDArray[np.bool_] | None) -> Interval:
    dimension = result.space[key]
    value = int(result.values[key])
    least, most = int(dimension.clip(dimension.low)), int(dimension.clip(dimension.high))
    sizes = [int(size) for size in result.measured.sizes if least <= size <= most]
    # Below the least size no message is left in the regime; that is a choice too.
    candidates = sorted({least, *sizes})
    own = max((c for c in candidates if c <= value), default=least)
    ends = []
    for wanted in (
        [c for c in reversed(candidates) if c < own],
        [c for c in candidates if c > own],
    ):
        end = own
        positions = scan.probe.start
        for candidate in wanted:
            found = scan.good(positions, free, {key: candidate})
            if found is None:
                break
            end, positions = candidate, found
        ends.append(end)
    low, high = ends
    above = [c for c in candidates if c > high]
    return Interval(
        float(low),
        float(above[0] - 1 if above else most),
        low == candidates[0],
        not above,
    )


def _guess(reach: float, column: FloatArray) -> float:
    """Return the first step's length: the slopes' guess of the end, within sensible limits."""
    length = float(np.linalg.norm(column))
    return float(np.clip(reach / length, 1e-4, 0.25)) if length > 0 else 0.25


def _interval(
    probe: Probe,
    index: int,
    inside: Callable[[float], bool],
    first: float,
    back: Callable[[], None],
) -> Interval:
    dimension = probe.dimensions[index]
    start = float(probe.start[index])
    ends = []
    for bound in (0.0, 1.0):
        back()
        ends.append(_edge(inside, start, bound, first))
    low, high = ends
    return Interval(
        float(dimension.at(low)) if low != start else float(probe.values[dimension.key]),
        float(dimension.at(high)) if high != start else float(probe.values[dimension.key]),
        low <= 0.0,
        high >= 1.0,
    )


def _edge(inside: Callable[[float], bool], start: float, bound: float, step: float) -> float:
    """Return the last position towards ``bound`` that is inside: doubling steps, then halving."""
    good = start
    sign = 1.0 if bound > start else -1.0
    while good != bound:
        x = good + sign * step
        if sign * (bound - x) <= 0.0:
            x = bound
        if not inside(x):
            break
        good, step = x, 2.0 * step
    else:
        return bound
    bad = x
    for _ in range(_HALVINGS):
        middle = 0.5 * (good + bad)
        if inside(middle):
            good = middle
        else:
            bad = middle
    return good
