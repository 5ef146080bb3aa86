"""The one thread of each rank of SST/macro's collective benchmarks.

The next actions of the thread are on a stack; it stops while it copies or posts, and when the
stack is empty and no message has arrived.
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.fabric import layout, nic, rank_layout, schedules


@helper
def _push(s, k, what, chain, argument):
    depth = s[k + rank_layout.DEPTH]
    s[k + rank_layout.STACK + 2 * depth] = chain << 8 | what
    s[k + rank_layout.STACK + 2 * depth + 1] = argument
    s[k + rank_layout.DEPTH] = depth + 1


@helper
def append_message(s, q, first, message):
    """Append a message to the list whose ends are in the cells `first` and `first` + 1."""
    q[message + layout.M_NEXT] = layout.NOTHING
    if s[first] == layout.NOTHING:
        s[first] = message
    else:
        q[s[first + 1] + layout.M_NEXT] = message
    s[first + 1] = message


@helper
def _remove(s, q, first, word, source):
    """Remove and return the first message of a list for this collective, of this round and source.

    The kind does not count; a negative source matches any source and any round.
    """
    before = np.int64(layout.NOTHING)
    message = s[first]
    while message != layout.NOTHING:
        if source < 0:
            found = (
                q[message + layout.M_WORD] >> rank_layout.NUMBER_SHIFT
                == word >> rank_layout.NUMBER_SHIFT
            )
        else:
            found = (
                q[message + layout.M_WORD] >> rank_layout.ROUND_SHIFT
                == word >> rank_layout.ROUND_SHIFT
                and q[message + layout.M_ENDS] >> 32 == source
            )
        if found:
            if before == layout.NOTHING:
                s[first] = q[message + layout.M_NEXT]
            else:
                q[before + layout.M_NEXT] = q[message + layout.M_NEXT]
            if s[first + 1] == message:
                s[first + 1] = before
            return message
        before = message
        message = q[message + layout.M_NEXT]
    return np.int64(layout.NOTHING)


@helper
def _kind(s, number):
    """Return the kind of the collective with a number."""
    e = s[layout.AT_LAYER]
    if number == 0:
        return schedules.ALLREDUCE
    if (number - 1) % (s[e + rank_layout.ITERATIONS] + 1) == 0:
        return schedules.BARRIER
    return s[e + rank_layout.KIND]


@helper
def _step(s, number, rank, chain, i):
    """Return a step of a collective, see ``schedules.step_of``."""
    e = s[layout.AT_LAYER]
    n, width = np.int64(1), s[e + rank_layout.INIT_BYTES]
    kind = _kind(s, number)
    if kind == schedules.BARRIER:
        width = np.int64(0)
    elif number > 0:
        n = s[s[e + rank_layout.AT_SIZES] + (number - 1) // (s[e + rank_layout.ITERATIONS] + 1)]
        width = np.int64(1)
    return schedules.step_of(kind, s[e + rank_layout.RANKS], rank, chain, i, n, width)


@helper
def _next_step(s, number, rank, chain, i):
    """Return the first step from `i` on that is with another rank, or -1."""
    steps = schedules.steps_of(_kind(s, number), s[s[layout.AT_LAYER] + rank_layout.RANKS])
    while i < steps:
        if _step(s, number, rank, chain, i)[schedules.TO] != rank:
            return i
        i += 1
    return -1


@helper
def _pause(s, q, rank, at, owner, k):
    """Resume the thread at a tick."""
    s[k + rank_layout.BUSY] = 1
    nic.set_timer(s, q, rank, at, owner, rank_layout.RESUME, 0, 0)


@helper
def _copy_ticks(s, number, blocks):
    """Return the ticks of copying some blocks of a collective."""
    e = s[layout.AT_LAYER]
    if _kind(s, number) == schedules.BARRIER:
        return 0
    size = (number - 1) // (s[e + rank_layout.ITERATIONS] + 1)
    return s[s[e + rank_layout.AT_COPIES] + size * (s[e + rank_layout.RANKS] + 1) + blocks]


@helper
def _begin(s, k, rank, number):
    """Put the beginning of a collective on a rank's stack."""
    e = s[layout.AT_LAYER]
    ranks, kind = s[e + rank_layout.RANKS], _kind(s, number)
    s[k + rank_layout.NUMBER] = number
    s[k + rank_layout.CHAINS_LEFT] = 0
    _push(s, k, rank_layout.TAKE_EARLY, 0, 0)
    # The actions of the first steps start in SST/macro's order; the stack holds the last lowest.
    order = np.int64(layout.NEVER)
    chains = schedules.chains_of(kind, ranks, rank)
    for chain in range(chains):
        i = _next_step(s, number, rank, chain, 0)
        s[k + rank_layout.STEP + chain] = i
        s[k + rank_layout.OPEN + chain] = 2
        s[k + rank_layout.RECEIVING + chain] = 0
        if i >= 0:
            s[k + rank_layout.CHAINS_LEFT] += 1
    while True:
        best, what, of_chain = np.int64(-1), 0, 0
        for chain in range(chains):
            if s[k + rank_layout.STEP + chain] < 0:
                continue
            step = _step(s, number, rank, chain, s[k + rank_layout.STEP + chain])
            send = step[schedules.TO] * 3000 + step[schedules.ROUND] * 6
            receive = step[schedules.FROM] * 3000 + step[schedules.ROUND] * 6 + 1
            if best < send < order:
                best, what, of_chain = send, rank_layout.BEGIN_SEND, chain
            if best < receive < order:
                best, what, of_chain = receive, rank_layout.BEGIN_RECEIVE, chain
        if best < 0:
            break
        _push(s, k, what, of_chain, 0)
        order = best
    if kind == schedules.BARRIER or kind == schedules.BRUCK_ALLGATHER:
        if rank > 0:
            _push(s, k, rank_layout.COPY, 0, _copy_ticks(s, number, 1))
    elif kind == schedules.BRUCK_ALLTOALL:
        _push(s, k, rank_layout.COPY, 0, _copy_ticks(s, number, rank))
        _push(s, k, rank_layout.COPY, 0, _copy_ticks(s, number, ranks - rank))


