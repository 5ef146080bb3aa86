"""GraphML: nodes and edges in XML (Brandes, Eiglsperger, Lerner: GraphML Primer).

What nodes and edges hold is as in `Topology.to_networkx`: ``hosts``, ``group`` and ``coordinates``
of a node, ``link_class``, ``bandwidth_Bps`` and ``latency_s`` of an edge. A node of ``kind``
``host`` is a host at the router that its one edge leads to. A file with a document type is refused,
as entities of a few lines could fill any memory; nothing outside the file is ever read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from workbench.errors import ParseError, WorkbenchError
from workbench.topology.files.assembly import Place
from workbench.topology.files.attributes import Attributed, Edge, Node
from workbench.topology.files.columns import written
from workbench.topology.files.writing import hosts_of, router_labels
from workbench.topology.topology import Topology

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"

_DEEPEST = 64  # chosen: GraphML without nested graphs is four elements deep
_LONGEST_VALUE = 4096  # characters: chosen; names have 255 at most
_KEYS = (
    ("name", "all", "string"),
    ("hosts", "node", "int"),
    ("group", "node", "int"),
    ("coordinates", "node", "string"),
    ("kind", "node", "string"),
    ("link_class", "edge", "string"),
    ("bandwidth", "edge", "string"),
    ("bandwidth_Bps", "edge", "double"),
    ("latency_s", "edge", "double"),
)


class _Key(NamedTuple):
    name: str
    default: str


class _Reader:
    """What has been read of a GraphML file so far."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartDoctypeDeclHandler = self.refuse_document_type
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.buffer_text = True
        self.found = Attributed(source)
        self.directed = False
        self.open: list[str] = []
        self.keys: dict[str, _Key] = {}
        self.owner: Node | Edge | None = None
        self.value: list[str] = []
        self.length = 0
        self.key = ""
        self.name = ""

    @property
    def place(self) -> Place:
        """Where the parser is."""
        return Place(self.source, self.parser.CurrentLineNumber)

    def refuse_document_type(self, *_: object) -> None:
        raise self.place.error("GraphML must have no document type; delete the <!DOCTYPE …>")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        if not self.open and name != "graphml":
            raise self.place.error(f"GraphML must begin with <graphml>; got <{name[:80]}>")
        if len(self.open) >= _DEEPEST:
            raise self.place.error(f"elements must be at most {_DEEPEST} deep")
        self.open.append(name)
        self.value, self.length = [], 0
        if name == "key":
            self.key = attributes.get("id", "")
            self.keys[self.key] = _Key(attributes.get("attr.name", self.key), "")
        elif name == "graph":
            self.directed = attributes.get("edgedefault", "undirected") == "directed"
        elif name == "node":
            self.owner = self.found.node(self.needed(attributes, "id"), self.place)
        elif name == "edge":
            ends = self.needed(attributes, "source"), self.needed(attributes, "target")
            directed = attributes.get("directed", "true" if self.directed else "false") == "true"
            self.owner = self.found.edge(*ends, self.place, directed=directed)
        elif name == "hyperedge":
            raise self.place.error("a link must join two routers; hyperedges are not read")
        elif name == "data":
            self.key = attributes.get("key", "")

    def needed(self, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise self.place.error(f"<{self.open[-1]}> must have {name}=")
        return attributes[name]

    def text(self, piece: str) -> None:
        if self.open and self.open[-1] in ("data", "default"):
            self.value.append(piece)
            self.length += len(piece)
            if self.length > _LONGEST_VALUE:
                raise self.place.error(f"a value must have at most {_LONGEST_VALUE} characters")

    def end(self, _: str) -> None:
        name = self.open.pop()
        value = "".join(self.value).strip()
        if name == "default" and self.key in self.keys:
            self.keys[self.key] = self.keys[self.key]._replace(default=value)
        elif name == "data" and self.owner is not None and self.open[-1] in ("node", "edge"):
            key = self.keys.get(self.key)
            self.owner.values[key.name if key else self.key] = value
        elif name == "data" and self.open[-1] == "graph" and self.key == "name":
            self.name = value
        elif name in ("node", "edge"):
            self.owner = None
        if name in ("default", "data"):
            self.value, self.length = [], 0


def parse_graphml(content: bytes, source: str, *, hosts: int | None = None) -> Topology:
    """Return the topology of a GraphML file; None takes its hosts, or one for each router."""
    reader = _Reader(source)
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ParseError(
            f"GraphML must be XML: {expat.ErrorString(error.code)}",
            source=source,
            line=error.lineno,
        ) from error
    except WorkbenchError:
        raise
    except (LookupError, ValueError) as error:
        raise reader.place.error(f"GraphML must be in a known encoding: {error}") from error
    for name, default in reader.keys.values():
        if default:
            reader.found.defaults[name] = default
    return reader.found.topology(hosts=hosts, name=reader.name)


def to_graphml(topology: Topology) -> str:
    """Return a topology as GraphML, from which `parse_graphml` makes an equal graph.

    Names are kept. Hosts without names must be numbered router by router to keep their numbers.

    Args:
        topology: any.
    """
    return "\n".join(_lines(topology)) + "\n"


def _lines(topology: Topology) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<graphml xmlns="{NAMESPACE}">'
    for name, of, kind in _KEYS:
        yield f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>'
    yield '  <graph edgedefault="undirected">'
    yield f"    {_data('name', _printable(topology.name))}"
    names = router_labels(topology, _is_printable)
    counts, own = hosts_of(topology, _is_printable)
    prefix = "host " if set(names) & {host.name for host in own} else ""
    for router, (count, group, at) in enumerate(
        zip(counts, topology.group.tolist(), topology.coordinates.tolist(), strict=True)
    ):
        data = ("" if own else _data("hosts", count)) + _data("group", group)
        if at:
            data += _data("coordinates", " ".join(map(str, at)))
        yield f"    <node id={quoteattr(names[router])}>{data}</node>"
    rates = topology.host_bandwidth.tolist() or [None] * len(own)
    for host, rate in zip(own, rates, strict=False):
        data = _data("kind", "host") + (_data("name", host.name) if prefix else "")
        yield f"    <node id={quoteattr(prefix + host.name)}>{data}</node>"
        yield _edge(prefix + host.name, names[host.router], _rate(topology, rate))
    classes = [_data("link_class", _printable(name)) for name in topology.classes]
    for link in np.argsort(topology.link_class, kind="stable").tolist():
        one, other = (names[end] for end in topology.links[link].tolist())
        data = classes[topology.link_class[link]]
        if len(topology.link_bandwidth):
            data += _rate(topology, float(topology.link_bandwidth[link]))
        if len(topology.link_latency):
            data += _data("latency_s", float(topology.link_latency[link]))
        yield _edge(one, other, data)
    yield "  </graph>"
    yield "</graphml>"


def _edge(one: str, other: str, data: str) -> str:
    return f"    <edge source={quoteattr(one)} target={quoteattr(other)}>{data}</edge>"


def _rate(topology: Topology, rate: float | None) -> str:
    """Return a bandwidth in B/s, or as a multiple of some link's, nothing for None."""
    if topology.relative and rate is not None:
        return _data("bandwidth", written(rate, "bandwidth", relative=True))
    return _data("bandwidth_Bps", rate)


def _data(key: str, value: object) -> str:
    """Return a value of a node or an edge, nothing for None."""
    return "" if value is None else f'<data key="{key}">{escape(str(value))}</data>'


def _is_printable(name: str) -> bool:
    return name == _printable(name) != ""


def _printable(name: str) -> str:
    """Return a name without the characters that XML cannot hold."""
    return "".join(character if character.isprintable() else " " for character in name)
