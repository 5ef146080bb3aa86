"""All configurations of an experiment: counted, listed, drawn, coded, and held to their rules."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from workbench.errors import ParameterError
from workbench.tune.space.axes import Choices, Grid, Range
from workbench.tune.space.space import TuningSpace

COLLECTIVE = TuningSpace(
    {
        "segment": Grid.of([0, 1024, 4096]),
        "algorithm": Choices((0, 1, 2, 3)),
        "fanout": Grid.of([2, 4, 8]),
    },
    constraints=["fanout * 512 <= segment or segment == 0"],
    conditions={"segment": "algorithm in [2, 3]", "fanout": "algorithm == 3"},
    defaults={"algorithm": 0, "segment": 0, "fanout": 4},
)


def by_hand() -> list[dict[str, Any]]:
    """The configurations of COLLECTIVE, from the words of its rules."""
    found = []
    for algorithm in (0, 1, 2, 3):
        for segment in (0, 1024, 4096) if algorithm in (2, 3) else (None,):
            for fanout in (2, 4, 8) if algorithm == 3 else (None,):
                if fanout and segment and fanout * 512 > segment:
                    continue
                found.append({"algorithm": algorithm, "segment": segment, "fanout": fanout})
    return found


def test_the_configurations_are_those_that_the_rules_allow() -> None:
    assert COLLECTIVE.names == ("algorithm", "segment", "fanout")
    assert list(COLLECTIVE.all()) == by_hand()
    assert COLLECTIVE.size == len(by_hand()) == 12
    for configuration in by_hand():
        assert COLLECTIVE.contains(configuration)
        assert all(COLLECTIVE.contains(each) for each in COLLECTIVE.neighbours(configuration))


def test_without_rules_the_last_parameter_changes_fastest() -> None:
    space = TuningSpace({"a": Grid.of([1, 2]), "b": Choices(("x", "y"))})
    assert [tuple(each.values()) for each in space.all()] == list(
        itertools.product((1, 2), ("x", "y"))
    )


def test_the_default_need_not_lie_on_the_grid() -> None:
    assert COLLECTIVE.default == {"algorithm": 0, "segment": None, "fanout": None}
    space = TuningSpace({"a": Grid.of([2, 4]), "b": Range(0, 1)}, defaults={"a": 0, "b": 7})
    assert space.default == {"a": 0, "b": 7.0}
    assert not space.contains(space.default)
    assert list(space.encode(space.default)) == [0, 1]
    assert TuningSpace({"a": Grid.of([2, 4])}).default is None


def test_parameters_that_do_not_apply_are_none_whatever_is_given() -> None:
    given_all = {"algorithm": 1, "segment": 1024, "fanout": 8}
    assert COLLECTIVE.canonical(given_all) == {"algorithm": 1, "segment": None, "fanout": None}
    assert COLLECTIVE.key(given_all) == COLLECTIVE.key({"algorithm": 1}) == (1, None, None)
    assert COLLECTIVE.canonical({"algorithm": 2.0, "segment": 0})["algorithm"] == 2
    assert type(COLLECTIVE.canonical({"algorithm": 2.0, "segment": 0})["algorithm"]) is int


@for_each(
    "configuration, message",
    [
        ({"algorithm": 2}, "must have a value of segment; got only algorithm"),
        ({}, "must have a value of algorithm; got only none"),
        ({"algorithm": 0, "size": 1}, "size is not a parameter of this space; known: algorithm"),
    ],
)
def test_configurations_that_are_none(configuration: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        COLLECTIVE.canonical(configuration)
    assert not COLLECTIVE.contains(configuration)


def test_what_is_beside_the_axes_or_against_a_constraint_is_not_contained() -> None:
    assert not COLLECTIVE.contains({"algorithm": 7})
    assert not COLLECTIVE.contains({"algorithm": 2, "segment": 77})
    assert not COLLECTIVE.contains({"algorithm": 2, "segment": None})
    assert not COLLECTIVE.contains({"algorithm": 3, "segment": 1024, "fanout": 8})


def test_codes() -> None:
    code = COLLECTIVE.encode({"algorithm": 2, "segment": 4096})
    assert COLLECTIVE.dimension == 6
    assert list(code) == [0, 0, 1, 0, 1, 0.5]
    for configuration in COLLECTIVE.all():
        assert COLLECTIVE.decode(COLLECTIVE.encode(configuration)) == configuration
    codes = {tuple(COLLECTIVE.encode(each)) for each in COLLECTIVE.all()}
    assert len(codes) == COLLECTIVE.size


def test_a_step_brings_parameters_to_apply_with_their_defaults() -> None:
    steps = COLLECTIVE.neighbours({"algorithm": 1})
    assert {"algorithm": 3, "segment": 0, "fanout": 4} in steps
    assert {"algorithm": 2, "segment": 0, "fanout": None} in steps
    assert len(steps) == 3


def test_every_configuration_is_reached_by_steps() -> None:
    start = next(COLLECTIVE.all())
    waiting, found = [start], {COLLECTIVE.key(start)}
    while waiting:
        for step in COLLECTIVE.neighbours(waiting.pop()):
            if COLLECTIVE.key(step) not in found:
                found.add(COLLECTIVE.key(step))
                waiting.append(step)
    assert len(found) == COLLECTIVE.size


def test_draws_are_allowed_seeded_and_reach_everything() -> None:
    rng = np.random.default_rng(5)
    drawn = [COLLECTIVE.sample(rng) for _ in range(400)]
    assert all(COLLECTIVE.contains(each) for each in drawn)
    assert {COLLECTIVE.key(each) for each in drawn} == {
        COLLECTIVE.key(each) for each in COLLECTIVE.all()
    }
    assert COLLECTIVE.sample(3) == COLLECTIVE.sample(3)


def test_a_single_allowed_configuration_is_still_drawn() -> None:
    axes = {name: Grid.of(range(30)) for name in "abc"}
    space = TuningSpace(axes, constraints=["a == 29 and b == 29", "c == 29"])
    assert space.size == 1
    assert space.sample(0) == {"a": 29, "b": 29, "c": 29}
    # A parameter in no rule is drawn beside them, however many values it has.
    wide = TuningSpace({**axes, "x": Range(0, 1)}, constraints=["a == 29 and b == 29", "c == 29"])
    assert wide.contains(wide.sample(0))


def test_constraints_that_leave_nothing() -> None:
    space = TuningSpace({"a": Grid.of([1, 2])}, constraints=["a > 5"])
    assert space.size == 0
    assert list(space.all()) == []
    with pytest.raises(
        ParameterError, match=r"must leave something to try; none of .* meets a > 5"
    ):
        space.sample(0)


def test_large_and_continuous_spaces_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tune.space.space._MOST_COUNTED", 5000)
    axes = {name: Grid.of(range(1000)) for name in "abcd"}
    assert TuningSpace(axes).size == 10**12
    assert TuningSpace(axes, constraints=["a + b + c + d < 0"]).size is None
    # The parameter in no rule multiplies, however many values it has.
    assert TuningSpace(axes, constraints=["a < 3"]).size == 3 * 10**9
    continuous = TuningSpace({"x": Range(0, 1)})
    assert continuous.size is None
    assert not continuous.finite
    with pytest.raises(ParameterError, match=r"x has 0 to 1; give it a Grid"):
        continuous.all()
    whole = TuningSpace({"n": Range(1, 3, integer=True)})
    assert [each["n"] for each in whole.all()] == [1, 2, 3]


@for_each(
    "arguments, message",
    [
        (({},), "at least one parameter"),
        (({"": Grid.of([1])},), "must have a name"),
        (({"a": [1, 2]},), r"a must have a Grid, a Range or Choices; got \[1, 2\]"),
        (({"a": Grid.of([1])}, ["b > 1"]), "b is not one; known: a"),
        (({"a": Grid.of([1])}, [], {"b": "a == 1"}), "a condition must belong to .* b is not one"),
        (({"a": Grid.of([1])}, [], None, {"b": 1}), "a default must belong to .* b is not one"),
        (({"a": Grid.of([1])}, [], {"a": "a == 1"}), "must not form a cycle"),
        (
            ({"a": Grid.of([1]), "b": Choices((None, 1))}, [], {"b": "a == 1"}),
            "must not have None among its values",
        ),
    ],
)
def test_spaces_that_cannot_be(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TuningSpace(*arguments)


def test_a_space_comes_back_from_json() -> None:
    back = TuningSpace.from_dict(json.loads(json.dumps(COLLECTIVE.to_dict())))
    assert back.to_dict() == COLLECTIVE.to_dict()
    assert list(back.all()) == list(COLLECTIVE.all())
    assert back.default == COLLECTIVE.default
    for broken in ({}, {"axes": 3}, {"axes": {"a": 3}, "constraints": []}):
        with pytest.raises(ParameterError, match="as to_dict writes it"):
            TuningSpace.from_dict(broken)


def test_a_space_says_what_it_is() -> None:
    assert repr(COLLECTIVE) == (
        "TuningSpace(algorithm: 0, 1, 2, 3; segment: 0, 1024, 4096; fanout: 2, 4, 8, "
        "12 configurations)"
    )
    assert "algorithm in [2, 3]" in COLLECTIVE._repr_html_()


NAMES = "abcd"


@st.composite
def spaces(draw: st.DrawFn) -> TuningSpace:
    """A small finite space with conditions and constraints."""
    axes: dict[str, Grid | Choices] = {}
    conditions = {}
    for at, name in enumerate(draw(st.permutations(NAMES))[: draw(st.integers(1, 4))]):
        values = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
        axes[name] = Grid.of(values) if draw(st.booleans()) else Choices.of(values)
        earlier = list(axes)[:at]
        if earlier and draw(st.booleans()):
            conditions[name] = f"{draw(st.sampled_from(earlier))} > {draw(st.integers(0, 3))}"
    rule = f"{draw(st.sampled_from(list(axes)))} + {draw(st.sampled_from(list(axes)))} != 4"
    return TuningSpace(axes, [rule] if draw(st.booleans()) else [], conditions)


@examples(12)
@given(spaces(), st.randoms(use_true_random=False))
def test_every_small_space_agrees_with_brute_force(space: TuningSpace, random: Any) -> None:
    """The walk that leaves dead ends early finds what trying everything finds."""
    found = {}
    columns = [axis.values for axis in space.axes.values()]  # type: ignore[union-attr]
    for values in itertools.product(*columns):
        configuration = space.canonical(dict(zip(space.names, values, strict=True)))
        if space.allows(configuration):
            found[space.key(configuration)] = configuration
    assert sorted(map(repr, found)) == sorted(repr(space.key(each)) for each in space.all())
    assert space.size == len(found)
    for configuration in found.values():
        assert space.contains(configuration)
        assert space.decode(space.encode(configuration)) == configuration
        for step in space.neighbours(configuration):
            assert space.key(step) in found
    if found:
        assert space.key(space.sample(random.randrange(1000))) in found
