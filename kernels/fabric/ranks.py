"""The one thread of each rank of SST/macro's collective benchmarks.

What the thread does next stands on a stack; it stops while it copies or posts, and where the stack
is empty and no message has come.
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.fabric import nic, schedules
from kernels.fabric.layout import (
    ACKNOWLEDGED,
    AT_LAYER,
    M_BYTES,
    M_ENDS,
    M_EXTRA,
    M_FLAGS,
    M_LEFT,
    M_NEXT,
    M_WORD,
    NEVER,
    NODE,
    NOTHING,
    OS,
    SIZE_MASK,
    free_record,
)
from kernels.fabric.rank_layout import (
    ASK,
    AT_COPIES,
    AT_SIZES,
    AT_TIMES,
    BEGIN_RECEIVE,
    BEGIN_SEND,
    BUSY,
    CHAINS_LEFT,
    COMPLETE,
    CONTROL_BYTES,
    COPY,
    DEPTH,
    DONE,
    EAGER,
    EAGER_CUTOFF,
    EARLY,
    FINISHED,
    GET,
    HANDLE,
    HEADER,
    HEADER_DELAY,
    INBOX,
    INIT_BYTES,
    INIT_COPY,
    ITERATIONS,
    KIND,
    KIND_MASK,
    N_SIZES,
    NUMBER,
    NUMBER_SHIFT,
    OPEN,
    RANKS,
    RDMA_DELAY,
    RECEIVED,
    RECEIVING,
    RESUME,
    ROUND_MASK,
    ROUND_SHIFT,
    SEND_NOW,
    SENT,
    SINCE,
    STACK,
    STEP,
    TAKE_EARLY,
    UNPOSTED,
    rank_cells,
)


@helper("void(i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _push(s, k, what, chain, argument):
    depth = s[k + DEPTH]
    s[k + STACK + 2 * depth] = chain << 8 | what
    s[k + STACK + 2 * depth + 1] = argument
    s[k + DEPTH] = depth + 1


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def append_message(s, q, first, message):
    """Append a message to the list whose first and last stand at `first` and behind it."""
    q[message + M_NEXT] = NOTHING
    if s[first] == NOTHING:
        s[first] = message
    else:
        q[s[first + 1] + M_NEXT] = message
    s[first + 1] = message


@helper("i8(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _remove(s, q, first, word, source):
    """Remove and return the first message of a list for this collective, of this round and source.

    The kind does not count; a negative source stands for any, and then any round will do.
    """
    before = np.int64(NOTHING)
    message = s[first]
    while message != NOTHING:
        if source < 0:
            found = q[message + M_WORD] >> NUMBER_SHIFT == word >> NUMBER_SHIFT
        else:
            found = (
                q[message + M_WORD] >> ROUND_SHIFT == word >> ROUND_SHIFT
                and q[message + M_ENDS] >> 32 == source
            )
        if found:
            if before == NOTHING:
                s[first] = q[message + M_NEXT]
            else:
                q[before + M_NEXT] = q[message + M_NEXT]
            if s[first + 1] == message:
                s[first + 1] = before
            return message
        before = message
        message = q[message + M_NEXT]
    return np.int64(NOTHING)


@helper("i8(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def _kind(s, number):
    """Return what kind of collective a number stands for."""
    e = s[AT_LAYER]
    if number == 0:
        return schedules.ALLREDUCE
    if (number - 1) % (s[e + ITERATIONS] + 1) == 0:
        return schedules.BARRIER
    return s[e + KIND]


@helper("UniTuple(i8, 6)(i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _step(s, number, rank, chain, i):
    """Return a step of a collective, see ``schedules.step_of``."""
    e = s[AT_LAYER]
    n, width = np.int64(1), s[e + INIT_BYTES]
    kind = _kind(s, number)
    if kind == schedules.BARRIER:
        width = np.int64(0)
    elif number > 0:
        n = s[s[e + AT_SIZES] + (number - 1) // (s[e + ITERATIONS] + 1)]
        width = np.int64(1)
    return schedules.step_of(kind, s[e + RANKS], rank, chain, i, n, width)


@helper("i8(i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _next_step(s, number, rank, chain, i):
    """Return the first step from `i` on that is with another rank, or -1."""
    steps = schedules.steps_of(_kind(s, number), s[s[AT_LAYER] + RANKS])
    while i < steps:
        if _step(s, number, rank, chain, i)[schedules.TO] != rank:
            return i
        i += 1
    return -1


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _pause(s, q, rank, at, owner, k):
    """Let the thread go on at a tick."""
    s[k + BUSY] = 1
    nic.set_timer(s, q, rank, at, owner, RESUME, 0, 0)


@helper("i8(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _copy_ticks(s, number, blocks):
    """Return the ticks of copying some blocks of a collective."""
    e = s[AT_LAYER]
    if _kind(s, number) == schedules.BARRIER:
        return 0
    size = (number - 1) // (s[e + ITERATIONS] + 1)
    return s[s[e + AT_COPIES] + size * (s[e + RANKS] + 1) + blocks]


@helper("void(i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _begin(s, k, rank, number):
    """Put the beginning of a collective on a rank's stack."""
    e = s[AT_LAYER]
    ranks, kind = s[e + RANKS], _kind(s, number)
    s[k + NUMBER] = number
    s[k + CHAINS_LEFT] = 0
    _push(s, k, TAKE_EARLY, 0, 0)
    # The actions of the first steps start in SST/macro's order; the stack holds the last lowest.
    order = np.int64(NEVER)
    chains = schedules.chains_of(kind, ranks, rank)
    for chain in range(chains):
        i = _next_step(s, number, rank, chain, 0)
        s[k + STEP + chain] = i
        s[k + OPEN + chain] = 2
        s[k + RECEIVING + chain] = 0
        if i >= 0:
            s[k + CHAINS_LEFT] += 1
    while True:
        best, what, of_chain = np.int64(-1), 0, 0
        for chain in range(chains):
            if s[k + STEP + chain] < 0:
                continue
            step = _step(s, number, rank, chain, s[k + STEP + chain])
            send = step[schedules.TO] * 3000 + step[schedules.ROUND] * 6
            receive = step[schedules.FROM] * 3000 + step[schedules.ROUND] * 6 + 1
            if best < send < order:
                best, what, of_chain = send, BEGIN_SEND, chain
            if best < receive < order:
                best, what, of_chain = receive, BEGIN_RECEIVE, chain
        if best < 0:
            break
        _push(s, k, what, of_chain, 0)
        order = best
    if kind == schedules.BARRIER or kind == schedules.BRUCK_ALLGATHER:
        if rank > 0:
            _push(s, k, COPY, 0, _copy_ticks(s, number, 1))
    elif kind == schedules.BRUCK_ALLTOALL:
        _push(s, k, COPY, 0, _copy_ticks(s, number, rank))
        _push(s, k, COPY, 0, _copy_ticks(s, number, ranks - rank))


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _send_step(s, t, q, now, rank, chain):
    """Send the message of a chain's step: the payload if it is small, else a header."""
    k = rank_cells(s, rank)
    number = s[k + NUMBER]
    step = _step(s, number, rank, chain, s[k + STEP + chain])
    size = step[schedules.SENT]
    eager = size < s[s[AT_LAYER] + EAGER_CUTOFF]
    word = number << NUMBER_SHIFT | step[schedules.ROUND] << ROUND_SHIFT
    word |= EAGER if eager else HEADER
    wire = size if eager else CONTROL_BYTES
    message = nic.new_message(s, q, rank, step[schedules.TO], wire, word, size << 8 | chain)
    q[message + M_FLAGS] = ACKNOWLEDGED if eager else 0
    nic.send(s, t, q, now, message)


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def turn(s, t, q, now, message, kind, n_bytes, flags):
    """Send a message back where it came from, as another kind."""
    ends = q[message + M_ENDS]
    q[message + M_ENDS] = (ends & SIZE_MASK) << 32 | ends >> 32
    q[message + M_WORD] = q[message + M_WORD] & ~np.int64(KIND_MASK) | kind
    q[message + M_BYTES] = n_bytes
    q[message + M_LEFT] = n_bytes
    q[message + M_FLAGS] = flags
    nic.send(s, t, q, now, message)


