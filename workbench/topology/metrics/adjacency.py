"""A topology's links as rows of neighbours, parallel ones merged, for metrics and kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class RouterGraph:
    """A network's links as rows of neighbours; a slot is one direction of a pair's links."""

    start: NDArray[np.int32]  # (routers + 1,) first slot of each router
    neighbour: NDArray[np.int32]  # (slots,) router at the other end, ascending within a row
    links: NDArray[np.int64]  # (slots,) number of parallel links
    capacity: NDArray[np.float64]  # (slots,) their capacities together; their number if alike
    hosts: NDArray[np.int64]  # (routers,) hosts of each router

    @classmethod
    def of(cls, topology: Topology, links: NDArray[np.bool_] | None = None) -> RouterGraph:
        """Return the graph of a topology with some of its links, bool[links]; None takes all."""
        ends = topology.links if links is None else topology.links[links]
        n = topology.num_routers
        key = np.concatenate((ends[:, 0], ends[:, 1])).astype(np.int64) * n
        key += np.concatenate((ends[:, 1], ends[:, 0]))
        pair, of_way, count = np.unique(key, return_inverse=True, return_counts=True)
        capacity = topology.capacity if links is None else topology.capacity[links]
        start = np.searchsorted(pair, np.arange(n + 1, dtype=np.int64) * n).astype(np.int32)
        return cls(
            start=start,
            neighbour=(pair % n).astype(np.int32),
            links=count,
            capacity=np.bincount(of_way, np.tile(capacity, 2), len(pair)).astype(np.float64),
            hosts=np.bincount(topology.host_router, minlength=n),
        )

    @property
    def num_routers(self) -> int:
        """Number of routers."""
        return len(self.hosts)

    @cached_property
    def tail(self) -> NDArray[np.int32]:
        """The router of each slot's row, int32[slots]."""
        routers = np.arange(self.num_routers, dtype=np.int32)
        return np.repeat(routers, np.diff(self.start))

    @cached_property
    def opposite(self) -> NDArray[np.int64]:
        """The slot of the other direction, int64[slots]."""
        # Rows are ascending: sorted by neighbour, then router, slots are the transposed rows.
        return np.lexsort((self.tail, self.neighbour))

    @property
    def degree(self) -> NDArray[np.float64]:
        """Capacity of each router's links to others, float64[routers]; their number if alike."""
        count = np.bincount(self.tail, weights=self.capacity, minlength=self.num_routers)
        return count.astype(np.float64)

    def matrix(self) -> Any:
        """Return the adjacency with the capacity between each pair, scipy's csr_array."""
        from scipy.sparse import csr_array

        n = self.num_routers
        return csr_array((self.capacity, self.neighbour, self.start), shape=(n, n))

    def components(self) -> NDArray[np.int32]:
        """Return the number of the connected part that each router is in, int32[routers]."""
        from scipy.sparse.csgraph import connected_components

        found: NDArray[np.int32] = connected_components(self.matrix(), directed=False)[1]
        return found

    def part(self, routers: NDArray[np.bool_]) -> RouterGraph:
        """Return the graph of some routers, bool[routers], renumbered in their order."""
        number = np.cumsum(routers, dtype=np.int32) - np.int32(1)
        kept = routers[self.tail] & routers[self.neighbour]
        rows = number[self.tail[kept]]
        n = int(routers.sum())
        start = np.searchsorted(rows, np.arange(n + 1)).astype(np.int32)
        return RouterGraph(
            start,
            number[self.neighbour[kept]],
            self.links[kept],
            self.capacity[kept],
            self.hosts[routers],
        )
