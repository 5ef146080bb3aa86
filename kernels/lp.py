"""Rows of the linear program whose optimum is a program's run time, and the path that is tight.

A vertex is the start or the end of an operation. One that waits for a single other one has that
one's time and a known sum; one that waits for several has a column of the linear program and a row
for each of them (Shen et al., LLAMP, Algorithm 1).
"""

import numpy as np

from kernels import kernel

NOTHING, SEVERAL = -1, -2
"""In place of the only vertex that one waits for: it waits for none, or has a column."""

_UNKNOWN = -3  # a root that is still to be found; those found are columns or -1


@kernel(cache=True, nogil=True)
def collapse(parent, ps, overheads, column, root):
    """Write each vertex's time as that of a column, picoseconds and a number of overheads.

    Args:
        parent: int32[vertices], the only vertex that one waits for, NOTHING or SEVERAL. None may
            wait for itself.
        ps: int64[vertices], in: known cost since the parent; out: since the column.
        overheads: int32[vertices], the same in overheads o.
        column: int32[vertices], the column of those that have one.
        root: int32[vertices], out: the column a time rests on, -1 for time zero.
    """
    chain = np.empty(len(parent), np.int32)
    root[:] = _UNKNOWN
    for vertex in range(len(parent)):
        length = 0
        at = vertex
        while root[at] == _UNKNOWN and parent[at] >= 0:
            chain[length] = at
            length += 1
            at = parent[at]
        if root[at] == _UNKNOWN:
            root[at] = column[at] if parent[at] == SEVERAL else -1
            ps[at], overheads[at] = 0, 0
        while length > 0:
            length -= 1
            below = chain[length]
            root[below] = root[at]
            ps[below] += ps[at]
            overheads[below] += overheads[at]
            at = below


@kernel(cache=True, nogil=True)
def walk(parent, column, row_head, row_vertex, dual, carrying, path):
    """Follow the tight rows of the optimum back from the end of the program.

    Args:
        parent: int32[vertices], as for ``collapse``; the last vertex is the program's end.
        column: int32[vertices], the column of those that have one.
        row_head: int32[rows], column of what waits.
        row_vertex: int32[rows], the vertex it waits for.
        dual: float64[rows], what the optimum grows by with each row's cost.
        carrying: int32[columns], room.
        path: int32[vertices], out: vertices from the end of the program backwards.

    Returns:
        How many they are, the end included.
    """
    carrying[:] = -1
    for row in range(len(row_head)):
        best = carrying[row_head[row]]
        if dual[row] > 0 and (best < 0 or dual[row] > dual[best]):
            carrying[row_head[row]] = row
    at = len(parent) - 1
    length = 0
    # Longer than there are vertices only if multipliers went round in a circle.
    while length < len(path):
        path[length] = at
        length += 1
        if parent[at] == NOTHING:
            break
        if parent[at] == SEVERAL:
            row = carrying[column[at]]
            if row < 0:
                break
            at = row_vertex[row]
        else:
            at = parent[at]
    return length


@kernel(cache=True, nogil=True)
def in_order(row_head, row_tail, columns, order):
    """Order rows so that those of a column come before those that wait for it.

    Args:
        row_head: int32[rows], column of what waits.
        row_tail: int32[rows], column of what it waits for, -1 for time zero.
        columns: number of columns that rows have as head.
        order: int32[rows], out.
    """
    rows = len(row_head)
    missing = np.zeros(columns, np.int32)
    start = np.zeros(columns + 2, np.int32)
    for row in range(rows):
        missing[row_head[row]] += 1
        start[row_tail[row] + 2] += 1
    for column in range(1, columns + 2):
        start[column] += start[column - 1]
    # Rows by what they wait for: those of time zero, then those of column 0, and so on.
    waiting = np.empty(rows, np.int32)
    for row in range(rows):
        waiting[start[row_tail[row] + 1]] = row
        start[row_tail[row] + 1] += 1
    ready = start[0]
    for row in range(ready):  # A slice assigned to one compiles the text of numba's error, too.
        order[row] = waiting[row]
    head = 0
    while head < ready:
        column = row_head[order[head]]
        head += 1
        missing[column] -= 1
        if missing[column] == 0:
            for i in range(start[column], start[column + 1]):
                order[ready] = waiting[i]
                ready += 1


@kernel(cache=True, nogil=True)
def longest(order, row_head, row_tail, constant, multiple, latency, base, latencies, before):
    """Find the latest times that rows demand at a latency, each with the row that demands it.

    Args:
        order: int32[rows], of ``in_order``.
        row_head: int32[rows], column of what waits.
        row_tail: int32[rows], column of what it waits for, -1 for time zero.
        constant: float64[rows], cost without the latency.
        multiple: float64[rows], how often the latency is charged besides.
        latency: its value.
        base: float64[columns], out: each column's time without the latency ...
        latencies: float64[columns], out: ... and how often it is charged.
        before: int32[columns], out: the row that a time rests on.
    """
    base[:], latencies[:], before[:] = 0.0, 0.0, -1
    for place in range(len(order)):
        row = order[place]
        head, tail = row_head[row], row_tail[row]
        cost, times = constant[row], multiple[row]
        if tail >= 0:
            cost += base[tail]
            times += latencies[tail]
        if before[head] < 0 or cost + times * latency > base[head] + latencies[head] * latency:
            base[head], latencies[head], before[head] = cost, times, row
