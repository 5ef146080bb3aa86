"""The numbers a run over many switches needs, and how to take them from SST/macro's entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.reference.config import Config

UNITS = {
    "": 1.0,
    "B": 1.0,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "GB/s": 1e9,
    "MB/s": 1e6,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "GHz": 1e9,
}


@dataclass(frozen=True, kw_only=True)
class FabricConfig(Config):
    """One machine and one benchmark: seconds, bytes, bytes/s, Hz.

    `geometry` are the numbers of the topology by their names, `ranks` is one a node from node 0 on.
    `link` gives the bandwidth of a link between two switches, relative to `link_bandwidth`, and its
    latency relative to `link_latency`.
    """

    topology: str
    geometry: Mapping[str, tuple[int, ...]]
    link_latency: float
    ranks: int
    mode: str
    algorithm: str
    min_size: int
    max_size: int
    iterations: int
    eager_cutoff: int
    static_gateways: bool
    link: Callable[[int, int], tuple[float, float]] = lambda one, other: (1.0, 1.0)

    @property
    def sizes(self) -> list[int]:
        """The sizes of the benchmark, by factors of four."""
        sizes = []
        size = self.min_size
        while size <= self.max_size:
            sizes.append(size)
            size *= 4
        return sizes


def number(text: str) -> float:
    """Return a number with its unit in bytes, seconds, bytes/s or Hz."""
    match = re.fullmatch(r"([\d.eE+-]+)\s*([A-Za-z/]*)", text.strip())
    if match is None:
        raise ValueError(f"no number: {text!r}")
    return float(match[1]) * UNITS[match[2]]


def integers(text: str) -> tuple[int, ...]:
    """Return a list of integers, in brackets or not."""
    return tuple(int(word) for word in re.findall(r"\d+", text))


def fabric_config(entries: Mapping[str, str]) -> FabricConfig:
    """Return the numbers in SST/macro's keys and texts; what is not there has its default."""

    def size(key: str, default: str = "0") -> int:
        return round(number(entries.get(key, default)))

    def real(key: str, default: str = "0") -> float:
        return number(entries.get(key, default))

    network = entries["switch.name"]
    pisces = network == "pisces"
    nic = "node.nic.injection." if pisces else "node.nic."
    arbitrator = entries.get("switch.arbitrator", entries.get("switch.link.arbitrator", ""))
    mode = entries["node.app1.mode"]
    return FabricConfig(
        network=network,
        negligible_size=size("node.nic.negligible_size", "256"),
        injection_bandwidth=real("node.nic.injection.bandwidth"),
        injection_latency=real("node.nic.injection.latency"),
        ejection_latency=real("node.nic.ejection.latency", entries["switch.link.latency"]),
        logp_bandwidth=real("switch.logp.bandwidth"),
        logp_out_in_latency=real("switch.logp.out_in_latency"),
        logp_hop_latency=real("switch.logp.hop_latency"),
        frequency=real("node.proc.frequency"),
        mtu=size(nic + "mtu"),
        nic_credits=size(nic + "credits"),
        nic_bandwidth=real("node.nic.bandwidth", "1GB/s"),
        nic_buffer=size("node.nic.buffer", "4MB"),
        switch_credits=size("switch.link.credits" if pisces else "switch.credits"),
        link_bandwidth=real("switch.link.bandwidth"),
        link_latency=real("switch.link.latency"),
        xbar_bandwidth=real("switch.xbar.bandwidth", "1GB/s"),
        injection_arbitrator=entries.get("node.nic.injection.arbitrator", ""),
        link_arbitrator=arbitrator,
        xbar_arbitrator=entries.get("switch.xbar.arbitrator", arbitrator),
        post_header_delay=real("node.app1.mpi.post_header_delay", "0s"),
        post_rdma_delay=real("node.app1.mpi.post_rdma_delay", "0s"),
        memory=entries["node.memory.name"],
        memory_bandwidth=real("node.memory.bandwidth"),
        memory_latency=real("node.memory.latency"),
        topology=entries["topology.name"],
        geometry={
            key.removeprefix("topology."): integers(text)
            for key, text in entries.items()
            if key.startswith("topology.") and re.fullmatch(r"[\[\]\d ,]+", text)
        },
        ranks=integers(entries["node.app1.launch_cmd"])[0],
        mode=mode,
        algorithm=entries.get(f"node.app1.mpi.{mode}", "bruck"),
        min_size=size("node.app1.min_size"),
        max_size=size("node.app1.max_size"),
        iterations=size("node.app1.coll_iters"),
        eager_cutoff=size("node.app1.mpi.eager_cutoff", "512"),
        static_gateways=entries.get("switch.router.static", "false") == "true",
    )
