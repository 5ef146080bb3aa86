"""Who sends to whom: patterns by their definitions, programs' own messages, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.topology import PATTERNS, Topology, traffic
from workbench.topology.program_traffic import matrix_traffic, message_traffic
from workbench.topology.traffic import Traffic, hotspot, longest_matching, permutation

WORDS = ["torus:4x4", "dragonfly:9,4,2,2", "fat-tree:4", "hyperx:4x3", "star:6", "slim-fly:4"]


def to_one(sent: Traffic) -> dict[int, int]:
    """Return whom each host sends to, where that is one."""
    assert set(sent.rate.tolist()) <= {1.0}
    assert not sent.everywhere
    return dict(zip(sent.source.tolist(), sent.target.tolist(), strict=True))


@for_each("word", WORDS)
@for_each("pattern", PATTERNS)
def test_no_host_sends_more_than_it_can_nor_to_itself(word: str, pattern: str) -> None:
    made = topology.parse_topology(word)
    if pattern == "adversarial" and made.group[made.host_router].min() < 0:
        with pytest.raises(ParameterError, match="needs two groups"):
            traffic(made, pattern)
        return
    sent = traffic(made, pattern)
    hosts = sent.between_hosts()
    assert (hosts >= 0).all()
    assert not np.diag(hosts).any()
    np.testing.assert_array_less(hosts.sum(axis=1), 1 + 1e-12)
    assert hosts.sum() == pytest.approx(sent.total, rel=1e-12)
    if pattern not in ("hotspot", "uniform"):
        np.testing.assert_array_less(hosts.sum(axis=0), 1 + 1e-12)
    at = made.host_router
    expected = np.zeros((made.num_routers, made.num_routers))
    np.add.at(expected, (at[:, None], at[None, :]), hosts)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(sent.between_routers(), expected, atol=1e-12)  # hosts * eps
    assert pattern in repr(sent)


def test_uniform_traffic_goes_everywhere_alike() -> None:
    hosts = traffic(topology.torus((3, 3)), "uniform").between_hosts()
    assert set(hosts[~np.eye(9, dtype=bool)].tolist()) == {1 / 8}


def test_tornado_goes_nearly_half_way_round_each_dimension() -> None:
    made = topology.torus((8, 5), hosts=2)
    to = to_one(traffic(made, "tornado"))
    for host in range(made.num_hosts):
        x, y = made.coordinates[host // 2]
        there = made.coordinates[to[host] // 2]
        assert tuple(there) == ((x + 3) % 8, (y + 2) % 5)
        assert to[host] % 2 == host % 2
    assert to_one(traffic(topology.fully_connected(8), "tornado"))[6] == 1
    # Two hosts are each other's half way.
    assert to_one(traffic(topology.fully_connected(2), "tornado")) == {0: 1, 1: 0}


def test_transpose_and_bit_complement() -> None:
    to = to_one(traffic(topology.torus((4, 4)), "transpose"))
    assert {4 * r + q: 4 * q + r for r in range(4) for q in range(4) if r != q} == to
    # Of a rectangle of 3 by 4 hosts: row 1, column 2 becomes row 2, column 1 of 4 by 3.
    assert to_one(traffic(topology.fully_connected(12), "transpose"))[1 * 4 + 2] == 2 * 3 + 1
    with pytest.raises(ParameterError, match="7 has no divisor"):
        traffic(topology.fully_connected(7), "transpose")
    to = to_one(traffic(topology.hypercube(3), "bit-complement"))
    assert to == {host: host ^ 7 for host in range(8)}


def test_adversarial_traffic_leaves_each_group_for_the_next() -> None:
    made = topology.dragonfly(4, 2, 2)
    to = to_one(traffic(made, "adversarial"))
    assert to == {host: (host + 8) % 72 for host in range(72)}
    assert to_one(traffic(made, "adversarial", shift=2))[0] == 16
    with pytest.raises(ParameterError, match="shift must lead to another one of 9 groups"):
        traffic(made, "adversarial", shift=9)


def test_hosts_need_not_be_in_the_order_of_routers() -> None:
    """Group 0 has hosts 1 and 2, group 1 has hosts 0 and 3; the order within counts."""
    made = Topology(
        "example",
        2,
        np.array([[0, 1]], np.int32),
        np.ones(1, np.uint8),
        ("terminal", "link"),
        np.array([1, 0, 0, 1], np.int32),
        np.array([0, 1], np.int32),
    )
    assert to_one(traffic(made, "adversarial")) == {1: 0, 2: 3, 0: 1, 3: 2}
    matched = to_one(longest_matching(made))
    assert {made.host_router[s] + made.host_router[t] for s, t in matched.items()} == {1}


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_a_permutation_is_one_and_repeats_by_its_seed(hosts: int, seed: int) -> None:
    made = topology.fully_connected(hosts)
    first = permutation(made, rng=seed)
    assert sorted(to_one(first).values()) == list(range(hosts))
    assert first.seed == seed
    np.testing.assert_array_equal(first.target, permutation(made, rng=seed).target)


def test_the_longest_matching_is_as_long_as_any() -> None:
    made = topology.torus((4, 4))
    to = to_one(longest_matching(made))
    assert all(made.router_hops[s, t] == 4 for s, t in to.items())
    # 3, 1 and 2 hosts: four times over both links, there and back over one.
    uneven = Topology(
        "example",
        3,
        np.array([[0, 1], [1, 2]], np.int32),
        np.ones(2, np.uint8),
        ("terminal", "link"),
        np.array([0, 0, 0, 1, 2, 2], np.int32),
        np.full(3, -1, np.int32),
    )
    hops = uneven.router_hops[np.ix_(uneven.host_router, uneven.host_router)]
    assert sum(hops[s, t] for s, t in to_one(longest_matching(uneven)).items()) == 10
    with pytest.raises(ParameterError, match="at most 6000 routers"):
        longest_matching(topology.torus((80, 80)))


def test_a_hotspot_gets_its_share() -> None:
    made = topology.torus((4, 4))
    hosts = hotspot(made, hot=[0, 5], share=0.5).between_hosts()
    # 14 cold hosts send a quarter each, one hot host a half, and all a part of the rest.
    assert hosts[:, 0].sum() == pytest.approx(14 * 0.25 + 0.5 + 15 * 0.5 / 15)
    np.testing.assert_allclose(hosts.sum(axis=1), 1, rtol=1e-12)
    for options, said in (
        ({"share": 1.5}, "share must be 0 to 1"),
        ({"hot": [16]}, "hosts must be 0 to 15"),
        ({"hot": []}, "one hot host"),
    ):
        with pytest.raises(ParameterError, match=said):
            traffic(made, "hotspot", **options)


def test_a_programs_messages_fill_the_busiest_hosts_link() -> None:
    made = topology.torus((2, 2))
    matrix = [[7, 100, 0], [0, 0, 50], [50, 0, 0]]
    sent = matrix_traffic(made, matrix, [0, 3, 2], name="cg")
    expected = np.zeros((4, 4))
    expected[0, 3], expected[3, 2], expected[2, 0] = 1.0, 0.5, 0.5
    np.testing.assert_array_equal(sent.between_hosts(), expected)
    assert sent.name == "cg"
    # Two ranks at one host: what they send each other takes no network, what others send adds up.
    together = message_traffic(made, [0, 0, 1, 2, 2], [1, 2, 2, 0, 0], [9, 5, 5, 2, 3], [1, 1, 0])
    hosts = together.between_hosts()
    assert hosts[1, 0] == 1.0
    assert hosts[0, 1] == 0.5
    assert together.total == 1.5
    assert matrix_traffic(made, np.zeros((2, 2))).total == 0


@for_each(
    "matrix, hosts, said",
    [
        ([[1, 2]], None, "a row and a column for each rank"),
        ([[0, -1], [0, 0]], None, "at least 0"),
        ([[0, np.nan], [0, 0]], None, "at least 0"),
        (np.ones((5, 5)), None, "every rank must have a host"),
        (np.ones((2, 2)), [0], "one for each of 2 ranks"),
        (np.ones((2, 2)), [0, 4], "hosts must be 0 to 3"),
    ],
)
def test_programs_that_do_not_fit(matrix: object, hosts: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        matrix_traffic(topology.torus((2, 2)), matrix, hosts)  # type: ignore[arg-type]


def test_messages_must_be_complete() -> None:
    made = topology.torus((2, 2))
    with pytest.raises(ParameterError, match="a sender, a receiver and a size"):
        message_traffic(made, [0, 1], [1], [5, 5])
    with pytest.raises(ParameterError, match="every rank must have a host"):
        message_traffic(made, [-1], [1], [5])
    with pytest.raises(ParameterError, match="must be one of uniform, permutation"):
        traffic(made, "rush hour")
