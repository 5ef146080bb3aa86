"""How far apart routers and hosts are: histogram, diameter, average; and the shortest cycle."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench.arrays import IntArray
from workbench.errors import SimulationHalted
from workbench.tasks import Task, task_of
from workbench.topology.metrics.adjacency import RouterGraph
from workbench.topology.topology import Topology

_LENGTHS = 1024  # chosen: 8 KiB; longer ways, of rings of 2048 routers, double it


@dataclass(frozen=True, eq=False)
class Distances:
    """Pairs of different routers, and of different hosts, by the links on a shortest route.

    Attributes:
        routers: int64[d], ordered pairs of different routers at each distance; 0 at distance 0.
        hosts: int64[d], ordered pairs of different hosts whose routers are that far apart; at
            distance 0 those at the same router. A message passes one router more than links.
        apart: ordered pairs of routers that no route joins.
    """

    routers: IntArray
    hosts: IntArray
    apart: int

    @property
    def connected(self) -> bool:
        """Whether there is a route between all routers."""
        return self.apart == 0

    @property
    def diameter(self) -> float:
        """Most links on a shortest route between two routers; infinite where there is none."""
        return float(len(self.routers) - 1) if self.connected else math.inf

    @property
    def average(self) -> float:
        """Average shortest path length between two different routers that a route joins, ASPL.

        All routers count, those without hosts too.
        """
        return _mean(self.routers, 0)

    @property
    def between_hosts(self) -> float:
        """Mean links on a shortest way between the routers of two hosts at different routers.

        Routers without hosts are on the way, but no way begins or ends there: a fat tree's spines
        do not shorten it. Where all routers have as many hosts it is ``average``.
        """
        return _mean(self.hosts[1:], 1)

    @property
    def host_average(self) -> float:
        """Mean of the routers on a shortest way between two different hosts; 1 at one router."""
        return _mean(self.hosts, 1)

    def __repr__(self) -> str:
        return f"Distances(diameter {self.diameter:g}, average {self.average:.4f})"


def _mean(pairs: IntArray, more: int) -> float:
    total = int(pairs.sum())
    lengths = np.arange(len(pairs), dtype=np.float64) + more
    return float(lengths @ pairs) / total if total else math.nan


def distances(
    topology: Topology | RouterGraph,
    *,
    task: Task | None = None,
) -> Distances:
    """Return the distances between routers and between hosts, without a matrix of all pairs.

    Args:
        topology: the network.
        task: gets the number of finished routers; once it is stopped, the work ends.

    Raises:
        SimulationHalted: the task was stopped.
    """
    from kernels import allpairs as kernel

    task = task_of(task)
    graph = topology if isinstance(topology, RouterGraph) else RouterGraph.of(topology)
    n = graph.num_routers
    planes = max(int(graph.hosts.max(initial=0)).bit_length(), 1)
    routers, hosts = np.zeros(_LENGTHS, np.int64), np.zeros(_LENGTHS, np.int64)
    longest = 0
    for first in range(0, n, kernel.SOURCES):
        if task.stopping:
            raise SimulationHalted("stopped before the distances were known")
        block = np.zeros((2, len(routers)), np.int64)
        while True:
            reached = kernel.histogram(
                graph.start, graph.neighbour, graph.hosts, planes, first, block[0], block[1]
            )
            if reached >= 0:
                break
            block = np.zeros((2, 2 * block.shape[1]), np.int64)
        if block.shape[1] > len(routers):
            more = block.shape[1] - len(routers)
            routers, hosts = np.pad(routers, (0, more)), np.pad(hosts, (0, more))
        routers += block[0]
        hosts += block[1]
        longest = max(longest, reached)
        done = min(first + kernel.SOURCES, n)
        task.report(done, n, f"{done} of {n} routers")
    routers[0] = 0
    hosts[0] -= int(graph.hosts.sum())
    apart = n * (n - 1) - int(routers.sum())
    return Distances(routers[: longest + 1], hosts[: longest + 1], apart)


def girth(topology: Topology | RouterGraph) -> float:
    """Return the links of the shortest cycle: 2 for parallel links, infinite where there is none.

    Args:
        topology: the network.
    """
    from kernels import paths as kernel

    graph = topology if isinstance(topology, RouterGraph) else RouterGraph.of(topology)
    if (graph.links > 1).any():
        return 2.0
    return float(kernel.girth(graph.start, graph.neighbour)) or math.inf


def moore_bound(degree: int, diameter: int) -> float:
    """Return the most routers that a degree and a diameter allow (Hoffman, Singleton 1960).

    Args:
        degree: most links of a router.
        diameter: most links on a shortest route.
    """
    return 1.0 + degree * sum(float(degree - 1) ** level for level in range(diameter))
