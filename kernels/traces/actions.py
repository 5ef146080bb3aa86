"""Lines ``rank action arguments`` to numbers, and the actions of a rank to its calls.

Messages, their waits, and computations are plain where their arguments are decimal numbers: then
the action is a name with numbers beside it. Of other lines the whole text is the action. Equal
actions have one number; Python finds what each means once, as operations.
"""

from __future__ import annotations

import numpy as np

from kernels import helper, kernel
from kernels.goal.scan import MINUS, NEWLINE, NINE, ZERO
from kernels.traces.follow import add, end_in
from kernels.traces.joined import entered
from kernels.traces.layout import (
    ANY_SOURCE,
    ANY_TAG,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    KIND,
    MOST_TAG,
    PENDING,
    WAIT,
)
from kernels.traces.scan import DONE, MORE_TEXTS, numbered, whole

# What is plain in a line: nothing, or its arguments.
TEXT, AMOUNT, NAMED, MESSAGE, TYPED = range(5)
N_VALUES = 4  # sender, receiver and tag; or peer, tag, count and datatype

# What an operation does; each names its columns.
(
    WORK,  # ns
    WORK_OF_LINE,
    CALL,  # kind, size, peer, tag, share, tag of a collective's request
    MESSAGE_OF_LINE,  # kind, bytes of an element where the line has no datatype
    WAIT_LAST,  # number of the last calls, which end
    WAIT_ALL,
    WAIT_NAMED,  # sender, receiver, tag
    WAIT_OF_LINE,
    WAIT_NEWEST,
    TEST_NAMED,  # as the three waits
    TEST_OF_LINE,
    TEST_NEWEST,
) = range(12)
N_OP = 7  # what it does, and up to six columns
NO_REQUEST = 1
"""Instead of a tag, where the next operation ends the call."""

# Cells of the state of `cut`; the first is that of ``numbered``.
TEXTS, LINES = range(2)

# Columns of a key after its four numbers, and of a request; its number is its place.
FIRST, LAST, EPOCH = range(4, 7)  # of the requests with the key; valid in the epoch alone
N_KEY = 7  # the four numbers and the three above
CALL_OF, KEY_OF, ALIKE, OLDER, NEWER, TEST_OF = range(6)  # the call is -1 when it has ended
N_REQUEST = 6  # the columns above

# Cells of the state of `act`; the first is that of ``entered``.
(
    KEYS,
    OLDEST,  # pending request
    NEWEST,
    REQUESTS,
    NOW,  # the epoch: waits for all so far
    TOO_LONG,  # the first sum of work that is above MOST_WORK, 0 for none
    ALL_COLLECTIVE,  # waits for all that ended collectives
    ALL_LINE,  # of the first of them
    LEFT_TESTED,  # requests that no wait ends
    LEFT_UNTESTED,
    FIRST_TESTED,  # whether the first that is left was tested
) = range(11)
N_ACTED = 11  # the cells above

MOST_WORK = 2**62  # ns before a call, the most that a program holds
_MOST_DIGITS, _MOST_POWER = 15, 22  # integers and powers of ten up to there are exact floats
_POWERS = np.array([float(f"1e{i}") for i in range(_MOST_POWER + 1)])
_COMPUTE, _SEND, _RECV, _WAIT, _TEST = (
    int.from_bytes(name, "big") for name in (b"pute", b"send", b"recv", b"wait", b"test")
)
_LONGEST = 6  # letters of a message's action; sendrecv has more
# Characters in ASCII; the bit that an upper case letter lacks.
_HASH, _PLUS, _POINT, _LETTER_E, _LETTER_P, _LOWER = 35, 43, 46, 101, 112, 32


@helper
def is_blank(char):
    """Return whether a character separates words, as ``str.split`` has it in Latin-1."""
    return 9 <= char <= 13 or 28 <= char <= 32 or char == 133 or char == 160


@helper
def rank_of(text, at, end):
    """Return the rank that a word names, -1 where it names none."""
    if text[at] == _LETTER_P:
        at += 1
    value = whole(text, at, end) if end - at < 10 else np.int64(-1)
    return value if value >= 0 else np.int64(-1)


@helper
def ending(text, at, end):
    """Return the last four letters of a word as one number, in lower case."""
    value = np.int64(0)
    for i in range(max(at, end - 4), end):
        value = value << 8 | (np.int64(text[i]) | _LOWER)
    return value


@helper
def amount_of(text, at, end):
    """Return the float nearest to a decimal number, -1 where it is not written plainly."""
    value = np.int64(0)
    digits, exponent, step = 0, np.int64(0), 0
    while at < end and (ZERO <= text[at] <= NINE or (text[at] == _POINT and step == 0)):
        if text[at] == _POINT:
            step = 1
        else:
            value = value * 10 + (np.int64(text[at]) - ZERO)
            digits += 1
            exponent -= step
        if digits > _MOST_DIGITS:
            return -1.0
        at += 1
    if at < end and text[at] | _LOWER == _LETTER_E:
        at += 1
        sign = 1
        if at < end and (text[at] == MINUS or text[at] == _PLUS):
            sign = -1 if text[at] == MINUS else 1
            at += 1
        power, last = np.int64(0), min(end, at + 3)
        if at == end:
            return -1.0
        while at < last and ZERO <= text[at] <= NINE:
            power = power * 10 + (np.int64(text[at]) - ZERO)
            at += 1
        exponent += sign * power
    if digits == 0 or at < end or abs(exponent) > _MOST_POWER:
        return -1.0
    # one rounding of exact numbers
    return value * _POWERS[exponent] if exponent >= 0 else value / _POWERS[-exponent]


