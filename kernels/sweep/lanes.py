"""A pass over a packed program for eight latencies, or slopes, at once.

The eight keys of a register lie side by side, and each instruction loads all of them before it
stores one. LLVM makes vector instructions of that, which it does not of a loop over eight, where
NUMBA_SLP_VECTORIZE=1 is set.
"""

import numpy as np

from kernels import kernel
from kernels.sweep import layout

LANES = 8  # chosen: keys of a register, int64, fill a line of the cache


@kernel(cache=True, nogil=True)
def keys(code, slot, row, calc, table, own, per_ns, registers, slots):
    """Find eight keys at each register's last setting.

    Args:
        code: uint32 or uint64[instructions].
        slot: uint16 or uint32[slotted instructions].
        row: uint16 or uint32[typed instructions].
        calc: int32 or int64[computations], ns.
        table: int64[rows, 8], keys.
        own: key of a host's overhead.
        per_ns: key of a nanosecond.
        registers: int64[registers, 8], zeros; out.
        slots: int64[slots, 8], room.
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
        x0 = registers[source, 0]
        x1 = registers[source, 1]
        x2 = registers[source, 2]
        x3 = registers[source, 3]
        x4 = registers[source, 4]
        x5 = registers[source, 5]
        x6 = registers[source, 6]
        x7 = registers[source, 7]
        if kind <= layout.RECV + layout.TO_LATEST:
            place = slot[at_slot]
            at_slot += one
            x0 = max(x0, slots[place, 0]) + own
            x1 = max(x1, slots[place, 1]) + own
            x2 = max(x2, slots[place, 2]) + own
            x3 = max(x3, slots[place, 3]) + own
            x4 = max(x4, slots[place, 4]) + own
            x5 = max(x5, slots[place, 5]) + own
            x6 = max(x6, slots[place, 6]) + own
            x7 = max(x7, slots[place, 7]) + own
        elif kind <= layout.SEND + layout.TO_LATEST:
            place = slot[at_slot]
            cost = row[at_row]
            at_slot += one
            at_row += one
            c0 = x0 + table[cost, 0]
            c1 = x1 + table[cost, 1]
            c2 = x2 + table[cost, 2]
            c3 = x3 + table[cost, 3]
            c4 = x4 + table[cost, 4]
            c5 = x5 + table[cost, 5]
            c6 = x6 + table[cost, 6]
            c7 = x7 + table[cost, 7]
            slots[place, 0] = c0
            slots[place, 1] = c1
            slots[place, 2] = c2
            slots[place, 3] = c3
            slots[place, 4] = c4
            slots[place, 5] = c5
            slots[place, 6] = c6
            slots[place, 7] = c7
            x0 += own
            x1 += own
            x2 += own
            x3 += own
            x4 += own
            x5 += own
            x6 += own
            x7 += own
        elif kind <= layout.CALC + layout.TO_LATEST:
            added = np.int64(calc[at_calc]) * per_ns
            at_calc += one
            x0 += added
            x1 += added
            x2 += added
            x3 += added
            x4 += added
            x5 += added
            x6 += added
            x7 += added
        elif kind >= layout.TAKE:
            place = slot[at_slot]
            cost = row[at_row]
            at_slot += one
            at_row += one
            if kind < layout.MEET:
                x0 = slots[place, 0]
                x1 = slots[place, 1]
                x2 = slots[place, 2]
                x3 = slots[place, 3]
                x4 = slots[place, 4]
                x5 = slots[place, 5]
                x6 = slots[place, 6]
                x7 = slots[place, 7]
            elif kind < layout.PUT:
                x0 = max(x0, slots[place, 0])
                x1 = max(x1, slots[place, 1])
                x2 = max(x2, slots[place, 2])
                x3 = max(x3, slots[place, 3])
                x4 = max(x4, slots[place, 4])
                x5 = max(x5, slots[place, 5])
                x6 = max(x6, slots[place, 6])
                x7 = max(x7, slots[place, 7])
            x0 += table[cost, 0]
            x1 += table[cost, 1]
            x2 += table[cost, 2]
            x3 += table[cost, 3]
            x4 += table[cost, 4]
            x5 += table[cost, 5]
            x6 += table[cost, 6]
            x7 += table[cost, 7]
            if kind >= layout.MEET:
                slots[place, 0] = x0
                slots[place, 1] = x1
                slots[place, 2] = x2
                slots[place, 3] = x3
                slots[place, 4] = x4
                slots[place, 5] = x5
                slots[place, 6] = x6
                slots[place, 7] = x7
                if kind == layout.PUT:
                    continue
        if kind & latest:
            x0 = max(x0, registers[target, 0])
            x1 = max(x1, registers[target, 1])
            x2 = max(x2, registers[target, 2])
            x3 = max(x3, registers[target, 3])
            x4 = max(x4, registers[target, 4])
            x5 = max(x5, registers[target, 5])
            x6 = max(x6, registers[target, 6])
            x7 = max(x7, registers[target, 7])
        registers[target, 0] = x0
        registers[target, 1] = x1
        registers[target, 2] = x2
        registers[target, 3] = x3
        registers[target, 4] = x4
        registers[target, 5] = x5
        registers[target, 6] = x6
        registers[target, 7] = x7
