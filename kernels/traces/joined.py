"""What calls of several ranks say of each other, and the calls as a program has them."""

from __future__ import annotations

from kernels import helper, kernel
from kernels.traces.layout import (
    ANY_SOURCE,
    ANY_TAG,
    CANCELLED,
    COLLECTIVE,
    COMM,
    FROM,
    FROM_TAG,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    KIND,
    LINE,
    NEXT,
    PEER,
    SEND,
    SIZE,
    TAG,
    WAIT,
    WORK,
)

DOUBTS, SENDS, RECEIVES = range(3)
"""What ``fit`` does with the calls of a rank: all ranks by one before any by the next."""

KEYS, MESSAGES, CHANGED = range(3)
"""Cells of the state of ``fit``."""

REQUESTS, WAITS, ENDED, COMMS, FIRST_WAIT = range(5)
"""Cells of the state of ``emit``."""

_HASHED = 2**31 - 1  # 31 bits: times a salt of as many they stay within int64
_FIRST_SENT, _LAST_SENT = 4, 5  # columns of a key after its four numbers
MOST_WORK = 2**62  # ns before a call, the most that a program holds


@helper
def entered(comm, source, target, tag, salt, slots, keys, state, adding):
    """Return the number of a key, -1 where there is none."""
    mask = len(slots) - 1
    value = 0
    for part in (comm, source + 2, target + 2, tag + 2):
        value = (value ^ ((part ^ part >> 31) & _HASHED)) * salt
        value = (value ^ value >> 31) & _HASHED
    slot = (value ^ value >> 15) & mask
    while slots[slot] > 0:
        number = slots[slot] - 1
        key = keys[number]
        if key[0] == comm and key[1] == source and key[2] == target and key[3] == tag:
            return number
        slot = (slot + 1) & mask
    if not adding:
        return -1
    number = state[KEYS]
    state[KEYS] += 1
    slots[slot] = number + 1
    key = keys[number]
    key[0], key[1], key[2], key[3] = comm, source, target, tag
    key[_FIRST_SENT], key[_LAST_SENT] = -1, -1
    return number


@kernel(cache=True, nogil=True)
def fit(calls, rank, doing, comm_number, salt, slots, keys, sent, state):
    """Give receives of one rank the size of the message that they take, where it is certain.

    Args:
        calls: int64[n, N_CALL] of the rank.
        rank: its number.
        doing: DOUBTS, SENDS or RECEIVES.
        comm_number: int64, number of each communicator.
        salt: of the hashes.
        slots: int32[2^k], zeros; more than keys.
        keys: int64[most, 6], space: for each (communicator, source, target, tag) its messages.
        sent: int64[most, 2], space: of each message the next of its key, and its bytes.
        state: int64[3], zeros.
    """
    for at in range(len(calls)):
        call = calls[at]
        kind = call[KIND]
        if call[CANCELLED] != 0 or call[COMM] < 0 or not SEND <= kind <= IRECV:
            continue
        comm = comm_number[call[COMM]]
        if kind in (SEND, ISEND):
            if doing == SENDS:
                key = keys[
                    entered(comm, rank, call[PEER], call[TAG], salt, slots, keys, state, True)
                ]
                message = state[MESSAGES]
                state[MESSAGES] += 1
                sent[message, 0], sent[message, 1] = -1, call[SIZE]
                if key[_LAST_SENT] < 0:
                    key[_FIRST_SENT] = message
                else:
                    sent[key[_LAST_SENT], 0] = message
                key[_LAST_SENT] = message
        elif doing == DOUBTS:
            if call[FROM] == ANY_SOURCE or call[FROM_TAG] == ANY_TAG:
                entered(comm, rank, -1, -1, salt, slots, keys, state, True)
        elif doing == RECEIVES:
            if entered(comm, rank, -1, -1, salt, slots, keys, state, False) >= 0:
                continue
            number = entered(
                comm, call[FROM], rank, call[FROM_TAG], salt, slots, keys, state, False
            )
            if number >= 0 and keys[number, _FIRST_SENT] >= 0:
                message = keys[number, _FIRST_SENT]
                keys[number, _FIRST_SENT] = sent[message, 0]
                if call[SIZE] != sent[message, 1]:
                    call[SIZE] = sent[message, 1]
                    state[CHANGED] += 1


@kernel(cache=True, nogil=True)
def emit(calls, comm_number, number_of, made, first_of, joined, out, wait_end, ended, state):
    """Write a rank's calls as a program has them; requests are numbered in order.

    Args:
        calls: int64[n, N_CALL]; ``FROM`` is overwritten.
        comm_number: int64, number of each communicator in the trace.
        number_of: int64 by that number: its number in the program, -1 where it has none yet.
        made: int64, filled with the index of communicators that get a number, in order.
        first_of: int64 by that number: the place of its first collective.
        joined: int64 by that number, zeros: collectives that the rank has joined.
        out: int64[n, 9], filled with kind, work, size, peer, tag, communicator, request,
            collective and line.
        wait_end: int64[n], filled with the place after the last request of each wait.
        ended: int32[n], filled with the requests that waits end.
        state: int64[5]: requests, waits and requests that waits end, zeros; communicators that
            have numbers; and the number of the rank's first wait.

    Returns:
        The number of calls, the work that is left, and the call with too much work before it or -1.
    """
    for at in range(len(calls)):
        calls[at, FROM] = -1
    n = 0
    work = 0
    for at in range(len(calls)):
        call = calls[at]
        kind = call[KIND]
        if call[WORK] > MOST_WORK or work + call[WORK] > MOST_WORK:
            return n, work, at
        work += call[WORK]
        if kind in (COLLECTIVE, ICOLLECTIVE):
            order = joined[comm_number[call[COMM]]]
            joined[comm_number[call[COMM]]] += 1
        if call[CANCELLED] != 0:
            continue
        row = out[n]
        row[2], row[3], row[4], row[5], row[6], row[7] = 0, 0, 0, 0, -1, -1
        if kind == WAIT:
            first = state[ENDED]
            one = call[NEXT]
            while one >= 0:
                if calls[one, FROM] >= 0:
                    ended[state[ENDED]] = calls[one, FROM]
                    state[ENDED] += 1
                one = calls[one, NEXT]
            if state[ENDED] == first:
                continue
            wait_end[state[WAITS]] = state[ENDED]
            row[6] = state[FIRST_WAIT] + state[WAITS]
            state[WAITS] += 1
        else:
            number = comm_number[call[COMM]]
            if number_of[number] < 0:
                made[state[COMMS]] = call[COMM]
                number_of[number] = state[COMMS]
                state[COMMS] += 1
            row[5] = number_of[number]
            if kind in (COLLECTIVE, ICOLLECTIVE):
                row[7] = first_of[number] + order
            else:
                row[2], row[3], row[4] = call[SIZE], call[PEER], call[TAG]
            if kind in (ISEND, IRECV, ICOLLECTIVE):
                row[6] = state[REQUESTS]
                call[FROM] = state[REQUESTS]
                state[REQUESTS] += 1
        row[0], row[1], row[8] = kind, work, call[LINE]
        work = 0
        n += 1
    return n, work, -1
