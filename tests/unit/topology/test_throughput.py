"""How much fits: known values, every route as a variable, bounds that hold, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from tests.kernels.networks import networks
from tests.reference import networks as reference
from tests.unit.topology.test_metrics import network
from workbench import topology
from workbench.errors import ParameterError, SimulationHalted
from workbench.tasks import Progress, Task
from workbench.topology import throughput, traffic
from workbench.topology.program_traffic import matrix_traffic
from workbench.topology.throughput import METHODS
from workbench.topology.traffic import longest_matching

Links = list[tuple[int, int]]
LP = 1e-6  # of HiGHS's interior points, relative to 1


@for_each(
    "word, pattern, value",
    [
        ("torus:4x4", "longest-matching", 1.0),
        ("hyperx:sizes=4x4,hosts=3", "longest-matching", 0.667),
        ("dragonfly:9,4,2,2", "longest-matching", 0.665),
        ("fat-tree:4", "longest-matching", 1.0),
        # Each router's k/2 links up carry what its k/2 hosts send beyond it, 15 - 1 of 15.
        ("fat-tree:4", "uniform", 1.0714),
        # 2 m / (n ASPL): no network carries more, and an edge-transitive one carries it.
        ("torus:4x4", "uniform", 64 / (16 * 32 / 15)),
        ("hypercube:4", "uniform", 64 / (16 * 32 / 15)),
        ("fully-connected:6", "uniform", 5.0),
        # All k links of a corner and back again.
        ("hypercube:4", "bit-complement", 1.0),
    ],
)
def test_known_values(word: str, pattern: str, value: float) -> None:
    found = throughput(topology.parse_topology(word), pattern, method="exact")
    assert found.exact
    assert found.between_routers == pytest.approx((value, value), abs=5e-4)
    assert found.between_routers[0] <= found.distance_bound * (1 + LP)
    # No host sends more than its link carries.
    assert found.lower == found.upper == min(1.0, found.between_routers[0])


def test_a_hosts_own_link_is_the_limit_too() -> None:
    made = topology.parse_topology("fully-connected:6")
    hot = throughput(made, traffic(made, "hotspot", share=0.5), method="exact")
    # One host gets half of what five send, and a fifth of the rest of each, and is full.
    assert hot.lower == pytest.approx(1 / (5 * 0.5 + 0.5), abs=LP)
    assert hot.between_routers[0] > hot.lower
    alone = throughput(network([], [4]), "uniform")
    assert (alone.lower, alone.between_routers[0]) == (1.0, math.inf)


def test_of_equally_long_matchings_some_fit_better() -> None:
    """PolarFly, q=3, two hosts a router: 2/3 for most of them."""
    made = topology.polarfly(3, hosts=2)
    found = [throughput(made, longest_matching(made, rng=seed)).lower for seed in range(5)]
    assert np.median(found) == pytest.approx(2 / 3, abs=LP)
    assert {one.distance_bound for one in (throughput(made), throughput(made))} == {
        throughput(made).distance_bound
    }


@examples(8)
@given(networks(least=2, most=5, joined=True), st.integers(0, 2**32 - 1))
def test_the_optimum_is_that_over_all_routes(drawn: tuple[int, Links], seed: int) -> None:
    routers, links = drawn
    rng = np.random.default_rng(seed)
    sent = rng.uniform(0.1, 1, (routers, routers)) * (rng.random((routers, routers)) < 0.6)
    np.fill_diagonal(sent, 0)
    made = network(links, [1] * routers, [router % 3 for router in range(routers)])
    demand = matrix_traffic(made, sent)
    found = throughput(made, demand, method="exact")
    if not sent.any():
        assert math.isinf(found.lower)
        return
    best = reference.throughput(links, routers, demand.between_routers())
    assert found.between_routers[0] == pytest.approx(best, rel=1e-5)
    # The busiest host's link is just full at 1.
    assert found.lower == pytest.approx(min(found.between_routers[0], 1.0), rel=1e-12)
    low, high = throughput(made, demand, method="bounds", phases=60).between_routers
    assert low <= best * (1 + 1e-9)
    assert high >= best * (1 - 1e-9)
    lowest, highest = throughput(made, demand, method="quick").between_routers
    assert lowest <= low <= high <= highest * (1 + 1e-9)


WORDS = ("dragonfly:9,4,2,2", "slim-fly:5", "torus:5x4")
PATTERNS = ("longest-matching", "uniform", "permutation")


@pytest.mark.parametrize(
    ("word", "pattern"),
    [
        pytest.param(word, pattern, marks=() if at == also else pytest.mark.deep)
        for at, word in enumerate(WORDS)
        for also, pattern in enumerate(PATTERNS)
    ],
)
def test_bounds_close_in_on_the_optimum(word: str, pattern: str) -> None:
    made = topology.parse_topology(word)
    exact = throughput(made, pattern, method="exact").between_routers[0]
    found = throughput(made, pattern, method="bounds", tolerance=0.05, phases=400)
    low, high = found.between_routers
    assert low <= exact * (1 + LP)
    assert high >= exact * (1 - LP)
    assert high <= low * 1.1
    again = throughput(made, pattern, method="bounds", tolerance=0.05, phases=400)
    assert found == again


def test_what_both_bounds_agree_on_is_exact_without_a_search() -> None:
    found = throughput(topology.torus((8, 8, 8)), "uniform")
    assert found.exact
    assert found.phases == 0
    # 6 links a router, 511 other hosts, whose distances sum up to 512 · 6.
    assert found.lower == pytest.approx(6 * 511 / (512 * 6), rel=1e-12)


def test_a_cut_between_groups_bounds_what_fits() -> None:
    """Two groups of four, one link: of each host's traffic 4/7 must cross it, 16/7 of all."""
    full = [(i, j) for base in (0, 4) for i in range(base, base + 4) for j in range(base, i)]
    made = network([*full, (3, 4)], [1] * 8, [0] * 4 + [1] * 4)
    found = throughput(made, "uniform", method="quick")
    assert found.exact
    assert found.upper == pytest.approx(7 / 16, rel=1e-12)
    assert found.distance_bound > 1


