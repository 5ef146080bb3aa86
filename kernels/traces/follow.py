"""The plain lines of a rank to its calls, until a line needs Python.

A line is handled whole or not at all: everything is looked at before anything is changed. So what
is rare, doubtful or wrong stays with Python, which goes on after it.
"""

from __future__ import annotations

import numpy as np

from kernels import helper, kernel
from kernels.goal.scan import MINUS, NINE, ZERO
from kernels.traces.layout import (
    ANY,
    ANY_SOURCE,
    ANY_TAG,
    AT,
    BLANK,
    BUSY,
    CALLS,
    CANCELLED,
    CLOCK,
    COMM,
    ENDS_ARRAY,
    ENDS_LISTED,
    ENDS_ONE,
    FIRST_REQUEST,
    FROM,
    FROM_TAG,
    GROUP_CALL,
    HAS_CLOCK,
    HAS_START,
    ICOLLECTIVE,
    IDLE,
    IRECV,
    ISEND,
    KIND,
    LAST,
    LINE,
    MESSAGE,
    MOST_BYTES,
    MOST_NS,
    MOST_TAG,
    MPI_NS,
    NEXT,
    NUMBERED,
    ODD,
    PEER,
    PENDING,
    RECV,
    S_COMM,
    S_KIND,
    S_WHAT,
    SENDRECV,
    SHARE,
    SIZE,
    START,
    TAG,
    V_BEGIN,
    V_COMM,
    V_END,
    V_PEER,
    V_PEER2,
    V_REQUEST,
    V_SIZE,
    V_SIZE2,
    V_STATUS_END,
    V_TAG,
    V_TAG2,
    V_TEXT,
    WAIT,
    WORK,
    WORK_NS,
)

_NOWHERE, _WRONG, _UNKNOWN = -2, -3, -1
_LONG_ARRAY = 4096  # variables; bytes.find of Python is quicker on longer ones
_COMMA, _SEMICOLON = 44, 59


@helper
def world_rank(peer, first, count, peers, may_be_any, any_source):
    """Return the rank among all of a peer, or that it is any, none or wrong."""
    if peer < 0:
        return ANY_SOURCE if may_be_any and peer == any_source else _NOWHERE
    return peers[first + peer] if peer < count else _WRONG


@helper
def tag_of(tag, may_be_any):
    """Return a tag, or that it is wrong."""
    if tag < 0 and may_be_any:
        return ANY_TAG
    return tag if 0 <= tag <= MOST_TAG else _WRONG


@helper
def add(calls, state, kind, line, size, peer, tag, comm, share):
    """Add a call and return its index."""
    at = state[CALLS]
    state[CALLS] = at + 1
    call = calls[at]
    call[KIND], call[WORK], call[LINE] = kind, state[PENDING], line
    call[SIZE], call[PEER], call[TAG] = size, peer, tag
    call[COMM], call[SHARE], call[FROM], call[FROM_TAG] = comm, share, peer, tag
    call[NEXT], call[LAST], call[CANCELLED] = -1, -1, 0
    state[PENDING] = 0
    return at


@helper
def end_in(calls, wait, call):
    """Let a call's request end in a wait."""
    last = calls[wait, LAST]
    if last < 0:
        calls[wait, NEXT] = call
    else:
        calls[last, NEXT] = call
    calls[wait, LAST] = call


@helper
def received(calls, call, value, comms):
    """Note source, tag and size of the message that a call received, where they are known."""
    first_peer, num_peers, peers = comms
    size, source, tag = value[V_SIZE2], value[V_PEER2], value[V_TAG2]
    comm = calls[call, COMM]
    if 0 <= size < MOST_BYTES and source < num_peers[comm] and tag <= MOST_TAG:
        calls[call, FROM], calls[call, FROM_TAG] = peers[first_peer[comm] + source], tag
        calls[call, SIZE] = size


@helper
def place_of(request, places, state, requests):
    """Return the place of a request, -1 where it has none."""
    if state[NUMBERED] == 0:
        return places[request]
    place = request - state[FIRST_REQUEST]
    return place if 0 <= place < len(requests) else -1


@helper
def next_number(text, at, end):
    """Return the number at a place of a list and the place after it; -1 where there is none."""
    value = np.int64(0)
    first = at
    while at < end and ZERO <= text[at] <= NINE:
        value = value * 10 + (np.int64(text[at]) - ZERO)
        at += 1
        if at - first > 18:
            return -1, at
    return value if at > first else -1, at


