"""SNAPPR: packets with credits through first-in, first-out ports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from workbench.models.base import LogPOverlay, SSTMacroModel, largest_packet, refuse
from workbench.models.parameter import INT32_MAX, parameter
from workbench.units import format_quantity


@dataclass(frozen=True, kw_only=True, repr=False)
class SNAPPR(SSTMacroModel):
    """SST/macro's packet model: a NIC, one switch, a NIC; sizes in bytes, times in s, rates in B/s.

    A message is cut into packets of ``mtu`` bytes. Each output port sends one packet at a time
    and only while it holds credits for the buffer behind it. Messages of up to
    ``negligible_size`` bytes on the wire take the ``logp`` overlay instead.

    The defaults are a documented example set, not SST/macro's own: an .ini that leaves out
    ``node.nic.negligible_size`` gets 256.

    Raises:
        ParameterError: a value is not accepted.
    """

    name: ClassVar[str] = "snappr"

    mtu: int = parameter(
        "node.nic.mtu",
        4096,
        kind="bytes",
        minimum=1,
        low=128,
        high=16_000_000,
        log=True,
        stand_in="node.nic.injection.mtu",
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
        "node.nic.credits",
        "64KB",
        kind="bytes",
        low=1000,
        high=16_000_000,
        log=True,
        stand_in="node.nic.injection.credits",
        unless="node.nic.flow_control",
        section="NIC",
        description="Bytes the NIC may have on the way to the switch before credits return.",
    )
    nic_bandwidth: float = parameter(
        "node.nic.bandwidth",
        "12.5GB/s",
        kind="bandwidth",
        stand_in="node.nic.injection.bandwidth",
        section="NIC",
        description="Rate at which the receiving NIC accepts a packet that arrives faster.",
    )
    nic_buffer: int = parameter(
        "node.nic.buffer",
        "4MB",
        kind="bytes",
        absent=4_000_000,
        maximum=2**53,
        low=1000,
        high=64_000_000,
        log=True,
        section="NIC",
        description="Bytes of packets the NIC may prepare for sending at a time.",
    )
    nic_flow_control: bool = parameter(
        "node.nic.flow_control",
        True,
        kind="flag",
        absent=True,
        section="NIC",
        description="Whether the NIC waits for credits before it sends.",
    )
    injection_flit_size: int = parameter(
        "node.nic.injection.flit_size",
        0,
        kind="bytes",
        absent=0,
        high=4096,
        section="NIC",
        description="Bytes of overhead the NIC's sending port adds to each packet.",
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
    switch_credits: int = parameter(
        "switch.credits",
        "64KB",
        kind="bytes",
        low=128,
        high=16_000_000,
        log=True,
        stand_in="switch.link.credits",
        unless="switch.flow_control",
        section="Switch",
        description="Bytes a switch port may have on the way to the NIC before credits return.",
    )
    switch_flow_control: bool = parameter(
        "switch.flow_control",
        True,
        kind="flag",
        absent=True,
        section="Switch",
        description="Whether switch ports wait for credits before they send.",
    )
    congestion: bool = parameter(
        "switch.congestion",
        True,
        kind="flag",
        absent=True,
        section="Switch",
        description="Whether packets queue at switch ports.",
    )
    link_flit_size: int = parameter(
        "switch.link.flit_size",
        0,
        kind="bytes",
        absent=0,
        high=4096,
        section="Switch",
        description="Bytes of overhead each switch port adds to each packet.",
    )
    logp: LogPOverlay = field(default_factory=LogPOverlay)

    def _check_together(self, largest_message: int | None) -> None:
        packet = largest_packet(self.mtu, largest_message, self.negligible_size)
        if self.nic_flow_control != self.switch_flow_control:
            refuse(
                "flow control must be on at both ends or off at both: "
                f"{self._label('node.nic.flow_control')} is {_flag(self.nic_flow_control)}, "
                f"{self._label('switch.flow_control')} {_flag(self.switch_flow_control)}, "
                "so credits that one side waits for are never returned; set both to the same value",
                rule="node.nic.flow_control == switch.flow_control",
                keys=("node.nic.flow_control", "switch.flow_control"),
            )
        if self.switch_flow_control and not self.congestion:
            refuse(
                "a switch without congestion must have flow control off: "
                f"{self._label('switch.congestion')} is false, "
                f"{self._label('switch.flow_control')} true; set switch.flow_control and "
                "node.nic.flow_control to false, or switch.congestion to true",
                rule="switch.congestion or not switch.flow_control",
                keys=("switch.congestion", "switch.flow_control"),
            )
        holders: list[tuple[str, int, str]] = []
        if self.nic_flow_control:
            holders.append(("node.nic.credits", self.nic_credits, "credits"))
        if self.switch_flow_control:
            holders.append(("switch.credits", self.switch_credits, "credits"))
        holders.append(("node.nic.buffer", self.nic_buffer, "the buffer"))
        for key, size, what in holders:
            if size < packet:
                if packet == self.mtu:
                    against = f"{self._label('node.nic.mtu')} {self.mtu} B"
                else:
                    against = f"the largest packet, {packet} B"
                refuse(
                    f"{what} must hold one packet: {self._label(key)} {size} B < {against}; "
                    f"raise {key} or lower node.nic.mtu",
                    rule=f"{key} >= node.nic.mtu",
                    keys=(key, "node.nic.mtu"),
                )

    def _headline(self) -> str:
        return (
            f"mtu {format_quantity(self.mtu, 'bytes')}, "
            f"injection {format_quantity(self.injection_bandwidth, 'bandwidth')} "
            f"{format_quantity(self.injection_latency, 'time')}, "
            f"link {format_quantity(self.link_bandwidth, 'bandwidth')}, "
            f"ejection {format_quantity(self.ejection_latency, 'time')}, "
            f"credits {format_quantity(self.nic_credits, 'bytes')} and "
            f"{format_quantity(self.switch_credits, 'bytes')}, "
            f"LogP up to {format_quantity(self.negligible_size, 'bytes')}"
        )


def _flag(value: bool) -> str:
    return "true" if value else "false"
