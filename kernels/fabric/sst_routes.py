"""The routes of SST/macro's routers: one channel for each target, or several taken in turn.

``t[s[AT_ROUTE] + here * routers + target]`` is a channel, or -1 - r for rotor r. A rotor's three
cells at ``s[AT_ROTOR] + 3 * r`` are the first of its channels in ``t``, their number, and whose
turn it is. Several targets may share a rotor.

Lanes: in a torus a packet takes lane 1 where it crosses the edge of a dimension and until it leaves
that dimension, else lane 0 (datelines); elsewhere its lane is a sum over the
channels it has taken (in a dragonfly the global ones).
"""

from __future__ import annotations

from kernels import helper
from kernels.fabric import layout


@helper
def choose(s, t, q, packet, here, target):
    """Return channel << 8 | lane of a packet's next hop from router `here`; not at its target."""
    channel = t[s[layout.AT_ROUTE] + here * s[layout.N_ROUTERS] + target]
    if channel < 0:
        rotor = s[layout.AT_ROTOR] + 3 * (-1 - channel)
        turn = s[rotor + 2]
        channel = t[s[layout.AT_CANDIDATE] + s[rotor] + turn]
        turn += 1
        s[rotor + 2] = turn if turn < s[rotor + 1] else 0
    c = layout.channel_cells(s, channel)
    passage = s[c + layout.PASSAGE]
    if passage < 0:
        lane = q[packet + layout.PATH]
        q[packet + layout.PATH] = lane - 1 - passage
        return channel << 8 | lane
    # Where a packet has come from is in its path: its channel is no longer in a fast cache.
    lane, last = passage & layout.WRAPS, q[packet + layout.PATH]
    if last >> 8 == (passage >> 1) + 1:
        lane |= last & 255
    q[packet + layout.PATH] = ((passage >> 1) + 1) << 8 | lane
    return channel << 8 | lane
