"""Grids, trees and groups: each family against its formulas and by properties of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.topology import WIRINGS, Topology

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4).filter(lambda dims: prod(dims) <= 150)


def mean_path(made: Topology) -> float:
    """Links on a shortest route, in the mean over two different routers."""
    n = made.num_routers
    return float(made.router_hops.sum(dtype=np.int64)) / (n * (n - 1))


def second_eigenvalue(made: Topology) -> float:
    """The second largest of the adjacency matrix."""
    joined = np.zeros((made.num_routers, made.num_routers))
    np.add.at(joined, (made.links[:, 0], made.links[:, 1]), 1)
    return float(np.linalg.eigvalsh(joined + joined.T)[-2])


def crossing(made: Topology, half: NDArray[np.bool_]) -> int:
    """Links between half of the routers and the other half."""
    assert 2 * half.sum() == made.num_routers
    return int((half[made.links[:, 0]] != half[made.links[:, 1]]).sum())


def looks_the_same_from_everywhere(made: Topology) -> bool:
    """Whether every router has as many others at each distance."""
    rows = np.sort(made.router_hops, axis=1)
    return bool((rows == rows[0]).all())


@for_each(
    "made, routers, degree, diameter, length, bisection",
    [
        (topology.torus((8, 8)), 64, 4, 8, 4.0635, 16),
        (topology.torus((4, 4, 4)), 64, 6, 6, 3.0476, 32),
        (topology.torus((8, 8, 8)), 512, 6, 12, 6.0117, 128),
        (topology.torus((5, 5, 5)), 125, 6, 6, 3.629, None),
        (topology.hypercube(10), 1024, 10, 10, 5.0049, 512),
        (topology.hyperx((4, 4)), 16, 6, 2, 1.6, 16),
        (topology.hyperx((8, 8)), 64, 14, 2, 1.7778, 128),
        (topology.hyperx((4, 4, 4)), 64, 9, 3, None, 64),
        (topology.hyperx((8, 8, 8)), 512, 21, 3, 2.6301, 1024),
    ],
)
def test_grids_of_the_table(
    made: Topology,
    routers: int,
    degree: int,
    diameter: int,
    length: float | None,
    bisection: int | None,
) -> None:
    assert made.num_routers == routers
    assert set(made.degree) == {degree}
    assert made.diameter == diameter
    if length is not None:
        assert round(mean_path(made), 4) == length
    if bisection is not None:
        along = made.coordinates[:, -1]
        assert crossing(made, along <= along.max() // 2) == bisection


def test_a_group_of_aries_routers_is_a_grid_of_cliques() -> None:
    """The table's row counts the links of a column once: K16 x K6, whose cut meets its bound."""
    plain = topology.hyperx((16, 6))
    assert (plain.num_routers, set(plain.degree), plain.diameter) == (96, {20}, 2)
    assert round(mean_path(plain), 4) == 1.7895
    assert second_eigenvalue(plain) == pytest.approx(14, abs=1e-9)  # 96 · eps · 20
    assert crossing(plain, plain.coordinates[:, 1] < 3) == 144 == 96 * (20 - 14) / 4
    group = topology.aries(1)
    assert set(group.degree) == {15 + 3 * 5}
    np.testing.assert_array_equal(group.router_hops, plain.router_hops)


