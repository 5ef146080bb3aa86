"""Stars: routers round a hub."""

from __future__ import annotations

import numpy as np

from workbench.topology.generator_checks import hosts_suffix, refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole


def star(n: int, *, hosts: int = 1, multiplicity: int = 1) -> Topology:
    """Return n routers, all with hosts, that are joined to a hub without any.

    The hub is the last router. Coordinates are the tier (0, the hub's is 1) and the place there.

    Args:
        n: routers round the hub.
        hosts: hosts of each of them.
        multiplicity: parallel links from each to the hub.

    Raises:
        ParameterError: an argument is no whole number, or the network is too large.
    """
    n = whole("n", n, 1, "the routers round the hub")
    hosts = whole("hosts", hosts, 1, "the hosts of a router")
    multiplicity = whole("multiplicity", multiplicity, 1, "the links to the hub")
    refuse_larger("star", "n", hosts=n * hosts, links=n * multiplicity)
    around = np.repeat(np.arange(n, dtype=np.int32), multiplicity)
    place = np.append(np.arange(n), 0)
    return Topology(
        name=f"star, n={n}{hosts_suffix(hosts)}",
        num_routers=n + 1,
        links=np.column_stack((around, np.full_like(around, n))),
        link_class=np.ones(len(around), np.uint8),
        classes=(TERMINAL, "link"),
        host_router=np.repeat(np.arange(n, dtype=np.int32), hosts),
        group=np.full(n + 1, -1, np.int32),
        parameters={"n": n, "hosts": hosts}
        | ({"multiplicity": multiplicity} if multiplicity > 1 else {}),
        family="star",
        coordinates=np.column_stack((np.arange(n + 1) == n, place)).astype(np.int32),
    )
