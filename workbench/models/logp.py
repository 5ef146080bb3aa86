"""Pure LogP: latency and bandwidth, with a gap at each node and no contention between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.models.base import SSTMacroModel
from workbench.models.parameter import INT32_MAX, parameter
from workbench.units import format_quantity


@dataclass(frozen=True, kw_only=True, repr=False)
class LogP(SSTMacroModel):
    """SST/macro's LogP network; times in s, rates in B/s, sizes in bytes.

    A message leaves at once if its NIC is free, keeps the NIC busy for ``injection_latency`` and
    its bytes, and arrives after ``out_in_latency``, its bytes over ``bandwidth`` and one hop.
    Messages of up to ``negligible_size`` bytes neither wait for a NIC nor keep it busy.

    Raises:
        ParameterError: a value is not accepted.
    """

    name: ClassVar[str] = "logp"

    injection_bandwidth: float = parameter(
        "node.nic.injection.bandwidth",
        "12.5GB/s",
        kind="bandwidth",
        section="NIC",
        description="Rate at which a message occupies the NIC that sends or receives it.",
    )
    injection_latency: float = parameter(
        "node.nic.injection.latency",
        "500ns",
        kind="time",
        section="NIC",
        description="Time a message occupies the sending NIC beside its bytes.",
    )
    negligible_size: int = parameter(
        "node.nic.negligible_size",
        0,
        kind="bytes",
        absent=256,
        maximum=INT32_MAX,
        plain=True,
        high=8192,
        threshold=True,
        section="NIC",
        description="Largest message on the wire that neither occupies a NIC nor waits for one.",
    )
    bandwidth: float = parameter(
        "switch.bandwidth",
        "12.5GB/s",
        kind="bandwidth",
        before=("switch.logp.bandwidth",),
        section="Switch",
        description="Rate at which the bytes of a message cross the network.",
    )
    out_in_latency: float = parameter(
        "switch.out_in_latency",
        "2us",
        kind="time",
        before=("switch.logp.out_in_latency",),
        section="Switch",
        description="Time from leaving one node to entering the other.",
    )
    hop_latency: float = parameter(
        "switch.hop_latency",
        "100ns",
        kind="time",
        before=("switch.logp.hop_latency",),
        section="Switch",
        description="Time added for each switch hop; there is one between two nodes on a switch.",
    )

    def _check_together(self, largest_message: int | None) -> None:
        """Accept every combination: nothing here can run out."""

    def _headline(self) -> str:
        return (
            f"latency {format_quantity(self.out_in_latency + self.hop_latency, 'time')}, "
            f"bandwidth {format_quantity(self.bandwidth, 'bandwidth')}, "
            f"injection {format_quantity(self.injection_bandwidth, 'bandwidth')} "
            f"{format_quantity(self.injection_latency, 'time')}, "
            f"negligible up to {format_quantity(self.negligible_size, 'bytes')}"
        )
