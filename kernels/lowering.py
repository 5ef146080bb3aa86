"""Calls become operations, each with its dependencies on earlier ones of its rank.

What the next operation of a rank has to wait for is the rank's front: operations, each with whether
it must have finished or only begun.
"""

from __future__ import annotations

from kernels import helper, kernel

# Kinds of calls, those of ``workbench.programs.program``.
COMPUTE, SEND, RECV, ISEND, IRECV, WAIT, COLLECTIVE, ICOLLECTIVE = range(8)
OP_SEND, OP_RECV, OP_CALC = 1, 2, 3  # kinds of operations as LogGOPSim's binary numbers them

FINISHED, BEGUN = 0, 1  # what the next operation needs of one of the front

NOT_BEGUN_YET, IN_FLIGHT, WAITED_FOR = range(3)  # states of a request
NO_TEMPLATE = -1  # instead of a template's number, of calls and requests that are no collectives

OK, UNKNOWN_REQUEST, REQUEST_BEGUN_TWICE = range(3)
"""Status: done; a wait before its request is begun; a request that is begun twice."""

OPS, REQUIRED, BEGUN_EDGES, LEFT, FIRST_LEFT = range(5)
"""Places in ``counts``: operations, edges of both kinds, requests never waited for, and the call
that began the first of them."""


@kernel(cache=True, nogil=True)
def expand(
    calls,
    waits,
    templates,
    members,
    progress_cpu,
    work,
    counts,
    op_start,
    ops,
    required,
    begun,
    writing,
):
    """Turn the calls of all ranks into operations and edges, or count them.

    Args:
        calls: arrays by call: rank_start, kind, compute_ns, size, peer, tag, request, template (of
            the rank's part in the collective, ``NO_TEMPLATE`` for other calls), first_member (place
            in ``members`` of the communicator's first), line.
        waits: wait_start and wait_requests.
        templates: the parts that ranks have in collectives, one after the other: op_start, kind,
            size, peer, tag; edge_start, after, before (ascending ``after``); entry_start, entry;
            exit_start, exit. Operations are numbered from the part's first.
        members: ranks of all communicators, one after the other.
        progress_cpu: core of the operations of non-blocking collectives.
        work: space for the largest rank. By operation: front (two rows), place (-1 everywhere).
            By request: first operation, template, state, call.
        counts: int64[5], zeros, filled with ``OPS`` to ``FIRST_LEFT``.
        op_start: int64[ranks + 1], filled with each rank's first operation.
        ops: kind, size, peer, tag, cpu (zeros), line of the operations; filled if ``writing``.
        required: int32[2, edges], filled with pairs (after, before) by ascending ``after``.
        begun: the same for operations that need only have begun.
        writing: False only counts.

    Returns:
        Status, and the call it is about.
    """
    rank_start, kind, compute, size, peer, tag, request, template, first_member, line = calls
    wait_start, wait_requests = waits
    t_op_start, t_kind, t_size, t_peer, t_tag = templates[:5]
    t_edge_start, t_after, t_before, t_entry_start, t_entry, t_exit_start, t_exit = templates[5:]
    front, place, request_op, request_template, request_state, request_call = work
    o_kind, o_size, o_peer, o_tag, o_cpu, o_line = ops

    counts[FIRST_LEFT] = -1
    for rank in range(len(rank_start) - 1):
        base = counts[OPS]
        op_start[rank] = base
        length = 0  # of the front
        requests = 0
        for call in range(rank_start[rank], rank_start[rank + 1]):
            what = kind[call]
            if compute[call] > 0:
                op = counts[OPS]
                if writing:
                    o_kind[op], o_size[op], o_line[op] = OP_CALC, compute[call], line[call]
                    o_peer[op], o_tag[op] = 0, 0
                _follow_front(op, front, length, counts, required, begun, writing)
                _clear_front(front, place, length, base)
                length = _add_to_front(front, place, 0, base, op, FINISHED)
                counts[OPS] += 1

            if what in (ISEND, IRECV, ICOLLECTIVE):
                number = request[call]
                if request_state[number] != NOT_BEGUN_YET:
                    return REQUEST_BEGUN_TWICE, call
                request_state[number] = IN_FLIGHT
                request_template[number] = template[call]
                request_call[number] = call
                requests = max(requests, number + 1)

            if what == WAIT:
                for at in range(wait_start[request[call]], wait_start[request[call] + 1]):
                    number = wait_requests[at]
                    if number >= len(request_state) or request_state[number] == NOT_BEGUN_YET:
                        return UNKNOWN_REQUEST, call
                    request_state[number] = WAITED_FOR
                    first, part = request_op[number], request_template[number]
                    if part == NO_TEMPLATE:
                        length = _add_to_front(front, place, length, base, first, FINISHED)
                        continue
                    for e in range(t_exit_start[part], t_exit_start[part + 1]):
                        length = _add_to_front(
                            front, place, length, base, first + t_exit[e], FINISHED
                        )

            elif SEND <= what <= IRECV:
                op = counts[OPS]
                if writing:
                    o_kind[op] = OP_SEND if what in (SEND, ISEND) else OP_RECV
                    o_size[op], o_peer[op] = size[call], peer[call]
                    o_tag[op], o_line[op] = tag[call], line[call]
                _follow_front(op, front, length, counts, required, begun, writing)
                _clear_front(front, place, length, base)
                if what in (SEND, RECV):
                    length = _add_to_front(front, place, 0, base, op, FINISHED)
                else:
                    length = _add_to_front(front, place, 0, base, op, BEGUN)
                    request_op[request[call]] = op
                counts[OPS] += 1

            elif what in (COLLECTIVE, ICOLLECTIVE):
                part = template[call]
                entries = t_entry_start[part + 1] - t_entry_start[part]
                if length > 1 and entries > 1:  # several meet several: one operation between them
                    op = counts[OPS]
                    if writing:
                        o_kind[op], o_size[op], o_line[op] = OP_CALC, 0, line[call]
                        o_peer[op], o_tag[op] = 0, 0
                    _follow_front(op, front, length, counts, required, begun, writing)
                    _clear_front(front, place, length, base)
                    length = _add_to_front(front, place, 0, base, op, FINISHED)
                    counts[OPS] += 1
                first = counts[OPS]
                t_first = t_op_start[part]
                edge, last_edge = t_edge_start[part], t_edge_start[part + 1]
                for t in range(t_first, t_op_start[part + 1]):
                    op = first + t - t_first
                    if writing:
                        o_kind[op], o_size[op], o_line[op] = t_kind[t], t_size[t], line[call]
                        o_peer[op], o_tag[op] = 0, 0
                        if what == ICOLLECTIVE:
                            o_cpu[op] = progress_cpu
                        if t_kind[t] != OP_CALC:
                            o_peer[op] = members[first_member[call] + t_peer[t]]
                            o_tag[op] = tag[call] + t_tag[t]
                    if edge == last_edge or t_after[edge] != t - t_first:
                        _follow_front(op, front, length, counts, required, begun, writing)
                    while edge < last_edge and t_after[edge] == t - t_first:
                        if writing:
                            required[0, counts[REQUIRED]] = op
                            required[1, counts[REQUIRED]] = first + t_before[edge]
                        counts[REQUIRED] += 1
                        edge += 1
                counts[OPS] += t_op_start[part + 1] - t_first
                if what == ICOLLECTIVE:
                    request_op[request[call]] = first
                if entries > 0:
                    _clear_front(front, place, length, base)
                    length = 0
                    if what == COLLECTIVE:
                        for e in range(t_exit_start[part], t_exit_start[part + 1]):
                            length = _add_to_front(
                                front, place, length, base, first + t_exit[e], FINISHED
                            )
                    else:
                        for e in range(t_entry_start[part], t_entry_start[part + 1]):
                            length = _add_to_front(
                                front, place, length, base, first + t_entry[e], BEGUN
                            )

        _clear_front(front, place, length, base)
        for number in range(requests):
            if request_state[number] == IN_FLIGHT:
                counts[LEFT] += 1
                if counts[FIRST_LEFT] < 0:
                    counts[FIRST_LEFT] = request_call[number]
            request_state[number] = NOT_BEGUN_YET
    op_start[len(rank_start) - 1] = counts[OPS]
    return OK, -1


