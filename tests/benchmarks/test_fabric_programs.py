"""Size and speed of programs on a fabric: a gather over 65,536 nodes, collectives, fluid rates.

SST/macro took 15.4 s for an allgather of 8 KB on the 512-node torus. The gather's bounds are 10 s
and 2 GB. Wilke et al., Euro-Par 2013, Table 4, give 287.1 ms for a gather of 8 KB buffers over
65,536 nodes of a scaled-out Hopper, whose messages have 1.8 GB/s at most.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from workbench.models import SNAPPR
from workbench.programs.collectives import schedule
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.program import replay_on
from workbench.topology import parse_topology

SECONDS, BYTES = 10, 2e9
HOPPER_S = 0.2871

GATHER = """
import json, resource, sys, time
from workbench.models import SNAPPR
from workbench.simulate.fabric.collectives import collective_times
from workbench.simulate.fabric.fabric import Fabric
from workbench.topology import parse_topology

began = time.perf_counter()
model = SNAPPR(injection_bandwidth=7e9, link_bandwidth=1.8e9, injection_latency=6e-7)
fabric = Fabric(parse_topology(sys.argv[2]), model, congestion="flow")
(simulated,) = collective_times(fabric, "gather", sys.argv[1], (8192,)).values()
print(json.dumps({
    "seconds": time.perf_counter() - began,
    "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "simulated_s": simulated,
}))
"""


@pytest.mark.parametrize("torus", ["torus:32,32,64", "torus:64,32,32"])
@pytest.mark.parametrize("algorithm", ["binomial", "linear"])
def test_a_gather_over_65536_nodes(torus, algorithm):
    for _ in range(2):  # the first may compile
        command = [sys.executable, "-c", GATHER, algorithm, torus]
        found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    print(
        f"\n{algorithm} gather of 8 KB on {torus}: {found['seconds']:.2f} s "
        f"({SECONDS / found['seconds']:.0f}x under the bound), {found['bytes'] / 1e9:.2f} GB "
        f"({BYTES / found['bytes']:.1f}x), simulated {found['simulated_s'] * 1e3:.1f} ms, "
        f"{found['simulated_s'] / HOPPER_S:.3f} of Table 4's"
    )


@pytest.mark.parametrize("congestion", ["flow", "packet", "packet-flow"])
@pytest.mark.parametrize(
    ("operation", "algorithm", "size"),
    [("allgather", "ring", 8192), ("allgather", "bruck", 8192), ("alltoall", "linear", 1024)],
)
def test_collectives_on_512_nodes(congestion, operation, algorithm, size):
    fabric = Fabric(parse_topology("torus:8,8,8"), congestion=congestion)
    graph = schedule(operation, algorithm, 512, size=size).graph()
    replay_on(schedule(operation, algorithm, 8, size=size).graph(), fabric)
    began = time.perf_counter()
    run = replay_on(graph, fabric)
    took = time.perf_counter() - began
    print(
        f"\n{operation} {algorithm} of {size} B on 8x8x8, {congestion}: {took:.2f} s, simulated "
        f"{run.makespan_s * 1e6:.0f} µs, {graph.num_ops / took / 1e6:.2f} M operations/s"
    )


def cpu_seconds(graph, fabric, repeats=2) -> float:
    """Return the least thread time of a run."""
    times = []
    for _ in range(repeats):
        began = time.thread_time()
        replay_on(graph, fabric)
        times.append(time.thread_time() - began)
    return min(times)


def test_flows_of_an_alltoall_against_packets(table, beside_events):
    topology = parse_topology("torus:8,8,8")
    flows, packets = Fabric(topology, congestion="flow"), Fabric(topology)
    small = schedule("alltoall", "linear", 8, size=64).graph()
    for fabric in (flows, packets):
        replay_on(small, fabric)
    graph = schedule("alltoall", "linear", 512, size=1024).graph()
    fluid, other = cpu_seconds(graph, flows), cpu_seconds(graph, packets, 1)
    table.add(
        "9",
        "flows: linear alltoall of 1 KB on 512 nodes",
        fluid,
        "s",
        at_most=10,
        **beside_events(fluid),
    )
    table.add("9", "  as fast as the same by packets", other / fluid, "x")


SPECS = ("torus:4,4,4", "torus:8,8", "dragonfly:9,4,2", "fat-tree:k=8", "hypercube:6")
PROGRAMS = (
    ("alltoall", "pairwise", (1024, 16_384, 262_144)),
    ("alltoall", "linear", (1024, 16_384)),
    ("alltoall", "bruck", (1024, 16_384)),
    ("allgather", "recursive-doubling", (1024, 16_384)),
    ("allreduce", "recursive-doubling", (1024, 16_384)),
    ("allgather", "ring", (1024, 16_384, 262_144)),
)


def test_makespans_of_flows_against_packets(table):
    """Packets are charged to their last byte, as flows are."""
    silent = 0
    for operation, algorithm, sizes in PROGRAMS:
        errors = {}
        for spec in SPECS:
            topology = parse_topology(spec)
            ports = Fabric(topology).ports.replace(variant="repaired")
            for size in sizes:
                graph = schedule(operation, algorithm, 64, size=size).graph()
                fluid = replay_on(graph, Fabric(topology, congestion="flow"))
                packets = replay_on(graph, Fabric(topology, ports))
                error = 100 * (fluid.makespan_s / packets.makespan_s - 1)
                errors[f"{spec}, {size} B"] = error
                silent += abs(error) > 10 and not fluid.notes
        worst = max(errors, key=lambda case: abs(errors[case]))
        print(f"\n{operation} {algorithm}: {min(errors.values()):+.1f} to ", end="")
        print(f"{max(errors.values()):+.1f} %, worst on {worst}")
        if algorithm == "pairwise":
            what = f"flows against packets: pairwise exchanges, worst, {worst} (with a note)"
            table.add("9", what, errors[worst], "%")
    table.add("9", "flows off by more than 10 % without a note, programs", silent, "", at_most=0)


def test_fluid_rates_a_second():
    """Messages at once, so that each start and end concerns many."""
    model = SNAPPR()
    fabric = Fabric(parse_topology("dragonfly:9,8,4"), model, congestion="flow")
    for ranks in (32, 64, 128):
        graph = schedule("alltoall", "linear", ranks, size=65_536).graph()
        turns, shared = (replay_on(graph, fabric, in_turn=turn) for turn in (True, False))
        print(
            f"\nalltoall of {ranks} ranks, {ranks * (ranks - 1)} messages: {turns.seconds:.3f} s "
            f"in turn, {shared.seconds:.3f} s all at once"
        )
