"""Minimal routes, lanes, and the proof that packets never wait for one another in turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from tests.reference import routing as reference
from workbench.errors import ConfigurationError, ParameterError
from workbench.topology import Topology, parse_topology
from workbench.topology.channels import channels
from workbench.topology.routing import (
    ROUTINGS,
    Lanes,
    channel_dependency_graph,
    default_routing,
    dependencies,
    minimal_routes,
    route,
)
from workbench.topology.topology import GLOBAL_WEIGHT

NETWORKS = (
    "torus:4x3",
    "torus:3x3,multiplicity=2x1",
    "hypercube:3",
    "hyperx:3x3",
    "dragonfly:a=3,p=1,h=1,g=4",
    "dragonfly:a=2,p=2,h=2,g=3,links=2",
    "fat-tree:4",
    "dragonfly-plus:leaves=2,spines=2,p=1,h=1,g=3",
    "slim-fly:3",
    "fully-connected:4",
    "star:4",
)


def custom(links: np.ndarray, routers: int, hosts: np.ndarray) -> Topology:
    return Topology(
        name="random graph",
        num_routers=routers,
        links=links,
        link_class=np.ones(len(links), np.uint8),
        classes=("terminal", "link"),
        host_router=hosts,
        group=np.full(routers, -1),
    )


def check_minimal(topology: Topology, weight: dict[int, int] | None = None) -> None:
    numbered = channels(topology)
    routes = minimal_routes(numbered)
    for target in np.unique(topology.host_router).tolist():
        cost = reference.costs_to(topology, target, weight)
        for here in range(topology.num_routers):
            found = routes.between(here, target)
            expected = reference.next_channels(numbered, cost, here, weight)
            assert found.tolist() == (expected if here != target else [])
            assert routes.cost[here, routes.column[target]] == cost[here]


@for_each("word", NETWORKS)
def test_minimal_routes_are_those_of_the_definition(word: str) -> None:
    topology = parse_topology(word)
    weight = None
    if topology.family in ("dragonfly", "dragonfly-plus"):
        weight = {1: 1, 2: GLOBAL_WEIGHT}
    check_minimal(topology, weight)


@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(0, 10))
@examples(5)
def test_minimal_routes_of_any_graph(seed: int, routers: int, extra: int) -> None:
    rng = np.random.default_rng(seed)
    hosts = rng.integers(routers, size=rng.integers(1, 6))
    check_minimal(custom(reference.random_graph(rng, routers, extra), routers, hosts))


def test_a_dragonfly_takes_one_global_link_where_two_would_be_shorter() -> None:
    topology = parse_topology("dragonfly:9,4,2,2")
    routing = route(topology, "minimal")
    of_link = routing.channels.link_class
    apart = topology.group[:, None] != topology.group[None, :]
    two_hops = 0
    for source in range(0, topology.num_routers, 5):
        for target in range(topology.num_routers):
            path = routing.path(source, target)
            crossed = sum(int(of_link[channel]) == 2 for channel in path)
            assert crossed == apart[source, target]
            assert len(path) == routing.minimal.hops[source, routing.minimal.column[target]]
            two_hops += len(path) > topology.router_hops[source, target]
    assert two_hops > 0


@for_each("name", ROUTINGS)
@for_each("word", NETWORKS)
def test_dependencies_are_those_of_all_packets_and_have_no_cycle(word: str, name: str) -> None:
    topology = parse_topology(word)
    try:
        routing = route(topology, name)
    except (ParameterError, ConfigurationError):
        # No dimensions, or no tree.
        assert name in ("dimension-order", "up-down")
        return
    graph = channel_dependency_graph(routing)
    assert graph.turns is not None
    expected = reference.all_turns(routing)
    assert set(map(tuple, graph.turns.tolist())) == expected
    assert len(graph.turns) == graph.dependencies == len(expected)
    assert graph.deadlock_free
    assert reference.is_acyclic(expected)
    used = {lane for _, one, _, other in expected for lane in (one, other)} | {0}
    assert max(used) < routing.lanes == graph.lanes


@given(st.integers(0, 2**32), st.integers(3, 9), st.integers(0, 8), st.sampled_from(["one", "all"]))
@examples(5)
def test_a_cycle_is_found_where_there_is_one(
    seed: int, routers: int, extra: int, lanes: str
) -> None:
    rng = np.random.default_rng(seed)
    links = reference.random_graph(rng, routers, extra)
    topology = custom(links, routers, np.arange(routers))
    numbered = channels(topology)
    number = numbered.between_routers
    none, still = np.full(number, -1, np.int8), np.zeros(number, np.int8)
    step = still if lanes == "one" else still + np.int8(1)
    rule = Lanes("test", step, 0, False, none, still)
    routes = minimal_routes(numbered)
    found = dependencies(numbered, routes, rule, around=False, diverts=False, keep=True)
    assert found.turns is not None
    turns = set(map(tuple, found.turns.tolist()))
    assert found.deadlock_free == reference.is_acyclic(turns)
    assert found.deadlock_free or lanes == "one"
    members = found.cycle
    for one, other in zip(members, (*members[1:], *members[:1]), strict=True):
        assert (*one, *other) in turns
    if members:
        assert "lane 0" in found.named(numbered)


def test_a_ring_needs_its_dateline() -> None:
    topology = parse_topology("torus:5")
    routing = route(topology, "dimension-order")
    assert (routing.lanes, routing.rule.name) == (2, "datelines")
    number = routing.channels.between_routers
    still = np.zeros(number, np.int8)
    one = Lanes("one lane", still, 0, False, still - np.int8(1), still)
    circle = dependencies(routing.channels, routing.minimal, one, around=False, diverts=False).cycle
    assert len(circle) == 5
    assert {lane for _, lane in circle} == {0}


@for_each(
    "word, name, lanes",
    [
        ("torus:4x4", "dimension-order", 2),
        ("torus:4x4", "valiant", 4),
        ("torus:4x4", "par", 6),
        ("torus:4x4", "minimal", 4),
        ("hypercube:4", "dimension-order", 1),
        ("hyperx:4x4", "dimension-order", 1),
        ("hyperx:4x4", "minimal", 2),
        ("fat-tree:4", "minimal", 1),
        ("fat-tree:4", "up-down", 1),
        ("fat-tree:4", "valiant", 2),
        ("dragonfly:9,4,2,2", "minimal", 2),
        ("dragonfly:9,4,2,2", "valiant", 4),
        ("dragonfly:9,4,2,2", "ugal-l", 4),
        ("dragonfly:9,4,2,2", "par", 5),
        ("slim-fly:5", "minimal", 2),
        ("slim-fly:5", "valiant", 4),
        ("fully-connected:6", "minimal", 1),
        ("fully-connected:6", "valiant", 2),
    ],
)
def test_the_lanes_that_routings_are_known_to_need(word: str, name: str, lanes: int) -> None:
    routing = route(parse_topology(word), name)
    assert routing.lanes == lanes
    assert f"{lanes} lane" in repr(routing)
    assert "no deadlock" in repr(routing)


def test_dimension_order_finishes_one_dimension_before_the_next() -> None:
    topology = parse_topology("torus:4x3x5")
    routing = route(topology, "dimension-order")
    rng = np.random.default_rng(1)
    for source, target in rng.integers(topology.num_routers, size=(50, 2)).tolist():
        path = routing.path(source, target)
        taken = routing.rule.dimension[path].tolist()
        assert taken == sorted(taken)
        assert len(path) == topology.router_hops[source, target]


def test_only_routers_with_hosts_are_targets() -> None:
    topology = parse_topology("fat-tree:4")
    routing = route(topology)
    np.testing.assert_array_equal(routing.minimal.targets, np.arange(8))
    assert routing.minimal.row.shape == (20, 8)
    with pytest.raises(ParameterError, match="router 19 has none"):
        routing.path(0, 19)
    with pytest.raises(ParameterError, match="0 to 19"):
        routing.path(0, 20)


def test_parallel_links_are_all_candidates() -> None:
    topology = parse_topology("torus:3x3,multiplicity=2x1")
    routing = route(topology, "dimension-order")
    assert len(routing.minimal.between(0, 1)) == 2
    assert len(routing.minimal.between(0, 3)) == 1


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="routing must be one of minimal,"):
        route(parse_topology("torus:4x4"), "shortest")
    with pytest.raises(ParameterError, match="choice must be one of"):
        route(parse_topology("torus:4x4"), "minimal", choice="best")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="seed must be"):
        route(parse_topology("torus:4x4"), seed=-1)
    with pytest.raises(ParameterError, match="each link changes one"):
        route(parse_topology("slim-fly:5"), "dimension-order")
    with pytest.raises(
        ConfigurationError, match=r"needs a tree.*wait for one another: \d+->\d+ lane 0"
    ):
        route(parse_topology("torus:5"), "up-down")
    two = custom(np.array([[0, 1], [2, 3]]), 4, np.array([0, 3]))
    with pytest.raises(ParameterError, match="none from router 0 to router 3"):
        route(two)


def test_routes_too_long_for_lanes_are_refused() -> None:
    routers = 150
    ring = np.array([[i, (i + 1) % routers] for i in range(routers)])
    with pytest.raises(ConfigurationError, match="routes too long for one lane for each hop"):
        route(custom(ring, routers, np.arange(routers)), "minimal")
    line = custom(ring[:-1], routers, np.arange(routers))
    assert route(line, "minimal").lanes == 1


def test_usual_routings() -> None:
    assert default_routing(parse_topology("torus:4x4")) == "dimension-order"
    assert default_routing(parse_topology("fat-tree:4")) == "minimal"
    assert route(parse_topology("hyperx:3x3")).name == "dimension-order"
