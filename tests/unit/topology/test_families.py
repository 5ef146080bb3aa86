"""Each family against its formulas, and the two networks of LLAMP's study against its figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.topology import WIRINGS
from workbench.topology.dragonfly_links import SST, GroupWiring
from workbench.topology.routing import route

PAIRED = [wiring for wiring in WIRINGS if wiring != SST]
"""The wirings that join every two groups by as many links as asked for."""


@given(st.sampled_from([2, 4, 6, 8, 12]))
def test_a_fat_tree_has_the_sizes_of_its_formulas(k: int) -> None:
    made = topology.fat_tree(k)
    half = k // 2
    assert made.num_hosts == k**3 // 4
    assert made.num_routers == 5 * k**2 // 4
    assert made.num_links == k**3 // 2
    edge, aggregation, core = np.split(made.degree, [k * half, 2 * k * half])
    ports = np.bincount(made.host_router, minlength=made.num_routers)
    assert set(edge + ports[: k * half]) == {k}
    assert set(aggregation) == set(core) == {k}
    assert made.diameter == 4
    assert len(np.unique(made.links, axis=0)) == made.num_links
    # Full bisection: k³/8 links leave one half of the pods for the core, one for each host there.
    up = made.links[made.link_class == 2]
    assert (made.group[up[:, 0]] < half).sum() == k**3 // 8


@for_each("k, hosts, switches", [(4, 16, 20), (8, 128, 80), (16, 1024, 320)])
def test_fat_trees_of_the_table(k: int, hosts: int, switches: int) -> None:
    made = topology.fat_tree(k)
    assert (made.num_hosts, made.num_routers) == (hosts, switches)
    assert made.hops().max() == 5


def test_every_core_switch_reaches_every_pod_once() -> None:
    made = topology.fat_tree(6)
    up = made.links[made.link_class == 2]
    for core in np.unique(up[:, 1]):
        assert sorted(made.group[up[up[:, 1] == core, 0]]) == list(range(6))


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 4), st.sampled_from(PAIRED), st.data())
def test_a_dragonfly_has_the_sizes_of_its_formulas(
    a: int, p: int, h: int, wiring: GroupWiring, data: st.DataObject
) -> None:
    g = data.draw(st.integers(1, a * h + 1))
    made = topology.dragonfly(a, p, h, g, wiring=wiring)
    assert made.num_hosts == g * a * p
    assert made.num_routers == g * a
    assert made.num_links == g * a * (a - 1) // 2 + g * (g - 1) // 2
    assert made.degree.max(initial=0) <= a - 1 + h
    assert made.diameter <= 3
    between = np.sort(made.group[made.links[made.link_class == 2]], axis=1)
    every = [(i, j) for i in range(g) for j in range(i + 1, g)]
    assert sorted(map(tuple, between.tolist())) == every
    within = made.group[made.links[made.link_class == 1]]
    assert (within[:, 0] == within[:, 1]).all()


@for_each("wiring", WIRINGS)
@for_each(
    "a, h, hosts, routers, degree",
    [(4, 2, 72, 36, 5), (8, 4, 1056, 264, 11)],
)
def test_full_dragonflies_of_the_table(
    a: int, h: int, hosts: int, routers: int, degree: int, wiring: GroupWiring
) -> None:
    made = topology.dragonfly(a, h, h, wiring=wiring)
    assert (made.num_hosts, made.num_routers) == (hosts, routers)
    assert set(made.degree) == {degree}
    assert made.diameter == 3


@for_each("a, h, length", [(4, 2, 2.3524), (8, 4, 2.6937), (16, 8, 2.8582)])
def test_the_average_path_length_of_a_full_dragonfly(a: int, h: int, length: float) -> None:
    made = topology.dragonfly(a, h, h)
    n = made.num_routers
    assert round(made.router_hops.sum(dtype=np.int64) / (n * (n - 1)), 4) == length


def test_the_ports_of_the_wirings() -> None:
    """Group 2 of 5 with one router each: who is at the other end of port 0, 1, 2, 3."""
    reached = {}
    for wiring in PAIRED:
        made = topology.dragonfly(4, 1, 1, wiring=wiring)
        links = made.links[made.link_class == 2]
        ends = {int(a): int(b) // 4 for pair in links for a, b in (pair, pair[::-1])}
        reached[wiring] = [ends[2 * 4 + port] for port in range(4)]
    assert reached == {
        "absolute": [0, 1, 3, 4],
        "relative": [3, 4, 0, 1],
        "circulant": [3, 1, 4, 0],
    }


def test_the_two_networks_of_llamps_study() -> None:
    """256 ranks, densely placed: mean hops, and a message's mean latency at 274 and 108 ns."""
    tree = topology.fat_tree(16)
    fly = topology.dragonfly(a=4, p=8, g=8)
    assert fly.parameters["h"] == 2
    for made, mean, latency in ((tree, 4.451, 1974.3), (fly, 3.2725, 1524.1)):
        hops = made.mean_hops(range(256))
        assert round(hops, 4 if made is fly else 3) == mean
        assert round((hops + 1) * 274 + hops * 108, 1) == latency
    shares = np.bincount(fly.hops(range(256)).ravel())[1:] / (256 * 255)
    assert np.round(shares, 3).tolist() == [0.027, 0.149, 0.347, 0.476]


