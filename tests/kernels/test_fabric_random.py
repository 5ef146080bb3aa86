"""Random machines of many switches: the kernels give what plain Python gives, to the tick."""

import dataclasses

import numpy as np
import pytest

from kernels.fabric import layout
from tests.reference.fabric_config import fabric_config
from tests.reference.fabric_hosts import run_collective as run_reference
from tests.reference.fabric_random import random_entries
from workbench.simulate.fabric.network import build
from workbench.simulate.fabric.sst import run_collective
from workbench.topology import Topology
from workbench.topology.channels import Channels

pytestmark = pytest.mark.jit_only


def check(entries, **changes):
    # The kernels place packets of one and two bytes, which SST/macro's PISCES does not.
    config = dataclasses.replace(fabric_config(entries), charge_last_packet=True, **changes)
    text = "".join(f"{key} = {value}\n" for key, value in entries.items())
    assert run_collective(text).time_us() == pytest.approx(run_reference(config), rel=1e-12)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("network", ["snappr", "pisces"])
def test_random_machine(network, seed):
    check(random_entries(network, seed))


def link(one, other):
    """Return the bandwidth and the latency of a link, as multiples."""
    return (0.5, 1.0, 2.0, 4.0)[(one * other + one + other) % 4], 1.0 + (one + other) % 3


def with_unequal_links(wiring, model, **options):
    """Return the state of a network whose links are as ``link`` has them."""
    ends = np.column_stack((wiring.source, wiring.target))
    upwards = ends[:, 0] < ends[:, 1]
    low, high = np.sort(ends, axis=1).T
    of_channel = np.empty(len(ends), np.int32)
    # Links are numbered by their ends; of parallel links any two ways make one.
    for way in (upwards, ~upwards):
        mine = np.flatnonzero(way)
        of_channel[mine[np.lexsort((high[mine], low[mine]))]] = np.arange(len(mine))
    first = np.flatnonzero(upwards)
    links = ends[first[np.argsort(of_channel[first])]]
    times = np.array([link(*pair) for pair in links.tolist()]).reshape(-1, 2)
    topology = Topology(
        "unequal", wiring.num_routers, links, np.ones(len(links)), ("terminal", "link"),
        wiring.host_router, np.full(wiring.num_routers, -1), link_bandwidth=1e9 * times[:, 0],
        link_latency=model.link_latency * times[:, 1],
        host_bandwidth=np.full(wiring.num_hosts, 1e9),
    )  # fmt: skip
    hosts = np.arange(wiring.num_hosts)
    numbered = Channels(
        topology=topology,
        source=np.concatenate((wiring.source, wiring.host_router, hosts)),
        target=np.concatenate((wiring.target, hosts, wiring.host_router)),
        link=of_channel,
        first=np.zeros(0, np.int32),
        opposite=np.zeros(0, np.int32),
    )
    return build(dataclasses.replace(wiring, channels=numbered), model, **options)


@pytest.mark.parametrize("network", ["snappr", "pisces"])
@pytest.mark.parametrize("seed", range(60, 75))
def test_links_of_unequal_bandwidth_and_latency(network, seed, monkeypatch):
    monkeypatch.setattr("workbench.simulate.fabric.sst.build", with_unequal_links)
    check(random_entries(network, seed), link=link)


@pytest.mark.parametrize("network", ["snappr", "pisces"])
@pytest.mark.parametrize("seed", [711, 1287, 2137])
def test_overlay_messages_of_one_tick(network, seed):
    # Of 3,000 random machines these have ties that an order by nodes alone decides otherwise.
    check(random_entries(network, seed))


@pytest.mark.parametrize("network", ["snappr", "pisces"])
@pytest.mark.parametrize("seed", [*range(100, 130), 584])
def test_packets_counted_ahead_leave_times_and_statistics_as_they_are(network, seed, monkeypatch):
    # In PISCES' machine 584, the only one of 1,400, a message's last packet is whole before another
    # of its packets that left the last router earlier, and that changes a time.
    text = "".join(f"{key} = {value}\n" for key, value in random_entries(network, seed).items())
    ahead = run_collective(text)
    monkeypatch.setattr("workbench.simulate.fabric.sst.build", where_every_packet_arrives)
    arriving = run_collective(text)
    np.testing.assert_array_equal(ahead.of_ranks_s, arriving.of_ranks_s)
    for cell in (layout.PACKETS_ARRIVED, layout.HOPS_TAKEN):
        assert ahead.state.s[cell] == arriving.state.s[cell]
    for cell in (layout.BYTES_SENT, layout.STALLED, layout.MOST_PENDING, layout.NEXT_FREE):
        np.testing.assert_array_equal(
            ahead.state.channel_cells(cell), arriving.state.channel_cells(cell)
        )


def where_every_packet_arrives(*arguments, **options):
    """Return the state of a network as it is for routings that look when a window opens."""
    state = build(*arguments, **options)
    state.s[layout.LOOKS] = 1
    return state


@pytest.mark.parametrize("network", ["snappr", "pisces"])
def test_messages_of_more_packets_than_one_event_has_records_for(network):
    entries = random_entries(network, 1)
    nic = "node.nic.injection." if network == "pisces" else "node.nic."
    check(
        {
            **entries,
            "topology.geometry": "[4]",
            "node.app1.launch_cmd": "aprun -n 4 -N 1",
            "node.app1.mode": "alltoall",
            "node.app1.min_size": "60001",
            "node.app1.max_size": "60001",
            "node.app1.mpi.eager_cutoff": "1000000",
            nic + "mtu": "64",
            nic + "credits": "4MB",
            "switch.mtu": "64",
        }
    )
