"""The state and the parameters of the two-node simulation, each one flat int64 array.

``s`` is all that changes, ``p`` all that does not; the names here are positions in them. One flat
array because compiled code passes it at no cost, where a tuple of arrays is counted in and out at
each call, and because a state is then saved and compared in one loop.

Every list of the simulation is a *row*: a ring buffer of entries of five cells, ``AT`` (tick of
an event, or bytes left), ``WORD``, ``EXTRA``, ``GAP`` and ``DELAY`` (ticks between the bytes of a
PISCES packet). Rows 0 to ``N_EVENT - 1`` hold scheduled
events, one row for each link or component of SST/macro, in the order in which SST/macro breaks ties
between events of one tick; the other rows are plain FIFO lists. A *word* names a message and a
byte count in one integer: ``bytes << 24 | index << 4 | direction << 3 | kind``. Packets and credits
move in *trains*: one entry is ``EXTRA`` equal ones, ``GAP`` ticks apart from ``AT`` on.
"""

from __future__ import annotations

import numpy as np

from kernels import helper

NEVER = np.int64(2**63 - 1)  # the greatest int64, later than all that is due
CLOCK_END = 3 * 2**61
"""The tick at which a run is given up: 692 s. What is scheduled then still fits into 64 bits."""

# Kinds of wire message; 0 marks a word that names none (credits, timers).
EAGER = 1  # payload sent at once (SST/macro's EAGER0)
HEADER = 2  # 64 B announcement of EAGER1 and rendezvous
GET = 3  # 64 B RDMA get request, answered by the NIC
PAYLOAD = 4  # the answer to a get
ACK = 5  # 64 B software acknowledgement of rendezvous
EXCHANGE = 6  # of MPI_Init and MPI_Barrier, or what starts node 1; its index is its number
N_KINDS = 7  # the six and 0
CONTROL_BYTES = 64  # of headers, get requests and software acknowledgements (SST/macro v11.1)
INIT_BYTES = 12  # what the ranks add up in MPI_Init
LAUNCH_BYTES = 256  # of the message that starts a program (SST/macro v11.1)
LAUNCH = 2**20 - 1  # number of the message that starts the program of node 1

# Rows that hold events. Node d sends in direction d, towards node 1 - d.
LOGP_IN = 0  # + node: message over the LogP overlay
NIC_CREDIT = 2  # + 2 * node: credit from the switch; + 1: packet from the NIC at the switch
SWITCH_IN = 3  # + 2 * node
NIC_IN = 6  # + 2 * node: packet at the NIC; + 1: that NIC's credit back at the switch
PORT_CREDIT = 7  # + 2 * node
# The switch's own timers. SNAPPR: + source: packets whose tails the switch waits for. PISCES:
# packets at output buffers and, see lookahead.py, the credits that these return to the crossbar.
SWITCH = 10
XBAR_CREDIT = 11  # SNAPPR's of source 1, PISCES' credits
NIC = 12  # + 3 * (1 - node): the NIC's own timers; then the OS's and the node's
OS = 13  # + 3 * (1 - node)
NODE = 14  # + 3 * (1 - node)
N_EVENT = 18  # the rows above: the last are NIC, OS and NODE of node 0

# Rows that are plain FIFO lists.
INJECT = 18  # + node: messages not yet cut into packets (at = bytes left)
PENDING = 20  # + port: packets that wait for credit
INBOX = 24  # + node: messages the MPI thread has not looked at
UNEXPECTED = 26  # + node: messages that arrived before their receive was posted
XBAR_PENDING = 28  # + direction: PISCES packets that wait for room in an output buffer
N_ROWS = 30  # all rows: the last are XBAR_PENDING's two

AT, WORD, EXTRA, GAP, DELAY = range(5)  # cells of an entry
N_ENTRY = 5  # the cells above