def test_other_wirings_have_other_mean_hops() -> None:
    """The study does not say which it is; only the absolute one gives its figure."""
    means = {w: topology.dragonfly(4, 8, g=8, wiring=w).mean_hops() for w in PAIRED}
    assert {w: round(mean, 4) for w, mean in means.items()} == {
        "absolute": 3.2725,
        "relative": 3.2431,
        "circulant": 3.251,
    }


def test_a_dragonflys_minimal_routes_take_one_global_link() -> None:
    """Also where two would be a shorter way: local, global, local (Kim et al., 2008)."""
    made = topology.dragonfly(4, 2, 2)
    wires = made.wires()
    apart = made.group[made.host_router][:, None] != made.group[made.host_router][None, :]
    assert set(wires[..., 0][apart]) == {2}
    assert set(wires[..., 2][~apart]) == {0}
    assert set(wires[..., 2][apart]) == {1}
    routing = route(made, "minimal")
    routers = routing.minimal.hops[:, routing.minimal.column[made.host_router]][made.host_router]
    np.testing.assert_array_equal(wires[..., 1:].sum(axis=2), routers)
    assert (wires.sum(axis=2) > made.hops().astype(int) + 1)[apart].any()


@for_each(
    "k, said",
    [(3, "take 2 or 4"), (1, "at least 2"), (258, "take 256"), (4.0, "whole"), (True, "whole")],
)
def test_fat_trees_that_cannot_be_built(k: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        topology.fat_tree(k)  # type: ignore[arg-type]


@for_each(
    "arguments, said",
    [
        ({"a": 4, "p": 2, "h": 2, "g": 10}, "lower g to 9 or raise h to 3"),
        ({"a": 4, "p": 2}, "needs h"),
        ({"a": 0, "p": 2, "h": 1}, "a, the routers of a group"),
        ({"a": 2, "p": 0, "h": 1}, "p, the hosts of a router"),
        ({"a": 2, "p": 1, "h": 0}, "h, a router's ports"),
        ({"a": 2, "p": 1, "g": 0}, "g, the groups"),
        ({"a": 2, "p": 1, "h": 1, "wiring": "other"}, "wiring must be one of"),
        ({"a": 10**6, "p": 1, "h": 1}, "at most 4194304 hosts; this one would have 1000001000000"),
        ({"a": 2**30, "p": 1, "h": 1, "g": 1}, "at most 4194304 hosts; .* 1073741824: lower g"),
        ({"a": 4096, "p": 1, "h": 1, "g": 2}, "at most 4194304 links"),
        ({"a": 2**30, "p": 2**30, "h": 2**30, "g": 1}, "hosts; this one would have over 10"),
        ({"a": 4, "p": 2, "h": 2, "links": 0}, "links, the links between two groups"),
        ({"a": 4, "p": 2, "h": 2, "g": 6, "links": 2}, "lower g to 5 or raise h to 3"),
        ({"a": 4, "p": 2, "h": 3, "wiring": SST}, "h must be even for sst-circulant.*take 2 or 4"),
        ({"a": 4, "p": 2, "h": 2, "wiring": SST, "links": 2}, "links cannot be chosen"),
    ],
)
def test_dragonflies_that_cannot_be_built(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        topology.dragonfly(**arguments)  # type: ignore[arg-type]


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), st.sampled_from(PAIRED), st.data())
def test_several_links_of_two_groups(
    a: int, h: int, links: int, wiring: GroupWiring, data: st.DataObject
) -> None:
    most = a * h // links + 1
    g = data.draw(st.integers(1, most))
    made = topology.dragonfly(a, 1, h, g, wiring=wiring, links=links)
    between = np.sort(made.group[made.links[made.link_class == 2]], axis=1)
    pairs, counts = np.unique(between, axis=0, return_counts=True)
    assert len(pairs) == g * (g - 1) // 2
    assert set(counts) <= {links}
    assert made.degree.max(initial=0) <= a - 1 + h


