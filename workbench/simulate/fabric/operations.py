"""The operations of a program as the kernels take them, and what a run of them comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.fabric_programs import fluid, layout
from workbench.programs.graph import SEND, ExecutionGraph

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HostCosts:
    """What messages cost a host, in ticks of 1e-16 s.

    Attributes:
        overhead: o, for each message.
        overhead_byte: O, for each byte after the first.
        eager: S; above it a sender waits for its receiver.
    """

    overhead: int = 0
    overhead_byte: int = 0
    eager: int = 2**62


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """What a program's run came to; times are ticks of 1e-16 s.

    Attributes:
        start: int64[n], when each operation started; a receive, when it was posted.
        end: int64[n], when each ended.
        arrived: int64[n], of sends, when the message was at its receiver; -1 for others.
        carried: int64[channels], bytes.
        most: int64[channels], most messages at once, or most packets that waited.
        seconds: wall time of the run.
        steps: what the network's work is counted in: rates given out, or packets sent by a port.
    """

    start: IntArray
    end: IntArray
    arrived: IntArray
    carried: IntArray
    most: IntArray
    seconds: float
    steps: int


@dataclass(frozen=True, eq=False)
class Operations:
    """A program's arrays, ready to run.

    Attributes:
        program: what does not change.
        pending: what is known of each operation.
        events: room for what is to happen, with what waits for nothing in it.
        cells: counts.
        host_of: int32[n], the host of each operation.
    """

    program: layout.Program
    pending: layout.Pending
    events: layout.Events
    cells: IntArray
    host_of: NDArray[np.int32]


def operations(
    graph: ExecutionGraph,
    match: NDArray[np.int32],
    hosts: IntArray,
    of_message: NDArray[np.int32],
    source: NDArray[np.int32],
    num_hosts: int,
) -> Operations:
    """Return a program's arrays at the beginning of a run.

    Args:
        graph: the program, which is known to run to its end.
        match: int32[n], the other end of each message.
        hosts: int64[ranks], the host of each rank.
        of_message: int32[messages], the path of each, in the order of their sends; -1 within a
            host.
        source: int32[paths], the host where each begins.
        num_hosts: of the network.
    """
    n = graph.num_ops
    path = np.full(n, -1, np.int32)
    path[graph.kind == SEND] = of_message
    ranks = np.repeat(np.arange(graph.num_ranks, dtype=np.int32), np.diff(graph.rank_start))
    program = layout.Program(
        _writable(graph.kind),
        _writable(graph.size),
        _writable(match),
        _writable(graph.requires.start),
        _writable(graph.requires.ops),
        _writable(graph.irequires.start),
        _writable(graph.irequires.ops),
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
    events = layout.Events(np.empty(2 * n + 8, np.int64), np.empty(2 * n + 8, np.int64))
    cells = np.zeros(layout.N_CELLS, np.int64)
    fluid.make_first(program, pending, events, cells)
    return Operations(program, pending, events, cells, hosts.astype(np.int32)[ranks])


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array, or its copy if it is read-only: kernels are not compiled for both."""
    return array if array.flags.writeable and array.flags.c_contiguous else array.copy()
