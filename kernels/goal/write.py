"""Arrays to GOAL text, rank after rank: measured first, then written into exactly so many bytes."""

from __future__ import annotations

import numpy as np

from kernels import helper, kernel
from kernels.goal.layout import ANY_TAG, CALC, SEND

_RANK, _OPEN, _CLOSE = b"\nrank ", b" {\n", b"}\n"
_SEND, _RECV, _CALC = b": send ", b": recv ", b": calc "
_TO, _FROM, _TAG, _CPU, _NIC = b"b to ", b"b from ", b" tag ", b" cpu ", b" nic "
_REQUIRES, _IREQUIRES, _ANY = b" requires l", b" irequires l", b"-1"


@helper
def digits(value):
    """Return how many digits a number has."""
    count = 1
    while value >= 10:
        value //= 10
        count += 1
    return count


@helper
def put_number(out, at, value):
    """Write a number, and return the place after it."""
    end = at + digits(value)
    i = end - 1
    while value >= 10:
        out[i] = 48 + value % 10
        value //= 10
        i -= 1
    out[i] = 48 + value
    return end


@helper
def put(out, at, word):
    """Write a word, and return the place after it."""
    for i in range(len(word)):
        out[at + i] = word[i]
    return at + len(word)


@helper
def in_place(begin, end, start, ops):
    """Return whether dependencies written below the operation that waits keep their order."""
    for op in range(begin, end):
        last = op
        for i in range(start[op], start[op + 1]):
            if ops[i] < last:
                return False
            last = ops[i]
    return True


@kernel(cache=True, nogil=True)
def measure(operations, dependents, awaited, lengths):
    """Fill the bytes that each rank takes; where dependencies stand does not matter for them.

    Args:
        operations: `kernels.graphs.Operations`.
        dependents: `kernels.graphs.Edges`, by the operation waited for.
        awaited: `kernels.graphs.Edges`, by the operation that waits.
        lengths: int64[ranks], out.
    """
    rank_start, kind, size, peer, tag, cpu, nic = operations
    req_start, ireq_start = dependents.req_start, dependents.ireq_start
    needs_start, ineeds_start = awaited.req_start, awaited.ireq_start
    for rank in range(len(rank_start) - 1):
        begin, end = rank_start[rank], rank_start[rank + 1]
        total = len(_RANK) + digits(rank) + len(_OPEN) + len(_CLOSE)
        for op in range(begin, end):
            label = 1 + digits(op - begin + 1)
            total += label + len(_SEND) + digits(size[op]) + 1
            if kind[op] != CALC:
                total += len(_TO) if kind[op] == SEND else len(_FROM)
                total += len(_ANY) if peer[op] < 0 else digits(peer[op])
                total += len(_TAG) + (len(_ANY) if tag[op] == ANY_TAG else digits(tag[op]))
            if cpu[op]:
                total += len(_CPU) + digits(cpu[op])
            if nic[op]:
                total += len(_NIC) + digits(nic[op])
            # Each dependency names the one that waits and the one waited for.
            waits = needs_start[op + 1] - needs_start[op]
            iwaits = ineeds_start[op + 1] - ineeds_start[op]
            total += waits * (label + len(_REQUIRES) + 1) + iwaits * (label + len(_IREQUIRES) + 1)
            waited = req_start[op + 1] - req_start[op] + ireq_start[op + 1] - ireq_start[op]
            total += waited * (label - 1)
        lengths[rank] = total


@helper
def put_dependency(out, at, after, word, before):
    """Write one dependency by the operations' numbers within the rank, from 0."""
    at = put(out, at, b"l")
    at = put_number(out, at, after + 1)
    at = put(out, at, word)
    at = put_number(out, at, before + 1)
    return put(out, at, b"\n")


@kernel(cache=True, nogil=True)
def write(operations, dependents, awaited, first, last, out):
    """Write ranks from `first` up to `last` into exactly the bytes they take, see `measure`."""
    rank_start, kind, size, peer, tag, cpu, nic = operations
    req_start, req, ireq_start, ireq = dependents
    needs_start, needs, ineeds_start, ineeds = awaited
    at = 0
    for rank in range(first, last):
        begin, end = rank_start[rank], rank_start[rank + 1]
        below = in_place(begin, end, req_start, req) and in_place(begin, end, ireq_start, ireq)
        at = put(out, at, _RANK)
        at = put_number(out, at, rank)
        at = put(out, at, _OPEN)
        for op in range(begin, end):
            at = put(out, at, b"l")
            at = put_number(out, at, op - begin + 1)
            if kind[op] == CALC:
                at = put(out, at, _CALC)
                at = put_number(out, at, size[op])
            else:
                at = put(out, at, _SEND if kind[op] == SEND else _RECV)
                at = put_number(out, at, size[op])
                if kind[op] == SEND:
                    at = put(out, at, _TO)
                else:
                    at = put(out, at, _FROM)
                if peer[op] < 0:
                    at = put(out, at, _ANY)
                else:
                    at = put_number(out, at, np.int64(peer[op]))
                at = put(out, at, _TAG)
                if tag[op] == ANY_TAG:
                    at = put(out, at, _ANY)
                else:
                    at = put_number(out, at, np.int64(tag[op]))
            if cpu[op]:
                at = put(out, at, _CPU)
                at = put_number(out, at, np.int64(cpu[op]))
            if nic[op]:
                at = put(out, at, _NIC)
                at = put_number(out, at, np.int64(nic[op]))
            at = put(out, at, b"\n")
            if below:
                for i in range(needs_start[op], needs_start[op + 1]):
                    at = put_dependency(out, at, op - begin, _REQUIRES, needs[i] - begin)
                for i in range(ineeds_start[op], ineeds_start[op + 1]):
                    at = put_dependency(out, at, op - begin, _IREQUIRES, ineeds[i] - begin)
        if not below:
            for op in range(begin, end):
                for i in range(req_start[op], req_start[op + 1]):
                    at = put_dependency(out, at, req[i] - begin, _REQUIRES, op - begin)
                for i in range(ireq_start[op], ireq_start[op + 1]):
                    at = put_dependency(out, at, ireq[i] - begin, _IREQUIRES, op - begin)
        at = put(out, at, _CLOSE)
    return at
