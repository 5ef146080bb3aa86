"""Random small machines and benchmarks, in SST/macro's keys and texts."""

from __future__ import annotations

import numpy as np

TOPOLOGIES: list[tuple[int, dict[str, str]]] = [
    (nodes, {"topology.name": name, "switch.router.name": router, **shape})
    for nodes, name, router, shape in (
        (4, "torus", "torus_minimal", {"topology.geometry": "[4]"}),
        (6, "torus", "torus_minimal", {"topology.geometry": "[2,3]"}),
        (10, "torus", "torus_minimal", {"topology.geometry": "[5]", "topology.concentration": "2"}),
        (16, "torus", "torus_minimal", {"topology.geometry": "[4,4]"}),
        (18, "torus", "torus_minimal", {"topology.geometry": "[3,2,3]"}),
        (
            20,
            "dragonfly",
            "dragonfly_minimal",
            {
                "topology.geometry": "[2,5]",
                "topology.h": "2",
                "topology.inter_group": "circulant",
                "topology.concentration": "2",
            },
        ),
        (
            12,
            "fat_tree",
            "fat_tree",
            {
                "topology.num_core_switches": "2",
                "topology.num_agg_subtrees": "2",
                "topology.leaf_switches_per_subtree": "2",
                "topology.agg_switches_per_subtree": "2",
                "topology.up_ports_per_leaf_switch": "2",
                "topology.down_ports_per_agg_switch": "2",
                "topology.up_ports_per_agg_switch": "2",
                "topology.down_ports_per_core_switch": "4",
                "topology.concentration": "3",
            },
        ),
    )
]


def random_entries(network: str, seed: int) -> dict[str, str]:
    """Return a configuration of a network, "snappr" or "pisces".

    A third of the SNAPPR and PISCES machines have credits for little more than a packet in a lane.
    """
    rng = np.random.default_rng(seed)

    def pick(*values: str) -> str:
        return str(rng.choice(values))

    nodes, topology = TOPOLOGIES[int(rng.integers(len(TOPOLOGIES)))]
    mtu = int(rng.choice([128, 256, 512, 1024, 4096]))
    tight = rng.random() < 0.3
    lane = mtu + int(rng.integers(mtu)) if tight else 65536
    mode = pick("allgather", "alltoall", "allreduce")
    size = int(rng.choice([8, 64, 100, 512, 1000, 1025]))
    injection = "node.nic.injection." if network == "pisces" else "node.nic."
    credits = "switch.link.credits" if network == "pisces" else "switch.credits"
    entries = {
        "topology.concentration": "1",
        **topology,
        "node.nic.name": network,
        "switch.name": network,
        "node.memory.name": "logp",
        "node.memory.bandwidth": "20GB/s",
        "node.memory.latency": pick("10ns", "0ns"),
        "node.proc.frequency": "2.1GHz",
        "node.nic.negligible_size": pick("0", "64", "256"),
        "node.nic.bandwidth": pick("12.5GB/s", "6.25GB/s", "25GB/s"),
        "node.nic.injection.bandwidth": pick("12.5GB/s", "6.25GB/s", "25GB/s"),
        "node.nic.injection.latency": pick("500ns", "123.4ns"),
        "node.nic.ejection.latency": pick("400ns", "77ns"),
        injection + "mtu": str(mtu),
        injection + "credits": str(mtu + int(rng.integers(2 * mtu)) if tight else 65536),
        "switch.mtu": str(mtu),
        credits: str(2 * lane),
        "switch.link.bandwidth": pick("12.5GB/s", "6.25GB/s", "25GB/s"),
        "switch.link.latency": pick("100ns", "333.3ns"),
        "switch.logp.bandwidth": "12.5GB/s",
        "switch.logp.out_in_latency": pick("2us", "300ns"),
        "switch.logp.hop_latency": pick("100ns", "0ns"),
        "node.app1.mode": mode,
        "node.app1.min_size": str(size),
        "node.app1.max_size": str(size * int(rng.choice([1, 4]))),
        "node.app1.coll_iters": pick("1", "2"),
        "node.app1.launch_cmd": f"aprun -n {int(rng.integers(2, nodes + 1))} -N 1",
        "node.app1.mpi.eager_cutoff": pick("512", "0", "4096"),
    }
    if rng.random() < 0.3:
        entries["node.app1.mpi.post_header_delay"] = "100ns"
        entries["node.app1.mpi.post_rdma_delay"] = "333ns"
    if mode == "allgather" and rng.random() < 0.5:
        entries["node.app1.mpi.allgather"] = "ring"
    if topology["topology.name"] == "dragonfly" and rng.random() < 0.5:
        entries["switch.router.static"] = "true"
    if network == "snappr":
        entries["node.nic.buffer"] = str(4 * mtu) if tight else "4MB"
    else:
        entries["switch.xbar.bandwidth"] = pick("12.5GB/s", "50GB/s", "100GB/s")
        entries["switch.arbitrator"] = pick("cut_through", "cut_through", "cut_through", "simple")
        entries["switch.xbar.arbitrator"] = pick("cut_through", "null", "simple")
        entries["node.nic.injection.arbitrator"] = pick("cut_through", "null", "simple")
    return entries
