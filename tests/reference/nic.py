"""Messages, what every network interface does with them, and the LogP overlay.

A message of at most ``negligible_size`` bytes on the wire goes over the LogP overlay, which has no
ports and no contention; a larger one over the detailed network of the subclass.
"""

from copy import copy
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from tests.reference.engine import (
    Engine,
    byte_delay,
    logp_inward,
    logp_outward,
    node_timer,
    scaled,
    ticks,
)

if TYPE_CHECKING:
    from tests.reference.config import Config
    from tests.reference.mpi import Rank, Request


LAUNCH_BYTES = 256
"""Size of the message that starts a program."""


class Kind(Enum):
    """What a message is to the network interfaces."""

    SEND = auto()
    GET_REQUEST = auto()
    GET_PAYLOAD = auto()
    ACK = auto()


class Protocol(Enum):
    """How MPI moves a message of a given size, or what else it is for."""

    EAGER0 = auto()
    EAGER1 = auto()
    RENDEZVOUS = auto()
    COLLECTIVE = auto()
    LAUNCH = auto()


@dataclass(eq=False)
class Message:
    """One object follows an MPI message through all its wire messages.

    `size` is the MPI message's, `wire_bytes` the present wire message's. `stage` 0 is the first
    wire message, the only one whose `sequence` the receiver checks.
    """

    protocol: Protocol
    size: int
    wire_bytes: int
    sequence: int
    source: int
    target: int
    wants_ack: bool
    send_request: "Request | None" = field(default=None)
    kind: Kind = Kind.SEND
    stage: int = 0
    receive_request: "Request | None" = field(default=None)

    def turn(self, kind: Kind, wire_bytes: int) -> None:
        """Make the next wire message of it, in the opposite direction."""
        self.source, self.target = self.target, self.source
        self.kind = kind
        self.wire_bytes = wire_bytes

    def ack(self) -> "Message":
        """Return the notice that the last byte has been injected, for the sender's host."""
        notice = copy(self)
        notice.kind = Kind.ACK
        return notice

    @property
    def acked(self) -> bool:
        """Whether its injection is to be notified; get requests never are."""
        return self.wants_ack and self.kind is not Kind.GET_REQUEST


class Interface:
    """What every network interface does; `_inject` is its own way to the network."""

    rank: "Rank"

    def __init__(self, engine: Engine, config: "Config", node: int) -> None:
        self.engine = engine
        self.node = node
        self.negligible_size = config.negligible_size
        self.peer: Interface = self
        self._overlay_byte_delay = byte_delay(config.logp_bandwidth)
        self._overlay_latency = ticks(config.logp_out_in_latency)
        self._overlay_hop = ticks(config.logp_hop_latency)

    def send(self, message: Message) -> None:
        """Put a message on the wire."""
        if message.wire_bytes <= self.negligible_size:
            self._to_overlay(message, 0)
            self._notify(message)
        else:
            self._inject(message)

    def send_launch(self) -> None:
        """Tell the peer to start the program; this goes over the overlay whatever its size."""
        self._to_overlay(
            Message(
                protocol=Protocol.LAUNCH,
                size=LAUNCH_BYTES,
                wire_bytes=LAUNCH_BYTES,
                sequence=0,
                source=self.node,
                target=1 - self.node,
                wants_ack=False,
            ),
            0,
        )

    def _inject(self, message: Message) -> None:
        raise NotImplementedError

    def _notify(self, message: Message) -> None:
        """Tell this node's host, still at this tick, that the message has been injected."""
        if message.acked:
            self.engine.after(0, node_timer(self.node), self.rank.deliver, message.ack())

    def _to_overlay(self, message: Message, delay: int) -> None:
        """Hand the message to the overlay `delay` ticks from now."""
        self.engine.after(delay, logp_inward(self.node), self._cross_overlay, message)

    def _cross_overlay(self, message: Message) -> None:
        delay = scaled(self._overlay_byte_delay, message.wire_bytes)
        delay += self._overlay_hop  # two nodes of one switch count as one hop apart
        delay += self._overlay_latency
        self.engine.after(delay, logp_outward(self.peer.node), self.peer.from_overlay, message)

    def from_overlay(self, message: Message) -> None:
        """Take a message the overlay delivers."""
        self.receive(message)

    def receive(self, message: Message) -> None:
        """Take a complete message: answer a get, hand everything else to the host."""
        if message.kind is Kind.GET_REQUEST:
            message.turn(Kind.GET_PAYLOAD, message.size)
            self.send(message)
        elif message.protocol is Protocol.LAUNCH:
            self.rank.launch()
        else:
            self.rank.deliver(message)
