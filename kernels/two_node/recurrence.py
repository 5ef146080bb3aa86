"""Skipping what repeats: a state that recurs, apart from its clock and its counters, recurs again.

The simulation is deterministic and counts in whole ticks. If all that can matter for what comes
next (events under way relative to the clock, credits, queues, what the hosts do) is as it was at an
earlier moment, then the time between repeats for as long as no counter that has moved (bytes and
messages still to send, receives still open) reaches an end. Those periods need not be simulated:
clock and counters jump, and every digit stays as it would have been.

Among packets of SNAPPR a part of the events may repeat while the others wait: those that lie in the
future stay there, a train may lose a whole number of packets in each period, and what comes in each
may join the end. So credits that are long under way grow in number while a burst of packets lasts.
Without this, corners of Table II took 0.28 s to 1.7 s instead of 0.05 s (tests/benchmarks/).

A counter of PISCES may go on as long as all decisions of the period would have been the same with
what is then left (`lean_on` of queues.py notes for each by how much less they would).

Three levels are watched: packets of one long message, messages of one window, windows of one size.
An earlier state is kept for each and replaced after 1, 2, 4, 8 ... checkpoints (Brent 1980), so
that a period of any length is found within three times its length. PISCES may set the clock back
(see arbiters.py): no period holds such a moment, and a time that is long past stays what it was,
because it may come to matter again.
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.comparison import (
    MARGIN,
    agreeing,
    counter_of,
    credit_periods,
    event_periods,
    grown,
    is_counted,
    lengthens,
    list_periods,
    moved,
    partial_messages,
    same_arbiters,
    same_arrivals,
    same_events,
    same_head,
    same_time,
    steps_down,
    steps_up,
    taken,
)
from kernels.two_node.lookahead import settle, wake
from kernels.two_node.queues import append_train, entry, lean_on

# Cells of a level.
VALID, THEN, LENGTH, POWER, KEPT_WORD, COMPARED, COMPARED_IN_PART = range(7)
N_WATCH = 7  # the cells above
# Entries that may be compared for each event handled; with thousands of packets under way,
# comparing them at each would take longer than simulating them.
ENTRIES_PER_EVENT = 4
NO_LIMIT = 2**62  # no bound yet; the clock's end is the last
# What repeats only until an event of the future comes is skipped if it saves so many events: after
# that the search for longer periods starts again, among them whole round trips of credits.
LEAST_EVENTS = 256


@helper
def watch_cells(level):
    """Return where the cells of a level begin."""
    return layout.WATCH + N_WATCH * (level - layout.PACKET)


@helper
def list_skip(s, t, row, level, shift, n):
    """Move a counted list on by `n` periods."""
    counter = counter_of(row)
    gone = t[layout.COUNT + row] - s[layout.COUNT + row]
    if gone > 0:
        first = s[entry(s, row, 0) + counter]
        s[layout.HEAD + row] = (s[layout.HEAD + row] + n * gone) & (s[layout.CAPACITY] - 1)
        s[layout.COUNT + row] -= n * gone
        s[entry(s, row, 0) + counter] = first
        return
    for i in range(s[layout.COUNT + row]):
        e, f = entry(s, row, i), entry(t, row, i)
        fewer = n * (t[f + counter] - s[e + counter])
        s[e + counter] -= fewer
        leeway = s[layout.leeway(level, row)]
        if fewer > 0 and leeway < layout.NEVER:
            lean_on(s, row, leeway - fewer)
        s[e + layout.WORD] = moved(s[e + layout.WORD], n * shift)


@helper
def events_skip(s, t, row, elapsed, n):
    """Move a row on by `n` periods of which `event_periods` has told the number."""
    gone = taken(s, t, row, elapsed)
    joined = grown(s, t, row, gone)
    e = entry(s, row, t[layout.COUNT + row] - 1)
    word, gap, delay = s[e + layout.WORD], s[e + layout.GAP], s[e + layout.DELAY]
    begins = s[e + layout.AT] + (s[e + layout.EXTRA] - joined) * gap
    if lengthens(s, t, row, joined, elapsed):
        s[e + layout.EXTRA] += n * joined
    else:
        first, behind = t[layout.COUNT + row], s[layout.COUNT + row]
        f = entry(s, row, behind - 1)
        last_number, last_gap = s[f + layout.EXTRA], s[f + layout.GAP]
        for period in range(1, n + 1):
            later = period * elapsed
            if joined > 0:
                append_train(s, row, begins + later, word, joined, gap, delay)
            for i in range(first, behind):
                f = entry(s, row, i)
                number, every = s[f + layout.EXTRA], s[f + layout.GAP]
                if i == behind - 1:
                    # The first train of the next period may have joined it.
                    number, every = last_number, last_gap
                at, word_here, delay_here = (
                    s[f + layout.AT],
                    s[f + layout.WORD],
                    s[f + layout.DELAY],
                )
                append_train(s, row, at + later, word_here, number, every, delay_here)
    if gone > 0:
        e = entry(s, row, 0)
        s[e + layout.AT] += n * elapsed
        s[e + layout.EXTRA] -= n * gone
        s[layout.DUE + row] = s[e + layout.AT]


@helper
def network_periods(s, t, p, now, then, level, limit):
    """Return how many periods ports and NICs may go on, 0 if they do not repeat."""
    for port in range(4):
        c = layout.port_cells(port)
        # A port that has sent nothing is the same, though it may have sent ahead of the clock.
        if s[c + layout.NEXT_FREE] not in (
            t[c + layout.NEXT_FREE],
            t[c + layout.NEXT_FREE] + now - then,
        ):
            return 0
        waiting, unread = s[layout.COUNT + layout.PENDING + port], False
        if p[layout.P_NETWORK] == layout.PISCES and port < 2:
            waiting = s[layout.COUNT + layout.INJECT + port]
            unread = s[layout.leeway(level, layout.INJECT + port)] == layout.NEVER
        limit = credit_periods(s, t, p, c + layout.CREDITS, waiting, unread, limit)
        if port >= 2:
            waiting = s[layout.COUNT + layout.XBAR_PENDING + port - 2]
            limit = credit_periods(s, t, p, c + layout.XBAR_CREDITS, waiting, False, limit)
    longest = layout.span(p[layout.P_MTU], p[layout.P_NIC_BYTE])
    if p[layout.P_NETWORK] == layout.LOGP:
        longest = layout.span(
            layout.size_entry(p, s[layout.host_cells(0) + layout.SIZE], layout.SIZE_BYTES),
            p[layout.P_INJECT_BYTE],
        )
        if then <= longest:
            return 0
    for node in range(2):
        c = layout.nic_cells(node)
        if s[c + layout.PARTIAL] != t[c + layout.PARTIAL]:
            return 0
        if not same_time(s[c + layout.OUT_FREE], now, t[c + layout.OUT_FREE], then):
            return 0
        if not same_time(
            s[c + layout.IN_FREE] + longest, now, t[c + layout.IN_FREE] + longest, then
        ):
            return 0
        if (
            s[layout.COUNT + layout.INJECT + node] > 0
            and s[c + layout.BUFFER] != t[c + layout.BUFFER]
        ):
            return 0
    if p[layout.P_NETWORK] == layout.PISCES and not same_arbiters(s, t, now, then):
        return 0
    return limit


@helper
def host_periods(s, t, p, now, then, level, shift, limit):
    """Return how many periods the hosts may go on, 0 if they do not repeat."""
    for node in range(2):
        h = layout.host_cells(node)
        for cell in (
            layout.STEP,
            layout.BUSY,
            layout.ACTION,
            layout.IN_ORDER,
            layout.POSTED_RECEIVES,
            layout.SIZE,
            layout.CHANNEL,
        ):
            if s[h + cell] != t[h + cell]:
                return 0
        if not same_time(s[h + layout.MEMORY_FREE], now, t[h + layout.MEMORY_FREE], then):
            return 0
        for channel in range(p[layout.P_CHANNELS]):
            cell = layout.channel_cell(s, p, node, channel)
            if not same_time(s[cell], now, t[cell], then):
                return 0
        if s[h + layout.N_HELD] != 0 or t[h + layout.N_HELD] != 0:
            return 0
        if s[h + layout.BUSY] and s[h + layout.MESSAGE] != moved(t[h + layout.MESSAGE], shift):
            return 0
        to_send = 1 if node == 1 else p[layout.P_WINDOW]
        to_receive = p[layout.P_WINDOW] if node == 1 else 1
        limit = steps_up(s[h + layout.POSTED], t[h + layout.POSTED], to_send, limit)
        limit = steps_up(s[h + layout.SENT], t[h + layout.SENT], to_send, limit)
        limit = steps_up(s[h + layout.RECEIVED], t[h + layout.RECEIVED], to_receive, limit)
        limit = steps_up(
            s[h + layout.NEXT_SEQUENCE], t[h + layout.NEXT_SEQUENCE], to_receive, limit
        )
        if s[h + layout.OPEN] > t[h + layout.OPEN]:
            return 0
        limit = steps_down(s[h + layout.OPEN], t[h + layout.OPEN], MARGIN, limit)
        if level != layout.WHOLE_WINDOW and s[h + layout.WINDOW] != t[h + layout.WINDOW]:
            return 0
    if level == layout.WHOLE_WINDOW:
        h = layout.host_cells(0)
        warmup = layout.size_entry(p, s[h + layout.SIZE], layout.WARMUP)
        if t[h + layout.WINDOW] < warmup:
            return 0
        end = warmup + layout.size_entry(p, s[h + layout.SIZE], layout.ITERATIONS)
        limit = steps_up(s[h + layout.WINDOW], t[h + layout.WINDOW], end, limit)
    return limit


@helper
def affordable(s, p, cell):
    """Return True if the events not yet spent on comparisons suffice to compare everything.

    Of a comparison, only what it has compared is spent: most differ at once.
    """
    effort = 0
    for row in range(layout.N_ROWS):
        effort += s[layout.COUNT + row]
    if partial_messages(s) > 1:
        effort += 2 * layout.N_KINDS * p[layout.P_WINDOW]
    if ENTRIES_PER_EVENT * (s[layout.HANDLED] - s[cell]) < effort:
        return False
    s[cell] += 1
    return True


@helper
def arrivals_skip(s, p, ahead):
    """Renumber the partly received messages of node 0."""
    for index in range(p[layout.P_WINDOW] - 1, -1, -1):
        for kind in range(1, layout.N_KINDS):
            cell = layout.message_cells(p, 0, index) + layout.LEFT + kind
            s[cell] = s[cell - ahead * layout.N_MESSAGE] if index >= ahead else 0


@helper
def periods(s, t, p, now, then, level, word):
    """Return the number of repetitions to skip, after two states that are one period apart.

    Args:
        s: the state at tick `now`.
        t: the state kept at tick `then`.
        p: the run's parameters.
        now: a tick.
        then: an earlier tick.
        level: PACKET, WHOLE_MESSAGE or WHOLE_WINDOW.
        word: the packet or message that has just come in.
    """
    elapsed = now - then
    shift = layout.index_of(word) - layout.index_of(t[watch_cells(level) + KEPT_WORD])
    if elapsed <= 0:
        return 0
    partial = level == layout.PACKET and p[layout.P_NETWORK] == layout.SNAPPR
    compared = COMPARED
    for row in range(layout.N_EVENT):
        due, before = s[layout.DUE + row], t[layout.DUE + row]
        if due == layout.NEVER or before == layout.NEVER:
            if due != before:
                return 0
        elif due != before + elapsed or not same_head(s, t, row):
            if not partial or (due != before and due != before + elapsed):
                return 0
            compared = COMPARED_IN_PART
    limit = network_periods(s, t, p, now, then, level, NO_LIMIT)
    if limit > 0:
        limit = host_periods(s, t, p, now, then, level, shift, limit)
    cell = watch_cells(level) + compared
    if limit == 0 or not affordable(s, p, cell):
        return 0
    for row in range(layout.N_ROWS):
        varies = is_counted(row) or (partial and row < layout.N_EVENT)
        if s[layout.COUNT + row] != t[layout.COUNT + row] and not varies:
            return 0
    row = 0
    least = np.int64(0)
    while limit > least and row < layout.N_ROWS:
        if is_counted(row):
            limit = list_periods(s, t, p, row, level, shift, limit)
        else:
            n = agreeing(s, t, row, elapsed, shift)
            s[cell] += n // ENTRIES_PER_EVENT
            if n < s[layout.COUNT + row] or n < t[layout.COUNT + row]:
                if not partial or row >= layout.N_EVENT:
                    return 0
                least = LEAST_EVENTS // (s[layout.HANDLED] - t[layout.HANDLED])
                limit = event_periods(s, t, p, row, now, elapsed, limit)
        row += 1
    if limit <= least:
        return 0
    counting = -1
    if level == layout.PACKET:
        counting = layout.left_cell(p, word)
        limit = steps_down(s[counting], t[counting], MARGIN * p[layout.P_MTU], limit)
    # What would go beyond the end of the clock is left to be refused there.
    limit = min(limit, (layout.CLOCK_END - now) // elapsed + 1)
    return limit if same_arrivals(s, t, p, shift, counting) else 0


@helper
def delay(s, t, cell, later):
    """Move a time on if it moves with the clock; one that has stayed in the past stays there."""
    if s[cell] != t[cell]:
        s[cell] += later


@helper
def skip(s, t, p, elapsed, level, word, n):
    """Move a state on by `n` periods of `elapsed` ticks."""
    shift = layout.index_of(word) - layout.index_of(t[watch_cells(level) + KEPT_WORD])
    later = n * elapsed
    for row in range(layout.N_ROWS):
        if is_counted(row):
            list_skip(s, t, row, level, shift, n)
            continue
        if row < layout.N_EVENT and not same_events(s, t, row, elapsed, shift):
            events_skip(s, t, row, elapsed, n)
            continue
        for i in range(s[layout.COUNT + row]):
            e = entry(s, row, i)
            s[e + layout.WORD] = moved(s[e + layout.WORD], n * shift)
            if row < layout.N_EVENT:
                s[e + layout.AT] += later
        if row < layout.N_EVENT and s[layout.DUE + row] != layout.NEVER:
            s[layout.DUE + row] += later
    for port in range(4):
        c = layout.port_cells(port)
        delay(s, t, c + layout.NEXT_FREE, later)
        s[c + layout.CREDITS] += n * (s[c + layout.CREDITS] - t[c + layout.CREDITS])
        s[c + layout.XBAR_CREDITS] += n * (s[c + layout.XBAR_CREDITS] - t[c + layout.XBAR_CREDITS])
    for arbiter in range(layout.N_ARBITERS):
        delay(s, t, layout.ARBITER_FREE + arbiter, later)
        for i in range(s[layout.N_EPOCHS + arbiter]):
            delay(s, t, layout.epoch(arbiter, i), later)
    for node in range(2):
        c = layout.nic_cells(node)
        s[c + layout.BUFFER] += n * (s[c + layout.BUFFER] - t[c + layout.BUFFER])
        delay(s, t, c + layout.OUT_FREE, later)
        delay(s, t, c + layout.IN_FREE, later)
        h = layout.host_cells(node)
        delay(s, t, h + layout.MEMORY_FREE, later)
        for channel in range(p[layout.P_CHANNELS]):
            delay(s, t, layout.channel_cell(s, p, node, channel), later)
        s[h + layout.MESSAGE] = moved(s[h + layout.MESSAGE], n * shift)
        for cell in (
            layout.POSTED,
            layout.SENT,
            layout.OPEN,
            layout.RECEIVED,
            layout.NEXT_SEQUENCE,
            layout.WINDOW,
        ):
            s[h + cell] += n * (s[h + cell] - t[h + cell])
    if level == layout.PACKET:
        cell = layout.left_cell(p, word)
        s[cell] += n * (s[cell] - t[cell])
    elif partial_messages(s) > 0:
        arrivals_skip(s, p, n * shift)
    for index in range(p[layout.P_WINDOW]):
        size = s[layout.host_cells(0) + layout.SIZE]
        s[layout.message_cells(p, 0, index) + layout.MESSAGE_SIZE] = size


@helper
def forget(s):
    """Give up the states kept at all levels."""
    for level in range(layout.PACKET, layout.WHOLE_WINDOW + 1):
        s[watch_cells(level) + VALID] = 0


@helper
def keep(s, t, level, now, word):
    """Keep the state for later comparison."""
    c = watch_cells(level)
    s[c + VALID] = 1
    s[c + THEN] = now
    s[c + LENGTH] = 0
    s[c + KEPT_WORD] = word
    for row in range(layout.INJECT, layout.N_ROWS):
        s[layout.leeway(level, row)] = layout.NEVER
    for i in range(s[layout.ROWS]):
        t[i] = s[i]
    for row in range(layout.N_ROWS):
        for i in range(s[layout.COUNT + row]):
            e = entry(s, row, i)
            t[e] = s[e]
            t[e + layout.WORD] = s[e + layout.WORD]
            t[e + layout.EXTRA] = s[e + layout.EXTRA]
            t[e + layout.GAP] = s[e + layout.GAP]
            t[e + layout.DELAY] = s[e + layout.DELAY]


@helper
def checkpoint(s, t, p, level, now, word):
    """Test whether the state recurs at a level, and skip the repetitions."""
    c = watch_cells(level)
    kept = s[c + KEPT_WORD]
    if p[layout.P_NETWORK] == layout.PISCES and s[layout.AT_ONCE] > 1:
        settle(s)
    related = s[c + VALID] == 1
    if related and level == layout.PACKET:
        related = word & 0xFFFFFF == kept & 0xFFFFFF
    elif related and level == layout.WHOLE_MESSAGE:
        related = layout.index_of(word) > layout.index_of(kept)
    if not related:
        s[c + POWER] = 1
        keep(s, t, level, now, word)
        return
    n = periods(s, t, p, now, s[c + THEN], level, word)
    if n > 0:
        skip(s, t, p, now - s[c + THEN], level, word, n)
        s[c + VALID] = 0
        if p[layout.P_NETWORK] == layout.PISCES:
            wake(s)
        return
    s[c + LENGTH] += 1
    if s[c + LENGTH] == s[c + POWER]:
        s[c + POWER] *= 2
        keep(s, t, level, now, word)
