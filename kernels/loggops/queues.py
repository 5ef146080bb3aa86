"""What waits on each host, and which host comes next.

A host has queues for each core: one of computations, one of sends for each interface, one of
messages that arrive for each interface, in this order; and after those of all cores one of receives
that are to be posted. The queues of all hosts are numbered through. In a queue the first in is the
first out, since times and numbers ascend along it. Only with several cores may an operation be free
before another that was queued earlier; then it waits beside the queue, in a heap by time until its
queue's clock has passed that, and after that in one by number.

The tournament is over hosts; over their lanes (``lanes``) where they have several cores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import helper, inlined
from kernels.loggops.layout import CALC, NEVER, SEND

HEAD, TAIL, FUTURE, RIPE = range(4)  # the cells of a queue, in the order below
CELLS = 4
"""Cells of a queue: its first and its last operation, which are ``none`` where there is none; and
the roots of the heap by time and of that by number, -1 where they are empty."""


class Queues(NamedTuple):
    """The queues of all hosts, and the order in which hosts come.

    Attributes:
        kinds: queues of a host.
        of_core: queues of a core.
        posts: number of a host's queue of receives.
        cpus: cores of a host.
        nics: interfaces of a host.
        none: n, at which ``Pending`` has an operation that is never due.
        cells: int32[queues * CELLS]; a core's queues lie together, 3 in a line of the cache.
        below: int32[n] or int32[1]; children of a heap's operation.
        beyond: int32[n] or int32[1].
        lanes: lanes of a host; 1 with one core.
        due: int64[all lanes + 1], ps; when the first operation of each is due, or, with several
            cores, a time before that; the last is NEVER.
        due_number: int64[all lanes + 1]; its number.
        due_queue: int32[all lanes + 1]; which of the host's queues it is in.
        leaves: all lanes, rounded up to a power of two, at least 2.
        tree: int32[2 * leaves]; each inner node holds the lane that comes first of its two
            children's, so the next of all is ``tree[1]``; leaf ``leaves + i`` holds lane i.
        places: cores, rounded up to a power of two.
        parked: int64[hosts, 2 * nics, 2 * places], flat, or int64[1] with one core: for each
            interface's sends, then its messages, a tournament by the number of what waits for it.
    """

    kinds: int
    of_core: int
    posts: int
    cpus: int
    nics: int
    none: int
    cells: NDArray[np.int32]
    below: NDArray[np.int32]
    beyond: NDArray[np.int32]
    due: NDArray[np.int64]
    due_number: NDArray[np.int64]
    due_queue: NDArray[np.int32]
    lanes: int
    leaves: int
    tree: NDArray[np.int32]
    places: int
    parked: NDArray[np.int64]


def empty_queues(hosts: int, n: int, cpus: int, nics: int) -> Queues:
    """Return queues of hosts without operations.

    Args:
        hosts: how many.
        n: operations of the program.
        cpus: cores of a host.
        nics: interfaces of a host.
    """
    of_core = 1 + 2 * nics
    kinds = cpus * of_core + 1
    several = cpus > 1
    lanes = cpus + 2 * nics + 1 if several else 1
    places, leaves = _power_of_two(cpus), _power_of_two(max(hosts * lanes, 2))
    tree = np.full(2 * leaves, hosts * lanes, np.int32)
    tree[leaves : leaves + hosts * lanes] = np.arange(hosts * lanes)
    cells = np.full((hosts * kinds, CELLS), -1, np.int32)
    cells[:, [HEAD, TAIL]] = n
    return Queues(
        kinds,
        of_core,
        kinds - 1,
        cpus,
        nics,
        n,
        cells.ravel(),
        np.full(n if several else 1, -1, np.int32),
        np.full(n if several else 1, -1, np.int32),
        np.full(hosts * lanes + 1, NEVER, np.int64),
        np.zeros(hosts * lanes + 1, np.int64),
        np.zeros(hosts * lanes + 1, np.int32),
        lanes,
        leaves,
        tree,
        places,
        np.full(hosts * 4 * nics * places if several else 1, NEVER, np.int64),
    )


def _power_of_two(least: int) -> int:
    """Return the least power of two that is not less than a number."""
    return 1 << (least - 1).bit_length()


@inlined
def queue_of(q, kind, cpu, nic):
    """Return which of a host's queues an operation waits in."""
    if kind == CALC:
        return cpu * q.of_core
    return cpu * q.of_core + 1 + nic if kind == SEND else q.posts


@inlined
def interface_free(q, clocks, host, way):
    """Return when a host's interface ``way`` is free for sends; from ``nics`` on, for messages."""
    port = host * q.nics + way
    return clocks.nextgs[port] if way < q.nics else clocks.nextgr[port - q.nics]


