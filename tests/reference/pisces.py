"""PISCES: packets that share bandwidth, credit buffers, one crossbar, and the network interface.

A packet goes from the interface's injection buffer over the link to the crossbar, which both
directions share, from there to the output buffer of its destination and over the link to the
receiving interface. At each of the three stages it waits for credits of the next one; then an
arbitrator says when head and tail leave. The head is passed on when it leaves, and the stage's own
credits go back at that time. The receiving interface waits for the tail.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.reference.arbitrator import ARBITRATORS
from tests.reference.engine import (
    CLOCK_MODULUS,
    SWITCH_TIMER,
    Engine,
    ejection,
    ejection_credit,
    injection,
    injection_credit,
    nic_timer,
    scaled,
    ticks,
)
from tests.reference.nic import Interface, Message, Protocol

if TYPE_CHECKING:
    from tests.reference.config import Config


@dataclass(eq=False, slots=True)
class Packet:
    """A piece of a message. `byte_delay` is how far apart its bytes are, in ticks."""

    message: Message
    size: int
    source: int
    byte_delay: int = 0


class CreditQueue:
    """Credits of one output and the packets that wait for them.

    A packet that finds enough credits passes those that wait; of those, the first that fits goes.
    """

    def __init__(self, credits: int) -> None:
        self.credits = credits
        self._waiting: list[Packet] = []

    def take(self, packet: Packet) -> bool:
        """Take the packet's credits, or let it wait."""
        if self.credits >= packet.size:
            self.credits -= packet.size
            return True
        self._waiting.append(packet)
        return False

    def pop(self) -> Packet | None:
        """Return the first waiting packet that fits, its credits taken."""
        for place, packet in enumerate(self._waiting):
            if packet.size <= self.credits:
                self.credits -= packet.size
                return self._waiting.pop(place)
        return None


class Stage:
    """An arbitrator between what came in and what goes out."""

    def __init__(
        self,
        engine: Engine,
        arbitrator: Any,
        forward: Callable[[Packet, int], None],
        freed: Callable[[Packet, int], None],
    ) -> None:
        self._engine = engine
        self._arbitrator = arbitrator
        self._forward = forward
        self._freed = freed

    def send(self, packet: Packet) -> int:
        """Send a packet that has its credits; return when its tail leaves."""
        head, tail = self._arbitrator.arbitrate(packet, self._engine.now)
        self._freed(packet, head)
        self._forward(packet, head)
        return int(tail)


def _nothing(packet: Packet, head: int) -> None:
    """The injection buffer is the first stage: it has no credits to return."""


class Switch:
    """The crossbar and an output buffer for each node."""

    def __init__(self, engine: Engine, config: "Config") -> None:
        self.interfaces: list[PiscesInterface] = []
        self._engine = engine
        self._injection_latency = ticks(config.injection_latency)
        self._ejection_latency = ticks(config.ejection_latency)
        self._crossbar_queues = [CreditQueue(config.switch_credits) for _ in range(2)]
        self._output_queues = [CreditQueue(config.switch_credits) for _ in range(2)]
        charge = config.charge_last_packet
        self._crossbar = Stage(
            engine,
            ARBITRATORS[config.xbar_arbitrator](config.xbar_bandwidth, charge),
            self._to_output,
            self._credit_interface,
        )
        self._outputs = [
            Stage(
                engine,
                ARBITRATORS[config.link_arbitrator](config.link_bandwidth, charge),
                self._to_interface,
                self._credit_crossbar,
            )
            for _ in range(2)
        ]

    def arrive(self, packet: Packet) -> None:
        """Take a packet's head from an interface."""
        if self._crossbar_queues[packet.message.target].take(packet):
            self._crossbar.send(packet)

    def _credit_interface(self, packet: Packet, head: int) -> None:
        self._engine.at(
            head + self._injection_latency,
            injection_credit(packet.source),
            self.interfaces[packet.source].credit,
            packet.size,
        )

    def _to_output(self, packet: Packet, head: int) -> None:
        self._engine.at(head, SWITCH_TIMER, self._buffer, packet)

    def _buffer(self, packet: Packet) -> None:
        target = packet.message.target
        if self._output_queues[target].take(packet):
            self._outputs[target].send(packet)

    def _credit_crossbar(self, packet: Packet, head: int) -> None:
        self._engine.at(
            head, SWITCH_TIMER, self._crossbar_credit, (packet.message.target, packet.size)
        )

    def _crossbar_credit(self, credit: tuple[int, int]) -> None:
        """Take credits back: at most one waiting packet goes for each return."""
        target, size = credit
        queue = self._crossbar_queues[target]
        queue.credits += size
        packet = queue.pop()
        if packet:
            self._crossbar.send(packet)

    def _to_interface(self, packet: Packet, head: int) -> None:
        target = packet.message.target
        arrive = self.interfaces[target].arrive
        self._engine.at(head + self._ejection_latency, ejection(target), arrive, packet)

    def credit(self, node: int, size: int) -> None:
        """Take back the credits of the output towards `node`: every packet that fits goes."""
        queue = self._output_queues[node]
        queue.credits += size
        while packet := queue.pop():
            self._outputs[node].send(packet)