@helper
def _send_step(s, t, q, now, rank, chain):
    """Send the message of a chain's step: the payload if it is small, else a header."""
    k = rank_layout.rank_cells(s, rank)
    number = s[k + rank_layout.NUMBER]
    step = _step(s, number, rank, chain, s[k + rank_layout.STEP + chain])
    size = step[schedules.SENT]
    eager = size < s[s[layout.AT_LAYER] + rank_layout.EAGER_CUTOFF]
    word = number << rank_layout.NUMBER_SHIFT | step[schedules.ROUND] << rank_layout.ROUND_SHIFT
    word |= rank_layout.EAGER if eager else rank_layout.HEADER
    wire = size if eager else rank_layout.CONTROL_BYTES
    message = nic.new_message(s, q, rank, step[schedules.TO], wire, word, size << 8 | chain)
    q[message + layout.M_FLAGS] = layout.ACKNOWLEDGED if eager else 0
    nic.send(s, t, q, now, message)


@helper
def turn(s, t, q, now, message, kind, n_bytes, flags):
    """Return a message to its sender as another kind."""
    ends = q[message + layout.M_ENDS]
    q[message + layout.M_ENDS] = (ends & layout.SIZE_MASK) << 32 | ends >> 32
    q[message + layout.M_WORD] = (
        q[message + layout.M_WORD] & ~np.int64(rank_layout.KIND_MASK) | kind
    )
    q[message + layout.M_BYTES] = n_bytes
    q[message + layout.M_LEFT] = n_bytes
    q[message + layout.M_COMING] = n_bytes
    q[message + layout.M_FLAGS] = flags
    nic.send(s, t, q, now, message)


