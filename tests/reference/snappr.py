"""SNAPPR: packets, output ports with credits, one switch, and the network interface.

Only output ports serialise. A port takes a packet in when it has credits for it, sends the packets
it took in one after another, and passes each packet's *head* on at once: the time its bytes need
(`time_to_send`) keeps the port busy and travels with the packet, and the next stage makes up for
it where its own rate is higher, so that a tail never leaves a stage before it has reached it.

SST/macro completes a packet as soon as draining it at the interface's rate could *begin*, and never
charges the drain: the last packet's serialisation is missing from every message. With
``charge_last_packet`` the interface drains packets one after another at ``node.nic.bandwidth``,
bytes as they come. For a packet whose head arrives now, and whose bytes take t_inj, t_link and
t_nic at the three rates,

    drained = max(now + t_link + max(0, t_nic - max(t_inj, t_link)), drained before + t_nic):

the tail must be here; an interface slower than what feeds it lags behind by the difference; and
it drains one packet at a time. The packet is complete, and its credits go back, when it has been
drained. An undisturbed message of S bytes then takes its latencies and S times the byte delay of
the slowest of the three, however many packets it is cut into.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.reference.engine import (
    SWITCH_TIMER,
    Engine,
    byte_delay,
    ejection,
    ejection_credit,
    injection,
    injection_credit,
    nic_timer,
    node_timer,
    scaled,
    ticks,
)
from tests.reference.nic import Interface, Message

if TYPE_CHECKING:
    from tests.reference.config import Config

UNLIMITED_CREDITS = 2**32 - 1


@dataclass(eq=False, slots=True)
class Packet:
    """A piece of a message; `tail` marks the last one cut from it."""

    message: Message
    size: int
    tail: bool
    source: int
    time_to_send: int = 0


class OutputPort:
    """Credits, a queue of packets that have theirs, and packets that wait for them."""

    def __init__(
        self,
        engine: Engine,
        timer: int,
        bandwidth: float,
        credits: int,
        flow_control: bool,
        flit_size: int,
        forward: Callable[[Packet, int], None],
        sent: Callable[[Packet, int], None],
        congestion: bool = True,
    ) -> None:
        self.byte_delay = byte_delay(bandwidth)
        self._flit_overhead = scaled(self.byte_delay, flit_size)
        self._congestion = congestion
        self._engine = engine
        self._timer = timer
        self._credits = credits if flow_control else UNLIMITED_CREDITS
        self._flow_control = flow_control
        self._forward = forward
        self._sent = sent
        self._ready: deque[Packet] = deque()
        self._pending: deque[Packet] = deque()
        self._next_free = 0
        self._scheduled = False

    def put(self, packet: Packet) -> None:
        """Take a packet in. One that finds enough credits passes those that wait for more."""
        if not self._congestion:
            packet.time_to_send = scaled(self.byte_delay, packet.size)
            self._forward(packet, 0)
            return
        if self._credits >= packet.size:
            self._credits -= packet.size
            self._ready.append(packet)
        else:
            self._pending.append(packet)
        if not self._scheduled:
            self._request_arbitration()

    def credit(self, size: int) -> None:
        """Take credits back from downstream."""
        self._add_credits(size)
        if not self._scheduled and (self._ready or self._pending):
            self._request_arbitration()

    def _add_credits(self, size: int) -> None:
        self._credits += size
        while self._pending and self._pending[0].size <= self._credits:
            packet = self._pending.popleft()
            self._credits -= packet.size
            self._ready.append(packet)

    def _request_arbitration(self) -> None:
        if self._next_free > self._engine.now:
            self._schedule()
        else:
            self._arbitrate()

    def _schedule(self) -> None:
        self._scheduled = True
        self._engine.at(self._next_free, self._timer, self._arbitrate)

    def _arbitrate(self, _: Any = None) -> None:
        self._scheduled = False
        if self._ready:
            self._send(self._ready.popleft())

    def _send(self, packet: Packet) -> None:
        packet.time_to_send = scaled(self.byte_delay, packet.size)
        self._next_free = self._engine.now + packet.time_to_send + self._flit_overhead
        self._forward(packet, self._flit_overhead)
        if not self._flow_control:
            self._add_credits(packet.size)
        self._sent(packet, self._next_free)
        if self._ready:
            self._schedule()


class Switch:
    """Passes packets to the output port of their destination in no time."""

    def __init__(self, engine: Engine, config: "Config") -> None:
        self.interfaces: list[SnapprInterface] = []
        self._engine = engine
        self._flow_control = config.switch_flow_control
        self._injection_latency = ticks(config.injection_latency)
        self._ejection_latency = ticks(config.ejection_latency)
        self._ports = [
            OutputPort(
                engine,
                SWITCH_TIMER,
                config.link_bandwidth,
                config.switch_credits,
                config.switch_flow_control,
                config.link_flit_size,
                self._forward,
                self._sent,
                config.congestion,
            )
            for _ in range(2)
        ]

    def arrive(self, packet: Packet) -> None:
        """Take a packet's head; hold it back while its tail would leave before it is here."""
        port = self._ports[packet.message.target]
        wait = packet.time_to_send - scaled(port.byte_delay, packet.size)
        if wait > 0:
            self._engine.after(wait, SWITCH_TIMER, port.put, packet)
        else:
            port.put(packet)

    def credit(self, node: int, size: int) -> None:
        """Take back the credits of the port towards `node`."""
        self._ports[node].credit(size)

    def _forward(self, packet: Packet, delay: int) -> None:
        target = packet.message.target
        arrive = self.interfaces[target].arrive
        self._engine.after(delay + self._ejection_latency, ejection(target), arrive, packet)

    def _sent(self, packet: Packet, done: int) -> None:
        """Return the credits of the injection port when the packet's tail has left."""
        if self._flow_control:
            self._engine.at(
                done + self._injection_latency,
                injection_credit(packet.source),
                self.interfaces[packet.source].credit,
                packet.size,
            )


