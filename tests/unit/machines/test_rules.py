"""What is derived from a machine says of two nodes what the machine does."""

from __future__ import annotations

import pytest

from tests.cases import for_each
from workbench import datasets, machines, simulate, topology
from workbench.machines import fabric_of, links_of, loggps_of, wires_of
from workbench.models import PISCES, SNAPPR
from workbench.programs import read_goal
from workbench.simulate.fabric.fabric import CONGESTIONS, Congestion
from workbench.simulate.fabric.program import replay_on

ROUND_TRIP = """num_ranks 2
rank 0 {
l1: send 8b to 1 tag 0
l2: recv 8b from 1 tag 0
l2 requires l1
}
rank 1 {
l1: recv 8b from 0 tag 0
l2: send 8b to 0 tag 0
l2 requires l1
}
"""


@for_each("name", ["azure-hb96v3-hdr", "aws-hpc6a-efa", "gcp-c2d-ethernet-gce"])
def test_a_round_trip_over_one_switch_takes_what_loggps_says(name: str) -> None:
    machine = machines.load(name)
    graph = read_goal(ROUND_TRIP)
    expected = simulate.replay(graph, machine.loggps).makespan_s
    one_switch = topology.parse_topology("fat-tree:4")
    for congestion in CONGESTIONS:
        fabric = fabric_of(machine, one_switch, congestion=congestion)
        found = replay_on(graph, fabric, host=machine.loggps).makespan_s
        # 8 bytes take 0.1 to 10 ns on the way, which the two models count differently
        assert found == pytest.approx(expected, rel=2e-3)


def test_a_stream_over_the_network_has_the_bandwidth_of_the_links() -> None:
    machine = machines.load("azure-hb96v3-hdr")
    size = 2**24
    graph = read_goal(
        f"num_ranks 2\nrank 0 {{\nl1: send {size}b to 1 tag 0\n}}\n"
        f"rank 1 {{\nl1: recv {size}b from 0 tag 0\n}}\n"
    )
    rate = machine.number("link_bandwidth")
    fabric = fabric_of(machine, topology.parse_topology("dragonfly:5,4,2"))
    found = replay_on(graph, fabric).makespan_s
    assert size / found == pytest.approx(rate, rel=0.01)


def test_wires_of_two_hosts_at_one_switch_add_up_to_the_latency() -> None:
    machine = machines.load("azure-hb96v3-hdr")
    network = topology.parse_topology("dragonfly:5,4,2")
    wires = wires_of(machine, network)
    assert 2 * wires["l_wire_s"]["terminal"] + wires["d_switch_s"] == pytest.approx(
        machine.loggps.L
    )
    assert set(wires["l_wire_s"]) == set(network.classes)
    assert links_of(machine).latency_s(1) == pytest.approx(machine.loggps.L)
    found = topology.summary(network, parts=("distances", "bisection"), links=links_of(machine))
    rows = found.rows()
    links = rows["bisection"].lower
    rate = 1e-9 * machine.number("link_bandwidth")
    assert rows["bisection, GB/s"].lower == pytest.approx(links * rate)
    assert rows["mean latency, µs"].lower > 1e6 * machine.loggps.L


def test_loggps_of_other_models_is_drawn_through_their_curve() -> None:
    """LogP has the latency and the rate of its overlay at all sizes, so that they come back."""
    model = SNAPPR()
    curve = simulate.simulate_osu(model)
    found = loggps_of(model)
    assert found.L + 2 * found.o == pytest.approx(curve.latency_s[0])
    assert 1 / found.G == pytest.approx(12.5e9, rel=0.05)
    assert found.S == model.mpi.max_eager_msg_size
    measured = datasets.load("azure-hb96v3-hdr")
    drawn = loggps_of(model, measured)
    assert drawn.L + 2 * drawn.o == pytest.approx(measured.latency_s[0])


def test_a_fitted_packet_model_is_the_network_itself() -> None:
    base = machines.load("azure-hb96v3-hdr")
    kinds: tuple[tuple[type[SNAPPR] | type[PISCES], Congestion], ...] = (
        (SNAPPR, "packet"),
        (PISCES, "packet-flow"),
    )
    torus = topology.parse_topology("torus:4x4")
    for kind, congestion in kinds:
        model = kind(link_bandwidth=3e9, link_latency=7e-7)
        machine = machines.Machine(
            base.name, model, base.loggps, base.rmspe, base.provenance, measured=base.curve
        )
        ports = fabric_of(machine, torus, congestion=congestion).ports
        assert (ports.link_bandwidth, ports.link_latency) == (3e9, 7e-7)
        faster = machine.with_parts(link_bandwidth="7GB/s")
        assert fabric_of(faster, torus, congestion=congestion).ports.link_bandwidth == 7e9
