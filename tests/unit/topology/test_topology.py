"""The network as a graph: hops, wires by class, words for it, and what is refused."""

from __future__ import annotations

import contextlib
import inspect
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.topology import Topology


def network(
    num_routers: int,
    links: list[tuple[int, int]],
    hosts: list[int],
    link_class: list[int] | None = None,
) -> Topology:
    return Topology(
        name="example",
        num_routers=num_routers,
        links=np.array(links, np.int32),
        link_class=np.array(link_class or [1] * len(links), np.uint8),
        classes=("terminal", "short", "long"),
        host_router=np.array(hosts, np.int32),
        group=np.full(num_routers, -1, np.int32),
    )


def adjacency(made: Topology) -> np.ndarray:
    """Links between routers as a matrix of 0 and 1."""
    joined = np.zeros((made.num_routers, made.num_routers))
    joined[made.links[:, 0], made.links[:, 1]] = 1
    return np.maximum(joined, joined.T)


@given(st.integers(1, 12), st.data())
def test_hops_are_scipys_shortest_paths(routers: int, data: st.DataObject) -> None:
    # A tree joins them all; what is drawn besides makes circles.
    tree = [(data.draw(st.integers(0, r - 1)), r) for r in range(1, routers)]
    pairs = st.tuples(st.integers(0, routers - 1), st.integers(0, routers - 1))
    more = [pair for pair in data.draw(st.lists(pairs, max_size=12)) if pair[0] != pair[1]]
    hosts = data.draw(st.lists(st.integers(0, routers - 1), min_size=1, max_size=6))
    links = tree + more
    classes = data.draw(st.lists(st.integers(1, 2), min_size=len(links), max_size=len(links)))
    made = network(routers, links, hosts, classes)
    expected = shortest_path(csr_matrix(adjacency(made)), unweighted=True)
    np.testing.assert_array_equal(made.router_hops, expected)
    between = expected[np.ix_(hosts, hosts)] + 1
    np.fill_diagonal(between, 0)
    np.testing.assert_array_equal(made.hops(), between)
    wires = made.wires()
    np.testing.assert_array_equal(wires.sum(axis=2), np.where(between > 0, between + 1, 0))
    np.testing.assert_array_equal(wires, wires.transpose(1, 0, 2))


def test_of_two_shortest_routes_the_one_with_fewer_long_links_counts() -> None:
    links = [(0, 1), (1, 3), (0, 2), (2, 3)]
    for classes in ([2, 1, 1, 1], [1, 1, 1, 2]):
        assert network(4, links, [0, 3], classes).wires()[0, 1].tolist() == [2, 2, 0]
    assert network(4, links, [0, 3], [2, 1, 1, 2]).wires()[0, 1].tolist() == [2, 1, 1]


def test_a_route_is_the_shortest_even_if_it_takes_a_long_link() -> None:
    links = [(0, 1), (1, 2), (0, 2)]
    assert network(3, links, [0, 2], [1, 1, 2]).wires()[0, 1].tolist() == [2, 0, 1]


def test_a_host_that_stands_twice_is_no_wire_away_from_itself() -> None:
    made = network(2, [(0, 1)], [0, 0, 1])
    assert made.hops([0, 0, 1, 2]).tolist() == [
        [0, 0, 1, 2],
        [0, 0, 1, 2],
        [1, 1, 0, 2],
        [2, 2, 2, 0],
    ]
    assert made.wires([0, 0, 1])[0, :, 0].tolist() == [0, 0, 2]
    assert made.mean_hops() == pytest.approx(5 / 3)


def test_parallel_links_count_for_the_degree_and_not_for_hops() -> None:
    made = network(2, [(0, 1), (1, 0), (0, 1)], [0, 1])
    assert made.degree.tolist() == [3, 3]
    assert made.diameter == 1


def test_one_router_needs_no_link() -> None:
    made = network(1, [], [0, 0, 0])
    assert made.diameter == 0
    assert made.mean_hops() == 1


def test_topologies_compare_by_what_they_hold() -> None:
    assert topology.fat_tree(4) == topology.fat_tree(4)
    assert topology.fat_tree(4) != topology.fat_tree(6)
    made = network(2, [(0, 1)], [0, 1])
    assert made == replace(made, parameters={"n": 2})
    assert made != replace(made, family="fully-connected")
    assert made != replace(made, coordinates=np.array([[0], [1]]))
    assert repr(topology.fat_tree(4)) == "Topology(fat tree, k=4: 16 hosts, 20 routers, 32 links)"


