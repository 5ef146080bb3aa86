"""What holds for every exercise of every lesson, for whatever a name draws."""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.teaching import Exercise, Given, Lesson, LessonPart, OneOf, ask, check, lesson
from workbench.teaching.registry import COURSE, find_exercise, lessons

# Four draw half of what fifty do, in half the time, and with these each mistake is made.
FIRST, PEOPLE = 7, 4
EXERCISES = [exercise for number in COURSE for exercise in lesson(number).exercises]

every_exercise = for_each("exercise", EXERCISES)
every_class = pytest.mark.parametrize("people", [PEOPLE, pytest.param(50, marks=pytest.mark.deep)])


@functools.cache
def draws(exercise: Exercise, people: int) -> set[Given]:
    """Return an exercise's parameters without a name, then for each of some students."""
    names = ["", *(f"student {number}" for number in range(FIRST, FIRST + people))]
    return {exercise.drawn(name) for name in names}


@every_class
@every_exercise
def test_answers_of_mistakes_differ_from_one_another_and_from_the_right_one(
    exercise: Exercise, people: int
) -> None:
    close = []
    for given in draws(exercise, people):
        right = exercise.solve(given)
        named = [("", right), *((one.name, wrong) for one, wrong in exercise.wrong_answers(given))]
        for (name, value), (other, near) in itertools.combinations(named, 2):
            if name != other and not exercise.kind.apart(value, near):
                close.append((given, name, value, other, near))
    assert close == []


@every_class
@every_exercise
def test_the_right_answer_is_right_and_each_mistake_has_its_hint(
    exercise: Exercise, people: int
) -> None:
    for given in draws(exercise, people):
        assert exercise.judge(exercise.solve(given), given).right
        for mistake, wrong in exercise.wrong_answers(given):
            assert exercise.judge(wrong, given).mistake == mistake.name


@every_class
@every_exercise
def test_each_mistake_is_made_with_some_parameters(exercise: Exercise, people: int) -> None:
    made = {m.name for given in draws(exercise, people) for m, _ in exercise.wrong_answers(given)}
    assert made == {mistake.name for mistake in exercise.mistakes}


@every_class
@every_exercise
def test_no_hint_holds_the_answer(exercise: Exercise, people: int) -> None:
    hints = [exercise.look_again, *(mistake.hint for mistake in exercise.mistakes)]
    for given in draws(exercise, people):
        right = exercise.solve(given)
        for hint in hints:
            assert not reveals(exercise, hint, right), (hint, right)


def reveals(exercise: Exercise, hint: str, right: Any) -> bool:
    if isinstance(exercise.kind, OneOf):
        return bool(re.search(rf"\b{re.escape(right)}\b", hint))
    if isinstance(right, tuple):
        return ", ".join(right) in hint
    numbers = map(float, re.findall(r"\d+(?:\.\d+)?", hint))
    return any(exercise.kind.distance(number, right) <= 1 for number in numbers)


@every_exercise
def test_a_question_has_all_its_parameters(exercise: Exercise) -> None:
    question = ask(exercise.number)
    assert "{" not in question.text
    assert question.text in repr(question)
    assert question.wanted in repr(question)
    assert exercise.number in question._repr_html_()


def test_the_lessons_are_a_table() -> None:
    table = lessons().to_frame()
    assert list(table["minutes"].astype(int).between(45, 60)) == [True] * len(COURSE)
    assert lessons()["1-what-a-message-costs"] is lesson(1)


def test_an_unknown_number_lists_the_known_ones() -> None:
    for number in ("1.99", "77.1", "1", "x", None):
        with pytest.raises(ParameterError, match=r"no exercise has the number .*1\.1"):
            check(number, 3)  # type: ignore[arg-type]
    assert find_exercise(1.1).number == "1.1"  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no lesson has the number"):
        lesson(99)


def test_a_lesson_keeps_to_its_hour_and_its_order() -> None:
    first = lesson(1)
    texts: dict[str, Any] = {
        "title": "t",
        "question": "q",
        "objectives": ("o",),
        "prerequisites": (),
        "exercises": first.exercises[:1],
    }
    with pytest.raises(ParameterError, match="45 to 60 minutes; they take 44"):
        Lesson(number=1, parts=(LessonPart("p", 44, ("1.1",)),), **texts)
    with pytest.raises(ParameterError, match="must have the exercises"):
        Lesson(number=2, parts=(LessonPart("p", 50, ("1.1",)),), **texts)
    with pytest.raises(ParameterError, match="must have the exercises"):
        Lesson(number=1, parts=(LessonPart("p", 50),), **texts)
