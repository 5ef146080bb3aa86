"""What the port models share: packets under way on channels, and credits on their way back."""

from __future__ import annotations

from kernels import helper
from kernels.fabric import layout
from kernels.fabric.lists import add_credit, add_slot, advance_slot, drop_first, replace_first


@helper("void(i8[::1], i8[::1], i8, i8, i8)", _nrt=False)
def put_on_channel(s, q, c, packet, at):
    """Schedule a packet's arrival at the other end of a channel, behind the earlier ones."""
    q[packet + layout.AT] = at
    q[packet + layout.NEXT] = layout.NOTHING
    if s[c + layout.FIRST] != layout.NOTHING:
        q[(s[c + layout.LAST] & layout.POSITION) + layout.NEXT] = packet
        s[c + layout.LAST] = packet
        return
    s[c + layout.FIRST] = packet
    s[c + layout.LAST] = packet
    target = s[c + layout.TARGET]
    if target < s[layout.N_ROUTERS]:
        add_slot(s, target, at, s[c + layout.SLOT_DATA])
    else:
        s[layout.host_cells(s, target - s[layout.N_ROUTERS]) + layout.DATA_DUE] = at
        due = s[layout.AT_DUE] + target
        if at < s[due]:
            s[due] = at


@helper("i8(i8[::1], i8[::1], i8)", _nrt=False)
def take_at_router(s, q, c):
    """Remove the first packet from a channel that leads to a router, whose first event it is."""
    packet = s[c + layout.FIRST] & layout.POSITION
    following = q[packet + layout.NEXT]
    s[c + layout.FIRST] = following
    if following != layout.NOTHING:
        replace_first(s, s[c + layout.TARGET], q[following + layout.AT], s[c + layout.SLOT_DATA])
    else:
        drop_first(s, s[c + layout.TARGET])
    return packet


@helper("i8(i8[::1], i8[::1], i8, i8)", _nrt=False)
def take_at_host(s, q, c, h):
    """Remove the first packet from the channel to the host whose cells begin at `h`."""
    packet = s[c + layout.FIRST] & layout.POSITION
    following = q[packet + layout.NEXT]
    s[c + layout.FIRST] = following
    s[h + layout.DATA_DUE] = (
        layout.NEVER if following == layout.NOTHING else q[following + layout.AT]
    )
    return packet


@helper("void(i8[::1], i8, i8, i8, i8)", _nrt=False, forceinline=True)
def return_credit(s, channel, sent, lane, n_bytes):
    """Send the credit of a packet, at tick `sent`, back to the port it came from."""
    if not s[layout.FLOW_CONTROL]:
        return
    c = layout.channel_cells(s, channel)
    at = sent + s[c + layout.LATENCY]
    add_credit(s, c, at, lane << 32 | n_bytes)
    source = s[c + layout.SOURCE]
    if source < s[layout.N_ROUTERS]:
        if s[c + layout.N_PENDING] > 0:
            advance_slot(s, source, at, s[c + layout.SLOT_CREDIT])
        return
    h = layout.host_cells(s, source - s[layout.N_ROUTERS])
    waits = s[c + layout.N_PENDING] > 0 or s[h + layout.INJECT_FIRST] != layout.NOTHING
    if waits and at < s[h + layout.CREDIT_DUE]:
        s[h + layout.CREDIT_DUE] = at
        due = s[layout.AT_DUE] + source
        if at < s[due]:
            s[due] = at


@helper("i8(i8[::1], i8, i8)", _nrt=False)
def backlog(s, channel, now):
    """Return the ticks of sending that a port has committed itself to at tick `now`.

    Packets that wait for credits are not in it; `N_PENDING` counts them.
    """
    return max(0, s[layout.channel_cells(s, channel) + layout.NEXT_FREE] - now)
