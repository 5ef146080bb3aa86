"""Shortest routes on networks small enough to see."""

import numpy as np

from kernels import hops


def routes(links, classes, routers, sources=None, weight=None):
    """Return what the kernel packs, with its status."""
    ends = np.array(links, np.int32).reshape(-1, 2)
    here, there = np.concatenate((ends, ends[:, ::-1])).T
    order = np.argsort(here, kind="stable")
    start = np.searchsorted(here[order], np.arange(routers + 1)).astype(np.int32)
    chosen = np.arange(routers, dtype=np.int32) if sources is None else np.array(sources, np.int32)
    packed = np.empty((len(chosen), routers), np.int64)
    both = np.tile(np.array(classes, np.uint8), 2)
    cost = np.tile(np.ones(len(ends)) if weight is None else weight, 2).astype(np.uint16)
    adjacent = start, there[order], both[order], cost[order]
    return hops.cheapest_routes(*adjacent, chosen, packed), packed


def test_counts_are_packed_by_class():
    short, packed = routes([(0, 1), (1, 2), (2, 3)], [1, 2, 2], 4, [0])
    assert short
    assert packed.tolist() == [[0, 1 << 8, (1 << 8) + (1 << 16), (1 << 8) + (2 << 16)]]


def test_a_router_apart_is_minus_1():
    short, packed = routes([(0, 1)], [1], 3)
    assert short
    assert packed[:, 2].tolist() == [-1, -1, 0]


def test_the_fewest_links_count_before_their_classes():
    short, packed = routes([(0, 1), (1, 2), (0, 2), (0, 3), (3, 2)], [1, 1, 3, 1, 1], 4, [0])
    assert short
    assert packed[0, 2] == 1 << 24


def test_a_dear_link_is_taken_once_rather_than_twice():
    # 0 to 3 by two dear links, or by three of which one is dear.
    links = [(0, 4), (4, 3), (0, 1), (1, 2), (2, 3)]
    classes = [2, 2, 1, 2, 1]
    assert routes(links, classes, 5, [0])[1][0, 3] == 2 << 16
    dear = [64 if one == 2 else 1 for one in classes]
    short, packed = routes(links, classes, 5, [0], dear)
    assert short
    assert packed[0].tolist() == [0, 1 << 8, (1 << 8) + (1 << 16), (2 << 8) + (1 << 16), 1 << 16]


def test_the_seventh_class_does_not_overflow():
    _, packed = routes([(r, r + 1) for r in range(120)], [6] * 120, 121, [0])
    assert packed[0, 120] == 120 << 48


def test_255_links_are_too_many():
    for links, short in ((254, True), (255, False)):
        assert routes([(r, r + 1) for r in range(links)], [1] * links, links + 1, [0])[0] == short
