"""Who solves the exercises: a name draws the parameters, the same ones on every machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from workbench.errors import ParameterError

_T = TypeVar("_T")

VARIABLE = "WORKBENCH_STUDENT"
"""The environment variable with the name of a student who has not given one."""

_LONGEST = 80  # chosen: a name that stands in one line of a terminal


@dataclass(frozen=True)
class Student:
    """A student of the lessons.

    Attributes:
        name: draws the parameters of the exercises; empty for those that everyone has.
    """

    name: str

    def __repr__(self) -> str:
        if not self.name:
            return "No name: the exercises have the parameters that everyone has."
        return f"The exercises have the parameters of {self.name}."


_current: list[Student] = []


def student(name: str | None = None) -> Student:
    """Return the student whose exercises are asked in this kernel, after setting the name if given.

    Args:
        name: seeds the parameters of the exercises, without regard to case and outer spaces; empty
            for the parameters that everyone has. None leaves it: as set before, else as the
            environment variable ``WORKBENCH_STUDENT`` says.

    Raises:
        ParameterError: the name is no text of one line and at most 80 characters.
    """
    if name is not None:
        if not isinstance(name, str) or len(name) > _LONGEST or not name.strip().isprintable():
            raise ParameterError(
                f"name must be a text of one line and at most {_LONGEST} characters; got {name!r}",
                key="name",
            )
        _current[:] = [Student(name.strip())]
    return _current[0] if _current else Student(os.environ.get(VARIABLE, "").strip())


class ParameterDraw:
    """Draws the parameters of one exercise for one student, by hashes of both names.

    Without a name each draw is its first option, so the one that suits a talk comes first.

    Args:
        student: name of the student.
        exercise: number of the exercise.
    """

    def __init__(self, student: str, exercise: str) -> None:
        self._seed, self._count = f"{student.casefold()}\n{exercise}", 0
        self._named = bool(student)

    def one_of(self, options: Sequence[_T]) -> _T:
        """Return one of the options.

        Args:
            options: of the draw.
        """
        return self.some_of(options, 1)[0]

    def some_of(self, options: Sequence[_T], count: int) -> tuple[_T, ...]:
        """Return different options in a drawn order.

        Args:
            options: of the draw.
            count: how many.
        """
        left = list(options)
        return tuple(left.pop(self._number() % len(left)) for _ in range(count))

    def _number(self) -> int:
        """Return the next number of the stream; SHA-256, so no release of Python changes it."""
        self._count += 1
        text = f"{self._seed}\n{self._count}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") if self._named else 0
