"""All-pairs hops and loads beside scipy's, in one run; how long measures of large networks take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from kernels import allpairs
from workbench import topology
from workbench.topology.metrics import bisection, distances, spectrum
from workbench.topology.metrics.adjacency import RouterGraph

SAMPLED = 200


def seconds(work: Callable[[], Any], rounds: int = 3) -> float:
    """Least time of a call, in s."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


@pytest.mark.parametrize(("routers", "degree"), [(1024, 16), (5000, 24), (20_000, 32)])
def test_all_hops_beside_scipy(routers: int, degree: int) -> None:
    made = topology.jellyfish(routers, degree, hosts=1, seed=1)
    graph = RouterGraph.of(made)
    hops = np.empty((routers, routers), np.uint8)
    matrix = seconds(lambda: allpairs.distances(graph.start, graph.neighbour, hops))
    histogram = seconds(lambda: distances(graph))
    joined = csr_matrix(graph.matrix())
    few = range(min(SAMPLED, routers))
    sampled: list[Any] = []
    theirs = seconds(
        lambda: sampled.append(dijkstra(joined, unweighted=True, indices=few)), rounds=1
    )
    theirs *= routers / len(few)
    print(
        f"\n{routers} routers of {degree} links: matrix {matrix:.3f} s, {theirs / matrix:.0f} x "
        f"scipy; histogram {histogram:.3f} s, {theirs / histogram:.0f} x "
        f"(scipy {theirs:.2f} s, from {len(few)} sources)"
    )
    np.testing.assert_array_equal(hops[: len(few)], sampled[0])


def test_loads_of_a_fat_tree_of_12500_routers(table: Any) -> None:
    """Uniform traffic, a permutation, and detours, as the comparison of topologies draws them."""
    made = topology.fat_tree(100)
    topology.link_loads(topology.fat_tree(4), routing="valiant")
    permuted = topology.traffic(made, "permutation")
    cases = {
        "uniform": lambda: topology.link_loads(made),
        "permutation": lambda: topology.link_loads(made, permuted),
        "uniform, Valiant": lambda: topology.link_loads(made, routing="valiant"),
    }
    # scipy has no loads. Its breadth-first order of one router is the least that a way which
    # takes routers one by one spends on each of them.
    joined = csr_matrix(RouterGraph.of(made).matrix())
    edges = np.unique(made.host_router)
    theirs = []
    for router in edges[:: len(edges) // 5][:5].tolist():
        began = time.process_time()
        breadth_first_order(joined, router)
        theirs.append(time.process_time() - began)
    for name, work in cases.items():
        began = time.process_time()
        found = work()
        took = time.process_time() - began
        if name == "uniform":
            # Of what the hosts of an edge switch send, all leave it but what goes to each other.
            share = (made.num_hosts - 50) / (made.num_hosts - 1)
            assert found.channel.max() == pytest.approx(share)
        table.add(
            "12",
            f"loads of {made.num_routers:,} routers, {made.num_links:,} links: {name}, CPU time",
            took,
            "s",
            at_most=0.13,
            ratio=took / (float(np.median(theirs)) * len(edges)),
            reference="scipy's breadth-first search from each router with hosts (of 5)",
        )


@pytest.mark.parametrize("spec", ["torus:10x10x10", "jellyfish:1000,16,hosts=1"])
def test_loads_of_a_network_without_twins(spec: str) -> None:
    """Each router that receives takes a pass over all channels."""
    made = topology.parse_topology(spec)
    began = time.thread_time()
    for _ in range(3):
        found = topology.link_loads(made)
    took = (time.thread_time() - began) / 3
    visits = made.num_routers * 2 * made.num_links
    print(f"\n{spec}: {took * 1e3:.0f} ms, {took / visits * 1e9:.1f} ns a channel and receiver")
    assert found.channel.all()


def test_measures_of_20000_routers() -> None:
    made = topology.jellyfish(20_000, 32, hosts=1, seed=1)
    for name, work in (
        ("distances", lambda: distances(made)),
        ("spectrum", lambda: spectrum(made)),
        ("bisection", lambda: bisection(made, starts=1, routed=False)),
    ):
        began = time.perf_counter()
        found = work()
        print(f"\n{name}: {found} in {time.perf_counter() - began:.1f} s")
    assert distances(made).connected


@pytest.mark.parametrize("method", ["exact", "bounds"])
@pytest.mark.parametrize("pattern", ["longest-matching", "uniform"])
def test_throughput_of_98_routers(method: Any, pattern: str) -> None:
    made = topology.slim_fly(7)
    began = time.perf_counter()
    found = topology.throughput(made, pattern, method=method)
    print(f"\n{found!r} in {time.perf_counter() - began:.1f} s")
    assert found.lower > 0
