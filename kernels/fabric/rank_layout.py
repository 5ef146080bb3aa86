"""Cells of SST/macro's collective benchmarks: their settings, each rank, the words of messages."""

from __future__ import annotations

from kernels import helper
from kernels.fabric.layout import AT_LAYER, TIMER

CONTROL_BYTES = 64  # of a header or a get request (SST/macro v11.1)
START_BYTES = 256  # of the request to start a rank (SST/macro v11.1)

# Kinds of message: the low bits of its word; then its round and the collective's number.
EAGER, HEADER, GET, PAYLOAD, SENT, START = range(6)
KIND_MASK = 15  # four bits for the six kinds
ROUND_SHIFT, ROUND_MASK = 4, (1 << 24) - 1  # above the kind, 24 bits for the round
NUMBER_SHIFT = 28  # above kind and round

# Settings of the layer.
(
    RANKS,
    N_SIZES,
    ITERATIONS,
    KIND,
    EAGER_CUTOFF,
    HEADER_DELAY,
    RDMA_DELAY,
    LAUNCH_TICKS,
    INIT_COPY,  # ticks of a copy of MPI_Init's element
    INIT_BYTES,
    FINISHED,  # ranks
    LAUNCHED,
    AT_SIZES,
    AT_COPIES,  # ticks of copying 0, 1, ... ranks blocks, for each size
    AT_TIMES,  # ticks of each size's iterations, for each rank
    AT_RANKS,
) = range(16)
N_LAYER = 16  # the settings above

# Cells of a rank.
(
    STARTED,
    BUSY,
    NUMBER,  # of the collective, MPI_Init's being 0; -1 before it
    CHAINS_LEFT,
    STEP,  # + chain
    STEP_1,
    OPEN,  # + chain: actions of the step not yet complete
    OPEN_1,
    RECEIVING,  # + chain: 1 while the step's receive is posted and nothing has come
    RECEIVING_1,
    INBOX,  # + 2 * queue: first and last of what has come
    INBOX_LAST,
    INBOX_1,
    INBOX_1_LAST,
    EARLY,  # messages for later collectives
    EARLY_LAST,
    UNPOSTED,  # messages whose receive is not posted
    UNPOSTED_LAST,
    HELD,  # messages that came before the rank's start
    HELD_LAST,
    SINCE,  # tick of the end of the barrier
    DONE,
    DEPTH,  # entries of the stack
    STACK,  # pairs
) = range(24)
STACK_ROOM = 16  # chosen: a collective begins with at most 5 entries, one leaves at most 2
N_RANK = STACK + 2 * STACK_ROOM

# Entries of the stack: what to do in the low bits, with which chain; and with which record.
COPY, BEGIN_SEND, SEND_NOW, BEGIN_RECEIVE, RECEIVE, ASK, RECEIVED, COMPLETE, TAKE_EARLY, HANDLE = (
    range(10)
)

# Timers.
RESUME, LAUNCH, HAND_OVER = TIMER, TIMER + 1, TIMER + 2


@helper
def rank_cells(s, rank):
    """Return where the cells of a rank begin."""
    return s[s[AT_LAYER] + AT_RANKS] + N_RANK * rank
