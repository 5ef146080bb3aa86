"""Timed events of hosts, in the order in which SST/macro handles them."""

from __future__ import annotations

from kernels import helper
from kernels.fabric import layout
from kernels.fabric.lists import meld


@helper
def settle(s, host, h):
    """Keep the tick of a host's next event; `h` is where its cells begin."""
    due = min(s[h + layout.QUEUE_DUE], s[h + layout.DATA_DUE])
    due = min(due, s[h + layout.CREDIT_DUE])
    s[s[layout.AT_DUE] + s[layout.N_ROUTERS] + host] = min(due, s[h + layout.ARBITRATION])


@helper
def queue_event(s, q, host, event):
    """Put a timed event among a host's own."""
    h = layout.host_cells(s, host)
    q[event + layout.E_CHILD] = layout.NOTHING
    q[event + layout.E_SIBLING] = layout.NOTHING
    root = meld(q, s[h + layout.QUEUE], event)
    s[h + layout.QUEUE] = root
    s[h + layout.QUEUE_DUE] = q[root + layout.E_AT]
    due = s[layout.AT_DUE] + s[layout.N_ROUTERS] + host
    s[due] = min(s[due], s[h + layout.QUEUE_DUE])


@helper
def set_timer(s, q, host, at, owner, code, word, extra):
    """Schedule an event of a host's own.

    Args:
        s: the state.
        q: the records.
        host: whose event it is.
        at: its tick.
        owner: NIC, OS or NODE, which says what comes first in one tick; then the order of setting.
        code: TIMER or more, for the host layer; below, for this file.
        word: given back with the event.
        extra: likewise.
    """
    event = layout.take_record(s, q)
    h = layout.host_cells(s, host)
    s[h + layout.SEQUENCE] += 1
    q[event + layout.E_AT] = at
    q[event + layout.E_CLASS] = owner << 32 | code
    q[event + layout.E_ORDER] = s[h + layout.SEQUENCE]
    q[event + layout.E_SECOND] = 0
    q[event + layout.E_WORD] = word
    q[event + layout.E_EXTRA] = extra
    queue_event(s, q, host, event)
