"""SNAPPR's output ports at routers, exactly as in SST/macro v11.1, with fewer events.

A packet that has its credits leaves when the port has sent all before it: that tick is known when
it enters the port's queue, so no event is needed for it, nor for the credit that goes back then. A
credit that comes in is an event only where a packet waits for it; else it is counted when the port
is next looked at.
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.fabric import layout, routing, sst_routes
from kernels.fabric.lists import (
    add_slot,
    drop_first,
    first_credit,
    replace_first,
    take_credit,
)
from kernels.fabric.ports import put_on_channel, return_credit, take_at_router


@helper("void(i8[::1], i8, i8, i8)", _nrt=False)
def _note_start(s, c, now, start):
    """Note when a packet leaves, for the order of credits that are sent in one tick."""
    last = s[c + layout.LAST_START]
    s[c + layout.LAST_START] = start
    if start == now:
        s[c + layout.RUN_SCHEDULED] = -1
    elif last < now:
        s[c + layout.RUN_SCHEDULED] = now
    elif s[c + layout.RUN_STEP] == 0 or start - last == s[c + layout.RUN_STEP]:
        s[c + layout.RUN_STEP] = start - last
        return
    else:
        s[c + layout.RUN_SCHEDULED] = last
    s[c + layout.RUN_START] = start
    s[c + layout.RUN_STEP] = 0


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", _nrt=False)
def leave(s, q, now, channel, lane, packet):
    """Send a packet that has its credits, as soon as the port is free."""
    c = layout.channel_cells(s, channel)
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
    free = s[c + layout.NEXT_FREE]
    start = max(now, free)
    took = layout.span(size, s[c + layout.BYTE])
    if s[c + layout.N_PENDING] > 0:
        # Another packet may go while some wait: the port was free until now, too.
        s[c + layout.STALLED] += max(0, now - max(s[c + layout.WAITING_SINCE], free))
    overhead = s[c + layout.FLIT]
    done = start + took + overhead
    s[c + layout.NEXT_FREE] = done
    s[c + layout.BUSY] += took
    s[c + layout.BYTES_SENT] += size
    s[c + layout.PACKETS_SENT] += 1
    if s[layout.N_LANES] > 1:
        _note_start(s, c, now, start)
    came = q[packet + layout.CAME_BY]
    return_credit(s, came >> 8, done, came & 255 | (channel + 1) << 8, size)
    q[packet + layout.CAME_BY] = channel << 8 | lane
    put_on_channel(s, q, c, packet, start + overhead + s[c + layout.LATENCY])


@helper("void(i8[::1], i8, i8, i8, i8)", _nrt=False)
def _count_credits(s, channel, c, now, key):
    """Count the credits that reach a port before the event of this tick and key."""
    last = now if s[c + layout.SLOT_CREDIT] < key else now - 1
    while first_credit(s, c) <= last:
        word = take_credit(s, c)
        s[layout.lane_cells(s, channel, word >> 32) + layout.CREDITS] += word & layout.SIZE_MASK


@helper(
    "void(i8[::1], i8[::1], i8, i8, i8, i8, i8, i8)",
    _nrt=False,
    forceinline=True,
)
def enter(s, q, now, key, router, channel, lane, packet):
    """Queue a packet at a port of a router, or let it wait for credits."""
    if not s[layout.FLOW_CONTROL]:
        leave(s, q, now, channel, lane, packet)
        return
    c = layout.channel_cells(s, channel)
    v = layout.lane_cells(s, channel, lane)
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
    if s[c + layout.N_PENDING] == 0:
        _count_credits(s, channel, c, now, key)
    # As in SST/macro a small packet passes larger ones that wait for more credits.
    if s[v + layout.CREDITS] >= size:
        s[v + layout.CREDITS] -= size
        leave(s, q, now, channel, lane, packet)
        return
    q[packet + layout.NEXT] = layout.NOTHING
    if s[v + layout.PENDING_FIRST] == layout.NOTHING:
        s[v + layout.PENDING_FIRST] = packet
    else:
        q[s[v + layout.PENDING_LAST] + layout.NEXT] = packet
    s[v + layout.PENDING_LAST] = packet
    waiting = s[c + layout.N_PENDING] + 1
    s[c + layout.N_PENDING] = waiting
    s[c + layout.MOST_PENDING] = max(s[c + layout.MOST_PENDING], waiting)
    if waiting == 1:
        s[c + layout.WAITING_SINCE] = now
        if s[c + layout.N_CREDITS] > 0:
            add_slot(s, router, first_credit(s, c), s[c + layout.SLOT_CREDIT])


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def credit_in(s, q, now, router, channel):
    """Take one credit at a port where packets wait; those that fit now enter its queue."""
    c = layout.channel_cells(s, channel)
    word = take_credit(s, c)
    lane = word >> 32
    v = layout.lane_cells(s, channel, lane)
    s[v + layout.CREDITS] += word & layout.SIZE_MASK
    packet = s[v + layout.PENDING_FIRST] & layout.POSITION
    while (
        packet != layout.NOTHING
        and q[packet + layout.SIZE] & layout.SIZE_MASK <= s[v + layout.CREDITS]
    ):
        following = q[packet + layout.NEXT]
        s[v + layout.PENDING_FIRST] = following
        s[v + layout.CREDITS] -= q[packet + layout.SIZE] & layout.SIZE_MASK
        leave(s, q, now, channel, lane, packet)
        s[c + layout.N_PENDING] -= 1
        packet = following & layout.POSITION
    if s[c + layout.N_PENDING] == 0:
        s[c + layout.WAITING_SINCE] = layout.NEVER
    if s[c + layout.N_PENDING] > 0 and s[c + layout.N_CREDITS] > 0:
        replace_first(s, router, first_credit(s, c), s[c + layout.SLOT_CREDIT])
    else:
        drop_first(s, router)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def pass_through(s, q, now, channel, packet):
    """Send a packet through a port without waiting (SST/macro's switch.congestion = false)."""
    c = layout.channel_cells(s, channel)
    q[packet + layout.CAME_BY] = channel << 8
    put_on_channel(s, q, c, packet, now + s[c + layout.LATENCY])


@helper("void(i8[::1], i4[::1], i8, i8, i8)", _nrt=False)
def look(s, depth, router, now, n_bytes):
    """Write how many packets of `n_bytes` wait at each port of a router that leads to another."""
    r = layout.router_cells(s, router)
    for channel in range(s[r + layout.PORTS], s[r + layout.PORTS_END]):
        c = layout.channel_cells(s, channel)
        took = max(1, n_bytes * s[c + layout.BYTE])
        queued = (max(0, s[c + layout.NEXT_FREE] - now) + took - 1) // took
        depth[channel] = queued + s[c + layout.N_PENDING]


@helper("i8(i8[::1], i4[::1], i8[::1], i8, i8)", _nrt=False)
def settled_hop(s, t, q, router, packet):
    """Return channel << 8 | lane of a packet's next hop where no routing has to be asked, or -1.

    That is its host's channel at the target router, and any channel of SST/macro's routers.
    """
    ends = q[packet + layout.ENDS]
    target = ends & layout.ROUTER_MASK
    if target == router:
        return (s[layout.N_BETWEEN] + (ends >> 20 & layout.HOST_MASK)) << 8
    if s[layout.ROUTING] == 0:
        return sst_routes.choose(s, t, q, packet, router, target)
    return -1


@helper(_nrt=False, forceinline=True)
def next_hop(s, t, q, routes, depth, seen, now, router, packet):
    """Return channel << 8 | lane of a packet's next hop.

    Args:
        s: the state.
        t: tables.
        q: the records.
        routes: tables of ``kernels.fabric.routing``.
        depth: int32[channels], room for queue lengths.
        seen: int32[channels], queue lengths at the beginning of the window.
        now: the tick.
        router: where the packet is.
        packet: which.
    """
    hop = settled_hop(s, t, q, router, packet)
    if hop >= 0:
        return hop
    ends = q[packet + layout.ENDS]
    if s[layout.ADAPTIVE] and routing.asks(routes, q[packet + layout.PATH]):
        look(s, depth, router, now, q[packet + layout.SIZE] & layout.SIZE_MASK)
    number = ends >> 42 << 32 | q[packet + layout.SIZE] >> 32
    channel, lane, word = routing.choose(
        routes, depth, seen, number, q[packet + layout.PATH], router, ends & layout.ROUTER_MASK
    )
    q[packet + layout.PATH] = word
    return np.int64(channel) << 8 | np.int64(lane)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", _nrt=False, forceinline=True)
def arrive(s, q, now, router, key, hop):
    """Take the packet of a router's first event in, on its way to `hop`, or hold it back."""
    r = layout.router_cells(s, router)
    channel = s[s[r + layout.MEANINGS] + (key & layout.SLOT_MASK)] >> 1
    c = layout.channel_cells(s, channel)
    packet = s[c + layout.FIRST] & layout.POSITION
    if key <= layout.SLOT_MASK:
        out = layout.channel_cells(s, hop >> 8)
        if s[c + layout.BYTE] > s[out + layout.BYTE]:
            size = q[packet + layout.SIZE] & layout.SIZE_MASK
            wait = layout.span(size, s[c + layout.BYTE]) - layout.span(size, s[out + layout.BYTE])
            if wait > 0:
                # The tail cannot leave before it has arrived. No other packet comes in on this
                # channel meanwhile: its port is still busy with this one.
                q[packet + layout.AT] = hop
                s[r + layout.N_DELAYED] += 1
                replace_first(
                    s, router, now + wait, s[r + layout.N_DELAYED] << layout.SLOT_BITS | key
                )
                return
    take_at_router(s, q, c)
    s[layout.HOPS_TAKEN] += 1
    if s[layout.CONGESTION]:
        enter(s, q, now, key, router, hop >> 8, hop & 255, packet)
    else:
        pass_through(s, q, now, hop >> 8, packet)


@helper(_nrt=False)
def serve(s, t, q, routes, depth, seen, end):
    """Handle all events of routers before tick `end`.

    Returns:
        OK, or NO_RECORDS or NO_STATE where it had to stop for room.
    """
    for router in range(s[layout.N_ROUTERS]):
        due = s[layout.AT_DUE] + router
        if s[due] >= end:
            continue
        r = layout.router_cells(s, router)
        heap = s[r + layout.HEAP]
        while s[due] < end:
            if s.size - s[layout.END] < layout.STATE_MARGIN:
                return layout.NO_STATE
            now, key = s[heap], s[heap + 1]
            slot = s[s[r + layout.MEANINGS] + (key & layout.SLOT_MASK)]
            if slot & 1:
                credit_in(s, q, now, router, slot >> 1)
                continue
            packet = s[layout.channel_cells(s, slot >> 1) + layout.FIRST] & layout.POSITION
            if key > layout.SLOT_MASK:
                # It has been held back on entry; its way was chosen then.
                hop = q[packet + layout.AT]
            else:
                hop = settled_hop(s, t, q, router, packet)
                if hop < 0:
                    hop = next_hop(s, t, q, routes, depth, seen, now, router, packet)
            arrive(s, q, now, router, key, hop)
    return layout.OK
