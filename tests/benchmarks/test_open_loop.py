"""Speed of packets under open-loop traffic, and the largest networks it is meant for.

A packet-hop is a packet that leaves a port, hosts' ports included. SST/macro does 0.5 to 1.35
million of them a second on one core.
"""

from __future__ import annotations

import resource
import time

import pytest

from tests.benchmarks.test_fabric import RUNS, configuration_of, sstmacro_run
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.latency_load import load_curve
from workbench.simulate.fabric.open_loop import run_traffic
from workbench.simulate.fabric.sst import run_collective
from workbench.topology import parse_topology
from workbench.topology.routing import route


def measured(fabric, pattern, load, messages):
    """Return a result, and the million packet-hops that a second of this thread simulates."""
    run_traffic(fabric, pattern, load, messages=100)
    began = time.thread_time()
    result = run_traffic(fabric, pattern, load, messages=messages)
    return result, result.packet_hops / (time.thread_time() - began) / 1e6


# A quarter more than at commit 87ea01dd, whose kernels numba's internals made quicker.
CASES = [
    ("torus:8x8x8", "dimension-order", 0.3, 0.95),
    ("dragonfly:33,8,4,4", "minimal", 0.3, 1.5),
    ("dragonfly:33,8,4,4", "minimal", 0.7, 1.5),
    ("dragonfly:33,8,4,4", "valiant", 0.3, 1.2),
    ("dragonfly:33,8,4,4", "ugal-l", 0.3, 1.3),
    ("dragonfly:33,8,4,4", "ugal-g", 0.3, 1.6),
    ("fat-tree:16", "minimal", 0.5, 1.05),
]


@pytest.fixture(scope="module")
def of_sstmacro(sstmacro) -> float | None:
    """Million packet-hops that SST/macro simulates in a second, in an allgather on a dragonfly."""
    if sstmacro is None:
        return None
    run = RUNS["allgather 8 KB, dragonfly of 288"]
    hops = run_collective(configuration_of(run)).packet_hops
    return hops / sstmacro_run(sstmacro, run)[1] / 1e6


@pytest.mark.parametrize(("word", "routing", "load", "most"), CASES)
def test_packet_hops_a_second(word, routing, load, most, table, beside_events, of_sstmacro):
    fabric = Fabric(parse_topology(word), routing=routing)
    runs = [measured(fabric, "uniform", load, 100_000) for _ in range(3)]
    rate = max(rate for _, rate in runs)
    table.add(
        "6",
        f"{word} {routing} at load {load:g}, million packet-hops/s",
        rate,
        "",
        at_most=most,
        **beside_events(1 / rate),
    )
    if of_sstmacro is not None:
        what = "  as fast as SST/macro in an allgather on a dragonfly of 288"
        table.add("6", what, rate / of_sstmacro, "x")
    assert all(result.complete for result, _ in runs)


def test_two_threads(table):
    """Loads and seeds run side by side; the results do not depend on the number of threads."""
    fabric = Fabric(parse_topology("dragonfly:33,8,4,4"), routing="minimal")
    loads, seeds = (0.2, 0.4), (0, 1, 2)
    load_curve(fabric, "uniform", loads, seeds=(0,), messages=100)
    took: dict[int, list[float]] = {1: [], 2: []}
    curves = {}
    for _ in range(2):
        for workers, times in took.items():
            began = time.perf_counter()
            curves[workers] = load_curve(
                fabric, "uniform", loads, seeds=seeds, workers=workers, messages=100_000
            )
            times.append(time.perf_counter() - began)
    frames = [curve.to_frame().drop(columns="seconds") for curve in curves.values()]
    assert frames[0].equals(frames[1])
    speedup = min(took[1]) / min(took[2])
    what = "2 loads with 3 seeds, 2 threads against 1, wall time"
    table.add("6", what, speedup, "x", at_least=1.8)


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
