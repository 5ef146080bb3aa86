"""A rank: one thread that sends, receives and makes progress only inside blocking calls.

A thread is a generator; it yields when it waits for a host delay or for a message, and whoever
ends the wait resumes it. Everything a message costs the host is spent by this one thread.
"""

from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from tests.reference.engine import Engine, host_timer, scaled, ticks
from tests.reference.memory import Copier
from tests.reference.nic import Interface, Kind, Message, Protocol

if TYPE_CHECKING:
    from tests.reference.config import Config

CONTROL_BYTES = 64
"""Size of headers, get requests and software acknowledgements on the wire."""

Steps = Generator[None, None, None]
"""A thread, or a part of one."""


class Request:
    """Whether a send or a receive is over."""

    def __init__(self) -> None:
        self.complete = False


class Rank:
    """One MPI process and its thread."""

    def __init__(self, engine: Engine, config: "Config", node: int, interface: Interface) -> None:
        self.engine = engine
        self.finished = False
        self._node = node
        self._interface = interface
        self._copier = Copier(engine, config, node)
        self._max_eager0 = config.max_vshort_msg_size
        self._max_eager1 = config.max_eager_msg_size
        self._post_header = ticks(config.post_header_delay)
        self._post_rdma = ticks(config.post_rdma_delay)
        self._pin_latency = ticks(config.rdma_pin_latency)
        self._page_delay = ticks(config.rdma_page_delay)
        self._page_size = config.rdma_page_size
        self._thread: Steps | None = None
        self._waiting = False
        self._arrived: deque[Message] = deque()
        self._posted: deque[Request] = deque()
        self._unexpected: deque[Message] = deque()
        self._held: dict[int, Message] = {}
        self._next_outbound = 0
        self._next_inbound = 0

    def start(self, program: Steps) -> None:
        """Begin the thread at the present time."""
        self._thread = program
        self.engine.after(0, host_timer(self._node), self._resume)

    def _resume(self, _: Any = None) -> None:
        if self._thread is None:
            raise RuntimeError("a rank must be started before anything can wake it")
        try:
            next(self._thread)
        except StopIteration:
            self.finished = True

    def deliver(self, message: Message) -> None:
        """Queue a message or notice from the interface; wake the thread if it waits for one."""
        self._arrived.append(message)
        if self._waiting:
            self._resume()

    def send(self, size: int) -> Steps:
        """MPI_Send: a send that is complete once started makes no progress for others."""
        request = Request()
        yield from self._start_send(size, request)
        yield from self.wait(request)

    def isend(self, size: int, request: Request) -> Steps:
        """MPI_Isend: host delays are spent here; no progress is made."""
        yield from self._start_send(size, request)

    def recv(self) -> Steps:
        """MPI_Recv of the next message."""
        request = Request()
        yield from self.irecv(request)
        yield from self.wait(request)

    def irecv(self, request: Request) -> Steps:
        """MPI_Irecv: handles a message that is already there unmatched, else posts the receive."""
        if self._unexpected:
            yield from self._matched(self._unexpected.popleft(), request)
        else:
            self._posted.append(request)

    def wait(self, request: Request) -> Steps:
        """MPI_Wait: handle whatever arrives, one at a time, until `request` is complete."""
        while not request.complete:
            if not self._arrived:
                self._waiting = True
                yield
                self._waiting = False
            yield from self._incoming(self._arrived.popleft())

    def waitall(self, requests: list[Request]) -> Steps:
        """MPI_Waitall: wait for each in turn."""
        for request in requests:
            yield from self.wait(request)

    def _start_send(self, size: int, request: Request) -> Steps:
        sequence = self._next_outbound
        self._next_outbound += 1
        if size <= self._max_eager0:
            protocol, wire_bytes = Protocol.EAGER0, size
            yield from self._copy(size)
        elif size <= self._max_eager1:
            protocol, wire_bytes = Protocol.EAGER1, CONTROL_BYTES
        else:
            protocol, wire_bytes = Protocol.RENDEZVOUS, CONTROL_BYTES
            yield from self._pin(size)
        message = Message(
            protocol=protocol,
            size=size,
            wire_bytes=wire_bytes,
            sequence=sequence,
            source=self._node,
            target=1 - self._node,
            wants_ack=protocol is Protocol.EAGER0,
            send_request=request,
        )
        yield from self._post(message)
        if protocol is not Protocol.RENDEZVOUS:
            request.complete = True

    def _post(self, message: Message) -> Steps:
        delay = self._post_rdma if message.kind is Kind.GET_REQUEST else self._post_header
        if delay:
            yield from self._compute(delay)
        self._interface.send(message)

    def _incoming(self, message: Message) -> Steps:
        """Handle a message; first wire messages strictly in the order their sends began."""
        if message.stage > 0 or message.kind is Kind.ACK:
            yield from self._handle(message)
        elif message.sequence == self._next_inbound:
            yield from self._handle(message)
            self._next_inbound += 1
            while self._next_inbound in self._held:
                yield from self._handle(self._held.pop(self._next_inbound))
                self._next_inbound += 1
        else:
            self._held[message.sequence] = message

    def _handle(self, message: Message) -> Steps:
        if message.kind is Kind.ACK:
            return
        if message.protocol is Protocol.EAGER1 and message.kind is Kind.SEND:
            yield from self._get(message, wants_ack=True)
        elif message.protocol is Protocol.RENDEZVOUS and message.kind is Kind.GET_PAYLOAD:
            yield from self._finish_rendezvous(message)
        elif message.protocol is Protocol.RENDEZVOUS and message.stage > 0:
            message.send_request.complete = True
        elif self._posted:
            yield from self._matched(message, self._posted.popleft())
        else:
            self._unexpected.append(message)
            if message.protocol is Protocol.EAGER0:
                yield from self._copy(message.size)

    def _matched(self, message: Message, request: Request) -> Steps:
        if message.protocol is Protocol.RENDEZVOUS:
            yield from self._pin(message.size)
            message.receive_request = request
            yield from self._get(message, wants_ack=False)
        else:
            yield from self._copy(message.size)
            request.complete = True

    def _get(self, header: Message, wants_ack: bool) -> Steps:
        """Ask the sender's interface for the payload."""
        header.stage += 1
        header.wants_ack = wants_ack
        header.turn(Kind.GET_REQUEST, CONTROL_BYTES)
        yield from self._post(header)

    def _finish_rendezvous(self, message: Message) -> Steps:
        """Complete the receive, then tell the sender in a message of its own."""
        if message.receive_request is None:
            raise RuntimeError("a rendezvous payload arrived before its receive was matched")
        message.receive_request.complete = True
        message.stage += 1
        message.wants_ack = False
        message.turn(Kind.SEND, CONTROL_BYTES)
        yield from self._post(message)

    def _compute(self, delay: int) -> Steps:
        self.engine.after(delay, host_timer(self._node), self._resume)
        yield

    def _copy(self, size: int) -> Steps:
        self._copier.copy(size, self._resume)
        yield

    def _pin(self, size: int) -> Steps:
        pages = -(-size // self._page_size)
        yield from self._compute(self._pin_latency + scaled(self._page_delay, pages))