@helper
def _chain_for(s, q, k, rank, message):
    """Return the chain whose posted receive a message is for, or -1."""
    number = s[k + rank_layout.NUMBER]
    for chain in range(2):
        if not s[k + rank_layout.RECEIVING + chain]:
            continue
        step = _step(s, number, rank, chain, s[k + rank_layout.STEP + chain])
        if (
            step[schedules.ROUND]
            == q[message + layout.M_WORD] >> rank_layout.ROUND_SHIFT & rank_layout.ROUND_MASK
            and step[schedules.FROM] == q[message + layout.M_ENDS] >> 32
        ):
            return chain
    return -1


@helper
def _receive(s, t, q, now, rank, chain, message):
    """Receive a message whose receive is posted."""
    k = rank_layout.rank_cells(s, rank)
    e = s[layout.AT_LAYER]
    kind = q[message + layout.M_WORD] & rank_layout.KIND_MASK
    if kind == rank_layout.HEADER:
        if s[e + rank_layout.RDMA_DELAY] > 0:
            _push(s, k, rank_layout.ASK, chain, message)
            _pause(s, q, rank, now + s[e + rank_layout.RDMA_DELAY], layout.OS, k)
        else:
            turn(s, t, q, now, message, rank_layout.GET, rank_layout.CONTROL_BYTES, 0)
        return
    _push(s, k, rank_layout.RECEIVED, chain, 0)
    size = q[message + layout.M_EXTRA] >> 8
    layout.free_record(s, q, message)
    if s[k + rank_layout.NUMBER] == 0:
        step = _step(s, 0, rank, chain, s[k + rank_layout.STEP + chain])
        if kind == rank_layout.EAGER or not step[schedules.FREE_BY_RDMA]:
            _pause(
                s, q, rank, now + (s[e + rank_layout.INIT_COPY] if size > 0 else 0), layout.NODE, k
            )


@helper
def _handle(s, t, q, now, rank, message):
    """Handle a message that the thread has dequeued."""
    k = rank_layout.rank_cells(s, rank)
    word = q[message + layout.M_WORD]
    if word >> rank_layout.NUMBER_SHIFT != s[k + rank_layout.NUMBER]:
        append_message(s, q, k + rank_layout.EARLY, message)
    elif word & rank_layout.KIND_MASK == rank_layout.SENT:
        chain = q[message + layout.M_EXTRA] & 255
        layout.free_record(s, q, message)
        _push(s, k, rank_layout.COMPLETE, chain, 0)
    else:
        chain = _chain_for(s, q, k, rank, message)
        if chain < 0:
            append_message(s, q, k + rank_layout.UNPOSTED, message)
        else:
            _receive(s, t, q, now, rank, chain, message)


