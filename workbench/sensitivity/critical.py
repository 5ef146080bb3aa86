"""Which operations set a program's time, and how much later the others could be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.loggops.llamp import count_missing, finish_of_ranks
from kernels.sweep import path as kernel
from kernels.sweep import slack as slack_kernel
from kernels.sweep.layout import MESSAGE_WON, RECV, SEND, TAKE, TO_LATEST
from workbench.programs.graph import RECV as OP_RECV
from workbench.programs.graph import SEND as OP_SEND
from workbench.programs.graph import ExecutionGraph
from workbench.sensitivity.packing import Costs, Packed

IntArray = NDArray[np.int64]

_ROOM = 1 << 16


@dataclass(frozen=True, eq=False)
class CriticalPath:
    """A longest path through a program.

    Attributes:
        ops: int64[k], its operations, from the first to the last.
        messages: int64[m], numbers of its messages, in their order.
        latencies: int64[m], how many latencies of each are on it: 1, or 3 to 4 of a rendezvous.
        bytes: int64[m], bytes after the first of each, 0 where they are not on it.
        overheads: how often o is on it.
    """

    ops: IntArray
    messages: IntArray
    latencies: IntArray
    bytes: IntArray
    overheads: int

    def __len__(self) -> int:
        return len(self.ops)


@dataclass(frozen=True, eq=False)
class Slack:
    """How much later things could happen without the program ending later.

    Attributes:
        ops_ps: int64[n], how much later each operation alone could start. A receive may be on a
            critical path with its message alone, and be posted later all the same.
        ends_ps: int64[n], how much later each operation alone could end. On critical paths one of
            the two is 0.
        ranks_ps: int64[ranks], how much later each rank could end.
    """

    ops_ps: IntArray
    ends_ps: IntArray
    ranks_ps: IntArray


def follow(packed: Packed, costs: Costs, last: int, notes: NDArray[np.uint8]) -> CriticalPath:
    """Return the path that a pass has noted.

    Args:
        packed: the program.
        costs: what its instructions cost.
        last: register that ends last.
        notes: uint8[instructions], of the pass.
    """
    room = _ROOM
    while True:
        found, row_at = np.empty(room, np.int32), np.empty(room, np.int32)
        length = kernel.walk(
            packed.code,
            packed.slot,
            len(packed.slot),
            len(costs.row),
            notes,
            last,
            found,
            row_at,
        )
        if length <= room:
            break
        room = length
    steps, places = found[:length][::-1], row_at[:length][::-1]
    one = packed.code.dtype.type(TO_LATEST)
    kinds = packed.code[steps] >> packed.code.dtype.type(2 * packed.width)
    ops = packed.op_of[steps]
    # A send that ends when its header has met a receive that was there: that is not on the path.
    released = np.append(kinds[1:] & ~one == TAKE, False) if length else np.empty(0, np.bool_)
    passed = released & (notes[steps] & MESSAGE_WON > 0)
    own = ops[(ops >= 0) & ~passed].astype(np.int64)
    with_row = places >= 0
    rows = costs.row[places[with_row]]
    hosts = ~with_row & np.isin(kinds, (RECV, RECV + TO_LATEST, SEND, SEND + TO_LATEST))
    messages, latencies, beyond = _by_message(
        packed.message_of[places[with_row]], costs.latencies[rows], costs.bytes[rows]
    )
    return CriticalPath(
        ops=own[np.diff(own, prepend=-1) != 0],
        messages=messages,
        latencies=latencies,
        bytes=beyond,
        overheads=int(costs.overheads[rows].sum()) + int(hosts.sum()),
    )


def slack(
    graph: ExecutionGraph,
    match: NDArray[np.int32],
    limit_bytes: int,
    delay_ps: IntArray,
    through_ps: IntArray,
    o_ps: int,
) -> Slack:
    """Return how much later each operation could start and end, and each rank end.

    Args:
        graph: a program that runs to its end.
        match: int32[n], the other end of each message.
        limit_bytes: S, largest eager message.
        delay_ps: int64[messages], latency of each.
        through_ps: int64[messages], time of the bytes of each.
        o_ps: overhead of a host.
    """
    n, sends = graph.num_ops, np.flatnonzero(graph.kind == OP_SEND)
    eager, delay, through = np.ones(n, np.bool_), np.zeros(n, np.int64), np.zeros(n, np.int64)
    eager[sends] = graph.size[sends] <= limit_bytes
    receives = graph.kind == OP_RECV
    eager[receives] = eager[match[receives]]
    delay[sends], through[sends] = delay_ps, through_ps
    missing, events = np.empty(n, np.int32), np.empty(2 * n, np.int64)
    count_missing(graph.requires.ops, graph.irequires.ops, missing)
    requires = (graph.requires.start, graph.requires.ops)
    irequires = (graph.irequires.start, graph.irequires.ops)
    slack_kernel.order(graph.kind, match, eager, *requires, *irequires, missing, events)
    start, end = np.empty(n, np.int64), np.empty(n, np.int64)
    common: tuple[Any, ...] = (graph.kind, graph.size, match, eager, requires, irequires, events)
    slack_kernel.earliest(*common, delay, through, o_ps, start, end)
    T = int(end.max(initial=0))
    late, until = np.empty(n, np.int64), np.empty(n, np.int64)
    slack_kernel.latest(*common, delay, through, o_ps, T, late, until)
    finish = np.empty(graph.num_ranks, np.int64)
    finish_of_ranks(graph.rank_start, end, finish)
    return Slack(ops_ps=late - start, ends_ps=until - end, ranks_ps=T - finish)


def _by_message(
    messages: NDArray[np.int32], latencies: IntArray, beyond: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return each message once, in order, with what the path has of it; rows that cost nothing go.

    A rendezvous is on a path with up to three rows: its header, where it meets, its end.
    """
    new = np.diff(messages, prepend=-1) != 0
    group = np.cumsum(new) - 1
    count = int(new.sum())
    sums = np.zeros((2, count), np.int64)
    np.add.at(sums[0], group, latencies)
    np.add.at(sums[1], group, beyond)
    return messages[new].astype(np.int64), sums[0], sums[1]
