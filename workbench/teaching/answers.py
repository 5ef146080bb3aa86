"""What kinds of answers there are, and when one is close enough to another."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.checks import integer
from workbench.suggestions import did_you_mean

NOT_ANSWERED = "Not answered yet: put your answer in the place of `...` and run the cell again."

NONE = "The answer is None, which is nothing: some calls, such as `print(...)`, return no value."

ROUNDED = "Nearly: you have rounded. Give one digit more."


class UnreadableAnswerError(Exception):
    """An answer of the wrong kind; its text is the sentence for the student."""


class AnswerKind(ABC):
    """A kind of answer: reads what a student gives, and compares it."""

    @abstractmethod
    def wanted(self) -> str:
        """Return what an answer must be, such as ``a number in µs``."""

    @abstractmethod
    def read(self, answer: Any) -> Any:
        """Return an answer as values are compared.

        Args:
            answer: what the student gave.

        Raises:
            UnreadableAnswerError: it is of another kind.
        """

    @abstractmethod
    def distance(self, answer: Any, value: Any) -> float:
        """Return how far an answer is from a value, in its tolerances: at most 1 is equal.

        Args:
            answer: as ``read`` returned it.
            value: right or wrong.
        """

    def is_rounded(self, answer: Any, value: Any) -> bool:
        """Return whether an answer is a value with only one or two of its digits.

        Args:
            answer: as ``read`` returned it.
            value: the right one.
        """
        return False

    def apart(self, one: Any, other: Any) -> bool:
        """Return whether no answer can be equal to both values.

        Args:
            one: a value.
            other: another.
        """
        return min(self.distance(one, other), self.distance(other, one)) > 1


@dataclass(frozen=True)
class Amount(AnswerKind):
    """A number in a unit, right within a tolerance.

    Attributes:
        unit: of the answer, such as ``µs``; empty for a pure number.
        reason: of the tolerance, from the physics of the question.
        relative: tolerance as a share of the value.
        absolute: tolerance in the unit, where a value may be near zero; both are added.
    """

    unit: str
    reason: str
    relative: float = 0.0
    absolute: float = 0.0

    def wanted(self) -> str:
        """Return what an answer must be."""
        return f"a number in {self.unit}" if self.unit else "a number"

    def read(self, answer: Any) -> float:
        """Return the number.

        Args:
            answer: an int, a float, or one number of numpy or pandas.

        Raises:
            UnreadableAnswerError: it is no single finite number.
        """
        value = _one_number(answer, self.wanted())
        if math.isnan(value):
            raise UnreadableAnswerError(
                "The answer is nan, no number: some step of it divides 0 by 0, or lacks a value."
            )
        if math.isinf(value):
            raise UnreadableAnswerError("The answer is infinite: some step of it divides by 0.")
        return value

    def distance(self, answer: Any, value: Any) -> float:
        """Return the difference in tolerances of the value.

        Args:
            answer: a number.
            value: a number.
        """
        difference = abs(float(answer) - float(value))
        tolerance = self.tolerance(float(value))
        return difference / tolerance if tolerance else math.inf if difference else 0.0

    def is_rounded(self, answer: Any, value: Any) -> bool:
        """Return whether a number is another with only one or two of its digits.

        Args:
            answer: a number.
            value: the right one.
        """
        return any(float(answer) == float(f"{value:.{digits}g}") for digits in (1, 2))

    def apart(self, one: Any, other: Any) -> bool:
        """Return whether the ranges within the tolerances of both do not meet.

        Args:
            one: a number.
            other: another.
        """
        sum_of_both = self.tolerance(float(one)) + self.tolerance(float(other))
        return abs(float(one) - float(other)) > sum_of_both

    def tolerance(self, value: float) -> float:
        """Return the tolerance of a value, in the unit.

        Args:
            value: in the unit.
        """
        return self.relative * abs(value) + self.absolute


@dataclass(frozen=True)
class WholeNumber(AnswerKind):
    """A whole number, right if it is equal.

    Attributes:
        unit: what is counted, such as ``messages``.
    """

    unit: str

    def wanted(self) -> str:
        """Return what an answer must be."""
        return f"a whole number of {self.unit}"

    def read(self, answer: Any) -> int:
        """Return the number.

        Args:
            answer: an int, or a float without a fraction.

        Raises:
            UnreadableAnswerError: it is no single whole number.
        """
        value = _one_number(answer, self.wanted())
        if not math.isfinite(value) or value != int(value):
            raise UnreadableAnswerError(f"The answer must be {self.wanted()}.")
        return int(value)

    def distance(self, answer: Any, value: Any) -> float:
        """Return 0 for equal numbers, else inf.

        Args:
            answer: a number.
            value: another.
        """
        return 0.0 if int(answer) == int(value) else math.inf


@dataclass(frozen=True)
class OneOf(AnswerKind):
    """A name among some, such as that of an algorithm, written in any case.

    Attributes:
        options: the names.
    """

    options: tuple[str, ...]

    def wanted(self) -> str:
        """Return what an answer must be."""
        return f"one of {', '.join(map(repr, self.options))}"

    def read(self, answer: Any) -> str:
        """Return the name as ``options`` has it.

        Args:
            answer: a text.

        Raises:
            UnreadableAnswerError: it is none of the options.
        """
        if not isinstance(answer, str):
            raise UnreadableAnswerError(f"The answer must be {self.wanted()}, in quotes.")
        for option in self.options:
            if _plain(option) == _plain(answer):
                return option
        near = did_you_mean(answer, self.options)
        raise UnreadableAnswerError(f"The answer must be {self.wanted()}{near or '.'}")

    def distance(self, answer: Any, value: Any) -> float:
        """Return 0 for the same name, else inf.

        Args:
            answer: a name.
            value: another.
        """
        return 0.0 if answer == value else math.inf


@dataclass(frozen=True)
class InOrder(AnswerKind):
    """Names in an order, each once.

    Attributes:
        options: the names.
    """

    options: tuple[str, ...]

    def wanted(self) -> str:
        """Return what an answer must be."""
        return f"a list of {', '.join(map(repr, self.options))}, each once, in order"

    def read(self, answer: Any) -> tuple[str, ...]:
        """Return the names as ``options`` has them.

        Args:
            answer: a list or tuple of texts.

        Raises:
            UnreadableAnswerError: it does not hold each name once.
        """
        if isinstance(answer, str) or not isinstance(answer, Iterable):
            raise UnreadableAnswerError(f"The answer must be {self.wanted()}.")
        one = OneOf(self.options)
        names = tuple(one.read(name) for name in answer)
        if sorted(names) != sorted(self.options):
            raise UnreadableAnswerError(f"The answer must be {self.wanted()}.")
        return names

    def distance(self, answer: Any, value: Any) -> float:
        """Return 0 for the same order, else inf.

        Args:
            answer: names.
            value: others.
        """
        return 0.0 if tuple(answer) == tuple(value) else math.inf


def _one_number(answer: Any, wanted: str) -> float:
    """Return a number, also one in an array or table of one; what else there is has a sentence."""
    if isinstance(answer, str):
        raise UnreadableAnswerError(
            f"The answer must be {wanted}, without quotes and without its unit."
        )
    if isinstance(answer, bool | np.bool_):
        raise UnreadableAnswerError(f"The answer must be {wanted}, not True or False.")
    if (found := integer(answer)) is not None:
        return float(found) if abs(found) < 2**1000 else math.inf
    try:
        values = np.asarray(answer, np.float64).ravel()
    except (TypeError, ValueError) as error:
        kind = type(answer).__name__
        raise UnreadableAnswerError(f"The answer must be {wanted}, not a {kind}.") from error
    if isinstance(answer, tuple) and values.size == 2 and set(map(type, answer)) == {int}:
        point = ".".join(map(str, answer))
        raise UnreadableAnswerError(
            f"The answer must be {wanted}. Python reads a comma as a second number: write {point}."
        )
    if values.size != 1:
        raise UnreadableAnswerError(f"The answer must be {wanted}: one, not {values.size}.")
    return float(values[0])


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("-", " ").replace("_", " ").split())
