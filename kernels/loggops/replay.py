"""A program on LogGOPS, event by event, in LogGOPSim's order but without its retries.

LogGOPSim keeps one heap of pending operations and messages by (time, number); one whose core or
interface is busy goes back into the heap with the time at which that will be free, again and
again. That ends where the next to run is the one with the least (max(first queued time, clock of
what it needs), number). Clocks never go back, and neither does the time of what runs. So messages
reach a host's queue in the order of both time and number, and so do the computations, sends and
receives of a host with one core, which are queued at its clock: first in, first out. A host's
first is the least of its queues' first, and a tournament over hosts finds the next of all.

Hoefler, Schneider, Lumsdaine: LogGOPSim, HPDC 2010, sections 3 and 4; for several cores and
messages without bytes see ``workbench.simulate.replay``.
"""

from __future__ import annotations

import numpy as np

from kernels import kernel
from kernels.loggops import layout
from kernels.loggops.lanes import lane_of, offer, settle
from kernels.loggops.matching import is_full, meet
from kernels.loggops.occupation import hold_until, join, run_computation, run_send, take_message
from kernels.loggops.queues import (
    CELLS,
    HEAD,
    enqueue,
    find_next,
    interface_free,
    queue_of,
    take_first,
    update_winners,
)
from kernels.loggops.ties import sort_freed


@kernel(cache=True, nogil=True)
def first_without_peer(rank_start, kind, peer):
    """Return the first operation whose peer is no rank or whose kind is unknown, or -1.

    Args:
        rank_start: int64[ranks + 1].
        kind: uint8[n].
        peer: int32[n].
    """
    ranks = len(rank_start) - 1
    for op in range(len(kind)):
        if kind[op] == layout.CALC:
            continue
        if kind[op] != layout.SEND and kind[op] != layout.RECV:
            return op
        lowest = layout.ANY_SOURCE if kind[op] == layout.RECV else 0
        if peer[op] < lowest or peer[op] >= ranks:
            return op
    return -1


@kernel(cache=True, nogil=True)
def inspect(rank_start, kind, size, peer, tag, cpu, nic):
    """Return the properties that decide how a program is run.

    Args:
        rank_start: int64[ranks + 1].
        kind: uint8[n].
        size: int64[n].
        peer: int32[n], each a rank or ANY_SOURCE.
        tag: uint32[n].
        cpu: uint8[n].
        nic: uint8[n].

    Returns:
        Largest message in bytes, longest computation in ns, the least of all sizes; uint8[ranks],
        1 where messages may meet by a wildcard; bool[256], cores and interfaces that are named.
    """
    ranks = len(rank_start) - 1
    wild = np.zeros(ranks, np.uint8)
    cpus, nics = np.zeros(256, np.bool_), np.zeros(256, np.bool_)
    largest = longest = least = np.int64(0)
    for rank in range(ranks):
        for op in range(rank_start[rank], rank_start[rank + 1]):
            cpus[cpu[op]] = True
            least = min(least, size[op])
            if kind[op] == layout.CALC:
                longest = max(longest, size[op])
                continue
            nics[nic[op]] = True
            largest = max(largest, size[op])
            if kind[op] == layout.SEND:
                if tag[op] == layout.ANY_TAG:
                    wild[peer[op]] = 1
            elif tag[op] == layout.ANY_TAG or peer[op] == layout.ANY_SOURCE:
                wild[rank] = 1
    return largest, longest, least, wild, cpus, nics


@kernel(cache=True, nogil=True)
def count_dependencies(rank_start, req_start, req_ops, ireq_start, ireq_ops, left):
    """Count the dependencies of each operation; return the most that may become free at once.

    Args:
        rank_start: int64[ranks + 1].
        req_start: int32[n + 1], see ``layout.Program``.
        req_ops: int32[edges].
        ireq_start: int32[n + 1].
        ireq_ops: int32[edges].
        left: int32[n], out.

    Returns:
        -1 where a dependency does not join two operations of one rank.
    """
    left[:] = 0
    n = len(left)
    most = most_starts = most_ends = 0
    if len(req_start) != n + 1 or len(ireq_start) != n + 1 or req_start[0] != 0:
        return -1
    if ireq_start[0] != 0 or req_start[n] != len(req_ops) or ireq_start[n] != len(ireq_ops):
        return -1
    for op in range(n):
        if req_start[op + 1] < req_start[op] or ireq_start[op + 1] < ireq_start[op]:
            return -1
    for rank in range(len(rank_start) - 1):
        first, last = rank_start[rank], rank_start[rank + 1]
        for edge in range(req_start[first], req_start[last]):
            if req_ops[edge] < first or req_ops[edge] >= last:
                return -1
            left[req_ops[edge]] += 1
        for edge in range(ireq_start[first], ireq_start[last]):
            if ireq_ops[edge] < first or ireq_ops[edge] >= last:
                return -1
            left[ireq_ops[edge]] += 1
        roots = 0
        for op in range(first, last):
            roots += left[op] == 0
            most_starts = max(most_starts, ireq_start[op + 1] - ireq_start[op])
            most_ends = max(most_ends, req_start[op + 1] - req_start[op])
        most = max(most, roots)
    # A receive's start, its own end, and that of the send it lets go.
    return max(most, most_starts + 2 * most_ends)


