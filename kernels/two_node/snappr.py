"""SNAPPR: packets through a NIC's injection port and a switch's ejection port, with credits.

An output port sends packets in the order in which they got credit. A packet takes its credits when
it enters the port's queue; one that finds too few waits, and a smaller one may pass it. Only the
head of a packet travels: its serialisation keeps the port busy but is not added to the arrival,
so the last packet of a message is never charged for it (the `repaired` variant charges it at the
receiving NIC, see `nic_in`).
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.queues import append, append_packets, drop, entry, schedule

UNLIMITED = 2**32 - 1


@helper("void(i8[::1], i8[::1])", _nrt=False)
def start(s, p):
    """Give every port its credits and every NIC its buffer."""
    for node in range(2):
        s[layout.nic_cells(node) + layout.BUFFER] = p[layout.P_BUFFER]
        s[layout.port_cells(node) + layout.CREDITS] = (
            p[layout.P_NIC_CREDITS] if p[layout.P_FLOW_CONTROL] else UNLIMITED
        )
        s[layout.port_cells(2 + node) + layout.CREDITS] = (
            p[layout.P_SWITCH_CREDITS] if p[layout.P_FLOW_CONTROL] else UNLIMITED
        )


@helper("void(i8[::1], i8)", _nrt=False)
def schedule_arbitration(s, port):
    """Wake a port when it has sent its current packet."""
    row = layout.SWITCH if port >= 2 else layout.NODE + 3 * (1 - port)
    schedule(s, row, s[layout.port_cells(port) + layout.NEXT_FREE], port << 24, layout.T_ARBITRATE)
    s[layout.port_cells(port) + layout.ARBITRATING] = 1


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def leave(s, p, now, source, word):
    """Send a packet's head from the switch to its NIC."""
    schedule(s, layout.NIC_IN + 2 * (1 - source), now + p[layout.P_EJECT_LATENCY], word, 0)


@helper("void(i8[::1], i8[::1], i8, i8)", _nrt=False)
def arbitrate(s, p, now, port):
    """Send the first packet of a port's queue, if it has one."""
    s[layout.port_cells(port) + layout.ARBITRATING] = 0
    row = layout.READY + port
    if s[layout.COUNT + row] == 0:
        return
    first = entry(s, row, 0)
    word = s[first + layout.WORD]
    s[first + layout.EXTRA] -= 1
    if s[first + layout.EXTRA] == 0:
        drop(s, row)
    size = layout.bytes_of(word)
    if port < 2:
        overhead = p[layout.P_INJECT_FLIT]
        busy = layout.span(size, p[layout.P_INJECT_BYTE]) + overhead
        schedule(
            s, layout.SWITCH_IN + 2 * port, now + overhead + p[layout.P_INJECT_LATENCY], word, 0
        )
        if layout.kind_of(word) == layout.EXCHANGE:
            s[layout.nic_cells(port) + layout.NOT_INJECTED] -= size
            if s[layout.nic_cells(port) + layout.NOT_INJECTED] == 0:
                schedule(s, layout.NIC + 3 * (1 - port), now + busy, 0, layout.T_NOTICE)
    else:
        overhead = p[layout.P_LINK_FLIT]
        busy = layout.span(size, p[layout.P_LINK_BYTE]) + overhead
        source = port - 2
        leave(s, p, now + overhead, source, word)
        if p[layout.P_FLOW_CONTROL]:
            back = now + busy + p[layout.P_INJECT_LATENCY]
            schedule(s, layout.NIC_CREDIT + 2 * source, back, size << 24, 0)
    if not p[layout.P_FLOW_CONTROL]:
        s[layout.port_cells(port) + layout.CREDITS] += size
    s[layout.port_cells(port) + layout.NEXT_FREE] = now + busy
    if s[layout.COUNT + row] > 0:
        schedule_arbitration(s, port)


@helper("void(i8[::1], i8[::1], i8, i8)", _nrt=False)
def request(s, p, now, port):
    """Arbitrate a port now, or when it is free."""
    if s[layout.port_cells(port) + layout.NEXT_FREE] > now:
        schedule_arbitration(s, port)
    else:
        arbitrate(s, p, now, port)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", _nrt=False)
