"""SNAPPR over many switches: output ports with credits in lanes, and the network interface.

A packet's credits go back to the lane it arrived in. One port serves its lanes in the order packets
got their credits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from tests.reference import fabric_network
from tests.reference.engine import Engine, byte_delay, scaled
from tests.reference.fabric_network import Link, Message, Network, Notice, Packet


class OutputPort:
    """Credits of each lane, packets that have theirs, and packets that wait for them."""

    link: Link

    def __init__(
        self,
        engine: Engine,
        timer: int,
        bandwidth: float,
        credits: list[int],
        sent: Callable[[Packet, int], None],
    ) -> None:
        self.byte_delay = byte_delay(bandwidth)
        self._engine = engine
        self._timer = timer
        self._credits = credits
        self._sent = sent
        self._ready: deque[Packet] = deque()
        self._pending: list[deque[Packet]] = [deque() for _ in credits]
        self._next_free = 0
        self._scheduled = False

    def put(self, packet: Packet) -> None:
        """Take a packet in. One that finds enough credits passes those that wait for more."""
        if self._credits[packet.next_lane] >= packet.size:
            self._credits[packet.next_lane] -= packet.size
            self._ready.append(packet)
        else:
            self._pending[packet.next_lane].append(packet)
        self._request()

    def credit(self, credit: tuple[int, int]) -> None:
        """Take credits of a lane back from downstream."""
        lane, size = credit
        self._credits[lane] += size
        pending = self._pending[lane]
        while pending and pending[0].size <= self._credits[lane]:
            packet = pending.popleft()
            self._credits[lane] -= packet.size
            self._ready.append(packet)
        self._request()

    def _request(self) -> None:
        if self._scheduled or not self._ready:
            return
        if self._next_free > self._engine.now:
            self._schedule()
        else:
            self._arbitrate()

    def _schedule(self) -> None:
        self._scheduled = True
        self._engine.at(self._next_free, self._timer, self._arbitrate)

    def _arbitrate(self, _: Any = None) -> None:
        self._scheduled = False
        packet = self._ready.popleft()
        now = self._engine.now
        packet.time_to_send = scaled(self.byte_delay, packet.size)
        self._next_free = now + packet.time_to_send
        self.link.send(now, packet)
        self._sent(packet, self._next_free)
        packet.lane = packet.next_lane
        if self._ready:
            self._schedule()


class Switch:
    """Passes packets to output ports in no time."""

    def __init__(self, network: Network, number: int) -> None:
        self._network = network
        self._number = number
        self._router = network.topology.router(number)
        self._ports: dict[int, OutputPort] = {}
        self._credit_links: dict[int, Link] = {}

    def connect(self, out: int, link: Link, capacity: float = 1.0) -> None:
        """Join an output port to a link."""
        config, lanes = self._network.config, self._network.topology.lanes
        timer = self._network.switch_timers[self._number]
        credits = [int(config.switch_credits // lanes * max(capacity, 1.0))] * lanes
        bandwidth = config.link_bandwidth * capacity
        port = OutputPort(link.engine, timer, bandwidth, credits, self._sent)
        port.link = link
        self._ports[out] = port

    def connect_credits(self, inward: int, link: Link) -> None:
        """Join the credits of an input port to the link that takes them back."""
        self._credit_links[inward] = link

    def credit_at(self, out: int) -> Callable[[Any], None]:
        """Return what takes the credits of an output port."""
        return lambda credit: self._ports[out].credit(credit)

    def arrival_at(self, inward: int) -> Callable[[Any], None]:
        """Return what takes the packets of an input port."""

        def arrive(packet: Packet) -> None:
            packet.inward = inward
            self._arrive(packet)

        return arrive

    def _arrive(self, packet: Packet) -> None:
        """Take a packet's head; hold it back while its tail would leave before it is here."""
        self._network.route(self._number, self._router, packet)
        port = self._ports[packet.out]
        wait = packet.time_to_send - scaled(port.byte_delay, packet.size)
        if wait > 0:
            timer = self._network.switch_timers[self._number]
            self._network.engine.after(wait, timer, port.put, packet)
        else:
            port.put(packet)

    def _sent(self, packet: Packet, done: int) -> None:
        self._credit_links[packet.inward].send(done, (packet.lane, packet.size))


class Interface(fabric_network.Interface):
    """Cuts messages into packets as far as its buffer allows; puts them together again."""

    def __init__(self, network: Network, node: int) -> None:
        super().__init__(network, node)
        config = network.config
        self._buffer = config.nic_buffer
        self._drain_delay = byte_delay(config.nic_bandwidth)
        self._queue: deque[list[Any]] = deque()
        self._missing: dict[Message, int] = {}
        self._port = OutputPort(
            self.engine,
            self.clock.node,
            config.injection_bandwidth,
            [config.nic_credits],
            self._sent,
        )

    def inject(self, message: Message) -> None:
        """Queue a message and cut what the buffer holds."""
        self._port.link = self.outward
        self._queue.append([message, message.wire_bytes])
        self._fill_buffer()

    def _fill_buffer(self) -> None:
        while self._queue:
            message, left = self._queue[0]
            size = min(left, self.network.config.mtu)
            if size > self._buffer:
                return
            self._buffer -= size
            if size == left:
                self._queue.popleft()
            else:
                self._queue[0][1] = left - size
            self._port.put(Packet(message, size, tail=size == left))

    def credit(self, credit: tuple[int, int]) -> None:
        """Take injection credits back: the buffer is refilled first, against the old credits."""
        self._buffer += credit[1]
        self._fill_buffer()
        self._port.credit(credit)

    def _sent(self, packet: Packet, done: int) -> None:
        if packet.tail and packet.message.acked:
            self.engine.at(done, self.clock.interface, self._notice, Notice(packet.message))

    def _notice(self, notice: Notice) -> None:
        self.engine.after(0, self.clock.node, self.deliver, notice)

    def arrive(self, packet: Packet) -> None:
        """Take a packet's head; hold it back while it could be drained before its tail is here."""
        wait = packet.time_to_send - scaled(self._drain_delay, packet.size)
        if wait > 0:
            self.engine.after(wait, self.clock.interface, self._eject, packet)
        else:
            self._eject(packet)

    def _eject(self, packet: Packet) -> None:
        self.engine.after(0, self.clock.interface, self._complete, packet)
        self.credits_back.send(self.engine.now, (packet.lane, packet.size))

    def _complete(self, packet: Packet) -> None:
        self.complete(packet, self._missing)
