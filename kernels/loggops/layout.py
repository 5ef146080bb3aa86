"""What the replay's kernels agree on: their arguments, numbers of states, costs of bytes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import inlined

SEND, RECV, CALC = 1, 2, 3  # kinds of operations as LogGOPSim's binary numbers them
ANY_SOURCE = -1  # peer of a receive that takes a message from any rank
ANY_TAG = 2**32 - 1  # -1 as the formats' unsigned 32-bit number

OK, HALTED, CLOCK_RAN_OUT, STUCK, TABLE_FULL = range(5)
"""How a run ended; STUCK: operations are left that nothing can start or complete; TABLE_FULL: it
goes on when it is called again with more room."""

# Where a run is: operations and messages queued, hosts begun, receives and messages that have not
# met, channels in use, operations in the heap of ``retries``.
COUNT, BEGUN, UNMET, CHANNELS, QUEUED = range(5)
N_STATE = 5  # the cells above

CLOCK_END = 2**62  # ps, 53 days: a run is given up; what a step adds still fits into int64
NEVER = 2**63 - 1  # the greatest int64, later than all that is due
PS_PER_NS = 1000  # sizes of computations are in ns, times in ps

# What is left of an operation: how many dependencies are open while that is more than 0; 0 while
# it is pending and once it is complete; POSTED for a receive without a message; and sent_by(rank)
# for a send whose message has not met its receive.
POSTED = -1

DEPENDENCY, CPU, NIC, MESSAGE, STARTED = range(5)
"""What an operation waited for last."""

STEPS_BETWEEN_LOOKS = 4096  # chosen: steps between looks at ``halt``


class Program(NamedTuple):
    """The arrays of an ``ExecutionGraph``, with cores and interfaces numbered without gaps.

    Attributes:
        rank_start: int64[ranks + 1].
        kind: uint8[n].
        size: int64[n], bytes or ns.
        peer: int32[n], each a rank or ANY_SOURCE.
        tag: uint32[n].
        cpu: uint8[n].
        nic: uint8[n].
        req_start: int32[n + 1]; who waits for the end of each.
        req_ops: int32[edges].
        ireq_start: int32[n + 1]; who waits for the start of each.
        ireq_ops: int32[edges].
        wild: uint8[ranks], 1 where messages may meet by a wildcard.
    """

    rank_start: NDArray[np.int64]
    kind: NDArray[np.uint8]
    size: NDArray[np.int64]
    peer: NDArray[np.int32]
    tag: NDArray[np.uint32]
    cpu: NDArray[np.uint8]
    nic: NDArray[np.uint8]
    req_start: NDArray[np.int32]
    req_ops: NDArray[np.int32]
    ireq_start: NDArray[np.int32]
    ireq_ops: NDArray[np.int32]
    wild: NDArray[np.uint8]


class Costs(NamedTuple):
    """Parameters of a run.

    Attributes:
        latency: L, ps.
        overhead: o, ps.
        gap: g, ps.
        g_byte: G in ps/B where it is whole, else -1.
        o_byte: O in ps/B where it is whole, else -1.
        g_real: G, ps/B.
        o_real: O, ps/B.
        eager: S, bytes.
        cpus: cores of a rank.
        nics: interfaces of a rank.
        like_libstdcxx: whether ties are as ``std::sort`` leaves them.
    """

    latency: int
    overhead: int
    gap: int
    g_byte: int
    o_byte: int
    g_real: float
    o_real: float
    eager: int
    cpus: int
    nics: int
    like_libstdcxx: bool


class Noise(NamedTuple):
    """Disturbances of the cores, see ``noise.delay``.

    Attributes:
        mode: which kind.
        cells: int64[cores, N_CELLS].
        real: float64[2].
        recorded: int64[2, events + 1].
        total: int64[ranks], out: ps that they took.
    """

    mode: int
    cells: NDArray[np.int64]
    real: NDArray[np.float64]
    recorded: NDArray[np.int64]
    total: NDArray[np.int64]


class Pending(NamedTuple):
    """What is known of each operation while a program runs.

    Attributes:
        left: int32[n], as ``count_dependencies`` gives it; afterwards 0 for what is complete.
        at: int64[n + 1], 0; when it may begin, ps; of a message, when it is there. The last is
            NEVER, for queues without an operation.
        number: uint32[n + 1]; which of two that may begin at once comes first.
        link: int32[n]; the next of a queue, list or ring.
    """

    left: NDArray[np.int32]
    at: NDArray[np.int64]
    number: NDArray[np.uint32]
    link: NDArray[np.int32]


class Kept(NamedTuple):
    """The times of a run, see ``ReplayTimes``; where they are not wanted arrays have length 1.

    Where a cause is a message it is -2 - its send.

    Attributes:
        wanted: whether to keep them.
        start: int64[n], 0.
        begin: int64[n]; of receives only; of sends until the receive is known.
        end: int64[n].
        match: int32[n], -1.
        cause: int32[n], -1; as ``begin``.
        cause_kind: uint8[n].
        post_cause: int32[n], -1.
        post_cause_kind: uint8[n].
    """

    wanted: bool
    start: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    match: NDArray[np.int32]
    cause: NDArray[np.int32]
    cause_kind: NDArray[np.uint8]
    post_cause: NDArray[np.int32]
    post_cause_kind: NDArray[np.uint8]


class Freed(NamedTuple):
    """Room for operations that one event frees, and for what it starts or ends.

    Attributes:
        here: int32[most that become free at once], of its host.
        there: int32[most that become free at once], of another host whose send it lets go.
        sorted: int32[most that become free at once].
        parts: int64[128, 3], of a sort.
        op: int64[3]; what it starts or ends, in LogGOPSim's order.
        at: int64[3], when that is, ps.
        by_start: bool[3], whether it starts.
        elsewhere: bool[3], whether it is the send of another host.
    """

    here: NDArray[np.int32]
    there: NDArray[np.int32]
    sorted: NDArray[np.int32]
    parts: NDArray[np.int64]
    op: NDArray[np.int64]
    at: NDArray[np.int64]
    by_start: NDArray[np.bool_]
    elsewhere: NDArray[np.bool_]


class Clocks(NamedTuple):
    """When each core and interface is free, and, where times are kept, what occupied it last.

    Attributes:
        nexto: int64[cores], ps.
        nextgs: int64[interfaces], ps, for sends.
        nextgr: int64[interfaces], ps, for messages that arrive.
        on_core: int32[cores]; as causes in ``Kept``.
        sent: int32[interfaces].
        taken: int32[interfaces].
    """

    nexto: NDArray[np.int64]
    nextgs: NDArray[np.int64]
    nextgr: NDArray[np.int64]
    on_core: NDArray[np.int32]
    sent: NDArray[np.int32]
    taken: NDArray[np.int32]


def room_for_freed(most: int) -> Freed:
    """Return room for what one event frees.

    Args:
        most: operations that become free at once.
    """
    return Freed(
        np.empty(most + 1, np.int32),
        np.empty(most + 1, np.int32),
        np.empty(most + 1, np.int32),
        np.empty((128, 3), np.int64),
        np.empty(3, np.int64),
        np.empty(3, np.int64),
        np.empty(3, np.bool_),
        np.empty(3, np.bool_),
    )


def idle_clocks(hosts: int, cpus: int, nics: int, wanted: bool) -> Clocks:
    """Return clocks at 0.

    Args:
        hosts: how many.
        cpus: cores of a host.
        nics: interfaces of a host.
        wanted: whether times are kept.
    """
    cores, ports = hosts * cpus, hosts * nics
    return Clocks(
        np.zeros(cores, np.int64),
        np.zeros(ports, np.int64),
        np.zeros(ports, np.int64),
        np.full(cores if wanted else 1, -1, np.int32),
        np.full(ports if wanted else 1, -1, np.int32),
        np.full(ports if wanted else 1, -1, np.int32),
    )


@inlined
def byte_cost(size, whole, real):
    """Return what the bytes after the first cost in ps; nothing for an empty message."""
    if size <= 1:
        return 0
    if whole >= 0:
        return (size - 1) * whole
    return round((size - 1) * real)


@inlined
def sent_by(rank):
    """Return what is left of a send of a rank while its message is on its way; and back again."""
    return -2 - rank
