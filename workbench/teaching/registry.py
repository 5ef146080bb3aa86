"""All lessons, each in a file of ``course``; one is loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from workbench.catalogue import Catalogue
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.teaching.exercise import Exercise
from workbench.teaching.lesson import Lesson

# Modules of ``workbench.teaching.course`` by the number of their lesson; each has a LESSON.
COURSE = {
    1: "message_cost",
    2: "program_time",
    3: "latency_tolerance",
    4: "which_network",
    5: "noisy_tuning",
    6: "sure_or_not",
}


def lesson(number: int) -> Lesson:
    """Return a lesson.

    Args:
        number: from 1.

    Raises:
        ParameterError: there is no such lesson.
    """
    if isinstance(number, bool) or number not in COURSE:
        raise ParameterError(
            f"no lesson has the number {number!r}; there are {', '.join(map(str, COURSE))}",
            key="number",
        )
    module = import_module(f"workbench.teaching.course.{COURSE[number]}")
    found: Lesson = module.LESSON
    return found


def lessons() -> Catalogue[Lesson]:
    """Return the lessons: a table that gives each by its name."""
    every = [lesson(number) for number in COURSE]
    return Catalogue("lesson", every, _COLUMNS, [_cells(each) for each in every])


_COLUMNS = ("lesson", "question", "minutes", "exercises", "needs")


def _cells(found: Lesson) -> tuple[str, ...]:
    return (
        found.name,
        found.question,
        str(found.minutes),
        str(len(found.exercises)),
        "; ".join(found.prerequisites),
    )


def find_exercise(number: Any) -> Exercise:
    """Return the exercise of a number such as ``2.3``; ParameterError where there is none."""
    text = str(number)
    first = text.partition(".")[0]
    every = lesson(int(first)).exercises if first.isdecimal() and int(first) in COURSE else ()
    for exercise in every:
        if exercise.number == text:
            return exercise
    known = [exercise.number for exercise in every] or [f"{number}.1" for number in COURSE]
    raise ParameterError(
        f"no exercise has the number {number!r}{did_you_mean(text, known)}; there are, among "
        f"others, {', '.join(known)}",
        key="number",
    )
