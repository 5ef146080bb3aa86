"""Dependencies sorted: by the operation waited for, or by the one that waits."""

from __future__ import annotations

from kernels import kernel
from kernels.goal.layout import STARTS


@kernel(cache=True, nogil=True)
def dependents(after, before, starts, start, ops):
    """Sort the dependencies of one sort by the operation waited for, which keeps their order.

    ``start`` must hold zeros, one for each operation and one more; a dependency is of this sort
    when it waits for a start exactly where `starts` is true. Returns how many there are; ``ops``
    may be of length 0, and then they are only counted.
    """
    shift = STARTS if starts else 0
    count = 0
    for i in range(len(before)):
        if (before[i] >= STARTS) == starts:
            start[before[i] - shift + 1] += 1
            count += 1
    total = 0
    for i in range(1, len(start)):
        total += start[i]
        start[i] = total
    if len(ops) == 0:
        return count
    for i in range(len(before)):
        if (before[i] >= STARTS) == starts:
            at = before[i] - shift
            ops[start[at]] = after[i]
            start[at] += 1
    for i in range(len(start) - 1, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0
    return count


@kernel(cache=True, nogil=True)
def transpose(start, ops, awaited_start, awaited):
    """Fill, for each operation, those it waits for in ascending order.

    ``awaited_start`` must hold zeros, one for each operation and one more.
    """
    for i in range(len(ops)):
        awaited_start[ops[i] + 1] += 1
    for i in range(1, len(awaited_start)):
        awaited_start[i] += awaited_start[i - 1]
    for op in range(len(start) - 1):
        for i in range(start[op], start[op + 1]):
            awaited[awaited_start[ops[i]]] = op
            awaited_start[ops[i]] += 1
    for i in range(len(awaited_start) - 1, 0, -1):
        awaited_start[i] = awaited_start[i - 1]
    awaited_start[0] = 0
