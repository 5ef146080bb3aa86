"""The operations of a program as the kernels' arrays, and the result of their run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.fabric_programs import fluid, layout
from workbench.arrays import IntArray
from workbench.programs.graph import SEND, ExecutionGraph


@dataclass(frozen=True, eq=False)
class HostCosts:
    """The costs of messages at a host, in ticks of 1e-16 s."""

    overhead: int = 0  # o, for each message
    overhead_byte: int = 0  # O, for each byte after the first
    eager: int = 2**62  # S; above it a sender waits for its receiver


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """The result of a program's run; times are ticks of 1e-16 s."""

    start: IntArray  # (n,); a receive's is its posting
    end: IntArray  # (n,)
    arrived: IntArray  # (n,), a send's message at its receiver; -1 for others
    carried: IntArray  # (channels,), bytes
    most: IntArray  # (channels,), most messages at once, or most waiting packets
    seconds: float  # wall time
    steps: int  # rates assigned, or packets sent by a port


def rank_ticks(rank_start: IntArray, end: IntArray, arrived: IntArray, rank: int) -> int:
    """Return when a rank's operations have ended and the messages that it sent have arrived."""
    own = slice(rank_start[rank], rank_start[rank + 1])
    return max(int(end[own].max(initial=0)), int(arrived[own].max(initial=0)))


@dataclass(frozen=True, eq=False)
class Operations:
    """A program's arrays, ready to run."""

    program: layout.Program  # constant during the run
    pending: layout.Pending  # state of each operation
    events: layout.Events  # with the operations that wait for nothing
    cells: IntArray  # counts, see layout
    host_of: NDArray[np.int32]  # (n,), host of each operation


def operations(
    graph: ExecutionGraph,
    match: NDArray[np.int32],  # (n,), the other end of each message
    hosts: IntArray,  # (ranks,)
    of_message: NDArray[np.int32],  # (messages,), path in the order of sends; -1 within a host
    source: NDArray[np.int32],  # (paths,), host where each begins
    num_hosts: int,
) -> Operations:
    """Return a program's arrays at the start of a run; the program must be known to end."""
    n = graph.num_ops
    path = np.full(n, -1, np.int32)
    path[graph.kind == SEND] = of_message
    ranks = np.repeat(np.arange(graph.num_ranks, dtype=np.int32), np.diff(graph.rank_start))
    program = layout.Program(
        graph.kind,
        graph.size,
        match,
        graph.requires.start,
        graph.requires.ops,
        graph.irequires.start,
        graph.irequires.ops,
        ranks * np.int32(graph.num_cpus) + graph.cpu.astype(np.int32),
        path,
        source,
    )
    pending = layout.Pending(
        missing=np.empty(n, np.int32),
        start=np.zeros(n, np.int64),
        end=np.full(n, -1, np.int64),
        arrived=np.full(n, -1, np.int64),
        header=np.zeros(n, np.uint8),
        phase=np.zeros(n, np.uint8),
        free_at=np.zeros(graph.num_ranks * graph.num_cpus, np.int64),
        queue_next=np.full(n, -1, np.int32),
        queue_first=np.full(num_hosts, -1, np.int32),
        queue_last=np.full(num_hosts, -1, np.int32),
        busy=np.zeros(num_hosts, np.uint8),
    )
    # At most one event for an operation and one for its message.
    room = 2 * n + 8
    events = layout.Events(np.empty(room, np.int64), np.empty(room, np.int64))
    cells = np.zeros(layout.N_CELLS, np.int64)
    fluid.make_first(program, pending, events, cells)
    return Operations(program, pending, events, cells, hosts.astype(np.int32)[ranks])
