"""An exercise: a question with drawn parameters, its computed answer, and typical mistakes."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import EllipsisType
from typing import Any, get_args

from workbench.errors import ParameterError
from workbench.suggestions import MissingAttributeError
from workbench.teaching.answers import (
    NONE,
    NOT_ANSWERED,
    ROUNDED,
    AnswerKind,
    UnreadableAnswerError,
)
from workbench.teaching.feedback import Feedback
from workbench.teaching.student import ParameterDraw
from workbench.units import Kind, format_quantity

_NUMBER = re.compile(r"[1-9]\d*\.[1-9]\d*")


class Given(Mapping[str, Any]):
    """The parameters of an exercise for one student, by name and as attributes.

    Args:
        values: in SI units; each can be hashed.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise MissingAttributeError(self, name)
        return self._values[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._values})

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._values.items())))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Given) and self._values == other._values

    def __repr__(self) -> str:
        return f"Given({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"


@dataclass(frozen=True)
class Mistake:
    """A typical mistake.

    Attributes:
        name: in a few words, for the instructor, such as ``round trip``.
        hint: what the student should look at: not the value, nor the factor it is off by.
        wrong: the answers that it leads to, of the right answer and the parameters; several where
            one hint helps with all of them, none where it changes nothing for these parameters.
    """

    name: str
    hint: str
    wrong: Callable[[Any, Given], Iterable[Any]]


def _nothing_drawn(draw: ParameterDraw) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, eq=False)
class Exercise:
    """An exercise of a lesson.

    Attributes:
        number: of the lesson and in it, such as ``2.3``.
        question: in a sentence or two. ``{name}`` is a parameter, ``{name:bytes}`` one with its
            unit, of a kind that ``format_quantity`` knows: time, bytes, bandwidth, count ...
        kind: of the answer: ``Amount``, ``WholeNumber``, ``OneOf`` or ``InOrder``.
        answer: computes the right answer of the parameters by the workbench's simulators.
        look_again: the hint where no typical mistake matches: what to look at again.
        because: the explanation after a right answer.
        given: draws the parameters, in SI units.
        mistakes: typical ones, whose answers differ from one another and from the right one.

    Raises:
        ParameterError: the number is not of this form, a text is empty, or mistakes share a name
            or a hint.
    """

    number: str
    question: str
    kind: AnswerKind
    answer: Callable[[Given], Any] = field(repr=False)
    look_again: str
    because: str
    given: Callable[[ParameterDraw], Mapping[str, Any]] = field(default=_nothing_drawn, repr=False)
    mistakes: tuple[Mistake, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not _NUMBER.fullmatch(self.number):
            raise ParameterError(
                f"number must be a lesson's and its own, such as 2.3; got {self.number!r}",
                key="number",
            )
        texts = {name: getattr(self, name) for name in ("question", "look_again", "because")}
        if empty := [name for name, text in texts.items() if not text.strip()]:
            raise ParameterError(f"exercise {self.number} must have a text in {', '.join(empty)}")
        for part in ("name", "hint"):
            found = [getattr(mistake, part) for mistake in self.mistakes]
            if len(set(found)) < len(found) or self.look_again in found:
                raise ParameterError(
                    f"each mistake of exercise {self.number} must have a {part} of its own"
                )

    def drawn(self, student: str = "") -> Given:
        """Return the parameters of a student.

        Args:
            student: the name; empty for the parameters that everyone has.
        """
        return Given(self.given(ParameterDraw(student, self.number)))

    def asked(self, given: Given) -> str:
        """Return the question with its parameters.

        Args:
            given: the parameters.
        """
        return _Question().vformat(self.question, (), given)

    def solve(self, given: Given) -> Any:
        """Return the right answer, computed once in this process.

        Args:
            given: the parameters.
        """
        return _solved(self, given)

    def wrong_answers(self, given: Given) -> list[tuple[Mistake, Any]]:
        """Return each answer of a typical mistake, with the mistake.

        Args:
            given: the parameters.
        """
        right = self.solve(given)
        return [
            (mistake, value) for mistake in self.mistakes for value in mistake.wrong(right, given)
        ]

    def judge(self, answer: Any, given: Given) -> Feedback:
        """Return right, or a hint: of the typical mistake that is nearest, else the general one.

        Args:
            answer: of the student.
            given: the parameters.
        """
        if isinstance(answer, EllipsisType):
            return Feedback(self.number, "not answered", NOT_ANSWERED)
        if answer is None:
            return Feedback(self.number, "unreadable", NONE)
        try:
            value = self.kind.read(answer)
        except UnreadableAnswerError as error:
            return Feedback(self.number, "unreadable", str(error))
        if self.kind.distance(value, self.solve(given)) <= 1:
            return Feedback(self.number, "right", self.because)
        found = [
            (self.kind.distance(value, wrong), mistake)
            for mistake, wrong in self.wrong_answers(given)
        ]
        distance, nearest = min(found, key=lambda each: each[0], default=(2.0, None))
        if nearest is None or distance > 1:
            rounded = self.kind.is_rounded(value, self.solve(given))
            return Feedback(self.number, "hint", ROUNDED if rounded else self.look_again)
        return Feedback(self.number, "hint", nearest.hint, nearest.name)


@cache
def _solved(exercise: Exercise, given: Given) -> Any:
    return exercise.answer(given)


class _Question(string.Formatter):
    """Puts parameters with their units into a question."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec in get_args(Kind):
            return format_quantity(value, format_spec)  # type: ignore[arg-type]
        return super().format_field(value, format_spec)
