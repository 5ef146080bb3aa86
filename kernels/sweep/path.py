"""Backwards over a packed program: its critical path; and over its graph: slack."""

import numpy as np

from kernels import kernel
from kernels.sweep import layout

OP_SEND, OP_RECV, OP_CALC = 1, 2, 3  # kinds of operations as LogGOPSim's binary numbers them

OK, WAITING = 0, 1  # done; operations wait for one another


@kernel(cache=True, nogil=True)
def walk(code, slot, slotted, typed, notes, last, found, row_at):
    """Follow a path from its last instruction to its first.

    Args:
        code: uint32 or uint64[instructions].
        slot: uint16 or uint32[slotted instructions].
        slotted: how many of them there are.
        typed: how many instructions have a row of costs.
        notes: uint8[instructions], of a pass.
        last: register to begin with.
        found: int32[room], out, instructions of the path, from the last to the first.
        row_at: int32[room], out, the place in the stream of rows of each that has one and is on
            the path with it; -1 for others, whose cost is the host's overhead or computation.

    Returns:
        How many instructions the path has; more than fit in ``found`` are counted, not kept.
    """
    width = np.uint64(layout.NARROW if np.iinfo(code.dtype).bits == 32 else layout.WIDE)
    mask = (np.uint64(1) << width) - np.uint64(1)
    latest = np.uint64(layout.TO_LATEST)
    at_slot, at_row = np.int64(slotted), np.int64(typed)
    register, place = np.int64(last), np.int64(-1)
    length = 0
    for i in range(len(code) - 1, -1, -1):
        word = np.uint64(code[i])
        kind = word >> (width + width)
        if kind <= layout.SEND + layout.TO_LATEST or kind >= layout.TAKE:
            at_slot -= 1
            if kind >= layout.SEND:
                at_row -= 1
        written = np.int64(word & mask)
        source = np.int64((word >> width) & mask)
        here = False
        row = np.int64(-1)
        if place != -1:
            # On the way to what filled a slot.
            if layout.SEND <= kind <= layout.SEND + layout.TO_LATEST or kind >= layout.MEET:
                here = np.int64(slot[at_slot]) == place
                row = at_row
                if here and (
                    kind < layout.MEET or kind == layout.PUT or notes[i] & layout.MESSAGE_WON == 0
                ):
                    place = np.int64(-1)
                    register = source
        elif kind < layout.PUT and written == register:
            here = (kind & latest) == 0 or (notes[i] & layout.TARGET_WON) == 0
            if here:
                register = source
                if kind >= layout.TAKE:
                    row = at_row
                taken = layout.TAKE <= kind < layout.MEET
                if taken or (
                    (kind < layout.SEND or kind >= layout.MEET) and notes[i] & layout.MESSAGE_WON
                ):
                    place = np.int64(slot[at_slot])
        if here:
            if length < len(found):
                found[length] = i
                row_at[length] = row
            length += 1
        if place == -1 and register == 0:
            break
    return length
