"""Speed of packets under open-loop traffic, and the largest networks it is meant for.

A packet-hop is a packet that leaves a port, hosts' ports included. SST/macro does 0.5 to 1.35
million of them a second on one core. Run with ``-s`` to see the figures.
"""

from __future__ import annotations

import resource
import time

import pytest

from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.open_loop import run_traffic
from workbench.topology import parse_topology
from workbench.topology.routing import route


def measured(fabric, pattern, load, messages):
    """Return a result, and the million packet-hops that a second of this thread simulates."""
    run_traffic(fabric, pattern, load, messages=100)
    began = time.thread_time()
    result = run_traffic(fabric, pattern, load, messages=messages)
    return result, result.packet_hops / (time.thread_time() - began) / 1e6


@pytest.mark.parametrize(
    ("word", "routing", "load"),
    [
        ("torus:8x8x8", "dimension-order", 0.3),
        ("dragonfly:33,8,4,4", "minimal", 0.3),
        ("dragonfly:33,8,4,4", "minimal", 0.7),
        ("dragonfly:33,8,4,4", "valiant", 0.3),
        ("dragonfly:33,8,4,4", "ugal-l", 0.3),
        ("dragonfly:33,8,4,4", "ugal-g", 0.3),
        ("fat-tree:16", "minimal", 0.5),
    ],
)
def test_packet_hops_a_second(word, routing, load):
    """Ten million on an idle core are aimed at."""
    fabric = Fabric(parse_topology(word), routing=routing)
    result, rate = measured(fabric, "uniform", load, 200_000)
    print(f"\n{word} {routing} load {load}: {rate:.1f} M packet-hops/s, {result.packet_hops}")
    assert result.complete


def test_a_dragonfly_of_16512_hosts():
    """It fits into memory: 2,064 routers, 4.3 million pairs of them in the tables."""
    topology = parse_topology("dragonfly:129,16,8,8")
    began = time.thread_time()
    routing = route(topology, "minimal")
    tables = time.thread_time() - began
    minimal = routing.minimal
    size = sum(a.nbytes for a in (minimal.row, minimal.hops, minimal.cost, minimal.candidate))
    result, rate = measured(Fabric(topology, routing=routing), "uniform", 0.3, 400_000)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"\n{topology.name}: tables and proof {tables:.2f} s and {size / 1e6:.0f} MB, "
        f"{rate:.1f} M packet-hops/s, {result.packet_hops} in {result.seconds:.1f} s, "
        f"{memory:.2f} GB at most; accepted {result.accepted:.3f}"
    )
    assert result.complete


def test_the_proof_beside_the_simulation():
    """Lanes that are proved at each start cost less than the simulation of one load."""
    topology = parse_topology("dragonfly:33,8,4,4")
    route(topology, "par")
    for name in ("minimal", "valiant", "par"):
        began = time.thread_time()
        routing = route(topology, name)
        proved = time.thread_time() - began
        result, _ = measured(Fabric(topology, routing=routing), "uniform", 0.3, 20_000)
        print(f"\n{name}: proof {proved / result.seconds:.2f} of one load's run")
        assert result.complete
