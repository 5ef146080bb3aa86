"""The choice of each next channel: packets arrive, keep to proved lanes, and choose at random."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels.fabric import routing as kernel
from tests.cases import examples
from workbench.topology import parse_topology
from workbench.topology.routing import CHOICES, ROUTINGS, channel_dependency_graph, route

# What these tests call is Python in both passes: numba inlines it where it is compiled.
pytestmark = pytest.mark.jit_only

WORDS = (
    "torus:4x3",
    "hyperx:3x3",
    "dragonfly:a=3,p=1,h=1,g=4",
    "dragonfly-plus:leaves=2,spines=2,p=1,h=1,g=3",
    "fat-tree:4",
    "slim-fly:3",
    "fully-connected:5",
)
_MADE: dict[tuple[str, str], tuple] = {}


def made(word, name):
    """Return a routing and the turns it is proved with; each is made once."""
    if (word, name) not in _MADE:
        routing = route(parse_topology(word), name)
        turns = set(map(tuple, channel_dependency_graph(routing).turns.tolist()))
        _MADE[word, name] = routing, turns
    return _MADE[word, name]


def walk(routing, packet, source, target, depth):
    """Return the channels and lanes that a packet takes."""
    tables = routing.tables()
    here, word, taken = source, 0, []
    while here != target:
        channel, lane, word = kernel.choose(tables, depth, depth, packet, word, here, target)
        assert routing.channels.source[channel] == here
        taken.append((int(channel), int(lane)))
        here = int(routing.channels.target[channel])
        assert kernel.hops_of(word) == len(taken) <= routing.longest
    return taken


@pytest.mark.parametrize("name", [name for name in ROUTINGS if name not in ("up-down",)])
@pytest.mark.parametrize("word", WORDS)
@given(data=st.data())
@examples(5)
def test_every_way_keeps_to_the_turns_that_were_proved(data, word, name):
    if name == "dimension-order" and not word.startswith(("torus", "hyperx", "fully")):
        return
    routing, turns = made(word, name)
    routing = routing.with_seed(data.draw(st.integers(0, 2**62)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    hosts = routing.minimal.targets
    for _ in range(20):
        depth = rng.integers(10, size=routing.channels.between_routers).astype(np.int32)
        source, target = (int(x) for x in rng.choice(hosts, 2))
        packet = int(rng.integers(2**20)) << 32 | int(rng.integers(2**31))
        taken = walk(routing, packet, source, target, depth)
        assert all(lane < routing.lanes for _, lane in taken)
        for one, other in itertools.pairwise(taken):
            assert (*one, *other) in turns
        if routing.scheme == "minimal":
            assert len(taken) == routing.minimal.hops[source, routing.minimal.column[target]]


def test_the_same_packet_goes_the_same_way_and_others_go_others():
    routing = route(parse_topology("fat-tree:8"), "minimal", seed=3)
    depth = np.zeros(routing.channels.between_routers, np.int32)
    ways = [tuple(walk(routing, packet, 0, 31, depth)) for packet in range(400)]
    assert ways == [tuple(walk(routing, packet, 0, 31, depth)) for packet in range(400)]
    # 16 ways through the core, each with a chance of 1/16: five sigma is 24.
    counts = np.unique([way[1] for way in ways], axis=0, return_counts=True)[1]
    assert len(counts) == 16
    assert np.all(np.abs(counts - 25) < 24)
    other = [tuple(walk(routing.with_seed(4), packet, 0, 31, depth)) for packet in range(400)]
    assert other != ways


@pytest.mark.parametrize("choice", CHOICES)
def test_which_of_several_channels(choice):
    routing = route(parse_topology("fat-tree:8"), "minimal", choice=choice)
    numbered = routing.channels
    depth = np.zeros(numbered.between_routers, np.int32)
    up = [int(channel) for channel in routing.minimal.between(0, 31)]
    assert len(up) == 4
    depth[up] = [5, 2, 7, 2]

    def first(packet):
        return walk(routing, packet, 0, 31, depth)[0][0]

    taken = [first(7 << 32 | number) for number in range(64)]
    if choice == "first":
        assert set(taken) == {up[0]}
    elif choice == "hash":
        # All of one source go the same way, and sources differ.
        assert len(set(taken)) == 1
        assert {first(source << 32) for source in range(64)} == set(up)
    elif choice == "rotate":
        assert all(taken.count(channel) == 16 for channel in up)
    elif choice == "random":
        assert set(taken) == set(up)
    else:
        assert set(taken) == {up[1], up[3]}


@pytest.mark.parametrize("name", ["ugal-l", "ugal-g", "par"])
def test_an_idle_network_is_crossed_the_shortest_way(name):
    routing, _ = made("dragonfly:a=3,p=1,h=1,g=4", name)
    depth = np.zeros(routing.channels.between_routers, np.int32)
    for packet in range(50):
        taken = walk(routing, packet, 0, 11, depth)
        assert len(taken) == routing.minimal.hops[0, routing.minimal.column[11]]


@pytest.mark.parametrize("name", ["ugal-l", "ugal-g", "par"])
def test_a_long_queue_on_the_shortest_way_is_gone_around(name):
    routing = route(parse_topology("dragonfly:9,4,2,2"), name)
    hops = routing.minimal.hops[0, routing.minimal.column[35]]
    depth = np.zeros(routing.channels.between_routers, np.int32)
    depth[routing.minimal.between(0, 35)] = 100
    lengths = [len(walk(routing, packet, 0, 35, depth)) for packet in range(50)]
    assert np.mean(np.array(lengths) > hops) > 0.5


def test_par_reconsiders_after_a_hop_within_the_group():
    routing = route(parse_topology("dragonfly:9,4,2,2"), "par")
    group = routing.topology.group
    target = next(
        t
        for t in range(4, 36)
        if group[routing.channels.target[routing.path(0, t)[0]]] == 0 and group[t] != 0
    )
    path = routing.path(0, target)
    depth = np.zeros(routing.channels.between_routers, np.int32)
    depth[path[1]] = 100
    lanes = [walk(routing, packet, 0, target, depth) for packet in range(50)]
    turned = [taken for taken in lanes if len(taken) > len(path)]
    assert len(turned) > 25
    # The first hop is the minimal one, and the diverted part begins a lane higher.
    assert all(taken[0] == (path[0], 0) and taken[1][1] == 1 for taken in turned)


def test_valiant_goes_by_a_third_group():
    routing = route(parse_topology("dragonfly:9,4,2,2"), "valiant")
    group = routing.topology.group
    depth = np.zeros(routing.channels.between_routers, np.int32)
    visited = set()
    for packet in range(300):
        taken = walk(routing, packet, 0, 35, depth)
        through = {int(group[routing.channels.target[channel]]) for channel, _ in taken}
        assert len(through - {0, 8}) == 1
        visited |= through
    assert visited - {0} == set(range(1, 9))


def test_random_numbers_are_even():
    drawn = np.array([kernel.below(5, number, 3, 10) for number in range(5000)])
    counts = np.bincount(drawn, minlength=10)
    # Chi-squared of 9 degrees of freedom: beyond 33.7 once in 10,000.
    assert ((counts - 500.0) ** 2 / 500.0).sum() < 33.7
