"""Times of a collective as a function of a few parameters of the machine.

``RoundModel`` adds up the rounds of a known algorithm. Two models know no algorithm:
``GrowthModel`` adds terms that grow with the number of ranks and the bytes in each way that
algorithms have, and ``PowerModel`` lets the latency and the time of a byte grow with powers of the
number of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.parameters import Parameter
from workbench.programs.collectives.registry import ALGORITHMS, find_algorithm
from workbench.suggestions import did_you_mean
from workbench.uq.collectives.round_costs import CollectivePlaces, round_costs

MOST_NODES = 2**17
"""The most nodes of a test."""

WHOLE_VECTOR = ("allreduce", "bcast", "reduce")
"""Collectives whose blocks are pieces of one vector that all ranks share."""


@dataclass(frozen=True)
class CollectiveTest:
    """One row of a benchmark: a collective on some nodes with blocks of one size.

    Attributes:
        nodes: number of nodes.
        block_bytes: of a block: what a rank sends to one other, or the whole vector of an
            allreduce, bcast or reduce.
        ranks_per_node: at least two ranks in all.
        shape: of the torus whose first nodes these are, None where they are on none.
        topology: spec of another network whose first hosts the nodes are, such as ``fat-tree:16``.

    Raises:
        ParameterError: there are fewer than two ranks, too many nodes, or no bytes; or the torus or
            the topology has too few.
    """

    nodes: int
    block_bytes: int
    ranks_per_node: int = 1
    shape: tuple[int, ...] | None = None
    topology: str = ""

    def __post_init__(self) -> None:
        whole(self.nodes, "nodes", 1, MOST_NODES)
        whole(self.block_bytes, "block_bytes", 1)
        whole(self.ranks_per_node, "ranks_per_node", 1)
        if self.ranks < 2:
            raise ParameterError(
                f"a collective needs two ranks or more; got {self.nodes} node with "
                f"{self.ranks_per_node} rank; give more nodes",
                key="nodes",
            )
        self.places  # noqa: B018 - refuses a topology that has too few hosts

    @property
    def places(self) -> CollectivePlaces:
        """Where the ranks are."""
        return CollectivePlaces(self.nodes, self.ranks_per_node, self.shape, self.topology)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.nodes * self.ranks_per_node

    @property
    def label(self) -> str:
        """A few words for tables."""
        where = "x".join(map(str, self.shape)) if self.shape else self.topology
        return f"{self.nodes} nodes{f' ({where})' if where else ''}, {self.block_bytes} B"


class CollectiveModel(Protocol):
    """Times of tests as a function of positive parameters."""

    @property
    def name(self) -> str:
        """How the model is asked for."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, in the order of the columns of ``values``."""

    def times(self, values: FloatArray, tests: Sequence[CollectiveTest]) -> FloatArray:
        """Return the times in s, float64[n, tests], for float64[n, parameters]."""

    def __hash__(self) -> int:
        """Return a number that equal models share: a fit of one is kept for the next who asks."""


def _positive(name: str, unit: str, low: float, high: float, start: float) -> Parameter:
    """Return a parameter with the widest range that makes sense, and where a fit starts."""
    return Parameter(name, unit, low, high, log=True, value=start)


def reach_of(parameter: Parameter) -> float:
    """Return the factor, either way, within which one is searched around a first fit.

    Shares of links have their whole range: a first fit may mistake noise for congestion.
    """
    if parameter.key in ("cost of shared links", "ties that go the same way"):
        return float("inf")
    return 1.5 if parameter.key.startswith("power of") else 4.0


_LARGE_BUFFERS = (
    _positive("slowdown of large buffers", "", 5e-2, 3.0, 0.3),
    _positive("size of large buffers", "B", 1e7, 3e9, 2e8),
)


