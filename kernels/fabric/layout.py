"""The state of a network under simulation: what its cells are called.

Three arrays hold everything. ``s`` (int64) is the state: settings, output ports, the calendar,
routers, hosts. ``q`` (int64) is a pool of records of eight cells, used for packets, messages,
runs of equal packets and timed events alike. ``t`` (int32) holds tables that do not change. A
kernel that needs more room in ``s`` or ``q`` says so between two events, and goes on once the
caller has made them longer; no position changes by that.

Time is counted in ticks of 1e-16 s. A *component* is a router or a host, routers first. A
*channel* is an output port with the link behind it, numbered as ``workbench.topology.channels``
does: first those between routers, then those to hosts (ejection), then those from hosts
(injection).

Flat arrays. An array is seven arguments of a
compiled call, and `routing.Routes` is 88, so what is called for every packet is inlined into its
caller (``@inlined``): 14 % less time for the allgather on 512 nodes, 20 to 30 % under
open-loop traffic. Hosts, credits that packets wait for and PISCES' arbiters were inlined later: a
quarter to a third fewer instructions, 20 % more packet-hops a second with SNAPPR on 64 nodes and
on a dragonfly, 60 % more with PISCES (tests/benchmarks/test_fabric.py, test_open_loop.py). What is
called in several places is left a call, for the time to compile. Nothing here allocates.

A network of some hundred nodes does not fit into the processor's second cache, and each event needs
lines that were last used many events ago. So cells that are needed together share lines.
"""

from __future__ import annotations

import numpy as np

from kernels import helper

NEVER = np.int64(2**62)  # later than all that is due: CLOCK_END and a few of the longest delays
CLOCK_END = np.int64(2**61)  # the tick at which a run is given up: 230 s
NOTHING = 0
"""No record: record 0 is never handed out."""

# Status of a run.
OK, DEADLOCK, NO_RECORDS, NO_STATE, HALTED, CLOCK_RAN_OUT, LOST = range(7)

# Settings, the first cells of the state.
(
    N_ROUTERS,
    N_HOSTS,
    N_BETWEEN,  # channels between routers
    N_LANES,
    AT_DUE,  # where the ticks of the components' own next events begin
    AT_TODO,  # where the components' lists of what comes to them in this window are, first and last
    AT_CALENDAR,
    AT_CHANNEL,
    CHANNEL_STEP,  # cells from one channel's to the next one's
    AT_ROUTER,
    AT_HOST,
    AT_ROTOR,
    AT_LAYER,  # room of the host layer
    END,  # end of what is in use
    LOOKAHEAD,  # ticks that no component can affect another within
    WINDOW_END,
    FREE,  # first record of the free list
    USED,  # records handed out at some time, the first one included
    N_FREE,
    LOST_ROOM,  # set where a list could not grow
    ROUTING,  # 0 for the tables of SST/macro's routers, 1 for kernels.fabric.routing
    AT_ROUTE,  # in t: channel, or -1 - rotor, of each pair of routers
    AT_CANDIDATE,  # in t: the channels that rotors turn through
    AT_HOPS,  # in t: hops of each pair of routers on the LogP overlay
    FLOW_CONTROL,
    MTU,
    BUFFER_BYTES,  # of a NIC
    NIC_BYTE,  # ticks a byte takes into a NIC
    NEGLIGIBLE,  # bytes of the largest message on the overlay, -1 for none
    OVERLAY,  # fixed ticks of the overlay
    OVERLAY_BYTE,
    OVERLAY_HOP,
    NOW,
    # What the event that a NIC has just handled means for its host.
    EVENT_WORD,
    EVENT_EXTRA,
    EVENT_CODE,
    EVENT_OWNER,  # of the event that a host handles
    PACKETS_ARRIVED,
    HOPS_TAKEN,  # packets that left an output port, NICs' included
    WINDOWS,  # opened so far
    MODEL,  # SNAPPR or PISCES
    CONGESTION,  # 0 where packets pass a router's ports without waiting
    ADAPTIVE,  # 1 where the routing asks for queue lengths
    AT_MODEL,  # room of the port model
    MESSAGE_BYTE,  # least ticks between the bytes of one message as it enters a NIC, 0 for none
    STARTUP,  # ticks between a message's sending and its entering
    IN_TURN,  # 1 where a host's messages enter one after the other though they enter slowly
    BUCKET_BITS,  # a bucket of the calendar is 2 to the power of this many ticks long
    POSITION_NOW,  # the bucket that the calendar has been turned to
    INTERRUPTED,  # 1 where a window has been left for want of room,
    RESUMED,  # and where the present one is such a window
    AT_PORTS,  # cells that ports share
    LOOKS,  # 1 where the routing looks at all queues when a window opens
    OWN_PORTS,  # 1 where each channel's port has cells of its own, behind those of the three kinds
) = range(54)
N_SETTINGS = 64  # room for those above and a few more, in whole lines of the cache

