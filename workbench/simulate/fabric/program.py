"""A program on a fabric: when each rank ends where messages share the network's channels.

Hosts have the overheads of LogGPS and one thing at a time on each core; what a message takes in the
network follows from the topology, the routing and who else is on its way. Up to S bytes a message
is sent at once. Above S a header goes first, the receiver asks for the bytes when its receive is
posted, they come without the sender's core, and the sender's send ends when the receiver has said
that they are there (Shen et al., LLAMP, appendix B). Headers, requests and acknowledgements take
the latency of their way and no bandwidth. What an interface does to a message beyond that is in
``NetworkInterface``.

Where nothing shares a channel and no two operations of a rank want its core at once, an eager
program ends as `replay(..., semantics="llamp")` says, with L the path's latency and one byte's time
(a fluid message of s bytes takes s G, LogGPS's (s - 1) G), and G one byte's time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import IntArray
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.models.parameter import INT32_MAX
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import CALC, SEND, ExecutionGraph
from workbench.provenance import Provenance
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.flow import run_flow
from workbench.simulate.fabric.hosts import checked_hosts, place_jobs
from workbench.simulate.fabric.operations import HostCosts, ProgramRun
from workbench.simulate.fabric.packets import run_packets
from workbench.simulate.fabric.paths import Paths, message_paths
from workbench.simulate.fabric.program_result import FabricReplay
from workbench.simulate.llamp import forward_pass
from workbench.simulate.picoseconds import UNLIMITED
from workbench.simulate.ticks import (
    CLOCK_END,
    TICKS_PER_NS,
    TICKS_PER_PS,
    TICKS_PER_SECOND,
    refuse_time,
)
from workbench.tasks import Task, task_of
from workbench.topology.channels import Channels
from workbench.topology.routing import ROUTINGS, Routing

_MOST_PAIRS = 2**23
"""Pairs of routers up to which paths are looked up in a routing's tables."""


def replay_on(
    program: ProgramLike,
    fabric: Fabric,
    *,
    host: LogGPS | None = None,
    placement: str | ArrayLike = "block",
    ranks_per_host: int = 1,
    rng: np.random.Generator | int | None = None,
    in_turn: bool = True,
    resolution_ns: float = 0.0,
    times: bool = False,
    task: Task | None = None,
) -> FabricReplay:
    """Return the result of a program's run on a fabric, with the end of each rank.

    The k-th send meets the k-th receive of the same ranks and tag. Where a program has wildcards,
    who meets whom is taken from a replay by LogGOPSim's rules. With fluid messages that share
    channels the result's ``notes`` say how far from packets it may be.

    Args:
        program: what the ranks do; a ``Program`` is taken with its default algorithms.
        fabric: network, model, routing and congestion.
        host: whose o, O and S hosts have; None takes messages at no cost, all of them eager.
        placement: ``block``, ``round-robin``, ``random`` or ``by-group``. An int[ranks] is the host
            of each rank. Messages within a host take no time.
        ranks_per_host: ranks per host, where the placement is a word.
        rng: of the placement ``random``.
        in_turn: with fluid messages, and with packets where the fabric's interface limits one
            message's bandwidth, whether a host's enter the network one after the other, as a NIC's
            queue has them; otherwise they share its bandwidth. Packets without that limit always go
            in turn, but may be under way to several hosts at once.
        resolution_ns: with fluid messages, time within which their starts and ends may share one
            sharing of the bandwidth; 0 is exact, more is faster.
        times: also keep when each operation started and ended.
        task: its progress counts the operations that have ended; once it is stopped, the run ends.

    Raises:
        ProgramError: operations wait for one another, or a message has no other end.
        ParameterError: the program does not fit, or an option is not accepted.
        ConfigurationError: the program runs on beyond the end of the clock.
        SimulationHalted: the task was stopped.
    """
    graph = graph_of(program)
    if isinstance(placement, str):
        (hosts,) = place_jobs(
            fabric.topology, [graph.num_ranks], placement, ranks_per_host=ranks_per_host, rng=rng
        )
        placed = placement
    else:
        hosts = checked_hosts(fabric.topology, placement, graph.num_ranks)
        placed = "given hosts"
    if not 0 <= resolution_ns < 1e9:
        raise ParameterError(
            f"resolution_ns must be 0 to 1e9 ns; got {resolution_ns}", key="resolution_ns"
        )
    costs = _host_costs(host)
    task = task_of(task)
    match = _match(graph, fabric, host, task)
    _check_clock(graph, match, costs)
    task.report(0, graph.num_ops, f"replaying {graph.num_ops:,} operations of {graph.source}")
    run: ProgramRun
    if fabric.congestion == "flow":
        numbered = fabric.channels
        run = run_flow(
            graph,
            match,
            hosts,
            _paths(graph, hosts, numbered, fabric),
            numbered,
            fabric.ports,
            costs=costs,
            interface=fabric.interface,
            in_turn=in_turn,
            resolution=round(resolution_ns * TICKS_PER_NS),
            task=task,
        )
    else:
        run = run_packets(
            graph,
            match,
            hosts,
            fabric,
            costs=costs,
            in_turn=in_turn,
            task=task,
        )
    finish = np.zeros(graph.num_ranks, np.int64)
    occupied = np.diff(graph.rank_start) > 0
    if graph.num_ops:
        finish[occupied] = np.maximum.reduceat(run.end, graph.rank_start[:-1][occupied])
    return FabricReplay(
        graph=graph,
        fabric=fabric,
        placement=placed,
        hosts=hosts,
        host=host,
        finish_ticks=finish,
        channel_bytes=run.carried,
        channel_most=run.most,
        seconds=run.seconds,
        start_ticks=run.start if times else None,
        end_ticks=run.end if times else None,
        arrived_ticks=run.arrived if times else None,
        provenance=Provenance(
            "simulated",
            f"{graph.source} on {fabric.topology.name}, {fabric.ports.name} bandwidths, "
            f"{fabric.congestion} congestion, {fabric.routing_name} routing, {placed} placement"
            + (fabric.interface.about and f", {fabric.interface.about}"),
        ),
    )


