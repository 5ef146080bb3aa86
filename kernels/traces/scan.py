"""Lines of a trace to numbers, in one pass over a file's bytes.

A line is ``MPI_Name:start:argument:...:end``. What is not written in the plainest way (decimal
digits, times in µs with a point) is left to Python, which reads the line's text.
"""

from __future__ import annotations

import numpy as np

from kernels import helper, kernel
from kernels.goal.scan import COLON, MINUS, NEWLINE, NINE, RETURN, ZERO, hashed
from kernels.traces.layout import (
    BLANK,
    ENDS_ANY,
    ENDS_LISTED,
    ENDS_ONE,
    LAST_TEXTS,
    MESSAGE,
    MOST_BYTES,
    MOST_FIELDS,
    N_VALUES,
    NOTABLE,
    RARE,
    S_LIST,
    S_MAKES,
    S_NUMBER,
    S_STATUS,
    S_TEXT,
    S_TYPE,
    S_WHAT,
    SENDRECV,
    TEST,
    TEXT_VALUES,
    TEXTS,
    V_BEGIN,
    V_END,
    V_PEER2,
    V_SIZE,
    V_SIZE2,
    V_STATUS,
    V_STATUS_END,
)

DONE, MORE_TEXTS = range(2)  # status: the end is reached; the slots for texts are full

_COMMA, _POINT = 44, 46  # in ASCII
_MOST_DIGITS = 16  # of a time in µs: years in ns are below 2^62
_BAD = -(2**62)  # below all numbers of ``_LONGEST`` digits
_LONGEST = 18  # digits of a number


@helper
def whole(text, at, end):
    """Return the number that a field is, ``_BAD`` where it is not written plainly."""
    below = at < end and text[at] == MINUS
    if below:
        at += 1
    if at >= end or end - at > _LONGEST or (below and text[at] == ZERO):
        return _BAD
    value = np.int64(0)
    while at < end:
        if not ZERO <= text[at] <= NINE:
            return _BAD
        value = value * 10 + (np.int64(text[at]) - ZERO)
        at += 1
    return -value if below else value


@helper
def nanoseconds(text, at, end):
    """Return a time in µs as ns, -1 where there is none, ``_BAD`` where it is not plain."""
    if end - at == 1 and text[at] == MINUS:
        return -1
    value = np.int64(0)
    first = at
    while at < end and ZERO <= text[at] <= NINE:
        value = value * 10 + (np.int64(text[at]) - ZERO)
        at += 1
        if at - first > _MOST_DIGITS:
            return _BAD
    if at == first or value >= 4 * 10**15:
        return _BAD
    digits = 0
    if at < end:
        if text[at] != _POINT or at + 1 == end:
            return _BAD
        at += 1
        while at < end:
            if not ZERO <= text[at] <= NINE:
                return _BAD
            if digits < 3:
                value = value * 10 + (np.int64(text[at]) - ZERO)
                digits += 1
            at += 1
    while digits < 3:
        value *= 10
        digits += 1
    return value


@helper
def find(text, at, end, sign):
    """Return the next place of a character, the end where there is none."""
    while at < end and text[at] != sign:
        at += 1
    return at


@helper
def num_bytes(text, at, end, count):
    """Return the bytes of some elements of a datatype ``id,size,extent``."""
    at = find(text, at, end, _COMMA)
    size = whole(text, at + 1, find(text, at + 1, end, _COMMA))
    if not (0 <= count < 2**31 and 0 <= size < 2**31):
        return _BAD
    return count * size if count * size <= MOST_BYTES else _BAD


@helper
def same(text, at, end, texts, number, kind):
    """Return whether a text is one that has a number."""
    other = texts[number, 0]
    if texts[number, 1] != end - at or texts[number, 2] != kind:
        return False
    i = 0
    while at + i < end and text[at + i] == text[other + i]:
        i += 1
    return at + i == end


@helper
def numbered(text, at, end, kind, salt, slots, texts, state):
    """Return the number of a text of a kind; -1 where the table is full."""
    mask = len(slots) - 1
    slot = (hashed(text, at, end, salt) ^ (kind & 0xFFFF)) & mask
    while slots[slot] > 0:
        number = slots[slot] - 1
        if same(text, at, end, texts, number, kind):
            return number
        slot = (slot + 1) & mask
    number = state[TEXTS]
    if 2 * number >= len(slots):
        return -1
    slots[slot] = number + 1
    texts[number, 0], texts[number, 1], texts[number, 2] = at, end - at, kind
    state[TEXTS] += 1
    return number


@helper
def form_of(text, fields, count, names, salt):
    """Return the form of a line's name and number of fields, 0 where there is none."""
    slots, pool, start, forms = names
    at, end = fields[0], fields[1] - 1
    mask = len(slots) - 1
    slot = hashed(text, at, end, salt) & mask
    while slots[slot] > 0:
        name = slots[slot] - 1
        first = start[name]
        if start[name + 1] - first == end - at:
            i = 0
            while i < end - at and text[at + i] == pool[first + i]:
                i += 1
            if i == end - at:
                return forms[name, count]
        slot = (slot + 1) & mask
    return 0


