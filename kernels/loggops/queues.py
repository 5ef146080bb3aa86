"""What waits on each host, and which host comes next.

A host has a queue of computations for each core c, one of sends for each (c, interface), one of
messages that arrive for each (c, interface), and one of receives that are to be posted, in this
order; the queues of all hosts are numbered through. In a queue the first in is the first out,
since times and numbers ascend along it. Only with several cores may an operation be free before
another that was queued earlier; then it waits beside the queue, in a heap by time until its queue's
clock has passed that, and after that in one by number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import helper
from kernels.loggops.layout import CALC, NEVER, SEND


class Queues(NamedTuple):
    """The queues of all hosts, and the order in which hosts come.

    Attributes:
        kinds: queues of a host.
        arrivals: number of a host's first queue of messages.
        posts: number of its queue of receives.
        cpus: cores of a host.
        nics: interfaces of a host.
        heads: int32[queues], first operation of each, -1 where there is none.
        tails: int32[queues].
        future: int32[queues] with several cores, else int32[1]; root of the heap by time.
        ripe: int32[queues] or int32[1]; root of the heap by number.
        below: int32[n] or int32[1]; children of a heap's operation.
        beyond: int32[n] or int32[1].
        due: int64[hosts + 1], ps; when each host's first operation is due; the last is NEVER.
        due_number: int64[hosts + 1]; its number.
        due_queue: int32[hosts + 1]; which of the host's queues it is in.
        leaves: hosts, rounded up to a power of two, at least 2.
        tree: int32[2 * leaves]; each inner node holds the host that comes first of its two
            children's, so the next of all is ``tree[1]``; leaf ``leaves + h`` holds host h.
    """

    kinds: int
    arrivals: int
    posts: int
    cpus: int
    nics: int
    heads: NDArray[np.int32]
    tails: NDArray[np.int32]
    future: NDArray[np.int32]
    ripe: NDArray[np.int32]
    below: NDArray[np.int32]
    beyond: NDArray[np.int32]
    due: NDArray[np.int64]
    due_number: NDArray[np.int64]
    due_queue: NDArray[np.int32]
    leaves: int
    tree: NDArray[np.int32]


def empty_queues(hosts: int, n: int, cpus: int, nics: int) -> Queues:
    """Return queues of hosts without operations.

    Args:
        hosts: how many.
        n: operations of the program.
        cpus: cores of a host.
        nics: interfaces of a host.
    """
    kinds = cpus + 2 * cpus * nics + 1
    leaves = 2
    while leaves < hosts:
        leaves *= 2
    tree = np.full(2 * leaves, hosts, np.int32)
    for host in range(hosts):
        tree[leaves + host] = host
    several = cpus > 1
    return Queues(
        kinds,
        cpus + cpus * nics,
        kinds - 1,
        cpus,
        nics,
        np.full(hosts * kinds, -1, np.int32),
        np.full(hosts * kinds, -1, np.int32),
        np.full(hosts * kinds if several else 1, -1, np.int32),
        np.full(hosts * kinds if several else 1, -1, np.int32),
        np.full(n if several else 1, -1, np.int32),
        np.full(n if several else 1, -1, np.int32),
        np.full(hosts + 1, NEVER, np.int64),
        np.zeros(hosts + 1, np.int64),
        np.zeros(hosts + 1, np.int32),
        leaves,
        tree,
    )


@helper(_nrt=False, forceinline=True)
def queue_of(q, kind, cpu, nic):
    """Return which of a host's queues an operation waits in."""
    if kind == CALC:
        return cpu
    return q.cpus + cpu * q.nics + nic if kind == SEND else q.posts


