"""A program on LogGOPS as LogGOPSim runs it, retries and quirks included.

One heap of pending operations and messages by (time, number); one whose core or interface is busy
goes back with the time at which that will be free. What differs from ``replay``:

* (s - 1) is -1 for an empty message, and times are unsigned: one below 0 is the latest of all;
* a freed operation is queued at its core's clock, whatever the time of what it waited for;
* a receive that finds its message decides by its own size whether the send waited, and sets the
  sender's clocks at the receive's core and interface;
* operations that never run are no error.
"""

from __future__ import annotations

import numpy as np

from kernels import helper, inlined, kernel
from kernels.loggops import layout
from kernels.loggops.matching import is_full, meet
from kernels.loggops.noise import delay
from kernels.loggops.occupation import join
from kernels.loggops.ties import sort_freed


@kernel(cache=True, nogil=True)
def replay(
    program,
    costs,
    noise,
    pending,
    source_of,
    kept,
    clocks,
    heap,
    ran,
    waiting,
    freed,
    state,
    halt,
    progress,
):
    """Run a program to its end; arguments and results as in ``replay.replay`` but for these.

    Args:
        program: Program.
        costs: Costs.
        noise: Noise.
        pending: Pending; ``left`` is more than 0 afterwards for operations that never ran.
        source_of: int32[n], -1; the rank of a send whose message is on its way or waits.
        kept: Kept, out.
        clocks: Clocks, idle; out.
        heap: int32[n + 1], room.
        ran: bool[n], False; out.
        waiting: Waiting, empty.
        freed: Freed.
        state: int64[N_STATE], 0; out.
        halt: int8[1].
        progress: int64[1], out.

    Returns:
        OK, HALTED, CLOCK_RAN_OUT or TABLE_FULL; STUCK where messages or receives are left, or
        nothing can run.
    """
    hosts = len(program.rank_start) - 1
    kind, size = program.kind, program.size
    want = kept.wanted
    left, at = pending.left, pending.at
    nexto = clocks.nexto
    count, begun, unmet, channels = (
        state[layout.COUNT],
        state[layout.BEGUN],
        state[layout.UNMET],
        state[layout.CHANNELS],
    )
    queued = state[layout.QUEUED]
    steps = 0
    while True:
        marked = freed_here = freed_there = 0
        sender = np.int64(-1)
        if is_full(waiting, channels):
            (
                state[layout.COUNT],
                state[layout.BEGUN],
                state[layout.UNMET],
                state[layout.CHANNELS],
                state[layout.QUEUED],
            ) = (
                count,
                begun,
                unmet,
                channels,
                queued,
            )
            return layout.TABLE_FULL
        if begun < hosts:
            host = begun
            begun += 1
            for root in range(program.rank_start[host], program.rank_start[host + 1]):
                if left[root] == 0:
                    freed.here[freed_here] = root
                    freed_here += 1
        elif queued == 0:
            break
        else:
            steps += 1
            if steps % layout.STEPS_BETWEEN_LOOKS == 0:
                progress[0] = count
                if halt[0] != 0:
                    return layout.HALTED
            op = np.int64(heap[0])
            t = at[op]
            if t > layout.CLOCK_END:
                return layout.CLOCK_RAN_OUT
            is_message = source_of[op] >= 0
            host = np.int64(program.peer[op]) if is_message else host_of(program, op)
            core = host * costs.cpus + np.int64(program.cpu[op])
            port = host * costs.nics + np.int64(program.nic[op])
            if is_message:
                free = later(nexto[core], clocks.nextgr[port])
            elif kind[op] == layout.SEND:
                free = later(nexto[core], clocks.nextgs[port])
            else:
                free = t if kind[op] == layout.RECV else nexto[core]
            if below(t, free):
                at[op] = free
                if want:
                    keep_retry(kept, clocks, is_message, op, core, port, free)
                sink(heap, queued, op, at, pending.number)
                continue
            queued -= 1
            if queued > 0:
                sink(heap, queued, np.int64(heap[queued]), at, pending.number)
            if not is_message:
                ran[op] = True
                left[op] = 0
                mark(freed, 0, op, t, True, False)
                marked = 1
                if want:
                    kept.start[op] = t
            if is_message or kind[op] == layout.RECV:
                if is_message:
                    take_message(program, costs, noise, pending, kept, clocks, host, core, port, op)
                    source = np.int64(source_of[op])
                    # As the lists tell the rank of a send.
                    left[op] = layout.sent_by(source)
                    other, change = meet(program, pending, waiting, op, 1, host, source)
                else:
                    unmet += 1
                    left[op] = layout.POSTED
                    source = np.int64(program.peer[op])
                    other, change = meet(program, pending, waiting, op, 0, host, source)
                channels += change
                if other >= 0:
                    unmet -= 2
                    message, receive = (op, other) if is_message else (other, op)
                    if want:
                        join(kept, at, message, receive)
                    if size[op] > costs.eager:
                        sender = np.int64(source_of[message])
                        core = sender * costs.cpus + np.int64(program.cpu[op])
                        port = sender * costs.nics + np.int64(program.nic[op])
                        hold_until(kept, clocks, core, port, message, t)
                        mark(freed, marked, message, t, False, sender != host)
                        marked += 1
                    left[message] = 0
                    left[receive] = 0
                    mark(freed, marked, receive, max(t, at[message]), False, False)
                    marked += 1
            else:
                if kind[op] == layout.CALC:
                    work = size[op] * layout.PS_PER_NS
                else:
                    work = costs.overhead + bytes_beyond_first(size[op], costs.o_byte, costs.o_real)
                lost = delay(noise, core, t, work)
                noise.total[host] += lost
                nexto[core] = t + work + lost
                if want:
                    kept.end[op] = nexto[core]
                    clocks.on_core[core] = op
                if kind[op] == layout.SEND:
                    clocks.nextgs[port] = (
                        t + costs.gap + bytes_beyond_first(size[op], costs.g_byte, costs.g_real)
                    )
                    if want:
                        clocks.sent[port] = op
                        kept.cause[op], kept.cause_kind[op] = op, layout.MESSAGE
                    # From here on the operation is its message.
                    source_of[op] = host
                    unmet += 1
                    at[op] = t + costs.overhead + costs.latency
                    pending.number[op] = count
                    count += 1
                    push(heap, queued, op, at, pending.number)
                    queued += 1
                if kind[op] == layout.CALC or size[op] <= costs.eager:
                    mark(freed, 1, op, nexto[core], False, False)
                    marked = 2

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
                # One that has run was freed before its time, by a send that ended twice.
                if ran[freed_op]:
                    continue
                left[freed_op] -= 1
                if left[freed_op] != 0:
                    continue
                if want:
                    # Until it runs: when what it waited for was over.
                    kept.start[freed_op] = ready
                    kept.post_cause[freed_op] = ended if ready > 0 else -1
                    kept.post_cause_kind[freed_op] = (
                        layout.STARTED if freed.by_start[i] else layout.DEPENDENCY
                    )
                if freed.elsewhere[i]:
                    freed.there[freed_there] = freed_op
                    freed_there += 1
                else:
                    freed.here[freed_here] = freed_op
                    freed_here += 1

        others = sender >= 0 and sender != host
        for turn in range(2 if others else 1):
            elsewhere = others and (sender < host) == (turn == 0)
            owner = sender if elsewhere else host
            number = freed_there if elsewhere else freed_here
            ops = freed.there if elsewhere else freed.here
            if number > 1 and sort_freed(
                ops, number, kind, freed.sorted, costs.like_libstdcxx, freed.parts
            ):
                ops = freed.sorted
            for i in range(number):
                freed_op = np.int64(ops[i])
                core = owner * costs.cpus + np.int64(program.cpu[freed_op])
                at[freed_op] = nexto[core]
                if want and at[freed_op] != kept.start[freed_op]:
                    kept.post_cause[freed_op], kept.post_cause_kind[freed_op] = (
                        clocks.on_core[core],
                        layout.CPU,
                    )
                port = owner * costs.nics + np.int64(program.nic[freed_op])
                if kind[freed_op] == layout.SEND and below(at[freed_op], clocks.nextgs[port]):
                    at[freed_op] = clocks.nextgs[port]
                    if want:
                        kept.post_cause[freed_op], kept.post_cause_kind[freed_op] = (
                            clocks.sent[port],
                            layout.NIC,
                        )
                pending.number[freed_op] = count
                count += 1
                push(heap, queued, freed_op, at, pending.number)
                queued += 1

    state[layout.COUNT] = count
    for each in range(len(left)):
        left[each] = min(left[each], 0) if ran[each] else max(left[each], 1)
    return layout.STUCK if unmet > 0 or (count == 0 and len(left) > 0) else layout.OK


