"""The OSU latency and bandwidth tests between two nodes on one switch."""

from __future__ import annotations

from numba import njit

from kernels import helper
from kernels.two_node import host, logp, pisces, recurrence, snappr
from kernels.two_node.layout import (
    BUSY,
    CLOCK,
    CLOCK_END,
    DUE,
    EAGER,
    ELAPSED,
    EVENT_LEVEL,
    EVENT_WORD,
    EXCHANGE,
    EXTRA,
    FULL,
    GET,
    INBOX,
    ITERATIONS,
    LAUNCH,
    LAUNCH_BYTES,
    LAUNCH_ROW,
    LOGP,
    LOGP_IN,
    NEVER,
    NIC,
    NIC_CREDIT,
    NIC_IN,
    NODE,
    NOTICED,
    P_BARRIER,
    P_FIRST,
    P_LAST,
    P_N_SIZES,
    P_NETWORK,
    P_PAUSE,
    P_REPAIRED,
    P_RESUMED,
    P_WINDOW,
    PAYLOAD,
    PISCES,
    PROTOCOL,
    SIZE,
    SIZE_BYTES,
    SNAPPR,
    STARTED,
    STEP,
    SWITCH,
    T_ARBITRATE,
    T_DELIVER,
    T_EJECT,
    T_HOST,
    T_LAUNCH,
    T_NOTICE,
    THERE,
    WARMUP,
    WINDOW,
    WORD,
    bytes_of,
    direction_of,
    host_cells,
    index_of,
    kind_of,
    message,
    set_back_cell,
    size_entry,
    size_of,
    source_of,
    start_state,
)
from kernels.two_node.network import inject, packet_completes_message
from kernels.two_node.queues import append, drop, entry, next_row, schedule

