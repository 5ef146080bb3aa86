"""The OSU latency and bandwidth tests between the two nodes."""

from collections.abc import Sequence
from typing import NamedTuple

from tests.reference import pisces, snappr
from tests.reference.config import Config
from tests.reference.engine import TICKS_PER_SECOND, Engine
from tests.reference.logp import LogPInterface
from tests.reference.mpi import Rank, Request, Steps
from tests.reference.nic import Interface

CLOSING_BYTES = 4
"""Size of the message that ends a window."""


class OsuFigures(NamedTuple):
    """Latency (half round trip, seconds) and bandwidth (bytes/s), one of each per size."""

    latency_s: list[float]
    bandwidth_Bps: list[float]


class DeadlockError(RuntimeError):
    """No event is left, but a rank still waits."""


def run_osu(
    config: Config,
    sizes: Sequence[int],
    iterations: int = 1,
    warmup: int = 1,
    window: int = 64,
    fresh: bool = False,
) -> OsuFigures:
    """Run both tests for message `sizes` (bytes, ascending).

    Latency: a ping-pong of blocking calls; half a round trip, the mean over `iterations` after
    `warmup` ones. Bandwidth: rank 0 sends `window` messages with MPI_Isend, waits for them, and
    receives a message of 4 bytes, which rank 1 sends when its `window` MPI_Irecv are complete.

    All sizes of a test run in one continuous simulation: what the network still holds when a size
    ends (credits on their way, busy ports) is there when the next begins. `fresh` starts a new
    simulation for each size. The bandwidth test always starts with an idle network. No barrier
    stands between sizes, and without a warm-up iteration the first message finds both ranks ready.

    Raises:
        DeadlockError: A packet waits for credits that cannot come.
    """
    groups = [[size] for size in sizes] if fresh else [list(sizes)]
    figures = OsuFigures([], [])
    for group in groups:
        figures.latency_s.extend(_latency(config, group, iterations, warmup))
        figures.bandwidth_Bps.extend(_bandwidth(config, group, iterations, warmup, window))
    return figures


def _latency(config: Config, sizes: list[int], iterations: int, warmup: int) -> list[float]:
    engine, ranks = _machine(config)
    latencies = []

    def client(rank: Rank) -> Steps:
        for size in sizes:
            for iteration in range(warmup + iterations):
                if iteration == warmup:
                    start = engine.now
                yield from rank.send(size)
                yield from rank.recv()
            latencies.append((engine.now - start) / (2 * iterations) / TICKS_PER_SECOND)

    def server(rank: Rank) -> Steps:
        for size in sizes:
            for _ in range(warmup + iterations):
                yield from rank.recv()
                yield from rank.send(size)

    _run(engine, ranks, client(ranks[0]), server(ranks[1]))
    return latencies


def _bandwidth(
    config: Config, sizes: list[int], iterations: int, warmup: int, window: int
) -> list[float]:
    engine, ranks = _machine(config)
    bandwidths = []

    def client(rank: Rank) -> Steps:
        for size in sizes:
            for iteration in range(warmup + iterations):
                if iteration == warmup:
                    start = engine.now
                requests = [Request() for _ in range(window)]
                for request in requests:
                    yield from rank.isend(size, request)
                yield from rank.waitall(requests)
                yield from rank.recv()
            seconds = (engine.now - start) / TICKS_PER_SECOND
            moved = size * window * iterations
            bandwidths.append(moved / seconds if seconds else float("inf"))

    def server(rank: Rank) -> Steps:
        for _ in sizes:
            for _ in range(warmup + iterations):
                requests = [Request() for _ in range(window)]
                for request in requests:
                    yield from rank.irecv(request)
                yield from rank.waitall(requests)
                yield from rank.send(CLOSING_BYTES)

    _run(engine, ranks, client(ranks[0]), server(ranks[1]))
    return bandwidths


def _machine(config: Config) -> tuple[Engine, list[Rank]]:
    """Build the two nodes and what is between them."""
    engine = Engine()
    interfaces: list[Interface]
    if config.network == "snappr":
        switch = snappr.Switch(engine, config)
        ports = [snappr.SnapprInterface(engine, config, node, switch) for node in range(2)]
        switch.interfaces = ports
        interfaces = [*ports]
    elif config.network == "pisces":
        crossbar = pisces.Switch(engine, config)
        buffers = [pisces.PiscesInterface(engine, config, node, crossbar) for node in range(2)]
        crossbar.interfaces = buffers
        interfaces = [*buffers]
    else:
        interfaces = [LogPInterface(engine, config, node) for node in range(2)]
    ranks = [Rank(engine, config, node, interfaces[node]) for node in range(2)]
    for node, interface in enumerate(interfaces):
        interface.rank = ranks[node]
        interface.peer = interfaces[1 - node]
    return engine, ranks


def _run(engine: Engine, ranks: list[Rank], *programs: Steps) -> None:
    for rank, program in zip(ranks, programs, strict=True):
        rank.start(program)
    engine.run()
    waiting = [node for node, rank in enumerate(ranks) if not rank.finished]
    if waiting:
        raise DeadlockError(f"no event is left, but ranks {waiting} still wait")