@helper(_nrt=False, forceinline=True)
def free_at(q, clocks, host, which):
    """Return when a host can take the next operation of one of its queues, ps."""
    if q.kinds == 4:
        # One core, one interface: no divisions.
        if which == 0:
            return clocks.nexto[host]
        if which == 1:
            return max(clocks.nexto[host], clocks.nextgs[host])
        return max(clocks.nexto[host], clocks.nextgr[host]) if which == 2 else 0
    if which < q.cpus:
        return clocks.nexto[host * q.cpus + which]
    if which == q.posts:
        return 0
    pair = which - q.cpus if which < q.arrivals else which - q.arrivals
    port = host * q.nics + pair % q.nics
    own = clocks.nextgs[port] if which < q.arrivals else clocks.nextgr[port]
    return max(clocks.nexto[host * q.cpus + pair // q.nics], own)


@helper(_nrt=False, forceinline=True)
def enqueue(q, pending, queue, op, number):
    """Queue an operation from the time at which it may start.

    Args:
        q: Queues.
        pending: Pending, ``at`` of the operation is known.
        queue: number of the queue among all.
        op: the operation.
        number: decides between two that may begin at once; ascends from call to call.
    """
    pending.number[op] = number
    pending.link[op] = -1
    if q.heads[queue] < 0:
        q.heads[queue] = op
        q.tails[queue] = op
    elif q.cpus == 1 or pending.at[q.tails[queue]] <= pending.at[op]:
        pending.link[q.tails[queue]] = op
        q.tails[queue] = op
    else:
        q.below[op] = -1
        q.beyond[op] = -1
        q.future[queue] = merge(
            np.int64(q.future[queue]), op, q.below, q.beyond, pending.at, pending.number, True
        )


@helper(_nrt=False, forceinline=True)
def take_first(q, pending, host):
    """Take the operation that a host is due to run out of its queue, and return it."""
    which = np.int64(q.due_queue[host])
    queue = host * q.kinds + which
    op = np.int64(q.heads[queue])
    if op >= 0 and pending.number[op] == q.due_number[host]:
        q.heads[queue] = pending.link[op]
        return op
    heap = q.future if which == q.posts or q.ripe[queue] < 0 else q.ripe
    op = np.int64(heap[queue])
    heap[queue] = merge(
        np.int64(q.below[op]),
        np.int64(q.beyond[op]),
        q.below,
        q.beyond,
        pending.at,
        pending.number,
        which == q.posts or q.ripe[queue] < 0,
    )
    return op


@helper(_nrt=False, forceinline=True)
def find_next(q, pending, clocks, host):
    """Find the operation that a host runs next, after its queues or clocks have changed."""
    soonest, soonest_number, soonest_queue = NEVER, np.int64(0), 0
    base = host * q.kinds
    for which in range(q.kinds):
        op = np.int64(q.heads[base + which])
        if op >= 0:
            t = max(pending.at[op], free_at(q, clocks, host, which))
            number = np.int64(pending.number[op])
            if t < soonest or (t == soonest and number < soonest_number):
                soonest, soonest_number, soonest_queue = t, number, which
        if q.cpus > 1:
            t, number = next_beside(q, pending, clocks, host, which)
            if t < soonest or (t == soonest and number < soonest_number):
                soonest, soonest_number, soonest_queue = t, number, which
    q.due[host], q.due_number[host], q.due_queue[host] = soonest, soonest_number, soonest_queue
    update_winners(q, host)


@helper(_nrt=False)
def next_beside(q, pending, clocks, host, which):
    """Return when the first of those beside a queue is due, NEVER if there is none; its number."""
    queue = host * q.kinds + which
    op = np.int64(q.future[queue])
    if which == q.posts:
        return (NEVER, np.int64(0)) if op < 0 else (pending.at[op], np.int64(pending.number[op]))
    free = free_at(q, clocks, host, which)
    while op >= 0 and pending.at[op] <= free:
        rest = merge(
            np.int64(q.below[op]),
            np.int64(q.beyond[op]),
            q.below,
            q.beyond,
            pending.at,
            pending.number,
            True,
        )
        q.future[queue] = rest
        q.below[op] = -1
        q.beyond[op] = -1
        q.ripe[queue] = merge(
            np.int64(q.ripe[queue]), op, q.below, q.beyond, pending.at, pending.number, False
        )
        op = np.int64(rest)
    if q.ripe[queue] >= 0:
        return free, np.int64(pending.number[q.ripe[queue]])
    return (NEVER, np.int64(0)) if op < 0 else (pending.at[op], np.int64(pending.number[op]))


@helper(_nrt=False, forceinline=True)
def update_winners(q, host):
    """Update the tournament after a host's next operation has changed."""
    due, due_number, tree = q.due, q.due_number, q.tree
    node = (q.leaves + host) >> 1
    while node > 0:
        a, b = tree[2 * node], tree[2 * node + 1]
        first = (due[a] < due[b]) | ((due[a] == due[b]) & (due_number[a] < due_number[b]))
        winner = a if first else b
        # A winner that has neither changed nor played is the same all the way up.
        if tree[node] == winner and winner != host:
            break
        tree[node] = winner
        node >>= 1


@helper(_nrt=False)
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


@helper(_nrt=False, forceinline=True)
def precedes(a, b, at, number, by_time):
    """Return whether an operation comes before another."""
    if by_time and at[a] != at[b]:
        return at[a] < at[b]
    return number[a] < number[b]
