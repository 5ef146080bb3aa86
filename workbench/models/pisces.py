"""PISCES: packet flows through a crossbar and buffers, shared by an arbitrator at each stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from workbench.models.base import LogPOverlay, SSTMacroModel, largest_packet, refuse
from workbench.models.parameter import INT32_MAX, parameter
from workbench.parameters import Value
from workbench.units import format_quantity

ARBITRATORS = ("simple", "null", "cut_through")


@dataclass(frozen=True, kw_only=True, repr=False)
class PISCES(SSTMacroModel):
    """SST/macro's packet-flow model; sizes in bytes, times in s, rates in B/s.

    A packet crosses the NIC's injection buffer, the switch's crossbar and its output buffer. At
    each stage an arbitrator decides when its head and its tail leave: ``simple`` stores and
    forwards, ``null`` ignores other packets, ``cut_through`` lets packets share idle time.

    Raises:
        ParameterError: a value is not accepted.
    """

    name: ClassVar[str] = "pisces"

    mtu: int = parameter(
        "node.nic.injection.mtu",
        4096,
        kind="bytes",
        minimum=1,
        maximum=INT32_MAX,
        low=128,
        high=16_000_000,
        log=True,
        section="NIC",
        description="Size of the packets a message is cut into.",
    )
    injection_bandwidth: float = parameter(
        "node.nic.injection.bandwidth",
        "12.5GB/s",
        kind="bandwidth",
        section="NIC",
        description="Rate at which the NIC sends into the network.",
    )
    injection_latency: float = parameter(
        "node.nic.injection.latency",
        "500ns",
        kind="time",
        section="NIC",
        description="Time a packet takes from the NIC to the switch, and a credit back.",
    )
    ejection_latency: float = parameter(
        "node.nic.ejection.latency",
        "400ns",
        kind="time",
        required=False,
        fallback=("switch.link.latency",),
        section="NIC",
        description="Time a packet takes from the switch to the NIC, and a credit back.",
    )
    nic_credits: int = parameter(
        "node.nic.injection.credits",
        "64KB",
        kind="bytes",
        maximum=INT32_MAX,
        low=1000,
        high=16_000_000,
        log=True,
        section="NIC",
        description="Bytes the NIC may have on the way to the switch before credits return.",
    )
    injection_arbitrator: str = parameter(
        "node.nic.injection.arbitrator",
        "cut_through",
        kind="choice",
        choices=ARBITRATORS,
        section="NIC",
        description="How packets share the NIC's sending port.",
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
        description="Largest message on the wire that takes the LogP overlay.",
    )
    switch_mtu: int = parameter(
        "switch.mtu",
        4096,
        kind="bytes",
        minimum=1,
        maximum=INT32_MAX,
        low=128,
        high=16_000_000,
        log=True,
        section="Switch",
        description="Packet size the switch reckons queue lengths in; no effect on times.",
    )
    link_bandwidth: float = parameter(
        "switch.link.bandwidth",
        "12.5GB/s",
        kind="bandwidth",
        section="Switch",
        description="Rate of each switch output port, the one to the NIC included.",
    )
    link_latency: float = parameter(
        "switch.link.latency",
        "100ns",
        kind="time",
        section="Switch",
        description="Time between switches; no effect with one switch.",
    )
    link_credits: int = parameter(
        "switch.link.credits",
        "64KB",
        kind="bytes",
        required=False,
        maximum=INT32_MAX,
        low=128,
        high=16_000_000,
        log=True,
        section="Switch",
        description="Bytes of each switch output buffer, and of the NIC's behind it.",
    )
    link_arbitrator: str = parameter(
        "switch.arbitrator",
        "cut_through",
        kind="choice",
        choices=ARBITRATORS,
        fallback=("switch.link.arbitrator",),
        section="Switch",
        description="How packets share a switch output port.",
    )
    xbar_bandwidth: float = parameter(
        "switch.xbar.bandwidth",
        "100GB/s",
        kind="bandwidth",
        high=1e12,
        section="Switch",
        description="Rate of the crossbar that all ports of the switch share.",
    )
    xbar_arbitrator: str = parameter(
        "switch.xbar.arbitrator",
        "cut_through",
        kind="choice",
        choices=ARBITRATORS,
        required=False,
        fallback=("switch.arbitrator", "switch.link.arbitrator"),
        section="Switch",
        description="How packets share the crossbar.",
    )
    logp: LogPOverlay = field(default_factory=LogPOverlay)

    @staticmethod
    def derive(values: Mapping[str, Value]) -> dict[str, Value]:
        """Return the values, by key, that SST/macro computes for keys that an .ini omits.

        ``switch.link.credits`` is eight times bandwidth times latency, truncated.
        """
        bandwidth = float(values["switch.link.bandwidth"])
        latency = float(values["switch.link.latency"])
        return {"switch.link.credits": int(8 * bandwidth * latency)}

    def _check_together(self, largest_message: int | None) -> None:
        packet = largest_packet(self.mtu, largest_message, self.negligible_size)
        # the NIC waits for credits of a full mtu whatever it has to send
        nic_needs = self.mtu if packet else 0
        for key, size, needed, against in (
            ("node.nic.injection.credits", self.nic_credits, nic_needs, "node.nic.injection.mtu"),
            ("switch.link.credits", self.link_credits, packet, "node.nic.injection.mtu"),
            ("switch.link.credits", self.link_credits, self.switch_mtu, "switch.mtu"),
        ):
            if size < needed:
                refuse(
                    f"credits must hold one packet: {self._label(key)} {size} B < "
                    f"{self._label(against)} {needed} B; "
                    f"raise {key} or lower {against}",
                    rule=f"{key} >= {against}",
                    keys=(key, against),
                )

    def _headline(self) -> str:
        return (
            f"mtu {format_quantity(self.mtu, 'bytes')}, "
            f"injection {format_quantity(self.injection_bandwidth, 'bandwidth')} "
            f"{format_quantity(self.injection_latency, 'time')} {self.injection_arbitrator}, "
            f"crossbar {format_quantity(self.xbar_bandwidth, 'bandwidth')} {self.xbar_arbitrator}, "
            f"link {format_quantity(self.link_bandwidth, 'bandwidth')} {self.link_arbitrator}, "
            f"ejection {format_quantity(self.ejection_latency, 'time')}, "
            f"credits {format_quantity(self.nic_credits, 'bytes')} and "
            f"{format_quantity(self.link_credits, 'bytes')}, "
            f"LogP up to {format_quantity(self.negligible_size, 'bytes')}"
        )
