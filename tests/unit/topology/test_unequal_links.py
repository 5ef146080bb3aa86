"""Links of unequal bandwidth: one of capacity k is k parallel links in every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError, ParseError
from workbench.simulate.fabric.paths import message_paths
from workbench.topology import Topology, link_loads, parse_topology, topology_spec
from workbench.topology.channels import channels
from workbench.topology.files import read_topology
from workbench.topology.files.hosts import with_hosts
from workbench.topology.link_load import LOAD_ROUTINGS
from workbench.topology.metrics import PriceTable, bisection, cost, girth, path_diversity, spectrum
from workbench.topology.metrics.links import LinkSpeeds
from workbench.topology.metrics.summary import summary
from workbench.topology.routing import route
from workbench.topology.routing.tables import in_proportion
from workbench.topology.throughput import throughput

REPORTS = Path(__file__).parents[2] / "data" / "reports"

DGX = [
    *((0, 1, 1), (0, 2, 1), (0, 3, 2), (1, 2, 2), (1, 3, 1), (2, 3, 2)),
    *((4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 6, 2), (5, 7, 1), (6, 7, 2), (0, 4, 2), (3, 7, 2)),
]
"""Links of eight GPUs in multiples of 200 Gbit/s, as of 32_dgx_bw.csv."""


def network(links: Sequence[tuple[int, int]], hosts: Sequence[int], **stated: object) -> Topology:
    routers = 1 + max((max(link) for link in links), default=0)
    made = Topology(
        name="example",
        num_routers=routers,
        links=np.array(links, np.int32),
        link_class=np.ones(len(links), np.uint8),
        classes=("terminal", "link"),
        host_router=np.array(hosts, np.int32),
        group=np.full(routers, -1, np.int32),
    )
    return replace(made, **stated)  # type: ignore[arg-type]


def both(rows: Sequence[tuple[int, int, int]], hosts: Sequence[int]) -> tuple[Topology, Topology]:
    """Return a network with links of some capacities, and one with parallel links instead."""
    wide = network(
        [(one, other) for one, other, _ in rows],
        hosts,
        link_bandwidth=25e9 * np.array([times for _, _, times in rows], float),
        host_bandwidth=np.full(len(hosts), 25e9),
    )
    several = [(one, other) for one, other, times in rows for _ in range(times)]
    return wide, network(several, hosts)


@st.composite
def drawn(draw: st.DrawFn) -> tuple[Topology, Topology]:
    routers = draw(st.integers(2, 6))
    capacity = st.sampled_from((1, 2, 4))
    tree = [(draw(st.integers(0, r - 1)), r, draw(capacity)) for r in range(1, routers)]
    pairs = st.tuples(st.integers(0, routers - 1), st.integers(0, routers - 1), capacity)
    more = [row for row in draw(st.lists(pairs, max_size=5)) if row[0] != row[1]]
    hosts = [router for router in range(routers) for _ in range(draw(st.integers(0, 2)))]
    return both(tree + more, hosts if len(set(hosts)) > 1 else [0, 1])


@given(drawn())
def test_a_link_of_capacity_k_is_k_parallel_links(made: tuple[Topology, Topology]) -> None:
    wide, several = made
    cuts = [bisection(one) for one in made]
    assert cuts[0].upper == cuts[1].upper
    # Two eigenvalues and sums in another order: a few roundings.
    close = {"rel": 1e-9, "abs": 1e-9}
    for name in ("spectral", "routed"):
        assert getattr(cuts[0], name) == pytest.approx(getattr(cuts[1], name), nan_ok=True, **close)
    values = [spectrum(one) for one in made]
    for name in ("lambda_1", "lambda_2", "lambda_n", "connectivity"):
        assert getattr(values[0], name) == pytest.approx(getattr(values[1], name), **close)
    prices = [cost(one) for one in made]
    assert prices[0].total == pytest.approx(prices[1].total, **close)
    assert prices[0].power_w == pytest.approx(prices[1].power_w, **close)
    numbered, beside = channels(wide), channels(several)
    times = np.rint(wide.capacity).astype(int)
    of_link = np.repeat(np.arange(len(times)), times)
    for routing in LOAD_ROUTINGS:
        loads = [link_loads(one, routing=routing) for one in made]
        assert loads[0].largest == pytest.approx(loads[1].largest, **close)
        assert loads[0].saturation == pytest.approx(loads[1].saturation, **close)
        mean = np.bincount(
            2 * of_link[beside.link] + (beside.source > beside.target)[: beside.between_routers],
            loads[1].channel,
            2 * len(times),
        ) / np.repeat(times, 2)
        way = 2 * numbered.link + (numbered.source > numbered.target)[: numbered.between_routers]
        np.testing.assert_allclose(loads[0].channel, mean[way], rtol=1e-9, atol=1e-12)


@given(drawn(), st.sampled_from(["uniform", "permutation", "longest-matching"]))
def test_throughput_is_that_of_parallel_links(
    made: tuple[Topology, Topology], pattern: str
) -> None:
    for method in ("exact", "quick"):
        found, expected = (throughput(one, pattern, method=method) for one in made)
        # HiGHS's optimum: 1e-7 is its tolerance.
        assert found.between_routers == pytest.approx(expected.between_routers, rel=1e-6)
        assert (found.lower, found.upper) == pytest.approx(
            (expected.lower, expected.upper), rel=1e-6
        )
    lower, upper = throughput(made[0], pattern, method="bounds").between_routers
    best = throughput(made[0], pattern, method="exact").between_routers[0]
    assert lower <= best * (1 + 1e-6) and best <= upper * (1 + 1e-6)


def test_eight_gpus_with_links_of_200_and_400_gbits() -> None:
    wide, several = (
        read_topology(REPORTS / name) for name in ("32_dgx_bw.csv", "32b_dgx_parallel.csv")
    )
    assert wide.link_bandwidth.tolist() == both(DGX, range(8))[0].link_bandwidth.tolist()
    for made in (wide, several):
        assert bisection(made).upper == 4
        for pattern in ("uniform", "longest-matching"):
            found = throughput(made, pattern)
            assert found.exact and found.lower == pytest.approx(1, rel=1e-9)
    row = summary(wide).rows()["link bandwidth, GB/s"]
    assert str(row) == (
        "25 to 50 (unequal links, counted in links of 25 GB/s, which hosts are assumed to have)"
    )
    assert str(summary(wide).rows()["bisection, GB/s"]) == "100"


def test_a_trunk_of_400_gbits_between_hosts_of_100() -> None:
    made = read_topology(REPORTS / "15d_bw.graphml")
    assert made.capacity.tolist() == [4] and made.host_capacity.tolist() == [1] * 4
    assert throughput(made, "uniform").lower == pytest.approx(1)
    assert bisection(made).upper == 4
    assert with_hosts(made, 3).capacity.tolist() == [4]
    assert summary(made, parts=[]).to_dict()["unequal links"].endswith("of 12.5 GB/s")


@for_each("trunk, hosts", [(1, 2), (4, 2), (2, 5), (0.5, 3), (2.5, 8), (10, 4)])
def test_a_trunk_of_any_bandwidth_between_two_switches(trunk: float, hosts: int) -> None:
    """Each of 2 h hosts sends h / (2 h - 1) of its traffic over the trunk."""
    made = network(
        [(0, 1)],
        [0] * hosts + [1] * hosts,
        link_bandwidth=np.array([trunk * 12.5e9]),
        host_bandwidth=np.full(2 * hosts, 12.5e9),
    )
    cut = bisection(made)
    assert (cut.upper, cut.exact) == (trunk, True)
    fits = trunk * (2 * hosts - 1) / hosts**2
    assert throughput(made, "uniform").between_routers[0] == pytest.approx(fits)
    assert throughput(made, "uniform").lower == pytest.approx(min(1, fits))
    assert link_loads(made).channel == pytest.approx([1 / fits] * 2)
    assert link_loads(made).saturation == pytest.approx(min(1, fits))


def test_the_best_cut_of_any_bandwidths_is_found() -> None:
    """All divisions of up to seven routers, whose cuts are not whole numbers."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        n = int(rng.integers(2, 8))
        links = [(int(rng.integers(0, router)), router) for router in range(1, n)]
        links += [tuple(rng.choice(n, 2, replace=False).tolist()) for _ in range(6)]
        rates = 1e9 * rng.choice([0.3, 1, 1.7, 2.5, 10 / 3, 40], len(links))
        made = network(links, range(n), link_bandwidth=rates, host_bandwidth=np.full(n, 1e9))
        found = bisection(made)
        sides = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        even = sides[np.abs(n - 2 * sides.sum(axis=1)) <= found.difference]
        cut = even[:, made.links[:, 0]] != even[:, made.links[:, 1]]
        best = float((cut @ made.capacity).min())
        assert found.upper == pytest.approx(best) and found.lower <= best * (1 + 1e-9)