def test_all_ports_of_a_dragonfly_with_few_groups() -> None:
    """9 groups of 32 ports: four links for each pair, at four routers, and no port over."""
    assert topology.dragonfly(8, 4, 4, 1, links=None) == topology.dragonfly(8, 4, 4, 1)
    made = topology.dragonfly(8, 4, 4, 9, links=None)
    assert made.num_links == 9 * 28 + 36 * 4
    assert set(made.degree) == {7 + 4}
    ends = made.links[made.link_class == 2]
    of_pair = ends[(made.group[ends] == [0, 1]).all(axis=1)]
    assert len(set(of_pair[:, 0])) == len(set(of_pair[:, 1])) == 4


@given(st.integers(1, 5), st.sampled_from([2, 4, 6]), st.data())
def test_the_circulant_wiring_of_sst_macro(a: int, h: int, data: st.DataObject) -> None:
    """Router A of group i reaches A of groups i ± (A·h/2 + j), but for its own."""
    g = data.draw(st.integers(1, a * h + 1))
    made = topology.dragonfly(a, 1, h, g, wiring=SST)
    reached: list[list[int]] = [[] for _ in range(made.num_routers)]
    for one, other in made.links[made.link_class == 2].tolist():
        assert one % a == other % a
        reached[one].append(other // a)
        reached[other].append(one // a)
    for router, groups in enumerate(reached):
        group, place = divmod(router, a)
        steps = [place * (h // 2) + j for j in range(1, h // 2 + 1)]
        expected = [(group + sign * step) % g for step in steps for sign in (1, -1)]
        assert sorted(groups) == sorted(to for to in expected if to != group)
    assert made.diameter <= 3


def test_the_fewest_ports_of_the_circulant_wiring_are_even() -> None:
    assert topology.dragonfly(4, 1, g=6, wiring=SST).parameters["h"] == 2
    assert topology.dragonfly(4, 1, g=1, wiring=SST).num_links == 6


@given(st.sampled_from([(6, 2), (12, 2), (8, 3), (12, 3), (12, 5)]))
def test_a_tapered_fat_tree(shape: tuple[int, int]) -> None:
    k, taper = shape
    made = topology.fat_tree(k, taper=taper)
    up = k // (taper + 1)
    assert made.num_hosts == k * k // 2 * (k - up)
    assert made.num_routers == k * (k // 2 + up) + k // 2 * up
    ports = made.degree + np.bincount(made.host_router, minlength=made.num_routers)
    assert set(ports) == {k}
    assert made.diameter == 4
    leaving = made.links[made.link_class == 2]
    # Half of the pods send this share of what their hosts do to the core.
    assert (made.group[leaving[:, 0]] < k // 2).sum() * 2 * taper == made.num_hosts


@for_each(
    "arguments, said",
    [((10, 2), "a multiple of 3 .*take 6 or 12"), ((4, 0), "taper"), ((4, True), "taper")],
)
def test_tapers_that_cannot_be_built(arguments: tuple[int, int], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        topology.fat_tree(arguments[0], taper=arguments[1])
