"""A program without contention: each operation starts as soon as what it waits for allows.

The execution graph of Shen et al., LLAMP, sections II.B, II.C and appendix B, in integer
picoseconds. Times follow from a forward pass in topological order; which order does not matter.
"""

import numpy as np
from numba.extending import register_jitable

from kernels import helper, kernel

SEND, RECV, CALC = 1, 2, 3  # kinds of operations as LogGOPSim's binary numbers them

OK, WAITING, HALTED, CLOCK_RAN_OUT = 0, 1, 2, 3
"""What a pass ends with: done, operations that wait for one another, asked to end, overflow."""

CLOCK_END = np.int64(2**62)
"""The picosecond at which a pass is given up; what is added in one step must be below 2^62."""

PS_PER_NS = np.int64(1000)  # sizes of computations are in ns, times in ps

_HALT_EVERY = 1 << 16  # chosen: operations between looks at ``halt``


@kernel(cache=True, nogil=True)
def match_in_order(rank_start, kind, peer, tag, match):
    """Join the k-th send with the k-th receive of the same ranks and tag, in the order they stand.

    Args:
        rank_start: int64[ranks + 1].
        kind: uint8[n].
        peer: int32[n], within the ranks wherever it is used.
        tag: uint32[n], none of them a wildcard.
        match: int32[n], out: the other end of each message, -1 where there is none.

    Returns:
        How many sends and receives have no other end.
    """
    ranks = len(rank_start) - 1
    n = len(kind)
    match[:] = -1
    begin = np.zeros(ranks + 1, np.int64)
    for op in range(n):
        if kind[op] == SEND:
            begin[peer[op] + 1] += 1
    for rank in range(ranks):
        begin[rank + 1] += begin[rank]
    # Sends by receiver: ranks are passed in ascending order, so by sender within each receiver.
    sends = np.empty(begin[ranks], np.int32)
    sender = np.empty(begin[ranks], np.int32)
    place = begin[:ranks].copy()
    for rank in range(ranks):
        for op in range(rank_start[rank], rank_start[rank + 1]):
            if kind[op] == SEND:
                at = place[peer[op]]
                sends[at] = op
                sender[at] = rank
                place[peer[op]] += 1
    unmatched = np.int64(0)
    count = np.zeros(ranks + 1, np.int64)
    for rank in range(ranks):
        first, last = rank_start[rank], rank_start[rank + 1]
        number = 0
        for op in range(first, last):
            if kind[op] == RECV:
                number += 1
        # The peers that occur, ascending, without a pass over all ranks for each rank.
        peers = np.empty(number, np.int32)
        number = 0
        for op in range(first, last):
            if kind[op] == RECV:
                if count[peer[op]] == 0:
                    peers[number] = peer[op]
                    number += 1
                count[peer[op]] += 1
        peers = np.sort(peers[:number])
        total = 0
        for source in peers:
            held = count[source]
            count[source] = total
            total += held
        receives = np.empty(total, np.int32)
        for op in range(first, last):
            if kind[op] == RECV:
                receives[count[peer[op]]] = op
                count[peer[op]] += 1
        for source in peers:
            count[source] = 0
        s, r = begin[rank], 0
        while s < begin[rank + 1] or r < total:
            s_source = np.int64(sender[s]) if s < begin[rank + 1] else ranks
            r_source = np.int64(peer[receives[r]]) if r < total else ranks
            pair = s_source if s_source < r_source else r_source
            s_end, r_end = s, r
            while s_end < begin[rank + 1] and sender[s_end] == pair:
                s_end += 1
            while r_end < total and peer[receives[r_end]] == pair:
                r_end += 1
            unmatched += _match_pair(sends[s:s_end], receives[r:r_end], tag, match)
            s, r = s_end, r_end
    return unmatched


@register_jitable
def _match_pair(sends, receives, tag, match):
    """Join what one rank sends to another with what that one receives from it, tag by tag."""
    both = min(len(sends), len(receives))
    in_order = len(sends) == len(receives)
    for i in range(both):
        if tag[sends[i]] != tag[receives[i]]:
            in_order = False
            break
    if in_order:
        for i in range(both):
            match[sends[i]] = receives[i]
            match[receives[i]] = sends[i]
        return 0
    by_send = np.argsort(tag[sends], kind="mergesort")
    by_receive = np.argsort(tag[receives], kind="mergesort")
    s = r = joined = 0
    while s < len(sends) and r < len(receives):
        send, receive = sends[by_send[s]], receives[by_receive[r]]
        if tag[send] < tag[receive]:
            s += 1
        elif tag[send] > tag[receive]:
            r += 1
        else:
            match[send] = receive
            match[receive] = send
            s += 1
            r += 1
            joined += 1
    return len(sends) + len(receives) - 2 * joined


@kernel(cache=True, nogil=True)
def count_missing(req_ops, ireq_ops, missing):
    """Count the dependencies each operation waits for.

    Args:
        req_ops: int32[edges], operations that wait for an end.
        ireq_ops: int32[edges], operations that wait for a start.
        missing: int32[n], out.
    """
    missing[:] = 0
    for op in req_ops:
        missing[op] += 1
    for op in ireq_ops:
        missing[op] += 1


@helper
def _release(op, time, first, ops, start, missing, stack, top):
    """Tell those that wait for an operation that it has started, or ended, at a time."""
    for i in range(first[op], first[op + 1]):
        other = ops[i]
        if start[other] < time:
            start[other] = time
        missing[other] -= 1
        if missing[other] == 0:
            stack[top] = other
            top += 1
    return top


