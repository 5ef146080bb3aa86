"""Where a message enters the wire: the LogP overlay if it is negligible, else the network model."""

from __future__ import annotations

from kernels import helper
from kernels.two_node import logp, pisces, protocols, snappr
from kernels.two_node.layout import (
    CONTROL_BYTES,
    EAGER,
    EXCHANGE,
    INIT_BYTES,
    LEFT,
    LOGP,
    NODE,
    NOT_INJECTED,
    P_NEGLIGIBLE,
    P_NETWORK,
    PARTIAL,
    PAYLOAD,
    PISCES,
    SIZE_BYTES,
    SNAPPR,
    T_NOTICE,
    bytes_of,
    direction_of,
    index_of,
    kind_of,
    message_cells,
    nic_cells,
    size_entry,
    size_of,
)
from kernels.two_node.queues import schedule


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def inject(s, p, now, node, word):
    """Put a message on the wire at a node; that one of an exchange has left is noticed."""
    if bytes_of(word) <= p[P_NEGLIGIBLE]:
        logp.overlay(s, p, now, node, word)
        if kind_of(word) == EXCHANGE:
            schedule(s, NODE + 3 * (1 - node), now, 0, T_NOTICE)
    elif p[P_NETWORK] == SNAPPR:
        if kind_of(word) == EXCHANGE:
            s[nic_cells(node) + NOT_INJECTED] = bytes_of(word)
        snappr.send_message(s, p, now, node, word)
    elif p[P_NETWORK] == LOGP:
        logp.send_message(s, p, now, node, word)
    elif p[P_NETWORK] == PISCES:
        pisces.send_message(s, p, now, node, word)
    else:
        protocols.send_message(s, p, now, node, word)


@helper("b1(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def packet_completes_message(s, p, node, word):
    """Count a packet at its destination; return True if its message is now complete."""
    kind = kind_of(word)
    index = 0 if kind == EXCHANGE else index_of(word)
    cell = message_cells(p, direction_of(word), index) + LEFT + kind
    left = s[cell]
    if left == 0:
        left = INIT_BYTES if kind == EXCHANGE else CONTROL_BYTES
        if kind in (PAYLOAD, EAGER):
            left = size_entry(p, size_of(s, p, word), SIZE_BYTES)
        s[nic_cells(node) + PARTIAL] += 1
    left -= bytes_of(word)
    s[cell] = left
    if left == 0:
        s[nic_cells(node) + PARTIAL] -= 1
    return left == 0
