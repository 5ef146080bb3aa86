"""A machine of many switches: links and their order, the LogP overlay, what interfaces share.

Read :mod:`tests.reference.fabric_hosts` first, which runs the benchmark. Events of one tick are
ordered by the link they travel on. Links are numbered in the order SST/macro makes them: each
node's two to the overlay; each switch's connections, data before its credits; then, switch by
switch, what joins it to its nodes. Every component's own timers come after all links, those of the
component built last first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.reference.engine import Engine, byte_delay, scaled, ticks
from tests.reference.fabric_routers import TOPOLOGIES
from tests.reference.nic import Kind

if TYPE_CHECKING:
    from tests.reference.fabric_config import FabricConfig


@dataclass(eq=False, slots=True)
class Message:
    """One object follows a message of a collective through all its wire messages.

    `origin` is the rank whose send action it is; `collective` and `round_number` name the action,
    `size` its payload, `queue` the completion queue that takes it.
    """

    source: int
    target: int
    wire_bytes: int
    acked: bool = False
    kind: Kind = Kind.SEND
    size: int = 0
    eager: bool = True
    origin: int = 0
    destination: int = 0
    collective: int = -1
    round_number: int = 0
    queue: int = 0

    def turn(self, kind: Kind, wire_bytes: int, acked: bool) -> None:
        """Make the next wire message of it, in the opposite direction."""
        self.source, self.target = self.target, self.source
        self.kind = kind
        self.wire_bytes = wire_bytes
        self.acked = acked


@dataclass(frozen=True)
class Notice:
    """The message's last byte has been injected."""

    message: Message

    @property
    def queue(self) -> int:
        """The completion queue that takes it."""
        return self.message.queue


