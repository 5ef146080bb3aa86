"""SNAPPR's network interfaces: messages out as packets, packets in as messages, one host each.

A host layer sends with `send`, sets timers with `set_timer`, and calls `step` for each event of a
host; `step` says what the event means for the layer. Messages are records; the layer makes them
with `new_message` and frees them when they have come in (or ``free_record`` at once, for those it
does not care about). Nothing here knows what messages are for.
"""

from __future__ import annotations

from kernels import helper, inlined
from kernels.fabric import layout, pisces_nic
from kernels.fabric.injection import arbitrate, credit_in, inject, new_message, overlay, send
from kernels.fabric.lists import without_root
from kernels.fabric.ports import drain_ticks, return_credit, take_at_host
from kernels.fabric.timers import set_timer, settle

__all__ = ["new_message", "overlay", "send", "set_timer", "settle", "step"]


@helper
def _complete(s, q, now, packet):
    """Count a packet's bytes; its message may now be whole."""
    message = q[packet + layout.MESSAGE]
    left = q[message + layout.M_LEFT] - (q[packet + layout.SIZE] & layout.SIZE_MASK)
    q[message + layout.M_LEFT] = left
    s[layout.PACKETS_ARRIVED] += 1
    s[layout.EVENT_EXTRA] = q[packet + layout.PATH]
    s[layout.EVENT_CODE] = q[packet + layout.SIZE] & layout.SIZE_MASK
    layout.free_record(s, q, packet)
    if left > 0:
        return layout.NO_NEWS
    s[layout.EVENT_WORD] = message
    return layout.MESSAGE_IN


@helper
def _eject(s, q, now, host, packet):
    """Return a packet's credit and complete it, after the NIC's own events of this tick."""
    channel = layout.ejection_channel(s, host)
    return_credit(s, q, channel, now, 0, q[packet + layout.SIZE] & layout.SIZE_MASK)
    h = layout.host_cells(s, host)
    if (
        s[h + layout.QUEUE_DUE] == now
        and q[s[h + layout.QUEUE] + layout.E_CLASS] >> 32 == layout.NIC
    ):
        set_timer(s, q, host, now, layout.NIC, layout.COMPLETE, packet, 0)
        return layout.NO_NEWS
    s[layout.EVENT_OWNER] = layout.NIC
    return _complete(s, q, now, packet)


@inlined
def _data_in(s, q, now, host):
    """Receive a packet; a NIC faster than its link waits for what is left of the arrival."""
    if s[layout.MODEL] == layout.PISCES:
        packet, wait = pisces_nic.take_head(s, q, host)
        if wait > 0:
            set_timer(s, q, host, now + wait, layout.NIC, layout.DRAINED, packet, 0)
            return layout.NO_NEWS
        pisces_nic.release_credits(s, q, now, host, packet)
        return _complete(s, q, now, packet)
    h = layout.host_cells(s, host)
    p = layout.port_cells(s, layout.ejection_channel(s, host))
    packet = take_at_host(s, q, host, h)
    wait = drain_ticks(s, p, q[packet + layout.SIZE] & layout.SIZE_MASK)
    if wait > 0:
        set_timer(s, q, host, now + wait, layout.NIC, layout.EJECT, packet, 0)
        return layout.NO_NEWS
    return _eject(s, q, now, host, packet)


@inlined
def _own_event(s, q, now, host):
    """Handle the first of a host's own events."""
    h = layout.host_cells(s, host)
    event = s[h + layout.QUEUE]
    root = without_root(q, event)
    s[h + layout.QUEUE] = root
    s[h + layout.QUEUE_DUE] = layout.NEVER if root == layout.NOTHING else q[root + layout.E_AT]
    code = q[event + layout.E_CLASS] & 0xFFFFFFFF
    word, extra = q[event + layout.E_WORD], q[event + layout.E_EXTRA]
    layout.free_record(s, q, event)
    s[layout.EVENT_WORD] = word
    s[layout.EVENT_EXTRA] = extra
    s[layout.EVENT_CODE] = code
    if code == layout.ARRIVE:
        return layout.MESSAGE_IN
    if code == layout.INJECTED:
        # SST/macro acknowledges in two steps, so a packet of this tick completes before.
        set_timer(s, q, host, now, layout.NODE, layout.TELL, word, extra)
        return layout.NO_NEWS
    if code == layout.TELL:
        return layout.ACK_IN
    if code == layout.EJECT:
        return _eject(s, q, now, host, word)
    if code == layout.COMPLETE:
        return _complete(s, q, now, word)
    if code == layout.DRAINED:
        pisces_nic.release_credits(s, q, now, host, word)
        return _complete(s, q, now, word)
    if code == layout.BEGIN or code == layout.GO_ON:
        inject(s, q, now, host, word)
        return layout.NO_NEWS
    return layout.TIMER_DUE


@inlined
def step(s, q, now, host):
    """Handle the next event of a host, which is due at tick `now`, and return its kind.

    Returns:
        MESSAGE_IN (a message is here: EVENT_WORD; of the packet that completed it EVENT_EXTRA is
        the routing state and EVENT_CODE the bytes), ACK_IN (a message of this host has been
        injected: EVENT_WORD and EVENT_EXTRA are its word and extra), TIMER_DUE (EVENT_CODE,
        EVENT_WORD and EVENT_EXTRA are the timer's) or NO_NEWS. The caller calls ``settle`` after it
        has done what it will.
    """
    h = layout.host_cells(s, host)
    owner = 9
    if s[h + layout.QUEUE_DUE] == now:
        owner = q[s[h + layout.QUEUE] + layout.E_CLASS] >> 32
    s[layout.EVENT_OWNER] = owner
    if s[h + layout.CREDIT_DUE] == now and owner > layout.CREDIT_IN:
        credit_in(s, q, now, host)
        return layout.NO_NEWS
    if s[h + layout.DATA_DUE] == now and owner > layout.DATA_IN:
        s[layout.EVENT_OWNER] = layout.DATA_IN
        return _data_in(s, q, now, host)
    if owner < 9:
        return _own_event(s, q, now, host)
    arbitrate(s, q, now, host)
    return layout.NO_NEWS
