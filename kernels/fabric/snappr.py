"""SNAPPR's output ports at routers, exactly as in SST/macro v11.1, with fewer events.

A packet that has its credits leaves when the port has sent all before it: that tick is known when
it enters the port's queue, so no event is needed for it, nor for the credit that goes back then. A
credit that comes in is an event only where a packet waits for it; else it is counted when the port
is next looked at.
"""

from __future__ import annotations

import numpy as np

from kernels import helper, inlined
from kernels.fabric import calendar, layout, routing, sst_routes
from kernels.fabric.lists import first_credit, take_credit
from kernels.fabric.ports import (
    count_ahead,
    drain_ticks,
    put_on_channel,
    queued,
    return_credit,
    watch_credits,
)

HOP = layout.OF_MODEL
"""Cell of a packet that is held back: channel << 8 | lane of its next hop."""


@helper
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


@inlined
def leave(s, q, now, channel, lane, packet):
    """Send a packet that has its credits, as soon as the port is free."""
    c = layout.channel_cells(s, channel)
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
    free = s[c + layout.NEXT_FREE]
    start = max(now, free)
    p = layout.port_cells(s, channel)
    took = layout.span(size, s[p + layout.BYTE])
    if s[c + layout.WAITING_SINCE] != layout.NEVER:
        # Another packet may go while some wait: the port was free until now, too.
        s[c + layout.STALLED] += max(0, now - max(s[c + layout.WAITING_SINCE], free))
    overhead = s[p + layout.FLIT]
    done = start + took + overhead
    s[c + layout.NEXT_FREE] = done
    s[c + layout.BYTES_SENT] += size
    s[c + layout.PACKETS_SENT] += 1
    if s[layout.N_LANES] > 1:
        _note_start(s, c, now, start)
    came = q[packet + layout.CAME_BY] & layout.SIZE_MASK
    return_credit(s, q, came >> 8, done, came & 255 | (channel + 1) << 8, size)
    at = start + overhead + s[p + layout.LATENCY]
    if channel >= s[layout.N_BETWEEN] and count_ahead(
        s, q, channel, packet, at + drain_ticks(s, p, size), True
    ):
        return
    put_on_channel(s, q, c, channel << 8 | lane, packet, at)


@helper
def _count_credits(s, q, channel, c, now, packet):
    """Count the credits that reach a port before the packet that comes to its router."""
    last = now if s[c + layout.SLOT_CREDIT] < calendar.slot_of(s, q, packet) else now - 1
    while first_credit(s, c) <= last:
        word = take_credit(s, c)
        s[layout.lane_cells(s, channel, word >> 32) + layout.CREDITS] += word & layout.SIZE_MASK


@inlined
def enter(s, q, now, hop, packet):
    """Queue a packet at a port of a router, or let it wait for credits."""
    channel, lane = hop >> 8, hop & 255
    if not s[layout.FLOW_CONTROL]:
        leave(s, q, now, channel, lane, packet)
        return
    c = layout.channel_cells(s, channel)
    v = layout.lane_cells(s, channel, lane)
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
    # Credits that have come are counted when those that were counted before are used up.
    if s[v + layout.CREDITS] < size and s[c + layout.N_PENDING] == 0:
        _count_credits(s, q, channel, c, now, packet)
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
        watch_credits(s, q, channel, c)


@inlined
def _credit_in(s, q, now, channel, c):
    """Take one credit at a port where packets wait; those that fit now enter its queue."""
    word = take_credit(s, c)
    lane = word >> 32
    v = layout.lane_cells(s, channel, lane)
    s[v + layout.CREDITS] += word & layout.SIZE_MASK
    packet = s[v + layout.PENDING_FIRST]
    # A packet that cannot fit is not looked at: it is no longer in a fast cache.
    while (
        packet != layout.NOTHING
        and s[v + layout.CREDITS] > 0
        and q[packet + layout.SIZE] & layout.SIZE_MASK <= s[v + layout.CREDITS]
    ):
        following = q[packet + layout.NEXT]
        s[v + layout.PENDING_FIRST] = following
        s[v + layout.CREDITS] -= q[packet + layout.SIZE] & layout.SIZE_MASK
        leave(s, q, now, channel, lane, packet)
        s[c + layout.N_PENDING] -= 1
        packet = following