SNAPPR, PISCES = range(2)  # models

# Cells of a channel, a line of the cache for each thing that is done with it. A packet that leaves
# and has credits needs the first line, which the lanes share, and the second; the credit that goes
# back for it the third line of the channel it came by. A network does not fit into a fast cache, so
# lines are what a hop's time goes to.
(
    NEXT_FREE,  # tick at which the port has sent what it has queued
    WAITING_SINCE,  # tick since when something has been waiting for credits, NEVER if nothing is
    ARRIVES,  # component at the other end, in its place in a packet's CAME_BY
    PASSAGE,  # of SST/macro's routers: -1 - what a lane counts up, or dimension << 1 | WRAPS
    BYTES_SENT,  # statistics
    PACKETS_SENT,
    LAST_START,  # tick at which the last packet that has its credits leaves
    RUN_START,  # tick at which the first of the last packets leaves that leave at equal distances
    RUN_STEP,  # that distance
    RUN_SCHEDULED,  # tick at which it was settled that the first leaves then; -1: it left at once
    N_PENDING,  # packets without credit
    CREDITS_AT,  # ring of credits on their way back: where, its first, how many, room
    CREDITS_FIRST,
    N_CREDITS,
    CREDITS_ROOM,
    LAST_CREDIT,  # tick of the last of all credits so far
    WATCHED,  # tick of the event for the next credit that something waits for, NEVER if none is set
    SOURCE,
    SLOT_DATA,  # place of the packets among what comes to the other end in one tick
    SLOT_CREDIT,  # place of the credits among what comes to the router that sends
    STALLED,  # ticks free to send while something waits for credits,
    MOST_PENDING,  # and most packets without credit at a time
    ENTERS_UNTIL,  # tick until which a host's last packet enters, where messages go in turn
) = range(23)
N_CHANNEL = 24  # the cells above, in whole lines of the cache
LANES_SHARE = 6
"""Cells before those of a channel that share its first line: what two lanes need."""
WRAPS = 1
"""Of a torus' channel: it crosses its dimension's dateline."""

# Cells that all ports between routers share, then all to hosts, then all of hosts; with OWN_PORTS
# those of each channel follow.
BYTE, FLIT, LATENCY = range(3)  # ticks of a byte, ticks added to a packet, and of its way
N_PORT = 3  # cells of a port: the three above
BETWEEN, EJECTION, INJECTION = range(3)  # kinds of ports: between routers, to hosts, of hosts

# A credit's word: bytes, lane, and from PORT_SHIFT on the port that gives it, plus 1.
LANE_BITS = 255 << 32
PORT_SHIFT = 40  # bytes take 32 bits of the word, the lane 8
WITHOUT_PORT = (1 << PORT_SHIFT) - 1

# Cells of a lane of a channel: credits in bytes, and the packets that wait for them. Lanes stand
# before the channel's cells, the first one last.
CREDITS, PENDING_FIRST, PENDING_LAST = range(3)
N_LANE = 3  # cells of a lane: the three above

# Cells of a router: a queue of timed events for port models that need one, and the number of events
# in it so far.
(
    ROUTER_QUEUE,
    N_QUEUED,
    PORTS,  # first of the channels to other routers, if these follow one another
    PORTS_END,
) = range(4)
N_ROUTER = 4  # the cells above

# Cells of a host.
(
    CREDIT_DUE,  # tick of the next credit where something waits for it, else NEVER
    DATA_DUE,  # tick of the next packet's arrival
    QUEUE,  # root of the host's own events
    QUEUE_DUE,  # and the tick of the first
    ARBITRATION,  # tick at which the NIC's port goes on, NEVER if it is idle
    BUFFER,  # bytes left in the NIC's buffer
    INJECT_FIRST,  # messages not yet cut into packets
    INJECT_LAST,
    READY_FIRST,  # runs of packets with credit
    READY_LAST,
    WAIT_FIRST,  # runs of packets without
    WAIT_LAST,
    SEQUENCE,
    ROUTER,
    NEXT_PACKET,
    LEFT_TO_CUT,  # bytes of the first message that are not yet packets
) = range(16)
N_HOST = 16  # the cells above: two lines of the cache

# Cells of a packet. SIZE is number << 32 | bytes, the number being the source host's count; ENDS
# is source host << 42 | target host << 20 | target router; CAME_BY is component << 34 | kind << 32
# | channel << 8 | lane, the component being the one that it comes to; PATH belongs to the routing,
# OF_MODEL to the port model.
AT, NEXT, SIZE, MESSAGE, ENDS, CAME_BY, PATH, OF_MODEL = range(8)
KIND_SHIFT, COMPONENT_SHIFT = 32, 34  # channel and lane take 32 bits of CAME_BY, the kind 2
# Kinds of what comes to a component: a packet, one that has been held back on entry, and a credit
# that packets wait for, which has the cells AT, NEXT and CAME_BY of a packet.
PACKET, HELD, CREDIT = range(3)
HELD_SLOT = 1 << 20
"""Held packets come after all else of a tick."""
RECORD_BITS = 3  # eight cells, a line of the cache
RECORD = 1 << RECORD_BITS
ROUTER_MASK = (1 << 20) - 1  # the lowest 20 bits of ENDS: the target router
HOST_MASK = (1 << 22) - 1  # and above them twice 22 bits: target host and source host
SIZE_MASK = (1 << 32) - 1  # the lower half of a cell that holds two numbers, such as SIZE