class PiscesInterface(Interface):
    """Injects packets while it has credits for a whole ``mtu``; waits for tails."""

    def __init__(self, engine: Engine, config: "Config", node: int, switch: Switch) -> None:
        super().__init__(engine, config, node)
        self._switch = switch
        self._mtu = config.mtu
        self._credits = config.nic_credits
        self._injection_latency = ticks(config.injection_latency)
        self._ejection_latency = ticks(config.ejection_latency)
        self._unsent: deque[list[Any]] = deque()
        self._missing: dict[Message, int] = {}
        self._stage = Stage(
            engine,
            ARBITRATORS[config.injection_arbitrator](
                config.injection_bandwidth, config.charge_last_packet
            ),
            self._forward,
            _nothing,
        )

    def _inject(self, message: Message) -> None:
        left = self._send_packets(message, message.wire_bytes)
        if left:
            self._unsent.append([message, left])

    def _send_packets(self, message: Message, left: int) -> int:
        """Inject what the credits allow of the message's last `left` bytes; return the rest."""
        while left and self._credits >= self._mtu:
            size = min(self._mtu, left)
            left -= size
            self._credits -= size
            tail = self._stage.send(Packet(message, size, source=self.node))
            if not left and message.acked:
                silent = message.protocol is not Protocol.COLLECTIVE
                self.engine.at(tail, nic_timer(self.node), self.rank.deliver, message.ack(), silent)
        return left

    def _forward(self, packet: Packet, head: int) -> None:
        self.engine.at(
            head + self._injection_latency, injection(self.node), self._switch.arrive, packet
        )

    def credit(self, size: int) -> None:
        """Take injection credits back and go on with the unsent messages in order."""
        self._credits += size
        while self._unsent:
            entry = self._unsent[0]
            entry[1] = self._send_packets(*entry)
            if entry[1]:
                return
            self._unsent.popleft()

    def arrive(self, packet: Packet) -> None:
        """Take a packet's head; it is complete when its tail is here."""
        if packet.byte_delay:
            tail = (self.engine.now + scaled(packet.byte_delay, packet.size)) % CLOCK_MODULUS
            self.engine.at(tail, nic_timer(self.node), self._complete, packet)
        else:
            self._complete(packet)

    def _complete(self, packet: Packet) -> None:
        message = packet.message
        missing = self._missing.pop(message, message.wire_bytes) - packet.size
        if missing:
            self._missing[message] = missing
        else:
            self.receive(message)
        self.engine.after(
            self._ejection_latency, ejection_credit(self.node), self._credit_switch, packet.size
        )

    def _credit_switch(self, size: int) -> None:
        self._switch.credit(self.node, size)
