from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from tests.reference.link_load import loads
from workbench.errors import ParameterError, SimulationHalted
from workbench.simulate.fabric import Fabric, run_traffic
from workbench.tasks import Task
from workbench.topology import (
    Topology,
    channels,
    link_load as module,
    parse_topology,
    torus,
    traffic,
)
from workbench.topology.link_load import LOAD_ROUTINGS, link_loads
from workbench.topology.routing import minimal_routes

SMALL = (
    "torus:3x4",
    "fat-tree:4",
    "dragonfly:a=2,p=2,h=1",
    "dragonfly:9,4,2,2",
    "dragonfly-plus:leaves=2,spines=2,p=1,h=1,g=3",
    "hyperx:3x3,hosts=2",
    "torus:2x5",
)


@for_each("word", SMALL)
def test_loads_are_those_of_all_minimal_routes(word: str) -> None:
    topology = parse_topology(word)
    rng = np.random.default_rng(7)
    sent = rng.integers(0, 5, (topology.num_routers, topology.num_routers)).astype(float)
    np.fill_diagonal(sent, 0)
    found = link_loads(topology, sent)
    expected = [float(value) for value in loads(topology, sent).values()]
    assert found.channel == pytest.approx(expected, rel=1e-12)  # sums of some dozens of terms
    assert found.link == pytest.approx(
        [
            max(v for v, of in zip(expected, found.channels.link, strict=True) if of == link)
            for link in range(topology.num_links)
        ]
    )


@given(st.sampled_from(SMALL), st.integers(0, 99), st.sampled_from(LOAD_ROUTINGS))
@examples(5)
def test_nothing_is_lost_or_goes_around(word: str, seed: int, routing: str) -> None:
    """Channels together carry what is sent, times the links that it takes."""
    topology = parse_topology(word)
    sent = traffic(topology, "permutation", rng=seed).between_routers()
    found = link_loads(topology, sent, routing=routing)  # type: ignore[arg-type]
    ports = found.channels
    source, target = ports.source[: len(found.channel)], ports.target[: len(found.channel)]
    n = topology.num_routers
    arrives = np.bincount(target, found.channel, n) + sent.sum(axis=1)
    leaves = np.bincount(source, found.channel, n) + sent.sum(axis=0)
    assert arrives == pytest.approx(leaves, rel=1e-9)
    targets = np.unique(topology.host_router)
    taken = (sent[:, targets] * minimal_routes(ports).hops).sum()
    if routing == "minimal":
        assert found.channel.sum() == pytest.approx(taken)
    assert found.channel.sum() >= (sent * topology.router_hops.astype(float)).sum() - 1e-9


def test_closed_forms_of_uniform_traffic() -> None:
    """A ring of k routers, k even: k²/8 on each channel of what k hosts send to k - 1 others."""
    k = 8
    ring = link_loads(parse_topology(f"torus:{k}"))
    assert ring.channel == pytest.approx(np.full(2 * k, k * k / 8 / (k - 1)))
    cube = link_loads(parse_topology("hypercube:5"))
    assert cube.channel == pytest.approx(np.full(160, 16 / 31))
    tree = link_loads(parse_topology("fat-tree:8"))
    assert tree.channel.max() == pytest.approx(124 / 127)
    assert tree.saturation == 1.0


def test_a_dragonfly_under_its_adversary() -> None:
    """Kim et al., ISCA 2008: the one link between two groups carries what a·p hosts send."""
    topology = parse_topology("dragonfly:a=8,p=4,h=4")
    sent = traffic(topology, "adversarial").between_routers()
    minimal = link_loads(topology, sent)
    ports = minimal.channels
    number = ports.between_routers
    from_group = topology.group[ports.source[:number]]
    to_group = topology.group[ports.target[:number]]
    crosses = from_group != to_group
    full = crosses & (to_group == (from_group + 1) % 33)
    assert full.sum() == 33
    assert minimal.channel[full] == pytest.approx(np.full(33, 32))
    assert not minimal.channel[crosses & ~full].any()
    assert minimal.largest == pytest.approx(32)
    assert minimal.saturation == pytest.approx(1 / 32)
    assert minimal.hottest(1)["link_class"].tolist() == ["inter-group"]
    valiant = link_loads(topology, sent, routing="valiant")
    assert valiant.saturation == pytest.approx(0.5, abs=0.02)
    mixed = link_loads(topology, sent, routing="mixed")
    assert mixed.saturation >= max(minimal.saturation, valiant.saturation) - 1e-6
    assert mixed.minimal_share < 0.02


@pytest.mark.jit_only
@for_each("word", ["dragonfly:9,4,2,2", "dragonfly-plus:2,2,2,1,3", "fat-tree:4"])
def test_loads_are_the_counts_of_the_packets_on_random_pairs(word: str) -> None:
    topology = parse_topology(word)
    pairs = traffic(topology, "permutation", rng=3)
    result = run_traffic(Fabric(topology, routing="minimal"), pairs, 0.2, messages=20_000)
    packets = result.channel.packets
    ports = channels(topology)
    sent = replace(pairs, rate=packets[ports.injection][pairs.source].astype(float))
    expected = link_loads(topology, sent.between_routers()).channel
    # Packets on their way as measuring begins and ends; where they draw lots, five deviations too.
    tolerance = 5 + (0 if topology.family == "dragonfly" else 5 * np.sqrt(expected))
    found = packets[: ports.between_routers]
    assert not found[expected == 0].any()
    assert expected.max() > 100
    assert (np.abs(found - expected) <= tolerance).all()