@given(SIZES, st.booleans(), st.integers(1, 3))
def test_a_torus_has_the_distances_of_its_rings(dims: list[int], mesh: bool, hosts: int) -> None:
    made = topology.torus(dims, mesh=mesh, hosts=hosts)
    assert made.num_routers == prod(dims)
    assert made.num_hosts == hosts * prod(dims)
    places = np.array([point[::-1] for point in product(*map(range, dims[::-1]))])
    np.testing.assert_array_equal(made.coordinates, places)
    apart = np.abs(places[:, None] - places[None])
    around = apart if mesh else np.minimum(apart, np.array(dims) - apart)
    np.testing.assert_array_equal(made.router_hops, around.sum(axis=2))
    each = [size - 1 if mesh or size < 3 else size for size in dims]
    lines = [made.num_routers // size for size in dims]
    assert made.num_links == sum(n * lines[axis] for axis, n in enumerate(each))
    assert len(np.unique(np.sort(made.links, axis=1), axis=0)) == made.num_links
    assert mesh or looks_the_same_from_everywhere(made)


@given(SIZES, st.data())
def test_links_side_by_side(dims: list[int], data: st.DataObject) -> None:
    beside = data.draw(st.lists(st.integers(1, 3), min_size=len(dims), max_size=len(dims)))
    for generator in (topology.torus, topology.hyperx):
        plain, made = generator(dims), generator(dims, multiplicity=beside)
        np.testing.assert_array_equal(plain.router_hops, made.router_hops)
        ends = plain.coordinates[plain.links]
        axis = (ends[:, 0] != ends[:, 1]).argmax(axis=1)
        each = np.array(beside)[axis]
        np.testing.assert_array_equal(np.repeat(plain.links, each, axis=0), made.links)
        np.testing.assert_array_equal(np.repeat(plain.link_class, each), made.link_class)


def test_dimensions_are_classes_where_there_are_few() -> None:
    assert topology.torus((3, 3)).classes == ("terminal", "dimension 0", "dimension 1")
    assert topology.torus(9).classes == topology.torus((2,) * 7).classes == ("terminal", "link")
    made = topology.torus((2,) * 7)
    cube = topology.hypercube(7)
    np.testing.assert_array_equal(made.router_hops, cube.router_hops)
    np.testing.assert_array_equal(made.coordinates, cube.coordinates)


@given(st.integers(1, 7), st.integers(1, 2))
def test_a_hypercube_has_the_distances_of_its_bits(n: int, hosts: int) -> None:
    made = topology.hypercube(n, hosts=hosts)
    number = np.arange(2**n)
    different = (number[:, None] ^ number[None])[..., None] >> np.arange(n) & 1
    np.testing.assert_array_equal(made.router_hops, different.sum(axis=-1))
    assert made.num_links == n * 2 ** (n - 1)
    assert made.num_hosts == hosts * 2**n


@given(SIZES, st.integers(1, 3))
def test_a_hyperx_has_the_distances_of_its_coordinates(dims: list[int], hosts: int) -> None:
    made = topology.hyperx(dims, hosts=hosts)
    places = made.coordinates
    np.testing.assert_array_equal(made.router_hops, (places[:, None] != places[None]).sum(axis=2))
    assert set(made.degree) == {sum(dims) - len(dims)}
    assert made.num_hosts == hosts * prod(dims)


@given(
    st.integers(1, 4).flatmap(
        lambda h: st.tuples(
            st.lists(st.integers(1, 4), min_size=h, max_size=h),
            st.lists(st.integers(1, 3), min_size=h, max_size=h),
            st.lists(st.integers(1, 2), min_size=h, max_size=h),
        )
    )
)
def test_an_extended_fat_tree_has_the_sizes_of_its_formulas(
    shape: tuple[list[int], list[int], list[int]],
) -> None:
    m, w, parallel = shape
    w[0] = parallel[0] = 1
    made = topology.xgft(m, w, parallel)
    height = len(m)
    assert made.num_hosts == prod(m)
    tiers = np.bincount(made.coordinates[:, 0], minlength=height)
    expected = [prod(w[:level]) * prod(m[level:]) for level in range(1, height + 1)]
    assert tiers.tolist() == expected
    tier = made.coordinates[:, 0]
    assert (tier[made.links[:, 1]] - tier[made.links[:, 0]] == 1).all()
    down = np.bincount(made.links[:, 1], minlength=made.num_routers)
    up = np.bincount(made.links[:, 0], minlength=made.num_routers)
    for level in range(height):
        beside = parallel[level]
        assert set(down[tier == level]) == {m[level] * beside if level else 0}
        above = w[level + 1] * parallel[level + 1] if level + 1 < height else 0
        assert set(up[tier == level]) == {above}
    leaves = np.flatnonzero(tier == 0)
    subtree = leaves[:, None] // np.cumprod([1, *m[1:]])
    # Two leaves are as far as the lowest level on which they share a subtree.
    together = (subtree[:, None] == subtree[None]).argmax(axis=2)
    np.testing.assert_array_equal(made.router_hops[np.ix_(leaves, leaves)], 2 * together)
    pods = made.group[made.links][(tier[made.links] < height - 1).all(axis=1)]
    assert (pods[:, 0] == pods[:, 1]).all()


@for_each("k", [2, 4, 6])
def test_a_fat_tree_is_an_extended_one(k: int) -> None:
    half = k // 2
    tree, same = topology.fat_tree(k), topology.xgft((half, half, k), (1, half, half))
    assert sorted(map(tuple, tree.links.tolist())) == sorted(map(tuple, same.links.tolist()))
    np.testing.assert_array_equal(tree.host_router, same.host_router)
    np.testing.assert_array_equal(tree.coordinates, same.coordinates)
    np.testing.assert_array_equal(tree.group, same.group)


@given(st.integers(1, 30), st.data())
def test_a_cray_xc_joins_all_groups_alike(g: int, data: st.DataObject) -> None:
    most = 480 // max(g - 1, 1)
    connections = data.draw(st.integers(1, min(most, 12)))
    made = topology.aries(g, blue=2 * connections)
    assert made.num_hosts == 384 * g
    classes = np.bincount(made.link_class, minlength=4).tolist()
    assert classes == [0, 720 * g, 720 * g, g * (g - 1) * connections]
    blue = made.links[made.link_class == 3]
    pairs, counts = np.unique(made.group[blue], axis=0, return_counts=True)
    assert len(pairs) == g * (g - 1) // 2
    assert set(counts) <= {2 * connections}
    assert np.bincount(blue.ravel(), minlength=96).max() <= 10
    if connections % 6 == 0:
        row = made.coordinates[blue, 1]
        assert (row[:, 0] == row[:, 1]).all()
    _, group, row, column = made.coordinates.shape[0], *made.coordinates.T
    np.testing.assert_array_equal(96 * group + 16 * row + column, np.arange(made.num_routers))


def test_the_links_between_groups_of_a_cray_xc() -> None:
    """As many as the ten ports of 96 routers allow, in whole rounds of the six rows."""
    found = [topology.aries(g).parameters["blue"] for g in (2, 3, 34, 81, 82, 481)]
    assert found == [960, 480, 24, 12, 10, 2]
    assert "blue" not in topology.aries(1).parameters
    assert topology.aries(3).diameter <= 5


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.data())
def test_a_dragonfly_plus_has_the_sizes_of_its_formulas(
    leaves: int, spines: int, p: int, h: int, data: st.DataObject
) -> None:
    wiring = data.draw(st.sampled_from(WIRINGS[:3]))
    g = data.draw(st.integers(1, spines * h + 1))
    made = topology.dragonfly_plus(leaves, spines, p, h, g, wiring=wiring)
    assert made.num_hosts == g * leaves * p
    assert made.num_routers == g * (leaves + spines)
    group, tier, place = made.coordinates.T
    assert set(tier[made.host_router]) == {0}
    assert set(np.bincount(made.host_router, minlength=made.num_routers)[tier == 0]) == {p}
    np.testing.assert_array_equal(
        group * (leaves + spines) + tier * leaves + place, np.arange(made.num_routers)
    )
    local, between = (made.links[made.link_class == which] for which in (1, 2))
    assert len(local) == g * leaves * spines
    assert (group[local[:, 0]] == group[local[:, 1]]).all()
    assert (tier[local] == [0, 1]).all()
    assert (tier[between] == 1).all()
    assert len(np.unique(np.sort(group[between], axis=1), axis=0)) == g * (g - 1) // 2
    assert made.degree[tier == 1].max() <= leaves + h
    hops = made.router_hops[np.ix_(tier == 0, tier == 0)]
    # Leaf, spine, spine, leaf: every leaf is at all spines, so also at the one that leads there.
    assert hops.max() == (3 if g > 1 else 2 if leaves > 1 else 0)


