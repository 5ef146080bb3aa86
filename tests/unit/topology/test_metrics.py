"""Metrics on graphs with closed forms: complete, cycle, torus, hypercube, Petersen, Slim Fly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from tests.kernels.networks import networks
from tests.reference import networks as reference
from workbench import topology
from workbench.errors import ParameterError, SimulationHalted
from workbench.tasks import Task
from workbench.topology import Topology
from workbench.topology.metrics import (
    bisection,
    cost,
    distances,
    girth,
    moore_bound,
    path_diversity,
    resilience,
    spectrum,
    summary as whole_summary,
)
from workbench.topology.metrics.adjacency import RouterGraph

Links = list[tuple[int, int]]
PETERSEN = [
    *((i, (i + 1) % 5) for i in range(5)),
    *((i, i + 5) for i in range(5)),
    *((i + 5, (i + 2) % 5 + 5) for i in range(5)),
]


def network(links: Links, hosts: list[int], group: list[int] | None = None) -> Topology:
    """Return a network of given links, with so many hosts at each router."""
    n = len(hosts)
    return Topology(
        name="example",
        num_routers=n,
        links=np.array(links, np.int32).reshape(-1, 2),
        link_class=np.ones(len(links), np.uint8),
        classes=("terminal", "link"),
        host_router=np.repeat(np.arange(n, dtype=np.int32), hosts),
        group=np.array(group if group is not None else [-1] * n, np.int32),
    )


def cycle(n: int) -> Topology:
    return network([(i, (i + 1) % n) for i in range(n)], [1] * n)


@given(networks(least=2, most=8), st.data())
def test_distances_are_those_of_the_definition(
    drawn: tuple[int, Links], data: st.DataObject
) -> None:
    routers, links = drawn
    hosts = data.draw(st.lists(st.integers(0, 3), min_size=routers, max_size=routers))
    found = distances(network(links, hosts))
    away = reference.hops(links, routers)
    between = np.repeat(np.repeat(away, hosts, 0), hosts, 1)
    different = ~np.eye(routers, dtype=bool)
    others = ~np.eye(sum(hosts), dtype=bool)
    for length in range(len(found.routers)):
        assert found.routers[length] == (away[different] == length).sum()
        assert found.hosts[length] == (between[others] == length).sum()
    assert found.apart == (away < 0).sum()
    assert found.diameter == (math.inf if (away < 0).any() else away.max())
    joined = away[different & (away > 0)]
    if len(joined):
        # Sums of whole numbers: only the division rounds.
        assert found.average == pytest.approx(joined.mean(), rel=1e-15)


def test_hosts_pass_what_topology_says() -> None:
    made = topology.dragonfly(4, 2, 2)
    assert distances(made).host_average == pytest.approx(made.mean_hops(), rel=1e-14)


def test_distances_need_no_matrix_and_stop_and_tell(stopped: Task) -> None:
    chain = network([(i, i + 1) for i in range(1499)], [1] * 1500)
    told: list[tuple[int, int]] = []
    found = distances(chain, task=Task(lambda now: told.append((now.done, now.total))))
    # Longer than a byte, and than the first histogram: n (n + 1) / 3 over pairs.
    assert found.diameter == 1499
    assert found.average == pytest.approx(1501 / 3, rel=1e-14)
    assert told == [(512, 1500), (1024, 1500), (1500, 1500)]
    with pytest.raises(SimulationHalted, match="stopped before the distances"):
        distances(chain, task=stopped)


@for_each(
    "made, cycle_length",
    [
        (network(PETERSEN, [1] * 10), 5),
        (topology.slim_fly(5), 5),
        (cycle(7), 7),
        (topology.hypercube(4), 4),
        (topology.fully_connected(4), 3),
        (topology.torus((4, 4), multiplicity=(2, 1)), 2),
        (topology.star(5), math.inf),
    ],
)
def test_girths(made: Topology, cycle_length: float) -> None:
    assert girth(made) == cycle_length


def test_moore_graphs_meet_their_bound() -> None:
    assert moore_bound(3, 2) == 10
    assert moore_bound(7, 2) == 50
    assert moore_bound(2, 3) == 7
    assert moore_bound(5, 1) == 6
    assert whole_summary(topology.slim_fly(5), parts=["distances"]).moore_efficiency == 1
    assert whole_summary(cycle(7), parts=["distances"]).moore_efficiency == 1


@for_each("n", [5, 12, 301, 400])
def test_eigenvalues_of_a_cycle(n: int) -> None:
    """2 cos(2πj/n), found all at once and by Lanczos."""
    found = spectrum(cycle(n))
    assert found.lambda_1 == pytest.approx(2, abs=1e-9)
    assert found.lambda_2 == pytest.approx(2 * math.cos(2 * math.pi / n), abs=1e-9)
    assert found.lambda_n == pytest.approx(2 * math.cos(2 * math.pi * (n // 2) / n), abs=1e-9)
    assert found.connectivity == pytest.approx(found.gap, abs=1e-9)
    assert found.ramanujan


def test_eigenvalues_of_known_graphs() -> None:
    petersen = spectrum(network(PETERSEN, [1] * 10))
    assert (petersen.lambda_1, petersen.lambda_2) == pytest.approx((3, 1), abs=1e-12)
    assert petersen.lambda_n == pytest.approx(-2, abs=1e-12)
    full = spectrum(topology.fully_connected(9))
    assert (full.lambda_2, full.connectivity) == pytest.approx((-1, 9), abs=1e-12)
    cube = spectrum(topology.hypercube(9))
    assert (cube.lambda_2, cube.connectivity) == pytest.approx((7, 2), abs=1e-8)
    assert cube.ramanujan is False
    star = spectrum(topology.star(5))
    assert (star.lambda_1, star.connectivity) == pytest.approx((math.sqrt(5), 1), abs=1e-12)
    assert star.ramanujan is None
    # Parallel links count: the torus's first dimension is twice as wide.
    wide = spectrum(topology.torus((4, 6), multiplicity=(2, 1)))
    assert wide.connectivity == pytest.approx(2 - 2 * math.cos(2 * math.pi / 6), abs=1e-12)


@for_each("q", [5, 7, 9])
def test_a_slim_flys_gap_is_q(q: int) -> None:
    assert spectrum(topology.slim_fly(q)).connectivity == pytest.approx(q, abs=1e-10)


def test_lps_graphs_are_ramanujan_and_tori_are_not() -> None:
    assert spectrum(topology.spectralfly(11, 7)).ramanujan
    assert not spectrum(topology.torus((12, 12))).ramanujan


def test_an_irregular_network_by_lanczos_as_by_all_eigenvalues() -> None:
    big = topology.fat_tree(16)
    graph = RouterGraph.of(big)
    assert graph.num_routers > 300
    expected = np.linalg.eigvalsh(np.diag(graph.degree) - graph.matrix().toarray())[1]
    assert spectrum(big).connectivity == pytest.approx(expected, abs=1e-8)


def test_one_router_and_two_parts() -> None:
    alone = network([], [3])
    assert spectrum(alone).connectivity == 0
    assert distances(alone).diameter == 0
    assert math.isnan(distances(alone).average)
    assert math.isnan(bisection(alone).upper)
    apart = network([(0, 1), (2, 3)], [1] * 4)
    assert spectrum(apart).connectivity == pytest.approx(0, abs=1e-12)
    assert not distances(apart).connected
    cut = bisection(apart)
    assert (cut.lower, cut.upper) == (0, 0)


@given(networks(least=2, most=9, joined=True), st.data())
def test_the_bracket_holds_the_bisection(drawn: tuple[int, Links], data: st.DataObject) -> None:
    routers, links = drawn
    hosts = data.draw(st.lists(st.integers(0, 2), min_size=routers, max_size=routers))
    if sum(count > 0 for count in hosts) < 2:
        hosts[:2] = [1, 1]
    found = bisection(network(links, hosts), starts=3)
    exact = reference.bisection(links, hosts, found.difference)
    assert found.lower <= exact <= found.upper
    assert found.spectral <= exact + 1e-9
    assert found.routed <= exact + 1e-9
    side = found.side.astype(bool)
    assert abs(int(np.where(side, hosts, np.negative(hosts)).sum())) <= found.difference
    assert found.upper == sum(side[one] != side[other] for one, other in links)


@given(networks(least=2, most=8, joined=True))
def test_small_bisections_are_found_exactly(drawn: tuple[int, Links]) -> None:
    routers, links = drawn
    found = bisection(network(links, [1] * routers), starts=6)
    assert found.upper == reference.bisection(links, [1] * routers, routers % 2)


@for_each(
    "word, lower, upper",
    [
        ("torus:8x8", 16, 16),
        ("torus:4x4x4", 32, 32),
        ("torus:8x8x8", 128, 128),
        ("hypercube:6", 32, 32),
        ("hyperx:4x4", 16, 16),
        ("hyperx:8x8", 128, 128),
        ("hyperx:16x6", 144, 144),
        ("aries:1", 384, 384),
        ("fully-connected:8", 16, 16),
        ("slim-fly:5", 63, 65),
        ("slim-fly:17", 2457, 2465),
        ("star:8", 4, 4),
        ("xgft:8x8x4,1x4x4", 32, 32),
    ],
)
def test_bisections_of_the_formulas(word: str, lower: float, upper: float) -> None:
    found = bisection(topology.parse_topology(word))
    assert (found.lower, found.upper) == (lower, upper)


@for_each("k", [4, 8, 16])
def test_a_fat_tree_has_full_bisection_by_hosts(k: int) -> None:
    """k³/8, from both sides; halves of the switches would be parted by fewer links."""
    found = bisection(topology.fat_tree(k))
    assert found.exact
    assert found.upper == k**3 // 8
    assert found.relative == 1
    assert found.difference == 0


def test_spectral_bounds_of_regular_networks() -> None:
    """N (k - λ₂) / 4, less what an odd number takes off."""
    assert bisection(topology.slim_fly(5), routed=False).spectral == pytest.approx(62.5)
    odd = topology.torus((5, 5))
    gap = 2 - 2 * math.cos(2 * math.pi / 5)
    assert bisection(odd, routed=False).spectral == pytest.approx((25 - 1 / 25) * gap / 4)
    assert math.isnan(bisection(odd, routed=False).routed)


def test_a_bisection_is_repeated_by_its_seed_and_may_be_stopped(stopped: Task) -> None:
    made = topology.jellyfish(60, 5, seed=1)
    first, again = bisection(made, rng=3), bisection(made, rng=3)
    assert first.upper == again.upper
    np.testing.assert_array_equal(first.side, again.side)
    early = bisection(made, rng=3, routed=False, task=stopped)
    assert early.upper >= first.upper
    with pytest.raises(ParameterError, match="starts must be a whole number of at least 0"):
        bisection(made, starts=-1)


def test_ways_between_routers() -> None:
    full = path_diversity(topology.fully_connected(6))
    assert len(full.source) == 15
    assert set(full.shortest) == {1.0}
    assert set(full.disjoint) == {5}
    cube = path_diversity(topology.hypercube(4), pairs=10**6)
    away = topology.hypercube(4).router_hops[cube.source, cube.target]
    assert cube.shortest.tolist() == [math.factorial(int(hops)) for hops in away]
    assert cube.mean_disjoint == cube.least_disjoint == 4
    wide = path_diversity(topology.torus((3, 3), multiplicity=(2, 1)))
    assert wide.least_disjoint == 6
    # Only pairs of routers that have hosts, each pair once, the same for the same seed.
    tree = topology.fat_tree(8)
    drawn = path_diversity(tree, pairs=20, rng=1)
    assert max(drawn.source.max(), drawn.target.max()) < 32
    assert len(set(zip(drawn.source, drawn.target, strict=True))) == 20
    assert set(drawn.shortest) <= {4.0, 16.0}
    np.testing.assert_array_equal(drawn.target, path_diversity(tree, pairs=20, rng=1).target)
    with pytest.raises(ParameterError, match="pairs must be a whole number of at least 1"):
        path_diversity(tree, pairs=0)


def test_cost_by_hand() -> None:
    """Two groups of two routers with a host each; one cable between the groups."""
    made = network([(0, 1), (2, 3), (1, 2)], [1] * 4, [0, 0, 1, 1])
    prices = topology.PriceTable(
        router_fixed=100,
        router_per_port=10,
        router_least_ports=2,
        electrical_fixed_per_gbit_s=1,
        electrical_per_m_gbit_s=2,
        optical_fixed_per_gbit_s=5,
        optical_per_m_gbit_s=3,
        bandwidth_gbit_s=2,
        power_per_port_w=4,
        host_cable_m=0.5,
        cabinet_cable_m=2,
        cabinet_pitch_m=1.5,
        overhead_m=1,
    )
    found = cost(made, prices)
    assert found.routers == 4 * 100 + 10 * 10
    assert found.cables == 2 * (4 * (1 + 2 * 0.5) + 2 * (1 + 2 * 2) + 1 * (5 + 3 * 2.5))
    assert found.power_w == 40
    assert (found.electrical, found.optical, found.optical_m) == (2, 1, 2.5)
    assert found.per_host == found.total / 4
    assert found.power_per_host_w == 10
    assert "estimated" in repr(found)


def test_prices_are_edited_and_checked() -> None:
    prices = topology.PriceTable()
    assert prices.replace(bandwidth_gbit_s=200).bandwidth_gbit_s == 200
    dear = cost(topology.torus((8, 8)), prices.replace(router_per_port=700))
    assert dear.per_host > cost(topology.torus((8, 8))).per_host
    with pytest.raises(ParameterError, match="a price table has router_fixed"):
        prices.replace(colour=1)
    with pytest.raises(ParameterError, match="overhead_m must be a number of at least 0; got -1"):
        prices.replace(overhead_m=-1)
    with pytest.raises(ParameterError, match="routers_per_cabinet must be a whole number"):
        prices.replace(routers_per_cabinet=0)
    with pytest.raises(ParameterError, match=r"price of at least 0: -890 \+ 2 × 350 = -190; raise"):
        prices.replace(router_least_ports=2)


def test_small_routers_have_the_price_of_the_smallest_of_the_source() -> None:
    """A hypercube of two routers with a host each: 7 ports, not 2, which would be below 0."""
    found = cost(topology.parse_topology("hypercube:1"))
    assert found.routers == 2 * (7 * 350 - 890)
    assert found.power_w == pytest.approx(4 * 2.8)
    assert found.note == "2 routers priced as 7-port ones"
    assert found.note in repr(found)
    assert not cost(topology.torus((3, 3, 3))).note
    shown = topology.summary(topology.parse_topology("hypercube:1"), parts=["cost"]).rows()
    assert str(shown["cost per host"]).endswith("(2 routers priced as 7-port ones)")


def test_routers_without_group_share_cabinets_by_order() -> None:
    chain = network([(i, i + 1) for i in range(5)], [1] * 6)
    found = cost(chain, topology.PriceTable(routers_per_cabinet=2))
    assert (found.electrical, found.optical) == (3, 2)


def test_failed_links_by_hand() -> None:
    """A chain loses half of two links: one host of three is apart."""
    chain = network([(0, 1), (1, 2)], [1] * 3)
    found = resilience(chain, shares=[0, 0.5], trials=3)
    assert found.connected.tolist() == [[1, 1, 1], [2 / 3] * 3]
    assert found.diameter.tolist() == [[2, 2, 2], [1, 1, 1]]
    assert found.average.tolist() == [[4 / 3] * 3, [1, 1, 1]]
    assert np.isnan(found.bisection).all()


def test_what_failed_stays_failed() -> None:
    made = topology.slim_fly(5)
    told: list[tuple[int, int]] = []
    found = resilience(
        made,
        trials=2,
        rng=5,
        bisections=True,
        task=Task(lambda now: told.append((now.done, now.total))),
    )
    assert (np.diff(found.connected, axis=0) <= 0).all()
    assert found.connected[0].tolist() == [1, 1]
    assert found.bisection[0].tolist() == [65, 65]
    whole = (found.connected == 1).all(axis=1)
    assert (np.diff(found.average[whole], axis=0) >= 0).all()
    assert (found.bisection[whole][1:] < 65).all()
    again = resilience(made, trials=2, rng=5)
    np.testing.assert_array_equal(found.average, again.average)
    assert told[-1] == (14, 14)
    frame = found.to_frame()
    assert len(frame) == 14
    assert frame["connected"].iloc[0] == 1
    assert "2 trials" in repr(found)
    assert "<table" in found._repr_html_()


def test_what_resilience_refuses(stopped: Task) -> None:
    made = topology.torus((3, 3))
    for shares in ([], [1.0], [-0.1], [math.nan]):
        with pytest.raises(ParameterError, match="shares must be"):
            resilience(made, shares=shares)
    with pytest.raises(ParameterError, match="trials must be"):
        resilience(made, trials=0)
    with pytest.raises(ParameterError, match="0 links and 1 hosts: leave resilience out"):
        resilience(network([], [1]))
    with pytest.raises(SimulationHalted):
        resilience(made, task=stopped)


@given(networks(least=1, most=9))
def test_a_graphs_slots(drawn: tuple[int, Links]) -> None:
    routers, links = drawn
    graph = RouterGraph.of(network(links, [1] * routers))
    assert graph.capacity.sum() == 2 * len(links)
    np.testing.assert_array_equal(graph.tail[graph.opposite], graph.neighbour)
    np.testing.assert_array_equal(graph.neighbour[graph.opposite], graph.tail)
    chosen = np.arange(routers) % 2 == 0
    part = graph.part(chosen)
    whole = graph.matrix().toarray()
    np.testing.assert_array_equal(part.matrix().toarray(), whole[chosen][:, chosen])
    away = reference.hops(links, routers)
    same = np.equal.outer(graph.components(), graph.components())
    np.testing.assert_array_equal(same, away >= 0)
