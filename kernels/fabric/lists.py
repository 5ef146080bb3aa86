"""Ordered lists: a router's heap of slots, a channel's credits under way, a host's own events."""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.fabric.layout import (
    AT_DUE,
    BYTE,
    CREDITS_AT,
    CREDITS_FIRST,
    CREDITS_ROOM,
    E_AT,
    E_CHILD,
    E_CLASS,
    E_ORDER,
    E_SECOND,
    E_SIBLING,
    END,
    FLIT,
    HEAP,
    HEAP_COUNT,
    LANE_BITS,
    LATENCY,
    LOST_ROOM,
    N_CREDITS,
    NEVER,
    NOTHING,
    PORT_SHIFT,
    POSITION,
    ROUTER_QUEUE_DUE,
    RUN_SCHEDULED,
    RUN_START,
    RUN_STEP,
    SIZE_MASK,
    SLOT_MASK,
    SLOTS,
    channel_cells,
    router_cells,
    span,
)


@helper("void(i8[::1], i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _rise(s, heap, places, i, at, key):
    """Put an entry at position `i` of a router's heap or above it."""
    while i > 0:
        above = (i - 1) >> 1
        e = heap + 2 * above
        if s[e] < at or (s[e] == at and s[e + 1] < key):
            break
        f = heap + 2 * i
        s[f] = s[e]
        s[f + 1] = s[e + 1]
        s[places + (s[f + 1] & SLOT_MASK)] = i
        i = above
    s[heap + 2 * i] = at
    s[heap + 2 * i + 1] = key
    s[places + (key & SLOT_MASK)] = i


@helper("void(i8[::1], i8, i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _sink(s, heap, places, n, i, at, key):
    """Put an entry at position `i` of a router's heap or below it."""
    while True:
        below = 2 * i + 1
        if below >= n:
            break
        e = heap + 2 * below
        if below + 1 < n and (s[e + 2] < s[e] or (s[e + 2] == s[e] and s[e + 3] < s[e + 1])):
            below += 1
            e += 2
        if at < s[e] or (at == s[e] and key < s[e + 1]):
            break
        f = heap + 2 * i
        s[f] = s[e]
        s[f + 1] = s[e + 1]
        s[places + (s[f + 1] & SLOT_MASK)] = i
        i = below
    s[heap + 2 * i] = at
    s[heap + 2 * i + 1] = key
    s[places + (key & SLOT_MASK)] = i


@helper("void(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def settle_router(s, router, r):
    """Keep the tick of a router's next event; `r` is where its cells begin."""
    due = s[r + ROUTER_QUEUE_DUE]
    if s[r + HEAP_COUNT] > 0 and s[s[r + HEAP]] < due:
        due = s[s[r + HEAP]]
    s[s[AT_DUE] + router] = due


@helper("void(i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def add_slot(s, router, at, key):
    """Schedule a slot that has no entry in its router's heap."""
    r = router_cells(s, router)
    n = s[r + HEAP_COUNT]
    s[r + HEAP_COUNT] = n + 1
    _rise(s, s[r + HEAP], s[r + SLOTS], n, at, key)
    settle_router(s, router, r)


@helper("void(i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def advance_slot(s, router, at, slot):
    """Schedule a slot at a tick unless it is due earlier already."""
    r = router_cells(s, router)
    heap, places = s[r + HEAP], s[r + SLOTS]
    i = s[places + slot]
    if i < 0:
        add_slot(s, router, at, slot)
    elif at < s[heap + 2 * i]:
        _rise(s, heap, places, i, at, slot)
        settle_router(s, router, r)


@helper("void(i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def replace_first(s, router, at, key):
    """Put another entry of the same slot in place of a router's first."""
    r = router_cells(s, router)
    _sink(s, s[r + HEAP], s[r + SLOTS], s[r + HEAP_COUNT], 0, at, key)
    settle_router(s, router, r)


@helper("void(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def drop_first(s, router):
    """Remove a router's first entry."""
    r = router_cells(s, router)
    heap, places = s[r + HEAP], s[r + SLOTS]
    s[places + (s[heap + 1] & SLOT_MASK)] = -1
    n = s[r + HEAP_COUNT] - 1
    s[r + HEAP_COUNT] = n
    if n > 0:
        _sink(s, heap, places, n, 0, s[heap + 2 * n], s[heap + 2 * n + 1])
    settle_router(s, router, r)


@helper("void(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def _make_room(s, c):
    """Give a channel's credits a ring of twice the room; `c` is where the channel's cells begin."""
    room = s[c + CREDITS_ROOM]
    block, doubled = s[END], max(8, 2 * room)
    if s.size - block < 2 * doubled:
        s[LOST_ROOM] = 1
        return
    s[END] = block + 2 * doubled
    for i in range(s[c + N_CREDITS]):
        old = s[c + CREDITS_AT] + 2 * ((s[c + CREDITS_FIRST] + i) & (room - 1))
        s[block + 2 * i] = s[old]
        s[block + 2 * i + 1] = s[old + 1]
    s[c + CREDITS_AT] = block
    s[c + CREDITS_ROOM] = doubled
    s[c + CREDITS_FIRST] = 0


@helper("i8(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _scheduled(s, c, start):
    """Return when it was settled that a port's packet leaves at tick `start`, -1 if it did at once.

    SST/macro schedules that when the packet before leaves, if there is one, or when this one comes.
    """
    if start == s[c + RUN_START]:
        return s[c + RUN_SCHEDULED]
    return start - s[c + RUN_STEP]


@helper("b1(i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _leaves_before(s, at, latency, word, other):
    """Return whether of two credits due at tick `at` the one given later is sent first.

    They are sent as their packets leave, by the ports that stand in the words; events of one tick
    come in the order in which they were scheduled. Where two ports have been sending in step, that
    is decided where the later of them fell into step.
    """
    c = channel_cells(s, (word >> PORT_SHIFT) - 1)
    d = channel_cells(s, (other >> PORT_SHIFT) - 1)
    start = at - latency - s[c + FLIT] - span(word & SIZE_MASK, s[c + BYTE])
    rival = at - latency - s[d + FLIT] - span(other & SIZE_MASK, s[d + BYTE])
    if start != rival:
        return start < rival
    mine, its = _scheduled(s, c, start), _scheduled(s, d, start)
    if mine != its:
        return mine < its
    since, until = s[c + RUN_START], s[d + RUN_START]
    if since == until:
        return s[c + RUN_SCHEDULED] < s[d + RUN_SCHEDULED]
    if since > until:
        return s[c + RUN_SCHEDULED] < since - s[d + RUN_STEP]
    return until - s[c + RUN_STEP] < s[d + RUN_SCHEDULED]


@helper("void(i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False, forceinline=True)
def add_credit(s, c, at, word):
    """Put a credit on its way to the channel whose cells begin at `c`.

    The word is lane << 32 | bytes, and the number of the port that gives it, plus 1, from
    PORT_SHIFT on; 0 where credits of one tick need no order.
    The ring is kept in order of arrival. Credits are given nearly in that order, so few are moved:
    the allgather on 512 nodes took a tenth less time than with a heap (tests/benchmarks).
    """
    n = s[c + N_CREDITS]
    if n == s[c + CREDITS_ROOM]:
        _make_room(s, c)
        if s[LOST_ROOM]:
            return
    ring, first, mask = (
        s[c + CREDITS_AT] & POSITION,
        s[c + CREDITS_FIRST],
        s[c + CREDITS_ROOM] - 1,
    )
    s[c + N_CREDITS] = n + 1
    e = ring + 2 * ((first + n) & mask)
    while n > 0:
        before = ring + 2 * ((first + n - 1) & mask)
        if s[before] < at:
            break
        if s[before] == at:
            other = s[before + 1]
            # Within a lane their order does not matter.
            if (word ^ other) & LANE_BITS == 0 or word >> PORT_SHIFT == 0:
                break
            if not _leaves_before(s, at, s[c + LATENCY], word, other):
                break
        s[e] = s[before]
        s[e + 1] = s[before + 1]
        e = before
        n -= 1
    s[e] = at
    s[e + 1] = word


@helper("i8(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def first_credit(s, c):
    """Return the tick of the first credit on its way to a channel, NEVER if there is none."""
    if s[c + N_CREDITS] == 0:
        return NEVER
    return s[(s[c + CREDITS_AT] + 2 * s[c + CREDITS_FIRST]) & POSITION]


@helper("i8(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def take_credit(s, c):
    """Remove the first credit on its way to a channel and return its word."""
    first = s[c + CREDITS_FIRST]
    s[c + N_CREDITS] -= 1
    s[c + CREDITS_FIRST] = (first + 1) & (s[c + CREDITS_ROOM] - 1)
    return s[((s[c + CREDITS_AT] + 2 * first) & POSITION) + 1] & POSITION


@helper("b1(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def earlier(q, one, other):
    """Return whether a timed event comes before another one."""
    if q[one + E_AT] != q[other + E_AT]:
        return q[one + E_AT] < q[other + E_AT]
    if q[one + E_CLASS] >> 32 != q[other + E_CLASS] >> 32:
        return q[one + E_CLASS] >> 32 < q[other + E_CLASS] >> 32
    if q[one + E_ORDER] != q[other + E_ORDER]:
        return q[one + E_ORDER] < q[other + E_ORDER]
    return q[one + E_SECOND] < q[other + E_SECOND]


@helper("i8(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def meld(q, one, other):
    """Return the root of two pairing heaps made one."""
    if one == NOTHING:
        return other
    if other == NOTHING:
        return one
    if earlier(q, other, one):
        one, other = other, one
    q[other + E_SIBLING] = q[one + E_CHILD]
    q[one + E_CHILD] = other
    return one


@helper("i8(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def without_root(q, root):
    """Return the pairing heap that is left of one without its root.

    Fredman, Sedgewick, Sleator, Tarjan: The Pairing Heap, Algorithmica 1986, two-pass variant.
    """
    pairs = np.int64(NOTHING)
    child = q[root + E_CHILD]
    while child != NOTHING:
        second = q[child + E_SIBLING]
        if second == NOTHING:
            q[child + E_SIBLING] = pairs
            pairs = child
            break
        following = q[second + E_SIBLING]
        pair = meld(q, child, second)
        q[pair + E_SIBLING] = pairs
        pairs = pair
        child = following
    merged = np.int64(NOTHING)
    while pairs != NOTHING:
        following = q[pairs + E_SIBLING]
        merged = meld(q, merged, pairs)
        pairs = following
    return merged
