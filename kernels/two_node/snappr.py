"""SNAPPR: packets through a NIC's injection port and a switch's ejection port, with credits.

An output port sends packets in the order in which they got credit. A packet takes its credits when
it enters the port's queue; one that finds too few waits, and a smaller one may pass it. Only the
head of a packet travels: its serialisation keeps the port busy but is not added to the arrival,
so the last packet of a message is never charged for it (the `repaired` variant charges it at the
receiving NIC, see `nic_in`).
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node.layout import (
    ARBITRATING,
    AT,
    BUFFER,
    COUNT,
    CREDITS,
    EXCHANGE,
    EXTRA,
    IN_FREE,
    INJECT,
    NEXT_FREE,
    NIC,
    NIC_CREDIT,
    NIC_IN,
    NODE,
    NOT_INJECTED,
    P_BUFFER,
    P_CONGESTION,
    P_EJECT_LATENCY,
    P_FLOW_CONTROL,
    P_INJECT_BYTE,
    P_INJECT_FLIT,
    P_INJECT_LATENCY,
    P_LINK_BYTE,
    P_LINK_FLIT,
    P_MTU,
    P_NIC_BYTE,
    P_NIC_CREDITS,
    P_REPAIRED,
    P_SWITCH_CREDITS,
    PENDING,
    PORT_CREDIT,
    READY,
    SWITCH,
    SWITCH_IN,
    T_ARBITRATE,
    T_COMPLETE,
    T_EJECT,
    T_NOTICE,
    T_QUEUE,
    WORD,
    bytes_of,
    kind_of,
    nic_cells,
    port_cells,
    resized,
    span,
)
from kernels.two_node.queues import append, append_packets, drop, entry, schedule

UNLIMITED = 2**32 - 1


@helper("void(i8[::1], i8[::1])", cache=True, nogil=True, _nrt=False)
def start(s, p):
    """Give every port its credits and every NIC its buffer."""
    for node in range(2):
        s[nic_cells(node) + BUFFER] = p[P_BUFFER]
        s[port_cells(node) + CREDITS] = p[P_NIC_CREDITS] if p[P_FLOW_CONTROL] else UNLIMITED
        s[port_cells(2 + node) + CREDITS] = p[P_SWITCH_CREDITS] if p[P_FLOW_CONTROL] else UNLIMITED


@helper("void(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def schedule_arbitration(s, port):
    """Wake a port when it has sent its current packet."""
    row = SWITCH if port >= 2 else NODE + 3 * (1 - port)
    schedule(s, row, s[port_cells(port) + NEXT_FREE], port << 24, T_ARBITRATE)
    s[port_cells(port) + ARBITRATING] = 1


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def leave(s, p, now, source, word):
    """Send a packet's head from the switch to its NIC."""
    schedule(s, NIC_IN + 2 * (1 - source), now + p[P_EJECT_LATENCY], word, 0)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def arbitrate(s, p, now, port):
    """Send the first packet of a port's queue, if it has one."""
    s[port_cells(port) + ARBITRATING] = 0
    row = READY + port
    if s[COUNT + row] == 0:
        return
    first = entry(s, row, 0)
    word = s[first + WORD]
    s[first + EXTRA] -= 1
    if s[first + EXTRA] == 0:
        drop(s, row)
    size = bytes_of(word)
    if port < 2:
        overhead = p[P_INJECT_FLIT]
        busy = span(size, p[P_INJECT_BYTE]) + overhead
        schedule(s, SWITCH_IN + 2 * port, now + overhead + p[P_INJECT_LATENCY], word, 0)
        if kind_of(word) == EXCHANGE:
            s[nic_cells(port) + NOT_INJECTED] -= size
            if s[nic_cells(port) + NOT_INJECTED] == 0:
                schedule(s, NIC + 3 * (1 - port), now + busy, 0, T_NOTICE)
    else:
        overhead = p[P_LINK_FLIT]
        busy = span(size, p[P_LINK_BYTE]) + overhead
        source = port - 2
        leave(s, p, now + overhead, source, word)
        if p[P_FLOW_CONTROL]:
            back = now + busy + p[P_INJECT_LATENCY]
            schedule(s, NIC_CREDIT + 2 * source, back, size << 24, 0)
    if not p[P_FLOW_CONTROL]:
        s[port_cells(port) + CREDITS] += size
    s[port_cells(port) + NEXT_FREE] = now + busy
    if s[COUNT + row] > 0:
        schedule_arbitration(s, port)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def request(s, p, now, port):
    """Let a port send now, or when it is free."""
    if s[port_cells(port) + NEXT_FREE] > now:
        schedule_arbitration(s, port)
    else:
        arbitrate(s, p, now, port)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def insert(s, p, now, port, word, n):
    """Queue `n` equal packets at a port; those without credit wait."""
    size = bytes_of(word)
    able = min(n, s[port_cells(port) + CREDITS] // size)
    if able > 0:
        s[port_cells(port) + CREDITS] -= able * size
        append_packets(s, READY + port, word, able)
    if n > able:
        append_packets(s, PENDING + port, word, n - able)
    if not s[port_cells(port) + ARBITRATING]:
        request(s, p, now, port)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def fill_buffer(s, p, now, node):
    """Hand packets to the injection port while the NIC's buffer has room for the next one."""
    row = INJECT + node
    mtu = p[P_MTU]
    while s[COUNT + row] > 0:
        first = entry(s, row, 0)
        left = s[first + AT]
        size = min(mtu, left)
        room = s[nic_cells(node) + BUFFER]
        if size > room:
            return
        n = max(1, left // mtu)
        if p[P_FLOW_CONTROL]:
            n = min(n, room // size)
            s[nic_cells(node) + BUFFER] -= n * size
        s[first + AT] -= n * size
        word = s[first + WORD]
        if s[first + AT] == 0:
            drop(s, row)
        insert(s, p, now, node, resized(word, size), n)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def send_message(s, p, now, node, word):
    """Queue a message at a NIC and cut it into packets as far as the NIC's buffer allows."""
    append(s, INJECT + node, bytes_of(word), word, 0)
    fill_buffer(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def add_credits(s, p, now, port, n_bytes):
    """Return credits to a port; waiting packets enter its queue, in order, while they fit."""
    s[port_cells(port) + CREDITS] += n_bytes
    row = PENDING + port
    while s[COUNT + row] > 0:
        first = entry(s, row, 0)
        size = bytes_of(s[first + WORD])
        able = min(s[first + EXTRA], s[port_cells(port) + CREDITS] // size)
        if able == 0:
            break
        s[port_cells(port) + CREDITS] -= able * size
        append_packets(s, READY + port, s[first + WORD], able)
        s[first + EXTRA] -= able
        if s[first + EXTRA] == 0:
            drop(s, row)
    if not s[port_cells(port) + ARBITRATING] and s[COUNT + READY + port] + s[COUNT + row] > 0:
        request(s, p, now, port)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def switch_port(s, p, now, source, word):
    """Hand a packet to the switch's port; without congestion it leaves at once."""
    if p[P_CONGESTION]:
        insert(s, p, now, 2 + source, word, 1)
    else:
        leave(s, p, now, source, word)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def nic_credit(s, p, now, node, n_bytes):
    """Handle a credit at a NIC: the buffer first, then the port, in SST/macro's order."""
    s[nic_cells(node) + BUFFER] += n_bytes
    fill_buffer(s, p, now, node)
    add_credits(s, p, now, node, n_bytes)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def switch_in(s, p, now, source, word):
    """Route a packet at the switch; its tail cannot leave before it has arrived."""
    size = bytes_of(word)
    wait = span(size, p[P_INJECT_BYTE]) - span(size, p[P_LINK_BYTE])
    if wait > 0:
        schedule(s, SWITCH, now + wait, word, T_QUEUE)
    else:
        switch_port(s, p, now, source, word)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def return_credit(s, p, now, node, word):
    """Return the credit of a packet to the switch."""
    if p[P_FLOW_CONTROL]:
        back = bytes_of(word) << 24
        schedule(s, PORT_CREDIT + 2 * node, now + p[P_EJECT_LATENCY], back, 0)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def eject(s, p, now, node, word):
    """Return a packet's credit and complete it, in an event of its own at the same tick."""
    return_credit(s, p, now, node, word)
    schedule(s, NIC + 3 * (1 - node), now, word, T_COMPLETE)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def nic_in(s, p, now, node, word):
    """Receive a packet at a NIC.

    SST/macro waits for what is left of the packet's arrival if the NIC is faster than the link,
    and takes no time to take it in. Repaired, the tail must be there, a NIC slower than what feeds
    it lags behind by the difference, and it takes in one packet after the other.
    """
    size = bytes_of(word)
    taking = span(size, p[P_NIC_BYTE])
    arriving = span(size, p[P_LINK_BYTE])
    wait = max(0, arriving - taking)
    if p[P_REPAIRED]:
        lag = max(0, taking - max(arriving, span(size, p[P_INJECT_BYTE])))
        done = max(now + arriving + lag, s[nic_cells(node) + IN_FREE] + taking)
        s[nic_cells(node) + IN_FREE] = done
        schedule(s, NIC + 3 * (1 - node), done, word, T_COMPLETE)
    elif wait > 0:
        schedule(s, NIC + 3 * (1 - node), now + wait, word, T_EJECT)
    else:
        eject(s, p, now, node, word)
