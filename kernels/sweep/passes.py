"""One pass over a packed program, for one latency: keys, two numbers in order, or with notes.

A key is ``picoseconds << bits`` plus how often the latency is in it. One addition and one maximum
of such keys give the longest time and, of all paths that take it, the most latencies: the slope of
T(L) to the right. With the latencies subtracted it is the slope to the left (exact, at the cost of
T alone). Where 63 bits are too few for that, ``pairs`` carries two numbers and compares them in
order, at half the speed.
"""

import numpy as np

from kernels import kernel
from kernels.sweep import layout

EARLIEST = np.int64(-(2**63))  # the least int64: before every key


@kernel(cache=True, nogil=True)
def keys(code, slot, row, calc, table, own, per_ns, registers, slots):
    """Find the key at each register's last setting.

    Args:
        code: uint32 or uint64[instructions].
        slot: uint16 or uint32[slotted instructions].
        row: uint16 or uint32[typed instructions].
        calc: int32 or int64[computations], ns.
        table: int64[rows], keys.
        own: key of a host's overhead.
        per_ns: key of a nanosecond.
        registers: int64[registers], zeros; out.
        slots: int64[slots], room.
    """
    width = np.uint64(layout.NARROW if np.iinfo(code.dtype).bits == 32 else layout.WIDE)
    mask = (np.uint64(1) << width) - np.uint64(1)
    one = np.uint64(1)
    latest = np.uint64(layout.TO_LATEST)
    at_slot = at_row = at_calc = np.uint64(0)
    for i in range(len(code)):
        word = np.uint64(code[i])
        kind = word >> (width + width)
        target = word & mask
        x = registers[(word >> width) & mask]
        if kind <= layout.RECV + layout.TO_LATEST:
            x = max(x, slots[slot[at_slot]]) + own
            at_slot += one
        elif kind <= layout.SEND + layout.TO_LATEST:
            slots[slot[at_slot]] = x + table[row[at_row]]
            at_slot += one
            at_row += one
            x += own
        elif kind <= layout.CALC + layout.TO_LATEST:
            x += np.int64(calc[at_calc]) * per_ns
            at_calc += one
        elif kind >= layout.TAKE:
            cost = table[row[at_row]]
            at_row += one
            place = slot[at_slot]
            at_slot += one
            if kind < layout.MEET:
                x = slots[place] + cost
            else:
                if kind < layout.PUT:
                    x = max(x, slots[place])
                x += cost
                slots[place] = x
                if kind == layout.PUT:
                    continue
        # A choice between values, not a branch: 1.2x (halo and allreduce, 10^6 operations,
        # tests/benchmarks/test_sweep.py).
        before = registers[target]
        if kind & latest == 0:
            before = EARLIEST
        registers[target] = max(x, before)


@kernel(cache=True, nogil=True)
def pairs(
    code,
    slot,
    row,
    calc,
    first_table,
    second_table,
    first_own,
    second_own,
    first_per_ns,
    second_per_ns,
    registers,
    slots,
    notes,
):
    """Find two numbers at each register's last setting, the later by the first, then the second.

    Args:
        code: uint32 or uint64[instructions].
        slot: uint16 or uint32[slotted instructions].
        row: uint16 or uint32[typed instructions].
        calc: int32 or int64[computations], ns.
        first_table: int64[rows].
        second_table: int64[rows].
        first_own: of a host's overhead.
        second_own: of a host's overhead.
        first_per_ns: of a nanosecond.
        second_per_ns: of a nanosecond.
        registers: int64[registers, 2], zeros; out.
        slots: int64[slots, 2], room.
        notes: uint8[instructions], out, ``MESSAGE_WON`` and ``TARGET_WON``; or empty.
    """
    width = np.uint64(layout.NARROW if np.iinfo(code.dtype).bits == 32 else layout.WIDE)
    mask = (np.uint64(1) << width) - np.uint64(1)
    one = np.uint64(1)
    latest = np.uint64(layout.TO_LATEST)
    at_slot = at_row = at_calc = np.uint64(0)
    noted = len(notes) > 0
    for i in range(len(code)):
        word = np.uint64(code[i])
        kind = word >> (width + width)
        target = word & mask
        source = (word >> width) & mask
        x, y = registers[source, 0], registers[source, 1]
        note = 0
        if kind <= layout.RECV + layout.TO_LATEST or layout.MEET <= kind < layout.PUT:
            m, k = slots[slot[at_slot], 0], slots[slot[at_slot], 1]
            if m > x or (m == x and k > y):
                x, y = m, k
                note = layout.MESSAGE_WON
        if kind <= layout.RECV + layout.TO_LATEST:
            at_slot += one
            x += first_own
            y += second_own
        elif kind <= layout.SEND + layout.TO_LATEST:
            slots[slot[at_slot], 0] = x + first_table[row[at_row]]
            slots[slot[at_slot], 1] = y + second_table[row[at_row]]
            at_slot += one
            at_row += one
            x += first_own
            y += second_own
        elif kind <= layout.CALC + layout.TO_LATEST:
            x += np.int64(calc[at_calc]) * first_per_ns
            y += np.int64(calc[at_calc]) * second_per_ns
            at_calc += one
        elif kind >= layout.TAKE:
            place = slot[at_slot]
            at_slot += one
            if kind < layout.MEET:
                x, y = slots[place, 0], slots[place, 1]
            x += first_table[row[at_row]]
            y += second_table[row[at_row]]
            at_row += one
            if kind >= layout.MEET:
                slots[place, 0] = x
                slots[place, 1] = y
                if kind == layout.PUT:
                    continue
        if kind & latest:
            m, k = registers[target, 0], registers[target, 1]
            if m > x or (m == x and k >= y):
                x, y = m, k
                note += layout.TARGET_WON
        registers[target, 0] = x
        registers[target, 1] = y
        if noted:
            notes[i] = note


