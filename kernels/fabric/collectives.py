"""SST/macro's collective engine as a host layer: one rank a node, from its launch on.

Rank 0's node is asked to start at tick 0 and passes the request on in a tree. Each rank then runs
MPI_Init (an allreduce of one element, in a completion queue of its own), and for each size a
barrier and the collective, as often as asked. All of it is one continuous simulation.
"""

from __future__ import annotations

import numpy as np

from kernels import helper, kernel
from kernels.fabric import engine, layout, nic, rank_layout, schedules
from kernels.fabric.ranks import append_message, run_thread, turn


@helper
def _put_in_inbox(s, t, q, now, rank, message):
    """Pass a message to a started rank; its thread resumes if it waits for that queue."""
    k = rank_layout.rank_cells(s, rank)
    of_init = q[message + layout.M_WORD] >> rank_layout.NUMBER_SHIFT == 0
    append_message(s, q, k + rank_layout.INBOX + (0 if of_init else 2), message)
    if of_init == (s[k + rank_layout.NUMBER] == 0):
        run_thread(s, t, q, now, rank)


@helper
def _start(s, t, q, now, rank):
    """Pass the start request on in a binomial tree, then run the program."""
    ranks = s[s[layout.AT_LAYER] + rank_layout.RANKS]
    span, offset = np.int64(1) << schedules.rounds_of(ranks), np.int64(0)
    while span > 1:
        half = span // 2
        if rank % span == 0 and offset + half < ranks:
            request = nic.new_message(
                s, q, rank, offset + half, rank_layout.START_BYTES, rank_layout.START, 0
            )
            nic.overlay(s, t, q, now, request)
        if rank >= offset + half:
            offset += half
        span = half
    k = rank_layout.rank_cells(s, rank)
    s[k + rank_layout.STARTED] = 1
    message = s[k + rank_layout.HELD]
    while message != layout.NOTHING:
        following = q[message + layout.M_NEXT]
        nic.set_timer(s, q, rank, now, layout.OS, rank_layout.HAND_OVER, message, 0)
        message = following
    run_thread(s, t, q, now, rank)


@helper
def _message_in(s, t, q, now, rank, message):
    """Take a message from the wire: the NIC answers requests, the thread takes the rest."""
    kind = q[message + layout.M_WORD] & rank_layout.KIND_MASK
    if kind == rank_layout.GET:
        turn(
            s,
            t,
            q,
            now,
            message,
            rank_layout.PAYLOAD,
            q[message + layout.M_EXTRA] >> 8,
            layout.ACKNOWLEDGED,
        )
    elif kind == rank_layout.START:
        layout.free_record(s, q, message)
        _start(s, t, q, now, rank)
    elif s[rank_layout.rank_cells(s, rank) + rank_layout.STARTED]:
        _put_in_inbox(s, t, q, now, rank, message)
    else:
        append_message(s, q, rank_layout.rank_cells(s, rank) + rank_layout.HELD, message)


@helper
def _follow(s, t, q, now, rank, news):
    """Handle an event of a rank."""
    word, extra = s[layout.EVENT_WORD], s[layout.EVENT_EXTRA]
    if news == layout.MESSAGE_IN:
        _message_in(s, t, q, now, rank, word)
    elif news == layout.ACK_IN:
        word = word & ~np.int64(rank_layout.KIND_MASK) | rank_layout.SENT
        notice = nic.new_message(s, q, rank, rank, 0, word, extra)
        _put_in_inbox(s, t, q, now, rank, notice)
    elif s[layout.EVENT_CODE] == rank_layout.RESUME:
        s[rank_layout.rank_cells(s, rank) + rank_layout.BUSY] = 0
        run_thread(s, t, q, now, rank)
    elif s[layout.EVENT_CODE] == rank_layout.LAUNCH:
        _start(s, t, q, now, rank)
    else:
        _put_in_inbox(s, t, q, now, rank, word)


@kernel(cache=True, nogil=True)
def run(s, t, q, routes, depth, halt):
    """Run all ranks to their end, or go on with a run that had to stop for room.

    Args:
        s: int64, the state, see ``layout``; the layer's own begins at ``s[AT_LAYER]``.
        t: int32, tables.
        q: int64, records.
        routes: ``routing.no_routes()``: compiled as for the networks that do read them.
        depth: int32[any], not read either.
        halt: int8[1]; another thread sets it to end the run early.

    Returns:
        OK, DEADLOCK, HALTED, CLOCK_RAN_OUT or LOST; NO_RECORDS or NO_STATE: call again with more
        room.
    """
    e = s[layout.AT_LAYER]
    if not s[e + rank_layout.LAUNCHED]:
        s[e + rank_layout.LAUNCHED] = 1
        nic.set_timer(
            s, q, 0, s[e + rank_layout.LAUNCH_TICKS], layout.NODE, rank_layout.LAUNCH, 0, 0
        )
    windows = 0
    while s[e + rank_layout.FINISHED] < s[e + rank_layout.RANKS]:
        if not engine.open_window(s, q, layout.CLOCK_END):
            return layout.DEADLOCK if s[layout.WINDOW_END] == layout.NEVER else layout.CLOCK_RAN_OUT
        status = engine.serve_routers(s, t, q, routes, depth, depth)
        if status != layout.OK:
            return status
        for rank in range(s[e + rank_layout.RANKS]):
            due = engine.due_cell(s, rank)
            while s[due] < s[layout.WINDOW_END]:
                if layout.room_left(s, q) != layout.OK:
                    return layout.room_left(s, q)
                now = s[due]
                news = nic.step(s, q, now, rank)
                if news != layout.NO_NEWS:
                    _follow(s, t, q, now, rank, news)
                nic.settle(s, rank, layout.host_cells(s, rank))
        windows += 1
        if s[layout.LOST_ROOM]:
            return layout.LOST
        if windows & 255 == 0 and halt[0]:
            return layout.HALTED
    return layout.OK
