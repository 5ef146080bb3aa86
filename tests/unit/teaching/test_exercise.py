from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.suggestions import MissingAttributeError
from workbench.teaching import Amount, Exercise, Given, Mistake, check
from workbench.teaching.registry import find_exercise

SPEED = Exercise(
    number="9.1",
    question="A message of {size:bytes} takes {time:time} on {machine}. Which rate in GB/s?",
    kind=Amount("GB/s", "exact", relative=0.01),
    answer=lambda given: 1e-9 * given.size / given.time,
    look_again="Divide.",
    because="Bytes a second.",
    given=lambda draw: {
        "size": draw.one_of((8192, 4096)),
        "time": draw.one_of((1e-6, 2e-6)),
        "machine": "m",
    },
    mistakes=(
        Mistake("half", "One direction.", lambda right, given: [right / 2]),
        Mistake("nearly half", "Another.", lambda right, given: [right / 2.02]),
        Mistake("nothing", "Never seen.", lambda right, given: []),
    ),
)
GIVEN = SPEED.drawn()


def test_the_question_has_parameters_with_their_units() -> None:
    assert SPEED.asked(GIVEN) == "A message of 8 KiB takes 1 µs on m. Which rate in GB/s?"


@for_each(
    "answer, verdict, text",
    [
        (8.192, "right", "Bytes a second."),
        (8.2, "right", "Bytes a second."),
        (4.096, "hint", "One direction."),
        (4.056, "hint", "Another."),  # within the tolerance of both: the nearest
        (8.0, "hint", "you have rounded"),
        (1e9, "hint", "Divide."),
        (None, "unreadable", "The answer is None"),
        (..., "not answered", "Not answered yet"),
        ("8.2", "unreadable", "without quotes"),
    ],
)
def test_an_answer_is_right_or_gets_a_hint(answer: Any, verdict: str, text: str) -> None:
    found = SPEED.judge(answer, GIVEN)
    assert found.verdict == verdict
    assert text in repr(found)
    assert text in found._repr_html_()
    assert found.right == (verdict == "right")


def test_feedback_is_escaped() -> None:
    sentence = dataclasses.replace(SPEED, because="a < b, see `x`").judge(8.192, GIVEN)
    assert "a &lt; b, see <code>x</code>" in sentence._repr_html_()


def test_a_right_solution_explains_itself_after_a_click() -> None:
    number, right = "2.5", find_exercise("2.5").solve(find_exercise("2.5").drawn())
    assert check(number, right, keep=False)._repr_html_().startswith("<details ")
    assert "Not yet." in check(number, -right, keep=False)._repr_html_()
    assert "<details" not in check(number, right)._repr_html_()


def test_the_answer_is_computed_once() -> None:
    asked: list[Given] = []

    def answer(given: Given) -> float:
        asked.append(given)
        return 1.0

    exercise = dataclasses.replace(SPEED, answer=answer)
    assert [exercise.judge(1, GIVEN).right for _ in range(3)] == [True] * 3
    assert asked == [GIVEN]


def test_parameters_are_attributes_and_a_mistyped_one_is_noticed() -> None:
    assert GIVEN.size == GIVEN["size"] == 8192
    assert dict(GIVEN) == {"size": 8192, "time": 1e-6, "machine": "m"}
    assert Given({"a": 1}) == Given({"a": 1}) != Given({"a": 2})
    with pytest.raises(MissingAttributeError, match="did you mean size"):
        _ = GIVEN.sise


@for_each(
    "change, message",
    [
        ({"number": "1"}, "such as 2.3"),
        ({"look_again": " "}, "look_again"),
        ({"mistakes": SPEED.mistakes[:1] * 2}, "name of its own"),
        ({"look_again": "One direction."}, "hint of its own"),
    ],
)
def test_a_careless_exercise_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dataclasses.replace(SPEED, **change)
