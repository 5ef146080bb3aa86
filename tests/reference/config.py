"""The numbers the reference runs on, and how to take them from a workbench model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Config:
    """One machine: seconds, bytes, bytes/s, Hz.

    `network` is "snappr", "pisces" or "logp". What a network does not have, it does not read:
    PISCES takes ``node.nic.injection.mtu`` and ``.credits`` from `mtu` and `nic_credits` and
    ``switch.link.credits`` from `switch_credits`; LogP reads of its own only the injection
    bandwidth and latency.
    """

    network: str
    negligible_size: int
    injection_bandwidth: float
    injection_latency: float
    logp_bandwidth: float
    logp_out_in_latency: float
    logp_hop_latency: float
    frequency: float
    mtu: int = 0
    nic_bandwidth: float = 1e9
    nic_credits: int = 0
    nic_buffer: int = 4_000_000
    nic_flow_control: bool = True
    ejection_latency: float = 0.0
    switch_credits: int = 0
    switch_flow_control: bool = True
    congestion: bool = True
    injection_flit_size: int = 0
    link_flit_size: int = 0
    link_bandwidth: float = 1e9
    xbar_bandwidth: float = 1e9
    injection_arbitrator: str = "cut_through"
    link_arbitrator: str = "cut_through"
    xbar_arbitrator: str = "cut_through"
    charge_last_packet: bool = False
    max_vshort_msg_size: int = 512
    max_eager_msg_size: int = 8192
    post_header_delay: float = 0.0
    post_rdma_delay: float = 0.0
    rdma_pin_latency: float = 0.0
    rdma_page_delay: float = 0.0
    rdma_page_size: int = 4096
    memory: str = "logp"
    memory_bandwidth: float = 1e9
    memory_latency: float = 0.0
    channel_bandwidth: float = 1e9
    num_channels: int = 1
    memory_mtu: int = 512
    parallelism: float = 1.0
    negligible_compute_bytes: int = 64
    access_width: int = 64
    loop_overhead: float = 1.0

    @classmethod
    def from_model(cls, model: Any) -> Config:
        """Take the numbers of a SNAPPR, PISCES or LogP model; its variant says which rules hold."""
        numbers: dict[str, Any] = {
            "network": model.name,
            "charge_last_packet": model.variant == "repaired",
            "frequency": model.processor.frequency,
            "parallelism": model.processor.parallelism,
            "negligible_compute_bytes": model.processor.negligible_compute_bytes,
            "access_width": model.processor.lib_compute_access_width,
            "loop_overhead": model.processor.lib_compute_loop_overhead,
            "memory": model.memory.name,
        }
        numbers |= _same_names(model.mpi, _MPI)
        numbers |= _same_names(model, _NETWORK[model.name])
        if model.name == "pisces":
            numbers["switch_credits"] = model.link_credits
        overlay = model if model.name == "logp" else model.logp
        for name in ("bandwidth", "out_in_latency", "hop_latency"):
            numbers["logp_" + name] = getattr(overlay, name)
        if model.memory.name == "logp":
            numbers["memory_bandwidth"] = model.memory.bandwidth
            numbers["memory_latency"] = model.memory.latency
        elif model.memory.name == "snappr":
            numbers["memory_mtu"] = model.memory.flow_mtu
            numbers |= _same_names(model.memory, ("channel_bandwidth", "num_channels"))
        return cls(**numbers)


def _same_names(source: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


_MPI = (
    "max_vshort_msg_size",
    "max_eager_msg_size",
    "post_header_delay",
    "post_rdma_delay",
    "rdma_pin_latency",
    "rdma_page_delay",
    "rdma_page_size",
)
_LOGP = ("negligible_size", "injection_bandwidth", "injection_latency")
_PACKETS = (*_LOGP, "mtu", "nic_credits", "ejection_latency", "link_bandwidth")
_NETWORK = {
    "logp": _LOGP,
    "snappr": (
        *_PACKETS,
        "nic_bandwidth",
        "nic_buffer",
        "nic_flow_control",
        "switch_credits",
        "switch_flow_control",
        "congestion",
        "injection_flit_size",
        "link_flit_size",
    ),
    "pisces": (
        *_PACKETS,
        "xbar_bandwidth",
        "injection_arbitrator",
        "link_arbitrator",
        "xbar_arbitrator",
    ),
}
