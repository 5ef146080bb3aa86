"""A lesson: one question, what is learned, what must be known before, and minutes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from workbench.errors import ParameterError
from workbench.teaching.exercise import Exercise

SHORTEST_MIN, LONGEST_MIN = 45, 60  # chosen: usual lengths of a class hour


@dataclass(frozen=True)
class LessonPart:
    """A part of a lesson.

    Attributes:
        title: the heading in the notebook.
        minutes: it takes.
        exercises: their numbers.
    """

    title: str
    minutes: int
    exercises: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Lesson:
    """A lesson of 45 to 60 minutes.

    Attributes:
        number: from 1.
        title: in a few words; the file's name is made of it.
        question: the one question.
        objectives: what a student can do afterwards, each with a verb.
        prerequisites: earlier lessons, and what must be known.
        parts: with their minutes.
        exercises: in order.

    Raises:
        ParameterError: the minutes do not add up to 45 to 60, the exercises are not numbered in
            order, or the parts do not name each exercise once, in order.
    """

    number: int
    title: str
    question: str
    objectives: tuple[str, ...]
    prerequisites: tuple[str, ...]
    parts: tuple[LessonPart, ...]
    exercises: tuple[Exercise, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if not SHORTEST_MIN <= self.minutes <= LONGEST_MIN:
            raise ParameterError(
                f"the parts of lesson {self.number} must take {SHORTEST_MIN} to {LONGEST_MIN} "
                f"minutes; they take {self.minutes}"
            )
        numbers = tuple(exercise.number for exercise in self.exercises)
        in_order = tuple(f"{self.number}.{place + 1}" for place in range(len(numbers)))
        named = tuple(number for part in self.parts for number in part.exercises)
        if numbers != in_order or named != in_order:
            raise ParameterError(
                f"lesson {self.number} must have the exercises {', '.join(in_order)}, and its "
                f"parts name them in this order; it has {', '.join(numbers)}, and its parts name "
                f"{', '.join(named)}"
            )

    @property
    def minutes(self) -> int:
        """Minutes of all parts."""
        return sum(part.minutes for part in self.parts)

    @property
    def name(self) -> str:
        """The name of its notebook, without the suffix: ``1-what-a-message-costs``."""
        plain = self.title.lower().replace("'", "")
        return f"{self.number}-{re.sub(r'[^a-z0-9]+', '-', plain).strip('-')}"