@kernel(cache=True, nogil=True)
def replay(
    program, costs, noise, pending, own_end, kept, clocks, q, waiting, freed, state, halt, progress
):
    """Run a program to its end.

    Args:
        program: Program.
        costs: Costs.
        noise: Noise.
        pending: Pending; the result is in ``left``.
        own_end: int64[n] with several cores, else int64[1]: room.
        kept: Kept, out.
        clocks: Clocks, idle; out: when each core is free for good.
        q: Queues, empty.
        waiting: Waiting, empty.
        freed: Freed.
        state: int64[N_STATE], 0; out.
        halt: int8[1]; set to end the run.
        progress: int64[1], out: how many operations and messages have been queued so far.

    Returns:
        OK, HALTED, CLOCK_RAN_OUT or STUCK; TABLE_FULL to be called again with the same arguments
        but for a larger table.
    """
    hosts = len(program.rank_start) - 1
    cpus, nics = costs.cpus, costs.nics
    want = kept.wanted
    left, at = pending.left, pending.at
    post_cause, post_cause_kind = kept.post_cause, kept.post_cause_kind
    nexto, nextgs = clocks.nexto, clocks.nextgs
    count, begun, unmet, channels = (
        state[layout.COUNT],
        state[layout.BEGUN],
        state[layout.UNMET],
        state[layout.CHANNELS],
    )
    steps = 0
    while True:
        marked = freed_here = freed_there = 0
        sender = np.int64(-1)
        is_message = -1
        if is_full(waiting, channels):
            (
                state[layout.COUNT],
                state[layout.BEGUN],
                state[layout.UNMET],
                state[layout.CHANNELS],
            ) = (
                count,
                begun,
                unmet,
                channels,
            )
            return layout.TABLE_FULL
        if begun < hosts:
            host = begun
            begun += 1
            for root in range(program.rank_start[host], program.rank_start[host + 1]):
                if left[root] == 0:
                    freed.here[freed_here] = root
                    freed_here += 1
        else:
            if cpus > 1:
                settle(q, pending, clocks)
            lane = np.int64(q.tree[1])
            host = lane if cpus == 1 else lane // q.lanes
            t = q.due[lane]
            if t == layout.NEVER:
                break
            if t > layout.CLOCK_END:
                return layout.CLOCK_RAN_OUT
            steps += 1
            if steps % layout.STEPS_BETWEEN_LOOKS == 0:
                progress[0] = count
                if halt[0] != 0:
                    return layout.HALTED
            which = np.int64(q.due_queue[lane])
            op = take_first(q, pending, host, lane)
            cpu, way = np.int64(0), which - 1
            if cpus > 1:
                q.due_number[lane] = -1
                cpu = which // q.of_core
                way -= cpu * q.of_core
            core, port = host * cpus + cpu, host * nics + way
            if which == q.posts:
                unmet += 1
                left[op] = layout.POSTED
                if want:
                    kept.start[op] = t
                freed.op[0], freed.at[0] = op, t
                freed.by_start[0], freed.elsewhere[0] = True, False
                marked = 1
                source = np.int64(program.peer[op])
                is_message = 0
            elif way < 0:
                run_computation(program, noise, pending, kept, clocks, host, core, op, t, freed)
                marked = 2
            elif way < nics:
                marked = run_send(
                    program, costs, noise, pending, kept, clocks, host, core, port, op, t, freed
                )
                if cpus > 1:
                    own_end[op] = nexto[core]
                # From here on the operation is its message.
                left[op] = layout.sent_by(host)
                at[op] = t + costs.overhead + costs.latency
                unmet += 1
                receiver = np.int64(program.peer[op])
                which += nics
                arrivals = receiver * q.kinds + which
                alone = q.cells[arrivals * CELLS + HEAD] == q.none
                enqueue(q, pending, arrivals, op, count)
                if alone:
                    lane = lane_of(q, layout.SEND, receiver, cpu)
                    first = max(at[op], nexto[receiver * cpus + cpu])
                    first = max(first, interface_free(q, clocks, receiver, way + nics))
                    if first < q.due[lane]:
                        q.due[lane], q.due_number[lane], q.due_queue[lane] = first, count, which
                        update_winners(q, lane)
                count += 1
            else:
                port -= nics
                take_message(program, costs, noise, pending, kept, clocks, host, core, port, op, t)
                source = layout.sent_by(np.int64(left[op]))
                is_message = 1
            if is_message >= 0:
                other, change = meet(program, pending, waiting, op, is_message, host, source)
                channels += change
                if other >= 0:
                    unmet -= 2
                    message, receive = (op, other) if is_message == 1 else (other, op)
                    source = layout.sent_by(np.int64(left[message]))
                    left[message] = 0
                    left[receive] = 0
                    if want:
                        join(kept, at, message, receive)
                    if program.size[message] > costs.eager:
                        sender = source
                        core, port = sender * cpus, sender * nics
                        if cpus > 1:
                            core += program.cpu[message]
                        if nics > 1:
                            port += program.nic[message]
                        hold_until(kept, clocks, core, port, message, t)
                        freed.op[marked] = message
                        freed.at[marked] = max(t, own_end[message]) if cpus > 1 else t
                        freed.by_start[marked] = False
                        freed.elsewhere[marked] = sender != host
                        marked += 1
                    freed.op[marked], freed.at[marked] = receive, max(t, at[message])
                    freed.by_start[marked], freed.elsewhere[marked] = False, False
                    marked += 1

        for i in range(marked):
            ended, ready = freed.op[i], freed.at[i]
            if freed.by_start[i]:
                first_edge, last_edge = program.ireq_start[ended], program.ireq_start[ended + 1]
            else:
                first_edge, last_edge = program.req_start[ended], program.req_start[ended + 1]
            for edge in range(first_edge, last_edge):
                freed_op = np.int64(
                    program.ireq_ops[edge] if freed.by_start[i] else program.req_ops[edge]
                )
                left[freed_op] -= 1
                if ready > at[freed_op]:
                    at[freed_op] = ready
                    if want:
                        post_cause[freed_op] = ended
                        post_cause_kind[freed_op] = (
                            layout.STARTED if freed.by_start[i] else layout.DEPENDENCY
                        )
                if left[freed_op] == 0:
                    if freed.elsewhere[i]:
                        freed.there[freed_there] = freed_op
                        freed_there += 1
                    else:
                        freed.here[freed_here] = freed_op
                        freed_here += 1

        # The host and a sender elsewhere that it let go, in ascending order.
        others = sender >= 0 and sender != host
        for turn in range(2 if others else 1):
            elsewhere = others and (sender < host) == (turn == 0)
            owner = sender if elsewhere else host
            number = freed_there if elsewhere else freed_here
            ops = freed.there if elsewhere else freed.here
            if number > 1 and sort_freed(
                ops, number, program.kind, freed.sorted, costs.like_libstdcxx, freed.parts
            ):
                ops = freed.sorted
            for i in range(number):
                freed_op = np.int64(ops[i])
                cpu = np.int64(program.cpu[freed_op]) if cpus > 1 else np.int64(0)
                nic = np.int64(program.nic[freed_op]) if nics > 1 else np.int64(0)
                core = owner * cpus + cpu
                if nexto[core] > at[freed_op]:
                    at[freed_op] = nexto[core]
                    if want:
                        post_cause[freed_op], post_cause_kind[freed_op] = (
                            clocks.on_core[core],
                            layout.CPU,
                        )
                if program.kind[freed_op] == layout.SEND:
                    port = owner * nics + nic
                    if nextgs[port] > at[freed_op]:
                        at[freed_op] = nextgs[port]
                        if want:
                            post_cause[freed_op], post_cause_kind[freed_op] = (
                                clocks.sent[port],
                                layout.NIC,
                            )
                which = queue_of(q, program.kind[freed_op], cpu, nic)
                enqueue(q, pending, owner * q.kinds + which, freed_op, count)
                if cpus > 1:
                    its_lane = lane_of(q, program.kind[freed_op], owner, cpu)
                    offer(q, its_lane, at[freed_op], count, which)
                count += 1
            if cpus == 1:
                find_next(q, pending, clocks, owner)

    state[layout.COUNT] = count
    if unmet > 0:
        return layout.STUCK
    for each in range(len(left)):
        if left[each] > 0:
            return layout.STUCK
    return layout.OK