@helper("i8(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _chain_for(s, q, k, rank, message):
    """Return the chain whose posted receive a message is for, or -1."""
    number = s[k + NUMBER]
    for chain in range(2):
        if not s[k + RECEIVING + chain]:
            continue
        step = _step(s, number, rank, chain, s[k + STEP + chain])
        if (
            step[schedules.ROUND] == q[message + M_WORD] >> ROUND_SHIFT & ROUND_MASK
            and step[schedules.FROM] == q[message + M_ENDS] >> 32
        ):
            return chain
    return -1


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _receive(s, t, q, now, rank, chain, message):
    """Take a message whose receive is posted."""
    k = rank_cells(s, rank)
    e = s[AT_LAYER]
    kind = q[message + M_WORD] & KIND_MASK
    if kind == HEADER:
        if s[e + RDMA_DELAY] > 0:
            _push(s, k, ASK, chain, message)
            _pause(s, q, rank, now + s[e + RDMA_DELAY], OS, k)
        else:
            turn(s, t, q, now, message, GET, CONTROL_BYTES, 0)
        return
    _push(s, k, RECEIVED, chain, 0)
    size = q[message + M_EXTRA] >> 8
    free_record(s, q, message)
    if s[k + NUMBER] == 0:
        step = _step(s, 0, rank, chain, s[k + STEP + chain])
        if kind == EAGER or not step[schedules.FREE_BY_RDMA]:
            _pause(s, q, rank, now + (s[e + INIT_COPY] if size > 0 else 0), NODE, k)


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _handle(s, t, q, now, rank, message):
    """Look at a message that the thread has taken."""
    k = rank_cells(s, rank)
    word = q[message + M_WORD]
    if word >> NUMBER_SHIFT != s[k + NUMBER]:
        append_message(s, q, k + EARLY, message)
    elif word & KIND_MASK == SENT:
        chain = q[message + M_EXTRA] & 255
        free_record(s, q, message)
        _push(s, k, COMPLETE, chain, 0)
    else:
        chain = _chain_for(s, q, k, rank, message)
        if chain < 0:
            append_message(s, q, k + UNPOSTED, message)
        else:
            _receive(s, t, q, now, rank, chain, message)


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _do_next(s, t, q, now, rank):
    """Do what stands on top of a rank's stack."""
    k = rank_cells(s, rank)
    e = s[AT_LAYER]
    depth = s[k + DEPTH] - 1
    s[k + DEPTH] = depth
    what, chain = s[k + STACK + 2 * depth] & 255, s[k + STACK + 2 * depth] >> 8
    argument = s[k + STACK + 2 * depth + 1]
    number = s[k + NUMBER]
    if what == COPY:
        _pause(s, q, rank, now + argument, NODE, k)
    elif what == BEGIN_SEND:
        if s[e + HEADER_DELAY] > 0:
            _push(s, k, SEND_NOW, chain, 0)
            _pause(s, q, rank, now + s[e + HEADER_DELAY], OS, k)
        else:
            _send_step(s, t, q, now, rank, chain)
    elif what == SEND_NOW:
        _send_step(s, t, q, now, rank, chain)
    elif what == BEGIN_RECEIVE:
        s[k + RECEIVING + chain] = 1
        step = _step(s, number, rank, chain, s[k + STEP + chain])
        word = number << NUMBER_SHIFT | step[schedules.ROUND] << ROUND_SHIFT
        message = _remove(s, q, k + UNPOSTED, word, step[schedules.FROM])
        if message != NOTHING:
            _receive(s, t, q, now, rank, chain, message)
    elif what == RECEIVED:
        s[k + RECEIVING + chain] = 0
        _push(s, k, COMPLETE, chain, 0)
    elif what == ASK:
        turn(s, t, q, now, argument, GET, CONTROL_BYTES, 0)
    elif what == COMPLETE:
        s[k + OPEN + chain] -= 1
        if s[k + OPEN + chain] == 0:
            i = _next_step(s, number, rank, chain, s[k + STEP + chain] + 1)
            if i < 0:
                s[k + CHAINS_LEFT] -= 1
            else:
                s[k + STEP + chain] = i
                s[k + OPEN + chain] = 2
                _push(s, k, BEGIN_RECEIVE, chain, 0)
                _push(s, k, BEGIN_SEND, chain, 0)
    elif what == TAKE_EARLY:
        message = _remove(s, q, k + EARLY, number << NUMBER_SHIFT, -1)
        if message != NOTHING:
            _push(s, k, TAKE_EARLY, 0, 0)
            _push(s, k, HANDLE, 0, message)
    else:
        _handle(s, t, q, now, rank, argument)


@helper("void(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _keep_time(s, now, rank):
    """Note the clock at the end of a barrier and of a size's last collective."""
    e = s[AT_LAYER]
    k = rank_cells(s, rank)
    number = s[k + NUMBER]
    if number <= 0:
        return
    turn = (number - 1) % (s[e + ITERATIONS] + 1)
    if turn == 0:
        s[k + SINCE] = now
    elif turn == s[e + ITERATIONS]:
        size = (number - 1) // (s[e + ITERATIONS] + 1)
        s[s[e + AT_TIMES] + rank * s[e + N_SIZES] + size] = now - s[k + SINCE]


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def run_thread(s, t, q, now, rank):
    """Run a rank's thread until it is busy, waits, or has ended."""
    e = s[AT_LAYER]
    k = rank_cells(s, rank)
    last = s[e + N_SIZES] * (s[e + ITERATIONS] + 1)
    while not s[k + BUSY] and not s[k + DONE]:
        if s[k + DEPTH] > 0:
            _do_next(s, t, q, now, rank)
        elif s[k + CHAINS_LEFT] > 0:
            inbox = k + INBOX + (0 if s[k + NUMBER] == 0 else 2)
            message = s[inbox]
            if message == NOTHING:
                return
            s[inbox] = q[message + M_NEXT]
            _handle(s, t, q, now, rank, message)
        else:
            _keep_time(s, now, rank)
            if s[k + NUMBER] == last:
                s[k + DONE] = 1
                s[e + FINISHED] += 1
            else:
                _begin(s, k, rank, s[k + NUMBER] + 1)
