"""Graphs whose nodes and edges have attributes, as GraphML and networkx have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.topology.files.assembly import (
    LINK,
    MOST_HOSTS_OF_ROUTER,
    Assembly,
    Place,
    coordinates_of,
    whole_number,
)
from workbench.topology.parameters import LARGEST
from workbench.topology.topology import Topology

_HOST = "host"
_KIND = ("kind", "type")
_CLASS = ("link_class", "class")
_AT = ("coordinates", "at")


@dataclass
class Node:
    """A node: a router, or a host if its ``kind`` says so.

    Attributes:
        name: its own.
        place: where it is told.
        values: its attributes.
    """

    name: str
    place: Place
    values: dict[str, str] = field(default_factory=dict)


@dataclass
class Edge:
    """An edge between two nodes.

    Attributes:
        one: name of a node.
        other: name of the other one.
        place: where it is told.
        directed: whether there is one for each way.
        values: its attributes.
    """

    one: str
    other: str
    place: Place
    directed: bool
    values: dict[str, str] = field(default_factory=dict)


@dataclass
class Attributed:
    """Nodes and edges as they are read.

    Attributes:
        source: name of the file, for errors.
        nodes: by name, in their order.
        edges: in their order.
        defaults: of attributes that a node or edge does not have.
    """

    source: str
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    defaults: dict[str, str] = field(default_factory=dict)

    def node(self, name: str, place: Place) -> Node:
        """Return a new node.

        Args:
            name: its own.
            place: where it is told.

        Raises:
            ParseError: there is one of that name, or there are too many.
        """
        if name in self.nodes:
            raise place.error(f"a node must stand once; {name[:80]!r} stands again")
        if len(self.nodes) >= 2 * LARGEST:
            raise place.error(f"a topology must have at most {LARGEST} routers and hosts")
        self.nodes[name] = made = Node(name, place)
        return made

    def edge(self, one: str, other: str, place: Place, *, directed: bool) -> Edge:
        """Return a new edge.

        Args:
            one: name of a node.
            other: name of the other one.
            place: where it is told.
            directed: whether there is one for each way.

        Raises:
            ParseError: there are too many.
        """
        if len(self.edges) >= 3 * LARGEST:
            raise place.error(f"a topology must have at most {LARGEST} links")
        made = Edge(one, other, place, directed)
        self.edges.append(made)
        return made

    def topology(self, *, hosts: int | None = None, name: str = "") -> Topology:
        """Return the topology that the graph describes.

        Edges that are directed count as many as those of the way that has more.

        Args:
            hosts: hosts of each router; None takes what the graph tells, or one for each.
            name: the topology's; empty takes the source's.

        Raises:
            ParseError: it describes none; names the line where there is one.
        """
        read = Assembly(self.source)
        routers = {
            name: read.router(name, node.place)
            for name, node in self.nodes.items()
            if self._value(node.values, _KIND) != _HOST
        }
        for name_of, router in routers.items():
            self._read_router(read, router, self.nodes[name_of])
        directed = bool(self.edges) and all(edge.directed for edge in self.edges)
        if not directed and any(edge.directed for edge in self.edges):
            raise Place(self.source).error("edges must be all directed or all undirected")
        at_router: dict[str, int] = {}
        for edge in self.edges:
            ends = edge.one, edge.other
            for end in ends:
                if end not in self.nodes:
                    raise edge.place.error(f"an edge must join two nodes; {end[:80]!r} is none")
            numbers = [routers[end] for end in ends if end in routers]
            if len(numbers) == 2:
                link_class = self._value(edge.values, _CLASS) or LINK
                read.link(numbers[0], numbers[1], edge.place, link_class)
                continue
            if not numbers:
                raise edge.place.error("a host must be joined to a router; this edge joins two")
            host = next(end for end in ends if end not in routers)
            if at_router.setdefault(host, numbers[0]) != numbers[0]:
                raise edge.place.error(f"a host must be at one router; {host[:80]!r} is at two")
        for router in at_router.values():
            read.add_host(router)
        return read.topology(hosts=hosts, directed=directed, name=name)

    def _value(self, values: Mapping[str, str], names: tuple[str, ...]) -> str:
        found = (values.get(name) or self.defaults.get(name) for name in names)
        return next(filter(None, found), "")

    def _read_router(self, read: Assembly, router: int, node: Node) -> None:
        count = self._value(node.values, ("hosts",))
        if count:
            number = whole_number(count, "a router's hosts", MOST_HOSTS_OF_ROUTER, node.place)
            read.hosts(router, number, node.place)
        read.group(router, self._value(node.values, ("group",)), node.place)
        at = self._value(node.values, _AT)
        if at:
            read.at(router, coordinates_of(at, " ", node.place), node.place)
