"""SNAPPR: packets through a NIC's injection port and a switch's ejection port, with credits.

An output port sends packets in the order in which they got credit. A packet takes its credits when
it enters the port's queue; one that finds too few waits, and a smaller one may pass it. Only the
head of a packet travels: its serialisation keeps the port busy but is not added to the arrival,
so the last packet of a message is never charged for it (the `repaired` variant charges it at the
receiving NIC, see `receive`).

A packet that has its credit leaves when the port has sent those before it. So its departure is
known at once, and a port has neither a queue nor an event when it is free. Of a train, all packets
are handled at once that nothing else can come between; each such place says why. Packet by packet,
268 trials of Table II and its corners took 371 ms in the mean and 7.4 s at most, instead of 24 ms
and 0.46 s (tests/benchmarks/test_two_node.py).
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.messages import count_ahead
from kernels.two_node.queues import append, append_packets, append_train, drop, entry, schedule
from kernels.two_node.trains import how_many, later, next_part


@helper
def start(s, p):
    """Give every port its credits and every NIC its buffer."""
    for node in range(2):
        s[layout.nic_cells(node) + layout.BUFFER] = p[layout.P_BUFFER]
        s[layout.port_cells(node) + layout.CREDITS] = p[layout.P_NIC_CREDITS]
        s[layout.port_cells(2 + node) + layout.CREDITS] = p[layout.P_SWITCH_CREDITS]


@helper
def next_elsewhere(s, one, two, three):
    """Return the tick of the earliest event that is in none of three rows."""
    best = layout.NEVER
    for row in range(layout.N_EVENT):
        if s[layout.DUE + row] < best and row != one and row != two and row != three:
            best = s[layout.DUE + row]
    return best


@helper
def arrival_row(p, source):
    """Return the row of packets that reach the switch; a tail that is later is waited for."""
    if p[layout.P_INJECT_BYTE] > p[layout.P_LINK_BYTE]:
        return layout.SWITCH + source
    return layout.SWITCH_IN + 2 * source


@helper
def taken_in(s, p, node, at, size, n, step):
    """Send back the credits of packets that a NIC has taken in."""
    if p[layout.P_FLOW_CONTROL]:
        append_train(
            s, layout.PORT_CREDIT + 2 * node, at + p[layout.P_EJECT_LATENCY], size << 24, n, step, 0
        )


@helper
def complete(s, p, now, node, word, n, step):
    """Count packets that are there as a whole; one that ends its message is an event.

    Those before it change nothing else, so they are counted ahead of their time. A message's
    packets are complete in the order in which the switch sends them: what a shorter one waits less
    for its tail, a longer one before it has kept the link busy. That is so with congestion only.
    """
    counted = count_ahead(s, p, node, word, n) if p[layout.P_CONGESTION] else 0
    for i in range(counted, n):
        schedule(s, layout.NIC + 3 * (1 - node), now + i * step, word, layout.T_COMPLETE)


@helper
def receive(s, p, now, node, word, n, step):
    """Receive packets at a NIC; those that do not complete their message only count.

    SST/macro waits for what is left of the packet's arrival if the NIC is faster than the link,
    and takes no time to take it in. Repaired, the tail must be there, a NIC slower than what feeds
    it lags behind by the difference, and it takes in one packet after the other.
    """
    size = layout.bytes_of(word)
    taking = layout.span(size, p[layout.P_NIC_BYTE])
    arriving = layout.span(size, p[layout.P_LINK_BYTE])
    if not p[layout.P_REPAIRED]:
        taken_in(s, p, node, now + max(0, arriving - taking), size, n, step)
        complete(s, p, now + max(0, arriving - taking), node, word, n, step)
        return
    lag = max(0, taking - max(arriving, layout.span(size, p[layout.P_INJECT_BYTE])))
    ready = now + arriving + lag
    cell = layout.nic_cells(node) + layout.IN_FREE
    while n > 0:
        part, done, every = next_part(ready, n, step, s[cell] + taking, taking)
        s[cell] = done + (part - 1) * every
        taken_in(s, p, node, done, size, part, every)
        complete(s, p, done, node, word, part, every)
        ready += part * step
        n -= part


@helper
def leave(s, p, now, source, word, n, step):
    """Send packets' heads from the switch to their NIC."""
    receive(s, p, now + p[layout.P_EJECT_LATENCY], 1 - source, word, n, step)


