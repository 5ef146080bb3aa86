"""Lists of events and packets: the rows of the state."""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout


@helper
def entry(s, row, i):
    """Return the position in the state of entry `i` of a row."""
    capacity = s[layout.CAPACITY]
    return s[layout.ROWS] + layout.N_ENTRY * (
        row * capacity + ((s[layout.HEAD + row] + i) & (capacity - 1))
    )


@helper
def put(s, row, i, at, word, extra, delay):
    """Write entry `i` of a row."""
    e = entry(s, row, i)
    s[e + layout.AT] = at
    s[e + layout.WORD] = word
    s[e + layout.EXTRA] = extra
    s[e + layout.GAP] = 0
    s[e + layout.DELAY] = delay


@helper
def move(s, row, source, target):
    """Copy one entry of a row over another."""
    e, f = entry(s, row, source), entry(s, row, target)
    for cell in range(layout.N_ENTRY):
        s[f + cell] = s[e + cell]


@helper
def position(s, row, at):
    """Return the position of the first of a row's events that is later than a tick."""
    low, high = 0, s[layout.COUNT + row]
    while low < high:
        middle = (low + high) >> 1
        if s[entry(s, row, middle) + layout.AT] > at:
            high = middle
        else:
            low = middle + 1
    return low


@helper
def make_room(s, row, at):
    """Add a place at a position of a row; return False if the row is full.

    The fewer entries move, before it or behind: PISCES returns credits long after the packets that
    enter an output buffer meanwhile. From the back only, a trial took up to 40 times as long
    (tests/benchmarks/test_two_node.py).
    """
    n = s[layout.COUNT + row]
    if n == s[layout.CAPACITY]:
        s[layout.FULL] = 1
        return False
    s[layout.COUNT + row] = n + 1
    if at < n - at:
        s[layout.HEAD + row] = (s[layout.HEAD + row] - 1) & (s[layout.CAPACITY] - 1)
        for i in range(at):
            move(s, row, i + 1, i)
    else:
        for i in range(n, at, -1):
            move(s, row, i - 1, i)
    return True


@helper
def schedule_head(s, row, at, word, extra, delay):
    """Add a packet's head; events of one tick keep the order in which they were scheduled."""
    i = s[layout.COUNT + row]
    if i > 0 and s[entry(s, row, i - 1) + layout.AT] > at:
        i = position(s, row, at)
    if make_room(s, row, i):
        put(s, row, i, at, word, extra, delay)
        if i == 0:
            s[layout.DUE + row] = at


@helper
def schedule(s, row, at, word, extra):
    """Add an event; events of one tick keep the order in which they were scheduled."""
    schedule_head(s, row, at, word, extra, 0)


@helper
def append(s, row, at, word, extra):
    """Add an entry at the end of a FIFO list."""
    i = s[layout.COUNT + row]
    if i == s[layout.CAPACITY]:
        s[layout.FULL] = 1
        return
    s[layout.COUNT + row] = i + 1
    put(s, row, i, at, word, extra, 0)


@helper
def append_packets(s, row, word, n, delay):
    """Add `n` equal packets at the end of a list, joined to the last entry if they equal it."""
    if s[layout.COUNT + row] > 0:
        last = entry(s, row, s[layout.COUNT + row] - 1)
        if s[last + layout.WORD] == word and s[last + layout.DELAY] == delay:
            s[last + layout.EXTRA] += n
            return
    append(s, row, 0, word, n)
    s[entry(s, row, s[layout.COUNT + row] - 1) + layout.DELAY] = delay


@helper
def append_train(s, row, at, word, n, step, delay):
    """Add a train behind all events of a row; one that goes on like the last train joins it."""
    i = s[layout.COUNT + row]
    if i > 0:
        e = entry(s, row, i - 1)
        ahead = s[e + layout.EXTRA]
        every = s[e + layout.GAP]
        gap = at - s[e + layout.AT] - (ahead - 1) * every
        if ahead == 1:
            every = gap
        alike = s[e + layout.WORD] == word and s[e + layout.DELAY] == delay
        if alike and gap == every and (n == 1 or step == every):
            s[e + layout.EXTRA] = ahead + n
            s[e + layout.GAP] = every
            return
    append(s, row, at, word, n)
    e = entry(s, row, i)
    s[e + layout.DELAY] = delay
    if n > 1:
        s[e + layout.GAP] = step
    if i == 0:
        s[layout.DUE + row] = at