@kernel(cache=True, nogil=True)
def cut(text, sizes, salt, slots, texts, lines, words, state):
    """Cut all lines of a file that are neither empty nor comments.

    Args:
        text: uint8[bytes].
        sizes: int64, bytes of the datatypes by their numbers.
        salt: of the hashes.
        slots: int64[2^k], zeros.
        texts: int64[2^(k-1), 3], zeros, filled with begin, length and what is plain of each action.
        lines: int32[n] each: number, from 1; begin and end of its words; rank, -1 where it names
            none; number of its action; TEXT to TYPED. Then float64[n], the amount, and
            int32[n, N_VALUES], the values; filled where they are plain.
        words: int64[N_VALUES + 2, 2], space.
        state: int64[2], zeros, filled with the number of texts and of lines.

    Returns:
        DONE, or MORE_TEXTS where the slots are full: call again with more, from the beginning.
    """
    number, begin, stop, rank, action, plain, amount, values = lines
    at = 0
    line = 0
    while at < len(text):
        line += 1
        count = 0
        last = at
        while at < len(text) and text[at] != NEWLINE:
            if is_blank(text[at]):
                at += 1
                continue
            first = at
            while at < len(text) and not is_blank(text[at]):
                at += 1
            last = at
            if count < len(words):
                words[count, 0], words[count, 1] = first, last
            count += 1
        at += 1
        if count == 0 or text[words[0, 0]] == _HASH:
            continue
        one = state[LINES]
        state[LINES] += 1
        number[one], begin[one], stop[one] = line, words[0, 0], last
        rank[one] = -1
        if count == 1:
            continue
        rank[one] = rank_of(text, words[0, 0], words[0, 1])
        what = TEXT
        name, end = words[1]
        letters = ending(text, name, end)
        if letters == _COMPUTE and count > 2:
            amount[one] = amount_of(text, words[2, 0], words[2, 1])
            if amount[one] >= 0:
                what = AMOUNT
        elif 5 <= count <= len(words) and end - name <= _LONGEST:
            if letters in (_WAIT, _TEST):
                what = NAMED
            elif letters in (_SEND, _RECV):
                what = MESSAGE if count == 5 else TYPED
            for i in range(count - 2):
                value = whole(text, words[2 + i, 0], words[2 + i, 1])
                if not 0 <= value <= MOST_TAG:
                    what = TEXT
                    break
                values[one, i] = value
            if what == TYPED:
                digits = words[5, 1] - words[5, 0]
                if digits > 3 or values[one, 3] >= len(sizes):
                    what = TEXT
        plain[one] = what
        if what == TEXT:
            end = last
        text_number = numbered(text, name, end, what, salt, slots, texts, state)
        if text_number < 0:
            return MORE_TEXTS
        action[one] = text_number
    return DONE


@helper
def oldest(key, keys, requests, now):
    """Return the oldest pending request with a key, -1 where there is none."""
    if keys[key, EPOCH] != now:
        return -1
    at = keys[key, FIRST]
    while at >= 0 and requests[at, CALL_OF] < 0:
        at = requests[at, ALIKE]
    keys[key, FIRST] = at
    return at


@helper
def append(request, key, keys, requests, now):
    """Add a request to those with a key, as the last."""
    requests[request, ALIKE] = -1
    if keys[key, EPOCH] != now or keys[key, FIRST] < 0:
        keys[key, FIRST], keys[key, EPOCH] = request, now
    else:
        requests[keys[key, LAST], ALIKE] = request
    keys[key, LAST] = request


@helper
def tested(request, test, keys, requests, now):
    """Note a test of a request; the next test of its key takes another request."""
    requests[request, TEST_OF] = test
    key = requests[request, KEY_OF]
    if keys[key, FIRST] == request:
        keys[key, FIRST] = requests[request, ALIKE]
        append(request, key, keys, requests, now)


@helper
def ended(request, requests, acted):
    """Remove a request from those that are pending; return the call that began it."""
    one = requests[request]
    older, newer = one[OLDER], one[NEWER]
    if older < 0:
        acted[OLDEST] = newer
    else:
        requests[older, NEWER] = newer
    if newer < 0:
        acted[NEWEST] = older
    else:
        requests[newer, OLDER] = older
    call = one[CALL_OF]
    one[CALL_OF] = -1
    return call


