"""The sending side of a host's network interface: messages out, as packets or on the overlay."""

from __future__ import annotations

import numpy as np

from kernels import helper
from kernels.fabric import pisces_nic
from kernels.fabric.layout import (
    ACKNOWLEDGED,
    ARBITRATION,
    ARRIVE,
    AT_HOPS,
    BORN,
    BUFFER,
    BUSY,
    BYTE,
    BYTES_SENT,
    CAME_BY,
    CREDIT_DUE,
    CREDITS,
    DATA_IN,
    E_AT,
    E_CLASS,
    E_EXTRA,
    E_ORDER,
    E_SECOND,
    E_WORD,
    ENDS,
    EVENT_OWNER,
    FLIT,
    FLOW_CONTROL,
    HOPS_TAKEN,
    HOST_MASK,
    INJECT_FIRST,
    INJECT_LAST,
    INJECTED,
    LATENCY,
    LEFT_TO_CUT,
    M_BORN,
    M_BYTES,
    M_ENDS,
    M_EXTRA,
    M_FLAGS,
    M_LEFT,
    M_NEXT,
    M_WORD,
    MESSAGE,
    MODEL,
    MOST_PENDING,
    MTU,
    N_CREDITS,
    N_PENDING,
    N_ROUTERS,
    NEGLIGIBLE,
    NEVER,
    NEXT_FREE,
    NEXT_PACKET,
    NIC,
    NODE,
    NOTHING,
    OVERLAY,
    OVERLAY_BYTE,
    OVERLAY_HOP,
    OVERLAY_IN,
    PACKETS_SENT,
    PATH,
    PISCES,
    READY_FIRST,
    READY_LAST,
    ROUTER,
    SEQUENCE,
    SIZE,
    SIZE_MASK,
    STALLED,
    TELL,
    U_BYTES,
    U_COUNT,
    U_MESSAGE,
    U_NEXT,
    U_TAIL,
    WAIT_FIRST,
    WAIT_LAST,
    WAITING_SINCE,
    channel_cells,
    free_record,
    host_cells,
    injection_channel,
    lane_cells,
    span,
    take_record,
)
from kernels.fabric.lists import (
    first_credit,
    take_credit,
)
from kernels.fabric.ports import (
    put_on_channel,
)
from kernels.fabric.timers import (
    queue_event,
    set_timer,
)


