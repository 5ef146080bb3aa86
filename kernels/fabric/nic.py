"""SNAPPR's network interfaces: messages out as packets, packets in as messages, one host each.

A host layer sends with `send`, sets timers with `set_timer`, and calls `step` for each event of a
host; `step` says what the event means for the layer. Messages are records; the layer makes them
with `new_message` and frees them when they have come in (or ``free_record`` at once, for those it
does not care about). Nothing here knows what messages are for.
"""

from __future__ import annotations

from kernels import helper
from kernels.fabric import pisces_nic
from kernels.fabric.injection import arbitrate, count_credits, credit_in, new_message, overlay, send
from kernels.fabric.layout import (
    ACK_IN,
    ARRIVE,
    BYTE,
    COMPLETE,
    CREDIT_DUE,
    CREDIT_IN,
    DATA_DUE,
    DATA_IN,
    DRAINED,
    E_AT,
    E_CLASS,
    E_EXTRA,
    E_WORD,
    EJECT,
    EVENT_CODE,
    EVENT_EXTRA,
    EVENT_OWNER,
    EVENT_WORD,
    INJECTED,
    M_LEFT,
    MESSAGE,
    MESSAGE_IN,
    MODEL,
    NEVER,
    NIC,
    NIC_BYTE,
    NO_NEWS,
    NODE,
    NOTHING,
    OVERLAY_IN,
    PACKETS_ARRIVED,
    PATH,
    PISCES,
    QUEUE,
    QUEUE_DUE,
    SIZE,
    SIZE_MASK,
    TELL,
    TIMER_DUE,
    channel_cells,
    ejection_channel,
    free_record,
    host_cells,
    span,
)
from kernels.fabric.lists import (
    without_root,
)
from kernels.fabric.ports import (
    return_credit,
    take_at_host,
)
from kernels.fabric.timers import set_timer, settle

__all__ = ["host_cells", "new_message", "overlay", "send", "set_timer", "settle", "step"]


@helper("i8(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _complete(s, q, now, packet):
    """Count a packet's bytes; its message may now be whole."""
    message = q[packet + MESSAGE]
    left = q[message + M_LEFT] - (q[packet + SIZE] & SIZE_MASK)
    q[message + M_LEFT] = left
    s[PACKETS_ARRIVED] += 1
    s[EVENT_EXTRA] = q[packet + PATH]
    s[EVENT_CODE] = q[packet + SIZE] & SIZE_MASK
    free_record(s, q, packet)
    if left > 0:
        return NO_NEWS
    s[EVENT_WORD] = message
    return MESSAGE_IN


@helper("i8(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def _eject(s, q, now, host, packet):
    """Return a packet's credit and complete it, after the NIC's own events of this tick."""
    channel = ejection_channel(s, host)
    return_credit(s, channel, now, 0, q[packet + SIZE] & SIZE_MASK)
    h = host_cells(s, host)
    if s[h + QUEUE_DUE] == now and q[s[h + QUEUE] + E_CLASS] >> 32 == NIC:
        set_timer(s, q, host, now, NIC, COMPLETE, packet, 0)
        return NO_NEWS
    s[EVENT_OWNER] = NIC
    return _complete(s, q, now, packet)


@helper("i8(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _data_in(s, q, now, host):
    """Receive a packet; a NIC faster than its link waits for what is left of the arrival."""
    if s[MODEL] == PISCES:
        packet, wait = pisces_nic.take_head(s, q, host)
        if wait > 0:
            set_timer(s, q, host, now + wait, NIC, DRAINED, packet, 0)
            return NO_NEWS
        pisces_nic.give_back(s, q, now, host, packet)
        return _complete(s, q, now, packet)
    h = host_cells(s, host)
    c = channel_cells(s, ejection_channel(s, host))
    packet = take_at_host(s, q, c, h)
    size = q[packet + SIZE] & SIZE_MASK
    if s[c + BYTE] > s[NIC_BYTE]:
        wait = span(size, s[c + BYTE]) - span(size, s[NIC_BYTE])
        if wait > 0:
            set_timer(s, q, host, now + wait, NIC, EJECT, packet, 0)
            return NO_NEWS
    return _eject(s, q, now, host, packet)


@helper("i8(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def _own_event(s, q, now, host):
    """Handle the first of a host's own events."""
    h = host_cells(s, host)
    event = s[h + QUEUE]
    root = without_root(q, event)
    s[h + QUEUE] = root
    s[h + QUEUE_DUE] = NEVER if root == NOTHING else q[root + E_AT]
    code = q[event + E_CLASS] & 0xFFFFFFFF
    word, extra = q[event + E_WORD], q[event + E_EXTRA]
    free_record(s, q, event)
    s[EVENT_WORD] = word
    s[EVENT_EXTRA] = extra
    s[EVENT_CODE] = code
    if code == ARRIVE:
        return MESSAGE_IN
    if code == INJECTED:
        # SST/macro acknowledges in two steps, so a packet of this tick completes before.
        set_timer(s, q, host, now, NODE, TELL, word, extra)
        return NO_NEWS
    if code == TELL:
        return ACK_IN
    if code == EJECT:
        return _eject(s, q, now, host, word)
    if code == COMPLETE:
        return _complete(s, q, now, word)
    if code == DRAINED:
        pisces_nic.give_back(s, q, now, host, word)
        return _complete(s, q, now, word)
    return TIMER_DUE


@helper("i8(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def step(s, q, now, host):
    """Handle the next event of a host, which is due at tick `now`, and say what it means.

    Returns:
        MESSAGE_IN (a message is here: EVENT_WORD; of the packet that completed it EVENT_EXTRA is
        the routing state and EVENT_CODE the bytes), ACK_IN (a message of this host has been
        injected: EVENT_WORD and EVENT_EXTRA are its word and extra), TIMER_DUE (EVENT_CODE,
        EVENT_WORD and EVENT_EXTRA are the timer's) or NO_NEWS. The caller calls ``settle`` after it
        has done what it will.
    """
    h = host_cells(s, host)
    owner = 9
    if s[h + QUEUE_DUE] == now:
        owner = q[s[h + QUEUE] + E_CLASS] >> 32
    s[EVENT_OWNER] = owner
    if s[h + CREDIT_DUE] == now and owner > CREDIT_IN:
        credit_in(s, q, now, host)
        return NO_NEWS
    if s[h + DATA_DUE] == now and owner > DATA_IN:
        s[EVENT_OWNER] = DATA_IN
        count_credits(s, host, now)
        return _data_in(s, q, now, host)
    if owner < 9:
        count_credits(s, host, now - 1 if owner == OVERLAY_IN else now)
        return _own_event(s, q, now, host)
    arbitrate(s, q, now, host)
    return NO_NEWS
