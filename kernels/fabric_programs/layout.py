"""The arrays of a program on a fluid network, and the numbers of its states.

Time is int64 ticks of 1e-16 s, as everywhere in the fabric; rates are bytes a tick.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SEND, RECV, CALC = 1, 2, 3  # kinds of operations as LogGOPSim's binary numbers them

TICKS_PER_NS = 10_000_000  # a tick is 1e-16 s

CLOCK_END = 2**61
"""The tick at which a run is given up: 230 s."""

NEVER = 2**63 - 1  # the greatest int64, later than all that is due

OK, HALTED, CLOCK_RAN_OUT, STUCK, FULL = range(5)
"""How a run ended; STUCK: operations are left that nothing starts; FULL: it goes on when it is
called again with more room for flows."""

READY, INJECT, ARRIVE, ACKNOWLEDGED, ENTER = range(5)
"""What happens to an operation: it may start, its message is given to the host's interface, that or
its header is there, the receiver has told its sender that it has all, its message has started
up."""

CODES = 5
"""An event is its operation's number times this, plus what happens to it."""

WAITING, REQUESTED = range(2)
"""Whether the receiver of a message above S has asked for its bytes."""

# Cells of `cells`: events in the heap, flows under way, rounds of sharing, channels whose flows
# have changed, since when, the time, operations that have ended, flows in the heap of finishes,
# how often rates were shared out, flows that were given a rate altogether, most flows at once.
(
    EVENTS,
    FLOWS,
    ROUND,
    STAMP,
    DIRTY,
    DIRTY_SINCE,
    NOW,
    ENDED,
    FINISHES,
    SHARINGS,
    RATES,
    MOST_FLOWS,
) = range(12)
N_CELLS = 12  # the cells above


class Program(NamedTuple):
    """The arrays of an ``ExecutionGraph``, and which message each receive takes.

    Attributes:
        kind: uint8[n].
        size: int64[n], bytes or ns.
        match: int32[n], the other end of each message, -1 for computations.
        req_start: int32[n + 1]; who waits for the end of each.
        req_ops: int32[edges].
        ireq_start: int32[n + 1]; who waits for the start of each.
        ireq_ops: int32[edges].
        core: int32[n], the core that each occupies, of all ranks.
        path: int32[n], number of the path of each send's message, -1 within a host.
        source: int32[paths], the host where each path begins.
    """

    kind: NDArray[np.uint8]
    size: NDArray[np.int64]
    match: NDArray[np.int32]
    req_start: NDArray[np.int32]
    req_ops: NDArray[np.int32]
    ireq_start: NDArray[np.int32]
    ireq_ops: NDArray[np.int32]
    core: NDArray[np.int32]
    path: NDArray[np.int32]
    source: NDArray[np.int32]


class Costs(NamedTuple):
    """What hosts take for messages, and how the network treats them.

    Attributes:
        overhead: o, ticks.
        overhead_byte: O, ticks for each byte after the first.
        eager: S, bytes.
        in_turn: whether a host's messages enter the network one after the other.
        resolution: ticks within which starts and ends of flows share one sharing of rates.
        startup: ticks from the interface to the network, of fluid messages with bytes.
    """

    overhead: int
    overhead_byte: int
    eager: int
    in_turn: bool
    resolution: int
    startup: int


class Pending(NamedTuple):
    """What is known of each operation while a program runs.

    Attributes:
        missing: int32[n], dependencies that are open; -1 once it has started.
        start: int64[n], 0; ticks.
        end: int64[n], -1; ticks.
        arrived: int64[n], -1; of a send, when its message was there, ticks.
        header: uint8[n], 0; of a send above S, whether its header is there.
        phase: uint8[n], 0; of a send above S, WAITING or REQUESTED.
        free_at: int64[cores], 0; ticks.
        queue_next: int32[n]; the next of a host's messages.
        queue_first: int32[hosts], -1.
        queue_last: int32[hosts], -1.
        busy: uint8[hosts], whether a message of the host is entering the network.
    """

    missing: NDArray[np.int32]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    arrived: NDArray[np.int64]
    header: NDArray[np.uint8]
    phase: NDArray[np.uint8]
    free_at: NDArray[np.int64]
    queue_next: NDArray[np.int32]
    queue_first: NDArray[np.int32]
    queue_last: NDArray[np.int32]
    busy: NDArray[np.uint8]


class Events(NamedTuple):
    """A heap of events by (time, item).

    Attributes:
        time: int64[room], ticks.
        item: int64[room].
    """

    time: NDArray[np.int64]
    item: NDArray[np.int64]


class Network(NamedTuple):
    """Channels, the paths over them, and which flows are on each.

    Attributes:
        capacity: float64[channels], bytes a tick.
        path_start: int64[paths + 1].
        path_channel: int32[any]; path p takes those from ``path_start[p]`` on.
        path_weight: float64[any]; the share of a message's bytes that takes each.
        latency: int64[paths], ticks.
        control: int64[paths], ticks of a message without bytes, a header, request or
            acknowledgement.
        limit: the most that one flow may have, bytes a tick.
        first: int32[channels], -1; the first node of a channel's list of flows.
        on: int32[channels], 0; how many flows.
        most: int32[channels], 0; how many there were at once.
        carried: float64[channels], 0; bytes.
        is_dirty: uint8[channels], 0.
        dirty: int32[channels]; those whose flows have changed since rates were shared out.
        touched: int32[channels]; those that a sharing is about.
        seen: int64[channels], 0; the sharing that each took part in last; and of that
        spare: float64[channels], bytes a tick it has left,
        open: int32[channels], how many flows have no rate yet,
        demand: float64[channels], bytes that cross it for each byte of all of these,
        others: int32[channels], how many of its flows take no part.
        key: float64[channels]; a heap of channels by the rate they could give each.
        by_key: int32[channels].
    """

    capacity: NDArray[np.float64]
    path_start: NDArray[np.int64]
    path_channel: NDArray[np.int32]
    path_weight: NDArray[np.float64]
    latency: NDArray[np.int64]
    control: NDArray[np.int64]
    limit: float
    first: NDArray[np.int32]
    on: NDArray[np.int32]
    most: NDArray[np.int32]
    carried: NDArray[np.float64]
    is_dirty: NDArray[np.uint8]
    dirty: NDArray[np.int32]
    touched: NDArray[np.int32]
    seen: NDArray[np.int64]
    spare: NDArray[np.float64]
    open: NDArray[np.int32]
    demand: NDArray[np.float64]
    others: NDArray[np.int32]
    key: NDArray[np.float64]
    by_key: NDArray[np.int32]


