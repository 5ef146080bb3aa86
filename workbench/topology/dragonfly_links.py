"""Which port of a group leads to which other group, in dragonflies of all kinds.

Kim, Dally, Scott, Abts (ISCA 2008) leave it open. Absolute, relative and circulant are the ways of
Hastings, Rincon-Cruz, Spehlmann, Meyers, Xu, Bunde, Leung: Comparing Global Link Arrangements for
Dragonfly Networks, CLUSTER 2015. ``sst-circulant`` is what SST/macro calls circulant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.topology.topology import whole

GroupWiring = Literal["absolute", "relative", "circulant", "sst-circulant"]
WIRINGS: tuple[GroupWiring, ...] = get_args(GroupWiring)

SST: GroupWiring = "sst-circulant"


@dataclass(frozen=True)
class Arrangement:
    """The checked global links of a dragonfly; ``ends()`` lists them."""

    routers: int  # of a group, with global ports
    h: int  # global ports of each router
    g: int  # groups
    wiring: GroupWiring
    links: int  # between each two groups; 0 where the wiring decides and it differs

    @property
    def num_links(self) -> int:
        """Number of global links, an upper bound for ``sst-circulant``."""
        if self.wiring == SST:
            return self.g * self.routers * self.h // 2
        return self.g * (self.g - 1) // 2 * self.links

    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the routers that global links join, as group · routers + place, twice int64[n]."""
        return self._sst_ends() if self.wiring == SST else self._paired_ends()

    def _paired_ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return links, in rounds of all pairs of groups to spread a pair's links over routers."""
        here, there = np.triu_indices(self.g, 1)
        turn = np.arange(self.links)[:, None] * (self.g - 1)
        one, other = self._port(here, there), self._port(there, here)
        ports = max(self.h, 1)
        return (
            (here * self.routers + (turn + one) // ports).ravel(),
            (there * self.routers + (turn + other) // ports).ravel(),
        )

    def _port(self, group: NDArray[np.int64], to: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the port of a group that leads to another one, 0 to g - 2."""
        if self.wiring == "absolute":
            return to - (to > group)
        ahead = (to - group) % self.g
        if self.wiring == "relative":
            return ahead - 1
        return np.where(2 * ahead <= self.g, 2 * ahead - 2, 2 * (self.g - ahead) - 1)

    def _sst_ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each + port meets a - port of the router at the same place."""
        group, place, j = (axis.ravel() for axis in np.indices((self.g, self.routers, self.h // 2)))
        to = (group + place * (self.h // 2) + j + 1) % self.g
        other = to != group
        return (group * self.routers + place)[other], (to * self.routers + place)[other]


def arrange(
    routers: int, h: int | None, g: int | None, wiring: GroupWiring, links: int | None, letter: str
) -> Arrangement:
    """Check a dragonfly's parameters and return its global links.

    ``routers`` with global ports in a group are called ``letter`` in errors. None stands for the
    fewest h that join all groups, the most g, and as many links between two groups as h allows.
    """
    if wiring not in WIRINGS:
        raise ParameterError(
            f"wiring must be one of {', '.join(WIRINGS)}; got {wiring!r}"
            f"{did_you_mean(wiring, WIRINGS)}",
            key="wiring",
        )
    least = 1 if links is None else whole("links", links, 1, "the links between two groups")
    if h is None and g is None:
        raise ParameterError(
            "a dragonfly needs h, the ports of a router to other groups, or g, the groups", key="h"
        )
    if h is None:
        g = whole("g", g, 1, "the groups")
        h = -(-(g - 1) * least // routers)
        h += h % 2 if wiring == SST else 0
    else:
        h = whole("h", h, 1, "a router's ports to other groups")
        g = routers * h // least + 1 if g is None else whole("g", g, 1, "the groups")
    most = routers * h // least + 1
    if g > most:
        times = f"/{least}" if least > 1 else ""
        raise ParameterError(
            f"g must be at most {letter}·h{times} + 1 = {most} groups, one for each port and the "
            f"own; got {g}: lower g to {most} or raise h to {-(-(g - 1) * least // routers)}",
            key="g",
        )
    if wiring != SST:
        all_ports = routers * h // (g - 1) if g > 1 else 1
        return Arrangement(routers, h, g, wiring, all_ports if links is None else least)
    if h % 2:
        raise ParameterError(
            f"h must be even for {SST}, as half of the ports lead each way around; got {h}: take "
            f"{h - 1 or 2} or {h + 1}",
            key="h",
        )
    if links not in (None, 1):
        raise ParameterError(
            f"links cannot be chosen for {SST}: it uses every port; got {links}: leave it out",
            key="links",
        )
    return Arrangement(routers, h, g, wiring, 0)
