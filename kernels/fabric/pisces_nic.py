"""PISCES' network interfaces: packets go out while there is credit for a whole one.

A message is cut into packets as credits come; the sender is told when the tail of the last one has
left. A packet whose head has come in is complete when its tail is here; its credits then go back.
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.fabric.arbiters import arbitrate
from kernels.fabric.layout import (
    AT_MODEL,
    BUSY,
    BYTE,
    BYTES_SENT,
    CAME_BY,
    CREDITS,
    ENDS,
    HOPS_TAKEN,
    INJECT_FIRST,
    LATENCY,
    LEFT_TO_CUT,
    M_BYTES,
    M_ENDS,
    M_NEXT,
    MESSAGE,
    MTU,
    NEXT_FREE,
    NEXT_PACKET,
    NOTHING,
    PACKETS_SENT,
    PATH,
    ROUTER,
    SIZE,
    SIZE_MASK,
    channel_cells,
    ejection_channel,
    host_cells,
    injection_channel,
    lane_cells,
    span,
    take_record,
)
from kernels.fabric.lists import add_credit, take_credit
from kernels.fabric.pisces_cells import DELAY, INJECTION_KIND, channel_cell, scarce
from kernels.fabric.ports import put_on_channel, return_credit, take_at_host


@helper("i8(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _send_packet(s, q, now, host, message, size):
    """Put one packet on the wire; return when its tail leaves."""
    h = host_cells(s, host)
    channel = injection_channel(s, host)
    c = channel_cells(s, channel)
    kind = s[s[AT_MODEL] + INJECTION_KIND]
    head, tail, delay = arbitrate(
        s, q, channel_cell(s, channel), kind, s[c + BYTE], now, size, np.int64(0)
    )
    s[c + NEXT_FREE] = max(s[c + NEXT_FREE], tail)
    s[c + BUSY] += span(size, s[c + BYTE])
    s[c + BYTES_SENT] += size
    s[c + PACKETS_SENT] += 1
    s[HOPS_TAKEN] += 1
    packet = take_record(s, q)
    s[h + NEXT_PACKET] += 1
    target = q[message + M_ENDS] & SIZE_MASK
    router = s[host_cells(s, target) + ROUTER]
    q[packet + SIZE] = (s[h + NEXT_PACKET] & 0x7FFFFFFF) << 32 | size
    q[packet + MESSAGE] = message
    q[packet + ENDS] = host << 42 | target << 20 | router
    q[packet + CAME_BY] = channel << 8
    q[packet + PATH] = 0
    q[packet + DELAY] = delay
    put_on_channel(s, q, c, packet, head + s[c + LATENCY])
    return tail


@helper("i8(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def send_packets(s, q, now, host):
    """Send packets of the first message while there is credit for a whole one.

    Where records run short a credit of no bytes, due at once, sees to it that sending goes on.

    Returns:
        The tick at which the message's tail leaves, or -1 if something of it is left.
    """
    h = host_cells(s, host)
    v = lane_cells(s, injection_channel(s, host), 0)
    message = s[h + INJECT_FIRST]
    while s[v + CREDITS] >= s[MTU]:
        if scarce(s, q):
            add_credit(s, channel_cells(s, injection_channel(s, host)), now, 0)
            break
        size = min(s[MTU], s[h + LEFT_TO_CUT])
        s[v + CREDITS] -= size
        s[h + LEFT_TO_CUT] -= size
        tail = _send_packet(s, q, now, host, message, size)
        if s[h + LEFT_TO_CUT] == 0:
            following = q[message + M_NEXT]
            s[h + INJECT_FIRST] = following
            if following != NOTHING:
                s[h + LEFT_TO_CUT] = q[following + M_BYTES]
            return tail
    return np.int64(-1)


@helper("void(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def take_credits(s, host):
    """Take the injection port's next credit."""
    channel = injection_channel(s, host)
    n_bytes = take_credit(s, channel_cells(s, channel)) & SIZE_MASK
    s[lane_cells(s, channel, 0) + CREDITS] += n_bytes


@helper("UniTuple(i8, 2)(i8[::1], i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def take_head(s, q, host):
    """Take the first packet at a host; return it and the ticks until its tail is here."""
    h = host_cells(s, host)
    packet = take_at_host(s, q, channel_cells(s, ejection_channel(s, host)), h)
    return packet, span(q[packet + SIZE] & SIZE_MASK, q[packet + DELAY])


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def give_back(s, q, now, host, packet):
    """Return the credits of a packet whose tail is here."""
    return_credit(s, ejection_channel(s, host), now, 0, q[packet + SIZE] & SIZE_MASK)
