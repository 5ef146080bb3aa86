"""PISCES' switches, exactly as in SST/macro v11.1: a crossbar, then output buffers.

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

from kernels import helper, inlined
from kernels.fabric import layout
from kernels.fabric.arbiters import arbitrate, is_last
from kernels.fabric.lists import add_credit, first_credit, meld, take_credit, without_root
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
from kernels.fabric.ports import count_ahead, put_on_channel, return_credit, watch_credits
from kernels.fabric.snappr import next_hop


@helper
def _next_order(s, router):
    """Return the next number by which events of one tick inside a router are ordered."""
    r = layout.router_cells(s, router)
    s[r + layout.N_QUEUED] += 1
    return s[r + layout.N_QUEUED]


@helper
def _watch(s, q, router, x):
    """Schedule an event for the next credit of a lane, which a packet waits for."""
    r = layout.router_cells(s, router)
    event = s[x + BACK_FIRST]
    q[event + layout.E_SIBLING] = layout.NOTHING
    q[event + layout.E_CHILD] = layout.NOTHING
    s[r + layout.ROUTER_QUEUE] = meld(q, s[r + layout.ROUTER_QUEUE], event)


@helper
def _take_back(s, q, x):
    """Count the first credit on its way back to a lane."""
    event = s[x + BACK_FIRST]
    s[x + layout.CREDITS] += q[event + layout.E_WORD]
    s[x + BACK_FIRST] = q[event + B_NEXT]
    layout.free_record(s, q, event)


@helper
def _wait(s, q, v, least, packet):
    """Append a packet to the queue of the lane whose cells begin at `v`."""
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
    q[packet + layout.NEXT] = layout.NOTHING
    if s[v + layout.PENDING_FIRST] == layout.NOTHING:
        s[v + layout.PENDING_FIRST] = packet
        s[least] = size
    else:
        q[s[v + layout.PENDING_LAST] + layout.NEXT] = packet
        s[least] = min(s[least], size)
    s[v + layout.PENDING_LAST] = packet


@helper
def _pop(s, q, v, least):
    """Remove the first packet that waits in a lane and fits, taking its credits; or NOTHING."""
    before = np.int64(layout.NOTHING)
    if s[v + layout.CREDITS] < s[least]:
        return before
    packet = s[v + layout.PENDING_FIRST]
    while (
        packet != layout.NOTHING
        and q[packet + layout.SIZE] & layout.SIZE_MASK > s[v + layout.CREDITS]
    ):
        before = packet
        packet = q[packet + layout.NEXT]
    if packet == layout.NOTHING:
        return packet
    s[v + layout.CREDITS] -= q[packet + layout.SIZE] & layout.SIZE_MASK
    if before == layout.NOTHING:
        s[v + layout.PENDING_FIRST] = q[packet + layout.NEXT]
    else:
        q[before + layout.NEXT] = q[packet + layout.NEXT]
    if s[v + layout.PENDING_LAST] == packet:
        s[v + layout.PENDING_LAST] = before
    return packet


@helper
def _cross(s, q, now, router, hop, packet):
    """Send a packet that has its credits over the crossbar to its output buffer."""
    model = s[layout.AT_MODEL]
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
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
    came = q[packet + layout.CAME_BY] & layout.SIZE_MASK
    return_credit(s, q, came >> 8, head, came & 255, size)
    q[packet + layout.CAME_BY] = _next_order(s, router) << ORDER_SHIFT | hop
    # Heads leave a crossbar in the order in which they are given bandwidth.
    q[packet + layout.AT] = head
    q[packet + layout.NEXT] = layout.NOTHING
    m = crossbar_cell(s, router)
    if s[m + BUFFER_FIRST] == layout.NOTHING:
        s[m + BUFFER_FIRST] = packet
    else:
        q[s[m + BUFFER_LAST] + layout.NEXT] = packet
    s[m + BUFFER_LAST] = packet


@helper
def _leave(s, q, now, router, hop, packet):
    """Send a packet that has its credits from its output buffer onto the channel."""
    channel = hop >> 8
    c, p = layout.channel_cells(s, channel), layout.port_cells(s, channel)
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
    if s[c + layout.N_PENDING] > 0:
        s[c + layout.STALLED] += max(
            0, now - max(s[c + layout.WAITING_SINCE], s[c + layout.NEXT_FREE])
        )
    arbiter, kind = channel_cell(s, channel), s[s[layout.AT_MODEL] + LINK_KIND]
    head, tail, q[packet + DELAY] = arbitrate(
        s,
        q,
        arbiter,
        kind,
        s[p + layout.BYTE],
        now,
        size,
        q[packet + DELAY],
    )
    s[c + layout.NEXT_FREE] = max(s[c + layout.NEXT_FREE], tail)
    s[c + layout.BYTES_SENT] += size
    s[c + layout.PACKETS_SENT] += 1
    x = crossbar_lane(s, channel, hop & 255)
    event = layout.take_record(s, q)
    q[event + layout.E_AT] = head
    q[event + layout.E_CLASS] = 0
    q[event + layout.E_ORDER] = _next_order(s, router)
    q[event + B_NEXT] = layout.NOTHING
    q[event + layout.E_WORD] = size
    q[event + layout.E_EXTRA] = hop
    if s[x + BACK_FIRST] == layout.NOTHING:
        s[x + BACK_FIRST] = event
        if s[x + layout.PENDING_FIRST] != layout.NOTHING:
            _watch(s, q, router, x)
    else:
        q[s[x + BACK_LAST] + B_NEXT] = event
    s[x + BACK_LAST] = event
    at = head + s[p + layout.LATENCY]
    if channel >= s[layout.N_BETWEEN]:
        whole = at + layout.span(size, q[packet + DELAY])
        if count_ahead(s, q, channel, packet, whole, is_last(s, q, arbiter, kind, tail)):
            return
    put_on_channel(s, q, c, hop, packet, at)


@inlined
def _enter_buffer(s, q, now, router, hop, packet):
    """Take a packet's head into its output buffer."""
    channel, lane = hop >> 8, hop & 255
    c = layout.channel_cells(s, channel)
    v = layout.lane_cells(s, channel, lane)
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
    if s[c + layout.N_PENDING] == 0:
        # Credits of this tick come before this event.
        while first_credit(s, c) <= now:
            word = take_credit(s, c)
            s[layout.lane_cells(s, channel, word >> 32) + layout.CREDITS] += word & layout.SIZE_MASK
    if s[v + layout.CREDITS] >= size:
        s[v + layout.CREDITS] -= size
        _leave(s, q, now, router, hop, packet)
        return
    _wait(s, q, v, crossbar_lane(s, channel, lane) + LEAST_IN_BUFFER, packet)
    waiting = s[c + layout.N_PENDING] + 1
    s[c + layout.N_PENDING] = waiting
    s[c + layout.MOST_PENDING] = max(s[c + layout.MOST_PENDING], waiting)
    if waiting == 1:
        s[c + layout.WAITING_SINCE] = now
        watch_credits(s, q, channel, c)


