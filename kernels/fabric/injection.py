"""The sending side of a host's network interface: messages out, as packets or on the overlay."""

from __future__ import annotations

import numpy as np

from kernels import helper, inlined
from kernels.fabric import layout, pisces_nic
from kernels.fabric.entering import append_uncut, count_cut
from kernels.fabric.lists import first_credit, take_credit
from kernels.fabric.ports import put_on_channel
from kernels.fabric.timers import queue_event, set_timer


@helper
def new_message(s, q, source, target, n_bytes, word, extra):
    """Return a new message; `word` and `extra` belong to the host layer."""
    message = layout.take_record(s, q)
    q[message + layout.M_LEFT] = n_bytes
    q[message + layout.M_NEXT] = layout.NOTHING
    q[message + layout.M_BYTES] = n_bytes
    q[message + layout.M_ENDS] = source << 32 | target
    q[message + layout.M_WORD] = word
    q[message + layout.M_EXTRA] = extra
    q[message + layout.M_FLAGS] = 0
    q[message + layout.M_COMING] = n_bytes
    return message


@helper
def overlay(s, t, q, now, message):
    """Send a message over the LogP overlay: any number at once, each with its delay."""
    source, target = q[message + layout.M_ENDS] >> 32, q[message + layout.M_ENDS] & layout.SIZE_MASK
    here, there = (
        s[layout.host_cells(s, source) + layout.ROUTER],
        s[layout.host_cells(s, target) + layout.ROUTER],
    )
    hops = np.int64(1)
    if s[layout.AT_HOPS] >= 0:
        hops = np.int64(t[s[layout.AT_HOPS] + here * s[layout.N_ROUTERS] + there])
    h = layout.host_cells(s, source)
    s[h + layout.SEQUENCE] += 1
    event = layout.take_record(s, q)
    delay = (
        s[layout.OVERLAY]
        + hops * s[layout.OVERLAY_HOP]
        + layout.span(q[message + layout.M_BYTES], s[layout.OVERLAY_BYTE])
    )
    q[event + layout.E_AT] = now + delay
    q[event + layout.E_CLASS] = layout.OVERLAY_IN << 32 | layout.ARRIVE
    # Messages of one tick come in the order in which they were sent: in one tick, nodes handle
    # what the overlay brings, then packets, then their own events, the last node first.
    owner = s[layout.EVENT_OWNER]
    turn = source if owner <= layout.DATA_IN else layout.HOST_MASK - source
    q[event + layout.E_ORDER] = now
    q[event + layout.E_SECOND] = min(owner, layout.NIC) << 60 | turn << 38 | s[h + layout.SEQUENCE]
    q[event + layout.E_WORD] = message
    q[event + layout.E_EXTRA] = 0
    queue_event(s, q, target, event)


@helper
def arbitrate(s, q, now, host):
    """Send the first packet that has its credits."""
    h = layout.host_cells(s, host)
    s[h + layout.ARBITRATION] = layout.NEVER
    run = s[h + layout.READY_FIRST]
    if run == layout.NOTHING:
        return
    message = q[run + layout.U_MESSAGE]
    size = q[run + layout.U_BYTES]
    tail = False
    q[run + layout.U_COUNT] -= 1
    if q[run + layout.U_COUNT] == 0:
        tail = q[run + layout.U_TAIL] != 0
        s[h + layout.READY_FIRST] = q[run + layout.U_NEXT]
        layout.free_record(s, q, run)
    channel = layout.injection_channel(s, host)
    c = layout.channel_cells(s, channel)
    p = layout.port_cells(s, channel)
    overhead = s[p + layout.FLIT]
    done = now + layout.span(size, s[p + layout.BYTE]) + overhead
    s[c + layout.NEXT_FREE] = done
    s[c + layout.BYTES_SENT] += size
    s[c + layout.PACKETS_SENT] += 1
    s[layout.HOPS_TAKEN] += 1
    packet = layout.take_record(s, q)
    s[h + layout.NEXT_PACKET] += 1
    target = q[message + layout.M_ENDS] & layout.SIZE_MASK
    router = s[layout.host_cells(s, target) + layout.ROUTER]
    q[packet + layout.SIZE] = (s[h + layout.NEXT_PACKET] & 0x7FFFFFFF) << 32 | size
    q[packet + layout.MESSAGE] = message
    q[packet + layout.ENDS] = host << 42 | target << 20 | router
    q[packet + layout.PATH] = 0
    at = now + overhead + s[p + layout.LATENCY]
    put_on_channel(s, q, c, channel << 8, packet, at)
    if tail and q[message + layout.M_FLAGS] & layout.ACKNOWLEDGED:
        word, extra = q[message + layout.M_WORD], q[message + layout.M_EXTRA]
        set_timer(s, q, host, done, layout.NIC, layout.INJECTED, word, extra)
    if s[h + layout.READY_FIRST] != layout.NOTHING:
        s[h + layout.ARBITRATION] = done


