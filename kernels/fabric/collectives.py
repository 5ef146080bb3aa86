"""SST/macro's collective engine as a host layer: one rank a node, from its launch on.

Rank 0's node is asked to start at tick 0 and passes the request on in a tree. Each rank then runs
MPI_Init (an allreduce of one element, in a completion queue of its own), and for each size a
barrier and the collective, as often as asked. All of it is one continuous simulation.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernels import helper
from kernels.fabric import engine, nic, schedules
from kernels.fabric.layout import (
    ACK_IN,
    ACKNOWLEDGED,
    AT_DUE,
    AT_LAYER,
    CLOCK_END,
    CLOCK_RAN_OUT,
    DEADLOCK,
    EVENT_CODE,
    EVENT_EXTRA,
    EVENT_WORD,
    HALTED,
    LOST,
    LOST_ROOM,
    M_EXTRA,
    M_NEXT,
    M_WORD,
    MESSAGE_IN,
    N_ROUTERS,
    NEVER,
    NO_NEWS,
    NODE,
    NOTHING,
    OK,
    OS,
    WINDOW_END,
    free_record,
    room_left,
)
from kernels.fabric.rank_layout import (
    BUSY,
    FINISHED,
    GET,
    HAND_OVER,
    HELD,
    INBOX,
    KIND_MASK,
    LAUNCH,
    LAUNCH_TICKS,
    LAUNCHED,
    NUMBER,
    NUMBER_SHIFT,
    PAYLOAD,
    RANKS,
    RESUME,
    SENT,
    START,
    START_BYTES,
    STARTED,
    rank_cells,
)
from kernels.fabric.ranks import (
    append_message,
    run_thread,
    turn,
)


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _put_in_inbox(s, t, q, now, rank, message):
    """Give a started rank a message; its thread goes on if it waits for that queue."""
    k = rank_cells(s, rank)
    of_init = q[message + M_WORD] >> NUMBER_SHIFT == 0
    append_message(s, q, k + INBOX + (0 if of_init else 2), message)
    if of_init == (s[k + NUMBER] == 0):
        run_thread(s, t, q, now, rank)


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _start(s, t, q, now, rank):
    """Pass the start request on in a binomial tree, then run the program."""
    ranks = s[s[AT_LAYER] + RANKS]
    span, offset = np.int64(1) << schedules.rounds_of(ranks), np.int64(0)
    while span > 1:
        half = span // 2
        if rank % span == 0 and offset + half < ranks:
            request = nic.new_message(s, q, rank, offset + half, START_BYTES, START, 0)
            nic.overlay(s, t, q, now, request)
        if rank >= offset + half:
            offset += half
        span = half
    k = rank_cells(s, rank)
    s[k + STARTED] = 1
    message = s[k + HELD]
    while message != NOTHING:
        following = q[message + M_NEXT]
        nic.set_timer(s, q, rank, now, OS, HAND_OVER, message, 0)
        message = following
    run_thread(s, t, q, now, rank)


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _message_in(s, t, q, now, rank, message):
    """Take a message from the wire: the NIC answers requests, the thread takes the rest."""
    kind = q[message + M_WORD] & KIND_MASK
    if kind == GET:
        turn(s, t, q, now, message, PAYLOAD, q[message + M_EXTRA] >> 8, ACKNOWLEDGED)
    elif kind == START:
        free_record(s, q, message)
        _start(s, t, q, now, rank)
    elif s[rank_cells(s, rank) + STARTED]:
        _put_in_inbox(s, t, q, now, rank, message)
    else:
        append_message(s, q, rank_cells(s, rank) + HELD, message)


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _follow(s, t, q, now, rank, news):
    """Do what an event means for a rank."""
    word, extra = s[EVENT_WORD], s[EVENT_EXTRA]
    if news == MESSAGE_IN:
        _message_in(s, t, q, now, rank, word)
    elif news == ACK_IN:
        word = word & ~np.int64(KIND_MASK) | SENT
        notice = nic.new_message(s, q, rank, rank, 0, word, extra)
        _put_in_inbox(s, t, q, now, rank, notice)
    elif s[EVENT_CODE] == RESUME:
        s[rank_cells(s, rank) + BUSY] = 0
        run_thread(s, t, q, now, rank)
    elif s[EVENT_CODE] == LAUNCH:
        _start(s, t, q, now, rank)
    else:
        _put_in_inbox(s, t, q, now, rank, word)


@njit(cache=True, nogil=True, _nrt=False)
def run(s, t, q, routes, depth, seen, halt):
    """Run all ranks to their end, or go on with a run that had to stop for room.

    Args:
        s: int64, the state, see ``layout``; the layer's own begins at ``s[AT_LAYER]``.
        t: int32, tables.
        q: int64, records.
        routes: the tables of ``kernels.fabric.routing``; not looked at with SST/macro's routers.
        depth: int32[channels], room for queue lengths; empty where the routing does not adapt.
        seen: int32[channels], likewise.
        halt: int8[1]; another thread sets it to end the run early.

    Returns:
        OK, DEADLOCK, HALTED, CLOCK_RAN_OUT or LOST; NO_RECORDS or NO_STATE: call again with more
        room.
    """
    e = s[AT_LAYER]
    if not s[e + LAUNCHED]:
        s[e + LAUNCHED] = 1
        nic.set_timer(s, q, 0, s[e + LAUNCH_TICKS], NODE, LAUNCH, 0, 0)
    due, windows = s[AT_DUE] + s[N_ROUTERS], 0
    while s[e + FINISHED] < s[e + RANKS]:
        if not engine.open_window(s, CLOCK_END):
            return DEADLOCK if s[WINDOW_END] == NEVER else CLOCK_RAN_OUT
        status = engine.serve_routers(s, t, q, routes, depth, seen)
        if status != OK:
            return status
        for rank in range(s[e + RANKS]):
            while s[due + rank] < s[WINDOW_END]:
                if room_left(s, q) != OK:
                    return room_left(s, q)
                now = s[due + rank]
                news = nic.step(s, q, now, rank)
                if news != NO_NEWS:
                    _follow(s, t, q, now, rank, news)
                nic.settle(s, rank, nic.host_cells(s, rank))
        windows += 1
        if s[LOST_ROOM]:
            return LOST
        if windows & 255 == 0 and halt[0]:
            return HALTED
    return OK