@helper
def send(s, p, port, word, now, n, step, busy):
    """Send packets' heads at `now`, `now + step`, ..., each of which keeps the port busy."""
    size = layout.bytes_of(word)
    if port < 2:
        arrives = now + p[layout.P_INJECT_FLIT] + p[layout.P_INJECT_LATENCY]
        tail = layout.span(size, p[layout.P_INJECT_BYTE]) - layout.span(size, p[layout.P_LINK_BYTE])
        append_train(s, arrival_row(p, port), arrives + max(0, tail), word, n, step, 0)
        if layout.kind_of(word) == layout.EXCHANGE:
            s[layout.nic_cells(port) + layout.NOT_INJECTED] -= n * size
            if s[layout.nic_cells(port) + layout.NOT_INJECTED] == 0:
                sent = now + (n - 1) * step + busy
                schedule(s, layout.NIC + 3 * (1 - port), sent, 0, layout.T_NOTICE)
        return
    source = port - 2
    if p[layout.P_FLOW_CONTROL]:
        back = now + busy + p[layout.P_INJECT_LATENCY]
        append_train(s, layout.NIC_CREDIT + 2 * source, back, size << 24, n, step, 0)
    leave(s, p, now + p[layout.P_LINK_FLIT], source, word, n, step)


@helper
def depart(s, p, now, port, word, n, step):
    """Send packets that have got credit at `now`, `now + step`, ..., when the port is free."""
    size = layout.bytes_of(word)
    if port < 2:
        busy = layout.span(size, p[layout.P_INJECT_BYTE]) + p[layout.P_INJECT_FLIT]
    else:
        busy = layout.span(size, p[layout.P_LINK_BYTE]) + p[layout.P_LINK_FLIT]
    cell = layout.port_cells(port) + layout.NEXT_FREE
    while n > 0:
        part, first, every = next_part(now, n, step, s[cell], busy)
        s[cell] = first + (part - 1) * every + busy
        send(s, p, port, word, first, part, every, busy)
        now += part * step
        n -= part