# Cells of a message; M_WORD and M_EXTRA belong to the host layer. M_LEFT is how many bytes have not
# come in, M_COMING how many have not left the last router.
M_LEFT, M_NEXT, M_BYTES, M_ENDS, M_WORD, M_EXTRA, M_FLAGS, M_COMING = range(8)
ACKNOWLEDGED = 1
"""Flag of a message whose sender is told when it is injected."""
UNCUT_SHIFT = 8
"""Above its flags a message that enters slowly has the bytes that are not yet packets."""

# Cells of a run of equal packets.
U_MESSAGE, U_NEXT, U_BYTES, U_COUNT, U_TAIL = range(5)

# Cells of a timed event. E_CLASS is owner << 32 | code.
E_AT, E_SIBLING, E_CHILD, E_CLASS, E_ORDER, E_SECOND, E_WORD, E_EXTRA = range(8)
# Owners, in the order of events of one tick at a host; credits and packets come between.
OVERLAY_IN, CREDIT_IN, DATA_IN, NIC, OS, NODE = range(6)
# Codes of the core's own events; a host layer's begin at TIMER.
ARRIVE, INJECTED, TELL, EJECT, COMPLETE, DRAINED, BEGIN, GO_ON, TIMER = range(9)

# What `nic.step` tells a host layer.
NO_NEWS, MESSAGE_IN, ACK_IN, TIMER_DUE = range(4)

RECORDS_MARGIN = 1024  # chosen; PISCES goes on in another event when fewer than half are left
STATE_MARGIN = 1 << 15
"""Free records, and free cells of state, that an event may count on."""


@helper
def span(n_bytes, byte_delay):
    """Return the ticks `n_bytes` take; the product is a double, as SST/macro's is."""
    return np.int64(np.float64(byte_delay) * np.float64(n_bytes))


@helper
def channel_cells(s, channel):
    """Return where the cells of a channel begin."""
    return s[AT_CHANNEL] + s[CHANNEL_STEP] * channel


@helper
def port_cells(s, channel):
    """Return where the cells of a channel's port begin; all of its kind share them if alike."""
    if s[OWN_PORTS]:
        return s[AT_PORTS] + N_PORT * (3 + channel)
    kind = BETWEEN
    if channel >= s[N_BETWEEN]:
        kind = EJECTION if channel < s[N_BETWEEN] + s[N_HOSTS] else INJECTION
    return s[AT_PORTS] + N_PORT * kind


@helper
def lane_cells(s, channel, lane):
    """Return where the cells of a channel's lane begin."""
    return s[AT_CHANNEL] + s[CHANNEL_STEP] * channel - N_LANE * (lane + 1)


@helper
def router_cells(s, router):
    """Return where the cells of a router begin."""
    return s[AT_ROUTER] + N_ROUTER * router


@helper
def host_cells(s, host):
    """Return where the cells of a host begin."""
    return s[AT_HOST] + N_HOST * host


@helper
def injection_channel(s, host):
    """Return the channel from a host into the network."""
    return s[N_BETWEEN] + s[N_HOSTS] + host


@helper
def ejection_channel(s, host):
    """Return the channel from the network to a host."""
    return s[N_BETWEEN] + host


@helper
def todo_cell(s, component):
    """Return the cell of the first record that comes to a component in this window.

    The next cell has the last one, where there is a first.
    """
    return s[AT_TODO] + 2 * component


@helper
def room_left(s, q):
    """Return NO_RECORDS or NO_STATE if the next event might not have enough room, else OK.

    Then the window is interrupted, and goes on when the kernel is called again.
    """
    if s[N_FREE] + (q.size >> RECORD_BITS) - s[USED] < RECORDS_MARGIN:
        s[INTERRUPTED] = 1
        return NO_RECORDS
    if s.size - s[END] < STATE_MARGIN:
        s[INTERRUPTED] = 1
        return NO_STATE
    return OK


@helper
def take_record(s, q):
    """Return the position of a free record's first cell; call `room_left` before.

    The record's cells are not cleared.
    """
    record = s[FREE]
    if record != NOTHING:
        s[FREE] = q[record + 1]
        s[N_FREE] -= 1
        return record
    record = s[USED] * RECORD
    s[USED] += 1
    return record


@helper
def free_record(s, q, record):
    """Give a record back."""
    q[record + 1] = s[FREE]
    s[FREE] = record
    s[N_FREE] += 1