@helper
def _do_next(s, t, q, now, rank):
    """Run the action on top of a rank's stack."""
    k = rank_layout.rank_cells(s, rank)
    e = s[layout.AT_LAYER]
    depth = s[k + rank_layout.DEPTH] - 1
    s[k + rank_layout.DEPTH] = depth
    what, chain = (
        s[k + rank_layout.STACK + 2 * depth] & 255,
        s[k + rank_layout.STACK + 2 * depth] >> 8,
    )
    argument = s[k + rank_layout.STACK + 2 * depth + 1]
    number = s[k + rank_layout.NUMBER]
    if what == rank_layout.COPY:
        _pause(s, q, rank, now + argument, layout.NODE, k)
    elif what == rank_layout.BEGIN_SEND:
        if s[e + rank_layout.HEADER_DELAY] > 0:
            _push(s, k, rank_layout.SEND_NOW, chain, 0)
            _pause(s, q, rank, now + s[e + rank_layout.HEADER_DELAY], layout.OS, k)
        else:
            _send_step(s, t, q, now, rank, chain)
    elif what == rank_layout.SEND_NOW:
        _send_step(s, t, q, now, rank, chain)
    elif what == rank_layout.BEGIN_RECEIVE:
        s[k + rank_layout.RECEIVING + chain] = 1
        step = _step(s, number, rank, chain, s[k + rank_layout.STEP + chain])
        word = number << rank_layout.NUMBER_SHIFT | step[schedules.ROUND] << rank_layout.ROUND_SHIFT
        message = _remove(s, q, k + rank_layout.UNPOSTED, word, step[schedules.FROM])
        if message != layout.NOTHING:
            _receive(s, t, q, now, rank, chain, message)
    elif what == rank_layout.RECEIVED:
        s[k + rank_layout.RECEIVING + chain] = 0
        _push(s, k, rank_layout.COMPLETE, chain, 0)
    elif what == rank_layout.ASK:
        turn(s, t, q, now, argument, rank_layout.GET, rank_layout.CONTROL_BYTES, 0)
    elif what == rank_layout.COMPLETE:
        s[k + rank_layout.OPEN + chain] -= 1
        if s[k + rank_layout.OPEN + chain] == 0:
            i = _next_step(s, number, rank, chain, s[k + rank_layout.STEP + chain] + 1)
            if i < 0:
                s[k + rank_layout.CHAINS_LEFT] -= 1
            else:
                s[k + rank_layout.STEP + chain] = i
                s[k + rank_layout.OPEN + chain] = 2
                _push(s, k, rank_layout.BEGIN_RECEIVE, chain, 0)
                _push(s, k, rank_layout.BEGIN_SEND, chain, 0)
    elif what == rank_layout.TAKE_EARLY:
        message = _remove(s, q, k + rank_layout.EARLY, number << rank_layout.NUMBER_SHIFT, -1)
        if message != layout.NOTHING:
            _push(s, k, rank_layout.TAKE_EARLY, 0, 0)
            _push(s, k, rank_layout.HANDLE, 0, message)
    else:
        _handle(s, t, q, now, rank, argument)


@helper
def _keep_time(s, now, rank):
    """Note the clock at the end of a barrier and of a size's last collective."""
    e = s[layout.AT_LAYER]
    k = rank_layout.rank_cells(s, rank)
    number = s[k + rank_layout.NUMBER]
    if number <= 0:
        return
    turn = (number - 1) % (s[e + rank_layout.ITERATIONS] + 1)
    if turn == 0:
        s[k + rank_layout.SINCE] = now
    elif turn == s[e + rank_layout.ITERATIONS]:
        size = (number - 1) // (s[e + rank_layout.ITERATIONS] + 1)
        s[s[e + rank_layout.AT_TIMES] + rank * s[e + rank_layout.N_SIZES] + size] = (
            now - s[k + rank_layout.SINCE]
        )


@helper
def run_thread(s, t, q, now, rank):
    """Run a rank's thread until it is busy, waits, or has ended."""
    e = s[layout.AT_LAYER]
    k = rank_layout.rank_cells(s, rank)
    last = s[e + rank_layout.N_SIZES] * (s[e + rank_layout.ITERATIONS] + 1)
    while not s[k + rank_layout.BUSY] and not s[k + rank_layout.DONE]:
        if s[k + rank_layout.DEPTH] > 0:
            _do_next(s, t, q, now, rank)
        elif s[k + rank_layout.CHAINS_LEFT] > 0:
            inbox = k + rank_layout.INBOX + (0 if s[k + rank_layout.NUMBER] == 0 else 2)
            message = s[inbox]
            if message == layout.NOTHING:
                return
            s[inbox] = q[message + layout.M_NEXT]
            _handle(s, t, q, now, rank, message)
        else:
            _keep_time(s, now, rank)
            if s[k + rank_layout.NUMBER] == last:
                s[k + rank_layout.DONE] = 1
                s[e + rank_layout.FINISHED] += 1
            else:
                _begin(s, k, rank, s[k + rank_layout.NUMBER] + 1)
