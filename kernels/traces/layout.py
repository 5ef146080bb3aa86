"""The numbers that the parts of this package and their callers agree on."""

from __future__ import annotations

COMPUTE, SEND, RECV, ISEND, IRECV, WAIT, COLLECTIVE, ICOLLECTIVE = range(8)
"""Kinds of calls, those of ``workbench.programs.program``."""

ANY_SOURCE, ANY_TAG = -1, 2**32 - 1  # of an execution graph, whose tags are uint32
MOST_TAG = 2**31 - 1  # MPI's tags are C ints
MOST_BYTES = 2**50  # of a call
MOST_NS = 2**61  # sums of times stay within int64

MOST_FIELDS = 24  # of a line; the longest call has 14

# What is done with a line.
RARE, BLANK, MESSAGE, SENDRECV, ENDS_ONE, ENDS_ARRAY, ENDS_LISTED, ENDS_ANY, GROUP_CALL = range(9)
NOTHING, TEST = 9, 10  # a call that only takes time; a test, plain where it ended nothing

# Columns of a line's values.
V_SIZE, V_PEER, V_TAG, V_COMM, V_REQUEST, V_PEER2, V_TAG2, V_SIZE2 = range(8)
V_BEGIN, V_END, V_STATUS, V_STATUS_END = V_PEER2, V_TAG2, V_SIZE, V_SIZE2  # lists of requests
V_INDEX = V_PEER  # of the request that ended
V_TEXT = V_SIZE2
N_VALUES = 8  # the columns above

# Columns of a form: what lines of some name and number of fields hold; a field 0 is none.
(
    S_WHAT,
    S_KIND,  # of the call
    S_MAKES,  # 1 where it makes or frees a communicator
    S_COMM,
    S_TYPE,  # of what is sent, or of all
    S_TYPE2,  # of what is received by a call that sends and receives
    S_STATUS,
    S_LIST,  # of requests
    S_NUMBER,  # N_VALUES columns: the field of each value that is a number
) = range(9)
S_TEXT = S_NUMBER + N_VALUES  # for each of TEXT_VALUES: the first field and that after the last
TEXT_VALUES = (V_COMM, V_REQUEST, V_TEXT)
N_FORM = S_TEXT + 2 * len(TEXT_VALUES)

# Kinds of texts that are numbered, as in TEXT_VALUES; others have the number of their form.
COMM_TEXT, REQUEST_TEXT = -1, -2

# Cells of the state of ``scan``.
TEXTS, NOTABLE, LAST_TEXTS = range(3)  # the last has a cell for each of TEXT_VALUES

# Columns of a call.
(
    KIND,
    WORK,  # ns before it
    LINE,
    SIZE,
    PEER,
    TAG,
    COMM,  # index of the communicator
    SHARE,  # index of a rank's arguments of a collective
    FROM,  # source of the message that was received
    FROM_TAG,
    NEXT,  # of what ends in the same wait; of a wait: the first that ends in it
    LAST,  # of a wait: the last that ends in it
    CANCELLED,
) = range(13)
N_CALL = 13  # the columns above

# Cells of the state of a rank.
(
    AT,  # the line that is read next
    CALLS,
    PENDING,  # ns of work before the next call
    CLOCK,  # end of the call before
    HAS_CLOCK,
    START,
    HAS_START,
    WORK_NS,
    MPI_NS,
    ANY,  # the negative rank that is any source
    NUMBERED,  # 1 where requests are numbers, 0 where they are texts
    FIRST_REQUEST,  # the lowest of these numbers
    ODD,  # requests that have no place
    BUSY,  # 1 while Python alone may change requests
) = range(14)
N_STATE = 14  # the cells above

IDLE, GROUP = -1, -2
"""Instead of a call, where a variable has no pending request, and where Python keeps it."""
