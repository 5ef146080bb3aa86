"""The wire of a model whose costs depend on the MPI protocol: a NIC for the bytes, then a flight.

The table of sizes has the costs of a message. Headers, requests and acknowledgements take their
flight and no NIC; SST/macro's own rules do not apply here.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout
from kernels.two_node.queues import schedule


@helper
def send_message(s, p, now, node, word):
    """Send a message; one that carries data waits until the NIC has sent the one before."""
    if layout.kind_of(word) != layout.EAGER and layout.kind_of(word) != layout.PAYLOAD:
        schedule(s, layout.LOGP_IN + 1 - node, now + p[layout.P_CONTROL_FLIGHT], word, 0)
        return
    size = layout.size_of(s, p, word)
    sent = max(now, s[layout.nic_cells(node) + layout.OUT_FREE]) + layout.size_entry(
        p, size, layout.WIRE_TICKS
    )
    s[layout.nic_cells(node) + layout.OUT_FREE] = sent
    schedule(
        s,
        layout.LOGP_IN + 1 - node,
        sent + layout.size_entry(p, size, layout.FLIGHT_TICKS),
        word,
        0,
    )