def _slower(
    large: Sequence[FloatArray],  # slowdown and size, [n, 1]
    collective: str,
    tests: Sequence[CollectiveTest],
) -> FloatArray:
    """Return the factor of the time of a byte by a rank's whole buffer, float64[n, tests]."""
    slowdown, size = large
    blocks = [1 if collective in WHOLE_VECTOR else test.ranks for test in tests]
    buffer = np.array([test.block_bytes for test in tests], np.float64) * blocks
    return np.asarray(1.0 + slowdown * buffer / (buffer + size))


@dataclass(frozen=True)
class RoundModel:
    """The rounds of an algorithm one after another.

    A round takes its latency, a gap for each further message of the busiest node, and its bytes
    over the bandwidth. An injection engine has that bandwidth; a node's engines share its messages,
    but one message has one engine. Blocks on the busiest link beyond those of the busiest engine
    add a share of their time; of the messages on a torus that may go either way round, a share
    takes the same way. The latency rises by that of rendezvous as messages grow beyond its size,
    and the time of a byte as the whole buffer of a rank grows beyond its size, both smoothly.
    """

    collective: str
    algorithm: str

    parameters = (
        _positive("latency of a round", "s", 1e-7, 1e-3, 2e-6),
        _positive("gap between messages", "s", 1e-9, 1e-4, 3e-7),
        _positive("latency of rendezvous", "s", 1e-9, 1e-2, 2e-6),
        _positive("size of rendezvous", "B", 64.0, 1e7, 1e4),
        _positive("bandwidth of an engine", "B/s", 1e7, 1e12, 5e9),
        _positive("engines of a node", "", 1.0, 6.0, 1.5),
        _positive("cost of shared links", "", 1e-2, 1.5, 0.3),
        _positive("ties that go the same way", "", 1e-2, 1.0, 0.3),
        *_LARGE_BUFFERS,
    )

    @property
    def name(self) -> str:
        """How the model is asked for."""
        return f"rounds:{self.algorithm}"

    def times(self, values: FloatArray, tests: Sequence[CollectiveTest]) -> FloatArray:
        """Return the times in s, float64[n, tests], for float64[n, parameters]."""
        columns = (column[:, None] for column in np.atleast_2d(values).T)
        latency, gap, rendezvous, size, bandwidth, engines, sharing, ties, *large = columns
        costs = _side_by_side(self.collective, self.algorithm, tuple(tests))
        busy = np.maximum(costs.blocks / np.minimum(engines, costs.messages), costs.largest)
        link = costs.link_blocks + ties * costs.turned
        blocks = busy + sharing * np.maximum(link - busy, 0.0)
        byte = _slower(large, self.collective, tests) / bandwidth
        rounds = latency + gap * (costs.messages - 1)
        rounds = rounds + costs.block * blocks * byte[:, costs.test]
        rounds = rounds + rendezvous * costs.message / (costs.message + size)
        parts = np.split(rounds, costs.ends[:-1], axis=1)
        # Copied, as a product of rows that are apart rounds in another order.
        sums = [part.copy() @ count for part, count in zip(parts, costs.count, strict=True)]
        return np.stack(sums, axis=1)


@dataclass(frozen=True, eq=False)
class _SideBySide:
    """The kinds of rounds of several tests, one after another, as in ``RoundCosts``."""

    test: NDArray[np.intp]  # (kinds,) number of the test
    ends: NDArray[np.intp]  # (tests,) kinds up to the end of each
    count: list[FloatArray]  # of each test
    messages: FloatArray  # (kinds,)
    blocks: FloatArray  # (kinds,)
    largest: FloatArray  # (kinds,)
    link_blocks: FloatArray  # (kinds,)
    turned: FloatArray  # (kinds,) further blocks where all ties go upwards
    block: FloatArray  # (kinds,) bytes of a block
    message: FloatArray  # (kinds,) bytes of a message


