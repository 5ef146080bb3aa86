"""PISCES' arbiters: when a packet's head and tail leave a NIC, a crossbar or a switch port.

`simple` stores and forwards; `null` gives every packet the whole bandwidth; `cut_through` keeps
a list of idle epochs, each a start and a number of byte cycles, and lets a packet that arrives
slowly use only the cycles for which its bytes have arrived. SST/macro's cut_through does not place
the last two bytes, so a packet of one or two bytes keeps a tail at tick 0; a negative byte delay
stands for the wrapped difference (`repaired` places such packets).
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.trains import next_part

FULL_EPOCH = 2**32 - 1  # cycles of the epoch that never ends: SST/macro counts them in 32 bits
STRAGGLERS = 2  # last bytes of a packet that SST/macro's cut-through never places


@helper
def reset(s, arbiter):
    """Give an arbiter one endless idle epoch."""
    s[layout.epoch(arbiter, 0)] = 0
    s[layout.epoch(arbiter, 0) + layout.CYCLES] = FULL_EPOCH
    s[layout.N_EPOCHS + arbiter] = 1


@helper
def wrapped(head):
    """Return 0 - head as SST/macro gets it: in unsigned 64 bits, through a double."""
    rest = head & 2047
    rounded = head - rest
    if rest > 1024 or (rest == 1024 and (rounded >> 11) & 1):
        rounded += 2048
    return -rounded


@helper
def remove(s, arbiter, at):
    """Remove an epoch."""
    n = s[layout.N_EPOCHS + arbiter]
    for i in range(at, n - 1):
        s[layout.epoch(arbiter, i)] = s[layout.epoch(arbiter, i + 1)]
        cycles = s[layout.epoch(arbiter, i + 1) + layout.CYCLES]
        s[layout.epoch(arbiter, i) + layout.CYCLES] = cycles
    s[layout.N_EPOCHS + arbiter] = n - 1


@helper
def forget_past(s, arbiter, byte_delay, now):
    """Drop epochs that are over; let the present one begin now. The last one never ends."""
    while s[layout.N_EPOCHS + arbiter] > 1 and now > s[layout.epoch(arbiter, 0)]:
        length = layout.span(s[layout.epoch(arbiter, 0) + layout.CYCLES], byte_delay)
        if now < s[layout.epoch(arbiter, 0)] + length:
            break
        remove(s, arbiter, 0)
    begins = s[layout.epoch(arbiter, 0)]
    if now > begins:
        s[layout.epoch(arbiter, 0) + layout.CYCLES] -= (now - begins) // byte_delay
        s[layout.epoch(arbiter, 0)] = now
    if s[layout.N_EPOCHS + arbiter] == 1:
        s[layout.epoch(arbiter, 0) + layout.CYCLES] = FULL_EPOCH


@helper
def split(s, arbiter, at, when, byte_delay):
    """Cut an epoch in two; the first part loses the fraction of a cycle."""
    n = s[layout.N_EPOCHS + arbiter]
    if n == layout.MAX_EPOCHS:
        s[layout.FULL] = 1
        return
    for i in range(n, at + 1, -1):
        s[layout.epoch(arbiter, i)] = s[layout.epoch(arbiter, i - 1)]
        cycles = s[layout.epoch(arbiter, i - 1) + layout.CYCLES]
        s[layout.epoch(arbiter, i) + layout.CYCLES] = cycles
    before = (when - s[layout.epoch(arbiter, at)]) // byte_delay
    last = at == n - 1
    after = FULL_EPOCH if last else s[layout.epoch(arbiter, at) + layout.CYCLES] - before
    s[layout.epoch(arbiter, at) + layout.CYCLES] = before
    s[layout.epoch(arbiter, at + 1)] = when
    s[layout.epoch(arbiter, at + 1) + layout.CYCLES] = after
    s[layout.N_EPOCHS + arbiter] = n + 1


@helper
def place(s, arbiter, byte_delay, now, n_bytes, arriving, unplaced):
    """Take idle cycles for a packet's bytes; return the tick at which its tail leaves."""
    arrived = now + layout.span(n_bytes, arriving)
    left = n_bytes
    tail = np.int64(0)
    at = 0
    while left > unplaced:
        begins = s[layout.epoch(arbiter, at)]
        cycles = s[layout.epoch(arbiter, at) + layout.CYCLES]
        ends = begins + layout.span(cycles, byte_delay)
        if arriving <= byte_delay or arrived <= begins:
            if cycles > left:
                s[layout.epoch(arbiter, at)] += layout.span(left, byte_delay)
                s[layout.epoch(arbiter, at) + layout.CYCLES] -= left
                return s[layout.epoch(arbiter, at)]
            left -= cycles
            remove(s, arbiter, at)
            tail = ends
        elif arrived >= ends:
            here = (ends - now) // arriving - (n_bytes - left)
            buffered = min(left, here) if here >= 0 else left
            if buffered >= cycles:
                left -= cycles
                remove(s, arbiter, at)
            else:
                s[layout.epoch(arbiter, at) + layout.CYCLES] -= buffered
                left -= buffered
                at += 1
            tail = ends
        else:
            split(s, arbiter, at, arrived, byte_delay)
    return tail


