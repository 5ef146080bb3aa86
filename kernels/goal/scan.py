"""Characters, words and numbers of a text given as bytes."""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.goal.layout import CALC, RECV, SEND, TOO_LARGE

_TENTH = TOO_LARGE // 10
_HASHED = 2**31 - 1  # 31 bits: times a salt of as many they stay within int64

TAB, NEWLINE, RETURN, BLANK = 9, 10, 13, 32  # in ASCII
STAR, MINUS, SLASH, ZERO, ONE, NINE, COLON = 42, 45, 47, 48, 49, 57, 58  # in ASCII
UNDERSCORE, LETTER_B, OPEN, CLOSE = 95, 98, 123, 125  # in ASCII


@helper
def skip_blanks(text, at):
    """Return the next place that is neither a blank nor a tabulator."""
    while at < len(text) and (text[at] == BLANK or text[at] == TAB):
        at += 1
    return at


@helper
def is_letter(char):
    """Return whether a label may begin with a character."""
    return 97 <= char <= 122 or 65 <= char <= 90


@helper
def in_label(char):
    """Return whether a label may go on with a character."""
    return is_letter(char) or ZERO <= char <= NINE or char == UNDERSCORE


@helper
def end_of_label(text, at):
    """Return the place after a label that begins at `at`; `at` itself where none does."""
    if at >= len(text) or not is_letter(text[at]):
        return at
    while at < len(text) and in_label(text[at]):
        at += 1
    return at


@helper
def number(text, at):
    """Return an integer and the place after it; ``TOO_LARGE`` stands for all from there on."""
    value = np.int64(0)
    while at < len(text) and ZERO <= text[at] <= NINE:
        digit = np.int64(text[at]) - ZERO
        if value > _TENTH or (value == _TENTH and digit >= 7):
            value = np.int64(TOO_LARGE)
        else:
            value = value * 10 + digit
        at += 1
    return value, at


@helper
def is_minus_one(text, at):
    """Return whether ``-1`` stands at a place."""
    return at + 1 < len(text) and text[at] == MINUS and text[at + 1] == ONE


@helper
def has(text, at, word):
    """Return whether a word stands at a place, whatever follows it."""
    if at + len(word) > len(text):
        return False
    i = 0
    while i < len(word) and text[at + i] == word[i]:
        i += 1
    return i == len(word)


@helper
def operation(text, at):
    """Return the kind of operation whose word stands at a place, 0 where none does."""
    if has(text, at, b"send"):
        return SEND
    if has(text, at, b"recv"):
        return RECV
    return CALC if has(text, at, b"calc") else 0


@helper
def end_of_line(text, at):
    """Return the place after the line's end, -1 where there is none; the text's end counts."""
    if at >= len(text):
        return at
    if text[at] == NEWLINE:
        return at + 1
    if text[at] == RETURN and at + 1 < len(text) and text[at + 1] == NEWLINE:
        return at + 2
    return -1


@helper
def hashed(text, at, end, salt):
    """Return the hash of a label, below 2^31; `salt` is odd and below 2^31 too."""
    value = 0
    for i in range(at, end):
        value = (value ^ np.int64(text[i])) * salt
        value = (value ^ value >> 31) & _HASHED
    return value ^ value >> 15
