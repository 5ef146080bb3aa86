"""Ordered lists: a channel's credits under way, a host's own events."""

from __future__ import annotations

import numpy as np

from kernels import helper, inlined
from kernels.fabric import layout


@helper
def _count_past(s, c):
    """Count the credits that came to a router's port before this window, if nothing waits.

    All that the port still handles comes later. A ring keeps to 8 places then, where it grew to 64,
    one for each packet of the buffer: less memory, and about 9 % more packet-hops a second on a
    dragonfly, Valiant's and UGAL-L's (tests/benchmarks/test_open_loop.py).
    """
    if s[c + layout.SOURCE] >= s[layout.N_ROUTERS] or s[c + layout.N_PENDING] > 0:
        return
    while first_credit(s, c) < s[layout.NOW]:
        word = take_credit(s, c)
        lane = (word >> 32) & 255
        s[c - layout.N_LANE * (lane + 1) + layout.CREDITS] += word & layout.SIZE_MASK


@helper
def _make_room(s, c):
    """Give a channel's credits a ring of twice the room; `c` is where the channel's cells begin."""
    _count_past(s, c)
    room = s[c + layout.CREDITS_ROOM]
    if s[c + layout.N_CREDITS] < room:
        return
    block, doubled = s[layout.END], max(8, 2 * room)
    if s.size - block < 2 * doubled:
        s[layout.LOST_ROOM] = 1
        return
    s[layout.END] = block + 2 * doubled
    for i in range(s[c + layout.N_CREDITS]):
        old = s[c + layout.CREDITS_AT] + 2 * ((s[c + layout.CREDITS_FIRST] + i) & (room - 1))
        s[block + 2 * i] = s[old]
        s[block + 2 * i + 1] = s[old + 1]
    s[c + layout.CREDITS_AT] = block
    s[c + layout.CREDITS_ROOM] = doubled
    s[c + layout.CREDITS_FIRST] = 0


@helper
def _scheduled(s, c, start):
    """Return when it was settled that a port's packet leaves at tick `start`, -1 if it did at once.

    SST/macro schedules that when the packet before leaves, if there is one, or when this one comes.
    """
    if start == s[c + layout.RUN_START]:
        return s[c + layout.RUN_SCHEDULED]
    return start - s[c + layout.RUN_STEP]


@helper
def _took(s, port, word):
    """Return the ticks from a packet's start at a port to the sending of its credit."""
    p = layout.port_cells(s, port)
    return s[p + layout.FLIT] + layout.span(word & layout.SIZE_MASK, s[p + layout.BYTE])


@helper
def _leaves_before(s, at, latency, word, other):
    """Return whether of two credits due at tick `at` the one given later is sent first.

    They are sent as their packets leave, by the ports that stand in the words; events of one tick
    come in the order in which they were scheduled. Where two ports have been sending in step, that
    is decided where the later of them fell into step.
    """
    port, other_port = (word >> layout.PORT_SHIFT) - 1, (other >> layout.PORT_SHIFT) - 1
    start, rival = at - _took(s, port, word), at - _took(s, other_port, other)
    if start != rival:
        return start < rival
    c, d = layout.channel_cells(s, port), layout.channel_cells(s, other_port)
    start -= latency
    mine, its = _scheduled(s, c, start), _scheduled(s, d, start)
    if mine != its:
        return mine < its
    since, until = s[c + layout.RUN_START], s[d + layout.RUN_START]
    if since == until:
        return s[c + layout.RUN_SCHEDULED] < s[d + layout.RUN_SCHEDULED]
    if since > until:
        return s[c + layout.RUN_SCHEDULED] < since - s[d + layout.RUN_STEP]
    return until - s[c + layout.RUN_STEP] < s[d + layout.RUN_SCHEDULED]


