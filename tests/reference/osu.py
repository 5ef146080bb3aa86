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
    """Latency (half round trip, seconds) and bandwidth (bytes/s), one of each per size.

    The others say for each size whether the clock was set back while the test ran it.
    """

    latency_s: list[float]
    bandwidth_Bps: list[float]
    latency_ran_back: list[bool]
    bandwidth_ran_back: list[bool]


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
    simulation for each size. Each test is a program of its own: it is launched on an idle network
    and begins with MPI_Init. A barrier stands before each size of the latency test, none before
    those of the bandwidth test.

    Raises:
        DeadlockError: A packet waits for credits that cannot come.
    """
    groups = [[size] for size in sizes] if fresh else [list(sizes)]
    figures = OsuFigures([], [], [], [])
    for group in groups:
        latencies, ran_back = _latency(config, group, iterations, warmup)
        figures.latency_s.extend(latencies)
        figures.latency_ran_back.extend(ran_back)
        rates, ran_back = _bandwidth(config, group, iterations, warmup, window)
        figures.bandwidth_Bps.extend(rates)
        figures.bandwidth_ran_back.extend(ran_back)
    return figures


def _latency(
    config: Config, sizes: list[int], iterations: int, warmup: int
) -> tuple[list[float], list[bool]]:
    engine, ranks = _machine(config)
    latencies, ran_back = [], []

    def client(rank: Rank) -> Steps:
        yield from rank.init()
        for size in sizes:
            yield from rank.barrier()
            for iteration in range(warmup + iterations):
                if iteration == warmup:
                    start = engine.now
                yield from rank.send(size)
                yield from rank.recv()
            latencies.append((engine.now - start) / (2 * iterations) / TICKS_PER_SECOND)
            ran_back.append(engine.ran_back)
            engine.ran_back = False

    def server(rank: Rank) -> Steps:
        yield from rank.init()
        for size in sizes:
            yield from rank.barrier()
            for _ in range(warmup + iterations):
                yield from rank.recv()
                yield from rank.send(size)

    _run(engine, ranks, client(ranks[0]), server(ranks[1]))
    return latencies, ran_back


def _bandwidth(
    config: Config, sizes: list[int], iterations: int, warmup: int, window: int
) -> tuple[list[float], list[bool]]:
    engine, ranks = _machine(config)
    bandwidths, ran_back = [], []

    def client(rank: Rank) -> Steps:
        yield from rank.init()
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
            ran_back.append(engine.ran_back)
            engine.ran_back = False

    def server(rank: Rank) -> Steps:
        yield from rank.init()
        for _ in sizes:
            for _ in range(warmup + iterations):
                requests = [Request() for _ in range(window)]
                for request in requests:
                    yield from rank.irecv(request)
                yield from rank.waitall(requests)
                yield from rank.send(CLOSING_BYTES)

    _run(engine, ranks, client(ranks[0]), server(ranks[1]))
    return bandwidths, ran_back


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
        rank.load(program)
    ranks[0].request_launch()
    engine.run()
    waiting = [node for node, rank in enumerate(ranks) if not rank.finished]
    if waiting:
        raise DeadlockError(f"no event is left, but ranks {waiting} still wait")
