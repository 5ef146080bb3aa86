"""Skipping what repeats: a state that recurs, apart from its clock and its counters, recurs again.

The simulation is deterministic and counts in whole ticks. If all that can matter for what comes
next (events under way relative to the clock, credits, queues, what the hosts do) is as it was at an
earlier moment, then the time between repeats for as long as no counter that has moved (bytes and
messages still to send, receives still open) reaches an end. Those periods need not be simulated:
clock and counters jump, and every digit stays as it would have been.

Three levels are watched: packets of one long message, messages of one window, windows of one size.
An earlier state is kept for each and replaced after 1, 2, 4, 8 ... checkpoints (Brent 1980), so
that a period of any length is found within three times its length. PISCES may set the clock back
(see arbiters.py): no period holds such a moment, and a time that is long past stays what it was,
because it may come to matter again.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node.comparison import (
    MARGIN,
    counter_of,
    credit_periods,
    is_counted,
    list_periods,
    moved,
    partial_messages,
    same_arbiters,
    same_arrivals,
    same_events,
    same_time,
    steps_down,
    steps_up,
)
from kernels.two_node.layout import (
    ACTION,
    ARBITER_FREE,
    ARBITRATING,
    AT,
    BUFFER,
    BUSY,
    CHANNEL,
    CLOCK_END,
    COUNT,
    CREDITS,
    DUE,
    EXTRA,
    HEAD,
    IN_FREE,
    IN_ORDER,
    INJECT,
    ITERATIONS,
    LEFT,
    LOGP,
    MEMORY_FREE,
    MESSAGE,
    MESSAGE_SIZE,
    N_ARBITERS,
    N_EPOCHS,
    N_EVENT,
    N_HELD,
    N_KINDS,
    N_MESSAGE,
    N_ROWS,
    NEVER,
    NEXT_FREE,
    NEXT_SEQUENCE,
    OPEN,
    OUT_FREE,
    P_CHANNELS,
    P_INJECT_BYTE,
    P_MTU,
    P_NETWORK,
    P_NIC_BYTE,
    P_WINDOW,
    PARTIAL,
    PENDING,
    PISCES,
    POSTED,
    POSTED_RECEIVES,
    RECEIVED,
    ROWS,
    SENT,
    SIZE,
    SIZE_BYTES,
    STEP,
    WARMUP,
    WATCH,
    WINDOW,
    WORD,
    XBAR_CREDITS,
    XBAR_PENDING,
    channel_cell,
    direction_of,
    epoch,
    host_cells,
    index_of,
    kind_of,
    message_cells,
    nic_cells,
    port_cells,
    size_entry,
    span,
)
from kernels.two_node.queues import entry

# What has just happened, and the level it is a checkpoint of.
PACKET, WHOLE_MESSAGE, WHOLE_WINDOW = 1, 2, 3
# Cells of a level.
VALID, THEN, LENGTH, POWER, KEPT_WORD, EFFORT = range(6)
N_WATCH = 6
# Entries that a checkpoint may compare, saved up until they suffice for all of them; with
# thousands of packets under way, comparing at each would take longer than simulating them.
EFFORT_PER_CHECKPOINT = 32
NO_LIMIT = 2**62


@helper("i8(i8)", cache=True, nogil=True, _nrt=False)
def watch_cells(level):
    """Return where the cells of a level begin."""
    return WATCH + N_WATCH * (level - 1)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def list_skip(s, t, row, shift, n):
    """Move a counted list on by `n` periods."""
    counter = counter_of(row)
    gone = t[COUNT + row] - s[COUNT + row]
    if gone > 0:
        first = s[entry(s, row, 0) + counter]
        s[HEAD + row] = (s[HEAD + row] + n * gone) & ((s.size - s[ROWS]) // (3 * N_ROWS) - 1)
        s[COUNT + row] -= n * gone
        s[entry(s, row, 0) + counter] = first
        return
    for i in range(s[COUNT + row]):
        e, f = entry(s, row, i), entry(t, row, i)
        s[e + counter] += n * (s[e + counter] - t[f + counter])
        s[e + WORD] = moved(s[e + WORD], n * shift)


@helper("i8(i8[::1], i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def network_periods(s, t, p, now, then, limit):
    """Return how many periods ports and NICs may go on, 0 if they do not repeat."""
    for port in range(4):
        c = port_cells(port)
        if not same_time(s[c + NEXT_FREE], now, t[c + NEXT_FREE], then):
            return 0
        if s[c + ARBITRATING] != t[c + ARBITRATING]:
            return 0
        waiting = s[COUNT + PENDING + port]
        if p[P_NETWORK] == PISCES and port < 2:
            waiting = s[COUNT + INJECT + port]
        limit = credit_periods(s, t, p, c + CREDITS, waiting, limit)
        if port >= 2:
            waiting = s[COUNT + XBAR_PENDING + port - 2]
            limit = credit_periods(s, t, p, c + XBAR_CREDITS, waiting, limit)
    longest = span(p[P_MTU], p[P_NIC_BYTE])
    if p[P_NETWORK] == LOGP:
        longest = span(size_entry(p, s[host_cells(0) + SIZE], SIZE_BYTES), p[P_INJECT_BYTE])
        if then <= longest:
            return 0
    for node in range(2):
        c = nic_cells(node)
        if s[c + PARTIAL] != t[c + PARTIAL]:
            return 0
        if not same_time(s[c + OUT_FREE], now, t[c + OUT_FREE], then):
            return 0
        if not same_time(s[c + IN_FREE] + longest, now, t[c + IN_FREE] + longest, then):
            return 0
        if s[COUNT + INJECT + node] > 0 and s[c + BUFFER] != t[c + BUFFER]:
            return 0
    if p[P_NETWORK] == PISCES and not same_arbiters(s, t, now, then):
        return 0
    return limit


@helper("i8(i8[::1], i8[::1], i8[::1], i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def host_periods(s, t, p, now, then, level, shift, limit):
    """Return how many periods the hosts may go on, 0 if they do not repeat."""
    for node in range(2):
        h = host_cells(node)
        for cell in (STEP, BUSY, ACTION, IN_ORDER, POSTED_RECEIVES, SIZE, CHANNEL):
            if s[h + cell] != t[h + cell]:
                return 0
        if not same_time(s[h + MEMORY_FREE], now, t[h + MEMORY_FREE], then):
            return 0
        for channel in range(p[P_CHANNELS]):
            cell = channel_cell(s, p, node, channel)
            if not same_time(s[cell], now, t[cell], then):
                return 0
        if s[h + N_HELD] != 0 or t[h + N_HELD] != 0:
            return 0
        if s[h + BUSY] and s[h + MESSAGE] != moved(t[h + MESSAGE], shift):
            return 0
        to_send = 1 if node == 1 else p[P_WINDOW]
        to_receive = p[P_WINDOW] if node == 1 else 1
        limit = steps_up(s[h + POSTED], t[h + POSTED], to_send, limit)
        limit = steps_up(s[h + SENT], t[h + SENT], to_send, limit)
        limit = steps_up(s[h + RECEIVED], t[h + RECEIVED], to_receive, limit)
        limit = steps_up(s[h + NEXT_SEQUENCE], t[h + NEXT_SEQUENCE], to_receive, limit)
        if s[h + OPEN] > t[h + OPEN]:
            return 0
        limit = steps_down(s[h + OPEN], t[h + OPEN], MARGIN, limit)
        if level != WHOLE_WINDOW and s[h + WINDOW] != t[h + WINDOW]:
            return 0
    if level == WHOLE_WINDOW:
        h = host_cells(0)
        warmup = size_entry(p, s[h + SIZE], WARMUP)
        if t[h + WINDOW] < warmup:
            return 0
        end = warmup + size_entry(p, s[h + SIZE], ITERATIONS)
        limit = steps_up(s[h + WINDOW], t[h + WINDOW], end, limit)
    return limit


@helper("b1(i8[::1], i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def affordable(s, p, cell):
    """Spend the effort of comparing all rows and messages, if as much has been saved up."""
    effort = 0
    for row in range(N_ROWS):
        effort += s[COUNT + row]
    if partial_messages(s) > 1:
        effort += 2 * N_KINDS * p[P_WINDOW]
    if s[cell] < effort:
        return False
    s[cell] -= effort
    return True


@helper("void(i8[::1], i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def arrivals_skip(s, p, ahead):
    """Number on what is left of partly received messages of node 0."""
    for index in range(p[P_WINDOW] - 1, -1, -1):
        for kind in range(1, N_KINDS):
            cell = message_cells(p, 0, index) + LEFT + kind
            s[cell] = s[cell - ahead * N_MESSAGE] if index >= ahead else 0


@helper("i8(i8[::1], i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def periods(s, t, p, now, then, level, word):
    """Return how many times what happened between two states may be repeated, 0 for not at all.

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
    shift = index_of(word) - index_of(t[watch_cells(level) + KEPT_WORD])
    if elapsed <= 0:
        return 0
    for row in range(N_EVENT):
        due, before = s[DUE + row], t[DUE + row]
        if due == NEVER or before == NEVER:
            if due != before:
                return 0
        elif due != before + elapsed:
            return 0
    limit = network_periods(s, t, p, now, then, NO_LIMIT)
    if limit > 0:
        limit = host_periods(s, t, p, now, then, level, shift, limit)
    if limit == 0 or not affordable(s, p, watch_cells(level) + EFFORT):
        return 0
    row = 0
    while limit > 0 and row < N_ROWS:
        if is_counted(p, row):
            limit = list_periods(s, t, p, row, shift, limit)
        elif not same_events(s, t, row, elapsed, shift):
            return 0
        row += 1
    if limit == 0:
        return 0
    counting = -1
    if level == PACKET:
        counting = message_cells(p, direction_of(word), index_of(word)) + LEFT + kind_of(word)
        limit = steps_down(s[counting], t[counting], MARGIN * p[P_MTU], limit)
    # What would go beyond the end of the clock is left to be refused there.
    limit = min(limit, (CLOCK_END - now) // elapsed + 1)
    return limit if same_arrivals(s, t, p, shift, counting) else 0


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def delay(s, t, cell, later):
    """Move a time on if it moves with the clock; one that has stayed in the past stays there."""
    if s[cell] != t[cell]:
        s[cell] += later


@helper("void(i8[::1], i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def skip(s, t, p, elapsed, level, word, n):
    """Move a state on by `n` periods of `elapsed` ticks."""
    shift = index_of(word) - index_of(t[watch_cells(level) + KEPT_WORD])
    later = n * elapsed
    for row in range(N_ROWS):
        if is_counted(p, row):
            list_skip(s, t, row, shift, n)
            continue
        for i in range(s[COUNT + row]):
            e = entry(s, row, i)
            s[e + WORD] = moved(s[e + WORD], n * shift)
            if row < N_EVENT:
                s[e + AT] += later
        if row < N_EVENT and s[COUNT + row] > 0:
            s[DUE + row] += later
    for port in range(4):
        c = port_cells(port)
        delay(s, t, c + NEXT_FREE, later)
        s[c + CREDITS] += n * (s[c + CREDITS] - t[c + CREDITS])
        s[c + XBAR_CREDITS] += n * (s[c + XBAR_CREDITS] - t[c + XBAR_CREDITS])
    for arbiter in range(N_ARBITERS):
        delay(s, t, ARBITER_FREE + arbiter, later)
        for i in range(s[N_EPOCHS + arbiter]):
            delay(s, t, epoch(arbiter, i), later)
    for node in range(2):
        c = nic_cells(node)
        s[c + BUFFER] += n * (s[c + BUFFER] - t[c + BUFFER])
        delay(s, t, c + OUT_FREE, later)
        delay(s, t, c + IN_FREE, later)
        h = host_cells(node)
        delay(s, t, h + MEMORY_FREE, later)
        for channel in range(p[P_CHANNELS]):
            delay(s, t, channel_cell(s, p, node, channel), later)
        s[h + MESSAGE] = moved(s[h + MESSAGE], n * shift)
        for cell in (POSTED, SENT, OPEN, RECEIVED, NEXT_SEQUENCE, WINDOW):
            s[h + cell] += n * (s[h + cell] - t[h + cell])
    if level == PACKET:
        cell = message_cells(p, direction_of(word), index_of(word)) + LEFT + kind_of(word)
        s[cell] += n * (s[cell] - t[cell])
    elif partial_messages(s) > 0:
        arrivals_skip(s, p, n * shift)
    for index in range(p[P_WINDOW]):
        s[message_cells(p, 0, index) + MESSAGE_SIZE] = s[host_cells(0) + SIZE]


@helper("void(i8[::1])", cache=True, nogil=True, _nrt=False)
def forget(s):
    """Give up the states kept at all levels."""
    for level in range(PACKET, WHOLE_WINDOW + 1):
        s[watch_cells(level) + VALID] = 0


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def keep(s, t, level, now, word):
    """Keep the state for later comparison."""
    c = watch_cells(level)
    s[c + VALID] = 1
    s[c + THEN] = now
    s[c + LENGTH] = 0
    s[c + KEPT_WORD] = word
    for i in range(s[ROWS]):
        t[i] = s[i]
    for row in range(N_ROWS):
        for i in range(s[COUNT + row]):
            e = entry(s, row, i)
            t[e] = s[e]
            t[e + WORD] = s[e + WORD]
            t[e + EXTRA] = s[e + EXTRA]


@helper("void(i8[::1], i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def checkpoint(s, t, p, level, now, word):
    """Look whether the state recurs at a level, and skip what would repeat."""
    c = watch_cells(level)
    kept = s[c + KEPT_WORD]
    related = s[c + VALID] == 1
    if related and level == PACKET:
        related = word & 0xFFFFFF == kept & 0xFFFFFF
    elif related and level == WHOLE_MESSAGE:
        related = index_of(word) > index_of(kept)
    if not related:
        s[c + POWER] = 1
        keep(s, t, level, now, word)
        return
    s[c + EFFORT] += EFFORT_PER_CHECKPOINT
    n = periods(s, t, p, now, s[c + THEN], level, word)
    if n > 0:
        skip(s, t, p, now - s[c + THEN], level, word, n)
        s[c + VALID] = 0
        return
    s[c + LENGTH] += 1
    if s[c + LENGTH] == s[c + POWER]:
        s[c + POWER] *= 2
        keep(s, t, level, now, word)
