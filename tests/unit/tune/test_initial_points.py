from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune.initial_points import (
    STARTS,
    initial_points,
    largest_latin_hypercube,
    latin_hypercube,
)
from workbench.tune.space.axes import Choices, Grid, Range
from workbench.tune.space.space import TuningSpace

WIDE = TuningSpace(
    {
        "a": Grid(tuple(range(12))),
        "b": Range(1.0, 100.0, log=True),
        "c": Choices(tuple("abcdefghij")),
        "d": Range(5, 40, integer=True),
    }
)
RULED = TuningSpace(
    {"a": Grid(tuple(range(8))), "b": Grid(tuple(range(8))), "c": Choices(("x", "y"))},
    constraints=("a + b <= 9",),
    conditions={"b": "c == 'x'"},
    defaults={"a": 1, "b": 99, "c": "x"},
)


@given(st.integers(0, 10), st.integers(0, 2**32))
def test_no_value_of_a_latin_hypercube_is_there_twice(count: int, seed: int) -> None:
    points = latin_hypercube(WIDE, count, np.random.default_rng(seed))
    assert len(points) == count and all(WIDE.contains(point) for point in points)
    for name in WIDE.names:
        assert len({point[name] for point in points}) == count


@given(st.integers(1, 10), st.integers(0, 2**32))
def test_each_part_of_an_axis_is_met_once(count: int, seed: int) -> None:
    points = latin_hypercube(WIDE, count, np.random.default_rng(seed))
    parts = sorted(int(WIDE.axes["b"].encode(point["b"])[0] * count) for point in points)
    assert parts == list(range(count))
    ranks = sorted(point["a"] for point in points)
    assert all(12 * i / count <= rank < 12 * (i + 1) / count for i, rank in enumerate(ranks))


def test_every_value_can_be_drawn() -> None:
    seen = {
        point["a"]
        for seed in range(60)
        for point in latin_hypercube(WIDE, 5, np.random.default_rng(seed))
    }
    assert seen == set(range(12))


def test_a_latin_hypercube_is_no_larger_than_the_smallest_axis() -> None:
    assert largest_latin_hypercube(WIDE) == 10
    assert largest_latin_hypercube(TuningSpace({"a": Range(0.0, 1.0)})) is None
    with pytest.raises(ParameterError, match="at most as many points"):
        initial_points(WIDE, 11, "latin-hypercube")


@for_each("how", ["hybrid", "uniform"])
@for_each("seed", [0, 1])
def test_starts_keep_to_the_rules_and_differ(how: str, seed: int) -> None:
    points = initial_points(RULED, 12, how, seed=seed)
    assert points[0] == {"a": 1, "b": 99, "c": "x"}  # beside the axes, as defaults may be
    assert all(RULED.contains(point) for point in points[1:])
    assert len({RULED.key(point) for point in points}) == 12
    assert points == initial_points(RULED, 12, how, seed=seed)
    assert points != initial_points(RULED, 12, how, seed=seed + 2)


def test_the_hybrid_begins_with_a_latin_hypercube() -> None:
    space = TuningSpace({"a": Grid(tuple(range(4))), "b": Grid(tuple(range(20)))})
    for seed in range(10):
        points = initial_points(space, 10, "hybrid", seed=seed)
        assert {point["a"] for point in points[:4]} == {0, 1, 2, 3}


def test_a_space_with_fewer_configurations_than_points_repeats_some() -> None:
    space = TuningSpace({"a": Grid((1, 2))}, defaults={"a": 1})
    for how in STARTS:
        points = initial_points(space, 2 if how == "latin-hypercube" else 4, how)
        assert {point["a"] for point in points} == {1, 2}


def test_the_default_is_first_only_where_asked_for_and_known() -> None:
    assert initial_points(RULED, 3, default_first=False)[0]["b"] != 99
    assert len(initial_points(WIDE, 3)) == 3
    assert initial_points(RULED, 0) == ()
    assert initial_points(RULED, 1) == ({"a": 1, "b": 99, "c": "x"},)


def test_an_unknown_start_or_count_is_refused() -> None:
    with pytest.raises(ParameterError, match="hybrid"):
        initial_points(WIDE, 3, "sobol")
    with pytest.raises(ParameterError, match="count"):
        initial_points(WIDE, -1)


@given(st.integers(1, 40), st.integers(0, 5))
def test_a_log_scale_of_whole_numbers_is_spread_evenly_on_that_scale(count: int, seed: int) -> None:
    axis = Range(1, 2**20, log=True, integer=True)
    points = latin_hypercube(TuningSpace({"bytes": axis}), count, np.random.default_rng(seed))
    values = sorted(int(point["bytes"] or 0) for point in points)
    assert len(set(values)) == count
    for part, value in enumerate(values):
        # Rounding, and the room that whole numbers need near 1, move a value by two at most here.
        low, high = (2.0 ** (20 * edge / count) for edge in (part, part + 1))
        assert low - 2 <= value <= high + max(part, 2)


def test_a_log_scale_of_whole_numbers_can_be_taken_whole() -> None:
    space = TuningSpace({"ranks": Range(1, 12, log=True, integer=True)})
    points = latin_hypercube(space, 12, np.random.default_rng(3))
    assert sorted(int(point["ranks"] or 0) for point in points) == list(range(1, 13))
