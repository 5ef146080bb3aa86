"""MPI on one node: the OSU program, its sends and receives, and what each protocol costs the host.

Node 0 sends a window of messages, waits for them and receives one reply; node 1 receives the
window, waits and replies. A ping-pong is a window of one whose reply is as long as the message.
Messages are looked at only inside MPI calls, one after the other; each computation (copy, pinning,
post delay) ends in an event, even one that takes no time.
"""

from __future__ import annotations

from numba import njit

from kernels.two_node.layout import (
    ACK,
    ACTION,
    BUSY,
    CONTROL_BYTES,
    COPY_ON_LINK,
    COPY_TICKS,
    COUNT,
    EAGER,
    GET,
    HEADER,
    HELD,
    IN_ORDER,
    INBOX,
    MEMORY_FREE,
    MESSAGE,
    MESSAGE_SIZE,
    N_HELD,
    NEXT_SEQUENCE,
    NODE,
    OPEN,
    OS,
    P_EAGER0_MAX,
    P_EAGER1_MAX,
    P_HEADER_DELAY,
    P_RDMA_DELAY,
    P_SHORT_REPLY,
    P_WINDOW,
    PAYLOAD,
    PIN_TICKS,
    POSTED,
    POSTED_RECEIVES,
    RECEIVED,
    SENT,
    SIZE,
    SIZE_BYTES,
    STEP,
    T_HOST,
    UNEXPECTED,
    WORD,
    direction_of,
    host_cells,
    index_of,
    kind_of,
    message,
    message_cells,
    size_entry,
    size_of,
)
from kernels.two_node.network import inject
from kernels.two_node.queues import append, drop, entry, schedule

# Steps of the program.
SEND, WAIT_SENDS, POST_RECEIVES, WAIT_RECEIVES, DONE = range(5)
# What follows a computation.
(
    NOTHING,
    SEND_PREPARED,
    SEND_READY,
    COPIED,
    COPIED_UNEXPECTED,
    PINNED,
    GET_READY,
    ACK_READY,
) = range(8)
# Protocols.
EAGER0, EAGER1, RENDEZVOUS = range(3)