@helper
def arbitrate(s, p, arbiter, kind, byte_delay, now, n_bytes, arriving):
    """Give a packet bandwidth.

    Args:
        s: the simulation's state.
        p: the run's parameters.
        arbiter: row of the arbiter's idle epochs.
        kind: SIMPLE, NULL or CUT_THROUGH.
        byte_delay: ticks a byte takes here.
        now: tick at which the head could move on.
        n_bytes: size of the packet.
        arriving: ticks between its bytes as they arrive, 0 when it is there as a whole.

    Returns:
        The ticks at which head and tail leave and the packet's new byte delay.
    """
    if kind == layout.SIMPLE:
        leaves = max(now, s[layout.ARBITER_FREE + arbiter]) + layout.span(n_bytes, byte_delay)
        s[layout.ARBITER_FREE + arbiter] = leaves
        return leaves, leaves, np.int64(0)
    if kind == layout.NULL:
        delay = arriving if arriving < 0 else max(byte_delay, arriving)
        return now, now + layout.span(n_bytes, delay), delay
    forget_past(s, arbiter, byte_delay, now)
    head = s[layout.epoch(arbiter, 0)]
    unplaced = 0 if p[layout.P_REPAIRED] and n_bytes <= STRAGGLERS else STRAGGLERS
    if n_bytes <= unplaced:
        return head, np.int64(0), wrapped(head)
    tail = place(s, arbiter, byte_delay, now, n_bytes, arriving, unplaced)
    return head, tail, np.int64(np.float64(tail - head) / np.float64(n_bytes))


@helper
def keeps_order(s, arbiter, kind, byte_delay, now, step, n_bytes, arriving):
    """Return True if no packet of a train has its tail here before one that has left already."""
    if kind != layout.CUT_THROUGH:
        return kind == layout.SIMPLE
    forget_past(s, arbiter, byte_delay, now)
    if s[layout.N_EPOCHS + arbiter] > 1:
        return False
    idle = s[layout.epoch(arbiter, 0)] == now
    return arriving <= byte_delay or (idle and step >= layout.span(n_bytes, arriving))


@helper
def arbitrate_train(s, p, arbiter, kind, byte_delay, now, step, n, n_bytes, arriving):
    """Give bandwidth to the first packets of a train, to all whose heads leave at even distances.

    An arbiter is a server of whole packets if it stores and forwards, and if packets come at least
    as fast as they can leave where no epoch but the endless one is idle. A cut-through arbiter
    that is idle when each of two packets comes is so for all packets of their train.

    Args:
        s: the simulation's state.
        p: the run's parameters.
        arbiter: row of the arbiter's idle epochs.
        kind: SIMPLE, NULL or CUT_THROUGH.
        byte_delay: ticks a byte takes here.
        now: tick at which the first head could move on.
        step: ticks between them.
        n: number of packets.
        n_bytes: size of each.
        arriving: ticks between its bytes as they arrive, 0 when it is there as a whole.

    Returns:
        The number of packets that leave so, the tick at which the first head leaves, the ticks
        between the heads, and the packets' new byte delay.
    """
    if n > 1 and kind == layout.NULL:
        return n, now, step, max(byte_delay, arriving)
    busy = layout.span(n_bytes, byte_delay)
    if n > 1 and kind == layout.SIMPLE:
        part, first, every = next_part(now, n, step, s[layout.ARBITER_FREE + arbiter], busy)
        s[layout.ARBITER_FREE + arbiter] = first + (part - 1) * every + busy
        return part, first + busy, every, np.int64(0)
    if n > 1:
        forget_past(s, arbiter, byte_delay, now)
    begins = layout.epoch(arbiter, 0)
    endless = n > 1 and s[layout.N_EPOCHS + arbiter] == 1
    if endless and arriving <= byte_delay:
        part, first, every = next_part(now, n, step, s[begins], busy)
        s[begins] = first + (part - 1) * every + busy
        return part, first, every, np.int64(np.float64(busy) / np.float64(n_bytes))
    idle = endless and s[begins] == now
    head, _, delay = arbitrate(s, p, arbiter, kind, byte_delay, now, n_bytes, arriving)
    if idle:
        forget_past(s, arbiter, byte_delay, now + step)
        if s[layout.N_EPOCHS + arbiter] == 1 and s[begins] == now + step:
            arbitrate(s, p, arbiter, kind, byte_delay, now + (n - 1) * step, n_bytes, arriving)
            return n, head, step, delay
    return np.int64(1), head, np.int64(0), delay
