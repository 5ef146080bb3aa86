"""A program whose messages are fluid, with max-min fair shares of the channels.

A message is a flow along its path, or along several where its packets would part. All flows on a
channel share its bandwidth by max-min fairness, and when one starts or ends the rates change at
once; the message is at its receiver the path's latency after its last byte has entered. Neither
packets nor credits nor crossbars are in it: that is the flow model of congestion (Wilke et al.,
Euro-Par 2013, section 4).

Where no two messages share a channel, a program ends as with packets that are charged to their
last byte. Where they do, it does not: packets stand behind packets to elsewhere, and a NIC has
packets to several hosts under way. Makespans of flows against packets (SNAPPR, repaired) on 64
nodes of a 3D and a 2D torus, a dragonfly, a fat tree and a hypercube, for 1, 16 and 256 KB a rank
or pair (tests/benchmarks/test_fabric_programs.py prints them again):

==============================  ====================  ============================================
program                         flows - packets, %    worst on
==============================  ====================  ============================================
alltoall, pairwise exchanges    -56 to +12            fat tree, 256 KB; 3D torus -47
alltoall, linear                -25 to +150           dragonfly, 1 KB; 2D torus +126
alltoall, Bruck                 -21 to +17            fat tree, 1 KB
allgather, recursive doubling   -24 to +34            dragonfly, 1 KB
allreduce, recursive doubling   -20 to +40            dragonfly, 16 KB
allgather, ring                 -21 to 0              dragonfly; 0 where no channel is shared
==============================  ====================  ============================================

So a result of flows that shared channels has a note.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from kernels.fabric_programs import fluid as kernel, layout
from workbench.arrays import IntArray
from workbench.errors import SimulationHalted
from workbench.models import PISCES, SNAPPR
from workbench.programs.graph import ExecutionGraph
from workbench.simulate.fabric.channel_rates import byte_ticks
from workbench.simulate.fabric.network_interface import NetworkInterface
from workbench.simulate.fabric.operations import HostCosts, ProgramRun, operations
from workbench.simulate.fabric.paths import Paths, latencies
from workbench.simulate.ticks import CLOCK_END, refuse_time
from workbench.tasks import Task, task_of
from workbench.topology.channels import Channels

_FIRST_ROOM = 1024  # flows at once; a run with more stops and goes on with twice the room


def run_flow(
    graph: ExecutionGraph,
    match: NDArray[np.int32],  # (n,), the other end of each message
    hosts: IntArray,  # (ranks,)
    made: Paths,  # of the sends, in the order of their operations
    channels: Channels,
    model: SNAPPR | PISCES,
    *,
    costs: HostCosts,
    interface: NetworkInterface | None = None,  # of every host
    in_turn: bool = True,  # a host's messages enter one by one; else they share
    resolution: int = 0,  # ticks in which flows share one update of rates; 0: exact
    task: Task | None = None,  # counts the finished operations
) -> ProgramRun:
    """Run a program with messages as fluid flows; the program must be known to end."""
    began = time.perf_counter()
    interface = NetworkInterface() if interface is None else interface
    ops = operations(graph, match, hosts, made.of_message, made.source, channels.topology.num_hosts)
    network = layout.empty_network(
        1.0 / byte_ticks(channels, model),
        made.start,
        made.channel,
        made.weight,
        latencies(made, channels, model),
        latencies(made, channels, model, interface),
        1.0 / interface.byte_ticks if interface.byte_ticks else np.inf,
    )
    stride = int(np.diff(made.start).max(initial=1))
    flows = layout.no_flows(_FIRST_ROOM, stride)
    kernel_costs = layout.Costs(
        costs.overhead,
        costs.overhead_byte,
        costs.eager,
        in_turn,
        resolution,
        interface.startup_ticks,
    )
    task = task_of(task)
    while True:
        status = kernel.run(
            ops.program,
            kernel_costs,
            ops.pending,
            ops.events,
            network,
            flows,
            ops.cells,
            stride,
            task.stop_event.cell,
            task.counter,
        )
        if status != layout.FULL:
            break
        flows = layout.more_flows(flows, stride)
    if status == layout.HALTED:
        raise SimulationHalted("the program's run was stopped before it finished")
    if status == layout.CLOCK_RAN_OUT:
        refuse_time(CLOCK_END)
    return ProgramRun(
        start=ops.pending.start,
        end=ops.pending.end,
        arrived=ops.pending.arrived,
        carried=np.rint(network.carried).astype(np.int64),
        most=network.most.astype(np.int64),
        seconds=time.perf_counter() - began,
        steps=int(ops.cells[layout.RATES]),
    )