@njit("void(i8[::1], i8, i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def compute(s, now, node, ticks, owner, action, word):
    """Keep the host busy for `ticks`, then do `action`."""
    s[host_cells(node) + BUSY] = 1
    s[host_cells(node) + ACTION] = action
    s[host_cells(node) + MESSAGE] = word
    schedule(s, owner + 3 * (1 - node), now + ticks, 0, T_HOST)


@njit("void(i8[::1], i8[::1], i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def copy(s, p, now, node, size, action, word):
    """Copy a message, then do `action`.

    The thread waits for its own copies, so the memory link is free when the next one begins, unless
    the clock has been set back (by PISCES, see arbiters.py).
    """
    ends = now + size_entry(p, size, COPY_TICKS)
    if size_entry(p, size, COPY_ON_LINK):
        h = host_cells(node)
        ends += max(0, s[h + MEMORY_FREE] - now)
        s[h + MEMORY_FREE] = ends
    compute(s, now, node, ends - now, NODE, action, word)


@njit("i8(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def protocol(p, n_bytes):
    """Return the protocol of an MPI message."""
    if n_bytes <= p[P_EAGER0_MAX]:
        return EAGER0
    if n_bytes <= p[P_EAGER1_MAX]:
        return EAGER1
    return RENDEZVOUS


@njit("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def ready_send(s, p, now, node, word):
    """Put the first message of a send on the wire; an eager send is then complete."""
    inject(s, p, now, node, word)
    s[host_cells(node) + POSTED] += 1
    size = size_entry(p, size_of(s, p, word), SIZE_BYTES)
    if protocol(p, size) != RENDEZVOUS:
        s[host_cells(node) + SENT] += 1


@njit("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def prepared_send(s, p, now, node, word):
    """Pay the post delay of a send, if there is one, then put it on the wire."""
    if p[P_HEADER_DELAY] > 0:
        compute(s, now, node, p[P_HEADER_DELAY], OS, SEND_READY, word)
    else:
        ready_send(s, p, now, node, word)


@njit("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def begin_send(s, p, now, node):
    """Start the next MPI send of the window."""
    index = s[host_cells(node) + POSTED]
    size = s[host_cells(node) + SIZE]
    if node == 1 and p[P_SHORT_REPLY] >= 0:
        size = p[P_SHORT_REPLY]
    s[message_cells(p, node, index) + MESSAGE_SIZE] = size
    how = protocol(p, size_entry(p, size, SIZE_BYTES))
    if how == EAGER0:
        word = message(EAGER, node, index, size_entry(p, size, SIZE_BYTES))
        copy(s, p, now, node, size, SEND_PREPARED, word)
        return
    word = message(HEADER, node, index, CONTROL_BYTES)
    if how == EAGER1:
        prepared_send(s, p, now, node, word)
    else:
        compute(s, now, node, size_entry(p, size, PIN_TICKS), OS, SEND_PREPARED, word)


@njit("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def match(s, p, now, node, word):
    """Pay for a message that has met its receive."""
    size = size_of(s, p, word)
    if kind_of(word) == HEADER:
        compute(s, now, node, size_entry(p, size, PIN_TICKS), OS, PINNED, word)
    else:
        copy(s, p, now, node, size, COPIED, word)


@njit("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def post_get(s, p, now, node, word):
    """Pay the RDMA delay, if there is one, then ask for the payload."""
    if p[P_RDMA_DELAY] > 0:
        compute(s, now, node, p[P_RDMA_DELAY], OS, GET_READY, word)
    else:
        get = message(GET, direction_of(word), index_of(word), CONTROL_BYTES)
        inject(s, p, now, node, get)


@njit("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def handle(s, p, now, node, word):
    """Handle a message the thread has taken from its inbox."""
    host = host_cells(node)
    kind = kind_of(word)
    how = protocol(p, size_entry(p, size_of(s, p, word), SIZE_BYTES))
    if kind == ACK:
        s[host + SENT] += 1
    elif kind == HEADER and how == EAGER1:
        post_get(s, p, now, node, word)
    elif kind == PAYLOAD and how == RENDEZVOUS:
        s[host + RECEIVED] += 1
        ack = message(ACK, direction_of(word), index_of(word), CONTROL_BYTES)
        if p[P_HEADER_DELAY] > 0:
            compute(s, now, node, p[P_HEADER_DELAY], OS, ACK_READY, ack)
        else:
            inject(s, p, now, node, ack)
    elif s[host + OPEN] > 0:
        s[host + OPEN] -= 1
        match(s, p, now, node, word)
    else:
        append(s, UNEXPECTED + node, 0, word, 0)
        if kind == EAGER:
            size = size_of(s, p, word)
            copy(s, p, now, node, size, COPIED_UNEXPECTED, word)


@njit("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def resume(s, p, now, node):
    """Go on after a computation."""
    host = host_cells(node)
    s[host + BUSY] = 0
    action, word = s[host + ACTION], s[host + MESSAGE]
    s[host + ACTION] = NOTHING
    if action == SEND_PREPARED:
        prepared_send(s, p, now, node, word)
    elif action == SEND_READY:
        ready_send(s, p, now, node, word)
    elif action == COPIED:
        s[host + RECEIVED] += 1
    elif action == PINNED:
        post_get(s, p, now, node, word)
    elif action == GET_READY:
        get = message(GET, direction_of(word), index_of(word), CONTROL_BYTES)
        inject(s, p, now, node, get)
    elif action == ACK_READY:
        inject(s, p, now, node, word)


@njit("b1(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def take(s, p, now, node):
    """Take one message from the inbox; return False if there is none.

    Messages that open an exchange carry a sequence number and are handled in its order; one
    that is ahead is held, at no cost.
    """
    row = INBOX + node
    if s[COUNT + row] == 0:
        return False
    host = host_cells(node)
    word = s[entry(s, row, 0) + WORD]
    drop(s, row)
    if kind_of(word) == EAGER or kind_of(word) == HEADER:
        if index_of(word) != s[host + NEXT_SEQUENCE]:
            s[message_cells(p, 1 - node, index_of(word)) + HELD] = kind_of(word)
            s[host + N_HELD] += 1
            return True
        s[host + IN_ORDER] = 1
    handle(s, p, now, node, word)
    return True


@njit("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def take_held(s, p, now, node, window):
    """Count a sequenced message as handled and handle the next one if it is held."""
    host = host_cells(node)
    following = (s[host + NEXT_SEQUENCE] + 1) % window
    s[host + NEXT_SEQUENCE] = following
    kind = s[message_cells(p, 1 - node, following) + HELD]
    if kind == 0:
        s[host + IN_ORDER] = 0
        return
    s[message_cells(p, 1 - node, following) + HELD] = 0
    s[host + N_HELD] -= 1
    handle(s, p, now, node, message(kind, 1 - node, following, 0))


@njit("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def post_receive(s, p, now, node):
    """Post a receive, or match it at once with a message that is there already."""
    s[host_cells(node) + POSTED_RECEIVES] += 1
    row = UNEXPECTED + node
    if s[COUNT + row] == 0:
        s[host_cells(node) + OPEN] += 1
        return
    word = s[entry(s, row, 0) + WORD]
    drop(s, row)
    match(s, p, now, node, word)


@njit("b1(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def advance(s, p, now, node):
    """Run the MPI program of a node until it computes, waits, or ends a window.

    Returns True when a window has ended: the caller keeps the time and says how to go on.
    """
    host = host_cells(node)
    to_send = 1 if node == 1 else p[P_WINDOW]
    to_receive = p[P_WINDOW] if node == 1 else 1
    while not s[host + BUSY]:
        if s[host + IN_ORDER]:
            take_held(s, p, now, node, to_receive)
        elif s[host + STEP] == SEND:
            if s[host + POSTED] < to_send:
                begin_send(s, p, now, node)
            else:
                s[host + STEP] = WAIT_SENDS
        elif s[host + STEP] == WAIT_SENDS:
            if s[host + SENT] == to_send:
                s[host + POSTED] = 0
                s[host + SENT] = 0
                s[host + STEP] = POST_RECEIVES
                if node == 1:
                    return True
            elif not take(s, p, now, node):
                return False
        elif s[host + STEP] == POST_RECEIVES:
            if s[host + POSTED_RECEIVES] < to_receive:
                post_receive(s, p, now, node)
            else:
                s[host + STEP] = WAIT_RECEIVES
        elif s[host + STEP] == WAIT_RECEIVES:
            if s[host + RECEIVED] == to_receive:
                s[host + POSTED_RECEIVES] = 0
                s[host + RECEIVED] = 0
                s[host + STEP] = SEND
                if node == 0:
                    return True
            elif not take(s, p, now, node):
                return False
        else:
            return False
    return False
