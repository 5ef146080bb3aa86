"""Rules between parameters: worked out by hand from a few kinds of nodes, never by eval."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError, WorkbenchError
from workbench.tune.space.constraints import Expression, parents_first

VALUES = {"a": 3, "b": 4.5, "mode": "ring", "on": True, "worker-threads": 2}


@for_each(
    "text, value",
    [
        ("a + 1 == 4", True),
        ("a * 2 < b", False),
        ("1 < a <= 3", True),
        ("3 < a <= 3", False),
        ("mode in ['ring', \"chain\"] and on", True),
        ("mode not in ('ring',)", False),
        ("not on or a % 2 == 1", True),
        ("max(a, b) // 2 == 2", True),
        ("-a == abs(a) * -1", True),
        ("`worker-threads` * a <= 6", True),
        ("mode == '`a`'", False),
        ("a / 2", 1.5),
    ],
)
def test_values(text: str, value: object) -> None:
    assert Expression(text).value(VALUES) == value


def test_agrees_with_python_on_comparisons_and_logic() -> None:
    text = "(a < b or not a == 2) and (b - a) * 2 >= 1 and b in [a, 2, 3]"
    compiled = compile(text, "rule", "eval")
    for a, b in itertools.product(range(-2, 4), repeat=2):
        assert Expression(text).holds({"a": a, "b": b}) == eval(compiled, {}, {"a": a, "b": b})


def test_names_are_in_order_and_backquotes_name_what_is_no_python_name() -> None:
    assert Expression("b + `ram-size` < a + b").names == ("b", "ram-size", "a")


@for_each(
    "text",
    [
        "__import__('os').system('true')",
        "a.__class__",
        "a[0]",
        "(lambda: 1)()",
        "[x for x in a]",
        "eval('1')",
        "max(*a)",
        "min(a, key=b)",
        "a ** 99999",
        "a << 99999",
        "f'{a}'",
        "a if b else a",
        "(a := 1)",
        "a is b",
        "b'x' == a",
        "... == a",
        "1j * a",
        "max",
        "a +",
        "a\nb",
        "",
        "   ",
        "a" * 2000,
        "-" * 900 + "a",
        "(" * 300 + "a" + ")" * 300,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    if text == "max":
        assert Expression(text).names == ("max",)  # only a parameter of that name
        return
    with pytest.raises(ParameterError, match="a rule must"):
        Expression(text)


def test_texts_are_not_multiplied() -> None:
    with pytest.raises(ParameterError, match="must be computable; with mode='ring'"):
        Expression("mode * 1000000000 == 'x'").value(VALUES)


@for_each("text", ["a / 0 > 1", "a % 0 > 1", "mode < a", "-mode == 1", "a in b"])
def test_what_cannot_be_computed_is_reported(text: str) -> None:
    with pytest.raises(ParameterError, match="must be computable; with"):
        Expression(text).value(VALUES)


def test_a_parameter_that_is_not_passed() -> None:
    rule = Expression("a < b")
    assert not rule.applies({"a": 1, "b": None})
    assert not rule.holds({"a": 1})
    with pytest.raises(ParameterError, match="needs a value of b"):
        rule.value({"a": 1})


def test_given_replaces_parameters_by_values() -> None:
    rule = Expression("`worker-threads` * a <= `ram-size` and mode == 'ring'")
    left = rule.given({"worker-threads": 2, "mode": "ring"})
    assert left.names == ("a", "ram-size")
    assert left.holds({"a": 3, "ram-size": 6})
    assert not left.holds({"a": 4, "ram-size": 6})
    assert rule.given({"other": 1}) is rule
    assert Expression("a < 0").given({"a": -1}).holds({})


def test_expressions_are_equal_by_their_text() -> None:
    assert Expression("a < 1") == Expression("a < 1") != Expression("a < 2")


def test_parents_come_first_and_circles_are_refused() -> None:
    rules = {"b": Expression("a == 1"), "a": Expression("c == 1 and elsewhere == 2")}
    assert parents_first(["b", "a", "d", "c"], rules) == ("d", "c", "a", "b")
    with pytest.raises(ParameterError, match="form a cycle; a and b depend"):
        parents_first(["a", "b"], {"a": Expression("b == 1"), "b": Expression("a == 1")})
    with pytest.raises(ParameterError, match="must not form a cycle"):
        parents_first(["a"], {"a": Expression("a == 1")})


@given(st.text(alphabet="ab 01()+-*/%<>=!'\"`[],.andortin\n\\{}", max_size=60))
def test_any_text_gives_a_rule_or_a_message(text: str) -> None:
    try:
        rule = Expression(text)
        rule.value({"a": 2, "b": "x"})
    except WorkbenchError:
        pass


def test_names_are_those_that_are_written() -> None:
    """Python reads the micro sign as a Greek letter, and a letter and its accent as one sign."""
    for name in ("delay_µs", "gro\u0308ße", "ﬁle"):
        rule = Expression(f"{name} * 2 <= 8 and {name} != 3")
        assert rule.names == (name,)
        assert rule.holds({name: 4})
        assert not rule.holds({name: 3})
        assert rule.given({name: 4}).holds({})
    assert Expression("unit == 'µs' and 1e5 > n").names == ("unit", "n")
