"""Which receive takes which message: first posted, first arrived, per source and tag.

Receives without wildcards and the messages for them meet in one table of channels (receiver,
sender, tag). A channel holds either receives that wait or messages that wait, never both, in a
ring of operations: two words of the table name the channel and the ring's last operation. A rank
that uses a wildcard keeps two lists instead, which are searched from the front.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import helper, inlined, kernel
from kernels.loggops.layout import ANY_SOURCE, ANY_TAG

FIRST_CAPACITY = 1024  # chosen: channels; a power of two, doubled before more than half are in use

# Odd, below 2^28 or 2^30, so that sums of products stay below 2^63.
_BY_SOURCE, _BY_RECEIVER, _BY_TAG = 0x2545F491, 0x3C6EF372 | 1, 0x9E3779B


class Waiting(NamedTuple):
    """Receives and messages that have not met.

    Attributes:
        table: int64[2 * capacity], a power of two; empty where its second word is 0.
        heads: int32[2 * hosts], of each host's list of receives and its list of messages.
        tails: int32[2 * hosts].
    """

    table: NDArray[np.int64]
    heads: NDArray[np.int32]
    tails: NDArray[np.int32]


def empty_waiting(hosts: int) -> Waiting:
    """Return room for what waits on a number of hosts."""
    return Waiting(
        np.zeros(2 * FIRST_CAPACITY, np.int64),
        np.full(2 * hosts, -1, np.int32),
        np.full(2 * hosts, -1, np.int32),
    )


@inlined
def meet(program, pending, waiting, op, is_message, receiver, source):
    """Return the operation that a receive or message meets, or -1 and let it wait.

    Args:
        program: Program.
        pending: Pending.
        waiting: Waiting.
        op: the receive, or the send of the message.
        is_message: 1 for a message, 0 for a receive.
        receiver: rank of the receive.
        source: rank of the send, or ANY_SOURCE.

    Returns:
        The operation or -1, and by how much the number of channels in use has changed.
    """
    tag = np.int64(program.tag[op])
    if program.wild[receiver] == 0:
        return meet_in_channel(waiting.table, pending.link, op, is_message, receiver, source, tag)
    other = meet_in_lists(
        waiting.heads,
        waiting.tails,
        pending.link,
        program.peer,
        program.tag,
        pending.left,
        op,
        is_message,
        receiver,
        source,
        tag,
    )
    return other, 0


@inlined
def is_full(waiting, channels):
    """Return whether the table needs more room before the next channel comes."""
    return len(waiting.table) < 4 * (channels + 1)


@inlined
def place_of(channel, receiver, mask):
    """Return where a channel would like to be in the table."""
    mixed = (channel >> 32) * _BY_SOURCE + receiver * _BY_RECEIVER + (channel & ANY_TAG) * _BY_TAG
    return (mixed ^ (mixed >> 29)) & mask


def with_more_room(waiting: Waiting) -> Waiting:
    """Return the same with a table of twice the room."""
    larger = np.zeros(2 * len(waiting.table), np.int64)
    move(waiting.table, larger)
    return Waiting(larger, waiting.heads, waiting.tails)


@kernel(cache=True, nogil=True)
def move(table, larger):
    """Move the channels of a table to a larger one.

    Args:
        table: int64[2 * capacity].
        larger: int64[2 * larger capacity], empty.
    """
    mask = len(larger) // 2 - 1
    for i in range(len(table) // 2):
        word = table[2 * i + 1]
        if word != 0:
            j = place_of(table[2 * i], word >> 33, mask)
            while larger[2 * j + 1] != 0:
                j = (j + 1) & mask
            larger[2 * j] = table[2 * i]
            larger[2 * j + 1] = word


@helper
def vacate(table, hole):
    """Empty one place of the table and close the gap, so that no search ends too early."""
    mask = len(table) // 2 - 1
    table[2 * hole + 1] = 0
    at = hole
    while True:
        at = (at + 1) & mask
        word = table[2 * at + 1]
        if word == 0:
            return
        wanted = place_of(table[2 * at], word >> 33, mask)
        # It may move into the hole unless its own place lies after the hole.
        if ((at - wanted) & mask) >= ((at - hole) & mask):
            table[2 * hole] = table[2 * at]
            table[2 * hole + 1] = word
            table[2 * at + 1] = 0
            hole = at


@inlined
def meet_in_channel(table, link, op, is_message, receiver, source, tag):
    """Return the operation that one meets, or -1 and let it wait.

    Args:
        table: int64[2 * capacity], a power of two, not full.
        link: int32[n], the next operation of a ring.
        op: the receive, or the send of the message.
        is_message: 1 for a message, 0 for a receive.
        receiver: rank of the receive.
        source: rank of the send.
        tag: from 0.

    Returns:
        The operation or -1, and by how much the number of channels in use has changed.
    """
    mask = len(table) // 2 - 1
    channel = source << 32 | tag
    i = place_of(channel, receiver, mask)
    while True:
        word = table[2 * i + 1]
        if word == 0:
            table[2 * i] = channel
            table[2 * i + 1] = receiver << 33 | is_message << 32 | (op + 1)
            link[op] = op
            return np.int64(-1), 1
        if table[2 * i] == channel and word >> 33 == receiver:
            break
        i = (i + 1) & mask
    last = (word & ANY_TAG) - 1
    first = np.int64(link[last])
    if (word >> 32) & 1 == is_message:
        link[op] = first
        link[last] = op
        table[2 * i + 1] = receiver << 33 | is_message << 32 | (op + 1)
        return np.int64(-1), 0
    if first != last:
        link[last] = link[first]
        return first, 0
    vacate(table, i)
    return first, -1


@helper
def meet_in_lists(heads, tails, link, peer, tag, left, op, is_message, receiver, source, op_tag):
    """Return the first operation that agrees with one, or -1 and let it wait.

    Args:
        heads: int32[2 * hosts], of each host's waiting receives and of its waiting messages.
        tails: int32[2 * hosts].
        link: int32[n], the next operation of a list.
        peer: int32[n].
        tag: uint32[n].
        left: int32[n], tells the rank of a send.
        op: the receive, or the send of the message.
        is_message: 1 for a message, 0 for a receive.
        receiver: rank of the receive.
        source: rank of the send, or ANY_SOURCE.
        op_tag: its tag, or ANY_TAG.
    """
    others = 2 * receiver + 1 - is_message
    before = np.int64(-1)
    other = np.int64(heads[others])
    while other >= 0:
        if is_message == 1:
            agrees = peer[other] == ANY_SOURCE or peer[other] == source
        else:
            agrees = source == ANY_SOURCE or -2 - left[other] == source
        other_tag = np.int64(tag[other])
        if agrees and (op_tag in (other_tag, ANY_TAG) or other_tag == ANY_TAG):
            if before < 0:
                heads[others] = link[other]
            else:
                link[before] = link[other]
            if link[other] < 0:
                tails[others] = before
            return other
        before = other
        other = np.int64(link[other])
    own = 2 * receiver + is_message
    link[op] = -1
    if heads[own] < 0:
        heads[own] = op
    else:
        link[tails[own]] = op
    tails[own] = op
    return np.int64(-1)
