"""Descents on functions whose minima are known, driven by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from workbench.fit.engines.descent import Ask, Box, FinishedTrial, descend
from workbench.models import ModelParameter

Array = NDArray[np.float64]


def box(*ranges: tuple[float, float], log: bool = False) -> Box:
    dimensions = tuple(
        ModelParameter(key=f"p{i}", kind="time", section="NIC", low=low, high=high, log=log)
        for i, (low, high) in enumerate(ranges)
    )
    return Box(dimensions, np.arange(len(dimensions)))


def drive(
    asked: Ask[FinishedTrial], function: Callable[[Array], Array | None]
) -> tuple[FinishedTrial, list[Array]]:
    """Answer every question; return where the descent ended, and what it asked for."""
    seen: list[Array] = []
    try:
        values = next(asked)
        while True:
            x = np.array(list(values.values()), np.float64)
            seen.append(x)
            points = function(x)
            loss = 1e30 if points is None else float(points @ points)
            values = asked.send((loss, points))
    except StopIteration as end:
        return end.value, seen


def start(within: Box, function: Callable[[Array], Array | None], *values: float) -> FinishedTrial:
    tried = {d.key: d.clip(v) for d, v in zip(within.dimensions, values, strict=True)}
    points = function(np.array(values))
    return FinishedTrial(tried, within.position(tried), float(points @ points), points)


def rosenbrock(x: Array) -> Array:
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])


def test_a_curved_valley_is_followed_to_its_end() -> None:
    within = box((-2.0, 2.0), (-2.0, 2.0))
    found, seen = drive(
        descend(within, start(within, rosenbrock, -1.2, 1.0), lambda p: p, gain=1e-4),
        rosenbrock,
    )
    # from 24; what is tried has six digits, so a residual of 10 (y - x²) ends near 1e-5
    assert found.loss < 1e-6
    assert len(seen) < 200


def test_a_minimum_beyond_a_bound_is_found_on_it() -> None:
    within = box((0.0, 1.0), (0.0, 1.0))

    def away(x: Array) -> Array:
        return np.array([x[0] + 0.5, x[1] - 0.4])

    found, seen = drive(
        descend(within, start(within, away, 0.6, 0.9), lambda p: p, gain=1e-4), away
    )
    # a sum of squares that stops falling by 1e-4 of 0.25 leaves up to 5e-3 in x
    assert list(found.values.values()) == pytest.approx([0.0, 0.4], abs=5e-3)
    assert np.min(seen) >= 0.0
    assert np.max(seen) <= 1.0


def test_a_step_into_what_is_refused_is_made_shorter() -> None:
    within = box((0.0, 1.0), (0.0, 1.0))

    def guarded(x: Array) -> Array | None:
        return None if x[0] > 0.5 else np.array([x[0] - 0.7, x[1] - 0.2])

    begun = start(within, guarded, 0.1, 0.9)
    found, seen = drive(descend(within, begun, lambda p: p, gain=1e-4), guarded)
    assert any(guarded(x) is None for x in seen)
    assert found.points is not None
    assert found.values["p0"] > 0.4  # 0.5 is the end of the ground
    assert found.loss < begun.loss / 4


def test_scales_of_many_decades_are_crossed() -> None:
    within = box((1e-9, 1e-3), (1e-9, 1e-3), log=True)

    def logarithms(x: Array) -> Array:
        return np.log(x / np.array([3e-8, 2e-4]))

    found, seen = drive(
        descend(within, start(within, logarithms, 1e-4, 1e-8), lambda p: p, gain=1e-4), logarithms
    )
    assert list(found.values.values()) == pytest.approx([3e-8, 2e-4], rel=1e-3)
    assert len(seen) < 40


def test_whole_numbers_are_moved_by_one_at_least() -> None:
    size = ModelParameter(key="bytes", kind="bytes", section="NIC", low=1, high=100, log=True)
    within = Box((size,), np.arange(1))
    at = FinishedTrial({"bytes": 7}, within.position({"bytes": 7}), 1.0, np.ones(1))
    assert within.nudged(at, 0, 1) == {"bytes": 8}
    assert within.nudged(at, 0, -1) == {"bytes": 6}


def test_a_start_that_was_refused_is_where_the_descent_ends() -> None:
    within = box((0.0, 1.0))
    refused = FinishedTrial({"p0": 0.5}, np.array([0.5]), 1e30, None)
    found, seen = drive(descend(within, refused, lambda p: p, gain=1e-4), lambda x: x)
    assert found is refused
    assert seen == []


def test_a_parameter_without_effect_stays_where_it_is() -> None:
    within = box((0.0, 1.0), (0.0, 1.0))

    def first_only(x: Array) -> Array:
        return np.array([x[0] - 0.25, 1.0])

    found, _ = drive(
        descend(within, start(within, first_only, 0.9, 0.5), lambda p: p, gain=1e-4), first_only
    )
    assert found.values["p1"] == 0.5
    assert found.values["p0"] == pytest.approx(0.25, abs=0.02)  # 1 hides what is left of x
