"""What can come between the packets of a PISCES train, and the credits that nobody waits for.

Credits matter when a packet wants them. While none waits for those of a row, the row has no event:
whoever needs credits takes in those that are due by then.
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.arbiters import STRAGGLERS
from kernels.two_node.queues import advance_train, entry, lean_on
from kernels.two_node.trains import how_many, later


@helper
def xbar_credit_row(p):
    """Return the row of credits that output buffers return to the crossbar.

    SST/macro handles them and the packets at output buffers in one order. The two touch different
    things, so that order matters only where a message may cross the network in no time.
    """
    if min(p[layout.P_INJECT_LATENCY], p[layout.P_EJECT_LATENCY]) > 0:
        return layout.XBAR_CREDIT
    return layout.SWITCH


@helper
def credit_cell(row, word):
    """Return the position of the credits that a row's credit adds to."""
    if row == layout.XBAR_CREDIT:
        return layout.port_cells(2 + (word >> 4 & 1)) + layout.XBAR_CREDITS
    if row == layout.PORT_CREDIT or row == layout.PORT_CREDIT + 2:
        return layout.port_cells(3 - ((row - layout.PORT_CREDIT) >> 1)) + layout.CREDITS
    return layout.port_cells((row - layout.NIC_CREDIT) >> 1) + layout.CREDITS


@helper
def first_tick(s, row):
    """Return the tick of a row's first packet or credit, whether or not it is an event."""
    return s[entry(s, row, 0) + layout.AT] if s[layout.COUNT + row] > 0 else layout.NEVER


@helper
def absorb(s, row, until):
    """Take in a row's credits that have come until a tick."""
    while first_tick(s, row) <= until:
        e = entry(s, row, 0)
        word = s[e + layout.WORD]
        n = how_many(s[e + layout.AT], s[e + layout.GAP], s[e + layout.EXTRA], until + 1)
        s[credit_cell(row, word)] += n * layout.bytes_of(word)
        advance_train(s, row, n)


@helper
def wake_row(s, row, waiting):
    """Make events of a row's credits if anything waits for them."""
    if waiting > 0 or s[layout.AT_ONCE] == 1:
        s[layout.DUE + row] = first_tick(s, row)
    else:
        s[layout.DUE + row] = layout.NEVER


@helper
def wake(s):
    """Make events of the credits that are waited for, and of these only."""
    for node in range(2):
        wake_row(s, layout.NIC_CREDIT + 2 * node, s[layout.COUNT + layout.INJECT + node])
        wake_row(s, layout.PORT_CREDIT + 2 * node, s[layout.COUNT + layout.PENDING + 3 - node])
    at_crossbar = layout.COUNT + layout.XBAR_PENDING
    wake_row(s, layout.XBAR_CREDIT, s[at_crossbar] + s[at_crossbar + 1])


@helper
def absorb_before(s, row):
    """Take in a row's credits that have come before the event handled last."""
    absorb(s, row, s[layout.CLOCK] - (1 if row >= s[layout.ROW] else 0))


@helper
def settle(s):
    """Take in all credits that have come before the event handled last and were no events."""
    for node in range(2):
        absorb_before(s, layout.NIC_CREDIT + 2 * node)
        absorb_before(s, layout.PORT_CREDIT + 2 * node)
    absorb_before(s, layout.XBAR_CREDIT)


@helper
def next_send(s, p, now, word):
    """Return the earliest tick at which a host may put a message on the wire.

    A message may end with a packet that is on its way behind the crossbar. Packets of the message
    of a word do not: more of them are to follow.
    """
    best = layout.NEVER
    for node in range(2):
        if s[layout.nic_cells(node) + layout.NOT_INJECTED] > 0:
            return now
        best = min(best, s[layout.DUE + layout.LOGP_IN + node])
        best = min(best, s[layout.DUE + layout.NIC_IN + 2 * node])
    for row in range(layout.NIC, layout.N_EVENT):
        best = min(best, s[layout.DUE + row])
    for row in (layout.SWITCH, layout.PENDING + 2, layout.PENDING + 3):
        for i in range(s[layout.COUNT + row]):
            if (s[entry(s, row, i) + layout.WORD] ^ word) & 0xFFFFFF:
                return min(best, now + p[layout.P_EJECT_LATENCY])
    return best