@inlined
def enqueue(q, pending, queue, op, number):
    """Queue an operation from the time at which it may start.

    Args:
        q: Queues.
        pending: Pending, ``at`` of the operation is known.
        queue: number of the queue among all.
        op: the operation.
        number: decides between two that may begin at once; ascends from call to call.
    """
    cells = q.cells
    cell = queue * CELLS
    pending.number[op] = number
    pending.link[op] = q.none
    if cells[cell + HEAD] == q.none:
        cells[cell + HEAD] = op
        cells[cell + TAIL] = op
    elif q.cpus == 1 or pending.at[cells[cell + TAIL]] <= pending.at[op]:
        pending.link[cells[cell + TAIL]] = op
        cells[cell + TAIL] = op
    else:
        q.below[op] = -1
        q.beyond[op] = -1
        cells[cell + FUTURE] = merge(
            np.int64(cells[cell + FUTURE]),
            op,
            q.below,
            q.beyond,
            pending.at,
            pending.number,
            True,
        )


@inlined
def take_first(q, pending, host, lane):
    """Take the operation that a lane of a host is due to run out of its queue, and return it."""
    cells = q.cells
    which = np.int64(q.due_queue[lane])
    cell = (host * q.kinds + which) * CELLS
    op = np.int64(cells[cell + HEAD])
    if q.cpus == 1 or pending.number[op] == q.due_number[lane]:
        cells[cell + HEAD] = pending.link[op]
        return op
    op = np.int64(cells[cell + RIPE])
    by_time = op < 0 or pending.number[op] != q.due_number[lane]
    cell += FUTURE if by_time else RIPE
    op = np.int64(cells[cell])
    cells[cell] = merge(
        np.int64(q.below[op]),
        np.int64(q.beyond[op]),
        q.below,
        q.beyond,
        pending.at,
        pending.number,
        by_time,
    )
    return op


@inlined
def find_next(q, pending, clocks, host):
    """Find the operation that a host of one core runs next, after its queues or clocks changed."""
    soonest, soonest_number, soonest_queue = NEVER, np.int64(0), np.int64(0)
    cell = host * q.kinds * CELLS + HEAD
    core_free = clocks.nexto[host]
    for which in range(q.kinds):
        op = np.int64(q.cells[cell + which * CELLS])
        free = core_free
        if which > 0:
            free = np.int64(0)
            if which < q.posts:
                free = max(core_free, interface_free(q, clocks, host, which - 1))
        t = max(pending.at[op], free)
        number = np.int64(pending.number[op])
        # Without branches, which nothing could foretell.
        earlier = (t < soonest) | ((t == soonest) & (number < soonest_number))
        soonest = t if earlier else soonest
        soonest_number = number if earlier else soonest_number
        soonest_queue = np.int64(which) if earlier else soonest_queue
    q.due[host], q.due_number[host], q.due_queue[host] = soonest, soonest_number, soonest_queue
    update_winners(q, host)


@inlined
def update_winners(q, lane):
    """Update the tournament after the next operation of a lane has changed."""
    due, due_number, tree = q.due, q.due_number, q.tree
    node = (q.leaves + lane) >> 1
    while node > 0:
        a, b = tree[2 * node], tree[2 * node + 1]
        first = (due[a] < due[b]) | ((due[a] == due[b]) & (due_number[a] < due_number[b]))
        winner = a if first else b
        # A winner that has neither changed nor played is the same all the way up.
        if tree[node] == winner and winner != lane:
            break
        tree[node] = winner
        node >>= 1


@helper
def merge(a, b, left, right, at, number, by_time):
    """Merge two skew heaps and return the root (Sleator and Tarjan 1986, section 2).

    Args:
        a: root of one heap, -1 where it is empty.
        b: root of the other.
        left: int32[n], children of each operation, -1 for none.
        right: int32[n].
        at: int64[n], ps.
        number: uint32[n], breaks ties.
        by_time: whether ``at`` counts at all.
    """
    if a < 0:
        return b
    if b < 0:
        return a
    if precedes(b, a, at, number, by_time):
        a, b = b, a
    root = a
    while True:
        rest = np.int64(right[a])
        right[a] = left[a]
        if rest < 0:
            left[a] = b
            return root
        if precedes(b, rest, at, number, by_time):
            b, rest = rest, b
        left[a] = rest
        a = rest


@inlined
def precedes(a, b, at, number, by_time):
    """Return whether an operation comes before another."""
    if by_time and at[a] != at[b]:
        return at[a] < at[b]
    return number[a] < number[b]
