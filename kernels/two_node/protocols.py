"""The wire of a model whose costs depend on the MPI protocol: a NIC for the bytes, then a flight.

What a message costs stands in the table of sizes. Headers, requests and acknowledgements take their
flight and no NIC; SST/macro's own rules do not apply here.
"""

from __future__ import annotations

from kernels import helper
from kernels.two_node.layout import (
    EAGER,
    FLIGHT_TICKS,
    LOGP_IN,
    OUT_FREE,
    P_CONTROL_FLIGHT,
    PAYLOAD,
    WIRE_TICKS,
    kind_of,
    nic_cells,
    size_entry,
    size_of,
)
from kernels.two_node.queues import schedule


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def send_message(s, p, now, node, word):
    """Send a message; one that carries data waits until the NIC has sent the one before."""
    if kind_of(word) != EAGER and kind_of(word) != PAYLOAD:
        schedule(s, LOGP_IN + 1 - node, now + p[P_CONTROL_FLIGHT], word, 0)
        return
    size = size_of(s, p, word)
    sent = max(now, s[nic_cells(node) + OUT_FREE]) + size_entry(p, size, WIRE_TICKS)
    s[nic_cells(node) + OUT_FREE] = sent
    schedule(s, LOGP_IN + 1 - node, sent + size_entry(p, size, FLIGHT_TICKS), word, 0)
