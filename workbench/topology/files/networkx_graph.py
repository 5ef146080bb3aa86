"""Graphs of networkx, or of anything with its nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from workbench.errors import ParameterError
from workbench.topology.files.assembly import Place
from workbench.topology.files.attributes import Attributed
from workbench.topology.topology import Topology

_SOURCE = "graph"


class NetworkXGraph(Protocol):
    """What is asked of a graph: networkx's, or any that answers as it does."""

    nodes: Any
    edges: Any

    def is_directed(self) -> bool:
        """Return whether edges lead one way."""
        ...


def from_networkx(graph: NetworkXGraph, *, hosts: int | None = None, name: str = "") -> Topology:
    """Return the topology of a networkx graph, such as ``networkx.petersen_graph()``.

    Nodes are routers, numbered by their names if these are whole numbers, else in their order. A
    node may have ``hosts``, ``group`` and ``coordinates``, an edge ``link_class``, as those of
    `Topology.to_networkx` do; a node of ``kind`` ``host`` is a host. In a directed graph two
    routers have as many links as there are edges of the way that has more.

    Args:
        graph: of any of networkx's four kinds.
        hosts: hosts of each router; None takes what nodes tell, or one for each.
        name: the topology's; empty takes the graph's own.

    Raises:
        ParameterError: it is no graph.
        ParseError: it describes no topology.
    """
    try:
        nodes: Iterable[tuple[object, Mapping[object, object]]] = graph.nodes(data=True)
        edges: Iterable[tuple[object, object, Mapping[object, object]]] = graph.edges(data=True)
        directed = bool(graph.is_directed())
    except (AttributeError, TypeError) as error:
        raise ParameterError(
            f"graph must be one of networkx's; got {type(graph).__name__}", key="graph"
        ) from error
    found = Attributed(_SOURCE)
    place = Place(_SOURCE)
    for node, values in nodes:
        found.node(str(node), place).values.update(_texts(values))
    for one, other, values in edges:
        edge = found.edge(str(one), str(other), place, directed=directed)
        edge.values.update(_texts(values))
    own = getattr(graph, "graph", {})
    return found.topology(hosts=hosts, name=name or str(own.get("name") or "graph"))


def _texts(values: Mapping[object, object]) -> dict[str, str]:
    """Return attributes as text, several numbers with spaces between them."""
    return {
        str(key): " ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        for key, value in values.items()
    }
