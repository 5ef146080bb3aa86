"""MPI on one node: the OSU program, its sends and receives, and the host's costs of each protocol.

Node 0 sends a window of messages, waits for them and receives one reply; node 1 receives the
window, waits and replies. A ping-pong is a window of one whose reply is as long as the message.
Before all that, MPI_Init and, where the benchmark has one, MPI_Barrier are *exchanges*: each node
sends one message and waits until it has left and the other's has come. An exchange's number says
which: 0 and 1 are MPI_Init's. Messages are looked at only inside MPI calls, one after the other;
each computation (copy, pinning, post delay) ends in an event, even one that takes no time.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout
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
EXCHANGES_OF_INIT = 2  # an allreduce of one element between two ranks: SST/macro's has two steps
# Protocols.
EAGER0, EAGER1, RENDEZVOUS = range(3)
# Why the program does not go on.
WAITS, SENDS, WINDOW_ENDED = range(3)


@helper
def compute(s, now, node, ticks, owner, action, word):
    """Keep the host busy for `ticks`, then do `action`."""
    s[layout.host_cells(node) + layout.BUSY] = 1
    s[layout.host_cells(node) + layout.ACTION] = action
    s[layout.host_cells(node) + layout.MESSAGE] = word
    schedule(s, owner + 3 * (1 - node), now + ticks, 0, layout.T_HOST)


@helper
def through_channels(s, p, now, node, size):
    """Request a copy's chunks, one outstanding at a time; return when the last has arrived."""
    chunk = p[layout.P_CHUNK]
    left = layout.size_entry(p, size, layout.COPY_BYTES)
    request = layout.size_entry(p, size, layout.REQUEST_TICKS)
    n_bytes = left % chunk
    if n_bytes == 0:
        n_bytes = chunk
    ends = now
    while left > 0:
        channel = s[layout.host_cells(node) + layout.CHANNEL]
        free = layout.channel_cell(s, p, node, channel)
        now = max(now + request * n_bytes, s[free])
        ends = now + p[layout.P_CHANNEL_BYTE] * n_bytes
        s[free] = ends
        s[layout.host_cells(node) + layout.CHANNEL] = (channel + 1) % p[layout.P_CHANNELS]
        left -= n_bytes
        n_bytes = chunk
    return ends


@helper
def copied(s, p, now, node, size):
    """Return when a copy that begins now is over.

    The thread waits for its own copies, so the memory is free when the next one begins, unless the
    clock has been set back (by PISCES, see arbiters.py).
    """
    ends = now + layout.size_entry(p, size, layout.COPY_TICKS)
    if not layout.size_entry(p, size, layout.COPY_ON_LINK):
        return ends
    if p[layout.P_CHANNELS] > 0:
        return through_channels(s, p, now, node, size)
    h = layout.host_cells(node)
    ends += max(0, s[h + layout.MEMORY_FREE] - now)
    s[h + layout.MEMORY_FREE] = ends
    return ends


@helper
def copy(s, p, now, node, size, action, word):
    """Copy a message, then do `action`."""
    compute(s, now, node, copied(s, p, now, node, size) - now, layout.NODE, action, word)


@helper
def protocol(p, n_bytes):
    """Return the protocol of an MPI message."""
    if n_bytes <= p[layout.P_EAGER0_MAX]:
        return EAGER0
    if n_bytes <= p[layout.P_EAGER1_MAX]:
        return EAGER1
    return RENDEZVOUS


@helper
def ready_send(s, p, now, node, word):
    """Put the first message of a send on the wire; an eager send is then complete."""
    s[layout.TO_SEND] = word
    s[layout.host_cells(node) + layout.POSTED] += 1
    size = layout.size_entry(p, layout.size_of(s, p, word), layout.SIZE_BYTES)
    if protocol(p, size) != RENDEZVOUS:
        s[layout.host_cells(node) + layout.SENT] += 1


@helper
def prepared_send(s, p, now, node, word):
    """Pay the post delay of a send, if there is one, then put it on the wire."""
    if p[layout.P_HEADER_DELAY] > 0:
        compute(s, now, node, p[layout.P_HEADER_DELAY], layout.OS, SEND_READY, word)
    else:
        ready_send(s, p, now, node, word)


