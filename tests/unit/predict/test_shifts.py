"""Loads of a torus' links by one walk, and the rounds of a pairwise alltoall."""

from __future__ import annotations

from math import prod

import numpy as np

from kernels.uq.torus_loads import add_messages
from tests.cases import for_each
from workbench.predict.demands import demands_of
from workbench.uq.collectives.round_costs import CollectivePlaces, link_blocks

SHAPES = [(8,), (2,), (1, 1, 9), (4, 5, 3), (2, 2, 4), (2, 3, 2, 2, 3, 2), (7, 1, 6)]


def by_two_walks(
    source: np.ndarray, target: np.ndarray, blocks: np.ndarray, shape: tuple[int, ...]
) -> tuple[float, float]:
    """Return the busiest link with ties divided and all upwards, from the ways of two walks.

    In the second each coordinate counts backwards, so that ties, which go upwards, go downwards.
    """
    sizes = np.array(shape)
    up, down = np.zeros((2, prod(shape), len(sizes), 2))
    add_messages(sizes, source, target, blocks, up)
    opposite = -np.indices(shape).reshape(len(shape), -1) % sizes[:, None]
    mirror = np.ravel_multi_index(tuple(opposite), shape)
    add_messages(sizes, mirror[source], mirror[target], blocks, down)
    both = 0.5 * (up + down[mirror][:, :, ::-1])
    for load in (up, both):  # in a ring of two, up and down are the same link
        load[:, sizes == 2, 0] += load[:, sizes == 2, 1]
    return float(both.max()), float(up.max())


@for_each("shape", SHAPES)
def test_one_walk_has_the_loads_of_two(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(7)
    nodes = prod(shape)
    for count in (2, 5, 200):
        source, target = rng.integers(0, nodes, (2, count))
        # Halves of whole numbers are exact.
        blocks = rng.integers(1, 9, count).astype(np.float64)
        found = link_blocks(source, target, blocks, CollectivePlaces(nodes, 1, shape))
        assert found == by_two_walks(source, target, blocks, shape)


@for_each(
    "places",
    [
        CollectivePlaces(23, 1, (2, 1, 2, 2, 3, 2)),
        CollectivePlaces(24, 2, (2, 1, 2, 2, 3, 2)),
        CollectivePlaces(16, 1, (4, 4)),
        CollectivePlaces(7, 3),
    ],
)
def test_each_round_of_a_pairwise_alltoall_is_its_shift(places: CollectivePlaces) -> None:
    """Pairs of nodes, exchanges, routers and loads are counted from each distance's messages."""
    found, _ = demands_of("alltoall", "pairwise", places, 8)
    ranks = np.arange(places.ranks)
    names = ("pairs", "both_ways", "hops", "link_blocks", "tied_blocks")
    sums = dict.fromkeys(names, 0.0)
    for distance in range(1, places.ranks):
        out, into = (n // places.ranks_per_node for n in (ranks, (ranks + distance) % places.ranks))
        out, into = out[out != into], into[out != into]
        ends = zip(out.tolist(), into.tolist(), strict=True)
        sums["pairs"] += len({frozenset(pair) for pair in ends})
        sums["both_ways"] += bool({*out.tolist()} & {*into.tolist()})
        if places.shape is None:
            continue
        split, tied = by_two_walks(out, into, np.ones(len(out)), places.shape)
        sums["link_blocks"] += split
        sums["tied_blocks"] += tied
        there = [np.array(np.unravel_index(end, places.shape)) for end in (out, into)]
        apart, size = np.abs(there[0] - there[1]), np.array(places.shape)[:, None]
        sums["hops"] += max(float(np.minimum(apart, size - apart).sum(axis=0).max()) - 1.0, 0.0)
    assert found.count.sum() == places.ranks - 1
    for name in names:
        assert float(found.count @ getattr(found, name)) == sums[name], name
