"""Slim Fly against the figures of its papers and the table of its invariants."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from tests.reference import graphs
from workbench import topology
from workbench.errors import ParameterError
from workbench.topology.galois import galois_field
from workbench.topology.slim_fly import generating_sets, slim_fly

TABLE = {3: 5, 4: 6, 5: 7, 7: 11, 8: 12, 9: 13, 11: 17, 13: 19, 16: 24, 17: 25, 19: 29, 25: 37}
"""The links of a router by q: (3q - d)/2 with q = 4w + d."""


@for_each("q, degree", TABLE.items())
def test_routers_links_and_distances_of_the_table(q: int, degree: int) -> None:
    made = slim_fly(q)
    n = made.num_routers
    assert n == 2 * q * q
    assert set(made.degree.tolist()) == {degree}
    assert graphs.is_one_to_one(n, made.links.tolist())
    assert made.diameter == 2
    # Of diameter 2: all but the neighbours are at distance 2.
    mean = made.router_hops.sum(dtype=np.int64) / (n * (n - 1))
    assert mean == pytest.approx(2 - degree / (n - 1), rel=1e-12)
    assert made.num_hosts == n * -(-degree // 2)


@for_each("q, mean", [(5, 1.8571), (17, 1.9567), (19, 1.9598)])
def test_mean_distances_of_the_table(q: int, mean: float) -> None:
    made = slim_fly(q)
    n = made.num_routers
    assert round(made.router_hops.sum(dtype=np.int64) / (n * (n - 1)), 4) == mean


@for_each("q, bound", [(4, None), (5, 62.5), (7, None), (8, None), (9, None), (17, 2456.5)])
def test_the_second_eigenvalue_is_the_degree_less_q(q: int, bound: float | None) -> None:
    made = slim_fly(q)
    second = graphs.second_eigenvalue(made.num_routers, made.links.tolist())
    assert second == pytest.approx(TABLE[q] - q, abs=1e-9)
    if bound is not None:
        # No cut into halves has fewer links than n(k - λ₂)/4 = q³/2.
        assert made.num_routers * (TABLE[q] - second) / 4 == pytest.approx(bound, rel=1e-9)


def test_q_5_is_the_graph_of_hoffman_and_singleton() -> None:
    """The only 7-regular graph of 50 vertices with girth 5 and diameter 2."""
    made = slim_fly(5)
    assert graphs.girth(50, made.links.tolist()) == 5
    assert set(made.degree.tolist()) == {7}
    assert made.diameter == 2


@for_each("q", [3, 4, 5, 7, 8, 9, 11, 13, 16, 19, 25, 27, 32])
def test_the_generating_sets_are_symmetric_and_cover_the_field(q: int) -> None:
    field = galois_field(q)
    both = generating_sets(field)
    for chosen in both:
        assert 0 not in chosen
        assert len(set(chosen.tolist())) == len(chosen) == TABLE.get(q, (3 * q + 1) // 2) - q
        assert set(field.negative[chosen].tolist()) == set(chosen.tolist())
    # What neither joins directly or by two steps of one side, the other side's routers join.
    assert {0, *both[0].tolist(), *both[1].tolist()} == set(range(q))


def test_groups_are_racks_joined_alike() -> None:
    """Racks of 2q routers as in section VI; of q³ links between the sides q² are within one."""
    q = 7
    made = slim_fly(q)
    assert np.bincount(made.group).tolist() == [2 * q] * q
    between = made.group[made.links[made.link_class == 2]]
    counts = np.zeros((q, q), int)
    np.add.at(counts, (between.min(axis=1), between.max(axis=1)), 1)
    assert (counts[np.triu_indices(q, 1)] == 2 * q).all()
    within = made.group[made.links[made.link_class == 1]]
    assert (within[:, 0] == within[:, 1]).all()
    assert made.coordinates.tolist() == [
        [side, x, y] for side in range(2) for x in range(q) for y in range(q)
    ]


def test_hosts_are_given_or_balanced() -> None:
    assert slim_fly(5).num_hosts == 200
    assert slim_fly(5, hosts=1).num_hosts == 50
    assert topology.parse_topology("slim-fly:5,hosts=2").num_hosts == 100


@for_each(
    "arguments, said",
    [
        ({"q": 6}, "take 5 or 7"),
        ({"q": 2}, "take 3"),
        ({"q": 10}, "take 9 or 11"),
        ({"q": 10**8}, "take 256"),
        ({"q": 251}, "at most 4194304"),
        ({"q": 0}, "at least 1"),
        ({"q": 5.0}, "whole"),
        ({"q": 5, "hosts": 0}, "at least 1"),
        ({"q": 5, "hosts": 10**6}, "at most 4194304"),
    ],
)
def test_slim_flies_that_cannot_be_built(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        slim_fly(**arguments)  # type: ignore[arg-type]
