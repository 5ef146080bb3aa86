"""A rank: one thread that sends, receives and makes progress only inside blocking calls.

A thread is a generator; it yields when it waits for a host delay or for a message, and whoever
ends the wait resumes it. Everything a message costs the host is spent by this one thread.
"""

from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from tests.reference.engine import Engine, host_timer, node_timer, scaled, ticks
from tests.reference.memory import Copier
from tests.reference.nic import LAUNCH_BYTES, Interface, Kind, Message, Protocol

if TYPE_CHECKING:
    from tests.reference.config import Config

CONTROL_BYTES = 64
"""Size of headers, get requests and software acknowledgements on the wire."""

INIT_BYTES = 12
"""Size of the element that the ranks add up in MPI_Init."""

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
        self._arrived_of_collectives: deque[Message] = deque()
        self._exchanges = 0
        self._early: set[int] = set()
        self._posted: deque[Request] = deque()
        self._unexpected: deque[Message] = deque()
        self._held: dict[int, Message] = {}
        self._next_outbound = 0
        self._next_inbound = 0

    def load(self, program: Steps) -> None:
        """Set what the thread does once it is launched."""
        self._thread = program

    def launch(self, _: Any = None) -> None:
        """Begin the thread; the first node's begins the other's, too."""
        if self._node == 0:
            self._interface.send_launch()
        self._resume()

    def request_launch(self) -> None:
        """Launch the program by a message of this node to itself, through its memory."""

        def arrived(_: Any = None) -> None:
            self.engine.after(0, node_timer(self._node), self.launch)

        self._copier.transfer(LAUNCH_BYTES, arrived)

    def _resume(self, _: Any = None) -> None:
        if self._thread is None:
            raise RuntimeError("a rank must be started before anything can wake it")
        try:
            next(self._thread)
        except StopIteration:
            self.finished = True

    def deliver(self, message: Message) -> None:
        """Queue a message or notice from the interface; wake the thread if it waits for one."""
        if message.protocol is Protocol.COLLECTIVE:
            self._arrived_of_collectives.append(message)
        else:
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
            yield from self._progress()

    def waitall(self, requests: list[Request]) -> Steps:
        """MPI_Waitall: wait for each in turn."""
        for request in requests:
            yield from self.wait(request)

    def init(self) -> Steps:
        """MPI_Init: an allreduce of one element by recursive halving, then doubling.

        Rank 1 sends its element to be added and receives the sum; of the other half, which is
        empty, go messages of no bytes. What is received is copied.
        """
        for first in (True, False):
            sends = (self._node == 1) == first
            to_send, to_copy = (INIT_BYTES, 0) if sends else (0, INIT_BYTES)
            yield from self._exchange(to_send, to_copy)

    def barrier(self) -> Steps:
        """MPI_Barrier of two ranks: each sends the other a message of no bytes.

        Rank 1 alone makes a copy of nothing first, in an event of no time.
        """
        if self._node == 1:
            yield from self._copy(0)
        yield from self._exchange(0, None)

    def _exchange(self, to_send: int, to_copy: int | None) -> Steps:
        """Send the other rank a message and wait for its own, which may be there already.

        The exchange also waits for the notice that its own message has left. None copies nothing.
        """
        number = self._exchanges
        self._exchanges += 1
        yield from self._post(
            Message(
                protocol=Protocol.COLLECTIVE,
                size=to_send,
                wire_bytes=to_send,
                sequence=number,
                source=self._node,
                target=1 - self._node,
                wants_ack=True,
            )
        )
        sent = False
        received = number in self._early
        if received:
            self._early.discard(number)
            if to_copy is not None:
                yield from self._copy(to_copy)
        while not (sent and received):
            message = yield from self._next_of_collectives()
            if message.kind is Kind.ACK:
                sent = True
            elif message.sequence == number:
                received = True
                if to_copy is not None:
                    yield from self._copy(to_copy)
            else:
                self._early.add(message.sequence)

    def _next_of_collectives(self) -> Generator[None, None, Message]:
        """Return the next message of an exchange; all others are handled first."""
        while True:
            yield from self._arrival()
            if not self._arrived:
                return self._arrived_of_collectives.popleft()
            yield from self._incoming(self._arrived.popleft())

    def _arrival(self) -> Steps:
        """Wait until a message is there."""
        if not self._arrived and not self._arrived_of_collectives:
            self._waiting = True
            yield
            self._waiting = False

    def _progress(self) -> Steps:
        """Handle one message; one of an exchange not yet begun, the last to be looked at, waits."""
        yield from self._arrival()
        if self._arrived:
            yield from self._incoming(self._arrived.popleft())
        else:
            self._early.add(self._arrived_of_collectives.popleft().sequence)

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