@kernel(cache=True, nogil=True)
def forward(
    graph,
    L,
    o,
    G_whole,
    G,
    S,
    halt,
    missing,
    stack,
    start,
    end,
):
    """Find when each operation starts and ends.

    An eager message (at most S bytes) that is sent from time t is there at t + o + L + (s-1)G, and
    the receive ends o after that or after its own start. Above S both sides meet at
    m = max(t + L, start of the receive): the receive ends at m + 2o + 3L + (s-1)G, the send o
    after it (LLAMP, appendix B: header, read, data, acknowledgement).

    Args:
        graph: ``MatchedGraph``.
        L: latency, ps.
        o: overhead, ps.
        G_whole: gap per byte, ps/B, where that is a whole number, else -1.
        G: gap per byte, ps/B, float64.
        S: largest eager message, bytes.
        halt: int8[1], ends the pass when it is set.
        missing: int32[n], dependencies each operation waits for; afterwards -1 for those that
            have started.
        stack: int32[n], room.
        start: int64[n], out, ps.
        end: int64[n], out, ps; -1 where an operation did not end.

    Returns:
        OK, WAITING, HALTED or CLOCK_RAN_OUT.
    """
    kind, size, match, req_start, req_ops, ireq_start, ireq_ops = graph
    n = len(kind)
    start[:] = 0
    end[:] = -1
    top = 0
    for op in range(n - 1, -1, -1):
        if missing[op] == 0:
            stack[top] = op
            top += 1
    ended = 0
    steps = 0
    while top > 0:
        steps += 1
        if steps % _HALT_EVERY == 0 and halt[0] != 0:
            return HALTED
        top -= 1
        op = stack[top]
        missing[op] = -1
        t = start[op]
        top = _release(op, t, ireq_start, ireq_ops, start, missing, stack, top)
        if kind[op] == CALC:
            t += size[op] * PS_PER_NS
            if t > CLOCK_END:
                return CLOCK_RAN_OUT
            end[op] = t
            ended += 1
            top = _release(op, t, req_start, req_ops, start, missing, stack, top)
            continue
        send = op if kind[op] == SEND else match[op]
        receive = match[op] if kind[op] == SEND else op
        eager = size[send] <= S
        if eager and kind[op] == SEND:
            end[op] = t + o
            ended += 1
            top = _release(op, t + o, req_start, req_ops, start, missing, stack, top)
        if missing[send] != -1 or missing[receive] != -1:
            continue
        beyond = max(size[send] - 1, 0)
        through = beyond * G_whole if G_whole >= 0 else np.int64(np.rint(beyond * G))
        if eager:
            done = max(start[send] + o + L + through, start[receive]) + o
        else:
            done = max(start[send] + L, start[receive]) + 2 * o + 3 * L + through
        if done > CLOCK_END:
            return CLOCK_RAN_OUT
        end[receive] = done
        ended += 1
        top = _release(receive, done, req_start, req_ops, start, missing, stack, top)
        if not eager:
            end[send] = done + o
            ended += 1
            top = _release(send, done + o, req_start, req_ops, start, missing, stack, top)
    return OK if ended == n else WAITING


@kernel(cache=True, nogil=True)
def finish_of_ranks(rank_start, end, finish):
    """Find when each rank is done.

    Args:
        rank_start: int64[ranks + 1].
        end: int64[n], ps.
        finish: int64[ranks], out, ps; 0 for a rank without operations.
    """
    for rank in range(len(rank_start) - 1):
        last = np.int64(0)
        for op in range(rank_start[rank], rank_start[rank + 1]):
            last = max(last, end[op])
        finish[rank] = last


@kernel(cache=True, nogil=True)
def causes(
    graph,
    L,
    S,
    start,
    end,
    begin,
    by_end,
    by_start,
    by_message,
    post_cause,
    post_kind,
    cause,
    cause_kind,
):
    """Find the operation that each one's start waited for last, and whether a message did.

    Args:
        graph: ``MatchedGraph``.
        L: latency, ps.
        S: largest eager message, bytes.
        start: int64[n], ps.
        end: int64[n], ps.
        begin: int64[n], ps, when the host takes a receive's message; as ``start`` for the rest.
        by_end: the number that says that another one's end was waited for.
        by_start: the same for another one's start.
        by_message: the same for the message.
        post_cause: int32[n], out: what ``start`` waited for; -1 for what starts at once.
        post_kind: uint8[n], out.
        cause: int32[n], out: what ``begin`` waited for.
        cause_kind: uint8[n], out.
    """
    kind, size, match, req_start, req_ops, ireq_start, ireq_ops = graph
    post_cause[:] = -1
    post_kind[:] = by_end
    for op in range(len(kind)):
        for i in range(req_start[op], req_start[op + 1]):
            other = req_ops[i]
            if end[op] == start[other] and end[op] > 0 and post_cause[other] == -1:
                post_cause[other] = op
        for i in range(ireq_start[op], ireq_start[op + 1]):
            other = ireq_ops[i]
            if start[op] == start[other] and start[op] > 0 and post_cause[other] == -1:
                post_cause[other] = op
                post_kind[other] = by_start
    for op in range(len(kind)):
        cause[op] = post_cause[op]
        cause_kind[op] = post_kind[op]
        if kind[op] != RECV:
            continue
        send = match[op]
        eager = size[send] <= S
        if (eager and begin[op] > start[op]) or (not eager and start[send] + L > start[op]):
            cause[op] = send
            cause_kind[op] = by_message
