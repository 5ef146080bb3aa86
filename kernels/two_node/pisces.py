"""PISCES: packets through a NIC, a crossbar that both directions share, and output buffers.

Each stage wants credit for the packet, then bandwidth from its arbiter; the credit of the stage
before goes back when the head leaves. A packet that finds no credit waits, and a smaller one
may pass it.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.arbiters import arbitrate, reset
from kernels.two_node.queues import append, drop, entry, remove, schedule


@helper("void(i8[::1], i8[::1])", _nrt=False)
def start(s, p):
    """Give every stage its credits and every arbiter one endless idle epoch."""
    for node in range(2):
        s[layout.port_cells(node) + layout.CREDITS] = p[layout.P_NIC_CREDITS]
        s[layout.port_cells(2 + node) + layout.CREDITS] = p[layout.P_SWITCH_CREDITS]
        s[layout.port_cells(2 + node) + layout.XBAR_CREDITS] = p[layout.P_SWITCH_CREDITS]
    for arbiter in range(layout.N_ARBITERS):
        reset(s, arbiter)


@helper("void(i8[::1], i8[::1], i8, i8)", _nrt=False)
def inject_packets(s, p, now, node):
    """Inject packets while there is credit for a full one."""
    row = layout.INJECT + node
    while (
        s[layout.COUNT + row] > 0 and s[layout.port_cells(node) + layout.CREDITS] >= p[layout.P_MTU]
    ):
        first = entry(s, row, 0)
        size = min(p[layout.P_MTU], s[first + layout.AT])
        word = layout.resized(s[first + layout.WORD], size)
        s[first + layout.AT] -= size
        last = s[first + layout.AT] == 0
        if last:
            drop(s, row)
        s[layout.port_cells(node) + layout.CREDITS] -= size
        head, tail, delay = arbitrate(
            s,
            p,
            layout.ARBITER_NIC + node,
            p[layout.P_INJECT_ARBITER],
            p[layout.P_INJECT_BYTE],
            now,
            size,
            0,
        )
        schedule(s, layout.SWITCH_IN + 2 * node, head + p[layout.P_INJECT_LATENCY], word, delay)
        if last and layout.kind_of(word) == layout.EXCHANGE:
            schedule(s, layout.NIC + 3 * (1 - node), tail, 0, layout.T_NOTICE)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def send_message(s, p, now, node, word):
    """Queue a message at a NIC and inject as many of its packets as have credit."""
    append(s, layout.INJECT + node, layout.bytes_of(word), word, 0)
    if s[layout.COUNT + layout.INJECT + node] == 1:
        inject_packets(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def nic_credit(s, p, now, node, n_bytes):
    """Handle a credit at a NIC."""
    s[layout.port_cells(node) + layout.CREDITS] += n_bytes
    inject_packets(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", _nrt=False)
def cross(s, p, now, source, word, delay):
    """Send a packet over the crossbar to its output buffer."""
    size = layout.bytes_of(word)
    s[layout.port_cells(2 + source) + layout.XBAR_CREDITS] -= size
    head, _, delay = arbitrate(
        s, p, layout.ARBITER_XBAR, p[layout.P_XBAR_ARBITER], p[layout.P_XBAR_BYTE], now, size, delay
    )
    schedule(s, layout.NIC_CREDIT + 2 * source, head + p[layout.P_INJECT_LATENCY], size << 24, 0)
    schedule(s, layout.SWITCH, head, word, delay)


@helper("void(i8[::1], i8, i8, i8, i8)", _nrt=False)
def wait(s, row, cell, word, delay):
    """Add a packet to those that wait; the cell is no more than the size of each of them."""
    size = layout.bytes_of(word)
    if s[layout.COUNT + row] == 0 or size < s[cell]:
        s[cell] = size
    append(s, row, 0, word, delay)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", _nrt=False)
def switch_in(s, p, now, source, word, delay):
    """Receive a packet at the crossbar."""
    if s[layout.port_cells(2 + source) + layout.XBAR_CREDITS] >= layout.bytes_of(word):
        cross(s, p, now, source, word, delay)
    else:
        cell = layout.port_cells(2 + source) + layout.LEAST_AT_XBAR
        wait(s, layout.XBAR_PENDING + source, cell, word, delay)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", _nrt=False)
def leave(s, p, now, source, word, delay):
    """Send a packet from an output buffer to the NIC."""
    size = layout.bytes_of(word)
    s[layout.port_cells(2 + source) + layout.CREDITS] -= size
    head, _, delay = arbitrate(
        s,
        p,
        layout.ARBITER_LINK + source,
        p[layout.P_LINK_ARBITER],
        p[layout.P_LINK_BYTE],
        now,
        size,
        delay,
    )
    schedule(s, layout.SWITCH, head, size << 24 | source << 4, 0)
    schedule(s, layout.NIC_IN + 2 * (1 - source), head + p[layout.P_EJECT_LATENCY], word, delay)


@helper("i8(i8[::1], i8, i8, i8)", _nrt=False)
def first_that_fits(s, row, cell, credits):
    """Return the position of the first waiting packet the credits suffice for, or -1."""
    if s[layout.COUNT + row] == 0 or credits < s[cell]:
        return -1
    least = layout.bytes_of(s[entry(s, row, 0) + layout.WORD])
    for i in range(s[layout.COUNT + row]):
        size = layout.bytes_of(s[entry(s, row, i) + layout.WORD])
        if size <= credits:
            return i
        least = min(least, size)
    s[cell] = least
    return -1


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def switch_timer(s, p, now, word, delay):
    """Handle an event inside the switch: a packet at an output buffer, or a credit back."""
    if word & 7:
        source = layout.source_of(word)
        if s[layout.port_cells(2 + source) + layout.CREDITS] >= layout.bytes_of(word):
            leave(s, p, now, source, word, delay)
        else:
            cell = layout.port_cells(2 + source) + layout.LEAST_PENDING
            wait(s, layout.PENDING + 2 + source, cell, word, delay)
        return
    source = word >> 4 & 1
    port = layout.port_cells(2 + source)
    s[port + layout.XBAR_CREDITS] += layout.bytes_of(word)
    i = first_that_fits(
        s,
        layout.XBAR_PENDING + source,
        port + layout.LEAST_AT_XBAR,
        s[port + layout.XBAR_CREDITS],
    )
    if i >= 0:
        here = entry(s, layout.XBAR_PENDING + source, i)
        word, delay = s[here + layout.WORD], s[here + layout.EXTRA]
        remove(s, layout.XBAR_PENDING + source, i)
        cross(s, p, now, source, word, delay)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def port_credit(s, p, now, source, n_bytes):
    """Handle a NIC's credit at an output buffer."""
    port = layout.port_cells(2 + source)
    s[port + layout.CREDITS] += n_bytes
    row = layout.PENDING + 2 + source
    i = first_that_fits(s, row, port + layout.LEAST_PENDING, s[port + layout.CREDITS])
    while i >= 0:
        here = entry(s, row, i)
        word, delay = s[here + layout.WORD], s[here + layout.EXTRA]
        remove(s, row, i)
        leave(s, p, now, source, word, delay)
        i = first_that_fits(s, row, port + layout.LEAST_PENDING, s[port + layout.CREDITS])


@helper("b1(i8[::1], i8[::1], i8, i8, i8, i8)", _nrt=False)
def nic_in(s, p, now, node, word, delay):
    """Receive a packet's head at a NIC; return True if the packet is there as a whole."""
    if delay == 0:
        return True
    whole = now + (delay if delay < 0 else layout.span(layout.bytes_of(word), delay))
    schedule(s, layout.NIC + 3 * (1 - node), whole, word, layout.T_COMPLETE)
    return False


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def return_credit(s, p, now, node, word):
    """Return the credit of a completed packet to the switch."""
    schedule(
        s,
        layout.PORT_CREDIT + 2 * node,
        now + p[layout.P_EJECT_LATENCY],
        layout.bytes_of(word) << 24,
        0,
    )
