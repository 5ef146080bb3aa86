from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.panels.number_field import REFUSED, NumberField, check_all, errors_of
from workbench.panels.style import choose, named, wrapping_row

Made = tuple[NumberField, list[Any]]


@pytest.fixture
def make() -> Callable[..., Made]:
    def make(value: float = 16, least: float = 2, most: float = 4096, **options: Any) -> Made:
        heard: list[Any] = []
        field = NumberField(value, least, most, **{**named("ranks", "120px"), **options})
        field.observe(lambda change: heard.append(change["new"]), "value")
        return field, heard

    return make


def type_in(field: NumberField, number: float) -> None:
    """Send what a browser sends: it has no other numbers than floats."""
    field.typed.set_state({"value": float(number)})


@for_each("number", [-3, 0, 1, 4097, 99999, 1e9, 3.7, math.nan, math.inf])
def test_what_does_not_fit_is_reported_and_the_former_values_stay(
    number: float, make: Callable
) -> None:
    field, heard = make()
    type_in(field, number)
    assert field.value == 16
    assert heard == []
    got = f"{number:,.15g}"
    assert field.error.message == (
        f"ranks must be a whole number from 2 to 4,096; got {got}; "
        "the value stays 16 until a valid one is typed"
    )
    assert field.typed.value == number or math.isnan(number), "what was typed is not cut"
    assert REFUSED in field.typed.get_state()["_dom_classes"]


@for_each("number", [2, 17, 4096])
def test_what_fits_is_taken_and_ends_the_complaint(number: int, make: Callable) -> None:
    field, heard = make()
    type_in(field, 99999)
    type_in(field, number)
    assert heard == [number]
    assert isinstance(field.value, int)
    assert field.error.message == ""
    assert REFUSED not in field.typed.get_state()["_dom_classes"]


def test_typing_the_value_again_ends_the_complaint(make: Callable) -> None:
    field, heard = make()
    type_in(field, 0)
    type_in(field, 16)
    assert (field.value, field.error.message, heard) == (16, "", [])


@for_each("value", [-3, 0, 99999, 3.7, "16", None, True, math.nan, [16]])
def test_python_is_answered_and_the_field_stays(value: Any, make: Callable) -> None:
    field, heard = make()
    with pytest.raises(ParameterError, match="trials must be a whole number from 2 to 4,096; got"):
        choose(field, "trials", value)
    with pytest.raises(ParameterError, match="ranks must be a whole number from 2 to 4,096; got"):
        field.value = value
    assert (field.value, field.typed.value, heard) == (16, 16, [])


@for_each("value", [16, 64])
def test_what_python_sets_takes_the_place_of_what_was_refused(value: int, make: Callable) -> None:
    field, _ = make()
    type_in(field, 99999)
    choose(field, "ranks", value)
    assert (field.value, field.typed.value, field.error.message) == (value, value, "")


def test_a_fraction_is_a_number_where_the_first_one_is(make: Callable) -> None:
    field, heard = make(0.5, 0.0, 1.0, step=0.05)
    type_in(field, 0.123)
    field.value = 1
    assert heard == [0.123, 1.0]
    type_in(field, 1.5)
    assert field.error.message.startswith(
        "ranks must be a number from 0 to 1; got 1.5; the value stays 1"
    )


def test_another_range_moves_a_value_that_no_longer_fits(make: Callable) -> None:
    field, heard = make()
    field.limit(1, 8)
    assert heard == [8]
    type_in(field, 16)
    field.limit(1, 9)
    assert "from 1 to 9; got 16; the value stays 8" in field.error.message
    assert field.typed.value == 16, "what was typed waits"
    field.limit(1, 32)
    assert (heard, field.error.message) == ([8, 16], "")
    assert field.typed.tooltip == "A whole number from 1 to 32"


def test_hidden_fields_raise_no_errors(make: Callable) -> None:
    field, _ = make()
    type_in(field, 0)
    field.layout.display = "none"
    assert (field.error.message, field.typed.value) == ("", 16)


def test_it_is_held_with_what_was_refused(make: Callable) -> None:
    field, _ = make()
    type_in(field, 0)
    field.disabled = True
    assert field.typed.disabled
    assert field.error.message
    field.disabled = False
    assert not field.typed.disabled


def test_name_and_range_are_reported_before_anything_is_typed(make: Callable) -> None:
    field, _ = make(called="r", tooltip="Processes of the program")
    assert field.description == "ranks"
    assert field.typed.tooltip == "Processes of the program; a whole number from 2 to 4,096"
    type_in(field, 1)
    assert field.error.message.startswith("r must be")


def test_a_row_has_the_lines_of_its_fields_below(make: Callable) -> None:
    (first, _), (second, _) = make(), make()
    text = widgets.Text()
    row = wrapping_row(first, text, second)
    assert row.children == (first, text, second, first.error, second.error)
    assert first.error.layout.flex == "1 0 100%", "it has a line of its own"
    assert errors_of(row.children) == [first.error, second.error]


def test_nothing_long_begins_with_a_number_that_was_refused(make: Callable) -> None:
    (first, _), (second, _) = make(), make(called="seed")
    check_all([first, widgets.Text(), second])
    type_in(second, -1)
    with pytest.raises(ParameterError, match="correct seed first; nothing was started"):
        check_all([first, widgets.Text(), second])
