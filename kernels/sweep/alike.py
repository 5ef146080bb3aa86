"""What may be kept once: operations that wait for the same, messages that cost the same."""

import numpy as np

from kernels import kernel


@kernel(cache=True, nogil=True)
def first_alike(req_start, req_ops, ireq_start, ireq_ops, seen, split, alike):
    """Find for each operation the first that waits for the very same ends and starts.

    Classes of operations are split by each that they wait for, so those left together at the end
    wait for the same.

    Args:
        req_start: int32[n + 1], see ``workbench.programs.graph.Dependents``.
        req_ops: int32[edges].
        ireq_start: int32[n + 1].
        ireq_ops: int32[edges].
        seen: uint32[edges of both + 1], room.
        split: int32[edges of both + 1], room.
        alike: int32[n], out.
    """
    n = len(alike)
    classes = 1
    seen[0] = 0
    alike[:] = 0
    for op in range(n):
        by_end, by_start = np.uint32(2 * op + 1), np.uint32(2 * op + 2)
        for i in range(req_start[op], req_start[op + 1]):
            one = alike[req_ops[i]]
            if seen[one] != by_end:
                seen[one] = by_end
                split[one] = classes
                seen[classes] = 0
                classes += 1
            alike[req_ops[i]] = split[one]
        for i in range(ireq_start[op], ireq_start[op + 1]):
            one = alike[ireq_ops[i]]
            if seen[one] != by_start:
                seen[one] = by_start
                split[one] = classes
                seen[classes] = 0
                classes += 1
            alike[ireq_ops[i]] = split[one]
    split[:classes] = -1
    for op in range(n):
        if split[alike[op]] == -1:
            split[alike[op]] = op
        alike[op] = split[alike[op]]


@kernel(cache=True, nogil=True)
def number_distinct(values, table, numbers, most, distinct):
    """Number the distinct values as they first occur.

    Args:
        values: int64[m], not negative.
        table: int32[power of two, more than ``most``], room.
        numbers: int32[m], out, the number of each value.
        most: give up beyond so many.
        distinct: int64[most], out, the values by number.

    Returns:
        How many there are, or -1 where they are more than ``most``.
    """
    table[:] = -1
    mask = np.uint64(len(table) - 1)
    count = 0
    for i in range(len(values)):
        value = values[i]
        # Halves of 32 bits, so that the product does not wrap, here or without the compiler.
        folded = np.uint64((value ^ (value >> 32)) & 0xFFFFFFFF)
        place = ((folded * np.uint64(0x9E3779B1)) >> np.uint64(13)) & mask
        while table[place] != -1 and distinct[table[place]] != value:
            place = (place + np.uint64(1)) & mask
        if table[place] == -1:
            if count == most:
                return -1
            distinct[count] = value
            table[place] = count
            count += 1
        numbers[i] = table[place]
    return count


@kernel(cache=True, nogil=True)
def rows(role_of, message_of, class_of, roles, row):
    """Write which row of the table of costs each instruction has.

    Args:
        role_of: uint8[typed instructions].
        message_of: int32[typed instructions].
        class_of: int32[messages], those of a class cost the same.
        roles: rows of a class.
        row: uint16 or uint32[typed instructions], out.
    """
    for i in range(len(row)):
        row[i] = class_of[message_of[i]] * roles + role_of[i]
