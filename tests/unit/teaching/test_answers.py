from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cases import for_each
from workbench.teaching import Amount, AnswerKind, InOrder, OneOf, WholeNumber
from workbench.teaching.answers import UnreadableAnswerError

MICROSECONDS = Amount("µs", "two digits", relative=0.05)
MESSAGES = WholeNumber("messages")
ALGORITHM = OneOf(("ring", "recursive doubling"))
ORDER = InOrder(("a", "b", "c"))


@for_each(
    "answer",
    [2, 2.0, np.float32(2), np.int64(2), np.array(2.0), np.array([2.0]), pd.Series([2.0])],
)
def test_a_number_of_any_library_is_one(answer: Any) -> None:
    assert MICROSECONDS.read(answer) == 2.0
    assert MESSAGES.read(answer) == 2


@for_each(
    "kind, answer, sentence",
    [
        (MICROSECONDS, "2 us", "a number in µs, without quotes"),
        (MICROSECONDS, math.nan, "nan"),
        (MICROSECONDS, math.inf, "infinite"),
        (MICROSECONDS, 10**400, "infinite"),
        (MICROSECONDS, True, "not True or False"),
        (MICROSECONDS, [1.0, 2.0], "one, not 2"),
        (MICROSECONDS, (1, 58), "a comma as a second number: write 1.58"),
        (MICROSECONDS, [], "one, not 0"),
        (MICROSECONDS, {"a": 1}, "not a dict"),
        (MICROSECONDS, 2j, "not a complex"),
        (MICROSECONDS, min, "not a builtin_function_or_method"),
        (MESSAGES, 2.5, "a whole number of messages"),
        (MESSAGES, math.nan, "a whole number of messages"),
        (ALGORITHM, 3, "in quotes"),
        (ALGORITHM, "rnig", "did you mean ring"),
        (ORDER, "abc", "each once, in order"),
        (ORDER, ["a", "b", "b"], "each once, in order"),
        (ORDER, ["a", "b"], "each once, in order"),
        (ORDER, 3, "each once, in order"),
        (ORDER, ["a", "b", 3], "in quotes"),
    ],
)
def test_other_kinds_have_their_own_sentence(kind: AnswerKind, answer: Any, sentence: str) -> None:
    with pytest.raises(UnreadableAnswerError, match=sentence):
        kind.read(answer)


def test_names_are_read_in_any_case() -> None:
    assert ALGORITHM.read(" Recursive-Doubling ") == "recursive doubling"
    assert ORDER.read(("C", "a", "B")) == ("c", "a", "b")


def test_a_distance_of_one_is_the_tolerance() -> None:
    assert MICROSECONDS.distance(10.5, 10) == pytest.approx(1)
    assert MICROSECONDS.distance(-10, 10) > 1
    near_zero = Amount("%", "a digit", absolute=0.5)
    assert near_zero.distance(0.4, 0) < 1 < near_zero.distance(0.6, 0)
    assert MICROSECONDS.distance(0, 0) == 0
    assert MICROSECONDS.distance(1e-9, 0) == math.inf


def test_values_are_apart_where_no_answer_is_near_both() -> None:
    assert MICROSECONDS.apart(1.0, 1.2)
    assert not MICROSECONDS.apart(1.0, 1.09)  # 1.045 is within 5 % of both
    assert ALGORITHM.apart("ring", "recursive doubling")
    assert not ORDER.apart(("a", "b", "c"), ["a", "b", "c"])
