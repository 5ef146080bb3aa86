"""Collectives on a fabric: closed forms where nothing is shared, bounds where it is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError
from workbench.models import SNAPPR
from workbench.simulate.fabric.collectives import collective_times
from workbench.simulate.fabric.fabric import Fabric
from workbench.tasks import Task
from workbench.topology import parse_topology

MODEL = SNAPPR(injection_bandwidth=1e10, link_bandwidth=1e10, variant="repaired")
BYTE = 1e-10
LATENCY = 1.1e-6
"""Over two links: 500 ns, 2 × 100 ns, 400 ns."""


def fluid(network):
    return Fabric(network, MODEL, congestion="flow")


def test_a_linear_gather_takes_the_bytes_of_all_through_the_root_link() -> None:
    times = collective_times(fluid(topology.star(9)), "gather", "linear", (100, 10_000))
    assert times == pytest.approx({s: LATENCY + 8 * s * BYTE for s in (100, 10_000)}, rel=1e-12)


@for_each("operation", ["gather", "scatter"])
def test_a_binomial_tree_takes_a_latency_for_each_level(operation) -> None:
    times = collective_times(fluid(topology.star(16)), operation, "binomial", (1000,))
    assert times[1000] == pytest.approx(4 * LATENCY + 15 * 1000 * BYTE, rel=1e-12)


def test_a_gather_over_thousands_of_nodes_of_a_torus_keeps_its_root_link_busy() -> None:
    """A binomial tree on 16×16×16: all bytes but the root's, and a latency for each level."""
    network = parse_topology("torus:16,16,16")
    (time,) = collective_times(fluid(network), "gather", "binomial", (8192,)).values()
    levels = [900e-9 + hops * 100e-9 for hops in (1, 2, 4, 8) * 3]
    assert time == pytest.approx(4095 * 8192 * BYTE + sum(levels), rel=1e-9)


def test_a_ring_allgather_among_neighbours_shares_nothing() -> None:
    network = parse_topology("torus:8")
    times = collective_times(fluid(network), "allgather", "ring", (64, 4096))
    step = {size: 900e-9 + 100e-9 + size * BYTE for size in (64, 4096)}
    assert times == pytest.approx({size: 7 * step[size] for size in step}, rel=1e-12)


def test_an_alltoall_on_a_ring_goes_round_distance_by_distance() -> None:
    """Of 8 on a ring each sends 1, 2, 3, 4 places up, then 3, 2, 1 down, as many on each link."""
    fabric = Fabric(parse_topology("torus:8"), MODEL, "deterministic", "flow")
    times = collective_times(fabric, "alltoall", "linear", (10_000,))
    assert times[10_000] == pytest.approx(1000e-9 + 16 * 10_000 * BYTE, rel=1e-12)
    # All at once nobody waits for his own queue; the links upwards carry 1 + 2 + 3 + 4 blocks.
    shared = collective_times(fabric, "alltoall", "linear", (10_000,), in_turn=False)
    assert shared[10_000] == pytest.approx(1300e-9 + 10 * 10_000 * BYTE, rel=1e-12)


@for_each("congestion", ["packet", "packet-flow", "flow"])
@for_each(
    "operation, algorithm",
    [
        ("allgather", "ring"),
        ("allgather", "bruck"),
        ("alltoall", "pairwise"),
        ("scatter", "binomial"),
        ("gather", "linear"),
        ("allreduce", "ring"),
    ],
)
def test_times_grow_with_the_messages(congestion, operation, algorithm) -> None:
    model = MODEL if congestion != "packet-flow" else None
    fabric = Fabric(topology.dragonfly(a=2, p=2, h=1), model, congestion=congestion)
    times = collective_times(fabric, operation, algorithm, (64, 2048, 65_536))
    assert list(times) == [64, 2048, 65_536]
    assert np.all(np.diff(list(times.values())) > 0)


def test_packets_come_near_fluid_in_a_contended_alltoall() -> None:
    network = topology.fat_tree(4)
    times = [
        collective_times(
            Fabric(network, MODEL, "deterministic", congestion), "alltoall", "linear", (65_536,)
        )[65_536]
        for congestion in ("flow", "packet")
    ]
    # Queues of packets are first in, first out, and not fair: a few per cent.
    assert times[1] == pytest.approx(times[0], rel=0.05)


def test_fewer_ranks_another_root_and_one_placement_for_all_sizes() -> None:
    fabric = fluid(parse_topology("torus:4,4"))
    options = {"ranks": 6, "root": 2, "placement": "random"}
    one, same, other = (
        collective_times(fabric, "bcast", None, (64, 128), **options, rng=seed)
        for seed in (1, 1, 4)
    )
    assert one == same
    assert one[128] - one[64] == pytest.approx(3 * 64 * BYTE, rel=1e-6)
    assert one != other


def test_a_stop_leaves_what_is_done() -> None:
    told = []

    def stop_after_two(now) -> None:
        told.append((now.done, now.total))
        if now.done == 2:
            task.stop()

    task = Task(stop_after_two)
    fabric = fluid(parse_topology("torus:4,4"))
    times = collective_times(fabric, "alltoall", "linear", (64, 128, 256), task=task)
    assert list(times) == [64, 128]
    assert task.partial == times
    assert told == [(1, 3), (2, 3)]


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(ParameterError, match="sizes must name"):
        collective_times(fluid(topology.star(4)), "gather", sizes=())
    with pytest.raises(ParameterError, match="algorithm of gather"):
        collective_times(fluid(topology.star(4)), "gather", "ring")
    with pytest.raises(ParameterError, match="need 5 hosts"):
        collective_times(fluid(topology.star(4)), "gather", ranks=5)
