"""What comes to routers and hosts, by the tick at which it does.

Ticks are divided into buckets, each a list of records, on wheels of `SLOTS` buckets. A bucket of a
higher wheel holds what a whole turn of the wheel below will hold, and is spread over it when that
turn begins (Varghese, Lauck: Hashed and Hierarchical Timing Wheels, SOSP 1987, scheme 7). A record
is put into a bucket and taken out in a few steps, however many there are, and nothing is read but
the record itself.

When a window opens its records are handed to their components, each of which then has a short list
in SST/macro's order: by tick, then by the slot of the link that it comes by; of one link in the
order in which they were sent.

A bucket is a list of *sheets* with the positions of records, so that the records, which are no
longer in a fast cache, are read side by side and not one after the other.
"""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.fabric import layout

WHEEL_BITS = 11  # chosen: a wheel of 2048 cells takes 16 KiB of the first cache
SLOTS = 1 << WHEEL_BITS
LEVELS = 6
"""Wheels: enough for 62 bits of ticks."""
N_CALENDAR = LEVELS * SLOTS
_MASK = SLOTS - 1

# The first cell of a sheet, a record that lists up to seven others: the sheet before and how many.
_COUNT_BITS = 3
_COUNT = _MOST = 7  # the bits of that number; a record has eight cells


@helper
def _cell_above(s, bucket, apart):
    """Return the bucket on a higher wheel, which the bits say that it shares with the present."""
    wheel = s[layout.AT_CALENDAR]
    while apart >= SLOTS:
        apart >>= WHEEL_BITS
        bucket >>= WHEEL_BITS
        wheel += SLOTS
    return wheel + (bucket & _MASK)


@helper
def push(s, q, record):
    """Put a record into the bucket of its tick, which no bucket turned to so far is after."""
    bucket = q[record + layout.AT] >> s[layout.BUCKET_BITS]
    cell = s[layout.AT_CALENDAR] + (bucket & _MASK)
    apart = bucket ^ s[layout.POSITION_NOW]
    if apart >= SLOTS:
        cell = _cell_above(s, bucket, apart)
    sheet = s[cell]
    if sheet == layout.NOTHING or q[sheet] & _COUNT == _MOST:
        following = sheet
        sheet = layout.take_record(s, q)
        q[sheet] = following << _COUNT_BITS
        s[cell] = sheet
    q[sheet] += 1
    q[sheet + (q[sheet] & _COUNT)] = record


@helper
def _empty(s, q, cell):
    """Empty a bucket; return its records as a list, in the order in which they were put in."""
    first, sheet = np.int64(layout.NOTHING), s[cell]
    s[cell] = layout.NOTHING
    while sheet != layout.NOTHING:
        for i in range(q[sheet] & _COUNT, 0, -1):
            record = q[sheet + i]
            q[record + layout.NEXT] = first
            first = record
        following = q[sheet] >> _COUNT_BITS
        layout.free_record(s, q, sheet)
        sheet = following
    return first


@helper
def _begin_turn(s, q, position, limit):
    """Spread the next bucket of a higher wheel; return False if it begins after `limit`."""
    for level in range(1, LEVELS):
        shift = level * WHEEL_BITS
        here = position >> shift
        wheel = s[layout.AT_CALENDAR] + level * SLOTS
        for bucket in range(here + 1, min(here | _MASK, limit >> shift) + 1):
            if s[wheel + (bucket & _MASK)] == layout.NOTHING:
                continue
            s[layout.POSITION_NOW] = bucket << shift
            record = _empty(s, q, wheel + (bucket & _MASK))
            while record != layout.NOTHING:
                following = q[record + layout.NEXT]
                push(s, q, record)
                record = following
            return True
    return False


@helper
def _turn(s, q, limit):
    """Turn to the next bucket with a record, or to `limit` if there is none up to it.

    Returns:
        Whether there is one.
    """
    wheel = s[layout.AT_CALENDAR]
    while True:
        position = s[layout.POSITION_NOW]
        last = min(position | _MASK, limit)
        while position < last and s[wheel + (position & _MASK)] == layout.NOTHING:
            position += 1
        s[layout.POSITION_NOW] = position
        if s[wheel + (position & _MASK)] != layout.NOTHING:
            return True
        if position == limit or not _begin_turn(s, q, position, limit):
            s[layout.POSITION_NOW] = limit
            return False


