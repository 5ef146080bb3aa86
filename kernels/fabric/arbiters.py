"""PISCES' arbiters: when a packet's head and tail leave a NIC, a crossbar or an output buffer.

`simple` stores and forwards; `null` gives every packet the whole bandwidth; `cut_through` keeps a
list of idle epochs, each a start and a number of byte cycles, and lets a packet that arrives slowly
use only the cycles for which its bytes have arrived.

An arbiter is one cell of the state: for `simple` the tick from which it is free, for `cut_through`
the record of its first epoch. A packet takes at most one record more.

SST/macro never places the last two bytes of a packet: one of one or two bytes keeps a tail at tick
0, and its clock goes back. Here such a packet is placed whole; larger ones are placed as SST/macro
places them.
"""

from __future__ import annotations

import numpy as np

from kernels import helper, inlined
from kernels.fabric.layout import NOTHING, free_record, span, take_record

SIMPLE, NULL, CUT_THROUGH = range(3)  # SST/macro's kinds of arbiters
# Cells of an epoch; CYCLES must not be 1, where free records are linked.
START, NEXT, CYCLES = range(3)
FULL_EPOCH = 2**32 - 1  # cycles of the epoch that never ends: SST/macro counts them in 32 bits
STRAGGLERS = 2  # last bytes of a packet that SST/macro's cut-through never places


@helper
def make_idle(s, q, cell, kind):
    """Make the arbiter of a cell idle from tick 0 on; there must be a free record."""
    s[cell] = 0
    if kind == CUT_THROUGH:
        epoch = take_record(s, q)
        q[epoch + START] = 0
        q[epoch + CYCLES] = FULL_EPOCH
        q[epoch + NEXT] = NOTHING
        s[cell] = epoch


@helper
def _drop(s, q, cell, before, epoch):
    """Free an epoch that comes after `before` (NOTHING: it is the first); return the next one."""
    after = q[epoch + NEXT]
    if before == NOTHING:
        s[cell] = after
    else:
        q[before + NEXT] = after
    free_record(s, q, epoch)
    return after


@inlined
def _forget_past(s, q, cell, cycle, now):
    """Drop epochs that are over; let the present one begin now. The last one never ends."""
    epoch = s[cell]
    while q[epoch + NEXT] != NOTHING and now > q[epoch + START]:
        if now < q[epoch + START] + span(q[epoch + CYCLES], cycle):
            break
        epoch = _drop(s, q, cell, NOTHING, epoch)
    begins = q[epoch + START]
    if q[epoch + NEXT] == NOTHING:
        q[epoch + CYCLES] = FULL_EPOCH
        q[epoch + START] = max(begins, now)
    elif now > begins:
        q[epoch + CYCLES] -= (now - begins) // cycle
        q[epoch + START] = now


@helper
def _split(s, q, epoch, when, cycle):
    """Cut an epoch in two; the first part loses the fraction of a cycle."""
    new = take_record(s, q)
    before = (when - q[epoch + START]) // cycle
    last = q[epoch + NEXT] == NOTHING
    q[new + START] = when
    q[new + CYCLES] = FULL_EPOCH if last else q[epoch + CYCLES] - before
    q[new + NEXT] = q[epoch + NEXT]
    q[epoch + CYCLES] = before
    q[epoch + NEXT] = new


@inlined
def _place(s, q, cell, cycle, now, n_bytes, arriving):
    """Take idle cycles for a packet's bytes; return the tick at which its tail leaves."""
    arrived = now + span(n_bytes, arriving)
    unplaced = 0 if n_bytes <= STRAGGLERS else STRAGGLERS
    left = n_bytes
    tail = np.int64(0)
    before = np.int64(NOTHING)
    epoch = s[cell]
    while left > unplaced:
        begins = q[epoch + START]
        cycles = q[epoch + CYCLES]
        ends = begins + span(cycles, cycle)
        if arriving <= cycle or arrived <= begins:
            if cycles > left:
                q[epoch + START] += span(left, cycle)
                q[epoch + CYCLES] -= left
                return q[epoch + START]
            left -= cycles
            epoch = _drop(s, q, cell, before, epoch)
            tail = ends
        elif arrived >= ends:
            here = (ends - now) // arriving - (n_bytes - left)
            buffered = min(left, here) if here >= 0 else left
            if buffered >= cycles:
                left -= cycles
                epoch = _drop(s, q, cell, before, epoch)
            else:
                q[epoch + CYCLES] -= buffered
                left -= buffered
                before = epoch
                epoch = q[epoch + NEXT]
            tail = ends
        else:
            _split(s, q, epoch, arrived, cycle)
    return tail


@helper
def arbitrate(s, q, cell, kind, cycle, now, n_bytes, arriving):
    """Give a packet bandwidth.

    Args:
        s: int64, the state.
        q: int64, the records; one must be free.
        cell: where in the state the arbiter is.
        kind: SIMPLE, NULL or CUT_THROUGH.
        cycle: ticks a byte takes here.
        now: tick at which the head could move on.
        n_bytes: size of the packet.
        arriving: ticks between its bytes as they arrive, 0 when it is there as a whole.

    Returns:
        The ticks at which head and tail leave, and the packet's new byte delay.
    """
    if kind == SIMPLE:
        leaves = max(now, s[cell]) + span(n_bytes, cycle)
        s[cell] = leaves
        return leaves, leaves, np.int64(0)
    if kind == NULL:
        slower = max(cycle, arriving)
        return now, now + span(n_bytes, slower), slower
    _forget_past(s, q, cell, cycle, now)
    head = q[s[cell] + START]
    tail = _place(s, q, cell, cycle, now, n_bytes, arriving)
    return head, tail, (tail - head) // n_bytes


@helper
def is_last(s, q, cell, kind, tail):
    """Return whether no packet that comes to an arbiter later leaves it before tick `tail`."""
    if kind == CUT_THROUGH:
        return q[s[cell] + START] >= tail
    return kind == SIMPLE