def test_hosts_with_links_of_their_own_bandwidth() -> None:
    """A sender of twice the bandwidth to a receiver of the least: the receiver is full."""
    stated = {"link_bandwidth": np.array([8.0]), "host_bandwidth": np.array([1.0, 2.0, 2.0])}
    made = network([(0, 1)], [0, 1, 1], **stated)
    assert made.host_capacity.tolist() == [1, 2, 2] and made.capacity.tolist() == [8]
    assert throughput(made, "uniform").lower == pytest.approx(1)
    assert link_loads(made).host == pytest.approx(1)


def test_paths_and_cycles_count_links_not_bandwidth() -> None:
    wide, several = both([(0, 1, 2), (1, 2, 1), (0, 2, 1)], [0, 1, 2])
    assert (girth(wide), girth(several)) == (3, 2)
    assert path_diversity(wide).disjoint.tolist() == [2, 2, 2]
    assert spectrum(wide).ramanujan is None


def test_cables_are_priced_by_their_bandwidth() -> None:
    wide, _ = both([(0, 1, 4)], [0, 1])
    table = PriceTable(bandwidth_gbit_s=200.0)
    metre = 0.58 + 0.41
    assert cost(wide, table).cables == pytest.approx(200 * metre * (1 + 1 + 4))
    # Unasked the table is at the bandwidth that the network states.
    assert summary(wide, parts=["cost"]).cost == cost(wide, table)