@inlined
def add_credit(s, c, at, latency, word):
    """Put a credit, sent `latency` before tick `at`, on its way to the channel of the cells at `c`.

    The word is lane << 32 | bytes, and the number of the port that gives it, plus 1, from
    PORT_SHIFT on; 0 where credits of one tick need no order.
    The ring is kept in order of arrival. Credits are given nearly in that order, so few are moved:
    the allgather on 512 nodes took a tenth less time than with a heap (tests/benchmarks).
    """
    n = s[c + layout.N_CREDITS]
    if n == s[c + layout.CREDITS_ROOM]:
        _make_room(s, c)
        if s[layout.LOST_ROOM]:
            return
        n = s[c + layout.N_CREDITS]
    ring, first, mask = (
        s[c + layout.CREDITS_AT],
        s[c + layout.CREDITS_FIRST],
        s[c + layout.CREDITS_ROOM] - 1,
    )
    s[c + layout.N_CREDITS] = n + 1
    e = ring + 2 * ((first + n) & mask)
    if at > s[c + layout.LAST_CREDIT]:
        # Most credits; the ring is not read then.
        s[c + layout.LAST_CREDIT] = at
        n = 0
    while n > 0:
        before = ring + 2 * ((first + n - 1) & mask)
        if s[before] < at:
            break
        if s[before] == at:
            other = s[before + 1]
            # Within a lane their order does not matter.
            if (word ^ other) & layout.LANE_BITS == 0 or word >> layout.PORT_SHIFT == 0:
                break
            if not _leaves_before(s, at, latency, word, other):
                break
        s[e] = s[before]
        s[e + 1] = s[before + 1]
        e = before
        n -= 1
    s[e] = at
    s[e + 1] = word


@helper
def first_credit(s, c):
    """Return the tick of the first credit on its way to a channel, NEVER if there is none."""
    if s[c + layout.N_CREDITS] == 0:
        return layout.NEVER
    return s[s[c + layout.CREDITS_AT] + 2 * s[c + layout.CREDITS_FIRST]]


@helper
def take_credit(s, c):
    """Remove the first credit on its way to a channel and return its word."""
    first = s[c + layout.CREDITS_FIRST]
    s[c + layout.N_CREDITS] -= 1
    s[c + layout.CREDITS_FIRST] = (first + 1) & (s[c + layout.CREDITS_ROOM] - 1)
    return s[s[c + layout.CREDITS_AT] + 2 * first + 1] & layout.WITHOUT_PORT


@helper
def earlier(q, one, other):
    """Return whether a timed event comes before another one."""
    if q[one + layout.E_AT] != q[other + layout.E_AT]:
        return q[one + layout.E_AT] < q[other + layout.E_AT]
    if q[one + layout.E_CLASS] >> 32 != q[other + layout.E_CLASS] >> 32:
        return q[one + layout.E_CLASS] >> 32 < q[other + layout.E_CLASS] >> 32
    if q[one + layout.E_ORDER] != q[other + layout.E_ORDER]:
        return q[one + layout.E_ORDER] < q[other + layout.E_ORDER]
    return q[one + layout.E_SECOND] < q[other + layout.E_SECOND]


@helper
def meld(q, one, other):
    """Return the root of two pairing heaps made one."""
    if one == layout.NOTHING:
        return other
    if other == layout.NOTHING:
        return one
    if earlier(q, other, one):
        one, other = other, one
    q[other + layout.E_SIBLING] = q[one + layout.E_CHILD]
    q[one + layout.E_CHILD] = other
    return one


@helper
def without_root(q, root):
    """Return the pairing heap that is left of one without its root.

    Fredman, Sedgewick, Sleator, Tarjan: The Pairing Heap, Algorithmica 1986, two-pass variant.
    """
    pairs = np.int64(layout.NOTHING)
    child = q[root + layout.E_CHILD]
    while child != layout.NOTHING:
        second = q[child + layout.E_SIBLING]
        if second == layout.NOTHING:
            q[child + layout.E_SIBLING] = pairs
            pairs = child
            break
        following = q[second + layout.E_SIBLING]
        pair = meld(q, child, second)
        q[pair + layout.E_SIBLING] = pairs
        pairs = pair
        child = following
    merged = np.int64(layout.NOTHING)
    while pairs != layout.NOTHING:
        following = q[pairs + layout.E_SIBLING]
        merged = meld(q, merged, pairs)
        pairs = following
    return merged