# Ports 0, 1 are the NICs' injection ports, 2, 3 the switch's ejection ports, by direction.
# PISCES bounds the packets that wait from below.
NEXT_FREE, CREDITS, XBAR_CREDITS, LEAST_PENDING, LEAST_AT_XBAR = range(5)
N_PORT = 5  # the cells above
# Codes of timers, in `extra`; of a packet at the NIC, whether it is to be counted when it is
# complete, its credit to be returned, or both.
T_COMPLETE, T_HOST, T_DELIVER, T_LAUNCH, T_NOTICE, T_COMPLETE_RETURN, T_RETURN = range(7)
# What has just happened, and the level of recurrence.py it is a checkpoint of.
PACKET, WHOLE_MESSAGE, WHOLE_WINDOW = 1, 2, 3

# Cells of a NIC.
BUFFER, PARTIAL, OUT_FREE, IN_FREE, NOT_INJECTED = range(5)
N_NIC = 5  # the cells above

# Cells of a host. Counts restart with each window of messages.
(
    STEP,  # what the MPI program does now, see host.py
    BUSY,  # 1 while the thread computes
    ACTION,  # what follows the computation
    MESSAGE,  # the word ACTION is about
    IN_ORDER,  # 1 while a sequenced message is being handled
    N_HELD,  # messages that arrived ahead of their sequence number
    POSTED,  # sends started
    SENT,  # sends complete
    OPEN,  # receives posted and not matched
    POSTED_RECEIVES,  # receives posted
    RECEIVED,  # receives complete
    NEXT_SEQUENCE,  # expected sequence number of the other side
    WINDOW,  # windows finished of the current size
    SIZE,  # index of the current size
    STARTED,  # tick at which the measured windows began
    MEMORY_FREE,  # tick at which the memory link is free
    CHANNEL,  # memory channel the next chunk goes through
    NUMBER,  # of the exchange under way, or the next one
    NOTICED,  # whether its own message has left: NOT_YET, THERE or TAKEN
    CAME,  # the same for the other side's message
    CAME_EARLY,  # the same for that of the exchange after it
) = range(21)
N_HOST = 21  # the cells above
NOT_YET, THERE, TAKEN = range(3)  # states of a message of an exchange

# Cells of an MPI message under way: its size's index, whether it is ahead of its sequence (the
# kind of the message held), and the bytes left of a partly received message of each kind.
MESSAGE_SIZE, HELD, LEFT = 0, 1, 2
N_MESSAGE = LEFT + N_KINDS

# Parameters of a run; times in ticks of 1e-16 s, byte delays in ticks per byte.
(
    P_NETWORK,
    P_REPAIRED,
    P_NEGLIGIBLE,
    P_OVERLAY,  # fixed delay of the LogP overlay
    P_OVERLAY_BYTE,
    P_EAGER0_MAX,
    P_EAGER1_MAX,
    P_HEADER_DELAY,
    P_RDMA_DELAY,
    P_MTU,
    P_FLOW_CONTROL,
    P_NIC_CREDITS,
    P_SWITCH_CREDITS,
    P_BUFFER,
    P_INJECT_LATENCY,
    P_EJECT_LATENCY,
    P_INJECT_BYTE,
    P_LINK_BYTE,
    P_NIC_BYTE,
    P_XBAR_BYTE,
    P_INJECT_ARBITER,
    P_XBAR_ARBITER,
    P_LINK_ARBITER,
    P_CONGESTION,
    P_INJECT_FLIT,  # ticks a flit adds to each packet at the injection port
    P_LINK_FLIT,
    P_WINDOW,  # messages a window
    P_SHORT_REPLY,  # index of the reply's size, -1 where it is as long as the message
    P_FIRST,  # index of the first size of the test
    P_LAST,  # index behind the last one
    P_BARRIER,  # 1 where MPI_Barrier stands before each size
    P_N_SIZES,  # rows of the table below
    P_CHANNELS,  # memory channels whose state is kept, 0 where they are idle at each copy
    P_CHANNEL_BYTE,
    P_CHUNK,  # bytes of a memory request
    P_CONTROL_FLIGHT,  # flight of headers, requests and acknowledgements (PROTOCOL)
    P_PAUSE,  # index of the size before which the run pauses; P_LAST to run to the end
    P_RESUMED,  # 1 to go on with a state that has paused
    P_MOST_EVENTS,  # events after which a run that keeps no earlier states pauses
    N_PARAMETERS,
) = range(40)
# Behind the parameters stands a table: for each size its bytes, the ticks of a copy, whether the
# copy occupies the node's memory, the bytes that it moves there and the ticks between asking for
# two of them, the ticks of pinning a buffer, for PROTOCOL the ticks its bytes occupy the NIC and
# those they are under way, and the windows before the clock starts and those measured. Behind the
# sizes of the test stand the short reply, the element of MPI_Init, nothing, and the launch.
(
    SIZE_BYTES,
    COPY_TICKS,
    COPY_ON_LINK,
    COPY_BYTES,
    REQUEST_TICKS,
    PIN_TICKS,
    WIRE_TICKS,
    FLIGHT_TICKS,
    WARMUP,
    ITERATIONS,
) = range(10)
N_SIZE_COLUMNS = 10  # the columns above
INIT_ROW, EMPTY_ROW, LAUNCH_ROW = -3, -2, -1  # from the end of the table
SNAPPR, LOGP, PISCES, PROTOCOL = range(4)  # models of the network
SIMPLE, NULL, CUT_THROUGH = range(3)  # SST/macro's kinds of arbiters

