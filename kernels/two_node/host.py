"""MPI on one node: the OSU program, its sends and receives, and what each protocol costs the host.

Node 0 sends a window of messages, waits for them and receives one reply; node 1 receives the
window, waits and replies. A ping-pong is a window of one whose reply is as long as the message.
Before all that, MPI_Init and, where the benchmark has one, MPI_Barrier are *exchanges*: each node
sends one message and waits until it has left and the other's has come. An exchange's number says
which: 0 and 1 are MPI_Init's. Messages are looked at only inside MPI calls, one after the other;
each computation (copy, pinning, post delay) ends in an event, even one that takes no time.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node.layout import (
    ACK,
    ACTION,
    BUSY,
    CAME,
    CAME_EARLY,
    CHANNEL,
    CONTROL_BYTES,
    COPY_BYTES,
    COPY_ON_LINK,
    COPY_TICKS,
    COUNT,
    EAGER,
    EMPTY_ROW,
    EXCHANGE,
    GET,
    HEADER,
    HELD,
    IN_ORDER,
    INBOX,
    INIT_BYTES,
    INIT_ROW,
    MEMORY_FREE,
    MESSAGE,
    MESSAGE_SIZE,
    N_HELD,
    NEXT_SEQUENCE,
    NODE,
    NOT_YET,
    NOTICED,
    NUMBER,
    OPEN,
    OS,
    P_BARRIER,
    P_CHANNEL_BYTE,
    P_CHANNELS,
    P_CHUNK,
    P_EAGER0_MAX,
    P_EAGER1_MAX,
    P_HEADER_DELAY,
    P_N_SIZES,
    P_RDMA_DELAY,
    P_SHORT_REPLY,
    P_WINDOW,
    PAYLOAD,
    PIN_TICKS,
    POSTED,
    POSTED_RECEIVES,
    RECEIVED,
    REQUEST_TICKS,
    SENT,
    SIZE,
    SIZE_BYTES,
    STARTED,
    STEP,
    T_HOST,
    TAKEN,
    THERE,
    UNEXPECTED,
    WORD,
    channel_cell,
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

# Steps of the program; DONE is also that of one not yet launched.
SEND, WAIT_SENDS, POST_RECEIVES, WAIT_RECEIVES, BEGIN_EXCHANGE, WAIT_EXCHANGE, DONE = range(7)
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
    EXCHANGE_PREPARED,
    EXCHANGE_READY,
) = range(10)
EXCHANGES_OF_INIT = 2
# Protocols.
EAGER0, EAGER1, RENDEZVOUS = range(3)


@helper("void(i8[::1], i8, i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def compute(s, now, node, ticks, owner, action, word):
    """Keep the host busy for `ticks`, then do `action`."""
    s[host_cells(node) + BUSY] = 1
    s[host_cells(node) + ACTION] = action
    s[host_cells(node) + MESSAGE] = word
    schedule(s, owner + 3 * (1 - node), now + ticks, 0, T_HOST)


@helper("i8(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def through_channels(s, p, now, node, size):
    """Ask for a copy's chunks, one outstanding at a time; return when the last has come."""
    chunk = p[P_CHUNK]
    left = size_entry(p, size, COPY_BYTES)
    request = size_entry(p, size, REQUEST_TICKS)
    n_bytes = left % chunk
    if n_bytes == 0:
        n_bytes = chunk
    ends = now
    while left > 0:
        channel = s[host_cells(node) + CHANNEL]
        free = channel_cell(s, p, node, channel)
        now = max(now + request * n_bytes, s[free])
        ends = now + p[P_CHANNEL_BYTE] * n_bytes
        s[free] = ends
        s[host_cells(node) + CHANNEL] = (channel + 1) % p[P_CHANNELS]
        left -= n_bytes
        n_bytes = chunk
    return ends


