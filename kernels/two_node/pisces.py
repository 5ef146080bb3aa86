"""PISCES: packets through a NIC, a crossbar that both directions share, and output buffers.

Each stage wants credit for the packet, then bandwidth from its arbiter; the credit of the stage
before goes back when the head leaves. A packet that finds no credit waits, and a smaller one
may pass it.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node.arbiters import arbitrate, reset
from kernels.two_node.layout import (
    ARBITER_LINK,
    ARBITER_NIC,
    ARBITER_XBAR,
    AT,
    COUNT,
    CREDITS,
    EXCHANGE,
    EXTRA,
    INJECT,
    N_ARBITERS,
    NIC,
    NIC_CREDIT,
    NIC_IN,
    P_EJECT_LATENCY,
    P_INJECT_ARBITER,
    P_INJECT_BYTE,
    P_INJECT_LATENCY,
    P_LINK_ARBITER,
    P_LINK_BYTE,
    P_MTU,
    P_NIC_CREDITS,
    P_SWITCH_CREDITS,
    P_XBAR_ARBITER,
    P_XBAR_BYTE,
    PENDING,
    PORT_CREDIT,
    SWITCH,
    SWITCH_IN,
    T_COMPLETE,
    T_NOTICE,
    WORD,
    XBAR_CREDITS,
    XBAR_PENDING,
    bytes_of,
    kind_of,
    port_cells,
    resized,
    source_of,
    span,
)
from kernels.two_node.queues import append, drop, entry, remove, schedule


@helper("void(i8[::1], i8[::1])", cache=True, nogil=True, _nrt=False)
def start(s, p):
    """Give every stage its credits and every arbiter one endless idle epoch."""
    for node in range(2):
        s[port_cells(node) + CREDITS] = p[P_NIC_CREDITS]
        s[port_cells(2 + node) + CREDITS] = p[P_SWITCH_CREDITS]
        s[port_cells(2 + node) + XBAR_CREDITS] = p[P_SWITCH_CREDITS]
    for arbiter in range(N_ARBITERS):
        reset(s, arbiter)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def inject_packets(s, p, now, node):
    """Inject packets while there is credit for a full one."""
    row = INJECT + node
    while s[COUNT + row] > 0 and s[port_cells(node) + CREDITS] >= p[P_MTU]:
        first = entry(s, row, 0)
        size = min(p[P_MTU], s[first + AT])
        word = resized(s[first + WORD], size)
        s[first + AT] -= size
        last = s[first + AT] == 0
        if last:
            drop(s, row)
        s[port_cells(node) + CREDITS] -= size
        head, tail, delay = arbitrate(
            s, p, ARBITER_NIC + node, p[P_INJECT_ARBITER], p[P_INJECT_BYTE], now, size, 0
        )
        schedule(s, SWITCH_IN + 2 * node, head + p[P_INJECT_LATENCY], word, delay)
        if last and kind_of(word) == EXCHANGE:
            schedule(s, NIC + 3 * (1 - node), tail, 0, T_NOTICE)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def send_message(s, p, now, node, word):
    """Queue a message at a NIC and inject as many of its packets as have credit."""
    append(s, INJECT + node, bytes_of(word), word, 0)
    if s[COUNT + INJECT + node] == 1:
        inject_packets(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def nic_credit(s, p, now, node, n_bytes):
    """Handle a credit at a NIC."""
    s[port_cells(node) + CREDITS] += n_bytes
    inject_packets(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def cross(s, p, now, source, word, delay):
    """Send a packet over the crossbar to its output buffer."""
    size = bytes_of(word)
    s[port_cells(2 + source) + XBAR_CREDITS] -= size
    head, _, delay = arbitrate(
        s, p, ARBITER_XBAR, p[P_XBAR_ARBITER], p[P_XBAR_BYTE], now, size, delay
    )
    schedule(s, NIC_CREDIT + 2 * source, head + p[P_INJECT_LATENCY], size << 24, 0)
    schedule(s, SWITCH, head, word, delay)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def switch_in(s, p, now, source, word, delay):
    """Receive a packet at the crossbar."""
    if s[port_cells(2 + source) + XBAR_CREDITS] >= bytes_of(word):
        cross(s, p, now, source, word, delay)
    else:
        append(s, XBAR_PENDING + source, 0, word, delay)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def leave(s, p, now, source, word, delay):
    """Send a packet from an output buffer to the NIC."""
    size = bytes_of(word)
    s[port_cells(2 + source) + CREDITS] -= size
    head, _, delay = arbitrate(
        s, p, ARBITER_LINK + source, p[P_LINK_ARBITER], p[P_LINK_BYTE], now, size, delay
    )
    schedule(s, SWITCH, head, size << 24 | source << 4, 0)
    schedule(s, NIC_IN + 2 * (1 - source), head + p[P_EJECT_LATENCY], word, delay)


@helper("i8(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def first_that_fits(s, row, credits):
    """Return the position of the first waiting packet the credits suffice for, or -1."""
    for i in range(s[COUNT + row]):
        if bytes_of(s[entry(s, row, i) + WORD]) <= credits:
            return i
    return -1


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def switch_timer(s, p, now, word, delay):
    """Handle what moves inside the switch: a packet at an output buffer, or a credit back."""
    if word & 7:
        source = source_of(word)
        if s[port_cells(2 + source) + CREDITS] >= bytes_of(word):
            leave(s, p, now, source, word, delay)
        else:
            append(s, PENDING + 2 + source, 0, word, delay)
        return
    source = word >> 4 & 1
    s[port_cells(2 + source) + XBAR_CREDITS] += bytes_of(word)
    i = first_that_fits(s, XBAR_PENDING + source, s[port_cells(2 + source) + XBAR_CREDITS])
    if i >= 0:
        here = entry(s, XBAR_PENDING + source, i)
        word, delay = s[here + WORD], s[here + EXTRA]
        remove(s, XBAR_PENDING + source, i)
        cross(s, p, now, source, word, delay)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def port_credit(s, p, now, source, n_bytes):
    """Handle a NIC's credit at an output buffer."""
    s[port_cells(2 + source) + CREDITS] += n_bytes
    row = PENDING + 2 + source
    i = first_that_fits(s, row, s[port_cells(2 + source) + CREDITS])
    while i >= 0:
        here = entry(s, row, i)
        word, delay = s[here + WORD], s[here + EXTRA]
        remove(s, row, i)
        leave(s, p, now, source, word, delay)
        i = first_that_fits(s, row, s[port_cells(2 + source) + CREDITS])


@helper("b1(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def nic_in(s, p, now, node, word, delay):
    """Receive a packet's head at a NIC; return True if the packet is there as a whole."""
    if delay == 0:
        return True
    whole = now + (delay if delay < 0 else span(bytes_of(word), delay))
    schedule(s, NIC + 3 * (1 - node), whole, word, T_COMPLETE)
    return False


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def return_credit(s, p, now, node, word):
    """Return the credit of a completed packet to the switch."""
    schedule(s, PORT_CREDIT + 2 * node, now + p[P_EJECT_LATENCY], bytes_of(word) << 24, 0)
