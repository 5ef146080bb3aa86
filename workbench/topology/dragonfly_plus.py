"""Dragonfly+: groups of leaves and spines, every two groups joined by links of their spines.

Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi: Dragonfly+: Low Cost Topology for Scaling
Datacenters, HiPINEB 2017; also called Megafly (Flajslik, Borch, Parker, ISC 2018).
"""

from __future__ import annotations

import numpy as np

from workbench.topology.dragonfly_links import GroupWiring, arrange
from workbench.topology.generator_checks import refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "intra-group", "inter-group")
"""Of hosts, between leaves and spines of a group, and between groups."""


def dragonfly_plus(
    leaves: int,
    spines: int,
    p: int,
    h: int | None = None,
    g: int | None = None,
    *,
    wiring: GroupWiring = "absolute",
    links: int | None = 1,
) -> Topology:
    """Return a Dragonfly+ of g groups; leaves have p hosts each, spines h ports to other groups.

    Every leaf of a group is joined to every spine of it. The global ports of the spines lead to
    other groups as those of a dragonfly's routers do. Routers are numbered group by group, first
    the leaves and then the spines; coordinates are the group, the tier (0 for leaves, 1 for spines)
    and the place there.

    Args:
        leaves: leaf routers of a group.
        spines: spine routers of a group.
        p: hosts of a leaf.
        h: ports of a spine to other groups; None takes the fewest that join all groups.
        g: groups; None takes the most that the ports join, spines·h + 1 with one link a pair.
        wiring: which port leads to which group, as in `dragonfly`.
        links: links between each two groups; None takes as many as the ports allow.

    Raises:
        ParameterError: neither h nor g is given, there are more groups than ports reach, or an
            argument is none of these.
    """
    leaves = whole("leaves", leaves, 1, "the leaf routers of a group")
    spines = whole("spines", spines, 1, "the spine routers of a group")
    p = whole("p", p, 1, "the hosts of a leaf")
    between = arrange(spines, h, g, wiring, links, "spines")
    g, size = between.g, leaves + spines
    refuse_larger(
        "Dragonfly+", "g", hosts=g * leaves * p, links=g * leaves * spines + between.num_links
    )
    group, leaf, spine = (axis.ravel() for axis in np.indices((g, leaves, spines)))
    local = np.column_stack((group * size + leaf, group * size + leaves + spine))
    globally = np.column_stack(
        [end // spines * size + leaves + end % spines for end in between.ends()]
    )
    tier = np.repeat([0, 1], (leaves, spines))
    place = np.concatenate((np.arange(leaves), np.arange(spines)))
    groups = np.repeat(np.arange(g, dtype=np.int32), size)
    several = f", {between.links} links a pair" if between.links > 1 else ""
    return Topology(
        name=f"Dragonfly+, g={g}, {leaves} leaves, {spines} spines, p={p}, h={between.h}, "
        f"{wiring} wiring{several}",
        num_routers=g * size,
        links=np.concatenate((local, globally)).astype(np.int32),
        link_class=np.repeat(np.array([1, 2], np.uint8), (len(local), len(globally))),
        classes=CLASSES,
        host_router=np.repeat(np.flatnonzero(np.tile(tier, g) == 0).astype(np.int32), p),
        group=groups,
        parameters={
            "leaves": leaves,
            "spines": spines,
            "p": p,
            "h": between.h,
            "g": g,
            "wiring": wiring,
        }
        | ({"links": between.links} if between.links > 1 else {}),
        family="dragonfly-plus",
        coordinates=np.column_stack((groups, np.tile(tier, g), np.tile(place, g))),
    )
