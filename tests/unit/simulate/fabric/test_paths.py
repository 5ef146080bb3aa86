"""The channels of messages: whole, shortest, by dimension, and as a routing has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.models import SNAPPR
from workbench.simulate.fabric.paths import latencies, message_paths
from workbench.topology import Topology, parse_topology
from workbench.topology.channels import channels
from workbench.topology.routing import route

SPECS = (
    "torus:4,3,5",
    "torus:2,8",
    "torus:dims=5x4,mesh=true",
    "hypercube:4",
    "hyperx:3,4",
    "fat-tree:4",
    "dragonfly:5,2,2",
    "jellyfish:n=20,r=4,hosts=2,seed=3",
)


def every_pair(network):
    ends = np.divmod(np.arange(network.num_hosts**2), network.num_hosts)
    return np.asarray(ends[0]), np.asarray(ends[1])


def ways(made, numbered):
    """Yield each path as the routers it passes, checked to hang together."""
    for path in range(len(made.source)):
        taken = made.channel[made.start[path] : made.start[path + 1]]
        assert numbered.injection[made.source[path]] == taken[0]
        routers = [int(numbered.target[taken[0]])]
        for channel in taken[1:-1]:
            assert numbered.source[channel] == routers[-1]
            routers.append(int(numbered.target[channel]))
        assert numbered.source[taken[-1]] == routers[-1]
        yield routers, int(numbered.target[taken[-1]])


@for_each("spec", SPECS)
def test_computed_paths_lead_from_host_to_host_and_are_shortest(spec) -> None:
    network = parse_topology(spec)
    numbered = channels(network)
    source, target = every_pair(network)
    made = message_paths(numbered, source, target, seed=5)
    assert (made.of_message[source == target] == -1).all()
    found = list(ways(made, numbered))
    assert len(found) == network.num_hosts * (network.num_hosts - 1)
    for message in np.flatnonzero(source != target):
        routers, host = found[made.of_message[message]]
        assert host == target[message]
        assert routers[0] == network.host_router[source[message]]
    if network.family != "dragonfly":
        ends = network.host_router[source], network.host_router[target]
        beyond = source != target
        hops = network.router_hops[ends][beyond]
        assert np.array_equal(made.links[made.of_message[beyond]], hops)


def test_a_dragonfly_is_crossed_by_one_global_link() -> None:
    network = topology.dragonfly(a=4, p=2, h=2)
    numbered = channels(network)
    made = message_paths(numbered, *every_pair(network))
    last = np.flatnonzero(numbered.link_class == 2)
    for path in range(len(made.source)):
        taken = made.channel[made.start[path] : made.start[path + 1]]
        assert np.isin(taken, last).sum() <= 1
        assert len(taken) - 2 <= 3


@for_each("spec", ["torus:5,4,3", "hypercube:4", "hyperx:3,4"])
def test_dimensions_are_taken_in_their_order(spec) -> None:
    network = parse_topology(spec)
    numbered = channels(network)
    made = message_paths(numbered, *every_pair(network))
    for routers, _ in ways(made, numbered):
        changed = np.diff(network.coordinates[routers], axis=0) != 0
        assert (changed.sum(axis=1) == 1).all()
        assert (np.diff(np.argmax(changed, axis=1)) >= 0).all()


def test_a_tie_on_a_ring_goes_up() -> None:
    network = parse_topology("torus:4")
    numbered = channels(network)
    made = message_paths(numbered, np.array([3]), np.array([1]))
    assert next(ways(made, numbered))[0] == [3, 0, 1]


def test_parallel_links_are_all_used() -> None:
    network = parse_topology("torus:dims=4,multiplicity=3")
    numbered = channels(network)
    made = message_paths(numbered, *every_pair(network))
    between = made.channel[made.channel < numbered.between_routers]
    assert len(np.unique(between)) > numbered.between_routers / 3


@for_each("spec", ["torus:dims=5x3,multiplicity=3x2", "torus:5,2"])
def test_side_by_side_a_message_is_spread_as_by_a_routing(spec) -> None:
    network = parse_topology(spec)
    numbered = channels(network)
    pairs = every_pair(network)
    made = message_paths(numbered, *pairs, side_by_side=True)
    looked_up = message_paths(numbered, *pairs, routing=route(network, "dimension-order"))
    assert np.array_equal(made.links, looked_up.links)
    for path in range(len(made.source)):
        found, wanted = (
            dict(zip(one.channel[own].tolist(), one.weight[own].tolist(), strict=True))
            for one in (made, looked_up)
            for own in [slice(one.start[path], one.start[path + 1])]
        )
        assert found == pytest.approx(wanted, rel=1e-12)


def test_a_routing_gives_the_paths_of_its_packets() -> None:
    network = topology.fat_tree(4)
    source, target = every_pair(network)
    routing = route(network, "deterministic")
    made = message_paths(routing.channels, source, target, routing=routing)
    for path, (routers, host) in enumerate(ways(made, routing.channels)):
        taken = made.channel[made.start[path] + 1 : made.start[path + 1] - 1]
        assert taken.tolist() == routing.path(routers[0], int(network.host_router[host]))


@for_each("spec", ["fat-tree:4", "torus:4,4", "dragonfly:5,2,2", "hypercube:3"])
def test_a_message_is_spread_over_all_minimal_routes(spec) -> None:
    """What enters a router leaves it; each link's share is that of the routes it is on."""
    network = parse_topology(spec)
    routing = route(network, "minimal")
    numbered = routing.channels
    source, target = every_pair(network)
    made = message_paths(numbered, source, target, routing=routing)
    for path in range(0, len(made.source), 7):
        own = slice(made.start[path], made.start[path + 1])
        taken, weight = made.channel[own], made.weight[own]
        assert weight[0] == weight[-1] == 1
        assert len(np.unique(taken)) == len(taken)
        host = int(numbered.target[taken[-1]])
        flow = np.zeros(network.num_routers)
        np.add.at(flow, numbered.target[taken[:-1]], weight[:-1])
        np.subtract.at(flow, numbered.source[taken[1:]], weight[1:])
        assert flow == pytest.approx(0, abs=1e-12)
        between = weight[1:-1].sum()
        ends = network.host_router[made.source[path]], network.host_router[host]
        assert between == pytest.approx(made.links[path], rel=1e-12)
        assert made.links[path] == routing.minimal.hops[ends[0], routing.minimal.column[ends[1]]]


