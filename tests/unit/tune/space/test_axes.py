"""Grids, ranges and choices: their values, their places in the unit cube, their neighbours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune.space.axes import (
    MOST_VALUES,
    AnyAxis,
    Choices,
    Grid,
    Range,
    axis_from_dict,
    axis_of,
)

WHOLE = st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=30)
REAL = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30)
WORDS = st.lists(st.one_of(st.none(), st.text(max_size=5)), min_size=1, max_size=9)
BOUNDS = st.tuples(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6)).filter(
    lambda pair: pair[1] > pair[0] * 1.001
)
AXES: st.SearchStrategy[AnyAxis] = st.one_of(
    WHOLE.map(Grid.of),
    REAL.map(Grid.of),
    WORDS.map(Choices.of),
    st.builds(lambda pair, log: Range(*pair, log=log), BOUNDS, st.booleans()),
    st.builds(
        lambda low, more, log: Range(low, low + more, log=log, integer=True),
        st.integers(1, 100),
        st.integers(1, 10000),
        st.booleans(),
    ),
)


@example(Grid.of([2**62, 2**62 + 1]), 0)  # alike as floating-point numbers
@given(AXES, st.integers(0, 2**32))
def test_every_axis_keeps_its_own_rules(axis: AnyAxis, seed: int) -> None:
    value = axis.sample(np.random.default_rng(seed))
    assert axis.contains(value)
    assert axis.coerce(value) == value
    code = np.array(axis.encode(value))
    assert code.shape == (axis.width,)
    assert np.all((code >= 0) & (code <= 1))
    back = axis.decode(code)
    if isinstance(axis, Range) and not axis.integer:
        assert back == pytest.approx(value, rel=1e-9)  # a logarithm and its exponential
    else:
        assert back == value
    for neighbour in axis.neighbours(value):
        assert axis.contains(neighbour)
        assert neighbour != value
    assert axis.contains(axis.first())
    assert axis_from_dict(axis.to_dict()) == axis


@given(AXES, st.lists(st.floats(-2, 3), min_size=30, max_size=30))
def test_every_place_decodes_to_a_value_of_the_axis(axis: AnyAxis, code: list[float]) -> None:
    assert axis.contains(axis.decode(np.array(code[: axis.width])))


@for_each(
    "steps, values",
    [
        ((1, 5, 2), (1, 3, 5)),
        ((1, 6, 2), (1, 3, 5)),
        ((1, 6.5, 2), (1, 3, 5)),
        ((0, 10**10 - 1, 10**10), (0,)),
        ((0, 0, 1), (0,)),
        ((-5, 5, 5), (-5, 0, 5)),
        ((0.1, 0.5, 0.1), (0.1, 0.2, 0.3, 0.4, 0.5)),
        ((0, 1, 0.25), (0.0, 0.25, 0.5, 0.75, 1.0)),
        ((2, 16, 2, "multiplicative"), (2, 4, 8, 16)),
        ((3, 20, 2, "multiplicative"), (3, 6, 12)),
        ((2**39, 2**40 - 1, 2, "multiplicative"), (2**39,)),
        ((2**62, 2**63 - 1, 2, "multiplicative"), (2**62,)),
        ((1e307, 1.7976931348623157e308, 10, "multiplicative"), (1e307, 1e308)),
        ((0.5, 4, 2, "multiplicative"), (0.5, 1.0, 2.0, 4.0)),
    ],
)
def test_steps_as_shaman_counts_them(
    steps: tuple[float, float, float], values: tuple[float, ...]
) -> None:
    grid = Grid.steps(*steps)
    assert grid.values == values
    assert [type(value) for value in grid.values] == [type(value) for value in values]


@for_each(
    "steps, message",
    [
        ((4, 3, 1), "min of a grid must be at most max; got min 4, max 3"),
        ((1, 3, 0), "step of an additive grid must be above 0; got 0"),
        ((1, 3, 1, "multiplicative"), "step of a multiplicative grid must be above 1; got 1"),
        ((0, 8, 2, "multiplicative"), "min of a multiplicative grid must be above 0; got 0"),
        ((0, 1e12, 1), f"at most {MOST_VALUES} values"),
        ((0, 1, 1e-300), f"at most {MOST_VALUES} values"),
        ((0, 1, 5e-324), f"at most {MOST_VALUES} values"),
        ((-1e308, 1e308, 1), f"at most {MOST_VALUES} values"),
        ((1e-308, 1e308, 1.0001, "multiplicative"), f"at most {MOST_VALUES} values"),
        ((1, 1e300, 1.0001, "multiplicative"), f"at most {MOST_VALUES} values"),
        ((1, 3, 1, "linear"), "must be additive or multiplicative; got 'linear'"),
        ((1, math.inf, 1), "max of a grid must be a finite number; got inf"),
        (("1", 3, 1), "min of a grid must be a finite number; got '1'"),
        ((True, 3, 1), "min of a grid must be a finite number; got True"),
    ],
)
def test_steps_that_lead_nowhere(steps: tuple[float, float, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Grid.steps(*steps)


def test_every_value_of_a_grid_is_reached_by_neighbours() -> None:
    grid = Grid.of([1, 2, 4, 8, 100])
    seen, found = [1], {1}
    while seen:
        for value in grid.neighbours(seen.pop()):
            assert isinstance(value, int)
            if value not in found:
                found.add(value)
                seen.append(value)
    assert found == set(grid.values)


def test_a_grid_is_coded_by_rank_also_between_and_beyond_its_values() -> None:
    grid = Grid.of([8, 1, 64])
    assert [grid.encode(value)[0] for value in (1, 8, 64, 0, 99, 36)] == [0, 0.5, 1, 0, 1, 0.75]
    assert grid.encode(None) == (0.5,)
    assert grid.neighbours(36) == (8, 64)
    assert grid.neighbours(1000) == (64,)
    assert grid.neighbours(None) == (1,)


def test_zero_false_and_the_empty_text_are_values() -> None:
    assert Grid.of([0, 1]).contains(0)
    assert Choices.of(["", "x"]).contains("")
    assert Choices.of([False, True]).values == (False, True)
    assert axis_of([0, 2]) == Grid((0, 2))
    assert axis_of([0, "auto"]) == Choices((0, "auto"))
    assert axis_of([False, True]) == Choices((False, True))
    assert axis_of([None, 1]) == Choices((None, 1))


def test_a_range_of_whole_numbers_moves_by_one_at_least() -> None:
    axis = Range(1, 5, integer=True)
    assert axis.neighbours(1) == (2,)
    assert axis.neighbours(3) == (2, 4)
    assert axis.size == 5
    assert Range(1, 1e6, log=True, integer=True).decode(np.array([0.5])) == 1000
    assert Range(0.0, 1.0).size is None
    assert {Range(1, 3, integer=True).sample(np.random.default_rng(s)) for s in range(40)} == {
        1,
        2,
        3,
    }


@for_each(
    "make, message",
    [
        (lambda: Grid(()), "at least one value"),
        (lambda: Grid((2, 1)), r"must ascend, each value once; got 2, 1; Grid.of"),
        (lambda: Grid.of([1, "2"]), "finite numbers of at most 64 bits; got '2'"),
        (lambda: Grid.of([10**400]), "finite numbers of at most 64 bits"),
        (lambda: Grid.of([math.nan]), "finite numbers"),
        (lambda: Range(2, 1), "low of a range must be below high; got low 2.0, high 1.0"),
        (lambda: Range(0, 1, log=True), "must be positive; got 0.0"),
        (lambda: Range(0.5, 2, integer=True), "whole numbers must be one; got 0.5"),
        (lambda: Range(0, math.inf), "high of a range must be a finite number"),
        (lambda: Range(-1e308, 1e308), "must not be wider than the largest number"),
        (lambda: Choices(()), "at least one value"),
        (lambda: Choices(("a", "a")), "'a' equals an earlier one"),
        (lambda: Choices((1, True)), "True equals an earlier one"),
        (lambda: Choices.of([[1]]), r"got \[1\]"),
        (lambda: Choices((math.nan,)), "finite"),
        (lambda: axis_of([]), "at least one"),
        (lambda: axis_from_dict({"kind": "list"}), "must be a grid, a range or choices"),
        (lambda: axis_from_dict({"kind": "range", "low": 1}), "as to_dict writes it"),
        (lambda: axis_from_dict({"kind": "grid", "values": 3}), "as to_dict writes it"),
    ],
)
def test_axes_that_cannot_be(make: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()  # type: ignore[operator]


def test_axes_say_what_they_are() -> None:
    assert str(Grid.of(range(20))) == "0, 1, 2, 3, …, 18, 19"
    assert str(Choices((None, "x"))) == "not passed, x"
    assert str(Range(1, 8, log=True, integer=True)) == "1 to 8 (whole numbers, log scale)"
    assert str(Range(0.5, 2)) == "0.5 to 2"


def test_true_and_1_are_not_taken_for_one_another() -> None:
    with pytest.raises(ParameterError, match="True equals 1; keep one of them"):
        Choices.of([1, True])
    with pytest.raises(ParameterError, match="0 equals False"):
        axis_of(["auto", False, 0])
    assert Choices.of(["a", 2, 2.0, "a"]).values == ("a", 2)


def test_a_range_of_whole_numbers_is_one_that_floats_can_tell_apart() -> None:
    assert Range(1, 2**53, integer=True).size == 2**53
    with pytest.raises(ParameterError, match=r"narrower than 2\*\*53"):
        Range(-(2**62), 2**62, integer=True)


def test_an_empty_text_can_be_seen_among_the_choices() -> None:
    assert str(Choices(("", None, "a", 0))) == '"", not passed, a, 0'
