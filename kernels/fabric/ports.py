"""What the port models share: packets under way on channels, and credits on their way back."""

from __future__ import annotations

import numpy as np

from kernels import helper, inlined
from kernels.fabric import calendar, layout
from kernels.fabric.lists import add_credit, first_credit


@helper
def put_on_channel(s, q, c, hop, packet, at):
    """Schedule a packet's arrival at the other end of a channel; `hop` is channel << 8 | lane."""
    q[packet + layout.AT] = at
    q[packet + layout.CAME_BY] = s[c + layout.ARRIVES] | hop
    calendar.push(s, q, packet)


@helper
def take_at_host(s, q, host, h):
    """Remove the first packet that has come to a host, whose cells begin at `h`."""
    cell = layout.todo_cell(s, s[layout.N_ROUTERS] + host)
    packet = s[cell]
    following = q[packet + layout.NEXT]
    s[cell] = following
    s[h + layout.DATA_DUE] = (
        layout.NEVER if following == layout.NOTHING else q[following + layout.AT]
    )
    return packet


@helper
def watch_credits(s, q, channel, c):
    """Make the next credit on its way to a router's port an event, as packets wait for it.

    An event that is set for a later credit meanwhile means nothing when it comes.
    """
    at = first_credit(s, c)
    s[c + layout.WATCHED] = at
    if at == layout.NEVER:
        return
    if s[layout.FREE] == layout.NOTHING and (s[layout.USED] + 1) * layout.RECORD > q.size:
        s[layout.LOST_ROOM] = 1
        return
    event = layout.take_record(s, q)
    q[event + layout.AT] = at
    q[event + layout.CAME_BY] = (
        s[c + layout.SOURCE] << layout.COMPONENT_SHIFT
        | layout.CREDIT << layout.KIND_SHIFT
        | channel << 8
    )
    # Its size is the packet that will be needed then.
    lane = s[s[c + layout.CREDITS_AT] + 2 * s[c + layout.CREDITS_FIRST] + 1] >> 32
    v = layout.lane_cells(s, channel, lane & 255)
    q[event + layout.SIZE] = s[v + layout.PENDING_FIRST]
    calendar.schedule(s, q, event)


@inlined
def return_credit(s, q, channel, sent, lane, n_bytes):
    """Send the credit of a packet, at tick `sent`, back to the port it came from."""
    if not s[layout.FLOW_CONTROL]:
        return
    c = layout.channel_cells(s, channel)
    latency = s[layout.port_cells(s, channel) + layout.LATENCY]
    at = sent + latency
    add_credit(s, c, at, latency, lane << 32 | n_bytes)
    host = channel - s[layout.N_BETWEEN] - s[layout.N_HOSTS]
    if host < 0:
        if s[c + layout.N_PENDING] > 0 and at < s[c + layout.WATCHED]:
            watch_credits(s, q, channel, c)
        return
    h = layout.host_cells(s, host)
    waits = s[c + layout.N_PENDING] > 0 or s[h + layout.INJECT_FIRST] != layout.NOTHING
    if waits and at < s[h + layout.CREDIT_DUE]:
        s[h + layout.CREDIT_DUE] = at
        due = s[layout.AT_DUE] + s[layout.N_ROUTERS] + host
        if at < s[due]:
            s[due] = at


@helper
def drain_ticks(s, p, size):
    """Return the ticks from a packet's arrival at a SNAPPR host until its NIC has all bytes.

    They are 0 unless the NIC is faster than the link. The cells of the host's port begin at `p`.
    """
    if s[p + layout.BYTE] <= s[layout.NIC_BYTE]:
        return np.int64(0)
    wait = layout.span(size, s[p + layout.BYTE]) - layout.span(size, s[layout.NIC_BYTE])
    return max(np.int64(0), wait)


@inlined
def count_ahead(s, q, channel, packet, whole, in_turn):
    """Count a packet that leaves for its host before it arrives, except the last one of a message.

    The others only return their credits there, so they need no events at the host: a tenth less
    time for an allgather of 8 KB on 64 nodes, with SNAPPR and with PISCES, and on a dragonfly
    (tests/benchmarks/test_fabric.py).

    UGAL-G looks at all queues when a window opens. So no window may begin elsewhere: then every
    packet arrives.

    Args:
        s: the state.
        q: the records.
        channel: the one that leads to the host.
        packet: which.
        whole: the tick at which the host has all of it.
        in_turn: whether no packet that leaves later is whole before; else this one may complete
            the message.

    Returns:
        Whether the packet was counted, and its record freed.
    """
    if s[layout.LOOKS]:
        return False
    message, size = q[packet + layout.MESSAGE], q[packet + layout.SIZE] & layout.SIZE_MASK
    q[message + layout.M_COMING] -= size
    if q[message + layout.M_COMING] <= 0 or not in_turn:
        return False
    q[message + layout.M_LEFT] -= size
    s[layout.PACKETS_ARRIVED] += 1
    layout.free_record(s, q, packet)
    if s[layout.FLOW_CONTROL]:
        c = layout.channel_cells(s, channel)
        latency = s[layout.port_cells(s, channel) + layout.LATENCY]
        add_credit(s, c, whole + latency, latency, size)
        if s[c + layout.N_PENDING] > 0 and whole + latency < s[c + layout.WATCHED]:
            watch_credits(s, q, channel, c)
    return True


@helper
def queued(s, channel, now, each):
    """Return the packets of `each` ticks that a router's port has yet to send, or begun to.

    Most ports have none; then neither a division nor the line with N_PENDING is needed: a third
    more packet-hops a second with UGAL-G, which asks every port in each window, together with what
    is inlined (tests/benchmarks/test_open_loop.py).
    """
    c = layout.channel_cells(s, channel)
    waiting = np.int64(0)
    if s[c + layout.WAITING_SINCE] != layout.NEVER:
        waiting = s[c + layout.N_PENDING]
    backlog = s[c + layout.NEXT_FREE] - now
    if backlog > 0:
        waiting += (backlog + each - 1) // each
    return waiting