@helper
def next_crossing(s, p, now, source, word):
    """Return the earliest tick at which a packet from a node may come to the crossbar.

    Args:
        s: the simulation's state.
        p: the run's parameters.
        now: a tick.
        source: the node.
        word: of the packets that the other node sends meanwhile.
    """
    if s[layout.COUNT + layout.XBAR_PENDING + source] > 0:
        return now
    sent = min(next_send(s, p, now, word), s[layout.DUE + layout.NIC_CREDIT + 2 * source])
    arrives = s[layout.DUE + layout.SWITCH_IN + 2 * source]
    return min(arrives, later(sent, p[layout.P_INJECT_LATENCY]))


@helper
def next_small(s, row, source, n_bytes):
    """Return the tick of the first packet of a row that comes from a node and is no larger."""
    for i in range(s[layout.COUNT + row]):
        e = entry(s, row, i)
        word = s[e + layout.WORD]
        if layout.bytes_of(word) <= n_bytes and layout.source_of(word) == source:
            return s[e + layout.AT]
    return layout.NEVER


@helper
def bytes_in(s, row):
    """Return the bytes of all packets or credits of a row."""
    total = np.int64(0)
    for i in range(s[layout.COUNT + row]):
        e = entry(s, row, i)
        total += s[e + layout.EXTRA] * layout.bytes_of(s[e + layout.WORD])
    return total


@helper
def before_the_end(s, p, source):
    """Return the bytes that may leave the switch before a NIC comes to its first message's end.

    For each packet that it injects, credits must come from the crossbar, and for each packet that
    crosses, from an output buffer.
    """
    row = layout.INJECT + source
    if s[layout.COUNT + row] == 0:
        return 0
    left = s[entry(s, row, 0) + layout.AT] - p[layout.P_MTU]
    left -= s[layout.port_cells(source) + layout.CREDITS]
    left -= s[layout.port_cells(2 + source) + layout.XBAR_CREDITS]
    left -= bytes_in(s, layout.NIC_CREDIT + 2 * source) + bytes_in(s, layout.XBAR_CREDIT)
    return left


@helper
def next_that_passes(s, p, now, source, credits, word, at_buffer, none_injected):
    """Return the earliest tick at which a packet may come that the credits left suffice for.

    Args:
        s: the simulation's state.
        p: the run's parameters.
        now: a tick.
        source: the node that the packet comes from.
        credits: bytes that no waiting packet takes.
        word: of the packets that wait.
        at_buffer: where they wait, at the output buffer or at the crossbar.
        none_injected: whether the NIC injects none until then.
    """
    if credits == 0:
        return layout.NEVER
    best = next_small(s, layout.SWITCH_IN + 2 * source, source, credits)
    if not none_injected:
        latency = p[layout.P_INJECT_LATENCY]
        sent = min(next_send(s, p, now, word), s[layout.DUE + layout.NIC_CREDIT + 2 * source])
        best = min(best, min(sent, now + latency) + latency)
    if at_buffer:
        best = min(best, next_small(s, layout.SWITCH, source, credits))
        if next_small(s, layout.XBAR_PENDING + source, source, credits) != layout.NEVER:
            return now
    return best


