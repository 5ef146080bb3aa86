"""PISCES: packets through a NIC, a crossbar that both directions share, and output buffers.

Each stage wants credit for the packet, then bandwidth from its arbiter; the credit of the stage
before goes back when the head leaves. A packet that finds no credit waits, and a smaller one
may pass it.

Packets and credits come as trains of `n`, `step` ticks apart, of which a stage handles all that
nothing else can come between (lookahead.py says what can). Then credits that no packet waits for
are no events: who needs credits takes in those that are due. And a packet's credit is on its way
back as soon as it leaves the switch, for then it is known when its tail will be at the NIC. All
that holds where time passes in all that happens (`in_order`); else, and where every event is
wanted, n is 1. Trials of Table II are some 30 times as fast as packet by packet
(tests/benchmarks/test_two_node.py).
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.arbiters import STRAGGLERS, arbitrate, arbitrate_train, keeps_order, reset
from kernels.two_node.comparison import is_of_trains
from kernels.two_node.lookahead import (
    absorb,
    before_the_end,
    credits_in_time,
    credits_met,
    first_tick,
    moved_by,
    next_crossing,
    next_set_back,
    next_that_passes,
    wake,
    xbar_credit_row,
)
from kernels.two_node.messages import count_ahead, is_data
from kernels.two_node.queues import (
    advance_train,
    append,
    append_packets,
    drop,
    entry,
    insert,
    last_tick,
    lean_on,
    next_row,
    schedule,
    schedule_head,
    take,
)
from kernels.two_node.trains import how_many


@helper
def start(s, p):
    """Give every stage its credits and every arbiter one endless idle epoch."""
    for node in range(2):
        s[layout.port_cells(node) + layout.CREDITS] = p[layout.P_NIC_CREDITS]
        s[layout.port_cells(2 + node) + layout.CREDITS] = p[layout.P_SWITCH_CREDITS]
        s[layout.port_cells(2 + node) + layout.XBAR_CREDITS] = p[layout.P_SWITCH_CREDITS]
    for arbiter in range(layout.N_ARBITERS):
        reset(s, arbiter)


@helper
def has_tail(p, n_bytes):
    """Return True if every packet of a message on the wire gets a tail, see arbiters.py."""
    last = (n_bytes - 1) % p[layout.P_MTU] + 1
    return n_bytes <= p[layout.P_NEGLIGIBLE] or p[layout.P_REPAIRED] == 1 or last > STRAGGLERS


@helper
def in_order(p, size):
    """Return True if time passes, and runs forwards but for a long message's last packet."""
    reply = p[layout.P_SHORT_REPLY]
    return (
        min(p[layout.P_INJECT_LATENCY], p[layout.P_EJECT_LATENCY]) > 0
        and p[layout.P_MTU] > STRAGGLERS
        and has_tail(p, layout.CONTROL_BYTES)
        and has_tail(p, layout.INIT_BYTES)
        and layout.size_entry(p, size, layout.SIZE_BYTES) > STRAGGLERS
        and (reply < 0 or has_tail(p, layout.size_entry(p, reply, layout.SIZE_BYTES)))
    )


@helper
def send(s, p, now, node, word, n, step):
    """Send packets that have their credits from a NIC."""
    arbiter, kind = layout.ARBITER_NIC + node, p[layout.P_INJECT_ARBITER]
    each, size = p[layout.P_INJECT_BYTE], layout.bytes_of(word)
    while n > 0:
        part, head, every, delay = arbitrate_train(s, p, arbiter, kind, each, now, step, n, size, 0)
        arrives = head + p[layout.P_INJECT_LATENCY]
        insert(s, layout.SWITCH_IN + 2 * node, arrives, word, part, every, delay)
        now += part * step
        n -= part


@helper
def send_exchange(s, p, now, node, word):
    """Send a packet of an exchange; that the last one has left is noticed."""
    size = layout.bytes_of(word)
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
    arrives = head + p[layout.P_INJECT_LATENCY]
    insert(s, layout.SWITCH_IN + 2 * node, arrives, word, 1, 0, delay)
    cell = layout.nic_cells(node) + layout.NOT_INJECTED
    s[cell] -= size
    if s[cell] == 0:
        schedule(s, layout.NIC + 3 * (1 - node), tail, 0, layout.T_NOTICE)


