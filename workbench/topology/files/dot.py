"""Graphviz's dot: graphs and digraphs, with attributes, subgraphs and edges between several nodes.

A node of ``type`` ``host`` is a host (``attributes.py`` has the other words), an edge's
``bandwidth``, ``latency`` and ``class`` are its link's, and so is a label such as ``100Gbps``. A
subgraph whose name begins with ``cluster`` is a group. Ports (``a:p1``) and HTML are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from workbench.topology.files.assembly import Place
from workbench.topology.files.attributes import Attributed
from workbench.topology.topology import Topology

_DEEPEST = 64  # chosen: each level is two calls of Python, which allows a thousand
_FIRST = re.compile(
    r'\s*(strict\s+)?(di)?graph\b\s*("[^"]*"|[\w.]*)\s*\{', re.IGNORECASE | re.ASCII
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", re.DOTALL | re.MULTILINE)
_TOKEN = re.compile(
    r'(?P<space>\s+|/\*.*?\*/|//[^\n]*|(?<=\n)#[^\n]*)|(?P<quoted>"(?:[^"\\]|\\.)*")|'
    r"(?P<sign>--|->|[{}\[\]=;,:+])|(?P<word>-?(?:\.\d+|\d+(?:\.\d*)?)|[^\W\d]\w*)",
    re.DOTALL,
)
_WORDS = ("graph", "node", "edge")


def is_dot(text: str) -> bool:
    """Return whether a text begins as a graph in dot does."""
    return bool(_FIRST.match(_COMMENT.sub("", text[:65536])))


def parse_dot(text: str, source: str, *, hosts: int | None = None) -> Topology:
    """Return the topology of a graph in dot; None takes its hosts, or one for each router."""
    reader = _Reader(text, source)
    return reader.graph().topology(hosts=hosts, name=reader.name)


class _Reader:
    """The tokens of a file, and the statements that are made of them."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.tokens = self._tokens(text)
        self.token, self.place = "", Place(source, 1)
        self.quoted = False
        self.found = Attributed(source)
        self.directed = False
        self.name = ""
        self._next()

    def _tokens(self, text: str) -> Iterator[tuple[str, bool, Place]]:
        """Yield tokens, whether each is quoted, and its place; an empty one at the end."""
        at, line = 0, 1
        while at < len(text):
            if text[at] == "<":
                end, depth = at, 0
                while end < len(text):
                    depth += (text[end] == "<") - (text[end] == ">")
                    end += 1
                    if depth == 0:
                        break
                piece, kind = text[at:end], "html"
            else:
                match = _TOKEN.match(text, at)
                if match is None:
                    raise Place(self.source, line).error(
                        "it must be a name, a sign of dot or a quoted text; got "
                        f"{text[at : at + 20]!r}"
                    )
                piece, kind = match[0], str(match.lastgroup)
            place = Place(self.source, line)
            at, line = at + len(piece), line + piece.count("\n")
            if kind == "quoted":
                yield piece[1:-1].replace('\\"', '"').replace("\\\n", ""), True, place
            elif kind != "space":
                yield ("" if kind == "html" else piece), kind == "html", place
        yield "", False, Place(self.source, line)

    def _next(self) -> str:
        """Return the token, and go on to the next."""
        here = self.token
        self.token, self.quoted, self.place = next(self.tokens, ("", False, self.place))
        return here

    def _is(self, *signs: str) -> bool:
        return not self.quoted and self.token.lower() in signs

    def _take(self, *signs: str) -> bool:
        """Return whether the token is one of these signs, and go on if it is."""
        found = self._is(*signs)
        if found:
            self._next()
        return found

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise self.place.error(f"{sign!r} must stand here; got {self.token[:80]!r}")

    def _word(self) -> str:
        """Return a name; quoted ones may be joined by +."""
        if not self.quoted and not re.match(r"[\w.-]", self.token):
            raise self.place.error(f"a name must stand here; got {self.token[:80]!r}")
        word = self._next()
        while self._take("+"):
            word += self._next()
        return word

    def graph(self) -> Attributed:
        """Return the graph."""
        self._take("strict")
        self.directed = self._is("digraph")
        if not self._take("graph", "digraph"):
            raise self.place.error(f"it must begin with graph or digraph; got {self.token[:80]!r}")
        if not self._is("{"):
            self.name = self._word()
        self._need("{")
        self._statements({}, {}, "", 0)
        return self.found

    def _statements(
        self, nodes: dict[str, str], edges: dict[str, str], group: str, depth: int
    ) -> list[str]:
        """Read statements up to a closing brace, and return the nodes that they name.

        ``nodes`` and ``edges`` are the attributes that new ones have.
        """
        if depth > _DEEPEST:
            raise self.place.error(f"subgraphs must be at most {_DEEPEST} deep")
        named: dict[str, None] = {}
        while not self._take("}"):
            if not self.token and not self.quoted:
                raise self.place.error("a brace must be closed")
            if self._take(";", ","):
                continue
            if self._is(*_WORDS):
                kind = self._next().lower()
                target = {"node": nodes, "edge": edges}.get(kind, {})
                target.update(self._attributes())
                continue
            place = self.place
            if self._is("subgraph", "{"):
                ends = self._block(nodes, edges, group, depth)
            else:
                word = self._word()
                if self._take("="):
                    self._word()  # an attribute of the graph
                    continue
                ends = [self._node(word, nodes, group, place)]
            chain = [ends]
            while self._is("--", "->"):
                if self._next() != ("->" if self.directed else "--"):
                    raise place.error("edges must be -> in a digraph and -- in a graph")
                if self._is("subgraph", "{"):
                    chain.append(self._block(nodes, edges, group, depth))
                else:
                    chain.append([self._node(self._word(), nodes, group, place)])
            values = self._attributes()
            for ends in chain:
                named.update(dict.fromkeys(ends))
            if len(chain) == 1 and values:
                for name in ends:
                    self.found.nodes[name].values.update(values)
            for here, there in pairwise(chain):
                for one in here:
                    for other in there:
                        edge = self.found.edge(one, other, place, directed=self.directed)
                        edge.values.update(edges | values)
        return list(named)

    def _block(
        self, nodes: dict[str, str], edges: dict[str, str], group: str, depth: int
    ) -> list[str]:
        """Read a subgraph and return its nodes; a cluster is their group."""
        name = ""
        if self._take("subgraph") and not self._is("{"):
            name = self._word()
        self._need("{")
        inner = name if name.startswith("cluster") else group
        return self._statements(dict(nodes), dict(edges), inner, depth + 1)

    def _node(self, name: str, values: dict[str, str], group: str, place: Place) -> str:
        """Add a node where it is new, skip the port behind it, and return its name."""
        while self._take(":"):
            self._word()
        if name not in self.found.nodes:
            known = {"group": group} if group else {}
            self.found.node(name, place).values.update(known | values)
        return name

    def _attributes(self) -> dict[str, str]:
        """Read lists of attributes in brackets."""
        found: dict[str, str] = {}
        while self._take("["):
            while not self._take("]"):
                if self._take(",", ";"):
                    continue
                key = self._word()
                found[key] = "true"
                if self._take("="):
                    found[key] = self._word()
        return found
