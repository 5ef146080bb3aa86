"""Which operations set a program's time, and how much later the others could be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.loggops.llamp import count_missing, finish_of_ranks
from kernels.sweep import path as kernel, slack as slack_kernel
from kernels.sweep.layout import MESSAGE_WON, RECV, SEND, TAKE, TO_LATEST
from workbench.arrays import IntArray
from workbench.programs.graph import RECV as OP_RECV, SEND as OP_SEND, ExecutionGraph
from workbench.tolerance.passes import Costs, PackedProgram

_ROOM = 1 << 16  # vertices of a path, 512 KiB: chosen; a longer path is followed a second time


@dataclass(frozen=True, eq=False)
class CriticalPath:
    """A longest path through a program.

    Attributes:
        ops: int64[k], numbers of its operations, from the first to the last.
        messages: int64[m], numbers of its messages, in their order on the path.
        latencies: int64[m], latencies of each message on the path: 1, or 3 to 4 for a rendezvous.
        bytes: int64[m], bytes after the first of each message; 0 if they are not on the path.
        overheads: number of overheads o on the path.
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
    """Delays of single operations or ranks that leave the program's end as it is.

    Attributes:
        ops_ps: int64[n], possible delay of each operation's start, ps. A receive may have some even
            if its message is on a critical path, as it may be posted later.
        ends_ps: int64[n], possible delay of each operation's end, ps. On a critical path one of the
            two is 0.
        ranks_ps: int64[ranks], possible delay of each rank's end, ps.
    """

    ops_ps: IntArray
    ends_ps: IntArray
    ranks_ps: IntArray


def follow(
    packed: PackedProgram, costs: Costs, last: int, notes: NDArray[np.uint8]
) -> CriticalPath:
    """Return the critical path to register ``last`` from a pass's notes, uint8[instructions]."""
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
    match: NDArray[np.int32],  # (n,) the other end of each message
    limit_bytes: int,  # S, the largest eager message
    delay_ps: IntArray,  # (messages,) latency of each
    through_ps: IntArray,  # (messages,) time of the bytes of each
    o_ps: int,
) -> Slack:
    """Return the slack of each operation's start and end and of each rank's end."""
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
    """Return each message once, in path order, with the latencies and bytes of its 1 to 3 rows."""
    new = np.diff(messages, prepend=-1) != 0
    group = np.cumsum(new) - 1
    count = int(new.sum())
    sums = np.zeros((2, count), np.int64)
    np.add.at(sums[0], group, latencies)
    np.add.at(sums[1], group, beyond)
    return messages[new].astype(np.int64), sums[0], sums[1]
