"""Tofu-D against its closed forms."""

from __future__ import annotations

from collections import Counter

import networkx
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.topology import parse_topology, topology_spec
from workbench.topology.routing import route
from workbench.topology.tofu_d import tofu_d


@for_each("shape", [(4, 3, 2), (3, 3, 3), (5, 1, 1), (2, 2, 4)])
def test_nodes_links_and_diameter(shape: tuple[int, int, int]) -> None:
    made = tofu_d(shape)
    units = shape[0] * shape[1] * shape[2]
    assert made.num_hosts == made.num_routers == 12 * units
    # Each node has links along A, C (one), B (two), and along an open axis of n: 2, 1 or 0.
    degree = 4 + sum(min(size - 1, 2) for size in shape)
    assert set(made.degree.tolist()) == {degree}
    assert made.diameter == 3 + sum(size // 2 for size in shape)
    assert parse_topology(topology_spec(made)) == made


def test_a_node_has_ten_links_and_a_unit_is_two_by_three_by_two() -> None:
    made = tofu_d((3, 4, 5))
    assert set(made.degree.tolist()) == {10}
    unit = made.coordinates[:12]
    assert (unit[:, :3].max(axis=0) + 1).tolist() == [2, 3, 2]
    assert not unit[:, 3:].any()
    by_class = Counter(made.classes[place] for place in made.link_class.tolist())
    nodes = made.num_routers
    assert by_class == {
        "A": nodes // 2,
        "B": nodes,
        "C": nodes // 2,
        **dict.fromkeys("XYZ", nodes),
    }


def test_the_graph_is_the_product_of_its_dimensions() -> None:
    made = tofu_d((3, 2, 4))
    graph = networkx.path_graph(2)
    for factor in (
        *(networkx.cycle_graph(3), networkx.path_graph(2), networkx.cycle_graph(3)),
        *(networkx.path_graph(2), networkx.cycle_graph(4)),
    ):
        graph = networkx.cartesian_product(graph, factor)
    expected = sorted(
        sorted(distances.values())
        for _, distances in networkx.all_pairs_shortest_path_length(graph)
    )
    assert sorted(sorted(row) for row in made.router_hops.tolist()) == expected


def test_a_job_on_a_part_of_the_machine_is_open_along_x_y_and_z() -> None:
    made = tofu_d((4, 3, 2), mesh=True)
    assert made.diameter == 3 + 3 + 2 + 1
    assert parse_topology("tofu-d:4x3x2,mesh=true") == made


def test_routes_by_dimension_cannot_deadlock() -> None:
    # On a ring of three every route is one link, so that none waits for the next around it.
    assert route(tofu_d((3, 2, 2)), "dimension-order").lanes == 1
    assert route(tofu_d((5, 1, 1)), "dimension-order").lanes == 2


def test_shapes_that_are_none() -> None:
    with pytest.raises(ParameterError, match="three numbers"):
        tofu_d((4, 3))
    with pytest.raises(ParameterError, match="at most"):
        tofu_d((400, 300, 200))