@kernel(cache=True, nogil=True)
def point(
    code,
    slot,
    row,
    calc,
    table,
    own,
    per_ns,
    registers,
    slots,
    notes,
):
    """Find left and right keys at each register's last setting, and note what the right ones met.

    Args:
        code: uint32 or uint64[instructions].
        slot: uint16 or uint32[slotted instructions].
        row: uint16 or uint32[typed instructions].
        calc: int32 or int64[computations], ns.
        table: int64[rows, 2], keys with latencies subtracted and added.
        own: key of a host's overhead.
        per_ns: key of a nanosecond.
        registers: int64[registers, 2], zeros; out, left and right.
        slots: int64[slots, 2], room.
        notes: uint8[instructions], out, ``MESSAGE_WON`` and ``TARGET_WON``.
    """
    width = np.uint64(layout.NARROW if np.iinfo(code.dtype).bits == 32 else layout.WIDE)
    mask = (np.uint64(1) << width) - np.uint64(1)
    one = np.uint64(1)
    latest = np.uint64(layout.TO_LATEST)
    at_slot = at_row = at_calc = np.uint64(0)
    for i in range(len(code)):
        word = np.uint64(code[i])
        kind = word >> (width + width)
        target = word & mask
        source = (word >> width) & mask
        x, y = registers[source, 0], registers[source, 1]
        note = 0
        if kind <= layout.RECV + layout.TO_LATEST or layout.MEET <= kind < layout.PUT:
            place = slot[at_slot]
            x = max(x, slots[place, 0])
            note = layout.MESSAGE_WON if slots[place, 1] > y else 0
            y = max(y, slots[place, 1])
        if kind <= layout.RECV + layout.TO_LATEST:
            at_slot += one
            x += own
            y += own
        elif kind <= layout.SEND + layout.TO_LATEST:
            place, cost = slot[at_slot], row[at_row]
            at_slot += one
            at_row += one
            slots[place, 0] = x + table[cost, 0]
            slots[place, 1] = y + table[cost, 1]
            x += own
            y += own
        elif kind <= layout.CALC + layout.TO_LATEST:
            x += np.int64(calc[at_calc]) * per_ns
            y += np.int64(calc[at_calc]) * per_ns
            at_calc += one
        elif kind >= layout.TAKE:
            place, cost = slot[at_slot], row[at_row]
            at_slot += one
            at_row += one
            if kind < layout.MEET:
                x, y = slots[place, 0], slots[place, 1]
            x += table[cost, 0]
            y += table[cost, 1]
            if kind >= layout.MEET:
                slots[place, 0] = x
                slots[place, 1] = y
                if kind == layout.PUT:
                    continue
        if kind & latest:
            x = max(x, registers[target, 0])
            note += layout.TARGET_WON if registers[target, 1] >= y else 0
            y = max(y, registers[target, 1])
        registers[target, 0] = x
        registers[target, 1] = y
        notes[i] = note