@helper
def credits_in_time(s, row, credit, first, n, now, step):
    """Take credits from the head of a row, one for each packet that comes later; return how many.

    Args:
        s: the simulation's state.
        row: of the credits.
        credit: their word, of which the bytes count, and at the crossbar the node.
        first: index of the first packet that has no credit yet.
        n: number of packets.
        now: tick of the packet of index 0; a credit of this tick comes after it.
        step: ticks between packets.
    """
    if s[layout.COUNT + row] == 0:
        return 0
    e = entry(s, row, 0)
    here = s[e + layout.WORD]
    if row != layout.XBAR_CREDIT:
        here = layout.resized(0, layout.bytes_of(here))
    if here != credit:
        return 0
    taken = 0
    back = s[e + layout.AT]
    end = min(n - first, s[e + layout.EXTRA])
    now += first * step
    while taken < end and back < now:
        taken += 1
        back += s[e + layout.GAP]
        now += step
    if taken > 0:
        advance_train(s, row, taken)
    return taken


@helper
def credits_met(s, row, arrivals, n, now, step):
    """Count credits of which each finds a packet that waits; equal ones may come meanwhile.

    Args:
        s: the simulation's state.
        row: of the packets that wait, all of them equal; those that come join it.
        arrivals: row of the packets that come.
        n: number of credits.
        now: tick of the first credit; a packet of this tick comes after it.
        step: ticks between credits.
    """
    w = entry(s, row, 0)
    waiting = s[w + layout.EXTRA]
    e = entry(s, arrivals, 0)
    end = np.int64(0)
    if (
        s[layout.COUNT + row] == 1
        and s[layout.COUNT + arrivals] > 0
        and s[e + layout.WORD] == s[w + layout.WORD]
        and s[e + layout.DELAY] == s[w + layout.DELAY]
    ):
        end = s[e + layout.EXTRA]
    came, met = np.int64(0), np.int64(0)
    least = waiting
    while met < n:
        while came < end and s[e + layout.AT] + came * s[e + layout.GAP] < now:
            came += 1
        least = min(least, waiting + came - met - 1)
        if least < 0:
            break
        met += 1
        now += step
    if came > 0:
        s[w + layout.EXTRA] += came
        advance_train(s, arrivals, came)
    lean_on(s, row, least)
    return met


@helper
def moved_by(s, row, word):
    """Return the word of the packets that those, or the credits, at the head of a row move."""
    waiting = row
    if row == layout.XBAR_CREDIT:
        waiting = layout.XBAR_PENDING + (word >> 4 & 1)
    elif row == layout.PORT_CREDIT or row == layout.PORT_CREDIT + 2:
        waiting = layout.PENDING + 3 - ((row - layout.PORT_CREDIT) >> 1)
    elif row == layout.NIC_CREDIT or row == layout.NIC_CREDIT + 2:
        waiting = layout.INJECT + ((row - layout.NIC_CREDIT) >> 1)
    return s[entry(s, waiting, 0) + layout.WORD] if s[layout.COUNT + waiting] > 0 else word


@helper
def next_set_back(s, p, now, word, n):
    """Return the earliest tick at which a packet without a tail may come to a NIC.

    Args:
        s: the simulation's state.
        p: the run's parameters.
        now: a tick.
        word: of packets that are sent on meanwhile.
        n: number of these.
    """
    latency, behind = p[layout.P_INJECT_LATENCY], p[layout.P_EJECT_LATENCY]
    best = min(s[layout.DUE + layout.NIC_IN], s[layout.DUE + layout.NIC_IN + 2])
    best = min(best, later(next_send(s, p, now, word), latency + behind))
    for source in range(2):
        for row in (layout.XBAR_PENDING + source, layout.PENDING + 2 + source):
            if next_small(s, row, source, STRAGGLERS) != layout.NEVER:
                return now
        for row in (layout.SWITCH_IN + 2 * source, layout.SWITCH):
            best = min(best, later(next_small(s, row, source, STRAGGLERS), behind))
        if s[layout.COUNT + layout.INJECT + source] > 0:
            spare = before_the_end(s, p, source) - n * max(layout.bytes_of(word), 1)
            if spare >= 0:
                lean_on(s, layout.INJECT + source, spare)
            else:
                sent = min(s[layout.DUE + layout.NIC_CREDIT + 2 * source], now + latency)
                best = min(best, sent + latency + behind)
    return best
