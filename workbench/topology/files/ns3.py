"""Topology files of ns-3 as HPCC's simulation reads them, and SimAI's, which has servers of GPUs.

    6 2 8                  nodes, switches among them, links
    4 5                    the switches
    0 4 100Gbps 0.001ms 0  two nodes, bandwidth, latency, error rate

What stands behind ``#`` or ``//`` is a comment. A file that lists every link once for each way has
half as many. SimAI's first line is ``nodes gpus_per_server nvswitches switches links gpu_type``.
Other nodes than switches are hosts. A host whose links lead to several switches, or to a host, is
at a router of its own; a GPU with one NVSwitch is at that, which then has the links of the GPU's
network card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from workbench.errors import ParseError
from workbench.topology.files.assembly import (
    LINK,
    Assembly,
    Place,
    counted,
    take_rows,
    whole_number,
)
from workbench.topology.files.columns import LinkColumn, quantity_of
from workbench.topology.generator_checks import LARGEST
from workbench.topology.topology import Topology

_RATE, _DELAY = LinkColumn("bandwidth", "bandwidth"), LinkColumn("latency", "latency")
_MOST_NODES = 2 * LARGEST


class _Link(NamedTuple):
    ends: tuple[str, str]
    bandwidth: float
    latency: float
    place: Place


class _Head(NamedTuple):
    nodes: int
    nvswitches: int
    switches: int
    links: int
    place: Place


def is_ns3(text: str) -> bool:
    """Return whether a text is a topology file of ns-3 or SimAI: by its first three lines."""
    try:
        rows = _rows(text, "")
        head = _head(*next(rows))
        listed = next(rows)[1] if head.switches + head.nvswitches else []
        if len(listed) == head.switches + head.nvswitches and all(map(str.isdecimal, listed)):
            _link(*next(rows))
            return True
    except (ParseError, StopIteration):
        pass
    return False


def is_simai(text: str) -> bool:
    """Return whether a text is SimAI's rather than HPCC's."""
    return is_ns3(text) and len(next(_rows(text, ""))[1]) > 3


def parse_ns3(text: str, source: str, *, hosts: int | None = None) -> Topology:
    """Return the topology of a file of ns-3 or SimAI; None takes the nodes that are no switches."""
    rows = list(_rows(text, source))
    read = Assembly(source)
    if len(rows) < 2:
        raise Place(source).error("it must have a line of sizes and a line of switches")
    head = _head(*rows[0])
    first = 2 if head.switches + head.nvswitches else 1  # the line of switches may be empty
    place, listed = rows[1] if first == 2 else (rows[0][0], [])
    if len(listed) != head.switches + head.nvswitches or len(set(listed)) < len(listed):
        raise place.error(
            f"the second line must list the {head.switches + head.nvswitches} switches of the "
            f"first, each once; got {len(listed)}"
        )
    switches = [_node(word, head, place) for word in listed]
    found = _links(rows[first:], head, read, ended=text.endswith("\n"))
    if len(found) != head.links:
        read.note(f"the first line says {head.links} links; {len(found)} are there", head.place)
    found = _once(found, read)
    router = {name: read.router(name, place) for name in switches}
    servers = set(switches[: head.nvswitches])
    at = _hosts(found, router, servers, head, read)
    for link in found:
        one, other = (at.get(end, -1) for end in link.ends)
        if -1 not in (one, other) and one != other:
            read.link(one, other, link.place, LINK, 1, link.bandwidth, link.latency)
    return read.topology(hosts=hosts)


def _once(found: list[_Link], read: Assembly) -> list[_Link]:
    """Return each link once where all are listed for both ways, else all."""
    ways = Counter((*link.ends, link.bandwidth, link.latency) for link in found)
    back = ((ways[other, one, rate, delay], n) for (one, other, rate, delay), n in ways.items())
    if not found or any(count != there for count, there in back):
        return found
    read.note("links are listed once for each way, and count once")
    return [link for link in found if int(link.ends[0]) <= int(link.ends[1])]


def _hosts(
    found: list[_Link], router: dict[str, int], servers: set[str], head: _Head, read: Assembly
) -> dict[str, int]:
    """Add the hosts, and return the router of each node whose links stay links."""
    links_of: dict[str, list[_Link]] = {}
    for link in found:
        for end in link.ends:
            if end not in router:
                links_of.setdefault(end, []).append(link)
    at = dict(router)
    alone = head.nodes - len(router) - len(links_of)
    if alone:
        read.note(f"{counted(alone, 'node')} without a link left out")
    own = 0
    for name in sorted(links_of, key=int):
        links = links_of[name]
        far = [link.ends[link.ends[0] == name] for link in links]
        near = {end for end in far if end in servers} or set(far)
        if len(near) == 1 and all(end in router for end in far):
            switch = near.pop()
            rates = [link.bandwidth for link, end in zip(links, far, strict=True) if end == switch]
            read.add_host(router[switch], sum(rates), name)
            if len(rates) < len(links):
                at[name] = router[switch]
            continue
        own += 1
        at[name] = read.router(name, links[0].place)
        read.add_host(at[name], sum(link.bandwidth for link in links), name)
    if own:
        read.note(f"{counted(own, 'host')} with links to several nodes, at a router of its own")
    if len(at) - own > len(router):
        read.note(
            f"{counted(len(at) - own - len(router), 'GPU')} at the NVSwitch, which has the links "
            "of the network cards"
        )
    if any(link.latency for links in links_of.values() for link in links):
        read.note("latencies of hosts' links are left out")
    return at


def _rows(text: str, source: str) -> Iterator[tuple[Place, list[str]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.partition("#")[0].partition("//")[0].split()
        if words:
            yield Place(source, number), words


def _head(place: Place, words: list[str]) -> _Head:
    """Return the sizes of the first line."""
    if len(words) == 3:
        (nodes, switches, links), servers = (_count(word, place) for word in words), 0
    elif len(words) in (6, 7) and not words[5].isdecimal():
        nodes, _, servers, switches, links = (_count(word, place) for word in words[:5])
    else:
        raise place.error(
            "the first line must be the numbers of nodes, switches and links, or SimAI's nodes, "
            "gpus_per_server, nvswitches, switches, links and gpu_type; got "
            f"{' '.join(words)[:80]!r}"
        )
    if switches + servers > nodes:
        raise place.error(f"there must be at most {nodes} switches, the nodes; got {switches}")
    return _Head(nodes, servers, switches, links, place)


def _count(word: str, place: Place) -> int:
    return whole_number(word, "a number of nodes or links", _MOST_NODES, place)


def _node(word: str, head: _Head, place: Place) -> str:
    return str(whole_number(word, "a node", head.nodes - 1, place))


def _links(
    rows: list[tuple[Place, list[str]]], head: _Head, read: Assembly, *, ended: bool
) -> list[_Link]:
    """Return the links that the first line counts; a last row that is cut off is left out."""
    found: list[_Link] = []
    lossy = False

    def take(place: Place, words: list[str]) -> bool:
        nonlocal lossy
        if len(found) < head.links:
            link = _link(place, words)
            one, other = (_node(end, head, place) for end in link.ends)
            found.append(link._replace(ends=(one, other)))
            lossy = lossy or words[4:5] not in ([], ["0"])
        return False

    take_rows(rows, take, read, ended=ended)
    if len(rows) > head.links:
        read.note(f"{counted(len(rows) - head.links, 'line')} behind the last link left out")
    if lossy:
        read.note("error rates left out")
    return found


def _link(place: Place, words: list[str]) -> _Link:
    if not 4 <= len(words) <= 5:
        raise place.error(
            "a link must be two nodes, a bandwidth, a latency and an error rate, as 0 4 100Gbps "
            f"0.001ms 0; got {' '.join(words)[:80]!r}"
        )
    bandwidth = quantity_of(_RATE, words[2], place, Assembly(""))
    return _Link(
        (words[0], words[1]), bandwidth, quantity_of(_DELAY, words[3], place, Assembly("")), place
    )
