"""How much later each operation could start and the program end no later."""

import numpy as np

from kernels import kernel

SEND, RECV, CALC = 1, 2, 3  # kinds of operations as LogGOPSim's binary numbers them

PS_PER_NS = np.int64(1000)  # sizes of computations are in ns, times in ps


@kernel(cache=True, nogil=True)
def order(kind, match, eager, req_start, req_ops, ireq_start, ireq_ops, missing, events):
    """Sort starts and ends topologically: each after its dependencies.

    Args:
        kind: uint8[n].
        match: int32[n], the other end of each message.
        eager: bool[n], whether a message is sent without asking, at both ends.
        req_start: int32[n + 1], see ``workbench.programs.graph.Dependents``.
        req_ops: int32[edges].
        ireq_start: int32[n + 1].
        ireq_ops: int32[edges].
        missing: int32[n], dependencies each operation waits for; afterwards -1.
        events: int64[2 n], out, 2 op for a start, 2 op + 1 for an end.

    Returns:
        How many events there are; fewer than 2 n where operations wait for one another.
    """
    tail = 0
    for op in range(len(kind)):
        if missing[op] == 0:
            events[tail] = 2 * op
            tail += 1
    head = 0
    while head < tail:
        op = events[head] >> 1
        ended = events[head] & 1
        head += 1
        if ended:
            first, last, ops = req_start[op], req_start[op + 1], req_ops
        else:
            first, last, ops = ireq_start[op], ireq_start[op + 1], ireq_ops
        for i in range(first, last):
            missing[ops[i]] -= 1
            if missing[ops[i]] == 0:
                events[tail] = 2 * np.int64(ops[i])
                tail += 1
        if ended:
            continue
        missing[op] = -1
        if kind[op] == CALC or (kind[op] == SEND and eager[op]):
            events[tail] = 2 * op + 1
            tail += 1
        if kind[op] != CALC and missing[match[op]] == -1:
            receive = op if kind[op] == RECV else np.int64(match[op])
            events[tail] = 2 * receive + 1
            tail += 1
            if not eager[op]:
                events[tail] = 2 * np.int64(match[receive]) + 1
                tail += 1
    return tail


@kernel(cache=True, nogil=True)
def earliest(kind, size, match, eager, requires, irequires, events, delay, through, o, start, end):
    """Find when each operation starts and ends.

    Args:
        kind: uint8[n].
        size: int64[n], bytes or ns.
        match: int32[n].
        eager: bool[n].
        requires: int32[n + 1] and int32[edges], a pair.
        irequires: int32[n + 1] and int32[edges], a pair.
        events: int64[2 n], of ``order``.
        delay: int64[n], latency of each send's message, ps.
        through: int64[n], time of its bytes, ps.
        o: overhead, ps.
        start: int64[n], out, ps.
        end: int64[n], out, ps.
    """
    start[:] = 0
    for event in events:
        op = event >> 1
        if event & 1:
            if kind[op] == CALC:
                end[op] = start[op] + size[op] * PS_PER_NS
            elif kind[op] == SEND and eager[op]:
                end[op] = start[op] + o
            else:
                send = op if kind[op] == SEND else np.int64(match[op])
                receive = np.int64(match[send])
                if eager[op]:
                    there = start[send] + o + delay[send] + through[send]
                    end[op] = max(there, start[receive]) + o
                else:
                    met = max(start[send] + delay[send], start[receive])
                    end[op] = met + 2 * o + 3 * delay[send] + through[send]
                    if kind[op] == SEND:
                        end[op] += o
            ops, first, last, time = requires[1], requires[0][op], requires[0][op + 1], end[op]
        else:
            ops, first, last, time = irequires[1], irequires[0][op], irequires[0][op + 1], start[op]
        for i in range(first, last):
            start[ops[i]] = max(start[ops[i]], time)


@kernel(cache=True, nogil=True)
def latest(
    kind, size, match, eager, requires, irequires, events, delay, through, o, T, late, until
):
    """Find when each operation must start and end at the latest.

    Args:
        kind: uint8[n].
        size: int64[n], bytes or ns.
        match: int32[n].
        eager: bool[n].
        requires: int32[n + 1] and int32[edges], a pair.
        irequires: int32[n + 1] and int32[edges], a pair.
        events: int64[2 n], of ``order``.
        delay: int64[n], latency of each send's message, ps.
        through: int64[n], time of its bytes, ps.
        o: overhead, ps.
        T: when all must have ended, ps.
        late: int64[n], out, ps, the latest starts.
        until: int64[n], out, ps, the latest ends.
    """
    late[:] = T
    until[:] = T
    for at in range(len(events) - 1, -1, -1):
        op = events[at] >> 1
        if events[at] & 1:
            for i in range(requires[0][op], requires[0][op + 1]):
                until[op] = min(until[op], late[requires[1][i]])
            if kind[op] == SEND and eager[op]:
                there = until[match[op]] - o - delay[op] - through[op]
                until[op] = min(until[op], there)
            continue
        for i in range(irequires[0][op], irequires[0][op + 1]):
            late[op] = min(late[op], late[irequires[1][i]])
        if kind[op] == CALC:
            late[op] = min(late[op], until[op] - size[op] * PS_PER_NS)
            continue
        if eager[op]:
            late[op] = min(late[op], until[op] - o)
        else:
            send = op if kind[op] == SEND else np.int64(match[op])
            receive = np.int64(match[send])
            met = min(until[receive], until[send] - o) - 2 * o - 3 * delay[send] - through[send]
            late[op] = min(late[op], met - delay[send] if kind[op] == SEND else met)
