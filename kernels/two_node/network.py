"""Where a message enters the wire: the LogP overlay if it is negligible, else the network model."""

from __future__ import annotations

from numba import njit

from kernels.two_node import logp, pisces, protocols, snappr
from kernels.two_node.layout import (
    CONTROL_BYTES,
    EAGER,
    LEFT,
    LOGP,
    P_NEGLIGIBLE,
    P_NETWORK,
    PARTIAL,
    PAYLOAD,
    PISCES,
    SIZE_BYTES,
    SNAPPR,
    bytes_of,
    direction_of,
    index_of,
    kind_of,
    message_cells,
    nic_cells,
    size_entry,
    size_of,
)


@njit("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def inject(s, p, now, node, word):
    """Put a message on the wire at a node."""
    if bytes_of(word) <= p[P_NEGLIGIBLE]:
        logp.overlay(s, p, now, node, word)
    elif p[P_NETWORK] == SNAPPR:
        snappr.send_message(s, p, now, node, word)
    elif p[P_NETWORK] == LOGP:
        logp.send_message(s, p, now, node, word)
    elif p[P_NETWORK] == PISCES:
        pisces.send_message(s, p, now, node, word)
    else:
        protocols.send_message(s, p, now, node, word)


@njit("b1(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def packet_completes_message(s, p, node, word):
    """Count a packet at its destination; return True if its message is now complete."""
    kind = kind_of(word)
    cell = message_cells(p, direction_of(word), index_of(word)) + LEFT + kind
    left = s[cell]
    if left == 0:
        left = CONTROL_BYTES
        if kind in (PAYLOAD, EAGER):
            left = size_entry(p, size_of(s, p, word), SIZE_BYTES)
        s[nic_cells(node) + PARTIAL] += 1
    left -= bytes_of(word)
    s[cell] = left
    if left == 0:
        s[nic_cells(node) + PARTIAL] -= 1
    return left == 0