# Tests one after another took 5 times as long, for 24 of them.
@lru_cache(maxsize=64)
def _side_by_side(
    collective: str, algorithm: str, tests: tuple[CollectiveTest, ...]
) -> _SideBySide:
    """Return the rounds of an algorithm in some tests."""
    costs = [round_costs(collective, algorithm, test.places) for test in tests]
    kinds = [len(one.count) for one in costs]
    cut = [one.split if collective in WHOLE_VECTOR else 1 for one in costs]
    sizes = [test.block_bytes / parts for test, parts in zip(tests, cut, strict=True)]
    number = np.repeat(np.arange(len(tests)), kinds)
    block = np.array(sizes)[number]
    messages, blocks, largest, link, tied = (
        np.concatenate([getattr(one, name) for one in costs])
        for name in ("messages", "blocks", "largest", "link_blocks", "tied_blocks")
    )
    return _SideBySide(
        test=number,
        ends=np.cumsum(kinds),
        count=[one.count for one in costs],
        messages=messages,
        blocks=blocks,
        largest=largest,
        link_blocks=link,
        turned=tied - link,
        block=block,
        message=block * blocks / messages,
    )


@dataclass(frozen=True)
class PowerModel:
    """A latency and a time of a byte that grow with powers of the number of ranks.

    The latency of rendezvous grows as the latency does. Time of a block of b bytes among p ranks:
    p^x (latency + rendezvous b / (b + size)) + b (p - 1)^y time per byte. With ``links`` the time
    per byte is that of one link, and all links of a node of the torus share the bytes: two along
    each dimension, one where it has two nodes. It rises for large buffers as ``RoundModel``'s does.
    """

    collective: str
    links: bool = False

    parameters = (
        _positive("latency", "s", 1e-8, 1e-2, 2e-6),
        _positive("power of the latency", "", 0.03, 1.5, 0.4),
        _positive("latency of rendezvous", "s", 1e-9, 1e-2, 2e-6),
        _positive("size of rendezvous", "B", 64.0, 1e7, 1e4),
        _positive("time per byte", "s/B", 1e-13, 1e-7, 2e-10),
        _positive("power of the time per byte", "", 0.03, 1.6, 0.7),
        *_LARGE_BUFFERS,
    )

    @property
    def name(self) -> str:
        """How the model is asked for."""
        return "power-of-links" if self.links else "power"

    def times(self, values: FloatArray, tests: Sequence[CollectiveTest]) -> FloatArray:
        """Return the times in s, float64[n, tests], for float64[n, parameters]."""
        ranks = np.array([test.ranks for test in tests], np.float64)
        block = np.array([test.block_bytes for test in tests], np.float64)
        columns = (column[:, None] for column in np.atleast_2d(values).T)
        latency, growth, rendezvous, size, byte, byte_growth, *large = columns
        byte = byte * _slower(large, self.collective, tests)
        start = ranks**growth * (latency + rendezvous * block / (block + size))
        if self.links:
            byte = byte / [_links(test) for test in tests]
        found: FloatArray = start + block * byte * (ranks - 1) ** byte_growth
        return found


@dataclass(frozen=True)
class GrowthModel:
    """Terms that grow with the ranks as the costs of algorithms do: with log2 and with the number.

    A latency and a time per byte of each kind; the latency of rendezvous counts log2 of the ranks.
    """

    name = "growth"

    parameters = (
        _positive("latency per doubling", "s", 1e-8, 1e-3, 2e-6),
        _positive("latency per rank", "s", 1e-12, 1e-4, 1e-8),
        _positive("latency of rendezvous", "s", 1e-9, 1e-2, 2e-6),
        _positive("size of rendezvous", "B", 64.0, 1e7, 1e4),
        _positive("time per byte", "s/B", 1e-13, 1e-7, 2e-10),
        _positive("time per byte and doubling", "s/B", 1e-14, 1e-7, 1e-11),
        _positive("time per byte and rank", "s/B", 1e-16, 1e-7, 1e-12),
    )

    def times(self, values: FloatArray, tests: Sequence[CollectiveTest]) -> FloatArray:
        """Return the times in s, float64[n, tests], for float64[n, parameters]."""
        ranks = np.array([test.ranks for test in tests], np.float64)
        block = np.array([test.block_bytes for test in tests], np.float64)
        doublings = np.log2(ranks)
        columns = (column[:, None] for column in np.atleast_2d(values).T)
        per_doubling, per_rank, rendezvous, size, byte, byte_doubling, byte_rank = columns
        latency = per_doubling + rendezvous * block / (block + size)
        per_byte = byte + byte_doubling * doublings + byte_rank * (ranks - 1)
        found: FloatArray = latency * doublings + per_rank * (ranks - 1) + block * per_byte
        return found


