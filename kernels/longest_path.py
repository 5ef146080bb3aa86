"""The longest path through a program whose messages each have a latency of their own.

For searches that try thousands of sets of latencies: ``kernels.sweep`` answers more about one set,
and takes longer to change it. The execution graph is that of ``kernels.loggops.llamp`` (Shen et
al., LLAMP, sections II.B, II.C and appendix B), with a latency and a time for its bytes given for
each message (appendix I). Operations are put into an order in which each comes after all it waits
for; then a pass is a loop over it.

A place before which an operation waits is written ``p`` for its end and ``-1 - p`` for its start.
"""

import numpy as np

from kernels import helper, kernel

SEND, RECV, CALC = 1, 2, 3
"""Kinds of operations of a graph."""

COMPUTE, EAGER_SEND, EAGER_RECV, MEETING_SEND, MEETING_RECV = range(5)
"""Kinds of operations in order; those of messages above S meet."""

CLOCK_END = np.int64(2**62)  # the ps at which a pass is given up: 53 days

RAN_OUT = np.int64(-1)
"""Returned in place of a time beyond ``CLOCK_END``."""


@kernel(cache=True, nogil=True)
def put_in_order(kind, size, match, req_start, req_ops, ireq_start, ireq_ops, S, missing, order):
    """Sort the operations topologically: each after its dependencies.

    Args:
        kind: uint8[n].
        size: int64[n], bytes or ns.
        match: int32[n], the other end of each message.
        req_start: int32[n + 1], see ``workbench.programs.graph.Dependents``.
        req_ops: int32[edges].
        ireq_start: int32[n + 1].
        ireq_ops: int32[edges].
        S: largest eager message, bytes.
        missing: int32[n], how many dependencies each waits for; spoilt.
        order: int32[n], out.

    Returns:
        How many could be listed; fewer than n where operations wait for one another.
    """
    n = len(kind)
    listed = np.zeros(n, np.bool_)
    stack = np.empty(n, np.int32)
    top = 0
    for op in range(n - 1, -1, -1):
        if missing[op] == 0:
            stack[top] = op
            top += 1
    number = 0
    while top > 0:
        top -= 1
        op = stack[top]
        order[number] = op
        number += 1
        listed[op] = True
        top = _release(op, ireq_start, ireq_ops, missing, stack, top)
        if kind[op] == CALC:
            top = _release(op, req_start, req_ops, missing, stack, top)
            continue
        other = match[op]
        eager = size[op if kind[op] == SEND else other] <= S
        if eager and kind[op] == SEND:
            top = _release(op, req_start, req_ops, missing, stack, top)
        if not listed[other]:
            continue
        receive = other if kind[op] == SEND else op
        top = _release(receive, req_start, req_ops, missing, stack, top)
        if not eager:
            top = _release(match[receive], req_start, req_ops, missing, stack, top)
    return number


@helper
def _release(op, first, ops, missing, stack, top):
    for i in range(first[op], first[op + 1]):
        other = ops[i]
        missing[other] -= 1
        if missing[other] == 0:
            stack[top] = other
            top += 1
    return top


@kernel(cache=True, nogil=True)
def forward(
    code, before_start, before, other, message, compute, o, latency, bytes_time, start, end
):
    """Find when each operation starts and ends.

    Args:
        code: uint8[n], kinds in order.
        before_start: int32[n + 1].
        before: int32[edges], what each operation waits for, at ``before_start``.
        other: int32[n], place of the other end of each message.
        message: int32[n], number of the message of each send and receive.
        compute: int64[n], ps of computations.
        o: overhead, ps.
        latency: int64[messages], ps.
        bytes_time: int64[messages], (s - 1) G, ps.
        start: int64[n], out, ps.
        end: int64[n], out, ps.

    Returns:
        The largest end, or RAN_OUT.
    """
    last = np.int64(0)
    for i in range(len(code)):
        t = np.int64(0)
        for k in range(before_start[i], before_start[i + 1]):
            p = before[k]
            t = max(t, end[p] if p >= 0 else start[-1 - p])
        start[i] = t
        kind = code[i]
        if kind == COMPUTE:
            t += compute[i]
            end[i] = t
            last = max(last, t)
            if t > CLOCK_END:
                return RAN_OUT
            continue
        if kind == EAGER_SEND:
            end[i] = t + o
            last = max(last, t + o)
        j = other[i]
        if j > i:
            continue
        m = message[i]
        if kind in (EAGER_SEND, EAGER_RECV):
            send, receive = (i, j) if kind == EAGER_SEND else (j, i)
            done = max(start[send] + o + latency[m] + bytes_time[m], start[receive]) + o
            end[receive] = done
        else:
            send, receive = (i, j) if kind == MEETING_SEND else (j, i)
            met = max(start[send] + latency[m], start[receive])
            end[receive] = met + 2 * o + 3 * latency[m] + bytes_time[m]
            done = end[receive] + o
            end[send] = done
        last = max(last, done)
        if done > CLOCK_END:
            return RAN_OUT
    return last


@kernel(cache=True, nogil=True)
def walk_back(
    code,
    before_start,
    before,
    other,
    message,
    o,
    latency,
    bytes_time,
    start,
    end,
    last,
    latencies,
    bytes_times,
    path,
):
    """Follow one longest path from its end and count what each message adds to it.

    Args:
        code: uint8[n], as in ``forward``.
        before_start: int32[n + 1].
        before: int32[edges].
        other: int32[n].
        message: int32[n].
        o: overhead, ps.
        latency: int64[messages], ps.
        bytes_time: int64[messages], ps.
        start: int64[n], ps, of ``forward``.
        end: int64[n], ps.
        last: the largest end, ps.
        latencies: int64[messages], out: how often each message's latency is on the path.
        bytes_times: int64[messages], out: how often its bytes are.
        path: int32[2 n], out: places of the operations on the path, the last one first.

    Returns:
        How many operations are on the path.
    """
    latencies[:] = 0
    bytes_times[:] = 0
    here = -1
    for i in range(len(code)):
        if end[i] == last:
            here = i
            break
    length = 0
    at_end = True
    while here >= 0:
        if length == 0 or path[length - 1] != here:
            path[length] = here
            length += 1
        kind = code[here]
        if at_end and kind == MEETING_SEND:
            here = int(other[here])
            continue
        if at_end and kind in (EAGER_RECV, MEETING_RECV):
            m, send = message[here], int(other[here])
            eager = kind == EAGER_RECV
            arrives = start[send] + latency[m] + (o + bytes_time[m] if eager else 0)
            if not eager:
                latencies[m] += 3
                bytes_times[m] += 1
            if arrives >= start[here]:
                latencies[m] += 1
                if eager:
                    bytes_times[m] += 1
                here = send
                path[length] = here
                length += 1
        step = -1
        for k in range(before_start[here], before_start[here + 1]):
            p = before[k]
            if (end[p] if p >= 0 else start[-1 - p]) == start[here]:
                step = k
                break
        if step < 0:
            break
        p = int(before[step])
        at_end = p >= 0
        here = p if p >= 0 else -1 - p
    return length
