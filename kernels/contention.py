"""A replay's order of events, and its times anew with some cores or interfaces left unlimited.

In a replay with LogGOPSim's semantics every core and interface serves what needs it in some order.
With that order kept, the replay's times are the longest path in a graph: its dependencies and
messages, and for each resource an edge from each event to the next that it serves. Leaving out the
edges of a resource never makes that path longer, so a difference between two replays splits into
parts of at least 0. No event waits for another by chance, as it may when a schedule is made anew.

Events are operations, by their number, and messages as their hosts take them, by n + their send.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import helper, kernel

SEND, RECV, CALC = 1, 2, 3  # kinds of operations as LogGOPSim's binary numbers them

SEND_NIC, RECEIVE_NIC, CPU_BYTES, CPU = range(4)
"""What can be unlimited: the interface as it sends and as it receives, the core as it handles
bytes, the core as a whole."""

_PS_PER_NS = np.int64(1000)  # sizes of computations are in ns, times in ps


class Cores(NamedTuple):
    """Where operations run.

    Attributes:
        cpu: uint8[n].
        nic: uint8[n].
        rank: int32[n].
        held: bool[n], receives that were posted when their core became free.
    """

    cpu: NDArray[np.uint8]
    nic: NDArray[np.uint8]
    rank: NDArray[np.int32]
    held: NDArray[np.bool_]


class Room(NamedTuple):
    """Working arrays of ``makespan``.

    Attributes:
        core_free: int64[ranks * cpus], 0.
        sent_free: int64[ranks * nics], 0.
        took_free: int64[ranks * nics], 0.
        ready: int64[n], 0: when the dependencies of each operation are over; then, of a send, when
            it began.
        half_at: int64[n]: when the first half of a send's message, taken or posted, began.
        half_end: int64[n], -1: when it ended.
    """

    core_free: NDArray[np.int64]
    sent_free: NDArray[np.int64]
    took_free: NDArray[np.int64]
    ready: NDArray[np.int64]
    half_at: NDArray[np.int64]
    half_end: NDArray[np.int64]


@helper
def _sift_up(heap, at, time, late):
    """Move a heap's entry towards its root, to its place."""
    event = heap[at]
    while at > 0:
        parent = (at - 1) >> 1
        if not _before(event, heap[parent], time, late):
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = event


@helper
def _sift_down(heap, top, time, late):
    """Move a heap's root towards the leaves, to its place."""
    event = heap[0]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= top:
            break
        if child + 1 < top and _before(heap[child + 1], heap[child], time, late):
            child += 1
        if not _before(heap[child], event, time, late):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = event


@helper
def _before(one, other, time, late):
    """Whether an event comes first: earlier, or at the same time without occupying anything."""
    if time[one] != time[other]:
        return time[one] < time[other]
    if late[one] != late[other]:
        return late[one] < late[other]
    return one < other


@helper
def _tell(first, ops, op, missing, heap, top, time, late):
    """Count an event off for the operations that wait for it, and queue those that are free."""
    for i in range(first[op], first[op + 1]):
        other = ops[i]
        missing[other] -= 1
        if missing[other] == 0:
            heap[top] = other
            _sift_up(heap, top, time, late)
            top += 1
    return top


@kernel(cache=True, nogil=True)
def order_events(graph, S, time, late, missing, heap, order):
    """Find the order in which a replay's events happened: by time, causes before effects.

    Args:
        graph: ``MatchedGraph``.
        S: largest eager message, bytes.
        time: int64[2 n], ps, of the events.
        late: uint8[2 n], 1 for events that occupy a core, which come last at a time.
        missing: int32[n], dependencies that each operation waits for; 0 afterwards.
        heap: int32[2 n + 1], room.
        order: int32[2 n], out: events.

    Returns:
        How many events there are; fewer than operations and messages where some never happen.
    """
    kind, size, match, req_start, req_ops, ireq_start, ireq_ops = graph
    n = len(kind)
    top = 0
    for op in range(n):
        if missing[op] == 0:
            heap[top] = op
            _sift_up(heap, top, time, late)
            top += 1
    # For each send: how many of its message's two halves, taken and posted, have happened.
    halves = np.zeros(n, np.uint8)
    count = 0
    while top > 0:
        event = heap[0]
        top -= 1
        heap[0] = heap[top]
        if top > 0:
            _sift_down(heap, top, time, late)
        order[count] = event
        count += 1
        if event < n:
            top = _tell(ireq_start, ireq_ops, event, missing, heap, top, time, late)
            if kind[event] == CALC:
                top = _tell(req_start, req_ops, event, missing, heap, top, time, late)
                continue
            if kind[event] == SEND:
                if size[event] <= S:
                    top = _tell(req_start, req_ops, event, missing, heap, top, time, late)
                heap[top] = n + event
                _sift_up(heap, top, time, late)
                top += 1
                continue
            send = match[event]
        else:
            send = event - n
        halves[send] += 1
        if halves[send] == 2:
            if size[send] > S:
                top = _tell(req_start, req_ops, send, missing, heap, top, time, late)
            top = _tell(req_start, req_ops, match[send], missing, heap, top, time, late)
    return count