@helper
def first_before(s, q, until):
    """Return the tick of the first record before `until`, NEVER if there is none."""
    first = np.int64(layout.NEVER)
    limit = max((until - 1) >> s[layout.BUCKET_BITS], s[layout.POSITION_NOW])
    if not _turn(s, q, limit):
        return first
    sheet = s[s[layout.AT_CALENDAR] + (s[layout.POSITION_NOW] & _MASK)]
    while sheet != layout.NOTHING:
        for i in range(1, (q[sheet] & _COUNT) + 1):
            first = min(first, q[q[sheet + i] + layout.AT])
        sheet = q[sheet] >> _COUNT_BITS
    return first if first < until else np.int64(layout.NEVER)


@helper
def is_empty(s):
    """Return whether there is no record."""
    for cell in range(s[layout.AT_CALENDAR], s[layout.AT_CALENDAR] + N_CALENDAR):
        if s[cell] != layout.NOTHING:
            return False
    return True


@helper
def slot_of(s, q, record):
    """Return the place of a record among those that come to its component in one tick."""
    came = q[record + layout.CAME_BY]
    c = layout.channel_cells(s, (came & layout.SIZE_MASK) >> 8)
    kind = came >> layout.KIND_SHIFT & 3
    if kind == layout.PACKET:
        return s[c + layout.SLOT_DATA]
    return s[c + layout.SLOT_CREDIT] if kind == layout.CREDIT else np.int64(layout.HELD_SLOT)


@helper
def _insert(s, q, cell, record):
    """Put a record into a component's list, behind its equals."""
    at, last = q[record + layout.AT], s[cell + 1]
    if s[cell] == layout.NOTHING or q[last + layout.AT] < at:
        # Most come in order: 3 % more packet-hops a second on 64 nodes, 5 to 16 % on a dragonfly of
        # 288 and a fat tree (tests/benchmarks/test_fabric.py, test_open_loop.py).
        q[record + layout.NEXT] = layout.NOTHING
        if s[cell] == layout.NOTHING:
            s[cell] = record
        else:
            q[last + layout.NEXT] = record
        s[cell + 1] = record
        return
    before, other = np.int64(layout.NOTHING), s[cell]
    while other != layout.NOTHING and q[other + layout.AT] <= at:
        if q[other + layout.AT] == at and slot_of(s, q, record) < slot_of(s, q, other):
            break
        before, other = other, q[other + layout.NEXT]
    q[record + layout.NEXT] = other
    if before == layout.NOTHING:
        s[cell] = record
    else:
        q[before + layout.NEXT] = record
    if other == layout.NOTHING:
        s[cell + 1] = record


@helper
def schedule(s, q, record):
    """Put a record into the calendar, or into its component's list if it is of this window."""
    if q[record + layout.AT] < s[layout.WINDOW_END]:
        component = q[record + layout.CAME_BY] >> layout.COMPONENT_SHIFT
        _insert(s, q, layout.todo_cell(s, component), record)
    else:
        push(s, q, record)


@helper
def hand_out(s, q, end):
    """Hand all records before tick `end` to their components."""
    last = (end - 1) >> s[layout.BUCKET_BITS]
    while _turn(s, q, last):
        record = _empty(s, q, s[layout.AT_CALENDAR] + (s[layout.POSITION_NOW] & _MASK))
        while record != layout.NOTHING:
            following = q[record + layout.NEXT]
            if q[record + layout.AT] >= end:
                push(s, q, record)
            else:
                component = q[record + layout.CAME_BY] >> layout.COMPONENT_SHIFT
                cell = layout.todo_cell(s, component)
                _insert(s, q, cell, record)
                if component >= s[layout.N_ROUTERS]:
                    at, due = q[s[cell] + layout.AT], s[layout.AT_DUE] + component
                    host = component - s[layout.N_ROUTERS]
                    s[layout.host_cells(s, host) + layout.DATA_DUE] = at
                    s[due] = min(s[due], at)
            record = following
        if s[layout.POSITION_NOW] == last:
            return
