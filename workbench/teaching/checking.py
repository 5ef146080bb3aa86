"""Ask a question, check an answer."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from typing import Any

from workbench.teaching.exercise import Given
from workbench.teaching.feedback import Feedback, with_code
from workbench.teaching.progress import record
from workbench.teaching.registry import find_exercise
from workbench.teaching.student import student


@dataclass(frozen=True)
class Question:
    """An exercise's question, as one student gets it.

    Attributes:
        exercise: number of the exercise.
        text: the question with its parameters.
        wanted: what an answer must be.
        given: the parameters, in SI units.
    """

    exercise: str
    text: str
    wanted: str
    given: Given

    def __repr__(self) -> str:
        return f"{self.exercise}: {self.text} (Answer: {self.wanted}.)"

    def _repr_html_(self) -> str:
        wanted = f"<i>Answer: {html.escape(self.wanted, quote=False)}.</i>"
        return (
            f'<p style="max-width:60em"><b>{self.exercise}</b> {with_code(self.text)} {wanted}</p>'
        )


def ask(number: str) -> Question:
    """Return the question of an exercise with the parameters of this kernel's student.

    Args:
        number: of the exercise, such as ``"2.3"``.

    Raises:
        ParameterError: there is no such exercise.
    """
    exercise = find_exercise(number)
    given = exercise.drawn(student().name)
    return Question(exercise.number, exercise.asked(given), exercise.kind.wanted(), given)


def check(number: str, answer: Any, *, keep: bool = True) -> Feedback:
    """Return whether an answer is right, else a hint; the try is kept in the progress file.

    The right answer is computed now, by the simulators, and is never shown.

    Args:
        number: of the exercise, such as ``"2.3"``.
        answer: in the unit that the question asks for; ``...`` is none yet.
        keep: whether the try is kept; a solution's is not, and a notebook folds its explanation.

    Raises:
        ParameterError: there is no such exercise.
    """
    exercise = find_exercise(number)
    name = student().name
    found = exercise.judge(answer, exercise.drawn(name))
    if not keep:
        return replace(found, folded=True)
    if found.verdict in ("right", "hint"):
        return replace(found, note=record(name, found))
    return found
