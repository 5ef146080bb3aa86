"""The operations of a program at their ranks, on any network.

A core does one thing at a time, in the order in which things become ready; of two at once that of
the operation that stands first. A send of up to S bytes takes its core for o + (s - 1) O, then its
message enters the network; when it is there and its receive is posted, the receiver's core takes
the same, and the receive ends. Above S bytes a header goes first; when it is there and the receive
is posted, the receiver spends o on asking for the bytes, they come without the sender's core, the
receiver spends o + (s - 1) O, the receive ends and tells the sender, which spends o and ends. These
are the overheads of Shen et al., LLAMP, appendix B.
"""

import numpy as np

from kernels import inlined
from kernels.fabric_programs import layout
from kernels.fabric_programs.events import push


@inlined
def count_missing(program, missing):
    """Count the dependencies each operation waits for.

    Args:
        program: the program.
        missing: int32[n], out.
    """
    missing[:] = 0
    for op in program.req_ops:
        missing[op] += 1
    for op in program.ireq_ops:
        missing[op] += 1


@inlined
def push_roots(pending, events, cells):
    """Add the operations that wait for nothing, which are ready at 0, to the events.

    Args:
        pending: with dependencies counted.
        events: the heap, empty.
        cells: int64[N_CELLS].
    """
    for op in range(len(pending.missing)):
        if pending.missing[op] == 0:
            push(events, cells, 0, op * layout.CODES + layout.READY)


@inlined
def _release(op, time, first, ops, pending, events, cells):
    """Tell those that wait for an operation that it has started, or ended, at a time."""
    for i in range(first[op], first[op + 1]):
        other = np.int64(ops[i])
        if pending.start[other] < time:
            pending.start[other] = time
        pending.missing[other] -= 1
        if pending.missing[other] == 0:
            push(events, cells, pending.start[other], other * layout.CODES + layout.READY)


@inlined
def _started(program, pending, events, cells, op, time):
    """Note that an operation has started."""
    pending.missing[op] = -1
    pending.start[op] = time
    _release(op, time, program.ireq_start, program.ireq_ops, pending, events, cells)


@inlined
def _ended(program, pending, events, cells, op, time):
    """Note that an operation ends."""
    pending.end[op] = time
    cells[layout.ENDED] += 1
    _release(op, time, program.req_start, program.req_ops, pending, events, cells)


@inlined
def _work(program, pending, op, time, ticks):
    """Occupy the core of an operation; return when it begins."""
    core = program.core[op]
    begin = max(time, pending.free_at[core])
    pending.free_at[core] = begin + ticks
    return begin


@inlined
def _handling(costs, size):
    """Return the ticks that a host spends on a message."""
    return costs.overhead + max(size - 1, 0) * costs.overhead_byte


@inlined
def make_ready(program, costs, pending, events, cells, op, time, latency):
    """Begin an operation whose dependencies are met.

    Args:
        program: the program.
        costs: of hosts.
        pending: what is known of the operations.
        events: the heap.
        cells: int64[N_CELLS].
        op: which.
        time: ticks.
        latency: of the way to the receiver of a send, to the sender of a receive, ticks.

    Returns:
        When the header of a send above S is at the receiver, ticks; -1 for all else.
    """
    size = program.size[op]
    if program.kind[op] == layout.CALC:
        ticks = size * layout.TICKS_PER_NS
        begin = _work(program, pending, op, time, ticks)
        _started(program, pending, events, cells, op, begin)
        _ended(program, pending, events, cells, op, begin + ticks)
    elif program.kind[op] == layout.SEND:
        if size > costs.eager:
            _started(program, pending, events, cells, op, time)
            return time + latency
        ticks = _handling(costs, size)
        begin = _work(program, pending, op, time, ticks)
        _started(program, pending, events, cells, op, begin)
        push(events, cells, begin + ticks, np.int64(op) * layout.CODES + layout.INJECT)
        _ended(program, pending, events, cells, op, begin + ticks)
    else:
        _started(program, pending, events, cells, op, time)
        send = np.int64(program.match[op])
        if pending.arrived[send] >= 0:
            _take(program, costs, pending, events, cells, send, time, latency)
        elif pending.header[send]:
            _request(program, costs, pending, events, cells, send, time, latency)
    return np.int64(-1)


@inlined
def arrive(program, costs, pending, events, cells, send, time, latency):
    """Take note of a message, or of the header of one above S, at its receiver.

    Args:
        program: the program.
        costs: of hosts.
        pending: what is known of the operations.
        events: the heap.
        cells: int64[N_CELLS].
        send: its send.
        time: ticks.
        latency: of the way back, ticks.
    """
    posted = pending.missing[program.match[send]] == -1
    if program.size[send] > costs.eager and pending.phase[send] != layout.REQUESTED:
        pending.header[send] = 1
        if posted:
            _request(program, costs, pending, events, cells, send, time, latency)
        return
    pending.arrived[send] = time
    if posted:
        _take(program, costs, pending, events, cells, send, time, latency)


@inlined
def acknowledge(program, costs, pending, events, cells, send, time):
    """End a send above S, whose receiver has told that it has all.

    Args:
        program: the program.
        costs: of hosts.
        pending: what is known of the operations.
        events: the heap.
        cells: int64[N_CELLS].
        send: which.
        time: ticks.
    """
    begin = _work(program, pending, send, time, costs.overhead)
    _ended(program, pending, events, cells, send, begin + costs.overhead)


@inlined
def _request(program, costs, pending, events, cells, send, time, latency):
    """Ask for the bytes of a message above S."""
    pending.phase[send] = layout.REQUESTED
    begin = _work(program, pending, program.match[send], time, costs.overhead)
    push(events, cells, begin + costs.overhead + latency, send * layout.CODES + layout.INJECT)


@inlined
def _take(program, costs, pending, events, cells, send, time, latency):
    """Receive a message that is there; tell the sender of one above S."""
    receive = np.int64(program.match[send])
    size = program.size[send]
    ticks = _handling(costs, size)
    begin = _work(program, pending, receive, time, ticks)
    _ended(program, pending, events, cells, receive, begin + ticks)
    if size > costs.eager:
        push(events, cells, begin + ticks + latency, send * layout.CODES + layout.ACKNOWLEDGED)