@helper
def last_tick(s, row, i):
    """Return the tick of the last packet or credit of a train."""
    e = entry(s, row, i)
    return s[e + layout.AT] + (s[e + layout.EXTRA] - 1) * s[e + layout.GAP]


@helper
def divide(s, row, i, n):
    """Cut the train at a position in two, behind its first `n` elements."""
    if not make_room(s, row, i + 1):
        return
    move(s, row, i, i + 1)
    e, f = entry(s, row, i), entry(s, row, i + 1)
    s[f + layout.AT] += n * s[e + layout.GAP]
    s[f + layout.EXTRA] -= n
    s[e + layout.EXTRA] = n
    for half in (e, f):
        if s[half + layout.EXTRA] == 1:
            s[half + layout.GAP] = 0


@helper
def insert(s, row, at, word, n, step, delay):
    """Add a train to a row; what comes at one tick keeps the order in which it was added."""
    behind = s[layout.COUNT + row] - 1
    if behind < 0 or last_tick(s, row, behind) <= at:
        append_train(s, row, at, word, n, step, delay)
        return
    for _ in range(n):
        i = position(s, row, at)
        if i > 0 and last_tick(s, row, i - 1) > at:
            e = entry(s, row, i - 1)
            divide(s, row, i - 1, (at - s[e + layout.AT]) // s[e + layout.GAP] + 1)
        if make_room(s, row, i):
            put(s, row, i, at, word, 1, delay)
            if i == 0:
                s[layout.DUE + row] = at
        at += step


@helper
def drop(s, row):
    """Remove the first entry of a row."""
    s[layout.HEAD + row] = (s[layout.HEAD + row] + 1) & (s[layout.CAPACITY] - 1)
    s[layout.COUNT + row] -= 1
    if row < layout.N_EVENT:
        s[layout.DUE + row] = (
            s[entry(s, row, 0) + layout.AT] if s[layout.COUNT + row] > 0 else layout.NEVER
        )


@helper
def advance_train(s, row, n):
    """Remove `n` packets or credits from the train at the head of a row."""
    e = entry(s, row, 0)
    left = s[e + layout.EXTRA] - n
    if left == 0:
        drop(s, row)
        return
    s[e + layout.AT] += n * s[e + layout.GAP]
    s[e + layout.EXTRA] = left
    if left == 1:
        s[e + layout.GAP] = 0
    s[layout.DUE + row] = s[e + layout.AT]


@helper
def remove(s, row, i):
    """Remove entry `i` of a FIFO list; the entries before it move up."""
    while i > 0:
        move(s, row, i - 1, i)
        i -= 1
    drop(s, row)


@helper
def lean_on(s, row, amount):
    """Note that PISCES would have done the same if there were less of a row's first entry.

    Without this recurrence.py would have to stop far before a message ends or the last packet that
    waits moves on: trials of Table II took 40 ms in the mean and 1.4 s at most, instead of 20 ms
    and 0.23 s (tests/benchmarks/test_two_node.py).

    Args:
        s: the simulation's state.
        row: INJECT + node, or one of packets that wait.
        amount: how many bytes or packets less at most; below 0 if one more would matter too.
    """
    for level in range(layout.PACKET, layout.WHOLE_WINDOW + 1):
        cell = layout.leeway(level, row)
        s[cell] = min(s[cell], amount)


@helper
def take(s, row, i, n):
    """Remove `n` of the packets of entry `i` of those that wait."""
    e = entry(s, row, i)
    s[e + layout.EXTRA] -= n
    lean_on(s, row, s[e + layout.EXTRA] - 1)
    if s[e + layout.EXTRA] == 0:
        remove(s, row, i)


@helper
def next_row(s):
    """Return the row of the next event: the earliest, and of one tick the lowest row."""
    best = 0
    for row in range(1, layout.N_EVENT):
        if s[layout.DUE + row] < s[layout.DUE + best]:
            best = row
    return best
