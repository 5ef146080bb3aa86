"""Flows and packets on links of unequal bandwidth and latency: closed forms, parallel links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.cases import for_each
from tests.kernels.test_llamp import chains
from tests.unit.simulate.fabric.test_program import (
    BYTE,
    CONGESTIONS,
    LATENCY,
    NS,
    PORTS,
    hosts_cost,
)
from tests.unit.topology.test_unequal_links import DGX, both, network
from workbench import topology
from workbench.errors import ConfigurationError
from workbench.models import SNAPPR
from workbench.programs.collectives import schedule
from workbench.programs.graph import RECV, SEND
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.open_loop import run_traffic
from workbench.simulate.fabric.program import replay_on
from workbench.topology.traffic import Traffic

SIZE = 1_000_000
MTU = 4096


def pair(trunk: float, latency_s: float | None = None) -> topology.Topology:
    """Two switches with a host each; the trunk has so many times the hosts' bandwidth."""
    stated = {
        "link_bandwidth": np.array([trunk * 1e10]),
        "host_bandwidth": np.full(2, 1e10),
        "link_latency": np.zeros(0) if latency_s is None else np.array([latency_s]),
    }
    return network([(0, 1)], [0, 1], **stated)


def end_ticks(made: topology.Topology, congestion: str, size: int = SIZE) -> int:
    fabric = Fabric(made, PORTS[congestion], congestion=congestion)
    return int(replay_on(chains([(SEND, size)], [(RECV, size)]), fabric).finish_ticks.max())


@for_each("congestion", CONGESTIONS)
def test_a_slow_trunk_is_what_a_message_waits_for(congestion: str) -> None:
    """Injection 500 ns, one link of 100 ns, ejection 400 ns; a byte takes four times as long."""
    idle = LATENCY - 100 * NS
    # PISCES counts whole ticks of each byte at each stage, and packets add their own length.
    slack = MTU * BYTE * 4 if congestion != "flow" else 0
    found = end_ticks(pair(0.25), congestion)
    assert idle + 4 * SIZE * BYTE <= found <= idle + 4 * SIZE * BYTE + slack
    wide = end_ticks(pair(4), congestion)
    assert idle + SIZE * BYTE - slack <= wide <= idle + SIZE * BYTE + slack


@for_each("congestion", CONGESTIONS)
def test_a_stated_latency_replaces_the_models(congestion: str) -> None:
    usual, stated = (end_ticks(pair(1, each), congestion, 1000) for each in (None, 3e-6))
    assert stated - usual == 2900 * NS


def test_rendezvous_waits_for_the_stated_latency_three_times() -> None:
    found = []
    for each in (None, 3e-6):
        fabric = Fabric(pair(1, each), PORTS["packet"], congestion="packet")
        run = replay_on(chains([(SEND, 9000)], [(RECV, 9000)]), fabric, host=hosts_cost(S=8000))
        found.append(int(run.finish_ticks[1]))
    assert found[1] - found[0] == 3 * 2900 * NS


def test_flows_share_a_link_of_capacity_two_as_two_links() -> None:
    program = schedule("alltoall", "linear", 8, size=65_536).graph()
    ends = []
    for made in both(DGX, range(8)):
        fabric = Fabric(made, PORTS["flow"], congestion="flow", routing="minimal")
        ends.append(replay_on(program, fabric).finish_ticks)
    # A byte takes whole ticks, and the sums of shares are in another order.
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9)


@for_each("congestion", ["packet", "packet-flow"])
def test_saturation_is_the_trunks(congestion: str) -> None:
    """Each of two hosts a side sends all to the other side: a trunk of one carries half."""
    for trunk, accepted in ((1.0, 0.5), (1.5, 0.75), (4.0, 1.0)):
        made = network(
            [(0, 1)],
            [0, 0, 1, 1],
            link_bandwidth=np.array([trunk * 1e10]),
            host_bandwidth=np.full(4, 1e10),
        )
        ends = np.arange(4, dtype=np.int32), np.array([2, 3, 0, 1], np.int32)
        sent = Traffic("across", made, *ends, np.ones(4))
        model = PORTS[congestion].replace(link_latency=1e-8, ejection_latency=1e-8)
        run = run_traffic(Fabric(made, model), sent, 0.95, messages=4000)
        assert run.accepted == pytest.approx(min(accepted, 0.95), rel=0.03)
        assert run.link_utilisation[0] == pytest.approx(min(1, 2 * 0.95 / trunk), rel=0.03)


def test_a_fabric_without_a_model_has_the_bandwidths_that_are_stated() -> None:
    made = Fabric(replace(pair(4), host_bandwidth=np.full(2, 25e9)))
    assert made.ports.link_bandwidth == made.ports.injection_bandwidth == 25e9
    assert Fabric(topology.star(2)).ports.link_bandwidth == SNAPPR().link_bandwidth


def test_results_say_that_links_are_unequal() -> None:
    fabric = Fabric(pair(4, 3e-6), PORTS["flow"], congestion="flow")
    run = replay_on(chains([(SEND, 1)], [(RECV, 1)]), fabric)
    assert run.notes == (
        "links are unequal: 10 GB/s to 40 GB/s, the model's link bandwidth times each link's "
        "capacity",
        "links between routers have the latency that the topology states, 3 µs",
    )
    assert replay_on(chains([(SEND, 1)], [(RECV, 1)]), Fabric(topology.star(2))).notes == ()
    # A machine's link speed counts, and what the topology states does not.
    assert Fabric(pair(1), PORTS["flow"].replace(link_bandwidth=5e9)).notes == (
        "the topology states 10 GB/s for a link of capacity 1; it has the model's 5 GB/s",
    )


def test_packets_refuse_links_without_latency() -> None:
    with pytest.raises(ConfigurationError, match=r"switch.link.latency is 0"):
        end_ticks(pair(1, 0.0), "packet")


@for_each("routing", ["ugal-l", "ugal-g", "minimal-adaptive", "valiant"])
def test_adaptive_routing_runs_on_unequal_links(routing: str) -> None:
    made = both(DGX, range(8))[0]
    run = run_traffic(Fabric(made, routing=routing), "uniform", 0.3, messages=2000)
    assert run.complete and run.accepted == pytest.approx(0.3, rel=0.1)
