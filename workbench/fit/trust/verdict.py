"""Texts on how well the data determine a parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from workbench.fit.result import FitResult
from workbench.fit.space import Dimension
from workbench.fit.trust.scan import Interval

_UNSEEN = "the data do not determine it"


def verdicts(
    result: FitResult,
    errors: Mapping[str, float],  # standard errors in positions, by key
    pairs: Sequence[tuple[str, str, float]],  # strongly correlated, strongest first
    sums: Sequence[tuple[str, ...]],  # times that act only through their sum
    flat: Sequence[str],  # parameters that may have any value
    refitted: Mapping[str, Interval],  # by key, with the others refitted
    thresholds: Mapping[str, tuple[int, int]],  # values of the same curve, by key
) -> dict[str, str]:
    """Return a short text for each parameter, by key."""
    texts = {}
    for dimension in result.space.dimensions:
        key, interval = dimension.key, refitted.get(dimension.key)
        if key in flat:
            text = _UNSEEN
        elif key in thresholds:
            text = _threshold(dimension, thresholds[key], interval)
        else:
            text = _partner(key, pairs, sums) or _alone(
                dimension, errors[key], float(result.values[key]), interval
            )
        where = result.at_bound.get(key)
        texts[key] = f"at its {where} bound; {text}" if where else text
    return texts


def _threshold(dimension: Dimension, equivalent: tuple[int, int], refitted: Interval | None) -> str:
    text = f"any value {_from_to(dimension, *equivalent)} gives the same"
    if refitted is None or (refitted.low >= equivalent[0] and refitted.high <= equivalent[1]):
        return text
    return f"{text}; {_from_to(dimension, refitted.low, refitted.high)} does nearly as well"


def _from_to(dimension: Dimension, low: float, high: float) -> str:
    """Return a range of sizes as text; an end one byte short of a round size is "below" it."""
    if dimension.clip(dimension.high) <= high:
        return f"from {dimension.text(low)} on"
    return f"from {dimension.text(low)} to below {dimension.text(high + 1)}"


def _alone(dimension: Dimension, sd: float, value: float, refitted: Interval | None) -> str:
    if refitted is not None and refitted.everywhere:
        return "any value, if the others are refitted"
    if refitted is not None and refitted.at_low:
        return f"no more than {dimension.text(refitted.high)}"
    if refitted is not None and refitted.at_high:
        return f"no less than {dimension.text(refitted.low)}"
    if not dimension.log:
        return f"± {dimension.text(sd * (dimension.high - dimension.low))}"
    error = sd * math.log(dimension.high / dimension.low)
    if error < 0.3:
        return f"± {100.0 * error:.2g} %"
    return f"within a factor of {math.exp(error):.2g}" if error < math.log(100.0) else _UNSEEN


def _partner(
    key: str, pairs: Sequence[tuple[str, str, float]], sums: Sequence[tuple[str, ...]]
) -> str:
    """Return the text on parameters that the data determine only together with this one, or ""."""
    for keys in sums:
        if key in keys:
            return f"only its sum with {' and '.join(k for k in keys if k != key)}"
    for a, b, rho in pairs:
        if key in (a, b):
            return f"only together with {b if key == a else a} (correlation {rho:+.2f})"
    return ""
