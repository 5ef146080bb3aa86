"""The OSU latency and bandwidth tests between two nodes on one switch."""

from __future__ import annotations

from kernels import helper, kernel, part
from kernels.two_node import host, layout, logp, pisces, recurrence, snappr
from kernels.two_node.comparison import is_of_trains
from kernels.two_node.lookahead import settle, wake
from kernels.two_node.messages import packet_completes_message
from kernels.two_node.network import inject
from kernels.two_node.queues import advance_train, append, drop, entry, next_row, schedule

# Status of a run.
OK, DEADLOCK, ROW_FULL, HALTED, CLOCK_RAN_OUT, CLOCK_BELOW_ZERO, MANY_EVENTS = range(7)


@helper
def set_pace(s, p, of_pisces):
    """Say how many packets of a train may be handled at once, for the size that begins."""
    whole = s[layout.TRAINS] != 0
    if of_pisces is not None:
        size = s[layout.host_cells(0) + layout.SIZE]
        whole = whole and pisces.in_order(p, size)
        if not whole and s[layout.AT_ONCE] > 1:
            settle(s)
        n_bytes = layout.size_entry(p, size, layout.SIZE_BYTES)
        s[layout.NO_TAILS] = not pisces.has_tail(p, n_bytes)
    s[layout.AT_ONCE] = layout.NEVER if whole else 1


@helper
def run_program(s, p, now, node, of_pisces):
    """Run a node's MPI program until it waits, through the ends of windows."""
    while True:
        reason = host.advance(s, p, now, node)
        if reason == host.WAITS:
            return
        if reason == host.SENDS:
            word = s[layout.TO_SEND]
            s[layout.TO_SEND] = 0
            inject(s, p, now, node, word, of_pisces)
            continue
        cells = layout.host_cells(node)
        s[cells + layout.WINDOW] += 1
        if node == 0:
            s[layout.EVENT_LEVEL] = layout.WHOLE_WINDOW
            s[layout.EVENT_WORD] = 0
        warmup = layout.size_entry(p, s[cells + layout.SIZE], layout.WARMUP)
        if s[cells + layout.WINDOW] == warmup:
            s[cells + layout.STARTED] = now
        if s[cells + layout.WINDOW] == warmup + layout.size_entry(
            p, s[cells + layout.SIZE], layout.ITERATIONS
        ):
            if node == 0:
                s[s[layout.ELAPSED] + s[cells + layout.SIZE]] = now - s[cells + layout.STARTED]
            s[cells + layout.WINDOW] = 0
            s[cells + layout.SIZE] += 1
            s[cells + layout.STARTED] = now
            if node == 0:
                set_pace(s, p, of_pisces)
            if s[cells + layout.SIZE] == p[layout.P_LAST]:
                s[cells + layout.STEP] = host.DONE
            elif p[layout.P_BARRIER]:
                s[cells + layout.STEP] = host.BEGIN_EXCHANGE


@helper
def launch(s, p, now, node):
    """Start a node's program; node 0 notifies node 1 over the overlay."""
    if node == 0:
        logp.overlay(
            s,
            p,
            now,
            node,
            layout.message(layout.EXCHANGE, node, layout.LAUNCH, layout.LAUNCH_BYTES),
        )
    s[layout.host_cells(node) + layout.STEP] = host.BEGIN_EXCHANGE


@part
def deliver(s, p, now, node, word, of_pisces):
    """Hand a complete message to a node; return whether that concerns its MPI thread."""
    if layout.kind_of(word) == layout.GET:  # answered by the NIC
        direction, index = layout.direction_of(word), layout.index_of(word)
        size = layout.size_entry(p, layout.size_of(s, p, word), layout.SIZE_BYTES)
        payload = layout.message(layout.PAYLOAD, direction, index, size)
        inject(s, p, now, node, payload, of_pisces)
        return False
    if layout.kind_of(word) != layout.EXCHANGE:
        append(s, layout.INBOX + node, 0, word, 0)
    elif layout.index_of(word) == layout.LAUNCH:
        launch(s, p, now, node)
    else:
        host.exchange_in(s, node, layout.index_of(word))
    return True


