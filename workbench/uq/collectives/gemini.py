"""Collectives on a Gemini-like torus: an analytic model of rounds, with the links that they share.

    machine = GeminiCollective("gather", paper_tests("gather"))
    machine(np.array([NOMINAL]))  # times[1, 28] in s

No packet is simulated. In each round of an algorithm of ``workbench.programs.collectives`` the
messages' bytes are added up on the links of their dimension-order ways. A message then takes

    rendezvous + injection latency + links x hop latency + one packet at the injection bandwidth
    + bytes / (the least of the bandwidth of a message and its share of the busiest link)

and starts when its sender has received what it passes on and both ends are done with their earlier
messages. The rendezvous is one short message (SMSG). The parameters are those of Wilke et al.,
Table 3; the tests those of their section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernels.uq.torus_loads import add_messages, busiest_on_way
from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.parameters import Parameter
from workbench.programs.collectives.registry import find_algorithm
from workbench.programs.collectives.rounds import CollectiveCase
from workbench.suggestions import did_you_mean
from workbench.uq.collectives.models import CollectiveTest
from workbench.uq.parameters import ParameterBox

ALGORITHM_OF = {"allgather": "ring", "gather": "binomial", "scatter": "binomial"}
"""The algorithm of each collective: a ring, or a tree."""

BOX = ParameterBox(
    (
        Parameter("Max BW", "B/s", 1.6e9, 2.0e9),
        Parameter("Link BW", "B/s", 2.0e9, 2.9e9),
        Parameter("Hop Lat", "s", 50e-9, 150e-9),
        Parameter("Inj Lat", "s", 0.3e-6, 0.9e-6),
        Parameter("Inj BW", "B/s", 5e9, 9e9),
        Parameter("SMSG Lat", "s", 0.25e-6, 0.75e-6),
        Parameter("SMSG BW", "B/s", 6e9, 10e9),
    )
)
"""Table 3's parameters; only the range of Link BW is printed there, the others are ours."""

NOMINAL = (1.8e9, 2.45e9, 100e-9, 0.6e-6, 7e9, 0.5e-6, 8e9)
"""Table 3's nominal values, the middle of its range for Link BW; in the order of ``BOX``."""

PACKET_BYTES = 1024
"""Of a coarse model's packet, such as 1 KB (Wilke et al., section 4)."""

SMSG_BYTES = 64
"""Of a message that announces another: fast memory access is for 8 to 64 B (the same, 5)."""

KIB = 1024  # B


@dataclass(frozen=True)
class TorusPlaces:
    """A torus whose routers have the nodes in order, the last dimension the fastest.

    Attributes:
        shape: routers along each dimension.
        hosts: nodes of a router.
        parallel: links side by side along each dimension.
        seed: draws which nodes the ranks get; None gives rank r node r.
        shuffled: whether drawn nodes get ranks in random order, and not in the torus' order.
    """

    shape: tuple[int, ...]
    hosts: int = 1
    parallel: tuple[int, ...] = ()
    seed: int | None = None
    shuffled: bool = False

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return prod(self.shape) * self.hosts

    def of_ranks(self, ranks: int) -> NDArray[np.int64]:
        """Return the node of each rank, int64[ranks]; router r has those from r x hosts on."""
        nodes = np.arange(self.nodes)
        if self.seed is not None:
            nodes = np.random.default_rng(self.seed).permutation(nodes)[:ranks]
            nodes = nodes if self.shuffled else np.sort(nodes)
        return np.asarray(nodes[:ranks], np.int64)

    def routers(self, ranks: int) -> NDArray[np.int64]:
        """Return the router of each rank, int64[ranks]."""
        return self.of_ranks(ranks) // self.hosts


HOPPER = TorusPlaces((17, 8, 24), 2, (2, 1, 2), seed=0)
"""Hopper's torus, as ``topology.preset("hopper")`` has it.

Which nodes the paper's jobs had is not published; these are random ones, in the torus' order.
"""

SHUFFLED_HOPPER = TorusPlaces((17, 8, 24), 2, (2, 1, 2), seed=0, shuffled=True)
"""The same with ranks in random order, so that a ring's messages share links."""

SCALED_HOPPER = TorusPlaces((32, 32, 32), 2, (2, 1, 2))
"""A torus of 65,536 nodes with Hopper's links; the paper does not print its shape."""


@dataclass(frozen=True, eq=False)
class _Way:
    """The messages of a round, one an entry."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    blocks: FloatArray
    busiest: FloatArray  # blocks over the busiest link, per parallel link
    links: FloatArray


def paper_tests(collective: str) -> tuple[CollectiveTest, ...]:
    """Return the paper's tests of a collective: 20 of an allgather, 28 of a gather or scatter."""
    _check_name(collective)
    nodes = [128, 192, 256, 384, 512] + ([] if collective == "allgather" else [1024, 2048])
    return tuple(CollectiveTest(n, kib * KIB) for n in nodes for kib in (8, 16, 24, 32))


def figure_tests(collective: str) -> tuple[CollectiveTest, ...]:
    """Return the 20 tests on 128 to 512 nodes that the paper's figures 1 to 3 show."""
    return tuple(test for test in paper_tests(collective) if test.nodes <= 512)


