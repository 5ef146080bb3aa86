"""The numbers that the parts of this package and their callers agree on."""

from __future__ import annotations

import numpy as np

# Cells of `state`.
(
    AT,  # place in the text
    LINE,  # its line, from 1
    OPS,
    DEPS,
    RANKS,  # ranks begun
    NUM_RANKS,  # what the text says, -1 before it has
    INSIDE,  # 1 within the braces of a rank
    FIRST,  # the rank's first operation
    LABELS,  # labels of the rank
    DOUBLE,  # labels that were defined again
    WHERE,  # place of an error
    WANTED,  # what must have stood there
) = range(12)
N_STATE = 12  # the cells above

# What ``parse`` returns.
DONE, MORE_OPS, MORE_DEPS, MORE_RANKS, MORE_SLOTS, MORE_LABELS, WRONG = range(7)

# What must have stood at the place of an error.
(
    W_FIRST,
    W_RANK,
    W_ITEM,
    W_INTEGER,
    W_BYTES,
    W_TO,
    W_FROM,
    W_PEER,
    W_AFTER_PEER,
    W_TAG,
    W_AFTER_TAG,
    W_AFTER_CPU,
    W_AFTER_CALC,
    W_END_OF_LINE,
    W_AFTER_LABEL,
    W_OPERATION,
    W_LABEL,
    W_DEFINED,
    W_BRACE,
    W_END_OF_COMMENT,
    W_CLOSING,
    W_NEXT_RANK,
    W_ALL_RANKS,
    W_NO_MORE_RANKS,
    W_SIZE_RANGE,
    W_PEER_RANGE,
    W_TAG_RANGE,
    W_CPU_RANGE,
    W_NIC_RANGE,
    W_RANKS_RANGE,
    W_OPS_RANGE,
    W_DEPS_RANGE,
    W_AFTER_LAST,
) = range(33)

SEND, RECV, CALC = 1, 2, 3  # kinds of operations as LogGOPSim's binary numbers them
ANY_SOURCE = -1  # as the text writes it
ANY_TAG = 2**32 - 1  # -1 as the formats' unsigned 32-bit number
MOST = 2**31 - 1  # ranks, operations and dependencies: their numbers are int32
TOO_LARGE = 2**63 - 1  # the greatest int64; stands for all numbers from there on
STARTS = np.int64(2**31)
"""Added to the operation waited for where a dependency waits for its start only."""
