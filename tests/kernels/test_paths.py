"""Shortest routes and cycles: against all of them, found one by one."""

import itertools

import numpy as np
from hypothesis import given

from kernels import paths
from tests.kernels.networks import networks, rows
from tests.reference import networks as reference


def counted(links, routers, source):
    """Return distances, counts and the order of what is reached."""
    start, neighbour, capacity = rows(links, routers)
    distance, order = np.empty(routers, np.int32), np.empty(routers, np.int32)
    count = np.empty(routers)
    reached = paths.count_paths(start, neighbour, capacity, source, distance, count, order)
    return distance, count, order[:reached]


@given(networks(most=7))
def test_routes_are_as_many_as_there_are(drawn):
    routers, links = drawn
    expected = reference.hops(links, routers)
    for source in range(routers):
        distance, count, order = counted(links, routers, source)
        np.testing.assert_array_equal(distance, expected[source])
        assert sorted(order) == np.flatnonzero(expected[source] >= 0).tolist()
        assert (np.diff(distance[order]) >= 0).all()
        for target in range(routers):
            routes = reference.shortest_routes(links, routers, source, target)
            assert count[target] == len(routes)


@given(networks(most=7))
def test_the_girth_is_the_shortest_way_round_a_link(drawn):
    routers, links = drawn
    single = sorted(set(links))
    start, neighbour, _ = rows(single, routers)
    assert paths.girth(start, neighbour) == reference.girth(single, routers)


@given(networks(least=2, most=6, joined=True))
def test_what_a_channel_carries_at_most_is_what_it_carries_for_the_worst_target(drawn):
    routers, links = drawn
    start, neighbour, capacity = rows(links, routers)
    ends = np.arange(0, routers, 2, dtype=np.int32)
    weight = np.arange(1.0, len(ends) + 1)
    found = [counted(links, routers, end) for end in ends]
    share = np.zeros(len(neighbour))
    assert paths.most_of_any(
        start,
        neighbour,
        capacity,
        ends,
        weight,
        np.array([one[0] for one in found]),
        np.array([one[1] for one in found]),
        share,
        np.zeros(1, np.int8),
    )
    tail = np.repeat(np.arange(routers), np.diff(start))
    expected = np.zeros(len(neighbour))
    for source, amount in zip(ends, weight, strict=True):
        taken = np.zeros(len(neighbour))
        for target in ends:
            routes = reference.shortest_routes(links, routers, source, target)
            steps = [pair for route in routes for pair in itertools.pairwise(route)]
            for slot, pair in enumerate(zip(tail, neighbour, strict=True)):
                taken[slot] = max(taken[slot], steps.count(pair) / max(len(routes), 1))
        expected += amount * taken
    np.testing.assert_allclose(share, expected, rtol=1e-12)  # routes * eps


def test_it_ends_when_asked_to():
    start, neighbour, capacity = rows([(0, 1)], 2)
    one = np.zeros((1, 2))
    ends, stop = np.zeros(1, np.int32), np.ones(1, np.int8)
    done = paths.most_of_any(
        start, neighbour, capacity, ends, np.ones(1), one.astype(np.int32), one, np.zeros(2), stop
    )
    assert not done
