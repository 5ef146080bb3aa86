"""Whether a part of the state recurs, and how often a counter in it may repeat its step.

Times count relative to the clock, messages relative to the one that has just arrived.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.queues import entry

# A counter stops this far from its end: the packets or messages left are simulated.
MARGIN = 2


@helper
def moved(word, shift):
    """Return the word as it is `shift` messages later; only node 0's messages are numbered on."""
    if layout.kind_of(word) != 0 and layout.direction_of(word) == 0:
        return word + (shift << 4)
    return word


@helper
def same_time(here, now, there, then):
    """Return True if a time has moved with the clock, or has stayed where it was in the past."""
    return here - now == there - then or (here == there and there <= then)


@helper
def steps_up(here, there, end, limit):
    """Return how many periods a counter that rises may go on before it reaches its end."""
    if here == there:
        return limit
    if here < there:
        return 0
    return min(limit, (end - 1 - here) // (here - there))


@helper
def steps_down(here, there, end, limit):
    """Return how many periods a counter that falls may go on before it reaches its end."""
    if here >= there:
        return limit
    return min(limit, (here - end) // (there - here))


@helper
def counter_of(row):
    """Return which cell of a row's entries counts: bytes of a message, or packets."""
    return layout.AT if row < layout.PENDING else layout.EXTRA


@helper
def is_counted(row):
    """Return True for the rows whose entries are counted down."""
    return layout.INJECT <= row < layout.INBOX or row >= layout.XBAR_PENDING


@helper
def same_head(s, t, row):
    """Return True if two rows are of one length and begin with trains of one length."""
    return (
        s[layout.COUNT + row] == t[layout.COUNT + row]
        and s[entry(s, row, 0) + layout.EXTRA] == t[entry(t, row, 0) + layout.EXTRA]
    )


@helper
def agreeing(s, t, row, elapsed, shift):
    """Count entries at the head of a row that are the same but for shifts of tick and number."""
    timed = row < layout.N_EVENT
    n = min(s[layout.COUNT + row], t[layout.COUNT + row])
    for i in range(n):
        e, f = entry(s, row, i), entry(t, row, i)
        if s[e + layout.EXTRA] != t[f + layout.EXTRA] or s[e + layout.WORD] != moved(
            t[f + layout.WORD], shift
        ):
            return i
        if timed and s[e + layout.AT] != t[f + layout.AT] + elapsed:
            return i
        if s[e + layout.GAP] != t[f + layout.GAP] or s[e + layout.DELAY] != t[f + layout.DELAY]:
            return i
    return n


@helper
def same_events(s, t, row, elapsed, shift):
    """Compare a row whose entries must all be there, moved in time and in number."""
    n = s[layout.COUNT + row]
    return n == t[layout.COUNT + row] and agreeing(s, t, row, elapsed, shift) == n


@helper
def taken(s, t, row, elapsed):
    """Count what has left the front of a row's first train in a period.

    It is 0 if the row's first event lies in the future and has not moved, and -1 if the first
    train differs in any other way.
    """
    e, f = entry(s, row, 0), entry(t, row, 0)
    if s[e + layout.WORD] != t[f + layout.WORD] or s[e + layout.DELAY] != t[f + layout.DELAY]:
        return -1
    later = s[e + layout.AT] - t[f + layout.AT]
    if later == 0:
        return 0
    every = t[f + layout.GAP]
    if later != elapsed or every == 0 or elapsed % every != 0:
        return -1
    return elapsed // every if elapsed // every < t[f + layout.EXTRA] else -1


@helper
def grown(s, t, row, gone):
    """Count what has joined, in a period, the train that was then a row's last.

    Trains behind it are new and came in the same period. It is -1 if anything else differs.
    """
    last = t[layout.COUNT + row] - 1
    if s[layout.COUNT + row] <= last:
        return -1
    for i in range(last + 1):
        e, f = entry(s, row, i), entry(t, row, i)
        ahead = t[f + layout.EXTRA] - (gone if i == 0 else 0)
        joined = s[e + layout.EXTRA] - ahead
        if s[e + layout.WORD] != t[f + layout.WORD] or s[e + layout.DELAY] != t[f + layout.DELAY]:
            return -1
        if i > 0 and s[e + layout.AT] != t[f + layout.AT]:
            return -1
        if ahead > 1 and s[e + layout.GAP] != t[f + layout.GAP]:
            return -1
        if i == last and joined >= 0:
            return joined
        if joined != 0:
            return -1
    return -1


@helper
def lengthens(s, t, row, joined, elapsed):
    """Return True if what each period adds to a row goes on as its last train does."""
    last = s[layout.COUNT + row] - 1
    return last == t[layout.COUNT + row] - 1 and joined * s[entry(s, row, last) + layout.GAP] in (
        0,
        elapsed,
    )


@helper
def is_of_trains(p, row):
    """Return True for the rows whose events are trains."""
    if p[layout.P_NETWORK] == layout.PISCES and row in (layout.NIC_IN, layout.NIC_IN + 2):
        return False
    return layout.NIC_CREDIT <= row < layout.NIC and p[layout.P_NETWORK] in (
        layout.SNAPPR,
        layout.PISCES,
    )


@helper
def event_periods(s, t, p, row, now, elapsed, limit):
    """Return how many more periods a row may repeat, where not all of its events move with time.

    The first event may lie beyond those periods, or be a train that loses the same number in each
    period. The other events stay, and what comes in a period is added at the end.
    """
    gone = taken(s, t, row, elapsed)
    if gone < 0:
        return 0
    joined = grown(s, t, row, gone)
    new = s[layout.COUNT + row] - t[layout.COUNT + row]
    if joined < 0 or (not is_of_trains(p, row) and joined + new + gone > 0):
        return 0
    if gone == 0:
        # What is handled ahead of its time lies less than a period ahead.
        limit = min(limit, (s[entry(s, row, 0) + layout.AT] - now - 1) // elapsed - 1)
    else:
        before = t[entry(t, row, 0) + layout.EXTRA]
        limit = min(limit, (before - gone - MARGIN) // gone)
    if not lengthens(s, t, row, joined, elapsed):
        # Each period may need that many entries, and one where those it adds do not join the last.
        limit = min(limit, (s[layout.CAPACITY] - s[layout.COUNT + row]) // (new + 1))
    return max(limit, 0)


@helper
def list_periods(s, t, p, row, level, shift, limit):
    """Return how many periods a counted list may go on, 0 if it does not repeat.

    Either its first and last entries count and all else stays, or whole entries have gone from
    its front and those that follow repeat in the same way. What waits in PISCES only counts: a
    shorter packet passes it.
    """
    counter = counter_of(row)
    pisces = p[layout.P_NETWORK] == layout.PISCES
    n, gone = s[layout.COUNT + row], t[layout.COUNT + row] - s[layout.COUNT + row]
    if gone < 0 or (gone > 0 and pisces and row >= layout.PENDING):
        return 0
    for i in range(n):
        e, f = entry(s, row, i), entry(t, row, i)
        if s[e + layout.WORD] != moved(t[f + layout.WORD], shift):
            return 0
        if s[e + layout.DELAY] != t[f + layout.DELAY]:
            return 0
        here, there = s[e + counter], t[f + counter]
        if here == there:
            continue
        if gone > 0 or (i > 0 and i < n - 1):
            return 0
        end = MARGIN * p[layout.P_MTU] if counter == layout.AT else MARGIN
        if pisces:
            leeway = s[layout.leeway(level, row)]
            if leeway < 0 or (here > there and row < layout.PENDING):
                return 0
            limit = steps_down(leeway, leeway + there - here, 0, limit)
        limit = steps_down(here, there, end, limit)
    if gone == 0:
        return limit
    for i in range(n - gone):
        e, f = entry(s, row, i), entry(s, row, i + gone)
        if s[f + layout.WORD] != moved(s[e + layout.WORD], shift):
            return 0
        if s[f + layout.DELAY] != s[e + layout.DELAY]:
            return 0
        if i > 0 and s[f + counter] != s[e + counter]:
            return 0
    return min(limit, (n - gone - 1) // gone)


@helper
def untouched(s, t, arbiter):
    """Return True if an arbiter has placed nothing: its idle epochs, as many, have not moved.

    Those of the direction that is silent while a long message is sent the other way lie in the
    past, all of them.
    """
    for i in range(s[layout.N_EPOCHS + arbiter]):
        e = layout.epoch(arbiter, i)
        if s[e] != t[e] or s[e + layout.CYCLES] != t[e + layout.CYCLES]:
            return False
    return True


@helper
def same_arbiters(s, t, now, then):
    """Compare what is left of the idle epochs, and the free times, of all PISCES arbiters."""
    for arbiter in range(layout.N_ARBITERS):
        free, before = s[layout.ARBITER_FREE + arbiter], t[layout.ARBITER_FREE + arbiter]
        if not same_time(free, now, before, then):
            return False
        n = s[layout.N_EPOCHS + arbiter]
        if n != t[layout.N_EPOCHS + arbiter]:
            return False
        if untouched(s, t, arbiter):
            continue
        for i in range(n):
            e = layout.epoch(arbiter, i)
            if i == n - 1:
                if not same_time(s[e], now, t[e], then):
                    return False
            elif s[e] - now != t[e] - then or s[e + layout.CYCLES] != t[e + layout.CYCLES]:
                return False
    return True


@helper
def credit_periods(s, t, p, cell, waiting, unread, limit):
    """Return the number of periods that these credits allow to skip.

    They may change only while no packet waits for them. Those of PISCES may only grow, and only if
    nothing has looked at them since the earlier state was kept.
    """
    if s[cell] == t[cell]:
        return limit
    if waiting > 0:
        return 0
    if p[layout.P_NETWORK] == layout.PISCES and s[layout.AT_ONCE] > 1:
        # Within a period of many packets they may be fewer than at its end.
        return limit if unread and s[cell] > t[cell] else 0
    return steps_down(s[cell], t[cell], MARGIN * max(p[layout.P_MTU], layout.CONTROL_BYTES), limit)


@helper
def partial_messages(s):
    """Return the number of messages that have been received in part."""
    return s[layout.nic_cells(0) + layout.PARTIAL] + s[layout.nic_cells(1) + layout.PARTIAL]


@helper
def same_arrivals(s, t, p, shift, counting):
    """Compare what is left of partly received messages, but for the one cell that counts.

    There are several when the short last packet of a message passes packets that wait for credit.
    """
    if partial_messages(s) == (1 if counting >= 0 else 0):
        return True
    for direction in range(2):
        ahead = shift if direction == 0 else 0
        for index in range(p[layout.P_WINDOW]):
            for kind in range(1, layout.N_KINDS):
                cell = layout.message_cells(p, direction, index) + layout.LEFT + kind
                before = index - ahead
                expected = t[cell - ahead * layout.N_MESSAGE] if before >= 0 else 0
                if cell != counting and s[cell] != expected:
                    return False
    return True