@inlined
def host_of(program, op):
    """Return the host of an operation."""
    return np.int64(np.searchsorted(program.rank_start, op, side="right") - 1)


@inlined
def mark(freed, place, op, t, by_start, elsewhere):
    """Note that an operation starts or ends."""
    freed.op[place], freed.at[place] = op, t
    freed.by_start[place], freed.elsewhere[place] = by_start, elsewhere


@inlined
def keep_retry(kept, clocks, is_message, op, core, port, free):
    """Record what a requeued operation or message waits for."""
    by_core = clocks.nexto[core] == free
    if is_message:
        kept.cause[op] = clocks.on_core[core] if by_core else clocks.taken[port]
        kept.cause_kind[op] = layout.CPU if by_core else layout.NIC
    else:
        kept.post_cause[op] = clocks.on_core[core] if by_core else clocks.sent[port]
        kept.post_cause_kind[op] = layout.CPU if by_core else layout.NIC


@inlined
def take_message(program, costs, noise, pending, kept, clocks, host, core, port, op):
    """Occupy core and interface for an arrived message; ``at`` becomes the end of it."""
    t, size = pending.at[op], program.size[op]
    by_byte = bytes_beyond_first(size, costs.g_byte, costs.g_real)
    work = costs.overhead + later(bytes_beyond_first(size, costs.o_byte, costs.o_real), by_byte)
    lost = delay(noise, core, t, work)
    noise.total[host] += lost
    clocks.nexto[core] = t + work + lost
    clocks.nextgr[port] = t + costs.gap + by_byte
    pending.at[op] = clocks.nexto[core]
    if kept.wanted:
        kept.begin[op] = t
        clocks.on_core[core] = -2 - op
        clocks.taken[port] = -2 - op