def test_a_mix_goes_straight_where_that_is_best() -> None:
    topology = parse_topology("torus:4x4")
    straight = link_loads(topology, routing="mixed")
    assert straight.minimal_share == pytest.approx(1.0)
    assert straight.saturation == pytest.approx(link_loads(topology).saturation)


def test_a_hot_host_is_full_before_any_link() -> None:
    topology = parse_topology("fully-connected:6")
    sent = np.zeros((6, 6))
    sent[1:, 0] = 1.0
    found = link_loads(topology, sent)
    assert found.channel.max() == 1.0
    assert found.host == 5.0
    assert found.saturation == pytest.approx(0.2)
    assert "full at 0.2" in repr(found)


def test_parts_in_threads_sum_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = parse_topology("torus:5x5x5")
    whole = link_loads(topology).channel
    monkeypatch.setattr(module, "_WORTH_THREADS", 10)
    assert link_loads(topology).channel == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr(module.tasks, "cores", lambda: 1)
    assert np.array_equal(link_loads(topology).channel, link_loads(topology).channel)


def test_what_cannot_be_is_refused(stopped: Task) -> None:
    topology = parse_topology("torus:4x4")
    with pytest.raises(ParameterError, match="16 by 16"):
        link_loads(topology, np.zeros((3, 3)))
    with pytest.raises(ParameterError, match="at least 0"):
        link_loads(topology, -np.ones((16, 16)))
    with pytest.raises(ParameterError, match=r"traffic must be of torus 4x4; got .* fat tree"):
        link_loads(topology, traffic(parse_topology("fat-tree:4"), "uniform"))
    with pytest.raises(ParameterError, match="routing must be one of"):
        link_loads(topology, routing="ugal-l")  # type: ignore[arg-type]
    apart = Topology("two", 3, [[0, 1]], [1], ("terminal", "link"), [0, 1, 2], [-1] * 3)
    with pytest.raises(ParameterError, match="a route for all traffic"):
        link_loads(apart)
    with pytest.raises(SimulationHalted):
        link_loads(topology, task=stopped)


@for_each("word", ["fat-tree:4", "dragonfly:9,4,2,2", "torus:2x5"])
@for_each("pattern", ["uniform", "permutation", "hotspot"])
@for_each("routing", LOAD_ROUTINGS)
def test_a_pattern_loads_what_its_matrix_loads(word: str, pattern: str, routing: str) -> None:
    topology = parse_topology(word)
    sent = traffic(topology, pattern)
    found = link_loads(topology, sent, routing=routing)  # type: ignore[arg-type]
    matrix = link_loads(topology, sent.between_routers(), routing=routing)  # type: ignore[arg-type]
    assert found.channel == pytest.approx(matrix.channel, rel=1e-9)  # the share of a mix
    assert found.host == pytest.approx(matrix.host)
    if pattern == "uniform":
        alone = link_loads(topology, routing=routing)  # type: ignore[arg-type]
        assert np.array_equal(found.channel, alone.channel)


def test_a_matrix_that_would_not_fit_is_refused() -> None:
    large = parse_topology("torus:129x128")
    with pytest.raises(ParameterError, match=r"at most 16,384 routers; torus 129x128 has 16,512"):
        link_loads(large)
    with pytest.raises(ParameterError, match=r"at most 16,384 routers; torus 129x128 has 16,512"):
        traffic(large, "uniform").between_routers()


def test_nobody_sends_to_nobody() -> None:
    topology = parse_topology("torus:4x4")
    silent = link_loads(topology, np.zeros((16, 16)))
    assert silent.largest == 0.0
    assert silent.saturation == 1.0


def test_detours_are_those_of_what_each_router_sends_and_gets() -> None:
    """Held to Valiant's two phases as traffic of their own, also where loads were kept before."""
    topology = parse_topology("dragonfly:a=4,p=2,h=1")
    routers = topology.num_routers
    ring, pair = np.roll(np.eye(routers), 1, axis=1), np.zeros((routers, routers))
    pair[0, 3] = 2.0
    over = np.full(routers, 1 / routers)
    for sent in (ring, 3 * ring, np.roll(np.eye(routers), 2, axis=1), pair, pair.T, ring):
        both = np.outer(sent.sum(axis=1), over) + np.outer(over, sent.sum(axis=0))
        found = link_loads(topology, sent, routing="valiant").channel
        assert found == pytest.approx(link_loads(topology, both).channel, rel=1e-9)
    assert not link_loads(topology, 0 * ring, routing="valiant").channel.any()


def test_few_loads_of_detours_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DETOURS", {})
    for routers in range(3, 30):
        link_loads(parse_topology(f"torus:{routers}"), routing="valiant")
    assert len(module._DETOURS) == module._MOST_DETOURS
    monkeypatch.setattr(module, "_MOST_BYTES", 8 * 2 * 31 + 8 * 2 * 30)
    for routers in (30, 31, 1000):
        found = link_loads(parse_topology(f"torus:{routers}"), routing="valiant")
        assert sum(one.nbytes for one in module._DETOURS.values()) <= module._MOST_BYTES
        assert found.channel.any()


def test_a_detour_needs_hosts() -> None:
    bare = replace(torus((4,)), host_router=np.zeros(0, np.int32))
    sent = np.roll(np.eye(4), 1, axis=1)
    assert link_loads(bare, sent).largest == 1
    with pytest.raises(ParameterError, match="there must be hosts"):
        link_loads(bare, sent, routing="valiant")
