"""PISCES' network interfaces: packets are sent while there is credit for a full one.

A message is cut into packets as credits arrive; the sender is notified when the tail of the last
one has left. A packet is complete when its tail has arrived; its credits are then returned.
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.fabric import layout
from kernels.fabric.arbiters import arbitrate
from kernels.fabric.entering import count_cut
from kernels.fabric.lists import add_credit, take_credit
from kernels.fabric.pisces_cells import DELAY, INJECTION_KIND, channel_cell, scarce
from kernels.fabric.ports import put_on_channel, return_credit, take_at_host


@helper
def _send_packet(s, q, now, host, message, size):
    """Put one packet on the wire; return when its tail leaves."""
    h = layout.host_cells(s, host)
    channel = layout.injection_channel(s, host)
    c = layout.channel_cells(s, channel)
    p = layout.port_cells(s, channel)
    kind = s[s[layout.AT_MODEL] + INJECTION_KIND]
    head, tail, delay = arbitrate(
        s,
        q,
        channel_cell(s, channel),
        kind,
        s[p + layout.BYTE],
        now,
        size,
        s[layout.MESSAGE_BYTE],
    )
    s[c + layout.NEXT_FREE] = max(s[c + layout.NEXT_FREE], tail)
    s[c + layout.BYTES_SENT] += size
    s[c + layout.PACKETS_SENT] += 1
    s[layout.HOPS_TAKEN] += 1
    packet = layout.take_record(s, q)
    s[h + layout.NEXT_PACKET] += 1
    target = q[message + layout.M_ENDS] & layout.SIZE_MASK
    router = s[layout.host_cells(s, target) + layout.ROUTER]
    q[packet + layout.SIZE] = (s[h + layout.NEXT_PACKET] & 0x7FFFFFFF) << 32 | size
    q[packet + layout.MESSAGE] = message
    q[packet + layout.ENDS] = host << 42 | target << 20 | router
    q[packet + layout.PATH] = 0
    q[packet + DELAY] = delay
    put_on_channel(s, q, c, channel << 8, packet, head + s[p + layout.LATENCY])
    return tail


@helper
def send_packets(s, q, now, host):
    """Send packets of the first message while there is credit for a whole one.

    If records run out, a credit of no bytes, due at once, resumes sending. Of a message that enters
    slowly one packet is sent.

    Returns:
        The tick at which the message's tail leaves, or -1 if something of it is left.
    """
    h = layout.host_cells(s, host)
    c = layout.channel_cells(s, layout.injection_channel(s, host))
    v = layout.lane_cells(s, layout.injection_channel(s, host), 0)
    message = s[h + layout.INJECT_FIRST]
    while (
        s[h + layout.INJECT_FIRST] == message
        and s[v + layout.CREDITS] >= s[layout.MTU]
        and now >= s[c + layout.ENTERS_UNTIL]
    ):
        if scarce(s, q):
            add_credit(s, c, now, 0, 0)
            break
        size = min(s[layout.MTU], s[h + layout.LEFT_TO_CUT])
        s[v + layout.CREDITS] -= size
        tail = _send_packet(s, q, now, host, message, size)
        if count_cut(s, q, now, host, size) == 0:
            return tail
    return np.int64(-1)


@helper
def take_credits(s, host):
    """Take the injection port's next credit."""
    channel = layout.injection_channel(s, host)
    n_bytes = take_credit(s, layout.channel_cells(s, channel)) & layout.SIZE_MASK
    s[layout.lane_cells(s, channel, 0) + layout.CREDITS] += n_bytes


@helper
def take_head(s, q, host):
    """Take the first packet at a host; return it and the ticks until its tail is here."""
    h = layout.host_cells(s, host)
    packet = take_at_host(s, q, host, h)
    return packet, layout.span(q[packet + layout.SIZE] & layout.SIZE_MASK, q[packet + DELAY])


@helper
def release_credits(s, q, now, host, packet):
    """Return the credits of a packet whose tail is here."""
    return_credit(
        s, q, layout.ejection_channel(s, host), now, 0, q[packet + layout.SIZE] & layout.SIZE_MASK
    )
