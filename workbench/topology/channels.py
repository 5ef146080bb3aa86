"""Links and hosts as channels: each direction on its own, numbered for routing and simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.topology.topology import Topology


@dataclass(frozen=True, eq=False)
class Channels:
    """The output ports of a network: routers' to routers, routers' to hosts, hosts' to routers.

    With D = 2 · links and N hosts, channels 0 to D - 1 lead from router to router, D + h to host
    h (ejection) and D + N + h from host h into the network (injection). A router's channels
    to others follow one another in the order of its ports: by the router at the other end, parallel
    links in the order of `Topology.links`.

    Attributes:
        topology: the network.
        source: int32[D + 2 N], the router, or host, that sends on it.
        target: int32[D + 2 N], the router, or host, that it leads to.
        link: int32[D], the link in `Topology.links` whose direction it is.
        first: int32[routers + 1]; channels ``first[r]`` up to ``first[r + 1]`` are those of
            router r to other routers.
        opposite: int32[D], the other direction of the same link.
    """

    topology: Topology
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    link: NDArray[np.int32]
    first: NDArray[np.int32]
    opposite: NDArray[np.int32]

    @property
    def between_routers(self) -> int:
        """Number of channels from router to router, D."""
        return len(self.link)

    @property
    def ejection(self) -> NDArray[np.int32]:
        """The channel to each host, int32[hosts]."""
        hosts = np.arange(self.topology.num_hosts, dtype=np.int32)
        return hosts + np.int32(self.between_routers)

    @property
    def injection(self) -> NDArray[np.int32]:
        """The channel from each host, int32[hosts]."""
        return self.ejection + np.int32(self.topology.num_hosts)

    @property
    def link_class(self) -> NDArray[np.uint8]:
        """Place of each channel's class in `Topology.classes`, uint8[D + 2 N]; 0 is of hosts."""
        of_hosts = np.zeros(2 * self.topology.num_hosts, np.uint8)
        return np.concatenate((self.topology.link_class[self.link], of_hosts))

    @property
    def capacity(self) -> NDArray[np.float64]:
        """Bandwidth of each channel relative to the reference, float64[D + 2 N]."""
        of_hosts = self.topology.host_capacity
        return np.concatenate((self.topology.capacity[self.link], of_hosts, of_hosts))


def channels(topology: Topology) -> Channels:
    """Return the channels of a topology.

    Args:
        topology: the network.
    """
    ends = topology.links
    source = np.concatenate((ends[:, 0], ends[:, 1]))
    target = np.concatenate((ends[:, 1], ends[:, 0]))
    link = np.tile(np.arange(len(ends), dtype=np.int32), 2)
    order = np.lexsort((link, target, source))
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    opposite = np.roll(place, len(ends))[order]
    first = np.zeros(topology.num_routers + 1, np.int32)
    np.cumsum(np.bincount(source, minlength=topology.num_routers), out=first[1:])
    hosts = np.arange(topology.num_hosts, dtype=np.int32)
    return Channels(
        topology=topology,
        source=np.concatenate((source[order], topology.host_router, hosts)).astype(np.int32),
        target=np.concatenate((target[order], hosts, topology.host_router)).astype(np.int32),
        link=link[order],
        first=first,
        opposite=opposite,
    )
