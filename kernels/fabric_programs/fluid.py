"""A program on a fluid network, event by event: operations, starts and ends of flows."""

import numpy as np

from kernels import inlined, kernel
from kernels.fabric_programs import layout
from kernels.fabric_programs.events import first_time, push, take_first
from kernels.fabric_programs.hosts import acknowledge, arrive, count_missing, make_ready, push_roots
from kernels.fabric_programs.max_min import begin, finish, share_out

_STEPS_BETWEEN_LOOKS = 1024  # chosen: steps between looks at ``halt``


@kernel(cache=True, nogil=True)
def make_first(program, pending, events, cells):
    """Make a run ready: count dependencies, and start what depends on nothing.

    Args:
        program: the program.
        pending: as ``Pending`` says.
        events: the heap, empty.
        cells: int64[N_CELLS], 0.
    """
    count_missing(program, pending.missing)
    push_roots(pending, events, cells)


@kernel(cache=True, nogil=True)
def run(program, costs, pending, events, network, flows, cells, stride, halt, progress):
    """Run a program on a fluid network to its end.

    At one tick flows end before operations go on, and rates are shared out when all that happens at
    it is done, or ``costs.resolution`` after the first change.

    Args:
        program: the program.
        costs: of hosts.
        pending: what is known of the operations, as ``make_first`` left it.
        events: the heap.
        network: the channels.
        flows: the flows under way.
        cells: int64[N_CELLS].
        stride: channels of the longest path.
        halt: int8[1], ends the run when it is set.
        progress: int64[1], out: operations that have ended.

    Returns:
        OK, HALTED, CLOCK_RAN_OUT, STUCK, or FULL: to be called again with more room.
    """
    steps = 0
    while True:
        steps += 1
        if steps % _STEPS_BETWEEN_LOOKS == 0:
            progress[0] = cells[layout.ENDED]
            if halt[0] != 0:
                return layout.HALTED
        if cells[layout.FLOWS] == len(flows.op):
            return layout.FULL
        event_at = first_time(events, cells)
        flow_at = (
            flows.finish[flows.order[0]] if cells[layout.FINISHES] > 0 else np.int64(layout.NEVER)
        )
        at = min(event_at, flow_at)
        if cells[layout.DIRTY] > 0 and at - cells[layout.DIRTY_SINCE] > costs.resolution:
            if halt[0] != 0:
                return layout.HALTED
            share_out(network, flows, cells, stride)
            continue
        if at == layout.NEVER:
            break
        if at > layout.CLOCK_END:
            return layout.CLOCK_RAN_OUT
        cells[layout.NOW] = at
        if flow_at <= event_at:
            slot = flows.order[0]
            op = np.int64(flows.op[slot])
            path = flows.path[slot]
            finish(network, flows, cells, stride, slot)
            push(events, cells, at + network.latency[path], op * layout.CODES + layout.ARRIVE)
            _next_of_host(program, costs, pending, events, network, flows, cells, stride, path)
            continue
        item = take_first(events, cells)
        op = item // layout.CODES
        code = item % layout.CODES
        latency = _latency(program, network, op)
        if code == layout.READY:
            header = make_ready(program, costs, pending, events, cells, op, at, latency)
            if header >= 0:
                push(events, cells, header, op * layout.CODES + layout.ARRIVE)
        elif code == layout.ARRIVE:
            arrive(program, costs, pending, events, cells, op, at, latency)
        elif code == layout.ACKNOWLEDGED:
            acknowledge(program, costs, pending, events, cells, op, at)
        elif code == layout.INJECT and _starts_up(program, costs, op):
            push(events, cells, at + costs.startup, op * layout.CODES + layout.ENTER)
        elif code == layout.INJECT or code == layout.ENTER:
            _inject(program, costs, pending, events, network, flows, cells, stride, op, at)
    progress[0] = cells[layout.ENDED]
    return layout.OK if cells[layout.ENDED] == len(program.kind) else layout.STUCK


@inlined
def _latency(program, network, op):
    """Return the ticks of a header between the ranks of a message, 0 within a host."""
    if program.kind[op] == layout.CALC:
        return np.int64(0)
    path = program.path[op] if program.kind[op] == layout.SEND else program.path[program.match[op]]
    return network.control[path] if path >= 0 else np.int64(0)


@inlined
def _starts_up(program, costs, op):
    """Return whether a message takes its time before it enters the network."""
    return costs.startup > 0 and program.path[op] >= 0 and program.size[op] > 0


@inlined
def _inject(program, costs, pending, events, network, flows, cells, stride, op, at):
    """Give a message to its host's interface."""
    path = np.int64(program.path[op])
    if path < 0:
        push(events, cells, at, op * layout.CODES + layout.ARRIVE)
        return
    host = program.source[path]
    if costs.in_turn and pending.busy[host]:
        pending.queue_next[op] = -1
        if pending.queue_first[host] < 0:
            pending.queue_first[host] = op
        else:
            pending.queue_next[pending.queue_last[host]] = op
        pending.queue_last[host] = op
    elif program.size[op] == 0:
        push(events, cells, at + network.control[path], op * layout.CODES + layout.ARRIVE)
    else:
        pending.busy[host] = 1
        begin(network, flows, cells, stride, op, path, program.size[op])


@inlined
def _next_of_host(program, costs, pending, events, network, flows, cells, stride, path):
    """Inject the next messages of a host; those without bytes arrive at once."""
    if not costs.in_turn:
        return
    host = program.source[path]
    while pending.queue_first[host] >= 0:
        op = np.int64(pending.queue_first[host])
        pending.queue_first[host] = pending.queue_next[op]
        after = np.int64(program.path[op])
        if program.size[op] > 0:
            begin(network, flows, cells, stride, op, after, program.size[op])
            return
        push(
            events,
            cells,
            cells[layout.NOW] + network.control[after],
            op * layout.CODES + layout.ARRIVE,
        )
    pending.busy[host] = 0
