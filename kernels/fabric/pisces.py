"""PISCES' switches, exactly as SST/macro v11.1 lets them act: a crossbar, then output buffers.

A packet passes two stages in a router. At the crossbar, which all ports of the router share, it
waits for credits of its output buffer in the lane its route gives it; in the buffer for credits of
the next router in the same lane. Then an arbiter says when head and tail leave. The head is passed
on when it leaves, and the credits of the stage before go back at that time. Packets that wait are
looked through from the first on for one that fits: a buffer lets all go that fit, the crossbar one
for each credit that comes back.

Heads leave an arbiter in the order in which packets were given bandwidth. So packets between the
crossbar and the buffers are one list for each router, and credits on their way back to the crossbar
one for each lane; such a credit is an event only while a packet waits for it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernels import helper
from kernels.fabric.arbiters import arbitrate
from kernels.fabric.layout import (
    AT,
    AT_DUE,
    AT_MODEL,
    BUSY,
    BYTE,
    BYTES_SENT,
    CAME_BY,
    CREDITS,
    E_AT,
    E_CHILD,
    E_CLASS,
    E_EXTRA,
    E_ORDER,
    E_SIBLING,
    E_WORD,
    HEAP,
    HEAP_COUNT,
    HOPS_TAKEN,
    LATENCY,
    MEANINGS,
    MOST_PENDING,
    N_CREDITS,
    N_DELAYED,
    N_PENDING,
    N_ROUTERS,
    NEVER,
    NEXT,
    NEXT_FREE,
    NOTHING,
    OK,
    PACKETS_SENT,
    PENDING_FIRST,
    PENDING_LAST,
    POSITION,
    ROUTER_QUEUE,
    ROUTER_QUEUE_DUE,
    SIZE,
    SIZE_MASK,
    SLOT_CREDIT,
    STALLED,
    WAITING_SINCE,
    channel_cells,
    free_record,
    lane_cells,
    room_left,
    router_cells,
    span,
    take_record,
)
from kernels.fabric.lists import (
    add_credit,
    add_slot,
    drop_first,
    first_credit,
    meld,
    replace_first,
    settle_router,
    take_credit,
    without_root,
)
from kernels.fabric.pisces_cells import (
    B_NEXT,
    BACK_FIRST,
    BACK_LAST,
    BUFFER_FIRST,
    BUFFER_LAST,
    CROSSBAR_BYTE,
    CROSSBAR_KIND,
    DELAY,
    LEAST,
    LEAST_IN_BUFFER,
    LINK_KIND,
    ORDER_SHIFT,
    channel_cell,
    crossbar_cell,
    crossbar_lane,
    scarce,
)
from kernels.fabric.ports import put_on_channel, return_credit, take_at_router
from kernels.fabric.snappr import next_hop, settled_hop


@helper("i8(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def _next_order(s, router):
    """Return the next number by which events of one tick inside a router are ordered."""
    r = router_cells(s, router)
    s[r + N_DELAYED] += 1
    return s[r + N_DELAYED]


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _watch(s, q, router, x):
    """Make the first credit on its way back to a lane an event: a packet waits for it."""
    r = router_cells(s, router)
    event = s[x + BACK_FIRST] & POSITION
    q[event + E_SIBLING] = NOTHING
    q[event + E_CHILD] = NOTHING
    s[r + ROUTER_QUEUE] = meld(q, s[r + ROUTER_QUEUE], event)


@helper("void(i8[::1], i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def _take_back(s, q, x):
    """Count the first credit on its way back to a lane."""
    event = s[x + BACK_FIRST] & POSITION
    s[x + CREDITS] += q[event + E_WORD]
    s[x + BACK_FIRST] = q[event + B_NEXT]
    free_record(s, q, event)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _wait(s, q, v, least, packet):
    """Append a packet to those that wait in the lane whose cells begin at `v`."""
    size = q[packet + SIZE] & SIZE_MASK
    q[packet + NEXT] = NOTHING
    if s[v + PENDING_FIRST] == NOTHING:
        s[v + PENDING_FIRST] = packet
        s[least] = size
    else:
        q[s[v + PENDING_LAST] + NEXT] = packet
        s[least] = min(s[least], size)
    s[v + PENDING_LAST] = packet


@helper("i8(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _pop(s, q, v, least):
    """Remove the first packet that waits in a lane and fits, taking its credits; or NOTHING."""
    before = np.int64(NOTHING)
    if s[v + CREDITS] < s[least]:
        return before
    packet = s[v + PENDING_FIRST] & POSITION
    while packet != NOTHING and q[packet + SIZE] & SIZE_MASK > s[v + CREDITS]:
        before = packet
        packet = q[packet + NEXT] & POSITION
    if packet == NOTHING:
        return packet
    s[v + CREDITS] -= q[packet + SIZE] & SIZE_MASK
    if before == NOTHING:
        s[v + PENDING_FIRST] = q[packet + NEXT]
    else:
        q[before + NEXT] = q[packet + NEXT]
    if s[v + PENDING_LAST] == packet:
        s[v + PENDING_LAST] = before
    return packet


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _cross(s, q, now, router, hop, packet):
    """Send a packet that has its credits over the crossbar to its output buffer."""
    model = s[AT_MODEL]
    size = q[packet + SIZE] & SIZE_MASK
    head, _, q[packet + DELAY] = arbitrate(
        s,
        q,
        crossbar_cell(s, router),
        s[model + CROSSBAR_KIND],
        s[model + CROSSBAR_BYTE],
        now,
        size,
        q[packet + DELAY],
    )
    came = q[packet + CAME_BY]
    return_credit(s, came >> 8, head, came & 255, size)
    q[packet + CAME_BY] = _next_order(s, router) << ORDER_SHIFT | hop
    # Heads leave a crossbar in the order in which they are given bandwidth.
    q[packet + AT] = head
    q[packet + NEXT] = NOTHING
    m = crossbar_cell(s, router)
    if s[m + BUFFER_FIRST] == NOTHING:
        s[m + BUFFER_FIRST] = packet
    else:
        q[(s[m + BUFFER_LAST] & POSITION) + NEXT] = packet
    s[m + BUFFER_LAST] = packet


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _leave(s, q, now, router, hop, packet):
    """Send a packet that has its credits from its output buffer onto the channel."""
    channel = hop >> 8
    c = channel_cells(s, channel)
    size = q[packet + SIZE] & SIZE_MASK
    if s[c + N_PENDING] > 0:
        s[c + STALLED] += max(0, now - max(s[c + WAITING_SINCE], s[c + NEXT_FREE]))
    head, tail, q[packet + DELAY] = arbitrate(
        s,
        q,
        channel_cell(s, channel),
        s[s[AT_MODEL] + LINK_KIND],
        s[c + BYTE],
        now,
        size,
        q[packet + DELAY],
    )
    s[c + NEXT_FREE] = max(s[c + NEXT_FREE], tail)
    s[c + BUSY] += span(size, s[c + BYTE])
    s[c + BYTES_SENT] += size
    s[c + PACKETS_SENT] += 1
    x = crossbar_lane(s, channel, hop & 255)
    event = take_record(s, q)
    q[event + E_AT] = head
    q[event + E_CLASS] = 0
    q[event + E_ORDER] = _next_order(s, router)
    q[event + B_NEXT] = NOTHING
    q[event + E_WORD] = size
    q[event + E_EXTRA] = hop
    if s[x + BACK_FIRST] == NOTHING:
        s[x + BACK_FIRST] = event
        if s[x + PENDING_FIRST] != NOTHING:
            _watch(s, q, router, x)
    else:
        q[(s[x + BACK_LAST] & POSITION) + B_NEXT] = event
    s[x + BACK_LAST] = event
    put_on_channel(s, q, c, packet, head + s[c + LATENCY])


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _enter_buffer(s, q, now, router, hop, packet):
    """Take a packet's head into its output buffer."""
    channel, lane = hop >> 8, hop & 255
    c = channel_cells(s, channel)
    v = lane_cells(s, channel, lane)
    size = q[packet + SIZE] & SIZE_MASK
    if s[c + N_PENDING] == 0:
        # Credits of this tick come before this event.
        while first_credit(s, c) <= now:
            word = take_credit(s, c)
            s[lane_cells(s, channel, word >> 32) + CREDITS] += word & SIZE_MASK
    if s[v + CREDITS] >= size:
        s[v + CREDITS] -= size
        _leave(s, q, now, router, hop, packet)
        return
    _wait(s, q, v, crossbar_lane(s, channel, lane) + LEAST_IN_BUFFER, packet)
    waiting = s[c + N_PENDING] + 1
    s[c + N_PENDING] = waiting
    s[c + MOST_PENDING] = max(s[c + MOST_PENDING], waiting)
    if waiting == 1:
        s[c + WAITING_SINCE] = now
        if s[c + N_CREDITS] > 0:
            add_slot(s, router, first_credit(s, c), s[c + SLOT_CREDIT])


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _credit_in(s, q, now, router, channel):
    """Take one credit at a buffer where packets wait; all that fit now leave."""
    c = channel_cells(s, channel)
    word = take_credit(s, c)
    lane = word >> 32
    v = lane_cells(s, channel, lane)
    least = crossbar_lane(s, channel, lane) + LEAST_IN_BUFFER
    s[v + CREDITS] += word & SIZE_MASK
    packet = _pop(s, q, v, least)
    while packet != NOTHING:
        _leave(s, q, now, router, channel << 8 | lane, packet)
        s[c + N_PENDING] -= 1
        if scarce(s, q):
            # A credit of no bytes lets the others go on once there is more room.
            add_credit(s, c, now, lane << 32)
            break
        packet = _pop(s, q, v, least)
    if s[c + N_PENDING] == 0:
        s[c + WAITING_SINCE] = NEVER
    if s[c + N_PENDING] > 0 and s[c + N_CREDITS] > 0:
        replace_first(s, router, first_credit(s, c), s[c + SLOT_CREDIT])
    else:
        drop_first(s, router)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _enter_crossbar(s, q, now, router, hop, packet):
    """Take a packet's head into the router."""
    x = crossbar_lane(s, hop >> 8, hop & 255)
    size = q[packet + SIZE] & SIZE_MASK
    if s[x + PENDING_FIRST] == NOTHING:
        # Credits of this tick come after this event.
        back = s[x + BACK_FIRST] & POSITION
        while back != NOTHING and q[back + E_AT] < now:
            _take_back(s, q, x)
            back = s[x + BACK_FIRST] & POSITION
    if s[x + CREDITS] >= size:
        s[x + CREDITS] -= size
        _cross(s, q, now, router, hop, packet)
        return
    first = s[x + PENDING_FIRST] == NOTHING
    _wait(s, q, x, x + LEAST, packet)
    if first and s[x + BACK_FIRST] != NOTHING:
        _watch(s, q, router, x)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _inside(s, q, now, router):
    """Handle a router's first event of its own: a packet at its buffer, or a crossbar's credit."""
    r = router_cells(s, router)
    m = crossbar_cell(s, router)
    packet = s[m + BUFFER_FIRST] & POSITION
    event = s[r + ROUTER_QUEUE] & POSITION
    enters = event == NOTHING
    if packet != NOTHING and event != NOTHING:
        enters = q[packet + AT] < q[event + E_AT]
        if q[packet + AT] == q[event + E_AT]:
            enters = q[packet + CAME_BY] >> ORDER_SHIFT < q[event + E_ORDER]
    if enters:
        s[m + BUFFER_FIRST] = q[packet + NEXT]
        q[packet + CAME_BY] &= SIZE_MASK
        _enter_buffer(s, q, now, router, q[packet + CAME_BY], packet)
        return
    hop = q[event + E_EXTRA]
    x = crossbar_lane(s, hop >> 8, hop & 255)
    s[r + ROUTER_QUEUE] = without_root(q, event)
    _take_back(s, q, x)
    packet = _pop(s, q, x, x + LEAST)
    if s[x + PENDING_FIRST] != NOTHING and s[x + BACK_FIRST] != NOTHING:
        _watch(s, q, router, x)
    if packet != NOTHING:
        _cross(s, q, now, router, hop, packet)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _settle(s, q, router, r):
    """Keep the tick of a router's next event; `r` is where its cells begin."""
    packet = s[crossbar_cell(s, router) + BUFFER_FIRST] & POSITION
    root = s[r + ROUTER_QUEUE] & POSITION
    due = NEVER if packet == NOTHING else q[packet + AT]
    s[r + ROUTER_QUEUE_DUE] = due if root == NOTHING else min(due, q[root + E_AT])
    settle_router(s, router, r)


@njit(cache=True, nogil=True, _nrt=False)
def serve(s, t, q, routes, depth, seen, end):
    """Handle all events of routers before tick `end`.

    Returns:
        OK, or NO_RECORDS or NO_STATE where it had to stop for room.
    """
    for router in range(s[N_ROUTERS]):
        due = s[AT_DUE] + router
        if s[due] >= end:
            continue
        r = router_cells(s, router)
        heap = s[r + HEAP]
        while s[due] < end:
            if room_left(s, q) != OK:
                return room_left(s, q)
            now = s[due]
            if s[r + HEAP_COUNT] == 0 or s[heap] > now:
                _inside(s, q, now, router)
                _settle(s, q, router, r)
                continue
            slot = s[s[r + MEANINGS] + s[heap + 1]]
            if slot & 1:
                _credit_in(s, q, now, router, slot >> 1)
            else:
                packet = take_at_router(s, q, channel_cells(s, slot >> 1))
                hop = settled_hop(s, t, q, router, packet)
                if hop < 0:
                    hop = next_hop(s, t, q, routes, depth, seen, now, router, packet)
                s[HOPS_TAKEN] += 1
                _enter_crossbar(s, q, now, router, hop, packet)
            _settle(s, q, router, r)
    return OK
