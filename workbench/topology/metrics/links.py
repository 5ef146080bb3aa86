"""What the links of a network take, by which its measures are in bytes and seconds."""

from __future__ import annotations

from dataclasses import dataclass, fields

from workbench.checks import above_zero, number

D_SWITCH_S = 108e-9
"""Latency of a switch, s: LLAMP, section IV-2."""


@dataclass(frozen=True)
class LinkSpeeds:
    """Bandwidth and latencies of a network's links and switches.

    Attributes:
        bandwidth_Bps: of each link, the hosts' ones among them, B/s.
        host_s: latency between a host and its switch, s.
        wire_s: latency of a wire between two switches, s.
        switch_s: latency of a switch, s.
    """

    bandwidth_Bps: float
    host_s: float
    wire_s: float
    switch_s: float

    def __post_init__(self) -> None:
        above_zero(self.bandwidth_Bps, "bandwidth_Bps", unit="B/s")
        for one in fields(self)[1:]:
            number(getattr(self, one.name), one.name, 0.0, unit="s")

    def latency_s(self, switches: float) -> float:
        """Return the latency of a small message that passes some switches, or a mean of them."""
        return 2 * self.host_s + switches * self.switch_s + (switches - 1) * self.wire_s
