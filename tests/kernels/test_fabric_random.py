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

pytestmark = pytest.mark.jit_only


def check(entries):
    # The kernels place packets of one and two bytes, which SST/macro's PISCES does not.
    config = dataclasses.replace(fabric_config(entries), charge_last_packet=True)
    text = "".join(f"{key} = {value}\n" for key, value in entries.items())
    assert run_collective(text).time_us() == pytest.approx(run_reference(config), rel=1e-12)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("network", ["snappr", "pisces"])
def test_random_machine(network, seed):
    check(random_entries(network, seed))


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
