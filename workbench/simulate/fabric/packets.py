"""A program whose messages are packets, on SNAPPR's or PISCES's ports."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kernels.fabric import layout as cells
from kernels.fabric_programs import layout, packets as kernel
from workbench.arrays import IntArray
from workbench.errors import ConfigurationError
from workbench.models import SNAPPR
from workbench.programs.graph import SEND, ExecutionGraph
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.network import build, wiring_of
from workbench.simulate.fabric.operations import HostCosts, ProgramRun, operations
from workbench.simulate.fabric.paths import end_latency, latencies, message_paths
from workbench.simulate.ticks import ticks
from workbench.tasks import Task, task_of


def run_packets(
    graph: ExecutionGraph,
    match: NDArray[np.int32],  # (n,), the other end of each message
    hosts: IntArray,  # (ranks,)
    fabric: Fabric,
    *,
    costs: HostCosts,
    in_turn: bool = True,  # messages that the interface slows enter one by one; else side by side
    task: Task | None = None,  # counts the finished operations
) -> ProgramRun:
    """Run a program with messages as packets; the program must be known to end.

    As in SST/macro SNAPPR delivers a message with the head of its last packet; ``repaired`` and
    PISCES with the last byte.
    """
    began = time.perf_counter()
    fabric.checked()
    routing, model, network = fabric.routes, fabric.ports, fabric.topology
    sends = np.flatnonzero(graph.kind == SEND)
    ends = hosts[graph.rank_of(sends)], hosts[graph.peer[sends]]
    # Each message is its own path here: what is asked of it is its latency.
    of_message = np.where(ends[0] == ends[1], -1, np.arange(len(sends))).astype(np.int32)
    ops = operations(graph, match, hosts, of_message, ends[0].astype(np.int32), network.num_hosts)
    latency = _latency(fabric, *ends)
    state = build(
        wiring_of(routing.channels, routing.lanes),
        model,
        overlay=False,
        adaptive=routing.scheme in ("ugal-l", "par") or routing.choice == "least",
        interface=fabric.interface,
        in_turn=in_turn,
    )
    routes = routing.tables()
    depth, seen = np.zeros((2, max(routing.channels.between_routers, 1)), np.int32)
    kernel_costs = layout.Costs(costs.overhead, costs.overhead_byte, costs.eager, True, 0, 0)
    task = task_of(task)
    whole = isinstance(model, SNAPPR) and model.variant == "repaired"
    status = state.run(
        lambda s, t, q: kernel.run(
            s,
            t,
            q,
            routes,
            depth,
            seen,
            ops.program,
            kernel_costs,
            ops.pending,
            ops.events,
            ops.cells,
            ops.host_of,
            latency,
            whole,
            task.stop_event.cell,
            task.counter,
        )
    )
    if status == cells.DEADLOCK:
        raise ConfigurationError(
            f"packets must be able to move; {fabric!r} came to a halt with "
            f"{graph.num_ops - int(task.counter[0])} operations left: raise the credits",
            rule="packets move",
            keys=("switch.credits",),
        )
    return ProgramRun(
        start=ops.pending.start,
        end=ops.pending.end,
        arrived=ops.pending.arrived,
        carried=state.channel_cells(cells.BYTES_SENT).copy(),
        most=state.channel_cells(cells.MOST_PENDING).copy(),
        seconds=time.perf_counter() - began,
        steps=int(state.s[cells.HOPS_TAKEN]),
    )


def _latency(fabric: Fabric, sources: IntArray, targets: IntArray) -> IntArray:
    """Return the latency of a minimal route of each message, in ticks, int64[messages]."""
    routing, model, network = fabric.routes, fabric.ports, fabric.topology
    if not len(network.link_latency):
        routers = network.host_router[sources], network.host_router[targets]
        links = routing.minimal.hops[routers[0], routing.minimal.column[routers[1]]]
        ends = end_latency(model, fabric.interface)
        return ends + links.astype(np.int64) * ticks(model.link_latency)
    minimal = replace(routing, scheme="minimal", choice="random")
    made = message_paths(routing.channels, sources, targets, routing=minimal)
    of_path = latencies(made, routing.channels, model, fabric.interface)
    # What stays within a host takes no path, and its latency is not read.
    return np.append(of_path, 0)[made.of_message]
