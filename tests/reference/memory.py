"""What a memory copy costs a rank."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.reference.engine import Engine, byte_delay, memory_timer, node_timer, scaled, ticks

if TYPE_CHECKING:
    from tests.reference.config import Config


class Copier:
    """Turns a copy of n bytes into instructions and, above a negligible size, memory traffic.

    A loop moves one word a turn, in one instruction and two of control for each unit of overhead.
    """

    def __init__(self, engine: Engine, config: "Config", node: int) -> None:
        self._engine = engine
        self._node = node
        self._operation = ticks(1.0 / config.frequency / config.parallelism)
        self._word = config.access_width // 8
        self._overhead = config.loop_overhead
        self._negligible = config.negligible_compute_bytes
        self._memory = MEMORIES[config.memory](engine, config, node)

    def copy(self, size: int, done: Callable[[Any], None]) -> None:
        """Call `done` when `size` bytes have been copied; never at once, even if it takes no time.

        Only whole words count.
        """
        turns = size // self._word
        instructions = scaled(self._operation, turns + int(2 * turns * self._overhead))
        moved = turns * self._word
        if moved <= self._negligible:
            self._engine.after(instructions, node_timer(self._node), done)
        else:
            self._memory.access(moved, int(float(instructions) / moved), done)

    def transfer(self, size: int, done: Callable[[Any], None]) -> None:
        """Call `done` when the memory alone, without the processor, has moved `size` bytes."""
        self._memory.access(size, 0, done)


class LogPMemory:
    """One link with a latency and a bandwidth; accesses queue for it."""

    def __init__(self, engine: Engine, config: "Config", node: int) -> None:
        self._engine = engine
        self._node = node
        self._byte_delay = byte_delay(config.memory_bandwidth)
        self._latency = ticks(config.memory_latency)
        self._next_free = 0

    def access(self, size: int, request_delay: int, done: Callable[[Any], None]) -> None:
        """Call `done` when the access is over; a byte is asked for every `request_delay` ticks."""
        duration = self._latency + scaled(request_delay + self._byte_delay, size)
        start = max(self._engine.now, self._next_free)
        self._next_free = start + duration
        self._engine.at(self._next_free, node_timer(self._node), done)


class SnapprMemory:
    """Chunks, one outstanding at a time, over channels taken in turn.

    A chunk is answered when its channel has reached its first byte; the transfer itself is waited
    for only after the last chunk. The first chunk takes what is left over from whole chunks.
    """

    def __init__(self, engine: Engine, config: "Config", node: int) -> None:
        self._engine = engine
        self._timer = memory_timer(node)
        self._byte_delay = byte_delay(config.channel_bandwidth)
        self._chunk = config.memory_mtu
        self._next_free = [0] * config.num_channels
        self._channel = 0

    def access(self, size: int, request_delay: int, done: Callable[[Any], None]) -> None:
        """Call `done` when the access is over; a byte is asked for every `request_delay` ticks."""
        first = size % self._chunk or self._chunk
        self._request([first, size - first, request_delay, done])

    def _request(self, flow: list[Any]) -> None:
        chunk, _, request_delay, _ = flow
        self._engine.after(scaled(request_delay, chunk), self._timer, self._queue, flow)

    def _queue(self, flow: list[Any]) -> None:
        start = max(self._next_free[self._channel], self._engine.now)
        self._next_free[self._channel] = start + scaled(self._byte_delay, flow[0])
        self._channel = (self._channel + 1) % len(self._next_free)
        self._engine.at(start, self._timer, self._answer, flow)

    def _answer(self, flow: list[Any]) -> None:
        chunk, left, request_delay, done = flow
        if left == 0:
            self._engine.after(scaled(self._byte_delay, chunk), self._timer, done)
        else:
            self._request([self._chunk, left - self._chunk, request_delay, done])


class NullMemory:
    """No memory: a copy above the negligible size takes no time at all.

    SST/macro's null memory forgets to answer, so there such a copy never ends; no figure of its
    can be compared with this class.
    """

    def __init__(self, engine: Engine, config: "Config", node: int) -> None:
        self._engine = engine
        self._node = node

    def access(self, size: int, request_delay: int, done: Callable[[Any], None]) -> None:
        """Call `done` at this tick, after what is already due."""
        self._engine.after(0, node_timer(self._node), done)


MEMORIES: dict[str, Any] = {"logp": LogPMemory, "snappr": SnapprMemory, "null": NullMemory}
