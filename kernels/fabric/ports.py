"""What the port models share: packets under way on channels, and credits on their way back."""

from __future__ import annotations

from kernels import helper
from kernels.fabric.layout import (
    AT,
    AT_DUE,
    CREDIT_DUE,
    DATA_DUE,
    FIRST,
    FLOW_CONTROL,
    INJECT_FIRST,
    LAST,
    LATENCY,
    N_PENDING,
    N_ROUTERS,
    NEVER,
    NEXT,
    NEXT_FREE,
    NOTHING,
    POSITION,
    SLOT_CREDIT,
    SLOT_DATA,
    SOURCE,
    TARGET,
    channel_cells,
    host_cells,
)
from kernels.fabric.lists import add_credit, add_slot, advance_slot, drop_first, replace_first


@helper("void(i8[::1], i8[::1], i8, i8, i8)", cache=True, nogil=True, _nrt=False)
def put_on_channel(s, q, c, packet, at):
    """Let a packet's head arrive at the other end of a channel at a tick, behind all before it."""
    q[packet + AT] = at
    q[packet + NEXT] = NOTHING
    if s[c + FIRST] != NOTHING:
        q[(s[c + LAST] & POSITION) + NEXT] = packet
        s[c + LAST] = packet
        return
    s[c + FIRST] = packet
    s[c + LAST] = packet
    target = s[c + TARGET]
    if target < s[N_ROUTERS]:
        add_slot(s, target, at, s[c + SLOT_DATA])
    else:
        s[host_cells(s, target - s[N_ROUTERS]) + DATA_DUE] = at
        due = s[AT_DUE] + target
        if at < s[due]:
            s[due] = at


@helper("i8(i8[::1], i8[::1], i8)", cache=True, nogil=True, _nrt=False)
def take_at_router(s, q, c):
    """Remove the first packet from a channel that leads to a router, whose first event it is."""
    packet = s[c + FIRST] & POSITION
    following = q[packet + NEXT]
    s[c + FIRST] = following
    if following != NOTHING:
        replace_first(s, s[c + TARGET], q[following + AT], s[c + SLOT_DATA])
    else:
        drop_first(s, s[c + TARGET])
    return packet


@helper("i8(i8[::1], i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def take_at_host(s, q, c, h):
    """Remove the first packet from the channel to the host whose cells begin at `h`."""
    packet = s[c + FIRST] & POSITION
    following = q[packet + NEXT]
    s[c + FIRST] = following
    s[h + DATA_DUE] = NEVER if following == NOTHING else q[following + AT]
    return packet


@helper("void(i8[::1], i8, i8, i8, i8)", cache=True, nogil=True, _nrt=False, forceinline=True)
def return_credit(s, channel, sent, lane, n_bytes):
    """Send the credit of a packet, at tick `sent`, back to the port it came from."""
    if not s[FLOW_CONTROL]:
        return
    c = channel_cells(s, channel)
    at = sent + s[c + LATENCY]
    add_credit(s, c, at, lane << 32 | n_bytes)
    source = s[c + SOURCE]
    if source < s[N_ROUTERS]:
        if s[c + N_PENDING] > 0:
            advance_slot(s, source, at, s[c + SLOT_CREDIT])
        return
    h = host_cells(s, source - s[N_ROUTERS])
    if (s[c + N_PENDING] > 0 or s[h + INJECT_FIRST] != NOTHING) and at < s[h + CREDIT_DUE]:
        s[h + CREDIT_DUE] = at
        due = s[AT_DUE] + source
        if at < s[due]:
            s[due] = at


@helper("i8(i8[::1], i8, i8)", cache=True, nogil=True, _nrt=False)
def backlog(s, channel, now):
    """Return the ticks of sending that a port has committed itself to at tick `now`.

    Packets that wait for credits are not in it; `N_PENDING` counts them.
    """
    return max(0, s[channel_cells(s, channel) + NEXT_FREE] - now)
