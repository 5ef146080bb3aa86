"""Fat trees of three tiers of equal switches (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "intra-group", "inter-group")
"""Of hosts, within a pod, and between a pod and the core."""

LARGEST_K = 256
"""Largest radix: 4.2 million hosts."""


def fat_tree(k: int) -> Topology:
    """Return a fat tree of switches with k ports: k³/4 hosts, 5k²/4 switches, full bisection.

    Each of k pods has k/2 edge and k/2 aggregation switches, all joined; each edge switch has k/2
    hosts. Aggregation switch j of every pod is joined to cores j·k/2 up to (j + 1)·k/2. Hosts are
    numbered switch by switch and pod by pod; routers are edge switches, then aggregation, then
    core. A pod is a group, the core has none. Coordinates are the tier (0 to 2), the pod (-1 for
    the core) and the place there.

    Args:
        k: ports of a switch, even.

    Raises:
        ParameterError: k is odd, below 2 or above 256.
    """
    k = whole("k", k, 2, "the ports of a switch")
    if k % 2 or k > LARGEST_K:
        near = f"{k - 1} or {k + 1}" if k < LARGEST_K else str(LARGEST_K)
        raise ParameterError(
            f"k of a fat tree must be even and at most {LARGEST_K}; got {k}: take {near}", key="k"
        )
    half = k // 2
    pod, lower, upper = (axis.ravel() for axis in np.indices((k, half, half)))
    edge = pod * half + lower
    aggregation = k * half + pod * half + upper
    # The same three indices read as pod, aggregation switch and its port give the upper links.
    above = k * half + pod * half + lower
    core = 2 * k * half + lower * half + upper
    links = np.concatenate(
        (np.column_stack((edge, aggregation)), np.column_stack((above, core)))
    ).astype(np.int32)
    in_pods = np.tile(np.repeat(np.arange(k), half), 2)
    return Topology(
        name=f"fat tree, k={k}",
        num_routers=k * k + half * half,
        links=links,
        link_class=np.repeat(np.array([1, 2], np.uint8), k * half * half),
        classes=CLASSES,
        host_router=np.repeat(np.arange(k * half, dtype=np.int32), half),
        group=np.concatenate((in_pods, np.full(half * half, -1))).astype(np.int32),
        parameters={"k": k},
        family="fat-tree",
        coordinates=_coordinates(k),
    )


def _coordinates(k: int) -> NDArray[np.int32]:
    """Return tier, pod (-1 for the core) and place in its tier and pod of each switch."""
    half = k // 2
    pod, place = (axis.ravel() for axis in np.indices((k, half)))
    core = np.arange(half * half)
    rows = [np.column_stack((np.full_like(pod, tier), pod, place)) for tier in (0, 1)]
    rows.append(np.column_stack((np.full_like(core, 2), np.full_like(core, -1), core)))
    return np.concatenate(rows).astype(np.int32)
