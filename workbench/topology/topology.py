"""The network as a graph: routers, the links between them, and the hosts at their ports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench import checks
from workbench.errors import ParameterError
from workbench.result import Drawing
from workbench.suggestions import Suggesting

if TYPE_CHECKING:
    import networkx

TERMINAL = "terminal"
"""Name of the class of links between hosts and routers, the first of every topology."""

MOST_CLASSES = 7
"""Most classes of links of a topology, ``TERMINAL`` among them."""

HIERARCHIES = ("dragonfly", "dragonfly-plus", "aries")
"""Families whose groups are joined by few links: minimal routes take as few of these as they can.
"""

GLOBAL_WEIGHT = 64
"""Cost of a link between groups relative to one within, where minimal routes take the fewest links
between groups."""

_MOST_ROUTERS = 2**31 - 2  # numbers and counts of routers are int32
_CAPACITY_DIGITS = 9  # of a capacity; bandwidths are known to three or four
_PARTS, _MOST_SHARE = 64, 256  # chosen: links' bandwidths are in ratios such as 2, 2.5, 4 and 40


@dataclass(frozen=True, eq=False)
class Topology(Suggesting):
    """Routers, links and hosts of a network; links go both ways.

    Attributes:
        name: its family and size, such as ``fat tree, k=16``.
        num_routers: number of routers.
        links: int32[links, 2], the routers each link joins; a pair that stands twice has two
            parallel links. The links of hosts are not among them.
        link_class: uint8[links], place of each link's class in ``classes``.
        classes: names of the classes of links, ``terminal`` first: that of the hosts' links.
        host_router: int32[hosts], the router each host is at.
        group: int32[routers], the pod, group or cabinet each router is in, -1 for none.
        parameters: what the topology was made with, by its usual letters.
        family: the word of its family in ``FAMILIES``, ``custom`` for any other graph.
        coordinates: int32[routers, k], where each router is by its family's own reckoning, such
            as x, y, z of a torus; k is 0 where there is none.
        link_bandwidth: float64[links], bandwidth of each link, each way, B/s; empty where links
            are alike, or not known to differ.
        link_latency: float64[links], latency of each link, s; empty where it is not known.
        host_bandwidth: float64[hosts], bandwidth of each host's own link, B/s; empty where it is
            not known.
        relative: whether both bandwidths are multiples of some link's and not B/s.
        router_names: the routers' names in the file that they are from; empty where it names none,
            or by their numbers.
        host_names: the hosts' names, likewise.
        notes: what the reader of its file assumed, joined or left out.
    """

    name: str
    num_routers: int
    links: NDArray[np.int32] = field(metadata={"axes": 2})
    link_class: NDArray[np.uint8]
    classes: tuple[str, ...]
    host_router: NDArray[np.int32]
    group: NDArray[np.int32]
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    family: str = "custom"
    coordinates: NDArray[np.int32] = field(
        default_factory=lambda: np.zeros((0, 0), np.int32), metadata={"axes": 2}
    )
    link_bandwidth: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    link_latency: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    host_bandwidth: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    relative: bool = False
    router_names: tuple[str, ...] = ()
    host_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    plot = Drawing("plot_topology")

    def __post_init__(self) -> None:
        if not 1 <= self.num_routers <= _MOST_ROUTERS:
            raise ParameterError(
                f"a topology must have 1 to {_MOST_ROUTERS} routers; got {self.num_routers}",
                key="num_routers",
            )
        if not 1 <= len(self.classes) <= MOST_CLASSES or self.classes[0] != TERMINAL:
            raise ParameterError(
                f"classes must be at most {MOST_CLASSES} names, {TERMINAL!r} first; got "
                f"{self.classes}",
                key="classes",
            )
        _set(self, "links", np.asarray(self.links, np.int32).reshape(-1, 2))
        _set(self, "link_class", np.asarray(self.link_class, np.uint8))
        _set(self, "host_router", np.asarray(self.host_router, np.int32))
        _set(self, "group", np.asarray(self.group, np.int32))
        _set(self, "parameters", MappingProxyType(dict(self.parameters)))
        if not self.coordinates.size:
            _set(self, "coordinates", np.zeros((self.num_routers, 0), np.int32))
        _set(self, "coordinates", np.asarray(self.coordinates, np.int32))
        if self.coordinates.ndim != 2 or len(self.coordinates) != self.num_routers:
            raise ParameterError(
                f"coordinates must have one row for each of {self.num_routers} routers; got the "
                f"shape {self.coordinates.shape}",
                key="coordinates",
            )
        if len(self.link_class) != len(self.links):
            raise ParameterError(
                f"link_class must have one entry for each of {len(self.links)} links; got "
                f"{len(self.link_class)}",
                key="link_class",
            )
        classes = self.link_class
        if len(classes) and not 1 <= classes.min() <= classes.max() < len(self.classes):
            raise ParameterError(
                f"link_class must be 1 to {len(self.classes) - 1}, as 0 is that of the hosts' "
                f"links; got {int(classes.min())} to {int(classes.max())}",
                key="link_class",
            )
        if len(self.group) != self.num_routers:
            raise ParameterError(
                f"group must have one entry for each of {self.num_routers} routers; got "
                f"{len(self.group)}",
                key="group",
            )
        for key, ends in (("links", self.links), ("host_router", self.host_router)):
            if ends.size and not (ends.min() >= 0 and ends.max() < self.num_routers):
                raise ParameterError(
                    f"{key} must name routers 0 to {self.num_routers - 1}; got "
                    f"{int(ends.min())} to {int(ends.max())}",
                    key=key,
                )
        loops = np.flatnonzero(self.links[:, 0] == self.links[:, 1])
        if len(loops):
            raise ParameterError(
                f"a link must join two routers; link {int(loops[0])} joins router "
                f"{int(self.links[loops[0], 0])} to itself",
                key="links",
            )
        self._check_rates()
        for key, names, count in (
            ("router_names", self.router_names, self.num_routers),
            ("host_names", self.host_names, self.num_hosts),
        ):
            if len(names) not in (0, count) or len(set(names)) < len(names):
                raise ParameterError(
                    f"{key} must be a name of its own for each of {count}, or none; got "
                    f"{len(names)}, {len(set(names))} of them different",
                    key=key,
                )

    def _check_rates(self) -> None:
        """Check bandwidths and latencies: one for each link, or host, or none at all."""
        for key, count, unit in (
            ("link_bandwidth", self.num_links, "B/s"),
            ("link_latency", self.num_links, "s"),
            ("host_bandwidth", self.num_hosts, "B/s"),
        ):
            values = np.asarray(getattr(self, key), np.float64)
            _set(self, key, values)
            if values.ndim != 1 or len(values) not in (0, count):
                raise ParameterError(
                    f"{key} must have one entry for each of {count}, or none; got the shape "
                    f"{values.shape}",
                    key=key,
                )
            least = "at least 0" if key == "link_latency" else "above 0"
            good = np.isfinite(values) & (values >= 0 if key == "link_latency" else values > 0)
            if not good.all():
                worst = int(np.argmin(good))
                raise ParameterError(
                    f"{key} must be finite and {least} {unit}; number {worst} is {values[worst]}",
                    key=key,
                )

    @property
    def num_hosts(self) -> int:
        """Number of hosts."""
        return len(self.host_router)

    @property
    def num_links(self) -> int:
        """Number of links between routers."""
        return len(self.links)

    @property
    def reference_bandwidth(self) -> float:
        """The bandwidth of a link of capacity 1, B/s; nan where none is known.

        It is that of the hosts' links, the least of them where they differ; where that is not
        known the least of the links between routers, which hosts are then taken to have too.
        """
        return math.nan if self.relative else self._least_bandwidth

    @property
    def _least_bandwidth(self) -> float:
        """The bandwidth in which capacities are counted; nan where there is none."""
        known = self.host_bandwidth if len(self.host_bandwidth) else self.link_bandwidth
        return float(known.min()) if len(known) else math.nan

    @cached_property
    def capacity(self) -> NDArray[np.float64]:
        """Bandwidth of each link by that of ``reference_bandwidth``, float64[links]; 1 if alike.

        A link of capacity 2 carries what two parallel links of capacity 1 carry.
        """
        return _multiples(self.link_bandwidth, self._least_bandwidth, self.num_links)

    @cached_property
    def host_capacity(self) -> NDArray[np.float64]:
        """Bandwidth of each host's link by that of ``reference_bandwidth``, float64[hosts]."""
        return _multiples(self.host_bandwidth, self._least_bandwidth, self.num_hosts)

    @cached_property
    def link_share(self) -> NDArray[np.int64]:
        """The parts of the traffic that links side by side take, int64[links], whole numbers.

        They are in the ratio of the capacities: a router passes on over a link of capacity 2 what
        it would over two parallel links of capacity 1. Ratios other than quotients by up to 64 are
        rounded to a 64th, and none is above 256 to 1.
        """
        least = self.capacity.min(initial=np.inf)
        ratio = np.minimum(self.capacity / least, _MOST_SHARE)
        for parts in range(1, _PARTS + 1):
            if np.allclose(ratio * parts, np.rint(ratio * parts), rtol=0, atol=1e-6):
                break
        share = np.rint(ratio * parts).astype(np.int64)
        common = max(int(np.gcd.reduce(share)), 1)
        return np.asarray(share // common, np.int64)

    @property
    def unequal(self) -> bool:
        """Whether some links, hosts' links among them, have more bandwidth than others."""
        both = np.concatenate((self.capacity, self.host_capacity))
        return bool((both != 1.0).any())

    @property
    def degree(self) -> NDArray[np.int64]:
        """Links of each router to others, int64[routers]."""
        return np.bincount(self.links.ravel(), minlength=self.num_routers)

    @cached_property
    def link_weight(self) -> NDArray[np.uint16]:
        """The cost of each link in a route, uint16[links]; routes of least cost are minimal.

        A link costs 1, so that a minimal route has the fewest links; in dragonflies one between
        groups costs more than any way within a group, so that it has the fewest of those, and of
        these routes the fewest links: local, global, local, never two global links in place of
        these three (Kim, Dally, Scott, Abts, ISCA 2008, section 4.1).
        """
        weight = np.ones(self.num_links, np.uint16)
        if self.family in HIERARCHIES:
            weight[self.link_class == len(self.classes) - 1] = GLOBAL_WEIGHT
        return weight

    @cached_property
    def router_hops(self) -> NDArray[np.uint8]:
        """Links on a shortest route between two routers, uint8[routers, routers].

        Raises:
            ParameterError: there is no route between two routers.
        """
        from kernels import allpairs as kernel

        start, neighbour, _ = self._adjacency
        links = np.empty((self.num_routers, self.num_routers), np.uint8)
        if not kernel.distances(start, neighbour, links):
            raise self._too_long(kernel.LONGEST)
        # In a network that is not joined router 0 does not reach some router either.
        apart = np.flatnonzero(links[0] == kernel.UNREACHED)
        if len(apart):
            raise self._apart(0, int(apart[0]))
        return links

    @property
    def diameter(self) -> int:
        """Most links on a shortest route between two routers."""
        return int(self.router_hops.max())

    def hops(self, hosts: ArrayLike | None = None) -> NDArray[np.uint8]:
        """Return the number of routers on a shortest route between two hosts, uint8[n, n].

        That is one more than there are links between their routers, 1 at the same router, and 0
        from a host to itself. With h of them a message takes h + 1 wires (LLAMP, section IV.2).
        It is a distance in the graph. In a dragonfly two global links can be shorter than the
        minimal route of ``wires``, which takes one and passes more routers.

        Args:
            hosts: int[n], which hosts; one may stand twice; None takes all.

        Raises:
            ParameterError: there is no such host, or no route between two.
        """
        wires = self._between_hosts(hosts, np.ones_like(self.link_weight))
        return routers_passed(wires)

    def wires(self, hosts: ArrayLike | None = None) -> NDArray[np.uint8]:
        """Return the number of wires of each class between two hosts, uint8[n, n, classes].

        Routes are minimal, as ``link_weight`` defines it and as packets, flows and link loads take
        them; of several the one with the fewest links of the last class counts, of these the one
        with the fewest of the class before, and so on.

        Args:
            hosts: int[n], which hosts; one may stand twice; None takes all.

        Raises:
            ParameterError: there is no such host, or no route between two.
        """
        return self._between_hosts(hosts, self.link_weight)

    def _between_hosts(
        self, hosts: ArrayLike | None, weight: NDArray[np.uint16]
    ) -> NDArray[np.uint8]:
        """Return the wires of each class on the cheapest routes, uint8[n, n, classes]."""
        chosen = np.arange(self.num_hosts) if hosts is None else self.checked_hosts(hosts)
        routers, place = np.unique(self.host_router[chosen], return_inverse=True)
        between = self._routes(routers, weight)[:, routers]
        found: NDArray[np.uint8] = between[place[:, None], place[None, :]]
        found[..., 0] = 2
        found[chosen[:, None] == chosen[None, :]] = 0
        return found

    def mean_hops(self, hosts: ArrayLike | None = None) -> float:
        """Return the mean of ``hops`` over all pairs of two different hosts.

        Args:
            hosts: int[n], which hosts; None takes all.

        Raises:
            ParameterError: there are fewer than two, or ``hosts`` are none of this topology.
        """
        passed = self.hops(hosts)
        pairs = int((passed > 0).sum())
        if not pairs:
            raise ParameterError("a mean of hops needs two different hosts", key="hosts")
        return float(passed.sum(dtype=np.int64)) / pairs

    def checked_hosts(self, hosts: ArrayLike) -> NDArray[np.int64]:
        """Return hosts as int64[n].

        Args:
            hosts: int[n].

        Raises:
            ParameterError: they are not a list of numbers of hosts.
        """
        given = np.asarray(hosts)
        if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or not given.size):
            raise ParameterError("hosts must be a list of whole numbers", key="hosts")
        if given.size and not (given.min() >= 0 and given.max() < self.num_hosts):
            raise ParameterError(
                f"hosts must be 0 to {self.num_hosts - 1} of {self.name}; got {int(given.min())} "
                f"to {int(given.max())}",
                key="hosts",
            )
        return given.astype(np.int64)

    def to_networkx(self) -> networkx.MultiGraph:
        """Return the routers and links as a ``networkx.MultiGraph``.

        Nodes are the routers' numbers with ``hosts``, ``group`` and ``coordinates``, a tuple of
        int, and ``name`` where they have names; edges have ``link_class``, a name, and where they
        are known ``latency_s`` and ``bandwidth_Bps``, or ``bandwidth`` as a multiple of some
        link's, ``2.0x``. The graph has ``name`` and ``family``.
        """
        import networkx

        graph = networkx.MultiGraph(name=self.name, family=self.family)
        hosts = np.bincount(self.host_router, minlength=self.num_routers).tolist()
        rows = zip(hosts, self.group.tolist(), self.coordinates.tolist(), strict=True)
        graph.add_nodes_from(
            (router, {"hosts": count, "group": group, "coordinates": tuple(where)})
            for router, (count, group, where) in enumerate(rows)
        )
        for router, own in enumerate(self.router_names):
            graph.nodes[router]["name"] = own
        known: dict[str, list[Any]] = {}
        if len(self.link_bandwidth):
            rates = self.link_bandwidth.tolist()
            multiples = {"bandwidth": [f"{rate!r}x" for rate in rates]}
            known = multiples if self.relative else {"bandwidth_Bps": rates}
        if len(self.link_latency):
            known["latency_s"] = self.link_latency.tolist()
        for link, (one, other) in enumerate(self.links.tolist()):
            values = {key: column[link] for key, column in known.items()}
            graph.add_edge(one, other, link_class=self.classes[self.link_class[link]], **values)
        return graph

    def _routes(self, sources: NDArray[np.int32], weight: NDArray[np.uint16]) -> NDArray[np.uint8]:
        """Return the links of each class from routers to all, uint8[s, routers, classes]."""
        from kernels import hops as kernel

        start, neighbour, link = self._adjacency
        packed = np.empty((len(sources), self.num_routers), np.int64)
        short = kernel.cheapest_routes(
            start,
            neighbour,
            self.link_class[link],
            weight[link],
            sources.astype(np.int32),
            packed,
        )
        if not short:
            raise self._too_long(kernel.LONGEST)
        apart = np.argwhere(packed < 0)
        if len(apart):
            raise self._apart(int(sources[apart[0, 0]]), int(apart[0, 1]))
        counts = packed.view(np.uint8).reshape(*packed.shape, 8)
        return counts[..., : len(self.classes)]

    def _too_long(self, longest: int) -> ParameterError:
        return ParameterError(
            f"routes must have at most {longest} links; {self.name} has longer ones", key="links"
        )

    def _apart(self, one: int, other: int) -> ParameterError:
        return ParameterError(
            f"there must be a route between all routers; {self.name} has none from router "
            f"{one} to router {other}",
            key="links",
        )

    @cached_property
    def _adjacency(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Return each router's neighbours and the links to them, row by row."""
        ends = self.links.T
        here, there = np.concatenate((ends[0], ends[1])), np.concatenate((ends[1], ends[0]))
        order = np.argsort(here, kind="stable")
        start = np.zeros(self.num_routers + 1, np.int32)
        np.cumsum(np.bincount(here, minlength=self.num_routers), out=start[1:])
        return start, there[order], order % max(self.num_links, 1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topology):
            return NotImplemented
        return (
            (self.name, self.family, self.num_routers, self.classes, self.relative)
            == (other.name, other.family, other.num_routers, other.classes, other.relative)
            and np.array_equal(self.links, other.links)
            and np.array_equal(self.link_class, other.link_class)
            and np.array_equal(self.host_router, other.host_router)
            and np.array_equal(self.group, other.group)
            and np.array_equal(self.coordinates, other.coordinates)
            and np.array_equal(self.link_bandwidth, other.link_bandwidth)
            and np.array_equal(self.link_latency, other.link_latency)
            and np.array_equal(self.host_bandwidth, other.host_bandwidth)
            and (self.router_names, self.host_names) == (other.router_names, other.host_names)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Topology({self.name}: {self.num_hosts} hosts, {self.num_routers} routers, "
            f"{self.num_links} links)"
        )


def _set(topology: Topology, name: str, value: object) -> None:
    object.__setattr__(topology, name, value)


def _multiples(bandwidth: NDArray[np.float64], unit: float, count: int) -> NDArray[np.float64]:
    """Return bandwidths in a unit, float64[count]; 1 where none is known."""
    if not len(bandwidth):
        return np.ones(count)
    # Ratios of decimal figures are whole again: 0.3 / 0.1 is 3.
    return np.round(bandwidth / unit, _CAPACITY_DIGITS)


def routers_passed(wires: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the number of routers between two hosts, uint8[n, n]; 0 from a host to itself."""
    count = wires.sum(axis=2, dtype=np.int16)
    passed: NDArray[np.uint8] = np.maximum(count - 1, 0).astype(np.uint8)
    return passed


def whole(name: str, value: object, least: int, meaning: str) -> int:
    """Return a topology's parameter as an int of at least ``least``; ``meaning`` is for errors."""
    return checks.whole(value, name, least, _MOST_ROUTERS, meaning=meaning)