@kernel(cache=True, nogil=True)
def follow(text, lines, forms, meanings, comms, requests, calls, state):
    """Read on from line ``state[AT]`` until the end or a line that needs Python.

    Args:
        text: uint8[bytes] of the file.
        lines: as ``scan`` has filled them.
        forms: int64[forms, N_FORM].
        meanings: int64 each, by the number of a text: the place of a request; the index of a
            communicator; the index of a collective's arguments; the first place of an array of
            requests and the one after its last. -1 is not known (yet).
        comms: by communicator the first of its peers and their number; the peers of all.
        requests: by place the call that is pending or ``IDLE``, and flags: the request is
            persistent; it was made; it is pending.
        calls: int64[n, N_CALL], filled.
        state: int64[N_STATE].
    """
    _, form, start_ns, end_ns, values = lines
    places, comm_of, share_of, first_of, after_of = meanings
    first_peer, num_peers, peers = comms
    active, lasting, made, pending = requests
    at = state[AT]
    while at < len(form):
        this = form[at]
        if this <= 0:
            break
        if this == BLANK:
            at += 1
            continue
        what, kind = forms[this, S_WHAT], forms[this, S_KIND]
        value = values[at]
        start, end = start_ns[at], end_ns[at]
        work = 0
        if start >= 0 and state[HAS_CLOCK] == 1 and start > state[CLOCK]:
            work = start - state[CLOCK]
        if (
            state[CALLS] + 3 > len(calls)
            or state[PENDING] > MOST_NS
            or abs(state[WORK_NS]) > MOST_NS
            or abs(state[MPI_NS]) > MOST_NS
            or work > MOST_NS
        ):
            break

        comm, count, first = 0, 0, 0
        if forms[this, S_COMM] > 0:
            comm = comm_of[value[V_COMM]]
            if comm < 0:
                break
            first, count = first_peer[comm], num_peers[comm]
        place = -1
        puts = kind in (ISEND, IRECV, ICOLLECTIVE)
        if puts or what == ENDS_ONE:
            place = place_of(value[V_REQUEST], places, state, active)
            if state[BUSY] == 1 or (
                puts and (place < 0 or active[place] != IDLE or lasting[place])
            ):
                break
        peer, tag, from_, from_tag, share = _NOWHERE, 0, _NOWHERE, 0, -1
        low, high = 0, 0
        none = False
        if what == MESSAGE:
            receives = kind in (RECV, IRECV)
            peer = world_rank(value[V_PEER], first, count, peers, receives, state[ANY])
            if peer >= ANY_SOURCE:
                tag = tag_of(value[V_TAG], receives)
            if peer == _WRONG or tag == _WRONG:
                break
        elif what == SENDRECV:
            from_ = world_rank(value[V_PEER2], first, count, peers, True, state[ANY])
            peer = world_rank(value[V_PEER], first, count, peers, False, state[ANY])
            if from_ >= ANY_SOURCE:
                from_tag = tag_of(value[V_TAG2], True)
            if peer >= 0:
                tag = tag_of(value[V_TAG], False)
            if peer == _WRONG or from_ == _WRONG or tag == _WRONG or from_tag == _WRONG:
                break
        elif what == GROUP_CALL:
            share = share_of[value[V_TEXT]]
            if share < 0:
                break
        elif what == ENDS_ONE:
            if place < 0:
                if state[NUMBERED] == 0 or state[ODD] > 0 or value[V_REQUEST] < 0:
                    break
                none = True
            elif not made[place] or active[place] < IDLE:
                break
            else:
                none = active[place] == IDLE
        elif what == ENDS_ARRAY:
            low, high = first_of[value[V_TEXT]], after_of[value[V_TEXT]]
            if low < 0 or high - low > _LONG_ARRAY or state[BUSY] == 1:
                break
            known = False
            none = True
            python = False
            for i in range(low, high):
                known = known or made[i] != 0
                if active[i] != IDLE:
                    none = False
                    python = python or active[i] < IDLE
            if python or not known:
                break
        elif what == ENDS_LISTED:
            low, high = value[V_BEGIN], value[V_END]
            none = True
            python = state[ODD] > 0
            for i in range(high + 1, value[V_STATUS_END]):
                python = python or (text[i] != MINUS and text[i] != _SEMICOLON)
            if high - low == 1 and text[low] == MINUS:
                high = low
            where = low
            while where < high and not python:
                number, where = next_number(text, where, high)
                python = number < 0 or (where < high and text[where] != _COMMA)
                where += 1
                python = python or where == high  # a comma ends the list
                place = place_of(number, places, state, active)
                if not python and place >= 0 and active[place] != IDLE:
                    none = False
                    python = active[place] < IDLE
            if python:
                break

        state[PENDING] += work
        state[WORK_NS] += work
        if start >= 0 and end >= 0:
            state[MPI_NS] += end - start
        at += 1
        call = -1
        if what == MESSAGE and peer >= ANY_SOURCE:
            call = add(calls, state, kind, at, value[V_SIZE], peer, tag, comm, -1)
            if kind == RECV:
                received(calls, call, value, comms)
        elif what == GROUP_CALL:
            call = add(calls, state, kind, at, 0, 0, 0, comm, share)
        elif what == SENDRECV and (peer >= 0 or from_ >= ANY_SOURCE):
            if from_ >= ANY_SOURCE:
                call = add(calls, state, IRECV, at, value[V_SIZE2], from_, from_tag, comm, -1)
            other = -1
            if peer >= 0:
                other = add(calls, state, ISEND, at, value[V_SIZE], peer, tag, comm, -1)
            wait = add(calls, state, WAIT, at, 0, 0, 0, -1, -1)
            if call >= 0:
                end_in(calls, wait, call)
            if other >= 0:
                end_in(calls, wait, other)
        elif what in (ENDS_ONE, ENDS_ARRAY, ENDS_LISTED) and not none:
            wait = add(calls, state, WAIT, at, 0, 0, 0, -1, -1)
            if what == ENDS_ONE:
                received(calls, active[place], value, comms)
                end_in(calls, wait, active[place])
                active[place] = IDLE
                pending[place] = 0
            elif what == ENDS_ARRAY:
                for i in range(low, high):
                    if active[i] != IDLE:
                        end_in(calls, wait, active[i])
                        active[i] = IDLE
                        pending[i] = 0
            else:
                where = low
                while where < high:
                    number, where = next_number(text, where, high)
                    where += 1
                    place = place_of(number, places, state, active)
                    if place >= 0 and active[place] != IDLE:
                        end_in(calls, wait, active[place])
                        active[place] = IDLE
                        pending[place] = 0
        if puts:
            made[place] = 1
            if call >= 0:
                active[place] = call
                pending[place] = 1
        if end >= 0:
            state[CLOCK] = end
            state[HAS_CLOCK] = 1
            if state[HAS_START] == 0:
                state[START], state[HAS_START] = end, 1
    state[AT] = at