@helper
def begin_send(s, p, now, node):
    """Start the next MPI send of the window."""
    index = s[layout.host_cells(node) + layout.POSTED]
    size = s[layout.host_cells(node) + layout.SIZE]
    if node == 1 and p[layout.P_SHORT_REPLY] >= 0:
        size = p[layout.P_SHORT_REPLY]
    s[layout.message_cells(p, node, index) + layout.MESSAGE_SIZE] = size
    how = protocol(p, layout.size_entry(p, size, layout.SIZE_BYTES))
    if how == EAGER0:
        word = layout.message(
            layout.EAGER, node, index, layout.size_entry(p, size, layout.SIZE_BYTES)
        )
        copy(s, p, now, node, size, SEND_PREPARED, word)
        return
    word = layout.message(layout.HEADER, node, index, layout.CONTROL_BYTES)
    if how == EAGER1:
        prepared_send(s, p, now, node, word)
    else:
        compute(
            s,
            now,
            node,
            layout.size_entry(p, size, layout.PIN_TICKS),
            layout.OS,
            SEND_PREPARED,
            word,
        )


@helper
def match(s, p, now, node, word):
    """Pay for a message that has met its receive."""
    size = layout.size_of(s, p, word)
    if layout.kind_of(word) == layout.HEADER:
        compute(s, now, node, layout.size_entry(p, size, layout.PIN_TICKS), layout.OS, PINNED, word)
    else:
        copy(s, p, now, node, size, COPIED, word)


@helper
def post_get(s, p, now, node, word):
    """Pay the RDMA delay, if there is one, then ask for the payload."""
    if p[layout.P_RDMA_DELAY] > 0:
        compute(s, now, node, p[layout.P_RDMA_DELAY], layout.OS, GET_READY, word)
    else:
        get = layout.message(
            layout.GET, layout.direction_of(word), layout.index_of(word), layout.CONTROL_BYTES
        )
        s[layout.TO_SEND] = get


@helper
def handle(s, p, now, node, word):
    """Handle a message the thread has taken from its inbox."""
    host = layout.host_cells(node)
    kind = layout.kind_of(word)
    how = protocol(p, layout.size_entry(p, layout.size_of(s, p, word), layout.SIZE_BYTES))
    if kind == layout.ACK:
        s[host + layout.SENT] += 1
    elif kind == layout.HEADER and how == EAGER1:
        post_get(s, p, now, node, word)
    elif kind == layout.PAYLOAD and how == RENDEZVOUS:
        s[host + layout.RECEIVED] += 1
        ack = layout.message(
            layout.ACK, layout.direction_of(word), layout.index_of(word), layout.CONTROL_BYTES
        )
        if p[layout.P_HEADER_DELAY] > 0:
            compute(s, now, node, p[layout.P_HEADER_DELAY], layout.OS, ACK_READY, ack)
        else:
            s[layout.TO_SEND] = ack
    elif s[host + layout.OPEN] > 0:
        s[host + layout.OPEN] -= 1
        match(s, p, now, node, word)
    else:
        append(s, layout.UNEXPECTED + node, 0, word, 0)
        if kind == layout.EAGER:
            size = layout.size_of(s, p, word)
            copy(s, p, now, node, size, COPIED_UNEXPECTED, word)


@helper
def brings_element(s, node, sender):
    """Return True if a message of the exchange under way is one of MPI_Init that is not empty."""
    number = s[layout.host_cells(node) + layout.NUMBER]
    return number < EXCHANGES_OF_INIT and number != sender


@helper
def send_exchange(s, p, now, node):
    """Put a node's message of an exchange on the wire."""
    number = s[layout.host_cells(node) + layout.NUMBER]
    n_bytes = layout.INIT_BYTES if brings_element(s, node, node) else 0
    s[layout.TO_SEND] = layout.message(layout.EXCHANGE, node, number, n_bytes)