def _links(test: CollectiveTest) -> int:
    """Return the links of a node; those of a torus of three dimensions where there is no shape."""
    return sum(min(size - 1, 2) for size in test.shape or (3, 3, 3))


_SAME = {
    "basic-linear": ("sequential", "linear"),
    "linear-sync": ("sequential", "linear"),
    "linear-synch": ("sequential", "linear"),
    "simple": ("linear",),
    "linear-nb": ("linear",),
    "neighbor": ("neighbour-exchange",),
    "pairwise-exchange": ("pairwise",),
    "binary-tree": ("binary",),
    "binomial": ("binomial", "binomial-doubling"),
    "chain": ("chain", "chains:3", "chains:4"),
}
"""Algorithms here that a label of a library may mean."""


def known_algorithms(collective: str, label: str) -> tuple[str, ...]:
    """Return the algorithms here that a benchmark's label may mean, none where it is unknown.

    Labels of the data: ``default-binomial``, ``recursive_doubling_ompi``, ``ring_over``.
    """
    words = label.lower().replace("_", "-").removeprefix("default-")
    for ending in ("-ompi", "-mpich", "-over"):
        words = words.removesuffix(ending)
    known = ALGORITHMS.get(collective, {})
    return tuple(one for one in _SAME.get(words, (words,)) if one.partition(":")[0] in known)


def models_of(collective: str, label: str, on_torus: bool = False) -> tuple[CollectiveModel, ...]:
    """Return the models that may describe a collective, those of its algorithm first if known.

    A label that names no algorithm here leaves the models without one.
    """
    algorithms = known_algorithms(collective, label) if label else _USUAL.get(collective, ())
    rounds = (RoundModel(collective, name) for name in algorithms)
    others = _without_algorithm(collective)
    return *rounds, *(others if on_torus else others[:-1])


def model_named(name: str, collective: str) -> CollectiveModel:
    """Return the model of a name such as ``rounds:binomial`` or ``growth``."""
    kind, colon, algorithm = name.partition(":")
    others = {one.name: one for one in _without_algorithm(collective)}
    if name in others:
        return others[name]
    if kind == "rounds" and colon:
        return RoundModel(collective, find_algorithm(collective, algorithm).label)
    raise ParameterError(
        f"model must be {', '.join(others)} or rounds:ALGORITHM, such as rounds:binomial; got "
        f"{name!r}{did_you_mean(name, (*others, 'rounds:binomial', 'rounds:ring'))}",
        key="model",
    )


def candidates_of(collective: str, label: str) -> tuple[CollectiveModel, ...]:
    """Return all models that may describe a collective whose algorithm is unknown.

    That of the label is among them, if the label names one; of the models without an algorithm,
    ``growth``.
    """
    models = (one for each in (label, "") for one in models_of(collective, each))
    rounds = {one.name: one for one in models if isinstance(one, RoundModel)}
    return *rounds.values(), GrowthModel()


def _without_algorithm(collective: str) -> tuple[CollectiveModel, ...]:
    """Return the models that need no algorithm; the last one needs a torus."""
    return GrowthModel(), PowerModel(collective), PowerModel(collective, links=True)


_USUAL = {
    "allreduce": ("recursive-doubling", "ring", "rabenseifner", "reduce-bcast"),
    "allgather": ("ring", "recursive-doubling", "bruck"),
    "bcast": ("binomial", "scatter-allgather"),
    "reduce": ("binomial", "rabenseifner"),
    "gather": ("binomial", "linear"),
    "scatter": ("binomial", "linear"),
    "alltoall": ("pairwise", "bruck"),
    "reduce_scatter": ("recursive-halving", "ring"),
}
