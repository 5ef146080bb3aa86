"""A program run without times: which operations can never start or complete.

Operations run in the order in which they become free, and messages arrive at once. Where every
message has one receive it can meet, whatever the times are, a program ends here exactly if it ends
in a replay. Messages that may meet several receives are put in pools, in which a message serves all
receives and a receive all messages: what does not end then cannot end in any order.
"""

from __future__ import annotations

from kernels import inlined, kernel
from kernels.loggops import layout
from kernels.loggops.matching import is_full, meet_in_channel, meet_in_lists

# Cells of `state`: where the queue begins and ends, channels in use, what has not met.
HEAD, TAIL, CHANNELS, UNMET = range(4)
N_STATE = 4  # the cells above


@kernel(cache=True, nogil=True)
def run(program, ranks, pool, eager, left, link, queue, waiting, pooled, seen, state):
    """Run a program until no operation can start.

    Args:
        program: ``layout.Program``; messages meet by the order of two lists where it is wild.
        ranks: int32[n], the rank of each operation.
        pool: int32[n], of messages and receives that are in one; else -1.
        eager: S, bytes; above it a send ends when it has met its receive.
        left: int32[n], dependencies of each; out: as ``layout`` says of a run that has ended.
        link: int32[n], room.
        queue: int32[n]; those without dependencies stand in front.
        waiting: Waiting, empty.
        pooled: int32[2 * pools], -1: receives and messages that wait in each pool.
        seen: bool[2 * pools], False: whether a receive, and a message, has come to each pool.
        state: int64[N_STATE]; TAIL is the number of operations in the queue, the rest 0.

    Returns:
        OK or STUCK; TABLE_FULL to be called again with more room for what waits.
    """
    kind, size, peer, tag, wild = (
        program.kind,
        program.size,
        program.peer,
        program.tag,
        program.wild,
    )
    req_start, req_ops = program.req_start, program.req_ops
    ireq_start, ireq_ops = program.ireq_start, program.ireq_ops
    head, tail, channels, unmet = state[HEAD], state[TAIL], state[CHANNELS], state[UNMET]
    while head < tail:
        if is_full(waiting, channels):
            state[HEAD], state[TAIL], state[CHANNELS], state[UNMET] = head, tail, channels, unmet
            return layout.TABLE_FULL
        op = queue[head]
        head += 1
        tail = let_go(ireq_start, ireq_ops, op, left, queue, tail)
        if kind[op] == layout.CALC:
            tail = let_go(req_start, req_ops, op, left, queue, tail)
            continue
        host = ranks[op]
        is_message = 1 if kind[op] == layout.SEND else 0
        ends_at_once = is_message == 1 and size[op] <= eager
        left[op] = layout.sent_by(host) if is_message == 1 else layout.POSTED
        if pool[op] >= 0:
            mine = 2 * pool[op] + is_message
            others = 2 * pool[op] + 1 - is_message
            if not seen[mine]:
                seen[mine] = True
                other = pooled[others]
                while other >= 0:
                    left[other] = 0
                    tail = let_go(req_start, req_ops, other, left, queue, tail)
                    other = link[other]
                    unmet -= 1
                pooled[others] = -1
            if ends_at_once or seen[others]:
                left[op] = 0
                tail = let_go(req_start, req_ops, op, left, queue, tail)
            else:
                link[op] = pooled[mine]
                pooled[mine] = op
                unmet += 1
            continue
        receiver = peer[op] if is_message == 1 else host
        source = host if is_message == 1 else peer[op]
        if wild[receiver] == 0 and source != layout.ANY_SOURCE:
            other, change = meet_in_channel(
                waiting.table, link, op, is_message, receiver, source, tag[op]
            )
            channels += change
        else:
            other = meet_in_lists(
                waiting.heads,
                waiting.tails,
                link,
                peer,
                tag,
                left,
                op,
                is_message,
                receiver,
                source,
                tag[op],
            )
        if ends_at_once:
            tail = let_go(req_start, req_ops, op, left, queue, tail)
        if other < 0:
            unmet += 1
            continue
        unmet -= 1
        message, receive = (op, other) if is_message == 1 else (other, op)
        left[message] = 0
        left[receive] = 0
        if size[message] > eager:
            tail = let_go(req_start, req_ops, message, left, queue, tail)
        tail = let_go(req_start, req_ops, receive, left, queue, tail)
    state[HEAD], state[TAIL], state[CHANNELS], state[UNMET] = head, tail, channels, unmet
    return layout.OK if unmet == 0 and tail == len(left) else layout.STUCK


@inlined
def let_go(start, ops, op, left, queue, tail):
    """Release the dependents of an operation, queue those that are free; return the queue's end."""
    for edge in range(start[op], start[op + 1]):
        after = ops[edge]
        left[after] -= 1
        if left[after] == 0:
            queue[tail] = after
            tail += 1
    return tail


@kernel(cache=True, nogil=True)
def circles(waits_for, visit, first):
    """Find the circles of operations each of which waits for one other.

    Args:
        waits_for: int64[n], the one that each waits for, -1 for none.
        visit: int64[n], 0; room.
        first: int64[most], out: one operation of each circle, up to as many as there is room for.

    Returns:
        The number of circles.
    """
    count = 0
    for start in range(len(waits_for)):
        op = start
        while op >= 0 and visit[op] == 0 and waits_for[op] >= 0:
            visit[op] = start + 1
            op = waits_for[op]
        if op >= 0 and visit[op] == start + 1:
            if count < len(first):
                first[count] = op
            count += 1
    return count