def test_an_edge_of_a_fat_tree_parts_messages_equally() -> None:
    network = topology.fat_tree(4)
    routing = route(network, "minimal")
    made = message_paths(routing.channels, np.array([0]), np.array([15]), routing=routing)
    assert sorted(made.weight.tolist()) == [0.25] * 8 + [0.5] * 4 + [1.0] * 2


def test_random_paths_do_not_depend_on_what_others_send() -> None:
    network = topology.dragonfly(a=4, p=2, h=2)
    routing = route(network, "valiant", seed=1)
    source, target = np.repeat([0, 9], 6), np.repeat([40, 30], 6)
    both = message_paths(routing.channels, source, target, routing=routing)
    alone = message_paths(routing.channels, source[6:], target[6:], routing=routing)
    assert np.array_equal(both.channel[both.start[6] :], alone.channel)
    assert len({tuple(taken) for taken, _ in ways(alone, routing.channels)}) > 1


def test_routing_by_queues_is_refused() -> None:
    routing = route(topology.dragonfly(a=4, p=2, h=2), "ugal-l")
    with pytest.raises(ParameterError, match="depends on queues"):
        message_paths(routing.channels, np.array([0]), np.array([9]), routing=routing)


def test_what_cannot_be_reached_is_refused() -> None:
    apart = Topology(
        "apart", 3, np.array([[0, 1]]), np.ones(1), ("terminal", "link"), np.arange(3),
        np.full(3, -1),
    )  # fmt: skip
    with pytest.raises(ParameterError, match="there must be a route"):
        message_paths(channels(apart), np.array([0]), np.array([2]))
    broken = Topology(
        "broken torus", 4, np.array([[0, 1], [1, 2]]), np.ones(2), ("terminal", "link"),
        np.arange(4), np.full(4, -1), family="torus", coordinates=np.arange(4)[:, None],
    )  # fmt: skip
    with pytest.raises(ParameterError, match="lacks one on the way from router 0 to router 3"):
        message_paths(channels(broken), np.array([0]), np.array([3]))


def test_a_long_path_is_found_whole() -> None:
    line = Topology(
        "line", 100, np.column_stack((np.arange(99), np.arange(1, 100))), np.ones(99),
        ("terminal", "link"), np.array([0, 99]), np.full(100, -1),
    )  # fmt: skip
    made = message_paths(channels(line), np.array([0]), np.array([1]))
    assert made.links.tolist() == [99]


def test_latency_is_that_of_injection_links_and_ejection() -> None:
    model = SNAPPR(injection_latency=3e-7, ejection_latency=2e-7, link_latency=1e-7)
    line = Topology(
        "line", 3, [[0, 1], [1, 2]], [1, 1], ("terminal", "link"), [0, 0, 1, 2], [-1] * 3
    )
    ends = np.array([0, 0, 0]), np.array([1, 2, 3])
    made = message_paths(channels(line), *ends)
    ns = 10**7
    assert latencies(made, channels(line), model).tolist() == [500 * ns, 600 * ns, 700 * ns]
    stated = channels(replace(line, link_latency=np.array([2e-8, 3e-6])))
    assert latencies(made, stated, model).tolist() == [500 * ns, 520 * ns, 3520 * ns]
