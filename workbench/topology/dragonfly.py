"""Dragonflies: groups of fully connected routers, every two groups connected by links.

Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008.
"""

from __future__ import annotations

import numpy as np

from workbench.topology.dragonfly_links import GroupWiring, arrange
from workbench.topology.generator_checks import refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "intra-group", "inter-group")
"""Of hosts, between routers of a group, and between groups."""


def dragonfly(
    a: int,
    p: int,
    h: int | None = None,
    g: int | None = None,
    *,
    wiring: GroupWiring = "absolute",
    links: int | None = 1,
) -> Topology:
    """Return a dragonfly of g groups of a routers, each with p hosts and h ports to other groups.

    The a·h global ports of a group are numbered router by router; group i reaches group j at a port
    that the wiring gives:

    - ``absolute``: ports lead to the groups in order, the own one left out.
    - ``relative``: port q leads to group i + q + 1, counted around.
    - ``circulant``: ports lead to groups i + 1, i - 1, i + 2, i - 2, …, counted around.
    - ``sst-circulant``: SST/macro's. Router A of group i has its ports to groups i ± (A·h/2 + j),
      j from 1 to h/2, and to the same A there. All ports are used, so with fewer groups than
      a·h + 1 some or all pairs have several links; a port to the own group stays unused.

    With ``links`` of 2 or more the next g - 1 ports do the same again; ports beyond stay unused.
    Hosts are numbered router by router and group by group. Coordinates are the group and the place
    in it.

    Args:
        a: routers of a group.
        p: hosts of a router.
        h: ports of a router to other groups; None takes the fewest that join all groups.
        g: groups; None takes the most that the ports join, a·h + 1 with one link for each pair.
        wiring: which port leads to which group.
        links: links between each two groups; None takes as many as the ports allow.

    Raises:
        ParameterError: neither h nor g is given, there are more groups than ports reach, or an
            argument is none of these.
    """
    a = whole("a", a, 1, "the routers of a group")
    p = whole("p", p, 1, "the hosts of a router")
    between = arrange(a, h, g, wiring, links, "a")
    g = between.g
    refuse_larger("dragonfly", "g", hosts=g * a * p, links=g * a * (a - 1) // 2 + between.num_links)
    one, other = np.triu_indices(a, 1)
    first_of_group = np.arange(g)[:, None] * a
    local = np.column_stack(((first_of_group + one).ravel(), (first_of_group + other).ravel()))
    globally = np.column_stack(between.ends())
    several = f", {between.links} links a pair" if between.links > 1 else ""
    return Topology(
        name=f"dragonfly, g={g}, a={a}, p={p}, h={between.h}, {wiring} wiring{several}",
        num_routers=g * a,
        links=np.concatenate((local, globally)).astype(np.int32),
        link_class=np.repeat(np.array([1, 2], np.uint8), (len(local), len(globally))),
        classes=CLASSES,
        host_router=np.repeat(np.arange(g * a, dtype=np.int32), p),
        group=np.repeat(np.arange(g, dtype=np.int32), a),
        parameters={"a": a, "p": p, "h": between.h, "g": g, "wiring": wiring}
        | ({"links": between.links} if between.links > 1 else {}),
        family="dragonfly",
        coordinates=np.indices((g, a), np.int32).reshape(2, -1).T,
    )