@for_each("capacities, shares", [
    ([1, 1, 1], [1, 1, 1]),
    ([4, 4], [1, 1]),
    ([1, 2, 4], [1, 2, 4]),
    ([2, 5], [2, 5]),
    ([1, 2.5], [2, 5]),
    ([3, 10 / 3], [9, 10]),
    ([1, 1000], [1, 256]),
])  # fmt: skip
def test_shares_are_whole_and_in_proportion(capacities: list[float], shares: list[int]) -> None:
    links = [(0, 1)] * len(capacities)
    stated = {"link_bandwidth": 1e9 * np.array(capacities, float)}
    made = network(links, [0, 1], **stated)
    assert made.link_share.tolist() == shares


def test_packets_take_links_in_proportion() -> None:
    """A link of twice the bandwidth as often as two beside one another."""
    made = route(both([(0, 1, 1), (0, 2, 2), (1, 3, 1), (2, 3, 2)], [0, 3])[0], "minimal")
    first, candidate = in_proportion(made.minimal, made.channels)
    chosen = made.minimal.row[0, made.minimal.column[3]]
    ways = made.channels.target[candidate[first[chosen] : first[chosen + 1]]]
    assert sorted(ways.tolist()) == [1, 2, 2]
    assert len(made.minimal.between(0, 3)) == 2


