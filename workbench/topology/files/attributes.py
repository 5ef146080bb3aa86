"""Graphs whose nodes and edges have attributes, as GraphML and networkx have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.topology.files.assembly import (
    MOST_HOSTS_OF_ROUTER,
    Assembly,
    Place,
    coordinates_of,
    whole_number,
)
from workbench.topology.files.columns import (
    LinkValues,
    attribute_values,
    is_quantity,
)
from workbench.topology.generator_checks import LARGEST
from workbench.topology.topology import Topology

_HOSTS = ("host", "hca", "ca", "server", "compute", "node", "endpoint", "gpu", "nic", "terminal")
_KIND = ("kind", "type", "role")
_AT = ("coordinates", "at")
_DRAWN = (
    "label",
    "color",
    "style",
    "shape",
    "width",
    "len",
    "pos",
    "fontsize",
    "tooltip",
    "x",
    "y",
    "penwidth",
    "dir",
    "arrowhead",
    "arrowtail",
)
"""Attributes of drawings, which no note names."""


@dataclass
class Node:
    """A node: a router, or a host if its ``kind`` is ``host``, ``server``, ``hca`` or the like."""

    name: str
    place: Place
    values: dict[str, str] = field(default_factory=dict)  # attributes


@dataclass
class Edge:
    """An edge between two nodes."""

    one: str  # name of a node
    other: str  # name of the other node
    place: Place
    directed: bool  # there is one for each way
    values: dict[str, str] = field(default_factory=dict)  # attributes


@dataclass
class Attributed:
    """Nodes and edges of a graph file, in its order."""

    source: str  # name of the file, for errors
    nodes: dict[str, Node] = field(default_factory=dict)  # by name
    edges: list[Edge] = field(default_factory=list)
    defaults: dict[str, str] = field(default_factory=dict)  # of attributes left out

    def node(self, name: str, place: Place) -> Node:
        """Add and return a new node."""
        if name in self.nodes:
            raise place.error(f"each node must be listed once; {name[:80]!r} is listed again")
        if len(self.nodes) >= 2 * LARGEST:
            raise place.error(f"a topology must have at most {LARGEST} routers and hosts")
        self.nodes[name] = made = Node(name, place)
        return made

    def edge(self, one: str, other: str, place: Place, *, directed: bool) -> Edge:
        """Add and return a new edge."""
        if len(self.edges) >= 3 * LARGEST:
            raise place.error(f"a topology must have at most {LARGEST} links")
        made = Edge(one, other, place, directed)
        self.edges.append(made)
        return made

    def topology(self, *, hosts: int | None = None, name: str = "") -> Topology:
        """Return the graph's topology; of directed edges the direction with more counts."""
        read = Assembly(self.source)
        nodes = {
            name: node
            for name, node in self.nodes.items()
            if self._value(node.values, _KIND).lower() not in _HOSTS
        }
        called = {name: node.values.get("name", "") for name, node in nodes.items()}
        if "" in called.values() or len(set(called.values())) < len(called):
            called = {name: name for name in nodes}
        routers = {name: read.router(called[name], node.place) for name, node in nodes.items()}
        for name_of, router in routers.items():
            self._read_router(read, router, self.nodes[name_of])
        directed = bool(self.edges) and all(edge.directed for edge in self.edges)
        if not directed and any(edge.directed for edge in self.edges):
            raise Place(self.source).error("edges must be all directed or all undirected")
        at_router: dict[str, int] = {}
        rates: dict[str, list[float]] = {}
        ways: Counter[tuple[str, str]] = Counter()
        for edge in self.edges:
            ends = edge.one, edge.other
            for end in ends:
                if end not in self.nodes:
                    raise edge.place.error(
                        f"an edge must join two nodes; {end[:80]!r} is not a node"
                    )
            numbers = [routers[end] for end in ends if end in routers]
            values = self._link_values(read, edge)
            if len(numbers) == 2:
                read.link(numbers[0], numbers[1], edge.place, *values)
                continue
            if not numbers:
                raise edge.place.error("a host must be joined to a router; this edge joins two")
            host = next(end for end in ends if end not in routers)
            if at_router.setdefault(host, numbers[0]) != numbers[0]:
                raise edge.place.error(f"a host must be at one router; {host[:80]!r} is at two")
            ways[ends] += 1
            # Of directed edges those of the way that has more count, the first one's if as many.
            if not directed or ways[ends] > ways[edge.other, edge.one]:
                rate = [] if values.bandwidth is None else [values.bandwidth]
                rates.setdefault(host, []).extend(rate * values.parallel)
            if values.latency is not None:
                read.note("latencies of hosts' links are left out")
        for host, router in at_router.items():
            own = self.nodes[host].values.get("name") or host
            read.add_host(router, sum(rates[host]) or None, own)
        return read.topology(hosts=hosts, directed=directed, name=name)

    def _value(self, values: Mapping[str, str], names: tuple[str, ...]) -> str:
        found = (values.get(name) or self.defaults.get(name) for name in names)
        return next(filter(None, found), "")

    def _link_values(self, read: Assembly, edge: Edge) -> LinkValues:
        """Return what an edge says of its link; its label may hold a rate or a latency."""
        values = self.defaults | edge.values
        for piece in re.split(r"\\n|[\n,]", values.get("label", "")):
            for meaning in ("bandwidth", "latency"):
                if is_quantity(piece, meaning):
                    values = {meaning: piece.strip()} | values
        unnamed = {*_DRAWN, *(self.defaults.keys() - edge.values.keys())}
        return attribute_values(values, edge.place, read, unnamed=unnamed)

    def _read_router(self, read: Assembly, router: int, node: Node) -> None:
        count = self._value(node.values, ("hosts",))
        if count:
            number = whole_number(count, "a router's hosts", MOST_HOSTS_OF_ROUTER, node.place)
            read.hosts(router, number, node.place)
        read.group(router, self._value(node.values, ("group",)), node.place)
        at = self._value(node.values, _AT)
        if at:
            read.at(router, coordinates_of(at, " ", node.place), node.place)
