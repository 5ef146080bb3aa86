"""Times of a collective as a function of a few parameters of the machine.

``RoundModel`` adds up the rounds of a known algorithm; ``GrowthModel`` knows no algorithm and adds
terms that grow with the number of ranks and the bytes in each way that algorithms have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.programs.collectives.registry import ALGORITHMS, find_algorithm
from workbench.suggestions import did_you_mean
from workbench.uq.collectives.round_costs import round_costs

FloatArray = NDArray[np.float64]

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
        shape: of the torus that the nodes are, None where they are none.

    Raises:
        ParameterError: there are fewer than two ranks, too many nodes, or no bytes.
    """

    nodes: int
    block_bytes: int
    ranks_per_node: int = 1
    shape: tuple[int, ...] | None = None

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

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.nodes * self.ranks_per_node

    @property
    def label(self) -> str:
        """A few words for tables."""
        shape = f" ({'x'.join(map(str, self.shape))})" if self.shape else ""
        return f"{self.nodes} nodes{shape}, {self.block_bytes} B"


@dataclass(frozen=True)
class CollectiveParameter:
    """A parameter of a model of collectives, with the widest range that makes sense."""

    name: str
    unit: str
    low: float
    high: float
    start: float


class CollectiveModel(Protocol):
    """Times of tests as a function of positive parameters."""

    @property
    def name(self) -> str:
        """How the model is asked for."""

    @property
    def parameters(self) -> tuple[CollectiveParameter, ...]:
        """The parameters, in the order of the columns of ``values``."""

    def times(self, values: FloatArray, tests: Sequence[CollectiveTest]) -> FloatArray:
        """Return the times in s, float64[n, tests], for float64[n, parameters]."""


@dataclass(frozen=True)
class RoundModel:
    """The rounds of an algorithm one after another.

    A round takes its latency, a gap for each further message of the busiest rank, and its bytes
    over the bandwidth. Blocks on the busiest link beyond those of the busiest rank add a share of
    their time. The latency rises by that of rendezvous as messages grow beyond its size, smoothly.
    """

    collective: str
    algorithm: str

    parameters = (
        CollectiveParameter("latency of a round", "s", 1e-7, 1e-3, 2e-6),
        CollectiveParameter("gap between messages", "s", 1e-9, 1e-4, 3e-7),
        CollectiveParameter("latency of rendezvous", "s", 1e-9, 1e-2, 2e-6),
        CollectiveParameter("size of rendezvous", "B", 64.0, 1e7, 1e4),
        CollectiveParameter("bandwidth of a node", "B/s", 1e7, 1e12, 5e9),
        CollectiveParameter("cost of shared links", "", 1e-2, 2.0, 0.3),
    )

    @property
    def name(self) -> str:
        """How the model is asked for."""
        return f"rounds:{self.algorithm}"

    def times(self, values: FloatArray, tests: Sequence[CollectiveTest]) -> FloatArray:
        """Return the times in s, float64[n, tests], for float64[n, parameters]."""
        columns = (column[:, None] for column in np.atleast_2d(values).T)
        latency, gap, rendezvous, size, bandwidth, sharing = columns
        found = []
        for test in tests:
            costs = round_costs(self.collective, self.algorithm, test.ranks, test.shape)
            block = test.block_bytes / (costs.split if self.collective in WHOLE_VECTOR else 1)
            message = block * costs.blocks / costs.messages
            blocks = costs.blocks + sharing * np.maximum(costs.link_blocks - costs.blocks, 0.0)
            rounds = latency + gap * (costs.messages - 1) + block * blocks / bandwidth
            rounds = rounds + rendezvous * message / (message + size)
            found.append(rounds @ costs.count)
        return np.stack(found, axis=1)


@dataclass(frozen=True)
class GrowthModel:
    """Terms that grow with the ranks as the costs of algorithms do: with log2 and with the number.

    A latency and a time per byte of each kind; the latency of rendezvous counts log2 of the ranks.
    """

    name = "growth"

    parameters = (
        CollectiveParameter("latency per doubling", "s", 1e-8, 1e-3, 2e-6),
        CollectiveParameter("latency per rank", "s", 1e-12, 1e-4, 1e-8),
        CollectiveParameter("latency of rendezvous", "s", 1e-9, 1e-2, 2e-6),
        CollectiveParameter("size of rendezvous", "B", 64.0, 1e7, 1e4),
        CollectiveParameter("time per byte", "s/B", 1e-13, 1e-7, 2e-10),
        CollectiveParameter("time per byte and doubling", "s/B", 1e-14, 1e-7, 1e-11),
        CollectiveParameter("time per byte and rank", "s/B", 1e-16, 1e-7, 1e-12),
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


_SAME = {
    "basic-linear": "linear",
    "simple": "linear",
    "neighbor": "neighbour-exchange",
    "pairwise-exchange": "pairwise",
}


def known_algorithm(collective: str, label: str) -> str:
    """Return the algorithm here that a benchmark's label names, empty where it is unknown.

    Labels of the data: ``default-binomial``, ``recursive_doubling_ompi``, ``ring_over``.
    """
    words = label.lower().replace("_", "-").removeprefix("default-")
    for ending in ("-ompi", "-mpich", "-over"):
        words = words.removesuffix(ending)
    words = _SAME.get(words, words)
    return words if words in ALGORITHMS.get(collective, {}) else ""


def models_of(collective: str, label: str) -> tuple[CollectiveModel, ...]:
    """Return the models that may describe a collective, that of its algorithm first if known."""
    algorithm = known_algorithm(collective, label)
    if algorithm:
        return RoundModel(collective, algorithm), GrowthModel()
    usual = (RoundModel(collective, name) for name in _USUAL.get(collective, ()))
    return *usual, GrowthModel()


def model_named(name: str, collective: str) -> CollectiveModel:
    """Return the model of a name such as ``rounds:binomial`` or ``growth``."""
    kind, colon, algorithm = name.partition(":")
    if name == GrowthModel.name:
        return GrowthModel()
    if kind == "rounds" and colon:
        return RoundModel(collective, find_algorithm(collective, algorithm).label)
    raise ParameterError(
        f"model must be growth or rounds:ALGORITHM, such as rounds:binomial; got {name!r}"
        f"{did_you_mean(name, ('growth', 'rounds:binomial', 'rounds:ring'))}",
        key="model",
    )


def candidates_of(collective: str, label: str) -> tuple[CollectiveModel, ...]:
    """Return all models that may describe a collective whose algorithm is unknown.

    That of the label is among them, if the label names one.
    """
    found = {one.name: one for label in (label, "") for one in models_of(collective, label)}
    growth = found.pop(GrowthModel.name)
    return *found.values(), growth


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