@helper
def prepared_exchange(s, p, now, node):
    """Pay the post delay of an exchange's message, if there is one, then send it."""
    if p[layout.P_HEADER_DELAY] > 0:
        compute(s, now, node, p[layout.P_HEADER_DELAY], layout.OS, EXCHANGE_READY, 0)
    else:
        send_exchange(s, p, now, node)


@helper
def begin_exchange(s, p, now, node):
    """Start an exchange; node 1 copies nothing before it enters a barrier."""
    host = layout.host_cells(node)
    s[host + layout.STEP] = WAIT_EXCHANGE
    if node == 1 and s[host + layout.NUMBER] >= EXCHANGES_OF_INIT:
        copy(s, p, now, node, p[layout.P_N_SIZES] + layout.EMPTY_ROW, EXCHANGE_PREPARED, 0)
    else:
        prepared_exchange(s, p, now, node)


@helper
def receive_exchange(s, p, now, node):
    """Receive the other side's message of an exchange; what MPI_Init receives is copied."""
    host = layout.host_cells(node)
    s[host + layout.CAME] = layout.TAKEN
    if s[host + layout.NUMBER] < EXCHANGES_OF_INIT:
        row = layout.INIT_ROW if brings_element(s, node, 1 - node) else layout.EMPTY_ROW
        copy(s, p, now, node, p[layout.P_N_SIZES] + row, NOTHING, 0)


@helper
def end_exchange(s, p, now, node):
    """Continue after an exchange: with another one, or with the messages of a size."""
    host = layout.host_cells(node)
    s[host + layout.NUMBER] += 1
    s[host + layout.NOTICED] = layout.NOT_YET
    s[host + layout.CAME] = s[host + layout.CAME_EARLY]
    s[host + layout.CAME_EARLY] = layout.NOT_YET
    initialised = s[host + layout.NUMBER] == EXCHANGES_OF_INIT
    if s[host + layout.NUMBER] < EXCHANGES_OF_INIT or (initialised and p[layout.P_BARRIER]):
        s[host + layout.STEP] = BEGIN_EXCHANGE
    else:
        s[host + layout.STEP] = SEND if node == 0 else POST_RECEIVES
        s[host + layout.STARTED] = now


@helper
def exchange_in(s, node, number):
    """Note that the other side's message of an exchange is there."""
    host = layout.host_cells(node)
    if number == s[host + layout.NUMBER]:
        s[host + layout.CAME] = layout.THERE
    else:
        s[host + layout.CAME_EARLY] = layout.THERE


@helper
def resume(s, p, now, node):
    """Go on after a computation."""
    host = layout.host_cells(node)
    s[host + layout.BUSY] = 0
    action, word = s[host + layout.ACTION], s[host + layout.MESSAGE]
    s[host + layout.ACTION] = NOTHING
    if action == SEND_PREPARED:
        prepared_send(s, p, now, node, word)
    elif action == SEND_READY:
        ready_send(s, p, now, node, word)
    elif action == COPIED:
        s[host + layout.RECEIVED] += 1
    elif action == PINNED:
        post_get(s, p, now, node, word)
    elif action == GET_READY:
        get = layout.message(
            layout.GET, layout.direction_of(word), layout.index_of(word), layout.CONTROL_BYTES
        )
        s[layout.TO_SEND] = get
    elif action == ACK_READY:
        s[layout.TO_SEND] = word
    elif action == EXCHANGE_PREPARED:
        prepared_exchange(s, p, now, node)
    elif action == EXCHANGE_READY:
        send_exchange(s, p, now, node)


@helper
def take(s, p, now, node):
    """Take one message from the inbox; return False if there is none.

    Messages that open an exchange carry a sequence number and are handled in its order; one
    that is ahead is held, at no cost.
    """
    row = layout.INBOX + node
    if s[layout.COUNT + row] == 0:
        return False
    host = layout.host_cells(node)
    word = s[entry(s, row, 0) + layout.WORD]
    drop(s, row)
    if layout.kind_of(word) == layout.EAGER or layout.kind_of(word) == layout.HEADER:
        if layout.index_of(word) != s[host + layout.NEXT_SEQUENCE]:
            s[layout.message_cells(p, 1 - node, layout.index_of(word)) + layout.HELD] = (
                layout.kind_of(word)
            )
            s[host + layout.N_HELD] += 1
            return True
        s[host + layout.IN_ORDER] = 1
    handle(s, p, now, node, word)
    return True


