"""LogP: the overlay that carries negligible messages, and the pure LogP network.

The overlay delivers a message after a fixed delay and its bytes, any number at once. The pure
network keeps the injection side busy for latency and bytes (which delays the next message, not this
one) and lets the receiving side take messages one after the other.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node.layout import (
    EXCHANGE,
    IN_FREE,
    LOGP_IN,
    NIC,
    NODE,
    OUT_FREE,
    P_INJECT_BYTE,
    P_INJECT_LATENCY,
    P_NEGLIGIBLE,
    P_OVERLAY,
    P_OVERLAY_BYTE,
    T_DELIVER,
    T_NOTICE,
    bytes_of,
    kind_of,
    nic_cells,
    span,
)
from kernels.two_node.queues import schedule


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def overlay(s, p, now, node, word):
    """Send a message over the overlay at `now`."""
    delay = p[P_OVERLAY] + span(bytes_of(word), p[P_OVERLAY_BYTE])
    schedule(s, LOGP_IN + 1 - node, now + delay, word, 0)


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def send_message(s, p, now, node, word):
    """Send a message when the injection side is free."""
    leaves = max(now, s[nic_cells(node) + OUT_FREE])
    busy = p[P_INJECT_LATENCY] + span(bytes_of(word), p[P_INJECT_BYTE])
    s[nic_cells(node) + OUT_FREE] = leaves + busy
    if kind_of(word) == EXCHANGE:
        schedule(s, NODE + 3 * (1 - node), leaves + busy, 0, T_NOTICE)
    overlay(s, p, leaves, node, word)


@helper("b1(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def nic_in(s, p, now, node, word):
    """Take a message at the receiving side; return True if it is delivered at once.

    A message that would have begun to arrive before tick 0 is delivered at once: SST/macro
    subtracts unsigned times, and the difference wraps to a very late one.
    """
    if bytes_of(word) < p[P_NEGLIGIBLE]:
        return True
    taking = span(bytes_of(word), p[P_INJECT_BYTE])
    begins = now - taking
    if begins <= 0 or begins > s[nic_cells(node) + IN_FREE]:
        s[nic_cells(node) + IN_FREE] = now
        return True
    s[nic_cells(node) + IN_FREE] += taking
    schedule(s, NIC + 3 * (1 - node), s[nic_cells(node) + IN_FREE], word, T_DELIVER)
    return False
