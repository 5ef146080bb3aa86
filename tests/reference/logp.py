"""The interface of a pure LogP network: two ports and the overlay between them."""

from typing import TYPE_CHECKING

from tests.reference.engine import Engine, byte_delay, nic_timer, node_timer, scaled, ticks
from tests.reference.nic import Interface, Message

if TYPE_CHECKING:
    from tests.reference.config import Config


class LogPInterface(Interface):
    """Messages leave one after another and are received one after another.

    Injection latency and serialisation delay the next message, not the present one.
    """

    def __init__(self, engine: Engine, config: "Config", node: int) -> None:
        super().__init__(engine, config, node)
        self._byte_delay = byte_delay(config.injection_bandwidth)
        self._latency = ticks(config.injection_latency)
        self._next_out = 0
        self._next_in = 0

    def _inject(self, message: Message) -> None:
        now = self.engine.now
        start = max(now, self._next_out)
        self._next_out = start + self._latency + scaled(self._byte_delay, message.wire_bytes)
        if message.acked:
            self.engine.at(self._next_out, node_timer(self.node), self.rank.deliver, message.ack())
        self._to_overlay(message, start - now)

    def from_overlay(self, message: Message) -> None:
        """Take a message, in turn; one smaller than ``negligible_size`` passes the others.

        The original computes ``now - duration`` without sign: a message that arrives earlier than
        its own duration after time 0 counts as the latest of all and is taken at once.
        """
        now = self.engine.now
        if message.wire_bytes < self.negligible_size:
            self.receive(message)
            return
        duration = scaled(self._byte_delay, message.wire_bytes)
        if now <= duration or now - duration > self._next_in:
            self._next_in = now
            self.receive(message)
        else:
            self._next_in += duration
            self.engine.at(self._next_in, nic_timer(self.node), self.receive, message)
