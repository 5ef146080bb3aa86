"""PolarFly against the table of its invariants and the geometry it is made of."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.cases import for_each
from tests.reference import graphs
from workbench.errors import ParameterError
from workbench.topology.galois import galois_field
from workbench.topology.polarfly import polarfly

TABLE = {3: (13, 24), 5: (31, 90), 7: (57, 224), 9: (91, 450), 11: (133, 792), 13: (183, 1274)}
"""Routers and links by q."""


@for_each("q, sizes", [*TABLE.items(), (2, (7, 9)), (4, (21, 50)), (8, (73, 324))])
def test_routers_links_and_distances_of_the_table(q: int, sizes: tuple[int, int]) -> None:
    made = polarfly(q)
    assert (made.num_routers, made.num_links) == sizes
    assert graphs.is_one_to_one(made.num_routers, made.links.tolist())
    degrees = np.bincount(made.degree)
    assert degrees[q] == q + 1
    assert degrees[q + 1] == q * q
    assert made.diameter == 2


def test_the_largest_of_the_table() -> None:
    made = polarfly(31)
    n = made.num_routers
    assert (n, made.num_links) == (993, 15872)
    assert round(made.router_hops.sum(dtype=np.int64) / (n * (n - 1)), 4) == 1.9678


@for_each("q", [3, 4, 5, 8, 9])
def test_routers_are_joined_where_their_vectors_are_orthogonal(q: int) -> None:
    made, field = polarfly(q), galois_field(q)
    plus, times = field.sum_of, field.product_of
    points = made.coordinates.tolist()
    expected = sorted(
        [list(v) for v in product(range(q), repeat=3) if next(filter(None, v), 0) == 1]
    )
    assert points == expected
    joined = {tuple(sorted(link)) for link in made.links.tolist()}
    for one, (a, b, c) in enumerate(points):
        for other, (x, y, z) in enumerate(points[:one]):
            dot = plus[plus[times[a, x], times[b, y]], times[c, z]]
            assert ((other, one) in joined) == (dot == 0)


@for_each("q", [3, 4, 7, 8])
def test_two_routers_that_are_not_joined_have_one_neighbour_in_common(q: int) -> None:
    made = polarfly(q)
    n = made.num_routers
    adjacency = np.zeros((n, n), int)
    adjacency[made.links[:, 0], made.links[:, 1]] = 1
    adjacency += adjacency.T
    common = adjacency @ adjacency
    apart = (adjacency == 0) & ~np.eye(n, dtype=bool)
    assert (common[apart] == 1).all()
    assert (common[adjacency == 1] <= 1).all()


@for_each("q", [3, 5, 9, 11])
def test_groups_are_the_clusters_of_the_paper(q: int) -> None:
    """One cluster of q + 1 quadrics without links, and q fans of q routers."""
    made = polarfly(q)
    assert np.bincount(made.group).tolist() == [q + 1] + [q] * q
    assert set(made.degree[made.group == 0].tolist()) == {q}
    within = made.group[made.links[made.link_class == 1]]
    assert (within[:, 0] == within[:, 1]).all()
    # A fan: the centre joined to the q - 1 others, these in pairs.
    assert np.bincount(within[:, 0])[1:].tolist() == [(q - 1) * 3 // 2] * q
    assert not (within == 0).any()


@for_each("q", [2, 4, 8])
def test_clusters_of_an_even_q_hold_every_router(q: int) -> None:
    made = polarfly(q)
    assert made.group.min() == 0
    assert np.bincount(made.group)[0] == q + 1
    assert sorted(np.bincount(made.group)[1:].tolist()) == [1] + [q + 1] * (q - 1)


@for_each(
    "arguments, said",
    [
        ({"q": 6}, "take 5 or 7"),
        ({"q": 1}, "take 2"),
        ({"q": 15}, "take 13 or 16"),
        ({"q": 256}, "at most 4194304"),
        ({"q": 300}, "take 256"),
        ({"q": "7"}, "whole"),
    ],
)
def test_polarflies_that_cannot_be_built(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        polarfly(**arguments)  # type: ignore[arg-type]