@helper
def take_held(s, p, now, node, window):
    """Count a sequenced message as handled and handle the next one if it is held."""
    host = layout.host_cells(node)
    following = (s[host + layout.NEXT_SEQUENCE] + 1) % window
    s[host + layout.NEXT_SEQUENCE] = following
    kind = s[layout.message_cells(p, 1 - node, following) + layout.HELD]
    if kind == 0:
        s[host + layout.IN_ORDER] = 0
        return
    s[layout.message_cells(p, 1 - node, following) + layout.HELD] = 0
    s[host + layout.N_HELD] -= 1
    handle(s, p, now, node, layout.message(kind, 1 - node, following, 0))


@helper
def post_receive(s, p, now, node):
    """Post a receive, or match it at once with a message that is there already."""
    s[layout.host_cells(node) + layout.POSTED_RECEIVES] += 1
    row = layout.UNEXPECTED + node
    if s[layout.COUNT + row] == 0:
        s[layout.host_cells(node) + layout.OPEN] += 1
        return
    word = s[entry(s, row, 0) + layout.WORD]
    drop(s, row)
    match(s, p, now, node, word)


@helper
def advance(s, p, now, node):
    """Run the MPI program of a node until it computes, waits, sends, or ends a window.

    Returns WAITS; SENDS, with the word in TO_SEND; or WINDOW_ENDED: the caller keeps the time and
    says how to go on.
    """
    host = layout.host_cells(node)
    to_send = 1 if node == 1 else p[layout.P_WINDOW]
    to_receive = p[layout.P_WINDOW] if node == 1 else 1
    while not s[host + layout.BUSY]:
        if s[layout.TO_SEND]:
            return SENDS
        if s[host + layout.IN_ORDER]:
            take_held(s, p, now, node, to_receive)
        elif s[host + layout.STEP] == SEND:
            if s[host + layout.POSTED] < to_send:
                begin_send(s, p, now, node)
            else:
                s[host + layout.STEP] = WAIT_SENDS
        elif s[host + layout.STEP] == WAIT_SENDS:
            if s[host + layout.SENT] == to_send:
                s[host + layout.POSTED] = 0
                s[host + layout.SENT] = 0
                s[host + layout.STEP] = POST_RECEIVES
                if node == 1:
                    return WINDOW_ENDED
            elif not take(s, p, now, node):
                return WAITS
        elif s[host + layout.STEP] == POST_RECEIVES:
            if s[host + layout.POSTED_RECEIVES] < to_receive:
                post_receive(s, p, now, node)
            else:
                s[host + layout.STEP] = WAIT_RECEIVES
        elif s[host + layout.STEP] == WAIT_RECEIVES:
            if s[host + layout.RECEIVED] == to_receive:
                s[host + layout.POSTED_RECEIVES] = 0
                s[host + layout.RECEIVED] = 0
                s[host + layout.STEP] = SEND
                if node == 0:
                    return WINDOW_ENDED
            elif not take(s, p, now, node):
                return WAITS
        elif s[host + layout.STEP] == BEGIN_EXCHANGE:
            begin_exchange(s, p, now, node)
        elif s[host + layout.STEP] == WAIT_EXCHANGE:
            if s[host + layout.NOTICED] == layout.TAKEN and s[host + layout.CAME] == layout.TAKEN:
                end_exchange(s, p, now, node)
            elif take(s, p, now, node):
                continue
            elif s[host + layout.NOTICED] == layout.THERE:
                s[host + layout.NOTICED] = layout.TAKEN
            elif s[host + layout.CAME] == layout.THERE:
                receive_exchange(s, p, now, node)
            else:
                return WAITS
        else:
            return WAITS
    return WAITS
