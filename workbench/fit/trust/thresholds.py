"""Thresholds that the measured sizes leave open, and where to put them."""

from __future__ import annotations

from workbench.fit.result import FitResult
from workbench.models import NetworkModel


def open_thresholds(result: FitResult) -> dict[str, tuple[int, int]]:
    """Return by key the least and greatest threshold that give the same fit."""
    sizes = result.measured.sizes
    found = {}
    for dimension in result.space.dimensions:
        if not dimension.threshold:
            continue
        value = int(result.model.get(dimension.key))
        below, above = sizes[sizes <= value], sizes[sizes > value]
        low = int(below[-1]) if below.size else int(dimension.clip(dimension.low))
        high = int(above[0]) - 1 if above.size else int(dimension.clip(dimension.high))
        found[dimension.key] = (min(low, value), max(high, value))
    return found


def settle_thresholds(result: FitResult) -> NetworkModel:
    """Return the fitted model with every threshold at the greatest value that fits as well.

    A library changes the protocol for what larger messages gain, and the first ones of the next
    regime mostly cost more than the last of the one before. Of the two mistakes to be made about a
    size between them, taking a dear message for a cheap one costs less than 100 %, the other has
    no limit.

    Args:
        result: any fit; one without thresholds among its parameters keeps its model.
    """
    greatest = {key: high for key, (_, high) in open_thresholds(result).items()}
    return result.model.with_values(greatest)
