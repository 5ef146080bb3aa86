"""Fat trees of three tiers of equal switches (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.generator_checks import nearest
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "intra-group", "inter-group")
"""Of hosts, within a pod, and between a pod and the core."""

LARGEST_K = 256
"""Largest radix: 4.2 million hosts."""


def fat_tree(k: int, *, taper: int = 1) -> Topology:
    """Return a fat tree of switches with k ports: k³/4 hosts, 5k²/4 switches, full bisection.

    Each of k pods has k/2 edge and k/2 aggregation switches, all joined; each edge switch has k/2
    hosts. Aggregation switch j of every pod is joined to cores j·k/2 up to (j + 1)·k/2. Hosts are
    numbered switch by switch and pod by pod; routers are edge switches, then aggregation, then
    core. A pod is a group, the core has none. Coordinates are the tier (0 to 2), the pod (-1 for
    the core) and the place there.

    With a taper of t an edge switch has t hosts for each uplink: k/(t + 1) of its ports lead up,
    to as many aggregation switches, and there are k/2 · k/(t + 1) cores.

    Args:
        k: ports of a switch, even, and a multiple of t + 1.
        taper: hosts of an edge switch for each of its links up, t; 1 is a full fat tree.

    Raises:
        ParameterError: k is no such number, below 2 or above 256.
    """
    k = whole("k", k, 2, "the ports of a switch")
    taper = whole("taper", taper, 1, "the hosts for each uplink")
    parts = taper + 1

    def fits(ports: int) -> bool:
        return ports % 2 == 0 and ports % parts == 0

    if not fits(k) or k > LARGEST_K:
        also = f", a multiple of {parts}" if taper > 1 else ""
        raise ParameterError(
            f"k of a fat tree must be even{also} and at most {LARGEST_K}; got {k}: take "
            f"{nearest(k, fits, 2, LARGEST_K)}",
            key="k",
        )
    half, up = k // 2, k // parts
    edges, aggregations, cores = k * half, k * up, half * up
    pod, lower, upper = (axis.ravel() for axis in np.indices((k, half, up)))
    to_aggregation = np.column_stack((pod * half + lower, edges + pod * up + upper))
    pod, lower, upper = (axis.ravel() for axis in np.indices((k, up, half)))
    to_core = np.column_stack(
        (edges + pod * up + lower, edges + aggregations + lower * half + upper)
    )
    tapered = f", taper {taper}:1" if taper > 1 else ""
    coordinates = np.concatenate(
        (_pods(0, k, half), _pods(1, k, up), _tier(2, np.full(cores, -1), np.arange(cores)))
    )
    return Topology(
        name=f"fat tree, k={k}{tapered}",
        num_routers=edges + aggregations + cores,
        links=np.concatenate((to_aggregation, to_core)).astype(np.int32),
        link_class=np.repeat(np.array([1, 2], np.uint8), k * half * up),
        classes=CLASSES,
        host_router=np.repeat(np.arange(edges, dtype=np.int32), k - up),
        group=coordinates[:, 1].copy(),
        parameters={"k": k} | ({"taper": taper} if taper > 1 else {}),
        family="fat-tree",
        coordinates=coordinates,
    )


def _pods(tier: int, pods: int, each: int) -> NDArray[np.int32]:
    pod, place = (axis.ravel() for axis in np.indices((pods, each)))
    return _tier(tier, pod, place)


def _tier(tier: int, group: NDArray[np.int64], place: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.column_stack((np.full_like(place, tier), group, place)).astype(np.int32)
