"""PISCES over many switches: closed forms, and conservation of credits."""

from pathlib import Path

import pytest

from kernels.fabric import layout
from tests.reference.fabric_config import fabric_config
from tests.reference.fabric_random import random_entries
from workbench.simulate.fabric.sst import run_collective
from workbench.simulate.ticks import byte_delay

TICKS_PER_US = 1e10
MACHINE = Path(__file__).parents[1] / "conformance" / "sstmacro-fabric" / "pisces.ini"


FAT_TREE = {
    "topology.name": "fat_tree",
    "switch.router.name": "fat_tree",
    "topology.num_core_switches": "2",
    "topology.num_agg_subtrees": "2",
    "topology.agg_switches_per_subtree": "2",
    "topology.up_ports_per_leaf_switch": "2",
    "topology.up_ports_per_agg_switch": "2",
    "topology.down_ports_per_core_switch": "4",
}
TORUS = {"topology.name": "torus", "switch.router.name": "torus_minimal"}
BETWEEN = {
    0: {**TORUS, "topology.geometry": "[2]", "topology.concentration": "2"},
    1: {**TORUS, "topology.geometry": "[2]", "topology.concentration": "1"},
    2: {
        **FAT_TREE,
        "topology.leaf_switches_per_subtree": "2",
        "topology.down_ports_per_agg_switch": "2",
    },
    4: {
        **FAT_TREE,
        "topology.leaf_switches_per_subtree": "1",
        "topology.down_ports_per_agg_switch": "1",
    },
}
"""Topologies by the number of links between the switches of nodes 0 and 1."""


def two_ranks(size, hops, **changed):
    """Return the times of a ring allgather of two ranks, everything but barriers in packets."""
    return run_collective(
        MACHINE,
        {
            "topology.concentration": "1",
            **BETWEEN[hops],
            "node.app1.mode": "allgather",
            "node.app1.mpi.allgather": "ring",
            "node.app1.mpi.eager_cutoff": "1000000",
            "node.app1.min_size": str(size),
            "node.app1.max_size": str(size),
            "node.app1.launch_cmd": "aprun -n 2 -N 1",
            "node.nic.negligible_size": "0",
            "switch.link.credits": "128KB",
            **changed,
        },
    )


@pytest.mark.parametrize(
    ("hops", "size"),
    # Packets of one message that take different ways share crossbars and may disturb each other.
    [(hops, size) for hops in BETWEEN for size in (3, 700, 1024)] + [(0, 10240), (1, 10240)],
)
def test_a_message_alone_takes_its_latencies_and_its_bytes_once(hops, size):
    # What one rank waits longer because the other began later, the other waits less.
    times_us = two_ranks(size, hops).of_ranks_s[:, 0] * 1e6
    bytes_us = size * byte_delay(12.5e9) / TICKS_PER_US
    assert times_us.mean() == pytest.approx(0.5 + hops * 0.1 + 0.4 + bytes_us, rel=1e-12)


@pytest.mark.parametrize("hops", BETWEEN)
def test_store_and_forward_takes_a_packet_s_bytes_at_each_stage(hops):
    times_us = (
        two_ranks(
            1000,
            hops,
            **{
                "switch.arbitrator": "simple",
                "node.nic.injection.arbitrator": "simple",
                "switch.xbar.bandwidth": "12.5GB/s",
            },
        ).of_ranks_s[:, 0]
        * 1e6
    )
    stages = 1 + 2 * (hops + 1)
    bytes_us = stages * 1000 * byte_delay(12.5e9) / TICKS_PER_US
    assert times_us.mean() == pytest.approx(0.5 + hops * 0.1 + 0.4 + bytes_us, rel=1e-12)


def credits_of(s, channel, lane):
    """Return a buffer's credits in a lane, those on their way back included."""
    c = layout.channel_cells(s, channel)
    found = s[layout.lane_cells(s, channel, lane) + layout.CREDITS]
    for place in range(s[c + layout.N_CREDITS]):
        at = (s[c + layout.CREDITS_FIRST] + place) % s[c + layout.CREDITS_ROOM]
        word = s[s[c + layout.CREDITS_AT] + 2 * at + 1]
        found += (word & layout.SIZE_MASK) * (word >> 32 == lane)
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.jit_only
def test_credits_come_back(seed):
    entries = random_entries("pisces", seed)
    state = run_collective("".join(f"{key} = {text}\n" for key, text in entries.items())).state
    config = fabric_config(entries)
    lanes = state.wiring.lanes
    for channel in range(state.wiring.between_routers + state.wiring.num_hosts):
        for lane in range(lanes):
            assert credits_of(state.s, channel, lane) == config.switch_credits // lanes
    for host in range(state.wiring.num_hosts):
        channel = layout.injection_channel(state.s, host)
        assert credits_of(state.s, channel, 0) == config.nic_credits