@helper
def status(text, at, end, value):
    """Read ``source,tag,bytes`` or ``-``; return whether it is one of them."""
    value[V_SIZE2] = -1
    if end - at == 1 and text[at] == MINUS:
        return True
    for slot in range(V_PEER2, V_SIZE2 + 1):
        stop = find(text, at, end, _COMMA)
        value[slot] = whole(text, at, stop)
        if value[slot] < 0:
            return False
        at = stop + 1
    return at == end + 1


@kernel(cache=True, nogil=True)
def scan(text, names, forms, salt, slots, texts, lines, notable, fields, state):
    """Cut all lines of a file.

    Args:
        text: uint8[bytes].
        names: slots, the names' characters, where each begins, and the form of each name by the
            number of fields.
        forms: int64[forms, N_FORM].
        salt: of the hashes.
        slots: int64[2^k], zeros.
        texts: int64[2^(k-1), 4], zeros, filled with begin, length and kind of each numbered text.
        lines: begin int32[n + 1], form int16[n], times int64[n, 2] of start and end in ns, values
            int64[n, N_VALUES] of each line, filled. A form is negative where the line is left to
            Python, 0 where it is none of a known call.
        notable: int32[n], filled with the lines that Python looks at: negative forms, and the
            first that show a communicator since one was made or freed.
        fields: int64[MOST_FIELDS + 1], space.
        state: int64[5], zeros, filled with the number of texts and of notable lines.

    Returns:
        DONE, or MORE_TEXTS where the slots are full: call again with more, from the beginning.
    """
    begin, form, times, values = lines
    shown = texts[:, 3]  # by text: 1 + the number of calls that made communicators before
    made = 1
    at = 0
    line = 0
    n = len(text)
    while at < n:
        begin[line] = at
        fields[0] = at
        count = 1
        while at < n:
            char = text[at]
            if char == NEWLINE:
                break
            if char == COLON:
                if count < MOST_FIELDS:
                    fields[count] = at + 1
                count += 1
            at += 1
        end = at
        at += 1
        if end > fields[0] and text[end - 1] == RETURN:
            end -= 1
        this = np.int64(0)
        if end == fields[0]:
            this = np.int64(BLANK)
        elif 3 <= count < MOST_FIELDS:
            fields[count] = end + 1
            this = np.int64(form_of(text, fields, count, names, salt[0]))
            if this > 0:
                spec, value = forms[this], values[line]
                what = spec[S_WHAT]
                plain = what != RARE
                for i in range(2):
                    where = 1 + i * (count - 2)
                    times[line, i] = nanoseconds(text, fields[where], fields[where + 1] - 1)
                    plain = plain and times[line, i] != _BAD
                for slot in range(N_VALUES):
                    where = spec[S_NUMBER + slot]
                    if where > 0 and plain:
                        value[slot] = whole(text, fields[where], fields[where + 1] - 1)
                        plain = value[slot] != _BAD
                for i in range(2):
                    where, slot = spec[S_TYPE + i], V_SIZE + i * (V_SIZE2 - V_SIZE)
                    if where > 0 and plain:
                        value[slot] = num_bytes(
                            text, fields[where], fields[where + 1] - 1, value[slot]
                        )
                        plain = value[slot] >= 0
                where = spec[S_STATUS]
                if what in (ENDS_LISTED, ENDS_ANY):
                    value[V_STATUS], value[V_STATUS_END] = fields[where], fields[where + 1] - 1
                    where = spec[S_LIST]
                    value[V_BEGIN], value[V_END] = fields[where], fields[where + 1] - 1
                elif what == SENDRECV and where > 0:
                    plain = plain and fields[where + 1] - fields[where] == 2
                    plain = plain and text[fields[where]] == MINUS
                elif where > 0:
                    plain = plain and status(text, fields[where], fields[where + 1] - 1, value)
                elif what in (MESSAGE, ENDS_ONE):
                    value[V_SIZE2] = -1
                elif what == TEST:
                    plain = plain and value[V_SIZE] == 0
                first = False
                if spec[S_MAKES] > 0:
                    made += 1
                for i in range(3):
                    where = spec[S_TEXT + 2 * i]
                    if where > 0 and plain:
                        begin_at, end_at = fields[where], fields[spec[S_TEXT + 2 * i + 1]] - 1
                        kind = this if i == 2 else -1 - i
                        number = state[LAST_TEXTS + i]  # often it is the one before
                        if not same(text, begin_at, end_at, texts, number, kind):
                            number = numbered(
                                text, begin_at, end_at, kind, salt[1], slots, texts, state
                            )
                        if number < 0:
                            return MORE_TEXTS
                        state[LAST_TEXTS + i] = number
                        value[TEXT_VALUES[i]] = number
                        if i == 0:
                            first = shown[number] != made
                            shown[number] = made
                if first or not plain:
                    notable[state[NOTABLE]] = line
                    state[NOTABLE] += 1
                if not plain:
                    this = -this
        form[line] = this
        line += 1
    begin[line] = at
    return DONE