@helper("i8(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def copied(s, p, now, node, size):
    """Return when a copy that begins now is over.

    The thread waits for its own copies, so the memory is free when the next one begins, unless the
    clock has been set back (by PISCES, see arbiters.py).
    """
    ends = now + size_entry(p, size, COPY_TICKS)
    if not size_entry(p, size, COPY_ON_LINK):
        return ends
    if p[P_CHANNELS] > 0:
        return through_channels(s, p, now, node, size)
    h = host_cells(node)
    ends += max(0, s[h + MEMORY_FREE] - now)
    s[h + MEMORY_FREE] = ends
    return ends


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def copy(s, p, now, node, size, action, word):
    """Copy a message, then do `action`."""
    compute(s, now, node, copied(s, p, now, node, size) - now, NODE, action, word)


@helper("i8(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def protocol(p, n_bytes):
    """Return the protocol of an MPI message."""
    if n_bytes <= p[P_EAGER0_MAX]:
        return EAGER0
    if n_bytes <= p[P_EAGER1_MAX]:
        return EAGER1
    return RENDEZVOUS


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def ready_send(s, p, now, node, word):
    """Put the first message of a send on the wire; an eager send is then complete."""
    inject(s, p, now, node, word)
    s[host_cells(node) + POSTED] += 1
    size = size_entry(p, size_of(s, p, word), SIZE_BYTES)
    if protocol(p, size) != RENDEZVOUS:
        s[host_cells(node) + SENT] += 1


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def prepared_send(s, p, now, node, word):
    """Pay the post delay of a send, if there is one, then put it on the wire."""
    if p[P_HEADER_DELAY] > 0:
        compute(s, now, node, p[P_HEADER_DELAY], OS, SEND_READY, word)
    else:
        ready_send(s, p, now, node, word)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
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


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def match(s, p, now, node, word):
    """Pay for a message that has met its receive."""
    size = size_of(s, p, word)
    if kind_of(word) == HEADER:
        compute(s, now, node, size_entry(p, size, PIN_TICKS), OS, PINNED, word)
    else:
        copy(s, p, now, node, size, COPIED, word)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def post_get(s, p, now, node, word):
    """Pay the RDMA delay, if there is one, then ask for the payload."""
    if p[P_RDMA_DELAY] > 0:
        compute(s, now, node, p[P_RDMA_DELAY], OS, GET_READY, word)
    else:
        get = message(GET, direction_of(word), index_of(word), CONTROL_BYTES)
        inject(s, p, now, node, get)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
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


@helper("b1(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def brings_element(s, node, sender):
    """Return True if a message of the exchange under way is one of MPI_Init that is not empty."""
    number = s[host_cells(node) + NUMBER]
    return number < EXCHANGES_OF_INIT and number != sender


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def send_exchange(s, p, now, node):
    """Put a node's message of an exchange on the wire."""
    number = s[host_cells(node) + NUMBER]
    n_bytes = INIT_BYTES if brings_element(s, node, node) else 0
    inject(s, p, now, node, message(EXCHANGE, node, number, n_bytes))


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def prepared_exchange(s, p, now, node):
    """Pay the post delay of an exchange's message, if there is one, then send it."""
    if p[P_HEADER_DELAY] > 0:
        compute(s, now, node, p[P_HEADER_DELAY], OS, EXCHANGE_READY, 0)
    else:
        send_exchange(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def begin_exchange(s, p, now, node):
    """Start an exchange; node 1 copies nothing before it enters a barrier."""
    host = host_cells(node)
    s[host + STEP] = WAIT_EXCHANGE
    if node == 1 and s[host + NUMBER] >= EXCHANGES_OF_INIT:
        copy(s, p, now, node, p[P_N_SIZES] + EMPTY_ROW, EXCHANGE_PREPARED, 0)
    else:
        prepared_exchange(s, p, now, node)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def receive_exchange(s, p, now, node):
    """Take the other side's message of an exchange; what MPI_Init receives is copied."""
    host = host_cells(node)
    s[host + CAME] = TAKEN
    if s[host + NUMBER] < EXCHANGES_OF_INIT:
        row = INIT_ROW if brings_element(s, node, 1 - node) else EMPTY_ROW
        copy(s, p, now, node, p[P_N_SIZES] + row, NOTHING, 0)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def end_exchange(s, p, now, node):
    """Go on to what follows an exchange: another one, or the messages of a size."""
    host = host_cells(node)
    s[host + NUMBER] += 1
    s[host + NOTICED] = NOT_YET
    s[host + CAME] = s[host + CAME_EARLY]
    s[host + CAME_EARLY] = NOT_YET
    initialised = s[host + NUMBER] == EXCHANGES_OF_INIT
    if s[host + NUMBER] < EXCHANGES_OF_INIT or (initialised and p[P_BARRIER]):
        s[host + STEP] = BEGIN_EXCHANGE
    else:
        s[host + STEP] = SEND if node == 0 else POST_RECEIVES
        s[host + STARTED] = now


@helper("void(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def exchange_in(s, node, number):
    """Note that the other side's message of an exchange is there."""
    host = host_cells(node)
    if number == s[host + NUMBER]:
        s[host + CAME] = THERE
    else:
        s[host + CAME_EARLY] = THERE


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
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
    elif action == EXCHANGE_PREPARED:
        prepared_exchange(s, p, now, node)
    elif action == EXCHANGE_READY:
        send_exchange(s, p, now, node)


@helper("b1(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
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


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
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


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
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


@helper("b1(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
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
        elif s[host + STEP] == BEGIN_EXCHANGE:
            begin_exchange(s, p, now, node)
        elif s[host + STEP] == WAIT_EXCHANGE:
            if s[host + NOTICED] == TAKEN and s[host + CAME] == TAKEN:
                end_exchange(s, p, now, node)
            elif take(s, p, now, node):
                continue
            elif s[host + NOTICED] == THERE:
                s[host + NOTICED] = TAKEN
            elif s[host + CAME] == THERE:
                receive_exchange(s, p, now, node)
            else:
                return False
        else:
            return False
    return False