@helper
def _credit_in(s, q, now, router, channel):
    """Take one credit at a buffer where packets wait; all that fit now leave."""
    c = layout.channel_cells(s, channel)
    word = take_credit(s, c)
    lane = word >> 32
    v = layout.lane_cells(s, channel, lane)
    least = crossbar_lane(s, channel, lane) + LEAST_IN_BUFFER
    s[v + layout.CREDITS] += word & layout.SIZE_MASK
    packet = _pop(s, q, v, least)
    while packet != layout.NOTHING:
        _leave(s, q, now, router, channel << 8 | lane, packet)
        s[c + layout.N_PENDING] -= 1
        if scarce(s, q):
            # A credit of no bytes lets the others go on once there is more room.
            add_credit(s, c, now, 0, lane << 32)
            break
        packet = _pop(s, q, v, least)


@helper
def _credits_in(s, q, now, router, channel):
    """Take the credits of this tick at a buffer where packets wait, while there is room."""
    c = layout.channel_cells(s, channel)
    if s[c + layout.WATCHED] != now:
        return
    while s[c + layout.N_PENDING] > 0 and first_credit(s, c) == now:
        _credit_in(s, q, now, router, channel)
        if scarce(s, q):
            break
    s[c + layout.WATCHED] = layout.NEVER
    if s[c + layout.N_PENDING] > 0:
        watch_credits(s, q, channel, c)
    else:
        s[c + layout.WAITING_SINCE] = layout.NEVER


