"""How a host's messages enter the network: all at once, or no faster than one message may.

A message that enters slowly is cut packet by packet: the next one when the bytes of the one before
have entered, and never sooner. Meanwhile other messages of the host may enter, unless they go in
turn.
"""

from __future__ import annotations

from kernels import helper, inlined
from kernels.fabric import layout
from kernels.fabric.timers import set_timer

_FLAGS = (1 << layout.UNCUT_SHIFT) - 1


@helper
def uncut(q, message):
    """Return the bytes of a message that are not yet packets."""
    left = q[message + layout.M_FLAGS] >> layout.UNCUT_SHIFT
    return left if left > 0 else q[message + layout.M_BYTES]


@helper
def append_uncut(s, q, h, message):
    """Queue a message to be cut at the host whose cells begin at `h`."""
    q[message + layout.M_NEXT] = layout.NOTHING
    if s[h + layout.INJECT_FIRST] == layout.NOTHING:
        s[h + layout.INJECT_FIRST] = message
        s[h + layout.LEFT_TO_CUT] = uncut(q, message)
    else:
        q[s[h + layout.INJECT_LAST] + layout.M_NEXT] = message
    s[h + layout.INJECT_LAST] = message


@inlined
def count_cut(s, q, now, host, n_bytes):
    """Cut bytes off the first message of a host; return the bytes that are still to be cut."""
    h = layout.host_cells(s, host)
    message = s[h + layout.INJECT_FIRST]
    left = s[h + layout.LEFT_TO_CUT] - n_bytes
    s[h + layout.LEFT_TO_CUT] = left
    leaves = left == 0
    if s[layout.MESSAGE_BYTE] > 0:
        entered = now + layout.span(n_bytes, s[layout.MESSAGE_BYTE])
        if s[layout.IN_TURN]:
            c = layout.channel_cells(s, layout.injection_channel(s, host))
            s[c + layout.ENTERS_UNTIL] = entered
            set_timer(s, q, host, entered, layout.NIC, layout.GO_ON, layout.NOTHING, 0)
        elif left > 0:
            flags = q[message + layout.M_FLAGS] & _FLAGS
            q[message + layout.M_FLAGS] = left << layout.UNCUT_SHIFT | flags
            set_timer(s, q, host, entered, layout.NIC, layout.GO_ON, message, 0)
            leaves = True
    if leaves:
        following = q[message + layout.M_NEXT]
        s[h + layout.INJECT_FIRST] = following
        if following != layout.NOTHING:
            s[h + layout.LEFT_TO_CUT] = uncut(q, following)
    return left