@dataclass(eq=False, slots=True)
class Packet:
    """A piece of a message.

    `lane` is the one it travels in, `next_lane` the one its route gives it. `byte_delay` (PISCES)
    is how far apart its bytes are, `time_to_send` (SNAPPR) how long the last port was busy with it.
    """

    message: Message
    size: int
    tail: bool
    lane: int = 0
    next_lane: int = 0
    out: int = 0
    inward: int = 0
    byte_delay: int = 0
    time_to_send: int = 0
    header: dict[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class Link:
    """Takes an event from one component to another: its latency and its place in the order."""

    engine: Engine
    number: int
    latency: int
    arrive: Callable[[Any], None]

    def send(self, time: int, argument: Any) -> None:
        """Send at `time`, which may lie ahead."""
        self.engine.at(time + self.latency, self.number, self.arrive, argument)


@dataclass(frozen=True)
class Clock:
    """The engine and the places of one node's timers: interface, system, memory, node."""

    engine: Engine
    interface: int

    @property
    def system(self) -> int:
        """The operating system's timer."""
        return self.interface + 1

    @property
    def node(self) -> int:
        """The node's timer."""
        return self.interface + 3

    @property
    def now(self) -> int:
        """The present tick."""
        return self.engine.now

    def at(self, time: int, link: int, action: Callable[[Any], None], argument: Any = None) -> None:
        """Schedule on a timer of node 0 of the two-node reference, which is this node here."""
        self.engine.at(time, self.interface + link - TWO_NODE_INTERFACE, action, argument)

    def after(
        self, delay: int, link: int, action: Callable[[Any], None], argument: Any = None
    ) -> None:
        """Schedule `delay` ticks from now, as `at` does."""
        self.at(self.now + delay, link, action, argument)


TWO_NODE_INTERFACE = 205
"""Node 0's interface timer in the two-node reference; its other timers follow."""


class Network:
    """Nodes, switches and links of one run. `interfaces` are filled by the model's own classes."""

    def __init__(self, engine: Engine, config: FabricConfig, model: Any) -> None:
        self.engine = engine
        self.config = config
        self.topology = TOPOLOGIES[config.topology](config)
        self.nodes = self.topology.leaves * self.topology.concentration
        first_timer = 2**40
        self.clocks = [
            Clock(engine, first_timer + self.topology.switches + 4 * (self.nodes - 1 - node))
            for node in range(self.nodes)
        ]
        self.switch_timers = [
            first_timer + self.topology.switches - 1 - switch
            for switch in range(self.topology.switches)
        ]
        self.switches = [model.Switch(self, switch) for switch in range(self.topology.switches)]
        self.interfaces = [model.Interface(self, node) for node in range(self.nodes)]
        self._links = 2 * self.nodes
        self._connect_switches()
        self._connect_nodes()

    def _link(self, latency: int, arrive: Callable[[Any], None]) -> Link:
        self._links += 1
        return Link(self.engine, self._links - 1, latency, arrive)

    def _connect_switches(self) -> None:
        for number, switch in enumerate(self.switches):
            for out, neighbour, inward in self.topology.connections(number):
                there = self.switches[neighbour]
                capacity, times = self.config.link(number, neighbour)
                latency = ticks(self.config.link_latency * times)
                switch.connect(out, self._link(latency, there.arrival_at(inward)), capacity)
                there.connect_credits(inward, self._link(latency, switch.credit_at(out)))

    def _connect_nodes(self) -> None:
        config = self.config
        inject, eject = ticks(config.injection_latency), ticks(config.ejection_latency)
        for number in range(self.topology.leaves):
            switch = self.switches[number]
            first = self.topology.node_port(number)
            count = self.topology.concentration
            pairs = [(first + n, self.interfaces[number * count + n]) for n in range(count)]
            for port, interface in pairs:
                switch.connect_credits(port, self._link(inject, interface.credit))
                interface.outward = self._link(inject, switch.arrival_at(port))
            for port, interface in pairs:
                switch.connect(port, self._link(eject, interface.arrive))
                interface.credits_back = self._link(eject, switch.credit_at(port))

    def route(self, switch: int, router: Any, packet: Packet) -> None:
        """Set a packet's next output port and lane at a switch."""
        target, place = divmod(packet.message.target, self.topology.concentration)
        if target == switch:
            packet.out, packet.next_lane = self.topology.node_port(switch) + place, 0
        else:
            router.route(packet, target)

    def overlay_delay(self, source: int, target: int, size: int) -> int:
        """Return how long the LogP overlay takes for a message."""
        config = self.config
        count = self.topology.concentration
        hops = self.topology.hops(source // count, target // count)
        delay = ticks(config.logp_out_in_latency) + hops * ticks(config.logp_hop_latency)
        return delay + scaled(byte_delay(config.logp_bandwidth), size)


class Interface:
    """What the interfaces of all models share: the overlay, and answers to get requests."""

    outward: Link
    credits_back: Link

    def __init__(self, network: Network, node: int) -> None:
        self.network = network
        self.engine = network.engine
        self.node = node
        self.clock = network.clocks[node]
        self.deliver: Callable[[Any], None] = lambda argument: None

    def send(self, message: Message) -> None:
        """Put a message on the wire."""
        if message.wire_bytes <= self.network.config.negligible_size:
            self.overlay(message)
            if message.acked:
                self.engine.after(0, self.clock.node, self.deliver, Notice(message))
        else:
            self.inject(message)

    def inject(self, message: Message) -> None:
        """Put a message on the detailed network."""
        raise NotImplementedError

    def overlay(self, message: Message) -> None:
        """Send a message over the LogP overlay."""
        self.engine.after(0, 2 * self.node, self._cross, message)

    def _cross(self, message: Message) -> None:
        delay = self.network.overlay_delay(self.node, message.target, message.wire_bytes)
        there = self.network.interfaces[message.target]
        self.engine.after(delay, 2 * message.target + 1, there.receive, message)

    def receive(self, message: Message) -> None:
        """Take a complete message: answer a get, hand everything else to the host."""
        if message.kind is Kind.GET_REQUEST:
            message.turn(Kind.GET_PAYLOAD, message.size, acked=True)
            self.send(message)
        else:
            self.deliver(message)

    def complete(self, packet: Packet, missing: dict[Message, int]) -> None:
        """Count a packet; the message is there when all of its bytes are."""
        message = packet.message
        left = missing.pop(message, message.wire_bytes) - packet.size
        if left:
            missing[message] = left
        else:
            self.receive(message)
