"""Demands on cheapest routes: all of them arrive, at the cost that is told."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from kernels import concurrent_flow as kernel
from tests.kernels.networks import networks, rows


def phase(links, routers, demand, length=None, step=0.1, halt=0):
    """Send a matrix of demands once; return cost, loads, lengths, and the channels' ends."""
    start, neighbour, capacity = rows(links, routers)
    tail = np.repeat(np.arange(routers, dtype=np.int32), np.diff(start))
    senders, target = np.nonzero(demand)
    sources = np.unique(senders).astype(np.int32)
    first = np.searchsorted(senders, np.append(sources, routers)).astype(np.int64)
    length = 1 / capacity if length is None else length.copy()
    load = np.zeros(len(capacity))
    cost = kernel.send_phase(
        start,
        neighbour,
        tail,
        capacity,
        sources,
        first,
        target.astype(np.int32),
        demand[senders, target],
        step,
        length,
        load,
        np.array([halt], np.int8),
    )
    return cost, load, length, tail, neighbour, capacity


@given(networks(least=2, most=7, joined=True), st.integers(0, 2**32 - 1))
def test_all_that_is_sent_arrives_and_lengths_grow_with_it(drawn, seed):
    routers, links = drawn
    rng = np.random.default_rng(seed)
    demand = rng.uniform(0.1, 3, (routers, routers)) * (rng.random((routers, routers)) < 0.5)
    np.fill_diagonal(demand, 0)
    start = rng.uniform(0.5, 2, len(rows(links, routers)[1]))
    _, load, length, tail, head, capacity = phase(links, routers, demand, start)
    out = np.bincount(tail, load, routers) - np.bincount(head, load, routers)
    # What is left of a demand when it counts as sent, 1e-12 of it.
    np.testing.assert_allclose(out, demand.sum(axis=1) - demand.sum(axis=0), atol=1e-9)
    assert ((length > start) == (load > 0)).all()
    # Each amount x lengthens by 1 + 0.1 x / capacity, so that many small ones give exp at most.
    assert (length <= start * np.exp(0.1 * load / capacity) * (1 + 1e-12)).all()
    assert (length >= start * (1 + 0.1 * load / capacity) * (1 - 1e-12)).all()


@given(networks(least=2, most=7, joined=True), st.integers(0, 2**32 - 1))
def test_the_cost_is_that_of_the_shortest_ways_while_lengths_stay(drawn, seed):
    routers, links = drawn
    rng = np.random.default_rng(seed)
    demand = rng.uniform(0.1, 3, (routers, routers))
    np.fill_diagonal(demand, 0)
    start, neighbour, _ = rows(links, routers)
    length = rng.uniform(0.5, 2, len(neighbour))
    cost, *_ = phase(links, routers, demand, length, step=0.0)
    ways = dijkstra(csr_matrix((length, neighbour, start), shape=(routers, routers)))
    assert cost == pytest.approx((demand * ways).sum(), rel=1e-12)


def test_no_more_than_the_capacity_goes_one_way_at_a_time():
    """Three units over a square whose sides carry one: both ways are taken in turn."""
    demand = np.zeros((4, 4))
    demand[0, 3] = 3.0
    _, load, *_ = phase([(0, 1), (1, 3), (0, 2), (2, 3)], 4, demand)
    assert sorted(load[load > 0]) == pytest.approx([1, 1, 2, 2])


def test_no_route_and_a_halt_are_reported():
    demand = np.zeros((3, 3))
    demand[0, 2] = 1.0
    assert phase([(0, 1)], 3, demand)[0] == kernel.FAR
    assert phase([(0, 1), (1, 2)], 3, demand, halt=1)[0] == -1
