"""The next operation where hosts have several cores.

A host has a lane for each core, one for each interface's sends, one for its arriving messages, and
one for the receives that are to be posted. The tournament is over the lanes of all hosts. Clocks
never go back, so the time of a lane stays a lower bound while they go on: only a lane that wins is
computed again, until the winner's time is exact.

A queue that waits for its interface alone is parked there, by the number of its first operation:
parked queues stay in order when the interface's clock goes on. So the cost of an event does not
grow with cores and interfaces: with 64 cores a rank 3 to 4 times the events a second of a scan of
the host's queues, with 4 interfaces too 5 to 10 times (tests/benchmarks/test_loggops.py).
"""

from __future__ import annotations

import numpy as np

from kernels import inlined
from kernels.loggops.layout import NEVER, RECV
from kernels.loggops.queues import CELLS, FUTURE, HEAD, RIPE, interface_free, merge, update_winners


@inlined
def lane_of(q, kind, host, cpu):
    """Return the lane of an operation on a core of a host."""
    return host * q.lanes + (q.lanes - 1 if kind == RECV else cpu)


@inlined
def offer(q, lane, t, number, which):
    """Lower the time of a lane to that of a newly queued operation, where it is earlier."""
    if t < q.due[lane] or (t == q.due[lane] and number < q.due_number[lane]):
        set_due(q, lane, t, number, which)


@inlined
def set_due(q, lane, t, number, which):
    """Set the time, number and queue of a lane's first operation."""
    same = t == q.due[lane] and number == q.due_number[lane]
    q.due[lane], q.due_number[lane], q.due_queue[lane] = t, number, which
    if not same:
        update_winners(q, lane)


@inlined
def settle(q, pending, clocks):
    """Compute winning lanes again until the winner's time is exact."""
    while True:
        lane = np.int64(q.tree[1])
        t, number = q.due[lane], q.due_number[lane]
        if t == NEVER:
            return
        host = lane // q.lanes
        place = lane - host * q.lanes
        if place == q.lanes - 1:
            if number >= 0:
                return
            _, first_t, first = first_of(q, pending, host * q.kinds + q.posts, np.int64(-1))
            set_due(q, lane, first_t, first, q.posts)
            continue
        way = place - q.cpus
        root = (host * 2 * q.nics + way) * 2 * q.places + 1
        if way < 0:
            cpu = place
            free = clocks.nexto[host * q.cpus + cpu]
            queue_way = q.due_queue[lane] - cpu * q.of_core - 1
            if queue_way >= 0:
                free = max(free, interface_free(q, clocks, host, queue_way))
            if number >= 0 and free <= t:
                return
        else:
            first = q.parked[root]
            cpu = first & 255
            free = NEVER if first == NEVER else interface_free(q, clocks, host, way)
            if first == NEVER or (number >= 0 and clocks.nexto[host * q.cpus + cpu] <= free):
                if first >> 8 == number and free == t:
                    return
                set_due(q, lane, free, first >> 8, cpu * q.of_core + 1 + way)
                continue
        refresh_core(q, pending, clocks, host, cpu)
        if way >= 0:
            first = q.parked[root]
            free = NEVER if first == NEVER else free
            set_due(q, lane, free, first >> 8, (first & 255) * q.of_core + 1 + way)


@inlined
def refresh_core(q, pending, clocks, host, cpu):
    """Compute the first operation of a core that does not wait for an interface; park the rest."""
    soonest, soonest_number, soonest_queue = NEVER, np.int64(0), np.int64(0)
    core_free = clocks.nexto[host * q.cpus + cpu]
    for way in range(-1, 2 * q.nics):
        which = cpu * q.of_core + 1 + way
        free = core_free if way < 0 else max(core_free, interface_free(q, clocks, host, way))
        ripe, t, number = first_of(q, pending, host * q.kinds + which, free)
        if ripe >= 0 and free == core_free:
            t, number = free, ripe
        if t < soonest or (t == soonest and number < soonest_number):
            soonest, soonest_number, soonest_queue = t, number, which
        if way >= 0:
            waits = ripe >= 0 and free > core_free
            park(q, host, way, cpu, ripe << 8 | cpu if waits else NEVER)
            if waits:
                offer(q, host * q.lanes + q.cpus + way, free, ripe, which)
    set_due(q, host * q.lanes + cpu, soonest, soonest_number, soonest_queue)


@inlined
def first_of(q, pending, queue, free):
    """Find the first operations of a queue before and after its clocks are free.

    Args:
        q: Queues.
        pending: Pending.
        queue: number of the queue among all.
        free: when its clocks are free, ps.

    Returns:
        The least number of the operations that may begin by then, -1 where there is none; when the
        next of the others may begin, NEVER where there is none; and its number.
    """
    at, numbers, cells = pending.at, pending.number, q.cells
    cell = queue * CELLS
    op = np.int64(cells[cell + HEAD])
    t, number, ripe = at[op], np.int64(numbers[op]), np.int64(-1)
    if t <= free:
        t, ripe = NEVER, number
    op = np.int64(cells[cell + FUTURE])
    while op >= 0 and at[op] <= free:
        rest = merge(
            np.int64(q.below[op]), np.int64(q.beyond[op]), q.below, q.beyond, at, numbers, True
        )
        q.below[op] = q.beyond[op] = -1
        cells[cell + RIPE] = merge(
            np.int64(cells[cell + RIPE]), op, q.below, q.beyond, at, numbers, False
        )
        cells[cell + FUTURE] = op = rest
    if op >= 0 and (at[op] < t or (at[op] == t and numbers[op] < number)):
        t, number = at[op], np.int64(numbers[op])
    op = np.int64(cells[cell + RIPE])
    if op >= 0 and (ripe < 0 or numbers[op] < ripe):
        ripe = np.int64(numbers[op])
    return ripe, t, number


@inlined
def park(q, host, way, cpu, key):
    """Set what a core's queue is parked with at an interface: number << 8 | core, or NEVER."""
    parked = q.parked
    root = (host * 2 * q.nics + way) * 2 * q.places
    node = q.places + cpu
    if parked[root + node] == key:
        return
    parked[root + node] = key
    node >>= 1
    while node > 0:
        least = min(parked[root + 2 * node], parked[root + 2 * node + 1])
        if parked[root + node] == least:
            return
        parked[root + node] = least
        node >>= 1
