"""Cray XC networks of Aries routers: groups of six rows of sixteen, joined by optical links.

Faanes, Bataineh, Roweth, Court, Froese, Alverson, Johnson, Kopnick, Higgins, Reinhard: Cray
Cascade: A Scalable HPC System Based on a Dragonfly Network, SC 2012. Where the optical (blue) links
of a router lead is that of the cabling of Edison and of Theta, which both come out link by link.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.generator_checks import hosts_suffix, refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "row", "column", "blue")
"""Of hosts, in a chassis (green), between the chassis of a group (black), and between groups."""

ROWS, COLUMNS = 6, 16
"""Chassis of a group, and routers of a chassis."""

COLUMN_LINKS = 3
"""Links between two routers of a column."""

BLUE_LINKS = 2
"""Links of one optical connection between two routers."""

_ROUTERS = ROWS * COLUMNS
_CONNECTIONS = 5  # ten optical ports of a router (Faanes et al., SC 2012), two links each
MOST_GROUPS = _ROUTERS * _CONNECTIONS + 1
"""Most groups that the ten optical ports of each router join."""


def aries(g: int, *, blue: int | None = None, hosts: int = 4) -> Topology:
    """Return a Cray XC of g groups of 96 routers with a link, a row, or a column between any two.

    A row's 16 routers are all joined by one link, a column's 6 by three. Routers of two groups are
    joined by two links, and each router has at most five such connections. Connection u of a group,
    counted group by group of the others, is at row u mod 6 and then along the row, in rounds.

    Router 96·group + 16·row + column has the coordinates (group, row, column).

    Args:
        g: groups.
        blue: links between each two groups, even; None takes as many as the ports allow, in whole
            rounds of the six rows where there are enough.
        hosts: hosts of a router.

    Raises:
        ParameterError: there are more groups or blue links than ports, or an argument is none of
            these.
    """
    g = whole("g", g, 1, "the groups")
    hosts = whole("hosts", hosts, 1, "the hosts of a router")
    if g > MOST_GROUPS:
        raise ParameterError(
            f"g must be at most {MOST_GROUPS} groups, as each router has ten ports to others; got "
            f"{g}: take {MOST_GROUPS}",
            key="g",
        )
    connections = _connections(g, blue)
    within = (COLUMNS * (COLUMNS - 1) * ROWS + COLUMN_LINKS * ROWS * (ROWS - 1) * COLUMNS) // 2
    between = g * (g - 1) // 2 * connections * BLUE_LINKS
    refuse_larger("Cray XC", "g", hosts=g * _ROUTERS * hosts, links=g * within + between)
    row, column = _row_links(), np.repeat(_column_links(), COLUMN_LINKS, axis=0)
    first = np.arange(g)[:, None, None] * _ROUTERS
    rows, columns = (first + row).reshape(-1, 2), (first + column).reshape(-1, 2)
    blues = np.repeat(_blue_connections(g, connections), BLUE_LINKS, axis=0)
    joined = {"blue": connections * BLUE_LINKS} if g > 1 else {}
    several = f", {connections * BLUE_LINKS} links a pair" if g > 1 else ""
    return Topology(
        name=f"Cray XC, g={g}{several}{hosts_suffix(hosts)}",
        num_routers=g * _ROUTERS,
        links=np.concatenate((rows, columns, blues)).astype(np.int32),
        link_class=np.repeat(np.array([1, 2, 3], np.uint8), (len(rows), len(columns), len(blues))),
        classes=CLASSES,
        host_router=np.repeat(np.arange(g * _ROUTERS, dtype=np.int32), hosts),
        group=np.repeat(np.arange(g, dtype=np.int32), _ROUTERS),
        parameters={"g": g, **joined, "hosts": hosts},
        family="aries",
        coordinates=np.indices((g, ROWS, COLUMNS), np.int32).reshape(3, -1).T,
    )


def _connections(g: int, blue: int | None) -> int:
    """Return the connections between each two groups, of two links each."""
    most = _ROUTERS * _CONNECTIONS // max(g - 1, 1)
    if blue is None:
        # A row alone then reaches all groups at the same place in theirs, as in the machines.
        return most - most % ROWS if most >= ROWS else most
    blue = whole("blue", blue, BLUE_LINKS, "the links between two groups")
    if blue % BLUE_LINKS or blue > most * BLUE_LINKS:
        below = min(blue - blue % BLUE_LINKS, most * BLUE_LINKS)
        raise ParameterError(
            f"blue must be even and at most {most * BLUE_LINKS} links between each two of {g} "
            f"groups; got {blue}: take {below}",
            key="blue",
        )
    return blue // BLUE_LINKS


def _row_links() -> NDArray[np.int64]:
    one, other = np.triu_indices(COLUMNS, 1)
    first = np.arange(ROWS)[:, None, None] * COLUMNS
    links: NDArray[np.int64] = (first + np.column_stack((one, other))).reshape(-1, 2)
    return links


def _column_links() -> NDArray[np.int64]:
    one, other = np.triu_indices(ROWS, 1)
    first = np.arange(COLUMNS)[:, None, None]
    links: NDArray[np.int64] = (first + np.column_stack((one, other)) * COLUMNS).reshape(-1, 2)
    return links


def _blue_connections(g: int, connections: int) -> NDArray[np.int64]:
    """Return the routers that optical connections join, int64[n, 2]."""
    here, there = np.triu_indices(g, 1)
    turn = np.arange(connections)[:, None]

    def ends(group: NDArray[np.int64], to: NDArray[np.int64]) -> NDArray[np.int64]:
        number = (to - (to > group)) * connections + turn
        place = number % ROWS * COLUMNS + number // ROWS % COLUMNS
        routers: NDArray[np.int64] = (group * _ROUTERS + place).ravel()
        return routers

    return np.column_stack((ends(here, there), ends(there, here)))