@helper
def insert(s, p, now, port, word, n):
    """Give equal packets to a port; those without credit wait."""
    size = layout.bytes_of(word)
    able = n
    if p[layout.P_FLOW_CONTROL]:
        able = min(n, s[layout.port_cells(port) + layout.CREDITS] // size)
        s[layout.port_cells(port) + layout.CREDITS] -= able * size
    if n > able:
        append_packets(s, layout.PENDING + port, word, n - able, 0)
    depart(s, p, now, port, word, able, 0)


@helper
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


@helper
def send_message(s, p, now, node, word):
    """Queue a message at a NIC and cut it into packets as far as the NIC's buffer allows."""
    append(s, layout.INJECT + node, layout.bytes_of(word), word, 0)
    fill_buffer(s, p, now, node)


@helper
def waiting(s, row, n_bytes, credits):
    """Count packets at the head of a row that are equal and leave one for each credit."""
    first = entry(s, row, 0)
    size = layout.bytes_of(s[first + layout.WORD])
    if size != n_bytes or credits >= size:
        return 0
    alone = s[layout.COUNT + row] == 1
    if alone or layout.bytes_of(s[entry(s, row, 1) + layout.WORD]) > credits:
        return s[first + layout.EXTRA]
    return s[first + layout.EXTRA] - 1


@helper
def release(s, p, now, port, n, step):
    """Send `n` packets from the head of those that wait; their credits have been taken."""
    row = layout.PENDING + port
    first = entry(s, row, 0)
    word = s[first + layout.WORD]
    s[first + layout.EXTRA] -= n
    if s[first + layout.EXTRA] == 0:
        drop(s, row)
    depart(s, p, now, port, word, n, step)


@helper
def add_credits(s, p, now, port, n_bytes):
    """Return credits to a port; waiting packets get them, in order, while they fit."""
    cell = layout.port_cells(port) + layout.CREDITS
    s[cell] += n_bytes
    row = layout.PENDING + port
    while s[layout.COUNT + row] > 0:
        first = entry(s, row, 0)
        size = layout.bytes_of(s[first + layout.WORD])
        able = min(s[first + layout.EXTRA], s[cell] // size)
        if able == 0:
            return
        s[cell] -= able * size
        release(s, p, now, port, able, 0)


@helper
def next_that_passes(s, p, now, source, credits):
    """Return the earliest tick at which a packet may reach the switch that passes those waiting.

    What the NIC sends is not known beyond the next event elsewhere, which credits returned from
    now on may be.
    """
    if credits == 0:
        return layout.NEVER
    arrivals = arrival_row(p, source)
    back = layout.PORT_CREDIT + 2 * (1 - source)
    latency = p[layout.P_INJECT_LATENCY]
    best = min(next_elsewhere(s, arrivals, back, back), now + latency) + latency
    for i in range(s[layout.COUNT + arrivals]):
        e = entry(s, arrivals, i)
        if layout.bytes_of(s[e + layout.WORD]) <= credits:
            return min(best, s[e + layout.AT])
    return best


@helper
def port_credit(s, p, now, source, n_bytes, n, step):
    """Handle a train of a NIC's credits at the switch; return how many of them were handled."""
    port = 2 + source
    row = layout.PENDING + port
    credits = s[layout.port_cells(port) + layout.CREDITS]
    if s[layout.COUNT + row] == 0:
        # Until a packet comes they only add up.
        arrivals = arrival_row(p, source)
        back = layout.PORT_CREDIT + 2 * (1 - source)
        end = later(next_elsewhere(s, arrivals, back, back), p[layout.P_INJECT_LATENCY])
        n = how_many(now, step, n, min(end, s[layout.DUE + arrivals]))
        s[layout.port_cells(port) + layout.CREDITS] += n * n_bytes
        return n
    able = min(n, waiting(s, row, n_bytes, credits))
    if able > 1:
        # Each releases one packet; others that come meanwhile wait behind, but for those that pass.
        able = how_many(now, step, able, next_that_passes(s, p, now, source, credits))
        release(s, p, now, port, able, step)
        return able
    add_credits(s, p, now, port, n_bytes)
    return 1


@helper
def nic_credit(s, p, now, node, n_bytes, n, step):
    """Handle a train of credits at a NIC, its buffer first, as SST/macro does; return how many."""
    inject, pending = layout.INJECT + node, layout.PENDING + node
    buffer = layout.nic_cells(node) + layout.BUFFER
    cell = layout.port_cells(node) + layout.CREDITS
    able = n
    if s[layout.COUNT + pending] > 0:
        able = min(n, waiting(s, pending, n_bytes, s[cell]))
    if s[layout.COUNT + inject] > 0:
        # Each lets one packet of a long message into the buffer, behind which other messages wait.
        first = entry(s, inject, 0)
        able = min(able, s[first + layout.AT] // n_bytes - 1)
        if able > 1 and n_bytes == p[layout.P_MTU] and s[buffer] < n_bytes:
            s[first + layout.AT] -= able * n_bytes
            word = layout.resized(s[first + layout.WORD], n_bytes)
            if s[layout.COUNT + pending] == 0:
                depart(s, p, now, node, word, able, step)
            else:
                append_packets(s, pending, word, able, 0)
                release(s, p, now, node, able, step)
            return able
    elif able > 1:
        # Until the host sends a message, each releases a packet that waits, or adds to the others.
        arrivals = arrival_row(p, node)
        own, back = layout.NIC_CREDIT + 2 * node, layout.PORT_CREDIT + 2 * (1 - node)
        end = min(next_elsewhere(s, arrivals, own, back), now + p[layout.P_EJECT_LATENCY])
        able = how_many(now, step, able, end)
        s[buffer] += able * n_bytes
        if s[layout.COUNT + pending] == 0:
            s[cell] += able * n_bytes
        else:
            release(s, p, now, node, able, step)
        return able
    s[buffer] += n_bytes
    fill_buffer(s, p, now, node)
    add_credits(s, p, now, node, n_bytes)
    return 1


@helper
def arrive(s, p, now, source, word, n, step):
    """Handle a train of packets at the switch; return how many of them were handled.

    Without congestion they leave at once, one by one.
    """
    if not p[layout.P_CONGESTION]:
        leave(s, p, now, source, word, 1, 0)
        return 1
    port = 2 + source
    if not p[layout.P_FLOW_CONTROL]:
        depart(s, p, now, port, word, n, step)
        return n
    cell = layout.port_cells(port) + layout.CREDITS
    size = layout.bytes_of(word)
    able = min(n, s[cell] // size)
    if able == 0:
        # Nothing leaves before the next credit comes.
        n = how_many(now, step, n, s[layout.DUE + layout.PORT_CREDIT + 2 * (1 - source)])
        append_packets(s, layout.PENDING + port, word, n, 0)
        return n
    if s[layout.COUNT + layout.PENDING + port] > 0:
        able = 1
    s[cell] -= able * size
    depart(s, p, now, port, word, able, step)
    return able
