"""The losses over arbitrary curves, beside the sums of Table I written out in plain Python."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from tests.cases import for_each
from workbench.fit.losses import HUBER_DELTA, LOSSES, huber, rmspe

positive = st.floats(min_value=1e-3, max_value=1e6)
pairs = st.lists(st.tuples(positive, positive), min_size=1, max_size=46)


def plain(name: str, x: list[float], y: list[float]) -> float:
    """Table I, term by term: y is the observation and x the prediction."""
    n = len(y)
    terms = list(zip(x, y, strict=True))
    if name == "mae":
        return math.fsum(abs(b - a) for a, b in terms) / n
    if name == "mse":
        return math.fsum((b - a) ** 2 for a, b in terms) / n
    if name == "rmse":
        return math.sqrt(math.fsum((b - a) ** 2 for a, b in terms) / n)
    if name == "rmsre":
        return math.sqrt(math.fsum(((a - b) / b) ** 2 for a, b in terms) / n)
    if name == "rmspe":
        return 100 * math.sqrt(math.fsum(((a - b) / b) ** 2 for a, b in terms) / n)
    total = 0.0
    for a, b in terms:
        e = abs(a - b)
        total += e * e / 2 if e <= HUBER_DELTA else HUBER_DELTA * e - HUBER_DELTA**2 / 2
    return total / n


@for_each("name", list(LOSSES))
@given(points=pairs)
def test_is_what_table_one_says(name: str, points: list[tuple[float, float]]) -> None:
    x, y = [list(column) for column in zip(*points, strict=True)]
    # rel=1e-12: 46 roundings of a mean, then a root; abs: differences of equal numbers
    assert LOSSES[name](x, y) == pytest.approx(plain(name, x, y), rel=1e-12, abs=1e-300)


@for_each("name", list(LOSSES))
@given(points=pairs)
def test_is_zero_only_for_a_perfect_prediction(
    name: str, points: list[tuple[float, float]]
) -> None:
    x, y = [list(column) for column in zip(*points, strict=True)]
    assert LOSSES[name](y, y) == 0.0
    if any(abs(a - b) > 1e-9 * b for a, b in points):
        assert LOSSES[name](x, y) > 0.0


@for_each("name", list(LOSSES))
@given(points=pairs, at=st.integers(0, 45), value=st.one_of(positive, st.just(math.nan)))
def test_a_point_that_was_not_measured_changes_nothing(
    name: str, points: list[tuple[float, float]], at: int, value: float
) -> None:
    x, y = [list(column) for column in zip(*points, strict=True)]
    at = min(at, len(x))
    with_gap_x, with_gap_y = list(x), list(y)
    with_gap_x.insert(at, value)
    with_gap_y.insert(at, math.nan)
    assert LOSSES[name](with_gap_x, with_gap_y) == LOSSES[name](x, y)


@given(points=pairs, scale=st.floats(min_value=1e-3, max_value=1e3))
def test_relative_losses_do_not_depend_on_the_unit(
    points: list[tuple[float, float]], scale: float
) -> None:
    x, y = [np.array(column) for column in zip(*points, strict=True)]
    # rel: the scaled values are rounded once each; abs: the difference of near equals cancels
    assert rmspe(x * scale, y * scale) == pytest.approx(rmspe(x, y), rel=1e-9, abs=1e-9)


@given(points=pairs)
def test_huber_lies_under_both_of_its_halves(points: list[tuple[float, float]]) -> None:
    x, y = [list(column) for column in zip(*points, strict=True)]
    delta = 2.5
    value = huber(delta)(x, y)
    slack = 1 + 1e-12  # rounding of the two means
    assert value <= LOSSES["mse"](x, y) / 2 * slack
    assert value <= delta * LOSSES["mae"](x, y) * slack
