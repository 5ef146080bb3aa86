"""Timed events of hosts, in the order in which SST/macro handles them."""

from __future__ import annotations

from kernels import helper
from kernels.fabric.layout import (
    ARBITRATION,
    AT_DUE,
    CREDIT_DUE,
    DATA_DUE,
    E_AT,
    E_CHILD,
    E_CLASS,
    E_EXTRA,
    E_ORDER,
    E_SECOND,
    E_SIBLING,
    E_WORD,
    N_ROUTERS,
    NOTHING,
    QUEUE,
    QUEUE_DUE,
    SEQUENCE,
    host_cells,
    take_record,
)
from kernels.fabric.lists import (
    meld,
)


@helper("void(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def settle(s, host, h):
    """Keep the tick of a host's next event; `h` is where its cells begin."""
    due = min(s[h + QUEUE_DUE], s[h + DATA_DUE])
    due = min(due, s[h + CREDIT_DUE])
    s[s[AT_DUE] + s[N_ROUTERS] + host] = min(due, s[h + ARBITRATION])


@helper("void(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def queue_event(s, q, host, event):
    """Put a timed event among a host's own."""
    h = host_cells(s, host)
    q[event + E_CHILD] = NOTHING
    q[event + E_SIBLING] = NOTHING
    root = meld(q, s[h + QUEUE], event)
    s[h + QUEUE] = root
    s[h + QUEUE_DUE] = q[root + E_AT]
    due = s[AT_DUE] + s[N_ROUTERS] + host
    s[due] = min(s[due], s[h + QUEUE_DUE])


@helper("void(i8[::1], i8[::1], i8, i8, i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False)
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
    event = take_record(s, q)
    h = host_cells(s, host)
    s[h + SEQUENCE] += 1
    q[event + E_AT] = at
    q[event + E_CLASS] = owner << 32 | code
    q[event + E_ORDER] = s[h + SEQUENCE]
    q[event + E_SECOND] = 0
    q[event + E_WORD] = word
    q[event + E_EXTRA] = extra
    queue_event(s, q, host, event)