class SnapprInterface(Interface):
    """Cuts messages into packets as far as its buffer allows; puts them together again."""

    def __init__(self, engine: Engine, config: "Config", node: int, switch: Switch) -> None:
        super().__init__(engine, config, node)
        if config.nic_flow_control != config.switch_flow_control:
            raise ValueError("flow control must be the same at the interface and the switch")
        self._switch = switch
        self._mtu = config.mtu
        self._flow_control = config.nic_flow_control
        self._buffer = config.nic_buffer
        self._drain_delay = byte_delay(config.nic_bandwidth)
        self._charge = config.charge_last_packet
        self._drained_at = 0
        self._injection_latency = ticks(config.injection_latency)
        self._ejection_latency = ticks(config.ejection_latency)
        self._queue: deque[list[Any]] = deque()
        self._missing: dict[Message, int] = {}
        self._port = OutputPort(
            engine,
            node_timer(node),
            config.injection_bandwidth,
            config.nic_credits,
            config.nic_flow_control,
            config.injection_flit_size,
            self._forward,
            self._sent,
        )

    def _inject(self, message: Message) -> None:
        self._queue.append([message, message.wire_bytes])
        self._fill_buffer()

    def _fill_buffer(self) -> None:
        """Cut packets off the first message while the buffer holds a whole one."""
        while self._queue:
            entry = self._queue[0]
            message, left = entry
            size = min(left, self._mtu)
            if size > self._buffer:
                return
            if self._flow_control:
                self._buffer -= size
            self._port.put(Packet(message, size, tail=size == left, source=self.node))
            if size == left:
                self._queue.popleft()
            else:
                entry[1] = left - size

    def credit(self, size: int) -> None:
        """Take injection credits back: the buffer is refilled first, against the old credits."""
        self._buffer += size
        self._fill_buffer()
        self._port.credit(size)

    def _forward(self, packet: Packet, delay: int) -> None:
        self.engine.after(
            delay + self._injection_latency, injection(self.node), self._switch.arrive, packet
        )

    def _sent(self, packet: Packet, done: int) -> None:
        if packet.tail and packet.message.acked:
            self.engine.at(done, nic_timer(self.node), self._notice, packet.message.ack())

    def _notice(self, notice: Message) -> None:
        self.engine.after(0, node_timer(self.node), self.rank.deliver, notice)

    def arrive(self, packet: Packet) -> None:
        """Take a packet's head; hold it back while it could be drained before its tail is here."""
        drain = scaled(self._drain_delay, packet.size)
        if self._charge:
            self._drain(packet, drain)
        elif packet.time_to_send > drain:
            wait = packet.time_to_send - drain
            self.engine.after(wait, nic_timer(self.node), self._eject, packet)
        else:
            self._eject(packet)

    def _eject(self, packet: Packet) -> None:
        self.engine.after(0, nic_timer(self.node), self._complete, packet)
        self._return_credit(packet)

    def _drain(self, packet: Packet, drain: int) -> None:
        fed = max(scaled(self._port.byte_delay, packet.size), packet.time_to_send)
        lag = max(0, drain - fed)
        tail = self.engine.now + packet.time_to_send
        self._drained_at = max(tail + lag, self._drained_at + drain)
        self.engine.at(self._drained_at, nic_timer(self.node), self._drained, packet)

    def _drained(self, packet: Packet) -> None:
        self._complete(packet)
        self._return_credit(packet)

    def _return_credit(self, packet: Packet) -> None:
        if self._flow_control:
            self.engine.after(
                self._ejection_latency, ejection_credit(self.node), self._credit_switch, packet.size
            )

    def _credit_switch(self, size: int) -> None:
        self._switch.credit(self.node, size)

    def _complete(self, packet: Packet) -> None:
        """Count the packet; the message is there when all of its bytes are."""
        message = packet.message
        missing = self._missing.pop(message, message.wire_bytes) - packet.size
        if missing:
            self._missing[message] = missing
        else:
            self.receive(message)
