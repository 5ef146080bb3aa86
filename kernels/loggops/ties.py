"""The order in which operations that became free together are queued: sends, receives, the rest.

LogGOPSim sorts them by kind with ``std::sort``, which keeps the order of up to 16 equal ones only.
``sort_like_libstdcxx`` takes the same steps as GNU's C++ library: introsort (Musser 1997) down to
runs of 16, heap sort where it goes too deep, then insertion sort.
"""

from __future__ import annotations

from kernels import helper, inlined
from kernels.loggops.layout import RECV, SEND

THRESHOLD = 16  # ``_S_threshold`` of GNU's bits/stl_algo.h


@inlined
def sort_freed(ops, count, kind, sorted_ops, like_libstdcxx, parts):
    """Sort operations by kind.

    Args:
        ops: int32[at least count].
        count: how many.
        kind: uint8[n].
        sorted_ops: int32[at least count], room.
        like_libstdcxx: whether ties are as ``std::sort`` leaves them.
        parts: int64[128, 3], room.

    Returns:
        Whether ``sorted_ops`` holds them; if not, ``ops`` does.
    """
    if like_libstdcxx and count > THRESHOLD:
        sort_like_libstdcxx(ops, count, kind, parts)
        return False
    return sort_stably(ops, count, kind, sorted_ops)


@helper
def sort_stably(ops, count, kind, sorted_ops):
    """Sort operations by kind; those of a kind keep their order.

    Args:
        ops: int32[at least count].
        count: how many.
        kind: uint8[n].
        sorted_ops: int32[at least count], out.

    Returns:
        Whether ``sorted_ops`` holds them; if not, ``ops`` was in order.
    """
    sends = receives = 0
    for i in range(count):
        sends += kind[ops[i]] == SEND
        receives += kind[ops[i]] == RECV
    if count in (sends, receives) or sends + receives == 0:
        return False
    next_send, next_receive, next_other = 0, sends, sends + receives
    for i in range(count):
        op = ops[i]
        if kind[op] == SEND:
            sorted_ops[next_send] = op
            next_send += 1
        elif kind[op] == RECV:
            sorted_ops[next_receive] = op
            next_receive += 1
        else:
            sorted_ops[next_other] = op
            next_other += 1
    return True


@helper
def sort_like_libstdcxx(ops, count, kind, parts):
    """Sort operations by kind in place, in the order that ``std::sort`` leaves equal ones in.

    Args:
        ops: int32[at least count].
        count: how many.
        kind: uint8[n].
        parts: int64[128, 3], room for parts that are still to be sorted, instead of recursion.
    """
    depth = 0
    while count >> (depth + 1) > 0:
        depth += 1
    parts[0, 0], parts[0, 1], parts[0, 2] = 0, count, 2 * depth
    left = 1
    while left > 0:
        left -= 1
        first, last, depth = parts[left, 0], parts[left, 1], parts[left, 2]
        while last - first > THRESHOLD:
            if depth == 0:
                heap_sort(ops, first, last, kind)
                break
            depth -= 1
            cut = partition(ops, first, last, kind)
            parts[left, 0], parts[left, 1], parts[left, 2] = cut, last, depth
            left += 1
            last = cut
    for i in range(1, count):
        op = ops[i]
        j = i
        while j > 0 and kind[op] < kind[ops[j - 1]]:
            ops[j] = ops[j - 1]
            j -= 1
        ops[j] = op


@helper
def partition(ops, first, last, kind):
    """Split a range at the median of three, which is put first; return where."""
    middle = first + (last - first) // 2
    a, b, c = first + 1, middle, last - 1
    if kind[ops[a]] < kind[ops[b]]:
        if kind[ops[b]] < kind[ops[c]]:
            pivot = b
        elif kind[ops[a]] < kind[ops[c]]:
            pivot = c
        else:
            pivot = a
    elif kind[ops[a]] < kind[ops[c]]:
        pivot = a
    elif kind[ops[b]] < kind[ops[c]]:
        pivot = c
    else:
        pivot = b
    ops[first], ops[pivot] = ops[pivot], ops[first]
    low, high = first + 1, last
    while True:
        while kind[ops[low]] < kind[ops[first]]:
            low += 1
        high -= 1
        while kind[ops[first]] < kind[ops[high]]:
            high -= 1
        if low >= high:
            return low
        ops[low], ops[high] = ops[high], ops[low]
        low += 1


@helper
def heap_sort(ops, first, last, kind):
    """Sort a range by making a heap of it and taking the greatest each time."""
    count = last - first
    for parent in range((count - 2) // 2, -1, -1):
        sift(ops, first, parent, count, ops[first + parent], kind)
    for end in range(count - 1, 0, -1):
        op = ops[first + end]
        ops[first + end] = ops[first]
        sift(ops, first, 0, end, op, kind)


@helper
def sift(ops, first, hole, count, op, kind):
    """Move a hole down to a leaf along the greater children, then let the operation rise in it."""
    top = hole
    child = hole
    while child < (count - 1) // 2:
        child = 2 * (child + 1)
        if kind[ops[first + child]] < kind[ops[first + child - 1]]:
            child -= 1
        ops[first + hole] = ops[first + child]
        hole = child
    if count % 2 == 0 and child == (count - 2) // 2:
        child = 2 * (child + 1)
        ops[first + hole] = ops[first + child - 1]
        hole = child - 1
    parent = (hole - 1) // 2
    while hole > top and kind[ops[first + parent]] < kind[op]:
        ops[first + hole] = ops[first + parent]
        hole = parent
        parent = (hole - 1) // 2
    ops[first + hole] = op