def _host_costs(host: LogGPS | None) -> HostCosts:
    if host is None:
        return HostCosts()
    for name in ("o", "O"):
        if getattr(host, name) * TICKS_PER_SECOND >= CLOCK_END:
            refuse_time(getattr(host, name))
    return HostCosts(
        overhead=round(host.o * TICKS_PER_SECOND),
        overhead_byte=round(host.O * TICKS_PER_SECOND),
        eager=UNLIMITED if host.S == INT32_MAX else host.S,
    )


def _match(
    graph: ExecutionGraph, fabric: Fabric, host: LogGPS | None, task: Task
) -> NDArray[np.int32]:
    """Return each message's other end, int32[n], by a contention-free run; it finds deadlocks."""
    near = fabric.ports.injection_latency + fabric.ports.ejection_latency
    model = LogGPS(
        L=near + fabric.ports.link_latency,
        o=host.o if host else 0.0,
        g=0.0,
        G=1 / fabric.ports.link_bandwidth,
        O=host.O if host else 0.0,
        S=host.S if host else INT32_MAX,
    )
    found = forward_pass(graph, model, task=task)
    latest = int(found.finish_ps.max(initial=0))
    if latest >= CLOCK_END // TICKS_PER_PS:
        refuse_time(CLOCK_END)
    return found.match


def _check_clock(graph: ExecutionGraph, match: NDArray[np.int32], costs: HostCosts) -> None:
    """Refuse a program with a core that is busy beyond the end of the clock."""
    size = graph.size.astype(np.float64)
    handling = 3.0 * costs.overhead + size * costs.overhead_byte
    busy = np.where(graph.kind == CALC, size * TICKS_PER_NS, handling)
    receives = (graph.kind != CALC) & (graph.kind != SEND)
    busy[receives] = handling[match[receives]]
    total = np.add.reduceat(np.append(busy, 0.0), graph.rank_start[:-1]).max(initial=0.0)
    if total >= CLOCK_END:
        refuse_time(CLOCK_END)


def _paths(graph: ExecutionGraph, hosts: IntArray, numbered: Channels, fabric: Fabric) -> Paths:
    """Return the paths of a program's messages: the routing's, or computed on large networks."""
    network = fabric.topology
    name = fabric.routing_name
    small = network.num_routers**2 <= _MOST_PAIRS
    given = isinstance(fabric.routing, Routing) or name not in ROUTINGS
    looked_up = small or given or ROUTINGS[name].scheme != "minimal"
    sends = np.flatnonzero(graph.kind == SEND)
    return message_paths(
        numbered,
        hosts[graph.rank_of(sends)],
        hosts[graph.peer[sends]],
        routing=fabric.routes if looked_up else None,
        ordered=name == "dimension-order",
        side_by_side=True,
        seed=fabric.seed,
    )