OK, DEADLOCK, ROW_FULL, HALTED, CLOCK_RAN_OUT, CLOCK_BELOW_ZERO = range(6)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def run_program(s, p, now, node):
    """Run a node's MPI program as far as it goes, through the ends of windows."""
    while host.advance(s, p, now, node):
        cells = host_cells(node)
        s[cells + WINDOW] += 1
        if node == 0:
            s[EVENT_LEVEL] = recurrence.WHOLE_WINDOW
            s[EVENT_WORD] = 0
        warmup = size_entry(p, s[cells + SIZE], WARMUP)
        if s[cells + WINDOW] == warmup:
            s[cells + STARTED] = now
        if s[cells + WINDOW] == warmup + size_entry(p, s[cells + SIZE], ITERATIONS):
            if node == 0:
                s[s[ELAPSED] + s[cells + SIZE]] = now - s[cells + STARTED]
            s[cells + WINDOW] = 0
            s[cells + SIZE] += 1
            s[cells + STARTED] = now
            if s[cells + SIZE] == p[P_LAST]:
                s[cells + STEP] = host.DONE
            elif p[P_BARRIER]:
                s[cells + STEP] = host.BEGIN_EXCHANGE


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def launch(s, p, now, node):
    """Start a node's program; node 0 tells node 1 over the overlay."""
    if node == 0:
        logp.overlay(s, p, now, node, message(EXCHANGE, node, LAUNCH, LAUNCH_BYTES))
    s[host_cells(node) + STEP] = host.BEGIN_EXCHANGE
    run_program(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def deliver(s, p, now, node, word):
    """Hand a complete message to a node: its NIC answers gets, its MPI thread the rest."""
    if kind_of(word) == EXCHANGE:
        if index_of(word) == LAUNCH:
            launch(s, p, now, node)
            return
        host.exchange_in(s, node, index_of(word))
        if not s[host_cells(node) + BUSY]:
            run_program(s, p, now, node)
        return
    if kind_of(word) == GET:
        direction, index = direction_of(word), index_of(word)
        size = size_entry(p, size_of(s, p, word), SIZE_BYTES)
        inject(s, p, now, node, message(PAYLOAD, direction, index, size))
        return
    append(s, INBOX + node, 0, word, 0)
    if not s[host_cells(node) + BUSY]:
        run_program(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def packet_in(s, p, now, node, word):
    """Count a packet that a NIC has received; hand on its message if that is complete."""
    whole = packet_completes_message(s, p, node, word)
    if kind_of(word) in (PAYLOAD, EAGER):
        if not whole:
            s[EVENT_LEVEL] = recurrence.PACKET
        elif direction_of(word) == 0 and p[P_WINDOW] > 1:
            s[EVENT_LEVEL] = recurrence.WHOLE_MESSAGE
        s[EVENT_WORD] = word
    if whole:
        deliver(s, p, now, node, word)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def dispatch(s, p, now, row, word, extra):
    """Handle one event."""
    if row < NIC_CREDIT:
        node = row - LOGP_IN
        if p[P_NETWORK] != LOGP or logp.nic_in(s, p, now, node, word):
            deliver(s, p, now, node, word)
    elif row < NIC_IN:
        node = (row - NIC_CREDIT) >> 1
        if p[P_NETWORK] == SNAPPR:
            if row & 1:
                snappr.switch_in(s, p, now, node, word)
            else:
                snappr.nic_credit(s, p, now, node, bytes_of(word))
        elif row & 1:
            pisces.switch_in(s, p, now, node, word, extra)
        else:
            pisces.nic_credit(s, p, now, node, bytes_of(word))
    elif row < SWITCH:
        node = (row - NIC_IN) >> 1
        source = 1 - node
        if p[P_NETWORK] == SNAPPR:
            if row & 1:
                snappr.add_credits(s, p, now, 2 + source, bytes_of(word))
            else:
                snappr.nic_in(s, p, now, node, word)
        elif row & 1:
            pisces.port_credit(s, p, now, source, bytes_of(word))
        elif pisces.nic_in(s, p, now, node, word, extra):
            packet_in(s, p, now, node, word)
            pisces.return_credit(s, p, now, node, word)
    elif row == SWITCH:
        if p[P_NETWORK] == PISCES:
            pisces.switch_timer(s, p, now, word, extra)
        elif extra == T_ARBITRATE:
            snappr.arbitrate(s, p, now, bytes_of(word))
        else:
            snappr.switch_port(s, p, now, source_of(word), word)
    else:
        node = 1 - (row - NIC) // 3
        if extra == T_HOST:
            host.resume(s, p, now, node)
            if not s[host_cells(node) + BUSY]:
                run_program(s, p, now, node)
        elif extra == T_NOTICE:
            s[host_cells(node) + NOTICED] = THERE
            if not s[host_cells(node) + BUSY]:
                run_program(s, p, now, node)
        elif extra == T_LAUNCH:
            launch(s, p, now, node)
        elif extra == T_ARBITRATE:
            snappr.arbitrate(s, p, now, node)
        elif extra == T_EJECT:
            snappr.eject(s, p, now, node, word)
        elif extra == T_DELIVER:
            deliver(s, p, now, node, word)
        else:
            packet_in(s, p, now, node, word)
            if p[P_NETWORK] == PISCES:
                pisces.return_credit(s, p, now, node, word)
            elif p[P_REPAIRED]:
                snappr.return_credit(s, p, now, node, word)


@helper("void(i8[::1], i8[::1])", cache=True, nogil=True, _nrt=False)
def start(s, p):
    """Start both programs on an idle network at tick 0.

    SST/macro launches node 0 by a message of its own through its memory, and node 1 from there.
    """
    start_state(s, p)
    if p[P_NETWORK] == SNAPPR:
        snappr.start(s, p)
    elif p[P_NETWORK] == PISCES:
        pisces.start(s, p)
    for node in range(2):
        s[host_cells(node) + SIZE] = p[P_FIRST]
        s[host_cells(node) + STEP] = host.DONE
    if p[P_NETWORK] != PROTOCOL:
        ready = host.copied(s, p, 0, 0, p[P_N_SIZES] + LAUNCH_ROW)
        schedule(s, NODE + 3, ready, 0, T_LAUNCH)
        return
    for node in range(2):
        s[host_cells(node) + STEP] = host.SEND if node == 0 else host.POST_RECEIVES
        run_program(s, p, 0, node)


@helper("UniTuple(i8, 2)(i8[::1], i8[::1], i8[::1], i1[::1])", cache=True, nogil=True, _nrt=False)
def simulate(s, kept, p, halt):
    """Run the windows of the sizes until the pause or the end."""
    events = 0
    while s[host_cells(0) + SIZE] < p[P_PAUSE]:
        row = next_row(s)
        now = s[DUE + row]
        if now == NEVER:
            return DEADLOCK, events
        if now > CLOCK_END:
            return CLOCK_RAN_OUT, events
        if now < 0:
            return CLOCK_BELOW_ZERO, events
        if now < s[CLOCK]:
            recurrence.forget(s)
            s[set_back_cell(s, p, s[host_cells(0) + SIZE])] = 1
        s[CLOCK] = now
        first = entry(s, row, 0)
        word, extra = s[first + WORD], s[first + EXTRA]
        drop(s, row)
        dispatch(s, p, now, row, word, extra)
        events += 1
        if s[FULL]:
            return ROW_FULL, events
        level = s[EVENT_LEVEL]
        if level:
            s[EVENT_LEVEL] = 0
            if kept.size:
                t = kept[(level - 1) * s.size : level * s.size]
                recurrence.checkpoint(s, t, p, level, now, s[EVENT_WORD])
        if events & 4095 == 0 and halt[0]:
            return HALTED, events
    return OK, events


@njit(
    "UniTuple(i8, 2)(i8[::1], i8[::1], i8[::1], i1[::1], i8[::1], b1[::1])",
    cache=True,
    nogil=True,
    _nrt=False,
)
def osu(s, kept, p, halt, elapsed, set_back):
    """Run one OSU test, or go on with one that has paused.

    Args:
        p: int64 parameters and table of sizes, see `layout`.
        s: int64[state_cells(...)], room for the state.
        kept: int64[3 * len(s)], room for three earlier states; int64[0] to simulate every event.
        halt: int8[1]; another thread sets it to end the run early.
        elapsed: int64[n], out: ticks of the measured windows of each size that has ended.
        set_back: bool[n], out: whether the clock was set back while it ran (see arbiters.py).

    Returns:
        OK, DEADLOCK, ROW_FULL (call again with a larger capacity), HALTED, CLOCK_RAN_OUT or
        CLOCK_BELOW_ZERO; and the number of events handled.
    """
    if not p[P_RESUMED]:
        start(s, p)
    status, events = simulate(s, kept, p, halt)
    for size in range(p[P_FIRST], s[host_cells(0) + SIZE]):
        elapsed[size] = s[s[ELAPSED] + size]
        set_back[size] = s[set_back_cell(s, p, size)] != 0
    return status, events
