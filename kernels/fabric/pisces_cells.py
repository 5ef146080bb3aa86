"""Where PISCES' own state is: arbiters, the crossbar's side of each lane, cells of its packets."""

from __future__ import annotations

from kernels import helper, kernel
from kernels.fabric import layout
from kernels.fabric.arbiters import make_idle

# Cells of the model's room: kinds of arbiters, the ticks a byte takes through a crossbar; then each
# router's, an arbiter for each channel, and the crossbar's side of each lane.
CROSSBAR_KIND, LINK_KIND, INJECTION_KIND, CROSSBAR_BYTE = range(4)
N_MODEL = 4  # the cells above, before those of routers
# A router's: the crossbar's arbiter, and packets on their way to buffers, in order.
BUFFER_FIRST, BUFFER_LAST = 1, 2
N_OF_ROUTER = 3  # the arbiter and the two above
# A lane's: CREDITS, PENDING_FIRST and PENDING_LAST of the crossbar, as the buffer has them among a
# port's lanes; for each of the two a size that no packet that waits stays below; and credits on
# their way from the buffer back to the crossbar, in order.
LEAST, LEAST_IN_BUFFER, BACK_FIRST, BACK_LAST = 3, 4, 5, 6
N_LANE = 7  # the three that a port's lanes have too, and the four above

DELAY = layout.OF_MODEL
"""Cell of a packet: how many ticks apart its bytes are."""
ORDER_SHIFT = 32
"""On its way to a buffer a packet's CAME_BY is order << 32 | channel << 8 | lane."""
B_NEXT = layout.E_SECOND
"""Cell of a credit on its way back; it is an event as well, with an order of its own."""


def room(routers, channels, lanes):
    """Return how many cells of state the model needs.

    Args:
        routers: number of routers.
        channels: number of channels, those to and from hosts included.
        lanes: lanes of each channel.
    """
    return N_MODEL + N_OF_ROUTER * routers + channels + N_LANE * channels * lanes


@helper
def crossbar_cell(s, router):
    """Return where the arbiter of a router's crossbar is, and the router's other cells begin."""
    return s[layout.AT_MODEL] + N_MODEL + N_OF_ROUTER * router


@helper
def channel_cell(s, channel):
    """Return where the arbiter of a channel is."""
    return s[layout.AT_MODEL] + N_MODEL + N_OF_ROUTER * s[layout.N_ROUTERS] + channel


@helper
def crossbar_lane(s, channel, lane):
    """Return where the crossbar's cells of a channel's lane begin."""
    first = (
        s[layout.AT_MODEL]
        + N_MODEL
        + N_OF_ROUTER * s[layout.N_ROUTERS]
        + s[layout.N_BETWEEN]
        + 2 * s[layout.N_HOSTS]
    )
    return first + N_LANE * (channel * s[layout.N_LANES] + lane)


@kernel(cache=True, nogil=True)
def start(s, q):
    """Make all arbiters idle and give the crossbars the credits that the buffers have.

    The kinds, ``CROSSBAR_BYTE`` and the lanes' credits must be set, and a record be free for each
    router and channel.
    """
    model = s[layout.AT_MODEL]
    for router in range(s[layout.N_ROUTERS]):
        make_idle(s, q, crossbar_cell(s, router), s[model + CROSSBAR_KIND])
    inward = s[layout.N_BETWEEN] + s[layout.N_HOSTS]
    for channel in range(inward + s[layout.N_HOSTS]):
        kind = s[model + (LINK_KIND if channel < inward else INJECTION_KIND)]
        make_idle(s, q, channel_cell(s, channel), kind)
        for lane in range(s[layout.N_LANES]):
            x = crossbar_lane(s, channel, lane)
            s[x + layout.CREDITS] = s[layout.lane_cells(s, channel, lane) + layout.CREDITS]
            s[x + layout.PENDING_FIRST] = layout.NOTHING
            s[x + layout.PENDING_LAST] = layout.NOTHING


@helper
def scarce(s, q):
    """Return whether an event has used up so many records that it should go on in another one."""
    return s[layout.N_FREE] + q.size // layout.RECORD - s[layout.USED] < layout.RECORDS_MARGIN // 2