@helper
def _follow_front(op, front, length, counts, required, begun, writing):
    """Make an operation depend on all of the front."""
    for at in range(length):
        if front[1, at] == FINISHED:
            if writing:
                required[0, counts[REQUIRED]] = op
                required[1, counts[REQUIRED]] = front[0, at]
            counts[REQUIRED] += 1
        else:
            if writing:
                begun[0, counts[BEGUN_EDGES]] = op
                begun[1, counts[BEGUN_EDGES]] = front[0, at]
            counts[BEGUN_EDGES] += 1


@helper
def _clear_front(front, place, length, base):
    """Take all operations out of the front."""
    for at in range(length):
        place[front[0, at] - base] = -1


@helper
def _add_to_front(front, place, length, base, op, how):
    """Add an operation, or make it one that must have finished; return the new length."""
    at = place[op - base]
    if at >= 0:
        front[1, at] = min(front[1, at], how)
        return length
    front[0, length], front[1, length] = op, how
    place[op - base] = length
    return length + 1


@kernel(cache=True, nogil=True)
def group_by_awaited(pairs, start, ops):
    """Group pairs (after, before) by ``before``; each group keeps the order.

    Args:
        pairs: int32[2, edges].
        start: int32[operations + 1], zeros, filled with each group's first place.
        ops: int32[edges], filled with ``after``, group by group.
    """
    edges = pairs.shape[1]
    for edge in range(edges):
        start[pairs[1, edge] + 1] += 1
    for op in range(len(start) - 1):
        start[op + 1] += start[op]
    # Filling moves each start to its group's end, which is the next group's start.
    for edge in range(edges):
        op = pairs[1, edge]
        ops[start[op]] = pairs[0, edge]
        start[op] += 1
    for op in range(len(start) - 1, 0, -1):
        start[op] = start[op - 1]
    start[0] = 0