def insert(s, p, now, port, word, n):
    """Queue `n` equal packets at a port; those without credit wait."""
    size = layout.bytes_of(word)
    able = min(n, s[layout.port_cells(port) + layout.CREDITS] // size)
    if able > 0:
        s[layout.port_cells(port) + layout.CREDITS] -= able * size
        append_packets(s, layout.READY + port, word, able)
    if n > able:
        append_packets(s, layout.PENDING + port, word, n - able)
    if not s[layout.port_cells(port) + layout.ARBITRATING]:
        request(s, p, now, port)


@helper("void(i8[::1], i8[::1], i8, i8)", _nrt=False)
def fill_buffer(s, p, now, node):
    """Hand packets to the injection port while the NIC's buffer has room for the next one."""
    row = layout.INJECT + node
    mtu = p[layout.P_MTU]
    while s[layout.COUNT + row] > 0:
        first = entry(s, row, 0)
        left = s[first + layout.AT]
        size = min(mtu, left)
        room = s[layout.nic_cells(node) + layout.BUFFER]
        if size > room:
            return
        n = max(1, left // mtu)
        if p[layout.P_FLOW_CONTROL]:
            n = min(n, room // size)
            s[layout.nic_cells(node) + layout.BUFFER] -= n * size
        s[first + layout.AT] -= n * size
        word = s[first + layout.WORD]
        if s[first + layout.AT] == 0:
            drop(s, row)
        insert(s, p, now, node, layout.resized(word, size), n)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def send_message(s, p, now, node, word):
    """Queue a message at a NIC and cut it into packets as far as the NIC's buffer allows."""
    append(s, layout.INJECT + node, layout.bytes_of(word), word, 0)
    fill_buffer(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def add_credits(s, p, now, port, n_bytes):
    """Return credits to a port; waiting packets enter its queue, in order, while they fit."""
    s[layout.port_cells(port) + layout.CREDITS] += n_bytes
    row = layout.PENDING + port
    while s[layout.COUNT + row] > 0:
        first = entry(s, row, 0)
        size = layout.bytes_of(s[first + layout.WORD])
        able = min(s[first + layout.EXTRA], s[layout.port_cells(port) + layout.CREDITS] // size)
        if able == 0:
            break
        s[layout.port_cells(port) + layout.CREDITS] -= able * size
        append_packets(s, layout.READY + port, s[first + layout.WORD], able)
        s[first + layout.EXTRA] -= able
        if s[first + layout.EXTRA] == 0:
            drop(s, row)
    if (
        not s[layout.port_cells(port) + layout.ARBITRATING]
        and s[layout.COUNT + layout.READY + port] + s[layout.COUNT + row] > 0
    ):
        request(s, p, now, port)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def switch_port(s, p, now, source, word):
    """Hand a packet to the switch's port; without congestion it leaves at once."""
    if p[layout.P_CONGESTION]:
        insert(s, p, now, 2 + source, word, 1)
    else:
        leave(s, p, now, source, word)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def nic_credit(s, p, now, node, n_bytes):
    """Handle a credit at a NIC: the buffer first, then the port, in SST/macro's order."""
    s[layout.nic_cells(node) + layout.BUFFER] += n_bytes
    fill_buffer(s, p, now, node)
    add_credits(s, p, now, node, n_bytes)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def switch_in(s, p, now, source, word):
    """Route a packet at the switch; its tail cannot leave before it has arrived."""
    size = layout.bytes_of(word)
    wait = layout.span(size, p[layout.P_INJECT_BYTE]) - layout.span(size, p[layout.P_LINK_BYTE])
    if wait > 0:
        schedule(s, layout.SWITCH, now + wait, word, layout.T_QUEUE)
    else:
        switch_port(s, p, now, source, word)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def return_credit(s, p, now, node, word):
    """Return the credit of a packet to the switch."""
    if p[layout.P_FLOW_CONTROL]:
        back = layout.bytes_of(word) << 24
        schedule(s, layout.PORT_CREDIT + 2 * node, now + p[layout.P_EJECT_LATENCY], back, 0)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def eject(s, p, now, node, word):
    """Return a packet's credit and complete it, in an event of its own at the same tick."""
    return_credit(s, p, now, node, word)
    schedule(s, layout.NIC + 3 * (1 - node), now, word, layout.T_COMPLETE)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def nic_in(s, p, now, node, word):
    """Receive a packet at a NIC.

    SST/macro waits for what is left of the packet's arrival if the NIC is faster than the link,
    and takes no time to take it in. Repaired, the tail must be there, a NIC slower than what feeds
    it lags behind by the difference, and it takes in one packet after the other.
    """
    size = layout.bytes_of(word)
    taking = layout.span(size, p[layout.P_NIC_BYTE])
    arriving = layout.span(size, p[layout.P_LINK_BYTE])
    wait = max(0, arriving - taking)
    if p[layout.P_REPAIRED]:
        lag = max(0, taking - max(arriving, layout.span(size, p[layout.P_INJECT_BYTE])))
        done = max(now + arriving + lag, s[layout.nic_cells(node) + layout.IN_FREE] + taking)
        s[layout.nic_cells(node) + layout.IN_FREE] = done
        schedule(s, layout.NIC + 3 * (1 - node), done, word, layout.T_COMPLETE)
    elif wait > 0:
        schedule(s, layout.NIC + 3 * (1 - node), now + wait, word, layout.T_EJECT)
    else:
        eject(s, p, now, node, word)
