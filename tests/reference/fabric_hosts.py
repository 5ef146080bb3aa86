"""The hosts of a collective benchmark: launch, MPI_Init, barriers, collectives, on one node each.

SST/macro's collective engine runs a graph of actions. An action starts when the actions it waits
for are complete; it sends or receives one message of one round. A send is complete when its last
byte has been injected, a receive when the payload is here. A rank's one thread handles messages one
after another while it waits for them; everything a message costs the host is spent by this thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from tests.reference import fabric_pisces, fabric_snappr
from tests.reference.engine import TICKS_PER_SECOND, Engine, ticks
from tests.reference.fabric_config import FabricConfig
from tests.reference.fabric_network import Message, Network, Notice
from tests.reference.fabric_schedules import (
    Schedule,
    allreduce,
    barrier,
    bruck_allgather,
    bruck_alltoall,
    ring_allgather,
)
from tests.reference.memory import Copier
from tests.reference.nic import Kind

CONTROL_BYTES = 64
START_BYTES = 256
INIT_ELEMENT_BYTES = 12

Steps = Generator[None, None, None]
"""A thread, or a part of one."""

MODELS: dict[str, Any] = {"snappr": fabric_snappr, "pisces": fabric_pisces}


@dataclass(eq=False)
class Action:
    """A send or a receive of one round with `partner`."""

    send: bool
    round_number: int
    partner: int
    size: int
    free_by_rdma: bool
    waits_for: int = 0
    followers: list[Action] = field(default_factory=list)

    @property
    def order(self) -> int:
        """Where it comes among actions that start together."""
        return self.partner * 3000 + self.round_number * 6 + (not self.send)

    @property
    def key(self) -> tuple[bool, int, int]:
        """What a message for it says."""
        return self.send, self.round_number, self.partner


class Running:
    """A collective in progress on one rank: which actions are active, what waits."""

    def __init__(self, number: int, queue: int, schedule: Schedule) -> None:
        self.number = number
        self.queue = queue
        self.copies_received = schedule.copies_received
        self.active: dict[tuple[bool, int, int], Action] = {}
        self.unposted: dict[tuple[bool, int, int], list[Message]] = {}
        self.unfinished = 0
        self.initial: list[Action] = []
        for chain in schedule.chains:
            before: list[Action] = []
            for step in chain:
                pair = [
                    Action(True, step.round_number, step.to, step.sent, False),
                    Action(False, step.round_number, step.come, step.received, step.free_by_rdma),
                ]
                for action in pair:
                    action.waits_for = len(before)
                    for earlier in before:
                        earlier.followers.append(action)
                self.unfinished += 2
                if not before:
                    self.initial += pair
                before = pair
        self.initial.sort(key=lambda action: action.order)


class Host:
    """One rank on its node."""

    def __init__(self, network: Network, rank: int) -> None:
        self.times: list[int] = []
        self._network = network
        self._config = network.config
        self._rank = rank
        self._clock = network.clocks[rank]
        self._engine = network.engine
        self._interface = network.interfaces[rank]
        self._interface.deliver = self.deliver
        self._copier = Copier(self._clock, self._config, 0)
        self._post_header = ticks(self._config.post_header_delay)
        self._post_rdma = ticks(self._config.post_rdma_delay)
        self._thread: Steps | None = None
        self._waiting: int | None = None
        self._held: list[Any] = []
        self._arrived: tuple[deque[Any], deque[Any]] = (deque(), deque())
        self._early: dict[int, list[Message]] = {}
        self._collectives = 0

    def launch(self) -> None:
        """Ask rank 0's node to start, over its own memory."""
        copier: Any = self._copier
        copier._memory.access(START_BYTES, 0, self._start)

    def deliver(self, item: Any) -> None:
        """Take a message or notice from the interface; wake the thread if it waits for one."""
        if isinstance(item, Message) and item.collective < 0:
            self._start()
        elif self._thread is None:
            self._held.append(item)
        else:
            self._queue(item)

    def _queue(self, item: Any) -> None:
        self._arrived[item.queue].append(item)
        if self._waiting == item.queue:
            self._resume()

    def _start(self, _: Any = None) -> None:
        """Forward the start request in a binomial tree, then run the program."""
        ranks = self._config.ranks
        span = 1
        while span < ranks:
            span *= 2
        offset = 0
        while span > 1:
            half = span // 2
            if self._rank % span == 0 and offset + half < ranks:
                self._interface.overlay(Message(self._rank, offset + half, START_BYTES))
            if self._rank >= offset + half:
                offset += half
            span = half
        self._thread = self._program()
        for item in self._held:
            self._engine.after(0, self._clock.system, self._queue, item)
        self._resume()

    def _resume(self, _: Any = None) -> None:
        if self._thread is None:
            raise RuntimeError("a rank must be started before anything can wake it")
        self._waiting = None
        next(self._thread, None)

    def _program(self) -> Steps:
        config = self._config
        ranks, me = config.ranks, self._rank
        yield from self._collective(0, allreduce(ranks, me, 1, INIT_ELEMENT_BYTES, True))
        for size in config.sizes:
            yield from self._collective(1, barrier(ranks, me))
            before = self._engine.now
            for _ in range(config.iterations):
                yield from self._collective(1, self._schedule(size))
            self.times.append(self._engine.now - before)

    def _schedule(self, size: int) -> Schedule:
        ranks, me = self._config.ranks, self._rank
        if self._config.mode == "allreduce":
            return allreduce(ranks, me, size, 1, False)
        if self._config.mode == "alltoall":
            return bruck_alltoall(ranks, me, size)
        if self._config.algorithm == "ring":
            return ring_allgather(ranks, me, size)
        return bruck_allgather(ranks, me, size)

    def _collective(self, queue: int, schedule: Schedule) -> Steps:
        run = Running(self._collectives, queue, schedule)
        self._collectives += 1
        for size in schedule.copies:
            yield from self._copy(size)
        for action in run.initial:
            yield from self._begin(run, action)
        for message in self._early.pop(run.number, []):
            yield from self._handle(run, message)
        while run.unfinished:
            if not self._arrived[queue]:
                self._waiting = queue
                yield
            yield from self._handle(run, self._arrived[queue].popleft())

    def _handle(self, run: Running, item: Any) -> Steps:
        message = item.message if isinstance(item, Notice) else item
        if message.collective != run.number:
            self._early.setdefault(message.collective, []).append(message)
        elif isinstance(item, Notice):
            key = (True, message.round_number, message.destination)
            yield from self._done(run, run.active.pop(key))
        else:
            key = (False, message.round_number, message.origin)
            if key in run.active:
                yield from self._receive(run, key, message)
            else:
                run.unposted.setdefault(key, []).append(message)

    def _receive(self, run: Running, key: tuple[bool, int, int], message: Message) -> Steps:
        action = run.active[key]
        if message.kind is Kind.SEND and not message.eager:
            if self._post_rdma:
                yield from self._compute(self._post_rdma)
            message.turn(Kind.GET_REQUEST, CONTROL_BYTES, acked=False)
            self._interface.send(message)
            return
        if run.copies_received and (message.eager or not action.free_by_rdma):
            yield from self._copy(message.size)
        del run.active[key]
        yield from self._done(run, action)

    def _begin(self, run: Running, action: Action) -> Steps:
        run.active[action.key] = action
        if not action.send:
            for message in run.unposted.pop(action.key, []):
                yield from self._receive(run, action.key, message)
            return
        eager = action.size < self._config.eager_cutoff
        message = Message(
            source=self._rank,
            target=action.partner,
            wire_bytes=action.size if eager else CONTROL_BYTES,
            acked=eager,
            size=action.size,
            eager=eager,
            origin=self._rank,
            destination=action.partner,
            collective=run.number,
            round_number=action.round_number,
            queue=run.queue,
        )
        if self._post_header:
            yield from self._compute(self._post_header)
        self._interface.send(message)

    def _done(self, run: Running, action: Action) -> Steps:
        run.unfinished -= 1
        for follower in action.followers:
            follower.waits_for -= 1
            if follower.waits_for == 0:
                yield from self._begin(run, follower)

    def _compute(self, delay: int) -> Steps:
        self._engine.after(delay, self._clock.system, self._resume)
        yield

    def _copy(self, size: int) -> Steps:
        self._copier.copy(size, self._resume)
        yield


def run_collective(config: FabricConfig) -> dict[int, float]:
    """Return the time of a collective on rank 0, in us, for each size."""
    engine = Engine()
    network = Network(engine, config, MODELS[config.network])
    hosts = [Host(network, rank) for rank in range(config.ranks)]
    hosts[0].launch()
    engine.run()
    unfinished = [rank for rank, host in enumerate(hosts) if len(host.times) < len(config.sizes)]
    if unfinished:
        raise RuntimeError(f"ranks {unfinished[:5]} never end: credits too small for a packet?")
    return {
        size: time / config.iterations / TICKS_PER_SECOND * 1e6
        for size, time in zip(config.sizes, hosts[0].times, strict=True)
    }