@for_each("spec, capacities", [
    ("dragonfly:9,4,2,2,bandwidth=1x2", {"intra-group": 1, "inter-group": 2}),
    ("dragonfly-plus:9,4,4,4,2,bandwidth=0.5", {"intra-group": 0.5, "inter-group": 0.5}),
    ("fat-tree:8,bandwidth=1x0.25", {"intra-group": 1, "inter-group": 0.25}),
    ("xgft:m=4x4x4,w=1x2x2,bandwidth=2x4", {"level 1-2": 2, "level 2-3": 4}),
    ("torus:4,4,bandwidth=3x1", {"dimension 0": 3, "dimension 1": 1}),
])  # fmt: skip
def test_a_spec_gives_classes_of_links_a_bandwidth(spec: str, capacities: dict[str, float]) -> None:
    made = parse_topology(spec)
    assert made.unequal and np.isnan(made.reference_bandwidth)
    assert {made.classes[c]: k for c, k in zip(made.link_class, made.capacity, strict=True)} == (
        capacities
    )
    assert parse_topology(topology_spec(made)) == made
    assert "counted in hosts' links" in str(summary(made, parts=[]).rows()["link bandwidth"])


@for_each("value, said", [
    ("1x2x3", "bandwidth must be one number, or one for each class of links of dragonfly"),
    ("0x1", "bandwidth must be above 0"),
    ("wide", "dragonfly: bandwidth must be numbers with an x between them; got 'wide'"),
])  # fmt: skip
def test_bandwidths_of_classes_are_checked(value: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        parse_topology(f"dragonfly:9,4,2,2,bandwidth={value}")


def test_tapering_by_bandwidth_is_tapering_by_links() -> None:
    """A pod's four hosts send 12/15 out of it, over four links of half the bandwidth."""
    made = parse_topology("fat-tree:4,bandwidth=1x0.5")
    assert bisection(made).upper == 4
    fits = 4 * 0.5 / (4 * 12 / 15)
    assert throughput(made, "uniform").between_routers == pytest.approx((fits, fits))


INI = """
topology {
  name = torus
  geometry = [4,4]
  concentration = 2
}
switch.link.bandwidth = 20GB/s
switch.link.latency = 100ns
node.nic.injection.bandwidth = 10GB/s
"""


def test_an_ini_states_the_bandwidths_of_links_and_hosts() -> None:
    made = read_topology(INI)
    assert made.reference_bandwidth == 10e9
    assert set(made.capacity.tolist()) == {2.0} and set(made.host_capacity.tolist()) == {1.0}
    assert made.link_latency == pytest.approx(1e-7)
    with pytest.raises(ParseError, match=r"switch.link.bandwidth"):
        read_topology(INI.replace("20GB/s", "fast"))
    with pytest.raises(ParseError, match=r"link_bandwidth must be finite and above 0"):
        read_topology(INI.replace("20GB/s", "0GB/s"))


def test_the_mean_latency_is_that_of_the_links_taken() -> None:
    """Three routers in a line, a host at each: pairs take one link, the other, or both."""
    made = replace(both([(0, 1, 1), (1, 2, 4)], [0, 1, 2])[0], link_latency=np.array([1e-6, 4e-6]))
    mean_s = (1e-6 + 4e-6 + 5e-6) / 3
    found = summary(made, parts=["distances"])
    assert found.links_s == pytest.approx(mean_s)
    assert found.rows()["mean latency of links, µs"].lower == pytest.approx(1e6 * mean_s)
    links = LinkSpeeds(bandwidth_Bps=25e9, host_s=1e-7, wire_s=9e-7, switch_s=2e-7)
    row = summary(made, parts=["distances"], links=links).rows()["mean latency, µs"]
    # Two or three switches, and the hosts' own wires.
    assert row.lower == pytest.approx(1e6 * (2e-7 + 2e-7 * (2 + 2 + 3) / 3 + mean_s))
    parts = summary(replace(made, link_latency=np.array([])), parts=["distances"])
    assert "mean latency of links, µs" not in parts.rows()


def test_a_path_among_several_is_drawn_in_proportion() -> None:
    made = channels(both([(0, 1, 1), (0, 2, 4), (1, 3, 1), (2, 3, 4)], [0, 3])[0])
    ends = np.array([0]), np.array([1])
    by_two = sum(
        int(made.target[message_paths(made, *ends, seed=seed).channel[1]] == 2)
        for seed in range(500)
    )
    # Binomial with p = 4/5: three standard deviations are 27.
    assert abs(by_two - 400) <= 27
