from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.cases import for_each
from workbench.plotting.topology.layout import (
    MOST_NODES,
    cluster_places,
    grid_places,
    topology_layout,
)
from workbench.topology import FAMILIES, Topology, parse_topology
from workbench.topology.presets import PRESETS

WORDS = [f"{word}:{about.example}" for word, about in FAMILIES.items()]


def bare(topology: Topology) -> Topology:
    """The same graph, but nobody knows where it comes from."""
    return dataclasses.replace(
        topology,
        family="custom",
        coordinates=np.zeros((0, 0), np.int32),
        group=np.full(topology.num_routers, -1),
    )


def apart(x: np.ndarray, y: np.ndarray) -> float:
    """The least distance between two nodes."""
    steps = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(steps, np.inf)
    return float(steps.min())


@for_each("word", [*WORDS, *PRESETS])
def test_every_family_fills_the_box_and_no_two_routers_share_a_place(word: str) -> None:
    topology = parse_topology(word)
    layout = topology_layout(topology)
    assert layout.shape in ("grid", "tiers", "groups", "circle", "hops")
    for values in (layout.x, layout.y):
        assert np.isfinite(values).all()
        assert values.min() == -1.0
        assert values.max() == pytest.approx(1.0)
    assert len(layout.node) == topology.num_routers
    assert sorted(set(layout.node.tolist())) == list(range(len(layout.x)))
    assert len(layout.x) <= MOST_NODES
    if not layout.aggregated and topology.num_routers <= 1500:
        assert apart(layout.x, layout.y) > 1e-4


@for_each("word", WORDS)
def test_the_same_graph_without_its_family_is_drawn_too(word: str) -> None:
    layout = topology_layout(bare(parse_topology(word)))
    assert layout.shape == "hops"
    assert apart(layout.x, layout.y) > 0
    again = topology_layout(bare(parse_topology(word)))
    assert np.array_equal(layout.x, again.x), "a drawing must not change from time to time"


def test_no_link_of_a_row_lies_on_another() -> None:
    """In straight rows the links of a HyperX would cover one another."""
    x, y = grid_places(np.indices((6, 5)).reshape(2, -1).T)
    rows = np.arange(30).reshape(6, 5)
    for line in (rows[:, 2], rows[3]):
        for i, j, k in ((0, 1, 2), (1, 2, 4), (0, 2, 3)):
            a, b, c = line[i], line[j], line[k]
            area = (x[b] - x[a]) * (y[c] - y[a]) - (x[c] - x[a]) * (y[b] - y[a])
            assert abs(area) > 1e-6


def test_groups_stand_together() -> None:
    topology = parse_topology("dragonfly:a=4,p=2,h=2")
    layout = topology_layout(topology)
    group = topology.group
    inside = max(np.ptp(layout.x[group == g]) + np.ptp(layout.y[group == g]) for g in range(9))
    centres = np.array(
        [[layout.x[group == g].mean(), layout.y[group == g].mean()] for g in range(9)]
    )
    assert apart(*centres.T) > 0.5 * inside
    x, y = cluster_places(np.zeros(5, np.int64))
    assert np.hypot(x, y) == pytest.approx(np.full(5, np.hypot(x[0], y[0]))), "one circle"
    x, y = cluster_places(np.repeat(np.arange(100), 6))
    out = np.hypot(x, y).reshape(100, 6)
    assert np.ptp(out, axis=1) == pytest.approx(0.24, rel=0.01), "many are as deep as can be seen"
    turn = np.unwrap(np.arctan2(y, x).reshape(100, 6), axis=1)
    assert np.ptp(turn, axis=1).max() < 2 * np.pi / 100, "and do not reach into one another"


def test_tiers_are_above_one_another() -> None:
    topology = parse_topology("fat-tree:8")
    layout = topology_layout(topology)
    tier = topology.coordinates[:, 0]
    assert layout.y[tier == 0].max() < layout.y[tier == 1].min()
    assert layout.y[tier == 1].max() < layout.y[tier == 2].min()


@for_each("word, nodes", [("dragonfly:a=16,p=1,h=8,g=129", 129), ("torus:16x16x16", 2048)])
def test_too_many_routers_share_nodes(word: str, nodes: int) -> None:
    topology = parse_topology(word)
    layout = topology_layout(topology, most_nodes=2048)
    assert layout.aggregated
    assert len(layout.x) == nodes
    assert topology_layout(topology, most_nodes=5000).aggregated is False
    for node in (0, nodes // 2, nodes - 1):
        members = np.flatnonzero(layout.node == node)
        assert len(members) == topology.num_routers // nodes


def test_a_core_outside_of_all_pods_is_kept() -> None:
    topology = parse_topology("fat-tree:32")
    layout = topology_layout(topology, most_nodes=200)
    pods = layout.node[topology.group >= 0]
    core = layout.node[topology.group < 0]
    assert not set(pods.tolist()) & set(core.tolist())
    assert len(set(pods.tolist())) == 32
    assert layout.y[core].min() > layout.y[pods].max()


def test_without_groups_or_coordinates_neighbours_share() -> None:
    layout = topology_layout(bare(parse_topology("torus:12x12")), most_nodes=50)
    assert len(layout.x) == 50
    assert (np.diff(layout.node) >= 0).all()


def test_parts_that_nothing_joins_are_drawn() -> None:
    lonely = Topology("two", 4, [[0, 1], [2, 3]], [1, 1], ("terminal", "link"), [0], [-1] * 4)
    layout = topology_layout(lonely)
    assert np.isfinite(layout.x).all()
    one = Topology("one", 1, [], [], ("terminal",), [0], [-1])
    assert topology_layout(one).x.tolist() == [0.0]