class Flows(NamedTuple):
    """The messages under way; slots are used again.

    A flow has a node for each channel of its path, ``slot * stride + place``, by which it is in
    that channel's list.

    Attributes:
        op: int32[slots], the send.
        path: int32[slots].
        rate: float64[slots], bytes a tick.
        rate_before: float64[slots]; before the sharing it took part in last.
        left: float64[slots], bytes that were left at ``since``.
        since: int64[slots], ticks.
        finish: int64[slots], ticks.
        bottleneck: int32[slots], the full channel on which no flow has a higher rate; -1 for none.
        mark: int64[slots], 0; the sharing it took part in last.
        chosen: int32[slots]; the flows of a sharing.
        place: int32[slots], of each in ``order``.
        order: int32[slots], a heap by finish.
        unused: int32[slots]; a stack of slots; those from FLOWS on are free.
        end: int64[slots]; past its last node.
        owner: int32[slots * stride], the slot of each node: quicker than a division.
        channel: int32[slots * stride], of each node.
        weight: float64[slots * stride]; the share of the flow's rate that loads that channel.
        after: int32[slots * stride], the next node of a channel's list.
        before: int32[slots * stride], the one before.
    """

    op: NDArray[np.int32]
    path: NDArray[np.int32]
    rate: NDArray[np.float64]
    rate_before: NDArray[np.float64]
    left: NDArray[np.float64]
    since: NDArray[np.int64]
    finish: NDArray[np.int64]
    bottleneck: NDArray[np.int32]
    mark: NDArray[np.int64]
    chosen: NDArray[np.int32]
    place: NDArray[np.int32]
    order: NDArray[np.int32]
    unused: NDArray[np.int32]
    end: NDArray[np.int64]
    owner: NDArray[np.int32]
    channel: NDArray[np.int32]
    weight: NDArray[np.float64]
    after: NDArray[np.int32]
    before: NDArray[np.int32]


def no_flows(slots: int, stride: int) -> Flows:
    """Return room for flows.

    Args:
        slots: how many may be under way at once.
        stride: channels of the longest path.
    """
    return Flows(
        op=np.zeros(slots, np.int32),
        path=np.zeros(slots, np.int32),
        rate=np.zeros(slots),
        rate_before=np.zeros(slots),
        left=np.zeros(slots),
        since=np.zeros(slots, np.int64),
        finish=np.zeros(slots, np.int64),
        bottleneck=np.zeros(slots, np.int32),
        mark=np.zeros(slots, np.int64),
        chosen=np.zeros(slots, np.int32),
        place=np.zeros(slots, np.int32),
        order=np.zeros(slots, np.int32),
        unused=np.arange(slots, dtype=np.int32),
        end=np.zeros(slots, np.int64),
        owner=np.repeat(np.arange(slots, dtype=np.int32), stride),
        channel=np.empty(slots * stride, np.int32),
        weight=np.empty(slots * stride),
        after=np.empty(slots * stride, np.int32),
        before=np.empty(slots * stride, np.int32),
    )


def more_flows(flows: Flows, stride: int) -> Flows:
    """Return the same flows with twice the room.

    Args:
        flows: as a run that was FULL left them.
        stride: channels of the longest path.
    """
    larger = no_flows(2 * len(flows.op), stride)
    pairs: list[tuple[Any, Any]] = list(zip(flows, larger, strict=True))
    for old, new in pairs:
        new[: len(old)] = old
    return larger


def empty_network(
    capacity: NDArray[np.float64],
    path_start: NDArray[np.int64],
    path_channel: NDArray[np.int32],
    path_weight: NDArray[np.float64],
    latency: NDArray[np.int64],
    control: NDArray[np.int64] | None = None,
    limit: float = np.inf,
) -> Network:
    """Return a network without flows; see ``Network``.

    Args:
        capacity: float64[channels].
        path_start: int64[paths + 1].
        path_channel: int32[any].
        path_weight: float64[any].
        latency: int64[paths].
        control: int64[paths]; None is the latency.
        limit: bytes a tick.
    """
    channels = len(capacity)
    return Network(
        capacity=capacity,
        path_start=path_start,
        path_channel=path_channel,
        path_weight=path_weight,
        latency=latency,
        control=latency if control is None else control,
        limit=float(limit),
        first=np.full(channels, -1, np.int32),
        on=np.zeros(channels, np.int32),
        most=np.zeros(channels, np.int32),
        carried=np.zeros(channels),
        is_dirty=np.zeros(channels, np.uint8),
        dirty=np.zeros(channels, np.int32),
        touched=np.zeros(channels, np.int32),
        seen=np.zeros(channels, np.int64),
        spare=np.zeros(channels),
        open=np.zeros(channels, np.int32),
        demand=np.zeros(channels),
        others=np.zeros(channels, np.int32),
        key=np.zeros(channels),
        by_key=np.zeros(channels, np.int32),
    )
