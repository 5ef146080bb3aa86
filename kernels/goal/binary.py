"""LogGOPSim's binary GOAL to arrays and back; numbers are little endian and packed.

A rank is: number of operations, number of those that wait for nothing, these; then for each
operation a record of 39 bytes; then the *appendix*, the numbers of waiting operations that the
records point to, first those that wait for the end of an operation, then those for its start.
"""

from __future__ import annotations

import numpy as np

from kernels import helper, kernel
from kernels.goal.layout import ANY_SOURCE, CALC, MOST, RECV, SEND

# Bytes of the file's head, a rank's entry in its table, a rank's head, a record, a number.
HEADER, TABLE_ENTRY, RANK_HEADER, RECORD, NUMBER = 14, 16, 8, 39, 4
COOKIE = 8  # offsets count from behind the magic number

# Where the fields of a record are.
_COUNT, _KIND, _PEER, _SIZE, _TAG, _CPU, _NIC, _REQ, _IREQ = 0, 4, 5, 9, 17, 21, 22, 23, 31

# What ``survey`` and ``fill`` return.
FINE, OUTSIDE, TOO_SHORT, BAD_KIND, BAD_SIZE, BAD_PEER, BAD_PLACE, BAD_OP, OVERLAP = range(9)

# Cells of `found`: where an error is, and what was mended.
RANK, OP, MENDED_CALCS, MENDED_COUNTS, MENDED_ROOTS = range(5)
N_FOUND = 5  # the cells above


@helper
def u32(data, at):
    """Return four bytes as a number."""
    return (
        np.int64(data[at])
        | np.int64(data[at + 1]) << 8
        | np.int64(data[at + 2]) << 16
        | np.int64(data[at + 3]) << 24
    )


@helper
def u64(data, at):
    """Return eight bytes as a number, -1 where it does not fit into 63 bits."""
    if data[at + 7] > 127:
        return np.int64(-1)
    return u32(data, at) | u32(data, at + 4) << 32


@kernel(cache=True, nogil=True)
def survey(data, num_ranks, place, count, edges, found):
    """Fill where each rank's data begins, its operations and its dependencies; return a status."""
    for rank in range(num_ranks):
        found[RANK] = rank
        entry = HEADER + TABLE_ENTRY * rank
        begin, end = u64(data, entry), u64(data, entry + 8)
        available = len(data) - COOKIE
        if not (0 <= begin <= end <= available and end - begin >= RANK_HEADER):
            return OUTSIDE
        begin += COOKIE
        ops, roots = u32(data, begin), u32(data, begin + 4)
        left = end + COOKIE - begin - RANK_HEADER - NUMBER * roots - RECORD * ops
        if left < 0:
            return TOO_SHORT
        entries = left // NUMBER
        total = 0
        for op in range(ops):
            record = begin + RANK_HEADER + NUMBER * roots + RECORD * op
            for field in (_REQ, _IREQ):
                many, first = u32(data, record + field), u32(data, record + field + 4)
                if many and first + many > entries:
                    found[OP] = op
                    return BAD_PLACE
                total += many
        if total > entries:
            return OVERLAP
        place[rank] = begin
        count[rank] = ops
        edges[rank] = total
    return FINE


