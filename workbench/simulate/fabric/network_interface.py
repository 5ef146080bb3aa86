"""What a host's network interface does to a message, beyond the ports of SST/macro's models."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.checks import above_zero, number
from workbench.errors import ParameterError
from workbench.simulate.ticks import byte_delay, ticks
from workbench.units import format_quantity


@dataclass(frozen=True)
class NetworkInterface:
    """The limits of a message at its network interface; the defaults set none.

    A port's bandwidth is shared by all messages that pass it, its latency delays each packet. What
    is here belongs to one message: Wilke et al. (Euro-Par 2013, section 5 and Table 3) measured
    1.8 GB/s for a message alone on links of 2.9 GB/s, and distinguish the start of an RDMA transfer
    from a short message that announces or asks for one.

    With packets a message is cut no faster than ``message_bandwidth`` allows; packets that then
    wait for credits may follow one another as the port sends them. With fluid messages no rate is
    above it.

    Attributes:
        message_bandwidth: the most that one message may have, B/s; None is no limit.
        startup: from the time a host gives a message to its interface until its first byte may
            enter the network, s; several messages of a host may start up at once. Messages without
            bytes and those within a host have none.
        control_latency: what a header, a request, an acknowledgement or a message without bytes
            takes beside the links between routers, s; None: the ports' injection and ejection
            latencies.

    Raises:
        ParameterError: a value is not accepted.
    """

    message_bandwidth: float | None = None
    startup: float = 0.0
    control_latency: float | None = None

    def __post_init__(self) -> None:
        if self.message_bandwidth is not None:
            above_zero(self.message_bandwidth, "message_bandwidth", unit="B/s")
            if self.byte_ticks < 1:
                raise ParameterError(
                    "message_bandwidth must be at most 1e16 B/s, for time is counted in 1e-16 s; "
                    f"got {self.message_bandwidth:g}: take None for no limit",
                    key="message_bandwidth",
                )
        number(self.startup, "startup", 0, unit="s")
        if self.control_latency is not None:
            above_zero(self.control_latency, "control_latency", unit="s")
            if self.control_ticks == 0:
                raise ParameterError(
                    f"control_latency must be at least 1e-16 s; got {self.control_latency:g}",
                    key="control_latency",
                )

    @property
    def about(self) -> str:
        """The limits that are set, for captions; empty for none."""
        parts = []
        if self.message_bandwidth is not None:
            parts.append(
                f"a message {format_quantity(self.message_bandwidth, 'bandwidth')} at most"
            )
        if self.startup:
            parts.append(f"start-up {format_quantity(self.startup, 'time')}")
        if self.control_latency is not None:
            parts.append(f"short messages {format_quantity(self.control_latency, 'time')}")
        return ", ".join(parts)

    @property
    def byte_ticks(self) -> int:
        """Least ticks between the bytes of a message, 0 without a limit."""
        return 0 if self.message_bandwidth is None else byte_delay(self.message_bandwidth)

    @property
    def startup_ticks(self) -> int:
        """The start-up in ticks."""
        return ticks(self.startup)

    @property
    def control_ticks(self) -> int | None:
        """The latency of control messages in ticks, None for the ports' own."""
        return None if self.control_latency is None else ticks(self.control_latency)