@helper("i8(i8[::1], i8[::1], i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def new_message(s, q, source, target, n_bytes, word, extra):
    """Return a new message; `word` and `extra` belong to the host layer."""
    message = take_record(s, q)
    q[message + M_LEFT] = n_bytes
    q[message + M_NEXT] = NOTHING
    q[message + M_BYTES] = n_bytes
    q[message + M_ENDS] = source << 32 | target
    q[message + M_WORD] = word
    q[message + M_EXTRA] = extra
    q[message + M_FLAGS] = 0
    q[message + M_BORN] = 0
    return message


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def overlay(s, t, q, now, message):
    """Send a message over the LogP overlay: any number at once, each with its delay."""
    source, target = q[message + M_ENDS] >> 32, q[message + M_ENDS] & SIZE_MASK
    here, there = s[host_cells(s, source) + ROUTER], s[host_cells(s, target) + ROUTER]
    hops = np.int64(1)
    if s[AT_HOPS] >= 0:
        hops = np.int64(t[s[AT_HOPS] + here * s[N_ROUTERS] + there])
    h = host_cells(s, source)
    s[h + SEQUENCE] += 1
    event = take_record(s, q)
    delay = s[OVERLAY] + hops * s[OVERLAY_HOP] + span(q[message + M_BYTES], s[OVERLAY_BYTE])
    q[event + E_AT] = now + delay
    q[event + E_CLASS] = OVERLAY_IN << 32 | ARRIVE
    # Messages of one tick come in the order in which they were sent: in one tick, nodes handle
    # what the overlay brings, then packets, then their own events, the last node first.
    owner = s[EVENT_OWNER]
    turn = source if owner <= DATA_IN else HOST_MASK - source
    q[event + E_ORDER] = now
    q[event + E_SECOND] = min(owner, NIC) << 60 | turn << 38 | s[h + SEQUENCE]
    q[event + E_WORD] = message
    q[event + E_EXTRA] = 0
    queue_event(s, q, target, event)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def arbitrate(s, q, now, host):
    """Send the first packet that has its credits."""
    h = host_cells(s, host)
    s[h + ARBITRATION] = NEVER
    run = s[h + READY_FIRST]
    if run == NOTHING:
        return
    message = q[run + U_MESSAGE]
    size = q[run + U_BYTES]
    tail = False
    q[run + U_COUNT] -= 1
    if q[run + U_COUNT] == 0:
        tail = q[run + U_TAIL] != 0
        s[h + READY_FIRST] = q[run + U_NEXT]
        free_record(s, q, run)
    channel = injection_channel(s, host)
    c = channel_cells(s, channel)
    took = span(size, s[c + BYTE])
    done = now + took + s[c + FLIT]
    s[c + NEXT_FREE] = done
    s[c + BUSY] += took
    s[c + BYTES_SENT] += size
    s[c + PACKETS_SENT] += 1
    s[HOPS_TAKEN] += 1
    packet = take_record(s, q)
    s[h + NEXT_PACKET] += 1
    target = q[message + M_ENDS] & SIZE_MASK
    router = s[host_cells(s, target) + ROUTER]
    q[packet + SIZE] = (s[h + NEXT_PACKET] & 0x7FFFFFFF) << 32 | size
    q[packet + MESSAGE] = message
    q[packet + ENDS] = host << 42 | target << 20 | router
    q[packet + CAME_BY] = channel << 8
    q[packet + PATH] = 0
    q[packet + BORN] = now
    put_on_channel(s, q, c, packet, now + s[c + FLIT] + s[c + LATENCY])
    if tail and q[message + M_FLAGS] & ACKNOWLEDGED:
        word, extra = q[message + M_WORD], q[message + M_EXTRA]
        set_timer(s, q, host, done, NIC, INJECTED, word, extra)
    if s[h + READY_FIRST] != NOTHING:
        s[h + ARBITRATION] = done


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _request(s, q, now, host):
    """Let the port send now, or when it is free, if it has something to send."""
    h = host_cells(s, host)
    if s[h + ARBITRATION] != NEVER or s[h + READY_FIRST] == NOTHING:
        return
    free = s[channel_cells(s, injection_channel(s, host)) + NEXT_FREE]
    if free > now:
        s[h + ARBITRATION] = free
    else:
        arbitrate(s, q, now, host)


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _append_run(s, q, first, message, size, n, tail, last):
    """Append equal packets to the list whose ends are the cells `first` and `last`."""
    run = take_record(s, q)
    q[run + U_MESSAGE] = message
    q[run + U_NEXT] = NOTHING
    q[run + U_BYTES] = size
    q[run + U_COUNT] = n
    q[run + U_TAIL] = tail
    if s[first] == NOTHING:
        s[first] = run
    else:
        q[s[last] + U_NEXT] = run
    s[last] = run


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _insert(s, q, now, host, message, size, n, tail):
    """Queue `n` equal packets at the port, the last one the message's tail if `tail` is 1."""
    h = host_cells(s, host)
    channel = injection_channel(s, host)
    able = n
    if s[FLOW_CONTROL]:
        v = lane_cells(s, channel, 0)
        able = min(n, s[v + CREDITS] // size)
        s[v + CREDITS] -= able * size
    if able > 0:
        whole = tail if able == n else 0
        _append_run(s, q, h + READY_FIRST, message, size, able, whole, h + READY_LAST)
    if n > able:
        c = channel_cells(s, channel)
        _append_run(s, q, h + WAIT_FIRST, message, size, n - able, tail, h + WAIT_LAST)
        s[c + N_PENDING] += n - able
        s[c + MOST_PENDING] = max(s[c + MOST_PENDING], s[c + N_PENDING])
    _request(s, q, now, host)


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _fill_buffer(s, q, now, host):
    """Cut messages into packets while the buffer has room for the next one."""
    h = host_cells(s, host)
    mtu = s[MTU]
    while s[h + INJECT_FIRST] != NOTHING:
        message = s[h + INJECT_FIRST]
        left = s[h + LEFT_TO_CUT]
        size = min(mtu, left)
        if size > s[h + BUFFER]:
            return
        n = max(1, left // mtu)
        if s[FLOW_CONTROL]:
            n = min(n, s[h + BUFFER] // size)
            s[h + BUFFER] -= n * size
        left -= n * size
        s[h + LEFT_TO_CUT] = left
        if left == 0:
            following = q[message + M_NEXT]
            s[h + INJECT_FIRST] = following
            if following != NOTHING:
                s[h + LEFT_TO_CUT] = q[following + M_BYTES]
        _insert(s, q, now, host, message, size, n, 1 if left == 0 else 0)


@helper("b1(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _waits(s, h, c):
    """Return whether something at a host waits for credits, or for room in the buffer."""
    return s[c + N_PENDING] > 0 or s[h + INJECT_FIRST] != NOTHING


@helper("void(i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def _watch_credits(s, host):
    """Make the next credit an event if something waits for it."""
    h = host_cells(s, host)
    c = channel_cells(s, injection_channel(s, host))
    s[h + CREDIT_DUE] = NEVER
    if s[c + N_CREDITS] > 0 and _waits(s, h, c):
        s[h + CREDIT_DUE] = first_credit(s, c)


@helper("void(i8[::1], i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _note_wait(s, now, h, c, free, sent):
    """Count how long a port was free while something waited, and note since when something does.

    `free` and `sent` are when the port was free, and the packets it had sent, before this tick.
    """
    if s[c + PACKETS_SENT] > sent:
        s[c + STALLED] += max(0, now - max(s[c + WAITING_SINCE], free))
    if not _waits(s, h, c):
        s[c + WAITING_SINCE] = NEVER
    elif s[c + WAITING_SINCE] == NEVER:
        s[c + WAITING_SINCE] = now


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _flow(s, q, now, host):
    """Send packets of PISCES while there is credit; a message's end is told in one step."""
    h = host_cells(s, host)
    while s[h + INJECT_FIRST] != NOTHING:
        message = s[h + INJECT_FIRST]
        tail = pisces_nic.send_packets(s, q, now, host)
        if tail < 0:
            return
        if q[message + M_FLAGS] & ACKNOWLEDGED:
            set_timer(s, q, host, tail, NIC, TELL, q[message + M_WORD], q[message + M_EXTRA])


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _inject(s, q, now, host, message):
    """Queue a message for the packet network."""
    h = host_cells(s, host)
    c = channel_cells(s, injection_channel(s, host))
    free, sent = s[c + NEXT_FREE], s[c + PACKETS_SENT]
    q[message + M_NEXT] = NOTHING
    if s[h + INJECT_FIRST] == NOTHING:
        s[h + INJECT_FIRST] = message
        s[h + LEFT_TO_CUT] = q[message + M_BYTES]
    else:
        q[s[h + INJECT_LAST] + M_NEXT] = message
    s[h + INJECT_LAST] = message
    if s[MODEL] == PISCES:
        _flow(s, q, now, host)
    else:
        _fill_buffer(s, q, now, host)
    _note_wait(s, now, h, c, free, sent)
    _watch_credits(s, host)


@helper("void(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def count_credits(s, host, last):
    """Count the credits that have come by tick `last`, if nothing waits for them."""
    h = host_cells(s, host)
    channel = injection_channel(s, host)
    c = channel_cells(s, channel)
    if _waits(s, h, c):
        return
    while first_credit(s, c) <= last:
        n_bytes = take_credit(s, c) & SIZE_MASK
        s[lane_cells(s, channel, 0) + CREDITS] += n_bytes
        s[h + BUFFER] += n_bytes


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def credit_in(s, q, now, host):
    """Take one credit that something waits for: the buffer first, then the port."""
    h = host_cells(s, host)
    channel = injection_channel(s, host)
    c = channel_cells(s, channel)
    free, sent = s[c + NEXT_FREE], s[c + PACKETS_SENT]
    if s[MODEL] == PISCES:
        pisces_nic.take_credits(s, host)
        _flow(s, q, now, host)
        _note_wait(s, now, h, c, free, sent)
        _watch_credits(s, host)
        return
    v = lane_cells(s, channel, 0)
    n_bytes = take_credit(s, c) & SIZE_MASK
    s[h + BUFFER] += n_bytes
    _fill_buffer(s, q, now, host)
    s[v + CREDITS] += n_bytes
    run = s[h + WAIT_FIRST]
    while run != NOTHING:
        size = q[run + U_BYTES]
        n = min(q[run + U_COUNT], s[v + CREDITS] // size)
        if n == 0:
            break
        s[v + CREDITS] -= n * size
        s[c + N_PENDING] -= n
        q[run + U_COUNT] -= n
        emptied = q[run + U_COUNT] == 0
        tail = q[run + U_TAIL] if emptied else 0
        message = q[run + U_MESSAGE]
        _append_run(s, q, h + READY_FIRST, message, size, n, tail, h + READY_LAST)
        if emptied:
            s[h + WAIT_FIRST] = q[run + U_NEXT]
            free_record(s, q, run)
        run = s[h + WAIT_FIRST]
    _request(s, q, now, host)
    _note_wait(s, now, h, c, free, sent)
    _watch_credits(s, host)


@helper("void(i8[::1], i4[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def send(s, t, q, now, message):
    """Put a message on the wire: the overlay if it is negligible, else the packet network.

    With the flag ACKNOWLEDGED the source is told, with the message's word and extra, when its last
    byte has left; on the overlay at once.
    """
    host = q[message + M_ENDS] >> 32
    q[message + M_BORN] = now
    if q[message + M_BYTES] > s[NEGLIGIBLE]:
        _inject(s, q, now, host, message)
        return
    overlay(s, t, q, now, message)
    if q[message + M_FLAGS] & ACKNOWLEDGED:
        set_timer(s, q, host, now, NODE, TELL, q[message + M_WORD], q[message + M_EXTRA])