@helper
def inject_packets(s, p, now, node):
    """Inject packets while there is credit for a full one."""
    row, cell = layout.INJECT + node, layout.port_cells(node) + layout.CREDITS
    mtu = p[layout.P_MTU]
    if s[layout.COUNT + row] == 0:
        return
    while s[layout.COUNT + row] > 0 and s[cell] >= mtu:
        first = entry(s, row, 0)
        left = s[first + layout.AT]
        size = min(mtu, left)
        word = layout.resized(s[first + layout.WORD], size)
        exchange = layout.kind_of(word) == layout.EXCHANGE
        n = 1
        if not exchange:
            n = max(1, min(left // mtu, s[cell] // mtu, s[layout.AT_ONCE]))
        s[first + layout.AT] -= n * size
        s[cell] -= n * size
        if s[first + layout.AT] == 0:
            drop(s, row)
            lean_on(s, row, -1)
        if exchange:
            send_exchange(s, p, now, node, word)
        else:
            send(s, p, now, node, word, n, 0)
    if s[layout.COUNT + row] > 0:
        lean_on(s, row, s[entry(s, row, 0) + layout.AT] - 1)


@helper
def send_message(s, p, now, node, word):
    """Queue a message at a NIC and inject as many of its packets as have credit."""
    row = layout.NIC_CREDIT + 2 * node
    if s[layout.AT_ONCE] > 1 and s[layout.COUNT + layout.INJECT + node] == 0:
        absorb(s, row, now if s[layout.ROW] > row else now - 1)
    append(s, layout.INJECT + node, layout.bytes_of(word), word, 0)
    if s[layout.COUNT + layout.INJECT + node] == 1:
        inject_packets(s, p, now, node)


@helper
def nic_credit(s, p, now, node, n_bytes, n, step):
    """Handle a train of credits at a NIC; return how many of them were handled."""
    row = layout.INJECT + node
    if n > 1 and n_bytes == p[layout.P_MTU] and s[layout.COUNT + row] > 0:
        # Each injects one packet of a long message, behind which other messages wait.
        first = entry(s, row, 0)
        able = min(n, (s[first + layout.AT] - 1) // n_bytes)
        if able > 1:
            s[first + layout.AT] -= able * n_bytes
            lean_on(s, row, s[first + layout.AT] - 1)
            word = layout.resized(s[first + layout.WORD], n_bytes)
            send(s, p, now, node, word, able, step)
            return able
    s[layout.port_cells(node) + layout.CREDITS] += n_bytes
    inject_packets(s, p, now, node)
    return 1


@helper
def cross(s, p, now, source, word, n, step, delay):
    """Send packets that have their credits over the crossbar to their output buffer."""
    size = layout.bytes_of(word)
    kind, each = p[layout.P_XBAR_ARBITER], p[layout.P_XBAR_BYTE]
    while n > 0:
        part, head, every, out = arbitrate_train(
            s, p, layout.ARBITER_XBAR, kind, each, now, step, n, size, delay
        )
        back = head + p[layout.P_INJECT_LATENCY]
        insert(s, layout.NIC_CREDIT + 2 * source, back, size << 24, part, every, 0)
        insert(s, layout.SWITCH, head, word, part, every, out)
        now += part * step
        n -= part


@helper
def wait(s, row, cell, word, n, delay):
    """Add packets to those that wait; the cell is no more than the size of each of them."""
    size = layout.bytes_of(word)
    if s[layout.COUNT + row] == 0 or size < s[cell]:
        s[cell] = size
    append_packets(s, row, word, n, delay)


@helper
def switch_in(s, p, now, source, word, n, step, delay):
    """Receive a train of packets at the crossbar; return how many of them were handled."""
    if s[layout.AT_ONCE] > 1:
        absorb(s, layout.XBAR_CREDIT, now - 1)
    size = layout.bytes_of(word)
    port = layout.port_cells(2 + source)
    row = layout.XBAR_PENDING + source
    able = min(n, s[port + layout.XBAR_CREDITS] // size)
    if able == 0:
        if n > 1:
            back = min(first_tick(s, layout.XBAR_CREDIT), s[layout.DUE + layout.SWITCH])
            back = min(back, s[layout.DUE + layout.PORT_CREDIT + 2 * (1 - source)])
            n = how_many(now, step, n, back)
        wait(s, row, port + layout.LEAST_AT_XBAR, word, n, delay)
        return n
    if s[layout.COUNT + row] > 0:
        n = 1
    elif n > 1:
        n = how_many(now, step, n, next_crossing(s, p, now, 1 - source, word))
    able = min(able, n)
    s[port + layout.XBAR_CREDITS] -= able * size
    if able < n:
        credit = size << 24 | source << 4
        able += credits_in_time(s, layout.XBAR_CREDIT, credit, able, n, now, step)
    cross(s, p, now, source, word, able, step, delay)
    return able


@helper
def first_that_fits(s, row, cell, credits):
    """Return the position of the first waiting packets the credits suffice for, or -1."""
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


@helper
def waiting(s, row, n_bytes):
    """Count the packets at the head of a row that are equal and of this size."""
    if s[layout.COUNT + row] == 0:
        return 0
    first = entry(s, row, 0)
    if layout.bytes_of(s[first + layout.WORD]) != n_bytes:
        return 0
    return s[first + layout.EXTRA]


@helper
def xbar_credit(s, p, now, source, n_bytes, n, step):
    """Handle a train of credits that an output buffer returns; return how many were handled.

    Each lets one packet cross, even where credits suffice for another one.
    """
    row, port = layout.XBAR_PENDING + source, layout.port_cells(2 + source)
    credits = port + layout.XBAR_CREDITS
    if n > 1 and waiting(s, row, n_bytes) > 0 and s[credits] < n_bytes:
        first = entry(s, row, 0)
        word, delay = s[first + layout.WORD], s[first + layout.DELAY]
        left = before_the_end(s, p, source)
        ahead = left // n_bytes
        end = min(
            next_crossing(s, p, now, 1 - source, word),
            next_that_passes(s, p, now, source, s[credits], word, False, ahead > 1),
        )
        if ahead > 1:
            n = min(n, ahead)
        n = how_many(now, step, n, end)
        if ahead > 1:
            lean_on(s, layout.INJECT + source, left - max(n, 2) * n_bytes)
        able = credits_met(s, row, layout.SWITCH_IN + 2 * source, n, now + 1, step)
        take(s, row, 0, able)
        cross(s, p, now, source, word, able, step, delay)
        return able
    s[credits] += n_bytes
    i = first_that_fits(s, row, port + layout.LEAST_AT_XBAR, s[credits])
    if i >= 0:
        here = entry(s, row, i)
        word, delay = s[here + layout.WORD], s[here + layout.DELAY]
        take(s, row, i, 1)
        s[credits] -= layout.bytes_of(word)
        cross(s, p, now, source, word, 1, 0, delay)
    return 1


@helper
def last_completion(s, p, node, word):
    """Return the tick at which the last of a message's packets is complete that are on their way.

    Its credit goes back then.
    """
    row = layout.PORT_CREDIT + 2 * node
    best = np.int64(0)
    for i in range(s[layout.COUNT + row]):
        if (s[entry(s, row, i) + layout.WORD] ^ word) & 0xFFFFFF == 0:
            best = max(best, last_tick(s, row, i))
    return best - p[layout.P_EJECT_LATENCY]


@helper
def approach_without_tail(s, p, now, node, word, delay):
    """Send the head of a message's last packet to its NIC, where it is complete before it comes."""
    code = layout.T_COMPLETE_RETURN
    ends = last_completion(s, p, node, word)
    if count_ahead(s, p, node, word, 1) > 0:
        code = layout.T_RETURN
    elif ends >= now:
        schedule(s, layout.NIC + 3 * (1 - node), ends, word, layout.T_COMPLETE)
        code = layout.T_RETURN
    schedule_head(s, layout.NIC_IN + 2 * node, now, word, code, delay)


@helper
def approach(s, p, now, node, word, n, step, delay):
    """Send packets' heads to their NIC, which they reach at `now`, `now + step`, ..."""
    row = layout.NIC_IN + 2 * node
    if s[layout.AT_ONCE] == 1:
        schedule_head(s, row, now, word, layout.T_COMPLETE_RETURN, delay)
        return
    if delay < 0:
        approach_without_tail(s, p, now, node, word, delay)
        return
    whole = now + layout.span(layout.bytes_of(word), delay)
    back = whole + p[layout.P_EJECT_LATENCY]
    insert(s, layout.PORT_CREDIT + 2 * node, back, word, n, step, 0)
    counted = count_ahead(s, p, node, word, n)
    for i in range(counted, n):
        ends = last_completion(s, p, node, word)
        if is_data(word) and ends > whole + i * step:
            # One that has left before it is slower.
            schedule(s, layout.NIC + 3 * (1 - node), ends, word, layout.T_COMPLETE)
        else:
            schedule_head(s, row, now + i * step, word, layout.T_COMPLETE, delay)


@helper
def leave(s, p, now, source, word, n, step, delay):
    """Send packets that have their credits from an output buffer to the NIC."""
    size = layout.bytes_of(word)
    arbiter, kind = layout.ARBITER_LINK + source, p[layout.P_LINK_ARBITER]
    each, row = p[layout.P_LINK_BYTE], xbar_credit_row(p)
    while n > 0:
        part, head, every, out = arbitrate_train(
            s, p, arbiter, kind, each, now, step, n, size, delay
        )
        insert(s, row, head, size << 24 | source << 4, part, every, 0)
        approach(s, p, head + p[layout.P_EJECT_LATENCY], 1 - source, word, part, every, out)
        now += part * step
        n -= part


@helper
def buffer(s, p, now, word, n, step, delay):
    """Receive a train of packets at an output buffer; return how many of them were handled."""
    source = layout.source_of(word)
    size = layout.bytes_of(word)
    port = layout.port_cells(2 + source)
    row, back = layout.PENDING + 2 + source, layout.PORT_CREDIT + 2 * (1 - source)
    if s[layout.AT_ONCE] > 1 and s[layout.COUNT + row] == 0:
        absorb(s, back, now)
    able = min(n, s[port + layout.CREDITS] // size)
    if able == 0:
        n = how_many(now, step, n, first_tick(s, back))
        wait(s, row, port + layout.LEAST_PENDING, word, n, delay)
        return n
    if s[layout.COUNT + row] > 0:
        n = 1
    # The other direction's packets leave in their order among these.
    n = how_many(now, step, n, s[layout.DUE + layout.PORT_CREDIT + 2 * source])
    able = min(able, n)
    s[port + layout.CREDITS] -= able * size
    if able < n:
        able += credits_in_time(s, back, size << 24, able, n, now + 1, step)
    leave(s, p, now, source, word, able, step, delay)
    return able


@helper
def port_credit(s, p, now, source, n_bytes, n, step):
    """Handle a train of a NIC's credits at an output buffer; return how many were handled."""
    row, port = layout.PENDING + 2 + source, layout.port_cells(2 + source)
    credits = port + layout.CREDITS
    if n > 1 and waiting(s, row, n_bytes) > 0:
        first = entry(s, row, 0)
        word, delay = s[first + layout.WORD], s[first + layout.DELAY]
        left = before_the_end(s, p, source)
        ahead = left // n_bytes
        end = min(
            next_crossing(s, p, now, 1 - source, word),
            next_that_passes(s, p, now, source, s[credits], word, True, ahead > 1),
        )
        if ahead > 1:
            n = min(n, ahead)
        end = min(end, s[layout.DUE + layout.PORT_CREDIT + 2 * source])
        arbiter, kind = layout.ARBITER_LINK + source, p[layout.P_LINK_ARBITER]
        if not keeps_order(s, arbiter, kind, p[layout.P_LINK_BYTE], now, step, n_bytes, delay):
            # The credit of one that leaves now may come before the others.
            end = min(end, now + 2 * p[layout.P_EJECT_LATENCY])
        n = how_many(now, step, n, end)
        if ahead > 1:
            lean_on(s, layout.INJECT + source, left - max(n, 2) * n_bytes)
        able = credits_met(s, row, layout.SWITCH, n, now, step)
        take(s, row, 0, able)
        leave(s, p, now, source, word, able, step, delay)
        return able
    s[credits] += n_bytes
    i = first_that_fits(s, row, port + layout.LEAST_PENDING, s[credits])
    while i >= 0:
        here = entry(s, row, i)
        word, delay = s[here + layout.WORD], s[here + layout.DELAY]
        take(s, row, i, 1)
        s[credits] -= layout.bytes_of(word)
        leave(s, p, now, source, word, 1, 0, delay)
        i = first_that_fits(s, row, port + layout.LEAST_PENDING, s[credits])
    return 1


@helper
def nic_in(s, now, node, word, code, delay):
    """Receive a packet's head at a NIC; return True if the packet is there as a whole."""
    if delay == 0:
        return True
    whole = now + (delay if delay < 0 else layout.span(layout.bytes_of(word), delay))
    schedule(s, layout.NIC + 3 * (1 - node), whole, word, code)
    return False


@helper
def train(s, p, now, row, word, n, step, delay):
    """Handle up to `n` packets or credits that arrive at a row; return the number handled."""
    size = layout.bytes_of(word)
    if row >= layout.SWITCH:
        if layout.kind_of(word):
            return buffer(s, p, now, word, n, step, delay)
        return xbar_credit(s, p, now, word >> 4 & 1, size, n, step)
    if row >= layout.NIC_IN:
        source = 1 - ((row - layout.NIC_IN) >> 1)
        return port_credit(s, p, now, source, size, n, step)
    node = (row - layout.NIC_CREDIT) >> 1
    if row & 1:
        return switch_in(s, p, now, node, word, n, step, delay)
    return nic_credit(s, p, now, node, size, n, step)


@helper
def handle_train(s, p, now, row):
    """Handle the train at the head of a row, as far as it can be."""
    first = entry(s, row, 0)
    word, step = s[first + layout.WORD], s[first + layout.GAP]
    n = min(s[first + layout.EXTRA], s[layout.AT_ONCE])
    if s[layout.NO_TAILS] and n > 1:
        sent = moved_by(s, row, word)
        n = how_many(now, step, n, next_set_back(s, p, now, sent, n))
    n = train(s, p, now, row, word, n, step, s[first + layout.DELAY])
    advance_train(s, row, n)


@helper
def handle_trains(s, p, now, row):
    """Handle the train at the head of a row, and trains that come before anything else.

    A call of `serve` for each of them would cost 6 % (tests/benchmarks/test_two_node.py).
    """
    while True:
        handle_train(s, p, now, row)
        if s[layout.EVENT_LEVEL] or s[layout.FULL] or layout.may_halt(s[layout.HANDLED] + 1):
            return
        wake(s)
        row = next_row(s)
        now = s[layout.DUE + row]
        if not is_of_trains(p, row) or now < s[layout.CLOCK] or now > layout.CLOCK_END:
            return
        s[layout.HANDLED] += 1
        s[layout.CLOCK] = now
        s[layout.ROW] = row


@helper
def serve(s, p, now, row, word):
    """Inject a message, return the credit of a packet taken in, or handle trains.

    Args:
        s: the simulation's state.
        p: the run's parameters.
        now: a tick.
        row: INJECT + node, NIC_IN + 2 * node, or the row of the first train.
        word: of the message or packet.
    """
    if row >= layout.INJECT:
        send_message(s, p, now, row - layout.INJECT, word)
    elif row == layout.NIC_IN or row == layout.NIC_IN + 2:
        insert(s, row + 1, now + p[layout.P_EJECT_LATENCY], word, 1, 0, 0)
    else:
        handle_trains(s, p, now, row)


@helper
def taken_in(s, p, now, node, word, code):
    """Return the credit of a packet that is complete, if that is not on its way already."""
    if code != layout.T_COMPLETE:
        serve(s, p, now, layout.NIC_IN + 2 * node, word)