@for_each(
    "word, same",
    [
        ("fat-tree:16", topology.fat_tree(16)),
        ("fat-tree: k=4", topology.fat_tree(4)),
        ("dragonfly:8,4,8", topology.dragonfly(4, 8, g=8)),
        ("dragonfly:9,4,2,2", topology.dragonfly(4, 2, 2)),
        ("dragonfly:9,8,4,4,links=none", topology.dragonfly(8, 4, 4, 9, links=None)),
        ("fat-tree:6,taper=2", topology.fat_tree(6, taper=2)),
        ("torus:4,3,2", topology.torus((4, 3, 2))),
        ("torus:4x3x2, hosts=2", topology.torus((4, 3, 2), hosts=2)),
        ("torus:5", topology.torus(5)),
        (
            "torus:dims=4x3, mesh=Yes, multiplicity=2x1",
            topology.torus((4, 3), mesh=True, multiplicity=(2, 1)),
        ),
        ("torus:4x3,mesh=no,multiplicity=2", topology.torus((4, 3), multiplicity=2)),
        ("hypercube:3", topology.hypercube(3)),
        ("hyperx:4,4,hosts=3", topology.hyperx((4, 4), hosts=3)),
        ("xgft:4x4,1x2", topology.xgft((4, 4), (1, 2))),
        ("xgft:2x3x4,1x2x2,1x2x1", topology.xgft((2, 3, 4), (1, 2, 2), (1, 2, 1))),
        ("aries:3,blue=4", topology.aries(3, blue=4)),
        ("dragonfly-plus:5,2,2,3,2", topology.dragonfly_plus(2, 2, 3, 2, 5)),
        ("fully-connected:5,hosts=2", topology.fully_connected(5, hosts=2)),
        ("star:5", topology.star(5)),
        ("Hopper", topology.preset("hopper")),
        (
            "dragonfly:a=4, p=2, h=2, wiring=relative",
            topology.dragonfly(4, 2, 2, wiring="relative"),
        ),
    ],
)
def test_words_for_topologies(word: str, same: Topology) -> None:
    assert topology.parse_topology(word) == same
    # Nothing but a machine's name is lost on the way there and back.
    again = topology.parse_topology(topology.topology_spec(same))
    assert replace(again, name=same.name) == same


def test_a_topology_of_no_family_has_no_word() -> None:
    with pytest.raises(ParameterError, match="example is custom"):
        topology.topology_spec(network(2, [(0, 1)], [0, 1]))


@for_each("word", topology.FAMILIES)
def test_the_description_of_a_family_holds(word: str) -> None:
    """Controls and help come from these lines, so they must name what the generator takes."""
    family = topology.FAMILIES[word]
    known = inspect.signature(family.generator).parameters
    assert [one.name for one in family.parameters] == list(known)
    for one in family.parameters:
        default = known[one.name].default
        assert one.needed == (default is inspect.Parameter.empty)
        assert one.optional or default is not None
    assert set(family.order) <= known.keys()
    made = topology.parse_topology(f"{word}:{family.example}")
    assert made.family == word
    assert topology.parse_topology(topology.topology_spec(made)) == made
    started = ",".join(f"{one.name}={one.start}" for one in family.parameters if one.start)
    assert topology.parse_topology(f"{word}:{started}").num_hosts > 1


@given(st.text(max_size=40), st.sampled_from(["", *topology.FAMILIES]))
def test_any_word_gives_a_topology_or_is_refused(text: str, family: str) -> None:
    with contextlib.suppress(ParameterError):
        assert isinstance(topology.parse_topology(f"{family}:{text}"), Topology)


def test_a_graph_of_networkx() -> None:
    graph = topology.torus((3, 1), multiplicity=(2, 1)).to_networkx()
    assert graph.graph == {"name": "torus 3x1, 2x1 parallel links", "family": "torus"}
    assert graph.nodes[2] == {"hosts": 1, "group": -1, "coordinates": (2, 0)}
    assert len(graph) == 3
    assert graph.number_of_edges(0, 1) == 2
    assert graph.number_of_edges() == 6
    assert {kind for _, _, kind in graph.edges(data="link_class")} == {"dimension 0"}


