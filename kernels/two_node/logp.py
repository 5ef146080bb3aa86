"""LogP: the overlay that carries negligible messages, and the pure LogP network.

The overlay delivers a message after a fixed delay and its bytes, any number at once. The pure
network keeps the injection side busy for latency and bytes (which delays the next message, not this
one) and lets the receiving side take messages one after the other.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.queues import schedule


@helper
def overlay(s, p, now, node, word):
    """Send a message over the overlay at `now`."""
    delay = p[layout.P_OVERLAY] + layout.span(layout.bytes_of(word), p[layout.P_OVERLAY_BYTE])
    schedule(s, layout.LOGP_IN + 1 - node, now + delay, word, 0)


@helper
def send_message(s, p, now, node, word):
    """Send a message when the injection side is free."""
    leaves = max(now, s[layout.nic_cells(node) + layout.OUT_FREE])
    busy = p[layout.P_INJECT_LATENCY] + layout.span(layout.bytes_of(word), p[layout.P_INJECT_BYTE])
    s[layout.nic_cells(node) + layout.OUT_FREE] = leaves + busy
    if layout.kind_of(word) == layout.EXCHANGE:
        schedule(s, layout.NODE + 3 * (1 - node), leaves + busy, 0, layout.T_NOTICE)
    overlay(s, p, leaves, node, word)


@helper
def nic_in(s, p, now, node, word):
    """Receive a message; return True if it is delivered at once.

    A message that would have begun to arrive before tick 0 is delivered at once: SST/macro
    subtracts unsigned times, and the difference wraps to a very late one.
    """
    if layout.bytes_of(word) < p[layout.P_NEGLIGIBLE]:
        return True
    taking = layout.span(layout.bytes_of(word), p[layout.P_INJECT_BYTE])
    begins = now - taking
    if begins <= 0 or begins > s[layout.nic_cells(node) + layout.IN_FREE]:
        s[layout.nic_cells(node) + layout.IN_FREE] = now
        return True
    s[layout.nic_cells(node) + layout.IN_FREE] += taking
    schedule(
        s,
        layout.NIC + 3 * (1 - node),
        s[layout.nic_cells(node) + layout.IN_FREE],
        word,
        layout.T_DELIVER,
    )
    return False
