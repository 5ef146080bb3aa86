"""All-pairs hops beside scipy's, in one run; and how long measures of a large network take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

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