@kernel(cache=True, nogil=True)
def fill(data, place, operations, dependents, degree, found):
    """Fill the arrays of a graph from data that has been surveyed; return a status.

    Args:
        data: uint8[bytes], the file.
        place: int64[ranks], where each rank begins.
        operations: `kernels.graphs.Operations`, out but for the starts of ranks.
        dependents: `kernels.graphs.Edges`, out, by the operation waited for.
        degree: int32[n], zeros; out: how many operations each waits for.
        found: int64[N_FOUND], out.
    """
    rank_start, kind, size, peer, tag, cpu, nic = operations
    req_start, req, ireq_start, ireq = dependents
    num_req, num_ireq = 0, 0
    for rank in range(len(place)):
        found[RANK] = rank
        first, last = rank_start[rank], rank_start[rank + 1]
        roots = u32(data, place[rank] + 4)
        records = place[rank] + RANK_HEADER + NUMBER * roots
        appendix = records + RECORD * (last - first)
        for op in range(first, last):
            found[OP] = op - first
            record = records + RECORD * (op - first)
            what = np.int64(data[record + _KIND])
            other, mark = u32(data, record + _PEER), u32(data, record + _TAG)
            amount, card = u64(data, record + _SIZE), np.int64(data[record + _NIC])
            if not SEND <= what <= CALC:
                return BAD_KIND
            if amount < 0:
                return BAD_SIZE
            if what == RECV and other == 2**32 - 1:
                other = np.int64(ANY_SOURCE)
            elif what == CALC:
                if other or mark or card:
                    found[MENDED_CALCS] += 1
                other, mark, card = np.int64(0), np.int64(0), np.int64(0)
            elif other > MOST:
                return BAD_PEER
            kind[op] = what
            size[op] = amount
            peer[op] = other
            tag[op] = mark
            cpu[op] = data[record + _CPU]
            nic[op] = card
            at = appendix + NUMBER * u32(data, record + _REQ + 4)
            for i in range(u32(data, record + _REQ)):
                waiting = u32(data, at + NUMBER * i)
                if waiting >= last - first:
                    return BAD_OP
                req[num_req] = first + waiting
                degree[first + waiting] += 1
                num_req += 1
            req_start[op + 1] = num_req
            at = appendix + NUMBER * u32(data, record + _IREQ + 4)
            for i in range(u32(data, record + _IREQ)):
                waiting = u32(data, at + NUMBER * i)
                if waiting >= last - first:
                    return BAD_OP
                ireq[num_ireq] = first + waiting
                degree[first + waiting] += 1
                num_ireq += 1
            ireq_start[op + 1] = num_ireq
        root = 0
        for op in range(first, last):
            if u32(data, records + RECORD * (op - first) + _COUNT) != degree[op]:
                found[MENDED_COUNTS] += 1
            if degree[op] == 0:
                listed = place[rank] + RANK_HEADER + NUMBER * root
                if root >= roots or u32(data, listed) != op - first:
                    found[MENDED_ROOTS] += 1
                root += 1
        if root < roots:
            found[MENDED_ROOTS] += roots - root
    return FINE


@kernel(cache=True, nogil=True)
def measure(operations, dependents, degree, lengths):
    """Fill the bytes that each rank takes, see `fill`."""
    rank_start = operations.rank_start
    req_start, ireq_start = dependents.req_start, dependents.ireq_start
    for rank in range(len(rank_start) - 1):
        first, last = rank_start[rank], rank_start[rank + 1]
        numbers = req_start[last] - req_start[first] + ireq_start[last] - ireq_start[first]
        for op in range(first, last):
            if degree[op] == 0:
                numbers += 1
        lengths[rank] = RANK_HEADER + NUMBER * numbers + RECORD * (last - first)


@helper
def put32(out, at, value):
    """Write four bytes, and return the place after them."""
    for i in range(4):
        out[at + i] = value >> 8 * i & 255
    return at + 4


@kernel(cache=True, nogil=True)
def write(operations, dependents, degree, begin, end, out):
    """Write ranks from `begin` up to `end` into exactly the bytes they take, see `fill`."""
    rank_start, kind, size, peer, tag, cpu, nic = operations
    req_start, req, ireq_start, ireq = dependents
    at = 0
    for rank in range(begin, end):
        first, last = rank_start[rank], rank_start[rank + 1]
        roots = 0
        for op in range(first, last):
            if degree[op] == 0:
                put32(out, at + RANK_HEADER + NUMBER * roots, op - first)
                roots += 1
        put32(out, at, last - first)
        put32(out, at + 4, roots)
        at += RANK_HEADER + NUMBER * roots
        listed = 0
        for op in range(first, last):
            many = req_start[op + 1] - req_start[op]
            imany = ireq_start[op + 1] - ireq_start[op]
            at = put32(out, at, np.int64(degree[op]))
            out[at] = kind[op]
            at = put32(out, at + 1, np.int64(peer[op]) & 2**32 - 1)
            at = put32(out, at, size[op] & 2**32 - 1)
            at = put32(out, at, size[op] >> 32)
            at = put32(out, at, np.int64(tag[op]))
            out[at] = cpu[op]
            out[at + 1] = nic[op]
            at = put32(out, at + 2, many)
            at = put32(out, at, listed)
            listed += many
            at = put32(out, at, imany)
            at = put32(out, at, listed)
            listed += imany
        for op in range(first, last):
            for i in range(req_start[op], req_start[op + 1]):
                at = put32(out, at, req[i] - first)
            for i in range(ireq_start[op], ireq_start[op + 1]):
                at = put32(out, at, ireq[i] - first)
    return at