@inlined
def credits_in(s, q, now, channel):
    """Take the credits of this tick at a port where packets wait."""
    c = layout.channel_cells(s, channel)
    if s[c + layout.WATCHED] != now:
        return
    while s[c + layout.N_PENDING] > 0 and first_credit(s, c) == now:
        _credit_in(s, q, now, channel, c)
    s[c + layout.WATCHED] = layout.NEVER
    if s[c + layout.N_PENDING] > 0:
        watch_credits(s, q, channel, c)
    else:
        s[c + layout.WAITING_SINCE] = layout.NEVER


@helper
def pass_through(s, q, now, hop, packet):
    """Send a packet through a port without waiting (SST/macro's switch.congestion = false)."""
    c, p = layout.channel_cells(s, hop >> 8), layout.port_cells(s, hop >> 8)
    put_on_channel(s, q, c, hop >> 8 << 8, packet, now + s[p + layout.LATENCY])


@helper
def look(s, depth, router, now, n_bytes):
    """Write how many packets of `n_bytes` wait at each port of a router that leads to another."""
    r = layout.router_cells(s, router)
    between = s[layout.AT_PORTS] + layout.N_PORT * layout.BETWEEN
    each = max(1, n_bytes * s[between + layout.BYTE])
    for channel in range(s[r + layout.PORTS], s[r + layout.PORTS_END]):
        if s[layout.OWN_PORTS]:
            each = max(1, n_bytes * s[layout.port_cells(s, channel) + layout.BYTE])
        depth[channel] = queued(s, channel, now, each)


@helper
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


@inlined
def next_hop(s, t, q, routes, depth, seen, now, router, packet):
    """Return channel << 8 | lane of a packet's next hop.

    Args:
        s: the state.
        t: tables.
        q: the records.
        routes: tables of ``kernels.fabric.routing``; with SST/macro's routers they are not read.
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


@inlined
def is_held(s, q, now, hop, packet):
    """Hold a packet back on entry that would leave faster than it comes in; return whether it is.

    The tail cannot leave before it has arrived. Where all links between routers and to hosts are
    equally fast, only packets from hosts may be held. No other packet comes in on the link
    meanwhile.
    """
    came = (q[packet + layout.CAME_BY] & layout.SIZE_MASK) >> 8
    if came < s[layout.N_BETWEEN] + s[layout.N_HOSTS] and not s[layout.OWN_PORTS]:
        return False
    byte = s[layout.port_cells(s, came) + layout.BYTE]
    out_byte = s[layout.port_cells(s, hop >> 8) + layout.BYTE]
    if byte <= out_byte:
        return False
    size = q[packet + layout.SIZE] & layout.SIZE_MASK
    wait = layout.span(size, byte) - layout.span(size, out_byte)
    if wait <= 0:
        return False
    q[packet + layout.AT] = now + wait
    q[packet + layout.CAME_BY] |= layout.HELD << layout.KIND_SHIFT
    q[packet + HOP] = hop
    calendar.schedule(s, q, packet)
    return True


@helper
def serve(s, t, q, routes, depth, seen):
    """Handle all events of routers in the window.

    Returns:
        OK, or NO_RECORDS or NO_STATE where it had to stop for room.
    """
    begin = layout.todo_cell(s, 0)
    end = begin + 2 * s[layout.N_ROUTERS]
    for cell in range(np.uint64(begin), np.uint64(end), np.uint64(2)):
        while s[cell] != layout.NOTHING:
            if layout.room_left(s, q) != layout.OK:
                return layout.room_left(s, q)
            packet = s[cell]
            s[cell] = q[packet + layout.NEXT]
            now, came = q[packet + layout.AT], q[packet + layout.CAME_BY]
            kind = came >> layout.KIND_SHIFT & 3
            # Read from the packet: LLVM would compute a hash of `place` for every router, 50 of 480
            # instructions a hop on the torus (tests/benchmarks/test_open_loop.py).
            router = came >> layout.COMPONENT_SHIFT
            if kind == layout.CREDIT:
                layout.free_record(s, q, packet)
                credits_in(s, q, now, (came & layout.SIZE_MASK) >> 8)
                continue
            if kind == layout.HELD:
                # Its way was chosen when it came.
                hop = q[packet + HOP]
            else:
                hop = next_hop(s, t, q, routes, depth, seen, now, router, packet)
                if is_held(s, q, now, hop, packet):
                    continue
            s[layout.HOPS_TAKEN] += 1
            if s[layout.CONGESTION]:
                enter(s, q, now, hop, packet)
            else:
                pass_through(s, q, now, hop, packet)
    return layout.OK