def test_large_networks_get_bounds_labelled_as_such() -> None:
    made = topology.dragonfly(8, 4, 4)
    found = throughput(made, "adversarial", phases=10)
    assert not found.exact
    assert found.method == "bounds"
    assert found.phases == 10
    # Valiant's routing alone carries half of what fits of uniform traffic, 1.008.
    assert 0.5 < found.lower < found.upper < found.distance_bound
    assert "lower and upper bound" in repr(found)
    assert " to " in str(found)


def test_more_links_never_carry_less() -> None:
    made = topology.torus((3, 3))
    wide = topology.torus((3, 3), multiplicity=(2, 2))
    for pattern in ("uniform", "permutation"):
        one, two = (throughput(n, pattern, method="exact").between_routers[0] for n in (made, wide))
        assert two == pytest.approx(2 * one, rel=LP)


def test_what_is_refused() -> None:
    made = topology.torus((3, 3))
    for options, said in (
        ({"method": "guess"}, f"one of {', '.join(METHODS)}"),
        ({"tolerance": 0}, "tolerance must be above 0"),
    ):
        with pytest.raises(ParameterError, match=said):
            throughput(made, "uniform", **options)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="must be of torus 3x3"):
        throughput(made, traffic(topology.torus((4, 4)), "uniform"))
    with pytest.raises(ParameterError, match="route for all traffic"):
        throughput(network([(0, 1), (2, 3)], [1] * 4), "uniform")
    with pytest.raises(ParameterError, match="at most 10000 routers"):
        throughput(topology.torus((101, 101)), "uniform")


def test_a_halt_ends_the_search_and_the_program() -> None:
    made = topology.dragonfly(4, 2, 2)
    told: list[tuple[int, int]] = []

    def stop_at_the_first(now: Progress) -> None:
        told.append((now.done, now.total))
        task.stop()

    task = Task(stop_at_the_first)
    found = throughput(made, method="bounds", phases=50, task=task)
    assert told == [(1, 50)]
    assert found.phases == 1
    assert found.lower < found.upper
    with pytest.raises(SimulationHalted):
        throughput(made, method="exact", task=task)