@helper
def _byte_cost(size, whole, real):
    """Return (s - 1) times a cost per byte in ps, rounded; 0 for messages without bytes."""
    beyond = max(size - 1, 0)
    return beyond * whole if whole >= 0 else np.int64(np.rint(beyond * real))


@helper
def _delay(first, ops, op, until, ready):
    """Delay the operations that depend on one to a time at the earliest."""
    for i in range(first[op], first[op + 1]):
        ready[ops[i]] = max(ready[ops[i]], until)


@kernel(cache=True, nogil=True)
def makespan(graph, cores, order, costs, limited, room):
    """Return when the last event ends, in ps, if only some resources are limited.

    Args:
        graph: ``MatchedGraph``.
        cores: ``Cores``.
        order: int32[events], of ``order_events``.
        costs: ``kernels.loggops.layout.Costs``.
        limited: bool[4], by ``SEND_NIC``, ``RECEIVE_NIC``, ``CPU_BYTES`` and ``CPU``.
        room: ``Room``.
    """
    kind, size, match, req_start, req_ops, ireq_start, ireq_ops = graph
    cpu, nic, rank, held = cores
    core_free, sent_free, took_free, ready, half_at, half_end = room
    L, o, g, S = costs.latency, costs.overhead, costs.gap, costs.eager
    cpus, nics = costs.cpus, costs.nics
    n = len(kind)
    send_nic, receive_nic = limited[SEND_NIC], limited[RECEIVE_NIC]
    cpu_bytes, core_held = limited[CPU_BYTES], limited[CPU]
    last = np.int64(0)
    for event in order:
        if event >= n:
            send = event - n
            host = rank[match[send]]
            core, port = host * cpus + cpu[send], host * nics + nic[send]
            by_byte = _byte_cost(size[send], costs.g_byte, costs.g_real)
            at = ready[send] + o + L
            if receive_nic:
                at = max(at, took_free[port])
            if core_held:
                at = max(at, core_free[core])
            end = at + o + by_byte
            # Without its bytes a message still takes o of the core, when its first byte is there:
            # a later place would hold back those behind it for bytes that occupy nothing.
            core_free[core] = at + o
            if cpu_bytes:
                end = max(end, at + o + _byte_cost(size[send], costs.o_byte, costs.o_real))
                core_free[core] = end
            took_free[port] = at + g + by_byte
        elif kind[event] == RECV:
            send = match[event]
            at = end = ready[event]
            if core_held and held[event]:
                at = end = max(at, core_free[rank[event] * cpus + cpu[event]])
            _delay(ireq_start, ireq_ops, event, at, ready)
        else:
            core = rank[event] * cpus + cpu[event]
            t = ready[event]
            if core_held:
                t = max(t, core_free[core])
            if kind[event] == CALC:
                end = t + size[event] * _PS_PER_NS
            else:
                port = rank[event] * nics + nic[event]
                if send_nic:
                    t = max(t, sent_free[port])
                sent_free[port] = t + g + _byte_cost(size[event], costs.g_byte, costs.g_real)
                ready[event] = t
                end = t + o
                if cpu_bytes:
                    end += _byte_cost(size[event], costs.o_byte, costs.o_real)
            core_free[core] = end
            last = max(last, end)
            _delay(ireq_start, ireq_ops, event, t, ready)
            if kind[event] == CALC or size[event] <= S:
                _delay(req_start, req_ops, event, end, ready)
            continue
        if half_end[send] < 0:
            half_at[send], half_end[send] = at, end
            continue
        if size[send] > S:
            # A synchronous send is let go when its first byte meets the posted receive.
            met = max(half_at[send], at)
            core, port = rank[send] * cpus + cpu[send], rank[send] * nics + nic[send]
            core_free[core] = max(core_free[core], met)
            sent_free[port] = max(sent_free[port], met)
            own_end = ready[send] + o
            if cpu_bytes:
                own_end += _byte_cost(size[send], costs.o_byte, costs.o_real)
            _delay(req_start, req_ops, send, max(met, own_end), ready)
        end = max(half_end[send], end)
        last = max(last, end)
        _delay(req_start, req_ops, match[send], end, ready)
    return last
