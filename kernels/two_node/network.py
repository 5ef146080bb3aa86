"""Where a message enters the wire: the LogP overlay if it is negligible, else the network model."""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout, logp, pisces, protocols, snappr
from kernels.two_node.queues import schedule


@helper
def inject(s, p, now, node, word, of_pisces):
    """Put a message on the wire at a node; that one of an exchange has left is noticed."""
    if layout.bytes_of(word) <= p[layout.P_NEGLIGIBLE]:
        logp.overlay(s, p, now, node, word)
        if layout.kind_of(word) == layout.EXCHANGE:
            schedule(s, layout.NODE + 3 * (1 - node), now, 0, layout.T_NOTICE)
        return
    if layout.kind_of(word) == layout.EXCHANGE:
        s[layout.nic_cells(node) + layout.NOT_INJECTED] = layout.bytes_of(word)
    if of_pisces is not None:
        pisces.serve(s, p, now, layout.INJECT + node, word)
    elif p[layout.P_NETWORK] == layout.SNAPPR:
        snappr.send_message(s, p, now, node, word)
    elif p[layout.P_NETWORK] == layout.LOGP:
        logp.send_message(s, p, now, node, word)
    else:
        protocols.send_message(s, p, now, node, word)
