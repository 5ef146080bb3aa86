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
    ENDS_ANY,
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
    V_INDEX,
    V_PEER,
    V_PEER2,
    V_REQUEST,
    V_SIZE,
    V_SIZE2,
    V_STATUS,
    V_STATUS_END,
    V_TAG,
    V_TAG2,
    V_TEXT,
    WAIT,
    WORK,
    WORK_NS,
)

_NOWHERE, _WRONG = -2, -3  # instead of a rank: MPI_PROC_NULL, or none of the communicator's
_LONG_ARRAY = 4096  # variables; bytes.find of Python is quicker on longer ones
_COMMA, _SEMICOLON = 44, 59  # in ASCII


@helper
def world_rank(peer, first, count, peers, may_be_any, any_source):
    """Return the rank among all of a peer, or that it is any, none or wrong."""
    if peer < 0:
        return ANY_SOURCE if may_be_any and peer == any_source else _NOWHERE
    return peers[first + peer] if peer < count else _WRONG


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


@kernel(cache=True, nogil=True)
def follow(text, lines, forms, meanings, comms, requests, new, calls, state):
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
            persistent; it was made; it is pending. Then space for places.
        new: int64[3, 5], space.
        calls: int64[n, N_CALL], filled.
        state: int64[N_STATE].
    """
    _, form, times, values = lines
    places, comm_of, share_of, first_of, after_of = meanings
    first_peer, num_peers, peers = comms
    active, lasting, made, pending, ending = requests
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
        start, end = times[at, 0], times[at, 1]
        work = 0
        if start >= 0 and state[HAS_CLOCK] == 1 and start > state[CLOCK]:
            work = start - state[CLOCK]
        if state[CALLS] + 3 > len(calls) or max(work, state[PENDING]) > MOST_NS:
            break
        if max(abs(state[WORK_NS]), abs(state[MPI_NS])) > MOST_NS:
            break

        comm = 0
        if forms[this, S_COMM] > 0:
            comm = comm_of[value[V_COMM]]
            if comm < 0:
                break
        python = False
        place = -1
        puts = kind in (ISEND, IRECV, ICOLLECTIVE)
        if puts:
            place = place_of(value[V_REQUEST], places, state, active)
            python = place < 0 or active[place] != IDLE or lasting[place] != 0 or state[BUSY] == 1

        # What there is to add: up to two messages, or a collective; and requests that end.
        num_new, num_ending = 0, 0
        if what in (MESSAGE, SENDRECV):
            for side in range(1 + (what == SENDRECV)):
                size_at, peer_at, tag_at, receives = V_SIZE, V_PEER, V_TAG, kind in (RECV, IRECV)
                if what == SENDRECV:
                    receives = side == 0
                    kind = IRECV if receives else ISEND
                    if receives:
                        size_at, peer_at, tag_at = V_SIZE2, V_PEER2, V_TAG2
                peer = world_rank(
                    value[peer_at], first_peer[comm], num_peers[comm], peers, receives, state[ANY]
                )
                tag = value[tag_at]
                if tag < 0 and receives:
                    tag = ANY_TAG
                elif not 0 <= tag <= MOST_TAG and peer >= ANY_SOURCE:
                    python = True
                if peer >= ANY_SOURCE:
                    one = new[num_new]
                    one[0], one[1], one[2], one[3], one[4] = kind, value[size_at], peer, tag, -1
                    num_new += 1
                python = python or peer == _WRONG
        elif what == GROUP_CALL:
            one = new[0]
            one[0], one[1], one[2], one[3], one[4] = kind, 0, 0, 0, share_of[value[V_TEXT]]
            num_new = 1
            python = python or one[4] < 0
        elif what == ENDS_ONE:
            place = place_of(value[V_REQUEST], places, state, active)
            if place >= 0:
                python = made[place] == 0 or state[BUSY] == 1
                ending[0] = place
                num_ending = 1
            else:
                python = state[NUMBERED] == 0 or state[ODD] > 0 or value[V_REQUEST] < 0
        elif what == ENDS_ARRAY:
            low, high = first_of[value[V_TEXT]], after_of[value[V_TEXT]]
            python = low < 0 or high - low > _LONG_ARRAY or state[BUSY] == 1
            if not python:
                known = False
                for i in range(low, high):
                    known = known or made[i] != 0
                    ending[num_ending] = i
                    num_ending += 1
                python = not known
        elif what in (ENDS_LISTED, ENDS_ANY):
            where, high = value[V_BEGIN], value[V_END]
            python = state[ODD] > 0
            for i in range(value[V_STATUS], value[V_STATUS_END]):
                python = python or (text[i] != MINUS and text[i] != _SEMICOLON)
            if high - where == 1 and text[where] == MINUS:
                where = high
            index = 0
            while where < high and not python:
                number = np.int64(0)
                digits = where
                while where < high and ZERO <= text[where] <= NINE and where - digits < 19:
                    number = number * 10 + (np.int64(text[where]) - ZERO)
                    where += 1
                python = where == digits or where - digits > 18
                python = python or (where < high and text[where] != _COMMA) or where + 1 == high
                where += 1
                place = place_of(number, places, state, active)
                if what == ENDS_ANY and index != value[V_INDEX]:
                    place = -1
                index += 1
                if place >= 0 and active[place] != IDLE:
                    python = python or num_ending == len(ending)
                    if not python:
                        ending[num_ending] = place
                        num_ending += 1
            python = python or (what == ENDS_ANY and value[V_INDEX] >= index)
        none = True
        for i in range(num_ending):
            none = none and active[ending[i]] == IDLE
            python = python or active[ending[i]] < IDLE
        if python:
            break

        state[PENDING] += work
        state[WORK_NS] += work
        if start >= 0 and end >= 0:
            state[MPI_NS] += end - start
        at += 1
        if not none or (what == SENDRECV and num_new > 0):
            new[num_new, 0], new[num_new, 4] = WAIT, -1
            new[num_new, 1:4] = 0
            num_new += 1
        call = state[CALLS]
        for i in range(num_new):
            one = new[i]
            last = add(
                calls,
                state,
                one[0],
                at,
                one[1],
                one[2],
                one[3],
                -1 if one[0] == WAIT else comm,
                one[4],
            )
            if what == SENDRECV:
                for before in range(call, last):
                    if one[0] == WAIT:
                        end_in(calls, last, before)
        if not none:
            for i in range(num_ending):
                one_ends = active[ending[i]]
                if one_ends != IDLE:
                    end_in(calls, call, one_ends)
                    active[ending[i]] = IDLE
                    pending[ending[i]] = 0
            if what == ENDS_ONE:
                call = calls[call, NEXT]
        if (what == ENDS_ONE and not none) or (kind == RECV and num_new > 0):
            received(calls, call, value, comms)
        if puts:
            made[place] = 1
            if num_new > 0:
                active[place] = call
                pending[place] = 1
        if end >= 0:
            state[CLOCK] = end
            state[HAS_CLOCK] = 1
            if state[HAS_START] == 0:
                state[START], state[HAS_START] = end, 1
    state[AT] = at