@helper
def begin_request(call, source, target, tag, table, requests, acted):
    """Add a pending request, which a wait will name."""
    salt, slots, keys = table
    key = entered(0, source, target, tag, salt, slots, keys, acted, True)
    request = acted[REQUESTS]
    acted[REQUESTS] += 1
    new = requests[request]
    new[CALL_OF], new[KEY_OF], new[TEST_OF] = call, key, -1
    new[OLDER], new[NEWER] = acted[NEWEST], -1
    if acted[NEWEST] < 0:
        acted[OLDEST] = request
    else:
        requests[acted[NEWEST], NEWER] = request
    acted[NEWEST] = request
    append(request, key, keys, requests, acted[NOW])


@helper
def named(source, target, tag, table, requests, acted):
    """Return the pending request that a wait names, -1 where there is none."""
    salt, slots, keys = table
    # a receive of any source or tag is named by what it matched, or by the wildcard
    for i in range(4):
        first = source if i % 2 == 0 else ANY_SOURCE
        last = tag if i < 2 else ANY_TAG
        key = entered(0, first, target, last, salt, slots, keys, acted, False)
        if key >= 0:
            request = oldest(key, keys, requests, acted[NOW])
            if request >= 0:
                return request
    return -1


@kernel(cache=True, nogil=True)
def act(rank, lines, sizes, first, ops, table, requests, calls, state, acted):
    """Make the calls of all lines of a rank.

    Args:
        rank: its number.
        lines: number int32[n], meaning int64[n], work int64[n] in ns, values int32[n, N_VALUES].
        sizes: int64, bytes of the datatypes by their numbers.
        first: int64[meanings + 1], the first operation of each meaning.
        ops: int64[operations, N_OP].
        table: salt of the hashes; int32[2^k], zeros, more than keys; int64[most, N_KEY], zeros.
        requests: int64[most, N_REQUEST], space.
        calls: int64[n, N_CALL], filled.
        state: int64[N_STATE] of the rank.
        acted: int64[N_ACTED], zeros, filled.
    """
    number, meaning, work, values = lines
    acted[OLDEST], acted[NEWEST], acted[NOW] = -1, -1, 1
    for at in range(len(number)):
        line, value = number[at], values[at]
        for op in range(first[meaning[at]], first[meaning[at] + 1]):
            one = ops[op]
            what = one[0]
            if what <= WORK_OF_LINE:
                total = state[PENDING] + (one[1] if what == WORK else work[at])
                if total > MOST_WORK and acted[TOO_LONG] == 0:
                    acted[TOO_LONG] = total
                state[PENDING] = min(total, MOST_WORK)
                continue
            kind, size, comm, share = WAIT, 0, -1, -1
            peer = tag = np.int64(0)
            source, target = one[1], one[2]
            request = acted[OLDEST]
            if what == CALL:
                kind, size, peer, tag, comm, share = one[1], one[2], one[3], one[4], 0, one[5]
            elif what == MESSAGE_OF_LINE:
                kind, peer, tag, comm = one[1], np.int64(value[0]), np.int64(value[1]), 0
                size = (one[2] if one[2] >= 0 else sizes[value[3]]) * np.int64(value[2])
            elif what in (WAIT_NEWEST, TEST_NEWEST):
                request = acted[NEWEST]
            elif what not in (WAIT_LAST, WAIT_ALL):
                if what in (WAIT_NAMED, TEST_NAMED):
                    last = one[3]
                else:
                    source, target, last = np.int64(value[0]), np.int64(value[1]), value[2]
                request = named(source, target, np.int64(last), table, requests, acted)
            if what > WAIT_LAST and request < 0:
                continue
            call = add(calls, state, kind, line, size, peer, tag, comm, share)
            if kind != WAIT:
                source, target = rank, peer
                if kind == IRECV:
                    source, target = peer, rank
                elif kind == ICOLLECTIVE:
                    source, target, tag = ANY_SOURCE, ANY_SOURCE, one[6]
                if kind in (ISEND, IRECV, ICOLLECTIVE) and one[6] != NO_REQUEST:
                    begin_request(call, source, target, tag, table, requests, acted)
            elif what == WAIT_LAST:
                for before in range(call - one[1], call):
                    end_in(calls, call, before)
            elif what >= TEST_NAMED:
                tested(request, call, table[2], requests, acted[NOW])
            elif what >= WAIT_NAMED:
                end_in(calls, call, ended(request, requests, acted))
            else:
                others = False
                while request >= 0:
                    before = requests[request, CALL_OF]
                    others = others or calls[before, KIND] == ICOLLECTIVE
                    end_in(calls, call, before)
                    request = requests[request, NEWER]
                if others and acted[ALL_COLLECTIVE] == 0:
                    acted[ALL_LINE] = line
                acted[ALL_COLLECTIVE] += others
                acted[OLDEST], acted[NEWEST] = -1, -1
                acted[NOW] += 1
    request = acted[OLDEST]
    if request >= 0:
        acted[FIRST_TESTED] = requests[request, TEST_OF] >= 0
    while request >= 0:
        test = requests[request, TEST_OF]
        if test >= 0:
            end_in(calls, test, requests[request, CALL_OF])
        acted[LEFT_TESTED if test >= 0 else LEFT_UNTESTED] += 1
        request = requests[request, NEWER]