@for_each(
    "word, said",
    [
        ("ring:4,4", "must be one of fat-tree, dragonfly"),
        ("", "must be one of fat-tree, dragonfly"),
        ("fat-tree", "fat-tree needs k"),
        ("fat-tree:4,5", "at most 1 numbers without letters"),
        ("fat-tree:x", "must be a whole number; got 'x'"),
        ("fat-tree:" + "9" * 5000, "k must be a number of at most 12 digits"),
        ("fat-tree:p=4", "has the parameters k"),
        ("fat-tree:4,k=4", "k must be given once"),
        ("dragonfly:8,4", "dragonfly needs p"),
        ("torus", "torus needs dims, as in torus:8x8x8"),
        ("torus:4x4,2", "as torus:8x8x8 or with commas; got '4x4' among others"),
        ("torus:4x", "dims must be whole numbers with an x between them; got '4x'"),
        ("torus:4,,4", "something between two commas, as in torus:8x8x8; got '4,,4'"),
        ("torus:4x0", "dims, the routers along a dimension, must be a whole number of at least 1"),
        ("torus:4,hosts=none", "must be a whole number; got 'none'"),
        ("torus:4,mesh=perhaps", "mesh must be true or false; got 'perhaps'"),
        ("torus:" + ",".join("1" * 40), "must be 1 to 32 numbers; got 40"),
        ("torus:4,4,multiplicity=1x2x3", "one for each of 2 dimensions; got 3"),
        ("torus:100000,100000", "at most 4194304 hosts"),
        ("hopper:3", "must be one of fat-tree"),
        ("x" * 5000, "got 'xxx"),
        ("dragonfly:8,4,8,wiring=other", "wiring must be one of absolute, relative, circulant"),
    ],
)
def test_words_that_are_refused(word: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        topology.parse_topology(word)


def test_no_route_is_an_error_that_names_both_ends() -> None:
    made = network(3, [(0, 1)], [0, 2])
    with pytest.raises(ParameterError, match="none from router 0 to router 2"):
        made.hops()


def test_a_route_of_more_than_254_links_is_refused() -> None:
    chain = [(r, r + 1) for r in range(255)]
    longest = network(255, chain[:254], [0, 254])
    assert longest.diameter == 254
    assert longest.hops()[0, 1] == 255
    with pytest.raises(ParameterError, match="at most 254 links"):
        _ = network(256, chain[:255], [0, 255]).router_hops


@for_each(
    "links, hosts, said",
    [
        ([(0, 3)], [0], "links must name routers 0 to 2"),
        ([(-1, 2)], [0], "links must name routers 0 to 2"),
        ([(0, 1)], [3], "host_router must name routers 0 to 2"),
        ([(0, 1), (1, 1)], [0], "link 1 joins router 1 to itself"),
    ],
)
def test_links_and_hosts_must_be_there(
    links: list[tuple[int, int]], hosts: list[int], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        network(3, links, hosts)


def test_shapes_and_classes_must_agree() -> None:
    with pytest.raises(ParameterError, match="link_class must be 1 to 2"):
        network(2, [(0, 1)], [0], [3])
    with pytest.raises(ParameterError, match="link_class must have one entry"):
        network(2, [(0, 1)], [0], [1, 1])
    made = topology.fat_tree(2)
    with pytest.raises(ParameterError, match="group must have one entry"):
        Topology("x", 2, made.links[:0], made.link_class[:0], ("terminal",), [0], made.group)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="classes must be"):
        Topology("x", 5, made.links, made.link_class, ("a", "b", "c"), [0], made.group)  # type: ignore[arg-type]


@for_each("hosts", [[16], [-1], [0.5], [[0]], "all"])
def test_hosts_must_be_numbers_of_hosts(hosts: object) -> None:
    with pytest.raises(ParameterError, match="hosts must be"):
        topology.fat_tree(4).hops(hosts)  # type: ignore[arg-type]


def test_capacities_are_in_links_of_the_hosts_or_of_the_least_link() -> None:
    alike = network(3, [(0, 1), (1, 2)], [0, 2])
    assert not alike.unequal and math.isnan(alike.reference_bandwidth)
    np.testing.assert_array_equal(alike.capacity, [1, 1])
    links = replace(alike, link_bandwidth=np.array([50e9, 25e9]))
    assert links.unequal and links != alike
    np.testing.assert_array_equal(links.capacity, [2, 1])
    np.testing.assert_array_equal(links.host_capacity, [1, 1])
    hosts = replace(links, host_bandwidth=np.array([12.5e9, 25e9]))
    np.testing.assert_array_equal(hosts.capacity, [4, 2])
    np.testing.assert_array_equal(hosts.host_capacity, [1, 2])
    # Decimal figures whose ratio is whole.
    np.testing.assert_array_equal(
        replace(alike, link_bandwidth=np.array([0.3, 0.1])).capacity, [3, 1]
    )


@for_each("key, values, said", [
    ("link_bandwidth", [1.0], "link_bandwidth must have one entry for each of 2, or none"),
    ("link_bandwidth", [1.0, 0.0], "link_bandwidth must be finite and above 0 B/s; number 1 is 0"),
    ("link_latency", [-1e-9, 0.0], "link_latency must be finite and at least 0 s; number 0"),
    ("host_bandwidth", [math.nan], "host_bandwidth must be finite and above 0 B/s"),
])  # fmt: skip
def test_bandwidths_and_latencies_are_checked(key: str, values: list[float], said: str) -> None:
    made = network(3, [(0, 1), (1, 2)], [0])
    with pytest.raises(ParameterError, match=said):
        replace(made, **{key: np.array(values)})  # type: ignore[arg-type]
