"""A program on the packet network: a host layer of ``kernels.fabric``.

What happens to an operation is a timer of the host that it concerns. Headers, requests and
acknowledgements of messages above S are timers at the other host, the latency of the way later:
that is never less than the network looks ahead.
"""

import numpy as np

from kernels import helper, kernel
from kernels.fabric import engine, layout, nic, routing
from kernels.fabric_programs.events import first_time, push, take_first
from kernels.fabric_programs.hosts import acknowledge, arrive, make_ready
from kernels.fabric_programs.layout import (
    ACKNOWLEDGED,
    ARRIVE,
    CALC,
    CODES,
    ENDED,
    EVENTS,
    INJECT,
    READY,
    SEND,
)


@helper
def _hand_out(s, q, program, events, cells, host_of):
    """Set a timer for each event, while there is room; return OK, NO_RECORDS or NO_STATE."""
    while cells[EVENTS] > 0:
        status = layout.room_left(s, q)
        if status != layout.OK:
            return status
        time = first_time(events, cells)
        item = take_first(events, cells)
        op = item // CODES
        concerned = np.int64(program.match[op]) if item % CODES == ARRIVE else op
        nic.set_timer(s, q, np.int64(host_of[concerned]), time, layout.NODE, layout.TIMER, item, 0)
    return np.int64(layout.OK)


@helper
def _latency(program, latency, op):
    """Return the latency between the ranks of a message, 0 within a host."""
    if program.kind[op] == CALC:
        return np.int64(0)
    path = program.path[op] if program.kind[op] == SEND else program.path[program.match[op]]
    return latency[path] if path >= 0 else np.int64(0)


@helper
def _follow(s, t, q, now, program, costs, pending, events, cells, host_of, latency, item):
    """Do what is due for an operation."""
    op = item // CODES
    code = item % CODES
    away = _latency(program, latency, op)
    if code == READY:
        header = make_ready(program, costs, pending, events, cells, op, now, away)
        if header >= 0:
            push(events, cells, header, op * CODES + ARRIVE)
    elif code == ARRIVE:
        arrive(program, costs, pending, events, cells, op, now, away)
    elif code == ACKNOWLEDGED:
        acknowledge(program, costs, pending, events, cells, op, now)
    elif code == INJECT:
        size = program.size[op]
        if program.path[op] < 0 or size == 0:
            push(events, cells, now + away, op * CODES + ARRIVE)
            return
        source = np.int64(host_of[op])
        target = np.int64(host_of[program.match[op]])
        message = nic.new_message(s, q, source, target, size, op, 0)
        nic.send(s, t, q, now, message)


@helper
def _receive(s, q, now, program, costs, pending, events, cells, latency, host, whole):
    """Take a message that has come in; where its last bytes are charged, when these are there."""
    message = s[layout.EVENT_WORD]
    send = q[message + layout.M_WORD]
    layout.free_record(s, q, message)
    if whole:
        p = layout.port_cells(s, layout.ejection_channel(s, host))
        # Of the packet that came last, which need not be the message's tail.
        last = layout.span(s[layout.EVENT_CODE], s[p + layout.BYTE])
        push(events, cells, now + last, send * CODES + ARRIVE)
    else:
        away = _latency(program, latency, send)
        arrive(program, costs, pending, events, cells, send, now, away)


@kernel(cache=True, nogil=True)
def run(
    s,
    t,
    q,
    routes,
    depth,
    seen,
    program,
    costs,
    pending,
    events,
    cells,
    host_of,
    latency,
    whole,
    halt,
    progress,
):
    """Run a program to its end, or go on with a run that had to stop for room.

    Args:
        s: int64, the state, see ``kernels.fabric.layout``.
        t: int32, tables.
        q: int64, records.
        routes: the tables of ``kernels.fabric.routing``.
        depth: int32[channels], room for queue lengths.
        seen: int32[channels], likewise.
        program: the program.
        costs: of hosts.
        pending: what is known of the operations, as ``fluid.make_first`` left it.
        events: a heap for what is handed to timers.
        cells: int64[N_CELLS] of ``fabric_programs.layout``.
        host_of: int32[n], the host of each operation.
        latency: int64[paths], ticks.
        whole: whether a message is there only when its last byte is.
        halt: int8[1], ends the run when it is set.
        progress: int64[1], out: operations that have ended.

    Returns:
        As ``kernels.fabric.layout`` has them: OK, DEADLOCK, HALTED, CLOCK_RAN_OUT or LOST;
        NO_RECORDS or NO_STATE: call again with more room.
    """
    windows = 0
    looks = routes.settings[routing.SCHEME] == routing.UGAL_G
    status = _hand_out(s, q, program, events, cells, host_of)
    if status != layout.OK:
        return status
    while cells[ENDED] < len(program.kind):
        if not engine.open_window(s, q, layout.CLOCK_END):
            for host in range(s[layout.N_HOSTS]):
                if s[engine.due_cell(s, host)] < layout.NEVER:
                    return np.int64(layout.CLOCK_RAN_OUT)
            return np.int64(layout.DEADLOCK)
        if looks and not s[layout.RESUMED]:
            routing.look_everywhere(s, seen, s[layout.NOW], s[layout.MTU])
        status = engine.serve_routers(s, t, q, routes, depth, seen)
        if status != layout.OK:
            return status
        for host in range(s[layout.N_HOSTS]):
            due = engine.due_cell(s, host)
            while s[due] < s[layout.WINDOW_END]:
                status = layout.room_left(s, q)
                if status != layout.OK:
                    return status
                now = s[due]
                news = nic.step(s, q, now, host)
                if news == layout.TIMER_DUE:
                    _follow(
                        s,
                        t,
                        q,
                        now,
                        program,
                        costs,
                        pending,
                        events,
                        cells,
                        host_of,
                        latency,
                        s[layout.EVENT_WORD],
                    )
                elif news == layout.MESSAGE_IN:
                    _receive(
                        s, q, now, program, costs, pending, events, cells, latency, host, whole
                    )
                nic.settle(s, host, layout.host_cells(s, host))
                if cells[EVENTS] > 0:
                    status = _hand_out(s, q, program, events, cells, host_of)
                    if status != layout.OK:
                        return status
        windows += 1
        progress[0] = cells[ENDED]
        if s[layout.LOST_ROOM]:
            return np.int64(layout.LOST)
        if windows & 255 == 0 and halt[0]:
            return np.int64(layout.HALTED)
    return np.int64(layout.OK)
