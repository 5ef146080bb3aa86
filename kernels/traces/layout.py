"""The numbers that the parts of this package and their callers agree on."""

from __future__ import annotations

COMPUTE, SEND, RECV, ISEND, IRECV, WAIT, COLLECTIVE, ICOLLECTIVE = range(8)
"""Kinds of calls, those of ``workbench.programs.program``."""

ANY_SOURCE, ANY_TAG = -1, 2**32 - 1
MOST_TAG = 2**31 - 1
MOST_BYTES = 2**50  # of a call
MOST_NS = 2**61  # sums of times stay within int64

MOST_FIELDS = 24  # of a line; the longest call has 14

# What is done with a line.
RARE, BLANK, MESSAGE, SENDRECV, ENDS_ONE, ENDS_ARRAY, ENDS_LISTED, GROUP_CALL, NOTHING, TEST = (
    range(10)
)

# Columns of a form: what a line of some name and number of fields holds; 0 is no such field.
(
    S_WHAT,
    S_KIND,  # of the call
    S_MAKES,  # 1 where it makes or frees a communicator
    S_COMM,
    S_COUNT,
    S_TYPE,
    S_PEER,
    S_TAG,
    S_REQUEST,
    S_COUNT2,  # of the receiving side of a call that sends and receives
    S_TYPE2,
    S_PEER2,
    S_TAG2,
    S_STATUS,
    S_FIRST,  # first field of the text that means something as a whole
    S_AFTER,  # the field after that text
) = range(16)
N_FORM = 16

# Columns of a line's values.
V_SIZE, V_PEER, V_TAG, V_COMM, V_REQUEST, V_SIZE2, V_PEER2, V_TAG2 = range(8)
V_TEXT, V_BEGIN, V_END, V_STATUS_END = V_SIZE2, V_SIZE2, V_PEER2, V_TAG2
N_VALUES = 8

# Kinds of texts that are numbered; those of calls are numbers of forms, from 1.
COMM_TEXT, REQUEST_TEXT = -1, -2

# Cells of the state of ``scan``.
TEXTS, NOTABLE = range(2)

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
N_CALL = 13

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
N_STATE = 14

IDLE, GROUP = -1, -2
"""Instead of a call, where a variable has no pending request, and where Python keeps it."""