@helper
def _request(s, q, now, host):
    """Arbitrate the port now, or when it is free, if packets wait."""
    h = layout.host_cells(s, host)
    if s[h + layout.ARBITRATION] != layout.NEVER or s[h + layout.READY_FIRST] == layout.NOTHING:
        return
    free = s[layout.channel_cells(s, layout.injection_channel(s, host)) + layout.NEXT_FREE]
    if free > now:
        s[h + layout.ARBITRATION] = free
    else:
        arbitrate(s, q, now, host)


@helper
def _append_run(s, q, first, message, size, n, tail, last):
    """Append equal packets to the list whose ends are the cells `first` and `last`."""
    run = layout.take_record(s, q)
    q[run + layout.U_MESSAGE] = message
    q[run + layout.U_NEXT] = layout.NOTHING
    q[run + layout.U_BYTES] = size
    q[run + layout.U_COUNT] = n
    q[run + layout.U_TAIL] = tail
    if s[first] == layout.NOTHING:
        s[first] = run
    else:
        q[s[last] + layout.U_NEXT] = run
    s[last] = run


@inlined
def _insert(s, q, now, host, message, size, n, tail):
    """Queue `n` equal packets at the port, the last one the message's tail if `tail` is 1."""
    h = layout.host_cells(s, host)
    channel = layout.injection_channel(s, host)
    able = n
    if s[layout.FLOW_CONTROL]:
        v = layout.lane_cells(s, channel, 0)
        able = min(n, s[v + layout.CREDITS] // size)
        s[v + layout.CREDITS] -= able * size
    if able > 0:
        whole = tail if able == n else 0
        _append_run(s, q, h + layout.READY_FIRST, message, size, able, whole, h + layout.READY_LAST)
    if n > able:
        c = layout.channel_cells(s, channel)
        _append_run(
            s, q, h + layout.WAIT_FIRST, message, size, n - able, tail, h + layout.WAIT_LAST
        )
        s[c + layout.N_PENDING] += n - able
        s[c + layout.MOST_PENDING] = max(s[c + layout.MOST_PENDING], s[c + layout.N_PENDING])
    _request(s, q, now, host)


@helper
def _fill_buffer(s, q, now, host):
    """Cut messages into packets while the buffer has room for the next one."""
    h = layout.host_cells(s, host)
    c = layout.channel_cells(s, layout.injection_channel(s, host))
    mtu = s[layout.MTU]
    while s[h + layout.INJECT_FIRST] != layout.NOTHING and now >= s[c + layout.ENTERS_UNTIL]:
        message = s[h + layout.INJECT_FIRST]
        left = s[h + layout.LEFT_TO_CUT]
        size = min(mtu, left)
        if size > s[h + layout.BUFFER]:
            return
        n = np.int64(1)
        if s[layout.MESSAGE_BYTE] == 0:
            n = max(n, left // mtu)
        if s[layout.FLOW_CONTROL]:
            n = min(n, s[h + layout.BUFFER] // size)
            s[h + layout.BUFFER] -= n * size
        left = count_cut(s, q, now, host, n * size)
        _insert(s, q, now, host, message, size, n, 1 if left == 0 else 0)


@helper
def _waits(s, h, c):
    """Return whether something at a host waits for credits, or for room in the buffer."""
    return s[c + layout.N_PENDING] > 0 or s[h + layout.INJECT_FIRST] != layout.NOTHING


@helper
def _watch_credits(s, host):
    """Make the next credit an event if something waits for it."""
    h = layout.host_cells(s, host)
    c = layout.channel_cells(s, layout.injection_channel(s, host))
    s[h + layout.CREDIT_DUE] = layout.NEVER
    if s[c + layout.N_CREDITS] > 0 and _waits(s, h, c):
        s[h + layout.CREDIT_DUE] = first_credit(s, c)


@helper
def _note_wait(s, now, h, c, free, sent):
    """Count how long a port was free while something waited, and note since when something does.

    `free` and `sent` are when the port was free, and the packets it had sent, before this tick.
    """
    if s[c + layout.PACKETS_SENT] > sent:
        s[c + layout.STALLED] += max(0, now - max(s[c + layout.WAITING_SINCE], free))
    if not _waits(s, h, c):
        s[c + layout.WAITING_SINCE] = layout.NEVER
    elif s[c + layout.WAITING_SINCE] == layout.NEVER:
        s[c + layout.WAITING_SINCE] = now


@helper
def _flow(s, q, now, host):
    """Send packets of PISCES while there is credit; a message's end is reported in one step."""
    h = layout.host_cells(s, host)
    while s[h + layout.INJECT_FIRST] != layout.NOTHING:
        message = s[h + layout.INJECT_FIRST]
        tail = pisces_nic.send_packets(s, q, now, host)
        if tail < 0 and s[h + layout.INJECT_FIRST] == message:
            return
        if tail >= 0 and q[message + layout.M_FLAGS] & layout.ACKNOWLEDGED:
            set_timer(
                s,
                q,
                host,
                tail,
                layout.NIC,
                layout.TELL,
                q[message + layout.M_WORD],
                q[message + layout.M_EXTRA],
            )


@inlined
def _count_credits(s, now, host):
    """Add the credits that have come before the host's present event, if nothing waits for them."""
    h = layout.host_cells(s, host)
    last = now - 1 if s[layout.EVENT_OWNER] == layout.OVERLAY_IN else now
    channel = layout.injection_channel(s, host)
    c = layout.channel_cells(s, channel)
    if _waits(s, h, c):
        return
    while first_credit(s, c) <= last:
        n_bytes = take_credit(s, c) & layout.SIZE_MASK
        s[layout.lane_cells(s, channel, 0) + layout.CREDITS] += n_bytes
        s[h + layout.BUFFER] += n_bytes


@helper
def inject(s, q, now, host, message):
    """Queue a message for the packet network, or NOTHING; go on with those that are queued."""
    h = layout.host_cells(s, host)
    c = layout.channel_cells(s, layout.injection_channel(s, host))
    free, sent = s[c + layout.NEXT_FREE], s[c + layout.PACKETS_SENT]
    _count_credits(s, now, host)
    if message != layout.NOTHING:
        append_uncut(s, q, h, message)
    if s[layout.MODEL] == layout.PISCES:
        _flow(s, q, now, host)
    else:
        _fill_buffer(s, q, now, host)
    _note_wait(s, now, h, c, free, sent)
    _watch_credits(s, host)


@helper
def credit_in(s, q, now, host):
    """Take one credit that something waits for: the buffer first, then the port."""
    h = layout.host_cells(s, host)
    channel = layout.injection_channel(s, host)
    c = layout.channel_cells(s, channel)
    free, sent = s[c + layout.NEXT_FREE], s[c + layout.PACKETS_SENT]
    if s[layout.MODEL] == layout.PISCES:
        pisces_nic.take_credits(s, host)
        _flow(s, q, now, host)
        _note_wait(s, now, h, c, free, sent)
        _watch_credits(s, host)
        return
    v = layout.lane_cells(s, channel, 0)
    n_bytes = take_credit(s, c) & layout.SIZE_MASK
    s[h + layout.BUFFER] += n_bytes
    _fill_buffer(s, q, now, host)
    s[v + layout.CREDITS] += n_bytes
    run = s[h + layout.WAIT_FIRST]
    while run != layout.NOTHING:
        size = q[run + layout.U_BYTES]
        n = min(q[run + layout.U_COUNT], s[v + layout.CREDITS] // size)
        if n == 0:
            break
        s[v + layout.CREDITS] -= n * size
        s[c + layout.N_PENDING] -= n
        q[run + layout.U_COUNT] -= n
        emptied = q[run + layout.U_COUNT] == 0
        tail = q[run + layout.U_TAIL] if emptied else 0
        message = q[run + layout.U_MESSAGE]
        _append_run(s, q, h + layout.READY_FIRST, message, size, n, tail, h + layout.READY_LAST)
        if emptied:
            s[h + layout.WAIT_FIRST] = q[run + layout.U_NEXT]
            layout.free_record(s, q, run)
        run = s[h + layout.WAIT_FIRST]
    _request(s, q, now, host)
    _note_wait(s, now, h, c, free, sent)
    _watch_credits(s, host)


@helper
def send(s, t, q, now, message):
    """Put a message on the wire: the overlay if it is negligible, else the packet network.

    With the flag ACKNOWLEDGED the source is notified, with the message's word and extra, when its
    last byte has left; on the overlay at once.
    """
    host = q[message + layout.M_ENDS] >> 32
    if q[message + layout.M_BYTES] > s[layout.NEGLIGIBLE]:
        if s[layout.STARTUP] > 0:
            at = now + s[layout.STARTUP]
            set_timer(s, q, host, at, layout.NIC, layout.BEGIN, message, 0)
        else:
            inject(s, q, now, host, message)
        return
    overlay(s, t, q, now, message)
    if q[message + layout.M_FLAGS] & layout.ACKNOWLEDGED:
        set_timer(
            s,
            q,
            host,
            now,
            layout.NODE,
            layout.TELL,
            q[message + layout.M_WORD],
            q[message + layout.M_EXTRA],
        )