@helper
def packet_in(s, p, node, word):
    """Count a packet that a NIC has received; return whether its message is complete."""
    whole = packet_completes_message(s, p, node, word)
    if layout.kind_of(word) in (layout.PAYLOAD, layout.EAGER):
        if not whole:
            s[layout.EVENT_LEVEL] = layout.PACKET
        elif layout.direction_of(word) == 0 and p[layout.P_WINDOW] > 1:
            s[layout.EVENT_LEVEL] = layout.WHOLE_MESSAGE
        s[layout.EVENT_WORD] = word
    return whole


@part
def serve_snappr(s, p, now, row):
    """Handle the train at the head of a row, as far as it can be."""
    first = entry(s, row, 0)
    word, step = s[first + layout.WORD], s[first + layout.GAP]
    n = min(s[first + layout.EXTRA], s[layout.AT_ONCE])
    if row >= layout.SWITCH:
        n = snappr.arrive(s, p, now, row - layout.SWITCH, word, n, step)
    elif row >= layout.NIC_IN:
        source = 1 - ((row - layout.NIC_IN) >> 1)
        n = snappr.port_credit(s, p, now, source, layout.bytes_of(word), n, step)
    else:
        node = (row - layout.NIC_CREDIT) >> 1
        if row & 1:
            n = snappr.arrive(s, p, now, node, word, n, step)
        else:
            n = snappr.nic_credit(s, p, now, node, layout.bytes_of(word), n, step)
    advance_train(s, row, n)


@part
def dispatch_train(s, p, now, row, of_pisces):
    """Handle the train at the head of a row, as far as it can be; with PISCES, those after it."""
    if of_pisces is not None:
        pisces.serve(s, p, now, row, 0)
    else:
        serve_snappr(s, p, now, row)


@part
def dispatch(s, p, now, row, word, extra, delay, of_pisces):
    """Handle one event."""
    complete = taken = runs = False  # a message; a packet; the node's program
    if row < layout.NIC_CREDIT:
        node = row - layout.LOGP_IN
        complete = p[layout.P_NETWORK] != layout.LOGP or logp.nic_in(s, p, now, node, word)
    elif row >= layout.NIC:
        node = 1 - (row - layout.NIC) // 3
        if extra == layout.T_HOST:
            host.resume(s, p, now, node)
            runs = True
        elif extra == layout.T_NOTICE:
            s[layout.host_cells(node) + layout.NOTICED] = layout.THERE
            runs = True
        elif extra == layout.T_LAUNCH:
            launch(s, p, now, node)
            runs = True
        elif extra == layout.T_DELIVER:
            complete = True
        else:
            taken = True
            complete = extra != layout.T_RETURN and packet_in(s, p, node, word)
    elif of_pisces is not None:
        node = (row - layout.NIC_IN) >> 1
        taken = pisces.nic_in(s, now, node, word, extra, delay)
        complete = taken and packet_in(s, p, node, word)
    if complete:
        runs = deliver(s, p, now, node, word, of_pisces)
    if runs:
        run_program(s, p, now, node, of_pisces)
    if of_pisces is not None and taken:
        pisces.taken_in(s, p, now, node, word, extra)


@helper
def start(s, p, of_pisces):
    """Start both programs on an idle network at tick 0.

    SST/macro launches node 0 by a message of its own through its memory, and node 1 from there.
    """
    layout.start_state(s, p)
    if of_pisces is not None:
        pisces.start(s, p)
    elif p[layout.P_NETWORK] == layout.SNAPPR:
        snappr.start(s, p)
    for node in range(2):
        s[layout.host_cells(node) + layout.SIZE] = p[layout.P_FIRST]
        s[layout.host_cells(node) + layout.STEP] = host.DONE
    if p[layout.P_NETWORK] != layout.PROTOCOL:
        ready = host.copied(s, p, 0, 0, p[layout.P_N_SIZES] + layout.LAUNCH_ROW)
        schedule(s, layout.NODE + 3, ready, 0, layout.T_LAUNCH)
        return
    for node in range(2):
        s[layout.host_cells(node) + layout.STEP] = host.SEND if node == 0 else host.POST_RECEIVES
        host.compute(s, 0, node, 0, layout.NODE, host.NOTHING, 0)