# Arbiters of PISCES: one for each NIC, the crossbar, one for each output buffer.
ARBITER_NIC, ARBITER_XBAR, ARBITER_LINK = 0, 2, 3
N_ARBITERS = 5  # two NICs, the crossbar, two output buffers
MAX_EPOCHS = 64  # chosen: idle epochs of an arbiter; where there would be more, FULL is set
CYCLES = 1  # cell of an epoch, after its start

# Positions in the state.
CAPACITY = 0
# Where the results begin: the ticks of each size's measured windows, then for each size whether
# the clock was set back; behind them the ticks at which the memory channels of the nodes are free.
ELAPSED = 1
ROWS = 2  # where the rows' entries begin
FULL = 3  # set when a row has outgrown its capacity
HEAD = 4  # where each row's ring begins
COUNT = HEAD + N_ROWS
DUE = COUNT + N_ROWS  # tick of each event row's first event, NEVER if it has none
PORT = DUE + N_EVENT
NIC_CELLS = PORT + 4 * N_PORT
HOST = NIC_CELLS + 2 * N_NIC
ARBITER_FREE = HOST + 2 * N_HOST  # next free tick of the simple arbiters
N_EPOCHS = ARBITER_FREE + N_ARBITERS  # idle epochs of the cut-through arbiters
EPOCHS = N_EPOCHS + N_ARBITERS  # pairs of start and cycles
WATCH = EPOCHS + 2 * N_ARBITERS * MAX_EPOCHS  # what recurrence.py remembers of its three levels
# For each level and row from INJECT on, since its state was kept: the bytes of a row's message, or
# the packets waiting there, without which all would have gone the same way, see queues.lean_on.
LEEWAY = WATCH + 21
# The level the event just handled is a checkpoint of, 0 for none.
EVENT_LEVEL = LEEWAY + 3 * (N_ROWS - INJECT)
EVENT_WORD = EVENT_LEVEL + 1
CLOCK = EVENT_WORD + 1  # tick of the event handled last
HANDLED = CLOCK + 1  # events handled so far
AT_ONCE = HANDLED + 1  # packets of a train that one event may be about
TRAINS = AT_ONCE + 1  # 0 where every packet is to be handled by itself
NO_TAILS = TRAINS + 1  # 1 where a message's last packet sets the clock back, see arbiters.py
ROW = NO_TAILS + 1  # row of the event handled last
TO_SEND = ROW + 1  # word that a node puts on the wire when its program goes on, 0 for none
MESSAGES = TO_SEND + 1


def state_cells(window: int, n_sizes: int, channels: int, capacity: int) -> int:
    """Return the length of a state whose rows hold `capacity` entries (a power of two)."""
    return (
        MESSAGES + 2 * window * N_MESSAGE + 2 * (n_sizes + channels) + N_ENTRY * N_ROWS * capacity
    )