@dataclass(frozen=True)
class GeminiCollective:
    """Times of a collective's tests as a function of the parameters of ``BOX``.

    Times are those of the root, or of the last rank of an allgather.

    Attributes:
        collective: ``allgather``, ``gather`` or ``scatter``.
        tests: their nodes and bytes; one rank a node.
        places: where the nodes are.
        sharpness: inf lets a message feel the slower of its own limit and the link's share alone;
            with a finite p both add up as a p-norm: a link slows messages before it is full.
        ring_waits: whether each round of a ring waits for the slowest message of all. Else a block
            passes the messages of the ring one after another, and all rounds the busiest link.
    """

    collective: str
    tests: tuple[CollectiveTest, ...]
    places: TorusPlaces = HOPPER
    sharpness: float = np.inf
    ring_waits: bool = True

    def __post_init__(self) -> None:
        check_fit(self.collective, self.tests, self.places)

    def __call__(self, values: ArrayLike) -> FloatArray:
        """Return the times in s, float64[n, tests], for float64[n, 7] in the order of ``BOX``."""
        rows = BOX.columns(values, "values").reshape(-1, len(BOX))
        out = np.empty((len(rows), len(self.tests)))
        for at, test in enumerate(self.tests):
            # about 2**22 times of messages at once
            for part in np.array_split(np.arange(len(rows)), -(-len(rows) * test.ranks // 2**22)):
                out[part, at] = self._times(rows[part], test)
        return out

    @property
    def about(self) -> str:
        """What is simulated, for captions."""
        soft = "" if np.isinf(self.sharpness) else " whose links slow messages before they are full"
        return f"an analytic model of rounds{soft}"

    def _times(self, rows: FloatArray, test: CollectiveTest) -> FloatArray:
        """Return the times of one test in s, float64[n]."""
        ways = _ways(self.collective, test.ranks, self.places)
        if self.collective == "allgather":  # each round is the first again, one after another
            took = self._messages(rows, ways[0], test.block_bytes)
            if self.ring_waits:
                return np.asarray((test.ranks - 1) * took.max(axis=1))
            wire = self._wire(rows, ways[0], test.block_bytes).max(axis=1)
            around = took.sum(axis=1) - took.min(axis=1)
            return np.asarray(np.maximum(around, (test.ranks - 1) * wire))
        ready = np.zeros((len(rows), test.ranks))
        for way in ways:
            took = self._messages(rows, way, test.block_bytes)
            end = np.maximum(ready[:, way.source], ready[:, way.target]) + took
            ready[:, way.source] = ready[:, way.target] = end
        return ready[:, 0].copy()

    def _messages(self, rows: FloatArray, way: _Way, block_bytes: int) -> FloatArray:
        """Return what each message takes in s, float64[n, messages]."""
        _, _, hop, latency, inj_bw, smsg, smsg_bw = (c[:, None] for c in rows.T)
        wire = self._wire(rows, way, block_bytes)
        packet = np.minimum(PACKET_BYTES, block_bytes * way.blocks) / inj_bw
        rendezvous = smsg + SMSG_BYTES / smsg_bw + way.links * hop
        found: FloatArray = rendezvous + latency + way.links * hop + packet + wire
        return found

    def _wire(self, rows: FloatArray, way: _Way, block_bytes: int) -> FloatArray:
        """Return what the bytes of each message take in s, float64[n, messages]."""
        max_bw, link_bw = rows[:, :1], rows[:, 1:2]
        alone: FloatArray = block_bytes * way.blocks / max_bw
        shared: FloatArray = block_bytes * way.busiest / link_bw
        if np.isinf(self.sharpness):
            return np.asarray(np.maximum(alone, shared))
        found: FloatArray = alone * (1 + (shared / alone) ** self.sharpness) ** (1 / self.sharpness)
        return found


@lru_cache(maxsize=64)
def _ways(collective: str, ranks: int, places: TorusPlaces) -> tuple[_Way, ...]:
    """Return the rounds of the algorithm with their ways; the first alone of a ring."""
    found = []
    sizes, routers = np.array(places.shape), places.routers(ranks)
    parallel = np.array(places.parallel or (1,) * len(sizes), np.float64)
    algorithm = find_algorithm(collective, ALGORITHM_OF[collective])
    for one in algorithm.rounds(CollectiveCase(ranks)):
        ends = routers[one.source], routers[one.target]
        load = np.zeros((prod(places.shape), len(sizes), 2))
        blocks = one.counts.astype(np.float64)
        add_messages(sizes, *ends, blocks, load)
        load /= parallel[:, None]
        busiest, links = np.empty(len(blocks)), np.empty(len(blocks), np.int64)
        busiest_on_way(sizes, *ends, load, busiest, links)
        found.append(_Way(one.source, one.target, blocks, busiest, links.astype(np.float64)))
        if collective == "allgather":
            break
    return tuple(found)


def check_fit(collective: str, tests: Sequence[CollectiveTest], places: TorusPlaces) -> None:
    """Refuse a collective that is none of the three, and tests with more ranks than nodes."""
    _check_name(collective)
    for test in tests:
        if test.ranks > places.nodes:
            raise ParameterError(
                f"a test must fit the torus' {places.nodes} nodes; got {test.ranks} ranks; give "
                "fewer nodes or a larger torus",
                key="nodes",
            )


def _check_name(collective: str) -> None:
    if collective not in ALGORITHM_OF:
        raise ParameterError(
            f"collective must be one of {', '.join(ALGORITHM_OF)}; got {collective!r}"
            f"{did_you_mean(collective, ALGORITHM_OF)}",
            key="collective",
        )
