"""Minimal routes over any topology: the sets of channels that lead on to each target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.channels import Channels
from workbench.topology.topology import GLOBAL_WEIGHT, HIERARCHIES, Topology

LONGEST_ROUTE = 250
"""Most channels of a minimal route."""

MOST_PAIRS = 2**29
"""Most pairs of a router and one with hosts: tables of 4 GiB."""


@dataclass(frozen=True, eq=False)
class MinimalRoutes:
    """Which channels a minimal route may take, for all routers and all routers with hosts.

    Attributes:
        targets: int32[t], the routers that have hosts.
        column: int32[routers], the place of each router among them, -1 for none.
        row: int32[routers, t], the set of channels from a router towards a target; 0, the empty
            set, at the target.
        set_first: int32[sets + 1], where each set begins in ``candidate``.
        candidate: int32[n], channels.
        hops: uint8[routers, t], channels of a minimal route.
        cost: uint16[routers, t], what is minimal: hops, or those between groups first.
    """

    targets: NDArray[np.int32]
    column: NDArray[np.int32]
    row: NDArray[np.int32]
    set_first: NDArray[np.int32]
    candidate: NDArray[np.int32]
    hops: NDArray[np.uint8]
    cost: NDArray[np.uint16]

    def between(self, here: int, target: int) -> NDArray[np.int32]:
        """Return the channels that a minimal route from one router to another may take first.

        Args:
            here: a router.
            target: a router with hosts.
        """
        chosen = self.row[here, self.column[target]]
        return self.candidate[self.set_first[chosen] : self.set_first[chosen + 1]]


def minimal_routes(channels: Channels, dimension: NDArray[np.int8] | None = None) -> MinimalRoutes:
    """Return the minimal routes of a topology.

    A route is minimal as ``Topology.link_weight`` defines it.

    Args:
        channels: of the topology.
        dimension: int8[channels], the coordinate that each channel changes: routes then take the
            dimensions in their order. None leaves the order free.

    Raises:
        ParameterError: there is no route between two routers with hosts, or one is too long.
    """
    from kernels import routes

    topology = channels.topology
    leads_to = leading(channels)
    weight = topology.link_weight[channels.link]
    targets = np.unique(topology.host_router).astype(np.int32)
    column = np.full(topology.num_routers, -1, np.int32)
    column[targets] = np.arange(len(targets), dtype=np.int32)
    if topology.num_routers * len(targets) > MOST_PAIRS:
        raise ParameterError(
            f"routing tables hold at most {MOST_PAIRS} pairs of routers; {topology.name} has "
            f"{topology.num_routers} x {len(targets)}: take a smaller topology, or the flow model",
            key="topology",
        )
    cost = np.empty((topology.num_routers, len(targets)), np.uint16)
    below = routes.costs(channels.first, leads_to, weight, targets, cost)
    hops = cost // GLOBAL_WEIGHT + cost % GLOBAL_WEIGHT if weight.max(initial=1) > 1 else cost
    apart = np.argwhere(cost == routes.FAR) if below else np.empty((0, 2))
    if len(apart):
        raise ParameterError(
            f"routing needs a route between all routers; {topology.name} has none from router "
            f"{int(apart[0, 0])} to router {int(targets[apart[0, 1]])}: join its parts or take "
            "the largest of them",
            key="links",
        )
    if not below or hops.max(initial=0) > LONGEST_ROUTE:
        raise ParameterError(
            f"a route must have at most {LONGEST_ROUTE} links; {topology.name} has longer ones",
            key="links",
        )
    coordinates = topology.coordinates
    ordered = dimension is not None
    row = np.empty(cost.shape, np.int32)
    set_first, candidate = routes.tables(
        channels.first,
        leads_to,
        weight,
        targets,
        cost,
        np.ascontiguousarray(coordinates if ordered else coordinates[:, :0]),
        dimension if dimension is not None else np.full(len(leads_to), -1, np.int8),
        row,
    )
    return MinimalRoutes(
        targets=targets,
        column=column,
        row=row,
        set_first=set_first,
        candidate=candidate,
        hops=hops.astype(np.uint8),
        cost=cost,
    )


def in_proportion(
    minimal: MinimalRoutes, channels: Channels
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return ``set_first`` and ``candidate`` with each channel as often as its link's share is."""
    if not channels.topology.unequal:
        return minimal.set_first, minimal.candidate
    share = channels.topology.link_share[channels.link[minimal.candidate]]
    size = np.diff(minimal.set_first)
    begins = minimal.set_first[:-1][size > 0]
    common = np.gcd.reduceat(share, begins) if len(begins) else share
    times = share // np.repeat(common, size[size > 0])
    after = np.append(0, np.cumsum(times))
    return after[minimal.set_first].astype(np.int32), np.repeat(minimal.candidate, times)


def groups(topology: Topology) -> NDArray[np.int32]:
    """Return the groups that intermediate routers are chosen by, int32[routers], -1 for none."""
    if topology.family in HIERARCHIES:
        return topology.group
    return np.full(topology.num_routers, -1, np.int32)


def leading(channels: Channels) -> NDArray[np.int32]:
    """Return the router that each channel between routers leads to, int32[channels]."""
    return np.ascontiguousarray(channels.target[: channels.between_routers])


def dimensions(topology: Topology, channels: Channels) -> NDArray[np.int8]:
    """Return the coordinate that each channel changes, int8[channels]."""
    ends = topology.coordinates[topology.links]
    differ = ends[:, 0] != ends[:, 1]
    if not topology.coordinates.shape[1] or not np.all(differ.sum(axis=1) == 1):
        raise ParameterError(
            "dimension order needs routers with coordinates of which each link changes one, as in "
            f"a torus, mesh, hypercube or HyperX; {topology.name} is not one: take minimal routing",
            key="routing",
        )
    of_link = np.argmax(differ, axis=1).astype(np.int8)
    return np.ascontiguousarray(of_link[channels.link])


def datelines(
    topology: Topology, channels: Channels, dimension: NDArray[np.int8]
) -> NDArray[np.int8]:
    """Return 1 for each channel between the first and the last router of a ring, int8[channels]."""
    ends = topology.coordinates[topology.links[channels.link]]
    rows = np.arange(len(ends))
    one, other = ends[rows, 0, dimension], ends[rows, 1, dimension]
    extent = topology.coordinates.max(axis=0, initial=0)[dimension]
    wraps: NDArray[np.int8] = ((np.abs(one - other) == extent) & (extent > 1)).astype(np.int8)
    return wraps