@helper
def start_state(s, p):
    """Empty a state; the room behind its fixed cells is shared out to the rows."""
    s[ELAPSED] = MESSAGES + 2 * p[P_WINDOW] * N_MESSAGE
    s[ROWS] = s[ELAPSED] + 2 * (p[P_N_SIZES] + p[P_CHANNELS])
    s[CAPACITY] = (s.size - s[ROWS]) // (N_ENTRY * N_ROWS)
    for i in range(CAPACITY + 3, s[ROWS]):
        s[i] = 0
    for row in range(N_EVENT):
        s[DUE + row] = NEVER


@helper
def may_halt(handled):
    """Return True after every 4096th event, when the run may be ended early."""
    return handled & 4095 == 0


@helper
def leeway(level, row):
    """Return the position of a row's leeway at a level of recurrence.py."""
    return LEEWAY + (level - PACKET) * (N_ROWS - INJECT) + row - INJECT


@helper
def port_cells(port):
    """Return where the cells of a port begin."""
    return PORT + N_PORT * port


@helper
def nic_cells(node):
    """Return where the cells of a NIC begin."""
    return NIC_CELLS + N_NIC * node


@helper
def host_cells(node):
    """Return where the cells of a host begin."""
    return HOST + N_HOST * node


@helper
def epoch(arbiter, i):
    """Return the position of an idle epoch of a PISCES arbiter: its start, then its cycles."""
    return EPOCHS + 2 * (arbiter * MAX_EPOCHS + i)


@helper
def message_cells(p, direction, index):
    """Return where the cells of an MPI message of the window under way begin."""
    return MESSAGES + N_MESSAGE * (direction * p[P_WINDOW] + index)


@helper
def message(kind, direction, index, n_bytes):
    """Return the word of a wire message."""
    return n_bytes << 24 | index << 4 | direction << 3 | kind


@helper
def kind_of(word):
    """Return the kind of the wire message a word names."""
    return word & 7


@helper
def direction_of(word):
    """Return the direction of the MPI message a word belongs to (0: node 0 sends it)."""
    return word >> 3 & 1


@helper
def index_of(word):
    """Return the number of the MPI message within its window."""
    return word >> 4 & 0xFFFFF


@helper
def source_of(word):
    """Return the node that puts a wire message on the wire (gets and acks go back)."""
    kind = word & 7
    return word >> 3 & 1 ^ (1 if kind in (GET, ACK) else 0)


@helper
def bytes_of(word):
    """Return the byte count of a word."""
    return word >> 24


@helper
def resized(word, n_bytes):
    """Return the word with another byte count."""
    return word & 0xFFFFFF | n_bytes << 24


@helper
def span(n_bytes, byte_delay):
    """Return the ticks `n_bytes` take; the product is a double, as SST/macro's is."""
    return np.int64(np.float64(byte_delay) * np.float64(n_bytes))


@helper
def size_entry(p, size, column):
    """Return a column of the table of sizes."""
    return p[N_PARAMETERS + N_SIZE_COLUMNS * size + column]


@helper
def size_of(s, p, word):
    """Return the index of the size of the MPI message that a word belongs to."""
    return s[message_cells(p, direction_of(word), index_of(word)) + MESSAGE_SIZE]


@helper
def left_cell(p, word):
    """Return the position of the bytes left of the partly received message of a word."""
    index = 0 if kind_of(word) == EXCHANGE else index_of(word)
    return message_cells(p, direction_of(word), index) + LEFT + kind_of(word)


@helper
def left_of(s, p, word):
    """Return the bytes left of the message of a word; before its first packet all of them."""
    left = s[left_cell(p, word)]
    if left > 0:
        return left
    kind = kind_of(word)
    if kind == EXCHANGE:
        return INIT_BYTES
    if kind in (PAYLOAD, EAGER):
        return size_entry(p, size_of(s, p, word), SIZE_BYTES)
    return CONTROL_BYTES


@helper
def set_back_cell(s, p, size):
    """Return the position of a size's mark that the clock was set back."""
    return s[ELAPSED] + p[P_N_SIZES] + size


@helper
def channel_cell(s, p, node, channel):
    """Return the position of the tick at which a memory channel is free."""
    return s[ELAPSED] + 2 * p[P_N_SIZES] + node * p[P_CHANNELS] + channel
