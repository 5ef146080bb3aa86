"""Hypercubes: 2ⁿ routers, connected if their numbers differ in one bit."""

from __future__ import annotations

import numpy as np

from workbench.topology.generator_checks import hosts_suffix, refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole


def hypercube(n: int, *, hosts: int = 1) -> Topology:
    """Return a hypercube of n dimensions: 2ⁿ routers of n links each, diameter n.

    The coordinates of a router are the bits of its number, the lowest first (Bhuyan, Agrawal:
    Generalized Hypercube and Hyperbus Structures, IEEE Trans. Computers C-33, 1984).

    Args:
        n: dimensions.
        hosts: hosts of a router.

    Raises:
        ParameterError: an argument is no whole number, or the network is too large.
    """
    n = whole("n", n, 1, "the dimensions of a hypercube")
    hosts = whole("hosts", hosts, 1, "the hosts of a router")
    # So that an error about 2ⁿ need not print it.
    routers = 1 << min(n, 64)
    refuse_larger("hypercube", "n", hosts=routers * hosts, links=routers // 2 * n)
    number = np.arange(routers, dtype=np.int64)
    bit = np.arange(n)
    low = (number[:, None] >> bit) & 1 == 0
    here, axis = np.nonzero(low)
    return Topology(
        name=f"hypercube, n={n}{hosts_suffix(hosts)}",
        num_routers=routers,
        links=np.column_stack((here, here | (1 << axis))).astype(np.int32),
        link_class=np.ones(len(here), np.uint8),
        classes=(TERMINAL, "link"),
        host_router=np.repeat(number.astype(np.int32), hosts),
        group=np.full(routers, -1, np.int32),
        parameters={"n": n, "hosts": hosts},
        family="hypercube",
        coordinates=((number[:, None] >> bit) & 1).astype(np.int32),
    )
