"""PISCES over many switches: a crossbar and output buffers in each, credits in lanes.

A packet passes two stages in a switch. At the crossbar, which all ports of the switch share, it
waits for credits of its output buffer, in the lane its route gives it; there for credits of the
next switch, in the same lane. Both hold the same number: the link's credits over the lanes. When a
packet's head leaves the crossbar, the credits of the lane it arrived in go back upstream; when it
leaves the output buffer, those of the buffer go back to the crossbar, where each return lets at
most one waiting packet go, however many fit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from tests.reference import fabric_network
from tests.reference.arbitrator import ARBITRATORS
from tests.reference.engine import CLOCK_MODULUS, scaled
from tests.reference.fabric_network import Link, Message, Network, Notice, Packet
from tests.reference.pisces import CreditQueue


class Switch:
    """A crossbar and an output buffer for each port."""

    def __init__(self, network: Network, number: int) -> None:
        config = network.config
        self._network = network
        self._engine = network.engine
        self._number = number
        self._timer = network.switch_timers[number]
        self._router = network.topology.router(number)
        self._crossbar = ARBITRATORS[config.xbar_arbitrator](
            config.xbar_bandwidth, config.charge_last_packet
        )
        self._crossbar_queues: dict[int, list[CreditQueue]] = {}
        self._buffers: dict[int, Any] = {}
        self._buffer_queues: dict[int, list[CreditQueue]] = {}
        self._links: dict[int, Link] = {}
        self._credit_links: dict[int, Link] = {}

    def connect(self, out: int, link: Link, capacity: float = 1.0) -> None:
        """Join an output port to a link."""
        config, lanes = self._network.config, self._network.topology.lanes
        credits = int(config.switch_credits // lanes * max(capacity, 1.0))
        self._links[out] = link
        self._crossbar_queues[out] = [CreditQueue(credits) for _ in range(lanes)]
        self._buffer_queues[out] = [CreditQueue(credits) for _ in range(lanes)]
        self._buffers[out] = ARBITRATORS[config.link_arbitrator](
            config.link_bandwidth * capacity, config.charge_last_packet
        )

    def connect_credits(self, inward: int, link: Link) -> None:
        """Join the credits of an input port to the link that takes them back."""
        self._credit_links[inward] = link

    def arrival_at(self, inward: int) -> Callable[[Any], None]:
        """Return what takes the packets of an input port."""

        def arrive(packet: Packet) -> None:
            packet.inward = inward
            self._network.route(self._number, self._router, packet)
            if self._crossbar_queues[packet.out][packet.next_lane].take(packet):
                self._cross(packet)

        return arrive

    def _cross(self, packet: Packet) -> None:
        head, _ = self._crossbar.arbitrate(packet, self._engine.now)
        self._credit_links[packet.inward].send(head, (packet.lane, packet.size))
        packet.lane = packet.next_lane
        self._engine.at(head, self._timer, self._buffer, packet)

    def _buffer(self, packet: Packet) -> None:
        if self._buffer_queues[packet.out][packet.lane].take(packet):
            self._leave(packet)

    def _leave(self, packet: Packet) -> None:
        head, _ = self._buffers[packet.out].arbitrate(packet, self._engine.now)
        credit = (packet.out, packet.lane, packet.size)
        self._engine.at(head, self._timer, self._crossbar_credit, credit)
        self._links[packet.out].send(head, packet)

    def _crossbar_credit(self, credit: tuple[int, int, int]) -> None:
        out, lane, size = credit
        queue = self._crossbar_queues[out][lane]
        queue.credits += size
        packet = queue.pop()
        if packet:
            self._cross(packet)

    def credit_at(self, out: int) -> Callable[[Any], None]:
        """Return what takes the credits of an output port: every packet that fits goes."""

        def credit(credit: tuple[int, int]) -> None:
            lane, size = credit
            queue = self._buffer_queues[out][lane]
            queue.credits += size
            while packet := queue.pop():
                self._leave(packet)

        return credit


class Interface(fabric_network.Interface):
    """Injects packets while it has credits for a whole ``mtu``; waits for tails."""

    def __init__(self, network: Network, node: int) -> None:
        super().__init__(network, node)
        config = network.config
        self._mtu = config.mtu
        self._credits = config.nic_credits
        self._arbitrator = ARBITRATORS[config.injection_arbitrator](
            config.injection_bandwidth, config.charge_last_packet
        )
        self._unsent: deque[list[Any]] = deque()
        self._missing: dict[Message, int] = {}

    def inject(self, message: Message) -> None:
        """Inject what the credits allow; queue the rest."""
        left = self._send_packets(message, message.wire_bytes)
        if left:
            self._unsent.append([message, left])

    def _send_packets(self, message: Message, left: int) -> int:
        while left and self._credits >= self._mtu:
            size = min(self._mtu, left)
            left -= size
            self._credits -= size
            packet = Packet(message, size, tail=not left)
            head, tail = self._arbitrator.arbitrate(packet, self.engine.now)
            self.outward.send(head, packet)
            if packet.tail and message.acked:
                self.engine.at(tail, self.clock.interface, self.deliver, Notice(message))
        return left

    def credit(self, credit: tuple[int, int]) -> None:
        """Take injection credits back and go on with the unsent messages in order."""
        self._credits += credit[1]
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
            self.engine.at(tail, self.clock.interface, self._complete, packet)
        else:
            self._complete(packet)

    def _complete(self, packet: Packet) -> None:
        self.complete(packet, self._missing)
        self.credits_back.send(self.engine.now, (packet.lane, packet.size))
