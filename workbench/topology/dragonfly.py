"""Dragonflies: groups of fully joined routers, each pair of groups joined by one link.

Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008. Which
router's port leads to which group is left open there; the three ways here are those of Hastings,
Rincon-Cruz, Spehlmann, Meyers, Xu, Bunde, Leung: Comparing Global Link Arrangements for Dragonfly
Networks, CLUSTER 2015.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.topology import TERMINAL, Topology, whole

Wiring = Literal["absolute", "relative", "circulant"]
WIRINGS: tuple[Wiring, ...] = get_args(Wiring)

CLASSES = (TERMINAL, "intra-group", "inter-group")
"""Of hosts, between routers of a group, and between groups."""

LARGEST = 2**22
"""Most hosts, and most links, of a dragonfly that is made."""


def dragonfly(
    a: int,
    p: int,
    h: int | None = None,
    g: int | None = None,
    *,
    wiring: Wiring = "absolute",
) -> Topology:
    """Return a dragonfly of g groups of a routers, each with p hosts and h ports to other groups.

    The a·h global ports of a group are numbered router by router; group i reaches group j by one
    link, at a port that the wiring gives:

    - ``absolute``: ports lead to the groups in order, the own one left out.
    - ``relative``: port q leads to group i + q + 1, counted around.
    - ``circulant``: ports lead to groups i + 1, i - 1, i + 2, i - 2, …, counted around.

    Ports beyond g - 1 stay unused. Hosts are numbered router by router and group by group.
    Coordinates are the group and the place in it.

    Args:
        a: routers of a group.
        p: hosts of a router.
        h: ports of a router to other groups; None takes the fewest that join all groups.
        g: groups; None takes a·h + 1, the most that one link for each pair of groups joins.
        wiring: which port leads to which group.

    Raises:
        ParameterError: neither h nor g is given, there are more groups than ports reach, or an
            argument is none of these.
    """
    a = whole("a", a, 1, "the routers of a group")
    p = whole("p", p, 1, "the hosts of a router")
    if wiring not in WIRINGS:
        raise ParameterError(
            f"wiring must be one of {', '.join(WIRINGS)}; got {wiring!r}", key="wiring"
        )
    if h is not None:
        h = whole("h", h, 1, "a router's ports to other groups")
        g = a * h + 1 if g is None else whole("g", g, 1, "the groups")
    elif g is not None:
        g = whole("g", g, 1, "the groups")
        h = -(-(g - 1) // a)
    else:
        raise ParameterError(
            "a dragonfly needs h, the ports of a router to other groups, or g, the groups", key="h"
        )
    if g > a * h + 1:
        raise ParameterError(
            f"g must be at most a·h + 1 = {a * h + 1} groups, one for each port and the own; got "
            f"{g}: lower g to {a * h + 1} or raise h to {-(-(g - 1) // a)}",
            key="g",
        )
    if max(g * a * p, g * a * (a - 1) // 2 + g * (g - 1) // 2) > LARGEST:
        raise ParameterError(
            f"a dragonfly must have at most {LARGEST} hosts and links; g={g}, a={a}, p={p} has "
            "more: lower one of them",
            key="g",
        )
    one, other = np.triu_indices(a, 1)
    first_of_group = np.arange(g)[:, None] * a
    local = np.column_stack(((first_of_group + one).ravel(), (first_of_group + other).ravel()))
    here, there = np.triu_indices(g, 1)
    globally = np.column_stack(
        (
            here * a + _port(here, there, g, wiring) // max(h, 1),
            there * a + _port(there, here, g, wiring) // max(h, 1),
        )
    )
    return Topology(
        name=f"dragonfly, g={g}, a={a}, p={p}, h={h}, {wiring} wiring",
        num_routers=g * a,
        links=np.concatenate((local, globally)).astype(np.int32),
        link_class=np.repeat(np.array([1, 2], np.uint8), (len(local), len(globally))),
        classes=CLASSES,
        host_router=np.repeat(np.arange(g * a, dtype=np.int32), p),
        group=np.repeat(np.arange(g, dtype=np.int32), a),
        parameters={"a": a, "p": p, "h": h, "g": g, "wiring": wiring},
        family="dragonfly",
        coordinates=np.indices((g, a), np.int32).reshape(2, -1).T,
    )


def _port(
    group: NDArray[np.int64], to: NDArray[np.int64], g: int, wiring: Wiring
) -> NDArray[np.int64]:
    """Return the port of a group that leads to another one."""
    if wiring == "absolute":
        return to - (to > group)
    ahead = (to - group) % g
    if wiring == "relative":
        return ahead - 1
    return np.where(2 * ahead <= g, 2 * ahead - 2, 2 * (g - ahead) - 1)