def test_a_dragonfly_plus_is_wired_as_a_dragonfly_of_its_spines() -> None:
    plus = topology.dragonfly_plus(3, 4, 1, 2, wiring="circulant")
    fly = topology.dragonfly(4, 1, 2, wiring="circulant")
    links = plus.links[plus.link_class == 2]
    np.testing.assert_array_equal(
        plus.coordinates[links][..., [0, 2]], fly.coordinates[fly.links[fly.link_class == 2]]
    )


@given(st.integers(1, 12), st.integers(1, 3))
def test_a_fully_connected_network_and_a_star(n: int, hosts: int) -> None:
    full = topology.fully_connected(n, hosts=hosts)
    np.testing.assert_array_equal(full.router_hops, 1 - np.eye(n))
    assert (full.num_hosts, full.num_links) == (n * hosts, n * (n - 1) // 2)
    round_hub = topology.star(n, hosts=hosts, multiplicity=hosts)
    assert (round_hub.num_hosts, round_hub.num_routers) == (n * hosts, n + 1)
    assert round_hub.degree.tolist() == [hosts] * n + [n * hosts]
    np.testing.assert_array_equal(round_hub.router_hops[:n, :n], 2 - 2 * np.eye(n))
    assert n not in round_hub.host_router


@for_each(
    "generator, arguments, said",
    [
        (topology.torus, {"dims": ()}, "1 to 32 numbers; got 0"),
        (topology.torus, {"dims": "8x8"}, "dims, the routers along a dimension"),
        (topology.torus, {"dims": (4, 0)}, "at least 1; got 0"),
        (topology.torus, {"dims": (4, 4), "hosts": 0}, "hosts of a router"),
        (topology.torus, {"dims": (4, 4, 4), "multiplicity": (1, 2)}, "each of 3 dimensions"),
        (topology.torus, {"dims": (2000, 2000)}, "at most 4194304 links; .*: lower dims"),
        (topology.torus, {"dims": (2**31 - 2,) * 32}, "would have over 10"),
        (topology.hypercube, {"n": 0}, "n, the dimensions"),
        (topology.hypercube, {"n": 19}, "at most 4194304 links"),
        (topology.hypercube, {"n": 2**31 - 2}, "at most 4194304 hosts; this one would have over"),
        (topology.hyperx, {"sizes": (4000,)}, "at most 4194304 links"),
        (topology.hyperx, {"sizes": (1.5,)}, "whole number"),
        (topology.xgft, {"m": (4, 4), "w": (1,)}, "for each of 2 levels"),
        (topology.xgft, {"m": (4, 4), "w": (2, 2)}, "take 1x2"),
        (topology.xgft, {"m": (2,) * 8, "w": (1,) * 8}, "at most 7 levels; got 8"),
        (topology.xgft, {"m": (4, 4), "w": (1, 2), "parallel": (2, 2)}, "take 1x2"),
        (topology.xgft, {"m": (4, 4, 2), "w": (1, 2, 2), "parallel": (1, 2)}, "of 3 levels"),
        (topology.xgft, {"m": (10**6, 10), "w": (1, 2)}, "at most 4194304 hosts"),
        (topology.xgft, {"m": (1, 1), "w": (1, 10**7)}, "at most 4194304 links"),
        (topology.aries, {"g": 482}, "at most 481 groups.*take 481"),
        (topology.aries, {"g": 9, "blue": 3}, "even and at most 120 .*take 2"),
        (topology.aries, {"g": 9, "blue": 200}, "got 200: take 120"),
        (topology.aries, {"g": 9, "blue": 0}, "at least 2"),
        (topology.dragonfly_plus, {"leaves": 2, "spines": 2, "p": 1}, "needs h"),
        (
            topology.dragonfly_plus,
            {"leaves": 2, "spines": 2, "p": 1, "h": 2, "g": 9},
            "at most spines·h \\+ 1 = 5 .*raise h to 4",
        ),
        (topology.fully_connected, {"n": 3000}, "at most 4194304 links"),
        (topology.star, {"n": 0}, "the routers round the hub"),
    ],
)
def test_networks_that_cannot_be_built(
    generator: Callable[..., Topology], arguments: dict[str, object], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        generator(**arguments)
