"""How many ways there are between two routers: shortest ones, and ones that share no link."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.topology.metrics.adjacency import RouterGraph
from workbench.topology.topology import Topology

PAIRS = 200
"""The default number of sampled pairs of routers."""


@dataclass(frozen=True, eq=False)
class PathDiversity:
    """Ways between pairs of different routers that have hosts, in a sample of the pairs.

    Attributes:
        source: int64[pairs], routers.
        target: int64[pairs], routers.
        shortest: float64[pairs], shortest routes between the two, parallel links counted.
        disjoint: int64[pairs], most routes of any length that share no link (Menger 1927).
        seed: of the sample.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    shortest: NDArray[np.float64]
    disjoint: NDArray[np.int64]
    seed: int | None

    @property
    def mean_shortest(self) -> float:
        """Mean number of shortest routes; nan where there is no pair."""
        return float(self.shortest.mean()) if len(self.shortest) else math.nan

    @property
    def mean_disjoint(self) -> float:
        """Mean number of routes that share no link; nan where there is no pair."""
        return float(self.disjoint.mean()) if len(self.disjoint) else math.nan

    @property
    def least_disjoint(self) -> float:
        """Fewest routes that share no link, of the sample; nan where there is no pair."""
        return float(self.disjoint.min()) if len(self.disjoint) else math.nan

    def __repr__(self) -> str:
        return (
            f"PathDiversity({len(self.source)} pairs: {self.mean_shortest:.3g} shortest routes, "
            f"{self.mean_disjoint:.3g} that share no link, {self.least_disjoint:g} at least)"
        )


def path_diversity(
    topology: Topology,
    *,
    pairs: int = PAIRS,
    rng: np.random.Generator | int | None = 0,
) -> PathDiversity:
    """Count the routes between pairs of routers that are drawn at random.

    Args:
        topology: the network.
        pairs: how many pairs to draw; all of them where there are no more.
        rng: random generator or seed, of the draw.

    Raises:
        ParameterError: ``pairs`` is below 1.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    from kernels import paths as kernel

    pairs = whole(pairs, "pairs", 1)
    graph = RouterGraph.of(topology)
    source, target = _drawn(np.flatnonzero(graph.hosts), pairs, np.random.default_rng(rng))
    n = graph.num_routers
    distance, order = np.empty(n, np.int32), np.empty(n, np.int32)
    count = np.empty(n, np.float64)
    shortest = np.empty(len(source))
    disjoint = np.empty(len(source), np.int64)
    links = graph.links.astype(np.float64)
    capacity = csr_array((graph.links.astype(np.int32), graph.neighbour, graph.start), shape=(n, n))
    for i, (here, there) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        kernel.count_paths(graph.start, graph.neighbour, links, here, distance, count, order)
        shortest[i] = count[there]
        disjoint[i] = maximum_flow(capacity, here, there).flow_value
    seed = rng if isinstance(rng, int) else None
    return PathDiversity(source, target, shortest, disjoint, seed)


def _drawn(
    routers: NDArray[np.int64], pairs: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of different routers, each pair once and in one order."""
    n = len(routers)
    every = n * (n - 1) // 2
    if every <= 4 * pairs:
        one, other = np.triu_indices(n, 1)
        chosen = np.sort(rng.permutation(every)[:pairs])
        return routers[one[chosen]], routers[other[chosen]]
    drawn: dict[tuple[int, int], None] = {}
    while len(drawn) < pairs:
        one, other = sorted(rng.choice(n, 2, replace=False).tolist())
        drawn[one, other] = None
    ends = np.array(list(drawn))
    return routers[ends[:, 0]], routers[ends[:, 1]]