@inlined
def hold_until(kept, clocks, core, port, message, t):
    """Keep a sender's core and interface busy until its receiver lets the send go."""
    clocks.nexto[core] = later(clocks.nexto[core], t)
    clocks.nextgs[port] = later(clocks.nextgs[port], t)
    if kept.wanted:
        kept.end[message] = max(kept.end[message], t)


@inlined
def below(a, b):
    """Return whether a < b as unsigned 64-bit numbers."""
    return (a < b) != ((a < 0) != (b < 0))


@inlined
def later(a, b):
    """Return the greater as unsigned 64-bit numbers."""
    return b if below(a, b) else a


@inlined
def bytes_beyond_first(size, whole, real):
    """Return (s - 1) times a cost in ps, negative for an empty message."""
    if whole >= 0:
        return (size - 1) * whole
    return round((size - 1) * real)


@inlined
def comes_first(a, b, at, number):
    """Return whether an operation comes before another in the heap."""
    return number[a] < number[b] if at[a] == at[b] else below(at[a], at[b])


@helper
def push(heap, count, op, at, number):
    """Add an operation to a heap of ``count``.

    Args:
        heap: int32[more than count].
        count: how many it holds.
        op: which to add.
        at: int64[n], ps, unsigned.
        number: uint32[n], breaks ties.
    """
    place = count
    while place > 0:
        parent = (place - 1) >> 1
        if not comes_first(op, heap[parent], at, number):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = op


@helper
def sink(heap, count, op, at, number):
    """Put an operation in the place of the first of a heap of ``count``; arguments as ``push``."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        if child + 1 < count and comes_first(heap[child + 1], heap[child], at, number):
            child += 1
        if not comes_first(heap[child], op, at, number):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = op