@inlined
def _enter_crossbar(s, q, now, router, hop, packet):
    """Take a packet's head into the router."""
    x = crossbar_lane(s, hop >> 8, hop & 255)
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
    if s[x + layout.PENDING_FIRST] == layout.NOTHING:
        # Credits of this tick come after this event.
        back = s[x + BACK_FIRST]
        while back != layout.NOTHING and q[back + layout.E_AT] < now:
            _take_back(s, q, x)
            back = s[x + BACK_FIRST]
    if s[x + layout.CREDITS] >= size:
        s[x + layout.CREDITS] -= size
        _cross(s, q, now, router, hop, packet)
        return
    first = s[x + layout.PENDING_FIRST] == layout.NOTHING
    _wait(s, q, x, x + LEAST, packet)
    if first and s[x + BACK_FIRST] != layout.NOTHING:
        _watch(s, q, router, x)


@inlined
def _inside(s, q, now, router):
    """Handle a router's first event of its own: a packet at its buffer, or a crossbar's credit."""
    r = layout.router_cells(s, router)
    m = crossbar_cell(s, router)
    packet = s[m + BUFFER_FIRST]
    event = s[r + layout.ROUTER_QUEUE]
    enters = event == layout.NOTHING
    if packet != layout.NOTHING and event != layout.NOTHING:
        enters = q[packet + layout.AT] < q[event + layout.E_AT]
        if q[packet + layout.AT] == q[event + layout.E_AT]:
            enters = q[packet + layout.CAME_BY] >> ORDER_SHIFT < q[event + layout.E_ORDER]
    if enters:
        s[m + BUFFER_FIRST] = q[packet + layout.NEXT]
        q[packet + layout.CAME_BY] &= layout.SIZE_MASK
        _enter_buffer(s, q, now, router, q[packet + layout.CAME_BY], packet)
        return
    hop = q[event + layout.E_EXTRA]
    x = crossbar_lane(s, hop >> 8, hop & 255)
    s[r + layout.ROUTER_QUEUE] = without_root(q, event)
    _take_back(s, q, x)
    packet = _pop(s, q, x, x + LEAST)
    if s[x + layout.PENDING_FIRST] != layout.NOTHING and s[x + BACK_FIRST] != layout.NOTHING:
        _watch(s, q, router, x)
    if packet != layout.NOTHING:
        _cross(s, q, now, router, hop, packet)


@helper
def _next_inside(s, q, router):
    """Return the tick of a router's next event of its own, NEVER if there is none."""
    packet = s[crossbar_cell(s, router) + BUFFER_FIRST]
    root = s[layout.router_cells(s, router) + layout.ROUTER_QUEUE]
    due = layout.NEVER if packet == layout.NOTHING else q[packet + layout.AT]
    return due if root == layout.NOTHING else min(due, q[root + layout.E_AT])


@helper
def serve(s, t, q, routes, depth, seen):
    """Handle all events of routers in the window.

    Returns:
        OK, or NO_RECORDS or NO_STATE where it had to stop for room.
    """
    end = s[layout.WINDOW_END]
    for router in range(s[layout.N_ROUTERS]):
        cell, due = layout.todo_cell(s, router), s[layout.AT_DUE] + router
        while s[cell] != layout.NOTHING or s[due] < end:
            if layout.room_left(s, q) != layout.OK:
                return layout.room_left(s, q)
            packet, now = s[cell], s[due]
            if packet == layout.NOTHING or q[packet + layout.AT] > now:
                _inside(s, q, now, router)
                s[due] = _next_inside(s, q, router)
                continue
            s[cell] = q[packet + layout.NEXT]
            now, came = q[packet + layout.AT], q[packet + layout.CAME_BY]
            if came >> layout.KIND_SHIFT & 3 == layout.CREDIT:
                layout.free_record(s, q, packet)
                _credits_in(s, q, now, router, (came & layout.SIZE_MASK) >> 8)
            else:
                hop = next_hop(s, t, q, routes, depth, seen, now, router, packet)
                s[layout.HOPS_TAKEN] += 1
                _enter_crossbar(s, q, now, router, hop, packet)
            s[due] = _next_inside(s, q, router)
    return layout.OK
