"""Fully connected networks: a link between every two routers."""

from __future__ import annotations

import numpy as np

from workbench.topology.generator_checks import hosts_suffix, refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole


def fully_connected(n: int, *, hosts: int = 1) -> Topology:
    """Return n routers of which every two are joined; one alone is a single switch.

    Args:
        n: routers.
        hosts: hosts of a router.

    Raises:
        ParameterError: an argument is no whole number, or the network is too large.
    """
    n = whole("n", n, 1, "the routers")
    hosts = whole("hosts", hosts, 1, "the hosts of a router")
    refuse_larger("fully connected network", "n", hosts=n * hosts, links=n * (n - 1) // 2)
    links = np.column_stack(np.triu_indices(n, 1)).astype(np.int32)
    return Topology(
        name=f"fully connected, n={n}{hosts_suffix(hosts)}",
        num_routers=n,
        links=links,
        link_class=np.ones(len(links), np.uint8),
        classes=(TERMINAL, "link"),
        host_router=np.repeat(np.arange(n, dtype=np.int32), hosts),
        group=np.full(n, -1, np.int32),
        parameters={"n": n, "hosts": hosts},
        family="fully-connected",
        coordinates=np.arange(n, dtype=np.int32)[:, None],
    )
