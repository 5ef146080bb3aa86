"""Xpander: a lift of a complete graph, connected, seeded, and nearly an ideal expander."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from tests.reference import graphs
from workbench.errors import ParameterError
from workbench.topology.xpander import xpander


@given(st.integers(3, 9), st.integers(1, 8), st.integers(0, 2**20))
def test_every_router_has_one_link_to_each_other_meta_node(d: int, lift: int, seed: int) -> None:
    made = xpander(d, lift, seed=seed)
    n = (d + 1) * lift
    assert (made.num_routers, made.num_links) == (n, n * d // 2)
    joined = graphs.neighbours(n, made.links.tolist())
    for router in range(n):
        reached = sorted(made.group[joined[router]].tolist())
        assert reached == [group for group in range(d + 1) if group != router // lift]
    assert -1 not in graphs.distances(n, made.links.tolist(), 0)
    assert np.array_equal(made.group, made.coordinates[:, 0])


def test_the_network_of_the_table() -> None:
    """240 routers of 11 links: its figures are those of one draw, any other's are near."""
    made = xpander(11, 20, seed=1)
    links = made.links.tolist()
    assert made.diameter in (3, 4)
    assert made.router_hops.sum(dtype=np.int64) / (240 * 239) == pytest.approx(2.5596, abs=5e-3)
    # A lift keeps the eigenvalues of the complete graph; the others are nearly Ramanujan.
    assert graphs.second_eigenvalue(240, links) <= 2 * 10**0.5 + 0.5
    assert xpander(11, 20).num_hosts == 240 * 6


def test_a_lift_of_one_is_the_complete_graph() -> None:
    made = xpander(5, 1)
    assert sorted(map(tuple, made.links.tolist())) == [
        (i, j) for i in range(6) for j in range(i + 1, 6)
    ]


def test_the_same_seed_gives_the_same_network_and_another_one_another() -> None:
    assert xpander(5, 6, seed=2) == xpander(5, 6, seed=2)
    assert not np.array_equal(xpander(5, 6, seed=2).links, xpander(5, 6, seed=3).links)


@for_each(
    "arguments, said",
    [
        ({"d": 2, "lift": 5}, "at least 3"),
        ({"d": 3, "lift": 0}, "at least 1"),
        ({"d": 3, "lift": 4, "seed": 1.5}, "seed"),
        ({"d": 100, "lift": 10**5}, "lower lift"),
    ],
)
def test_xpanders_that_cannot_be_built(arguments: dict[str, int], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        xpander(**arguments)