@helper
def simulate(s, kept, p, halt, of_pisces):
    """Run the windows of the sizes until the pause or the end."""
    while s[layout.host_cells(0) + layout.SIZE] < p[layout.P_PAUSE]:
        row = next_row(s)
        now = s[layout.DUE + row]
        if now == layout.NEVER:
            return DEADLOCK
        if now > layout.CLOCK_END:
            return CLOCK_RAN_OUT
        if now < 0:
            return CLOCK_BELOW_ZERO
        if now < s[layout.CLOCK]:
            if kept is not None:
                recurrence.forget(s)
            if of_pisces is not None and s[layout.AT_ONCE] > 1:
                settle(s)
            s[layout.set_back_cell(s, p, s[layout.host_cells(0) + layout.SIZE])] = 1
        s[layout.CLOCK] = now
        s[layout.ROW] = row
        if is_of_trains(p, row):
            dispatch_train(s, p, now, row, of_pisces)
        else:
            first = entry(s, row, 0)
            word, extra = s[first + layout.WORD], s[first + layout.EXTRA]
            delay = s[first + layout.DELAY]
            drop(s, row)
            dispatch(s, p, now, row, word, extra, delay, of_pisces)
        if of_pisces is not None:
            wake(s)
        s[layout.HANDLED] += 1
        if s[layout.FULL]:
            return ROW_FULL
        level = s[layout.EVENT_LEVEL]
        if level:
            s[layout.EVENT_LEVEL] = 0
            if kept is not None and kept.size:
                t = kept[(level - 1) * s.size : level * s.size]
                recurrence.checkpoint(s, t, p, level, now, s[layout.EVENT_WORD])
        if layout.may_halt(s[layout.HANDLED]):
            if halt[0]:
                return HALTED
            if kept is None and s[layout.HANDLED] >= p[layout.P_MOST_EVENTS]:
                return MANY_EVENTS
    return OK


@kernel(cache=True, nogil=True)
def osu(s, kept, p, halt, elapsed, set_back, of_pisces):
    """Run one OSU test, or go on with one that has paused.

    Args:
        p: int64 parameters and table of sizes, see `layout`.
        s: int64[state_cells(...)], room for the state.
        kept: int64[3 * len(s)], room for three earlier states; int64[0] for every packet by itself;
            None to skip nothing that repeats: the code for that is then not compiled.
        halt: int8[1]; another thread sets it to end the run early.
        elapsed: int64[n], out: ticks of the measured windows of each size that has ended.
        set_back: bool[n], out: whether the clock was set back while it ran (see arbiters.py).
        of_pisces: True where the network is PISCES, else None: its code is then not compiled.

    Returns:
        OK, DEADLOCK, ROW_FULL (call again with a larger capacity), HALTED, CLOCK_RAN_OUT,
        CLOCK_BELOW_ZERO or MANY_EVENTS (go on with earlier states kept); and the number of events
        handled.
    """
    if not p[layout.P_RESUMED]:
        start(s, p, of_pisces)
    s[layout.TRAINS] = 1
    if kept is not None:
        s[layout.TRAINS] = kept.size > 0
    set_pace(s, p, of_pisces)
    before = s[layout.HANDLED]
    status = simulate(s, kept, p, halt, of_pisces)
    for size in range(p[layout.P_FIRST], s[layout.host_cells(0) + layout.SIZE]):
        elapsed[size] = s[s[layout.ELAPSED] + size]
        set_back[size] = s[layout.set_back_cell(s, p, size)] != 0
    return status, s[layout.HANDLED] - before
