"""What is still to come of each message at the node that receives it."""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout


@helper
def is_data(word):
    """Return True for the packets of a message that may be long."""
    kind = layout.kind_of(word)
    return kind == layout.PAYLOAD or kind == layout.EAGER


@helper
def count_ahead(s, p, node, word, n):
    """Count some packets of a message at its destination before they are there.

    All but the message's last one change nothing else there.

    Args:
        s: the simulation's state.
        p: the run's parameters.
        node: the destination.
        word: of the packets.
        n: number of packets that are on their way.

    Returns:
        The number that has been counted.
    """
    if not is_data(word):
        return 0
    size = layout.bytes_of(word)
    cell = layout.left_cell(p, word)
    left = layout.left_of(s, p, word)
    counted = min(n, (left - 1) // size)
    if counted > 0:
        if s[cell] == 0:
            s[layout.nic_cells(node) + layout.PARTIAL] += 1
        s[cell] = left - counted * size
        s[layout.EVENT_LEVEL] = layout.PACKET
        s[layout.EVENT_WORD] = word
    return counted


@helper
def packet_completes_message(s, p, node, word):
    """Count a packet at its destination; return True if its message is now complete."""
    cell = layout.left_cell(p, word)
    left = layout.left_of(s, p, word)
    if s[cell] == 0:
        s[layout.nic_cells(node) + layout.PARTIAL] += 1
    left -= layout.bytes_of(word)
    s[cell] = left
    if left == 0:
        s[layout.nic_cells(node) + layout.PARTIAL] -= 1
    return left == 0
