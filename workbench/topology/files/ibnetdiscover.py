"""InfiniBand fabrics as ``ibnetdiscover`` prints them: by node, or with ``-p`` by port.

Switches (and routers between subnets) are routers, channel adapters are hosts, called by the first
word of their description where the second names the adapter (``n1 HCA-1``, ``n1 mlx5_0``). A
port's width and speed are its bandwidth. A cable is listed by both of its ends and counts once; of
a fabric seen in part one is enough. Where GUIDs are blacked out, the description tells nodes apart.
Lines of something else, such as a prompt or warnings of the library, are left out with a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from workbench.topology.files.assembly import Assembly, Place, counted
from workbench.topology.topology import Topology

LANE_GBPS = {
    "SDR": 2.5 * 8 / 10,
    "DDR": 5.0 * 8 / 10,
    "QDR": 10.0 * 8 / 10,
    "FDR10": 10.3125 * 64 / 66,
    "FDR": 14.0625 * 64 / 66,
    "EDR": 25.78125 * 64 / 66,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}
"""Data rate of a lane, Gbit/s: the signal's rate less the line code, 8b/10b up to QDR and 64b/66b
from FDR10 to EDR. From HDR on a lane signals 53.125, 106.25 and 212.5 Gbit/s (PAM4) and carries 50,
100 and 200, as the names of the InfiniBand Trade Association's roadmap count them."""

_HEAD = re.compile(r'(Switch|Ca|Rt)\s+(\d+)\s+"([SHR])-([^"\s]+)"\s*(?:#\s*(.*))?')
_PORT = re.compile(
    r'\[(\d+)\](?:\[ext [^\]]*\])?\s*(?:\([^)\s]*\))?\s+"([SHR])-([^"\s]+)"\[(\d+)\]'
    r"(?:\[ext [^\]]*\])?\s*(?:\([^)\s]*\))?\s*(?:#\s*(.*))?"
)
_GUID = re.compile(r"(?:0x)?([0-9a-fA-F]+)")
_OTHER = re.compile(
    r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid|chassisguid)=|Hostname:|(Non-)?Chassis|"
    r"Spine|Line|#"
)
_BROKEN = re.compile(r"\[\d|(Switch|Ca|Rt)\s+\d")
"""Beginnings of lines that are a node or a port; a prompt may begin with a bracket too."""

_SIDE = r"(SW|CA|RT)\s+(\d+)\s+(\d+)\s+(0x[0-9a-fA-F]+)"
_JOINED = re.compile(rf"{_SIDE}\s+(\S+)\s+(\S+)\s+-\s+{_SIDE}\s+\(\s*'(.*)'\s+-\s+'(.*)'\s*\)\s*")
_ALONE = re.compile(rf"{_SIDE}\s+(?:[^\s']+\s+){{1,3}}'(.*)'\s*")
_SIDE_FIRST = re.compile(r"(SW|CA|RT)\s+\d")
_SPEED = re.compile(r"\b(\d+)x\s?([A-Z]DR(?:10)?)\b")
_QUOTED = re.compile(r'"([^"]*)"')
_ADAPTER = re.compile(
    r"(\S+)\s+\(?(?:HCA-?\d+|\w*mlx\d?_\w+|mthca\d+|qib\d+|hfi\d+_\d+|ib\w*\d+)\)?"
)
_AGGREGATION = "Aggregation Node"
"""What switches that reduce data name themselves as: an adapter inside the switch, and no host."""


class _End(NamedTuple):
    """A port of a node: a switch or an adapter."""

    kind: str  # S, H or R
    node: str  # its GUID
    port: int


class _Cable(NamedTuple):
    ends: tuple[_End, _End]
    rate: float | None  # B/s
    place: Place


class _Fabric:
    """What has been read so far."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.names: dict[tuple[str, str], str] = {}
        self.cables: dict[frozenset[_End], _Cable] = {}
        self.seen_once: set[frozenset[_End]] = set()
        self.unused = 0
        self.unlike = 0  # cables whose ends state different speeds
        self.places: dict[tuple[str, str], Place] = {}

    def node(self, kind: str, node: str, name: str, place: Place) -> tuple[str, str]:
        """Add a node, or its name where it was not known; one without a GUID is its name."""
        guid = _GUID.fullmatch(node)
        key = kind, guid[1].lower() if guid else f"{node} {name}"
        self.places.setdefault(key, place)
        if name or key not in self.names:
            self.names[key] = name
        return key

    def cable(self, one: _End, other: _End, speed: str, place: Place) -> None:
        """Add a cable, which its other end may have listed."""
        found = _SPEED.search(speed)
        rate = None
        if found and found[2] in LANE_GBPS and len(found[1]) < 3:
            rate = int(found[1]) * LANE_GBPS[found[2]] * 1e9 / 8 or None
        ends = frozenset((one, other))
        self.seen_once ^= {ends}
        first = self.cables.setdefault(ends, _Cable((one, other), rate, place))
        if rate and first.rate and rate != first.rate:
            self.unlike += 1
            self.cables[ends] = first._replace(rate=min(rate, first.rate))


def is_ibnetdiscover(text: str) -> bool:
    """Return whether a text is what ibnetdiscover prints, by node."""
    return any(_HEAD.match(line.strip()) for line in text.splitlines())


def is_port_list(text: str) -> bool:
    """Return whether a text is what ``ibnetdiscover -p`` prints."""
    lines = (line.strip() for line in text.splitlines())
    return any(_JOINED.fullmatch(line) or _ALONE.fullmatch(line) for line in lines)


def parse_ibnetdiscover(text: str, source: str, *, hosts: int | None = None) -> Topology:
    """Return the topology of a fabric listed by node; None takes the adapters as hosts."""
    fabric = _Fabric(source)
    here: tuple[str, str] | None = None
    listed = 0
    lines = text.split("\n")
    left_out: Place | None = None
    foreign: list[Place] = []
    for number, line in enumerate(lines, start=1):
        place = Place(source, number)
        bare = line.strip()
        head, port = _HEAD.match(bare), _PORT.match(bare)
        if head:
            _close(fabric, here, listed)
            name = _QUOTED.search(head[5] or "")
            here = fabric.node(head[3], head[4], name[1] if name else "", place)
            ports, listed = int(head[2][:6]), 0
            fabric.unused += ports
        elif port and here is not None:
            listed += 1
            name = _QUOTED.search(port[5] or "")
            there = fabric.node(port[2], port[3], name[1] if name else "", place)
            ends = _End(*here, int(port[1][:6])), _End(*there, int(port[4][:6]))
            fabric.cable(*ends, port[5] or "", place)
        elif bare and not _OTHER.match(bare):
            if number == len(lines):
                left_out = place
            elif _BROKEN.match(bare):
                raise place.error(
                    f"a line of ibnetdiscover must be a node or a port of it; got {bare[:80]!r}"
                )
            else:
                foreign.append(place)
    _close(fabric, here, listed)
    return _noted(_assembled(fabric, hosts, left_out), foreign)


def _noted(made: Topology, foreign: list[Place]) -> Topology:
    """Return a topology with a note on the lines that are of something else."""
    if not foreign:
        return made
    what = counted(len(foreign), "line")
    note = f"line {foreign[0].line}: {what} of something else left out, this one first"
    return replace(made, notes=(*made.notes, note))


def _close(fabric: _Fabric, here: tuple[str, str] | None, listed: int) -> None:
    if here is not None:
        fabric.unused -= listed


def parse_port_list(text: str, source: str, *, hosts: int | None = None) -> Topology:
    """Return the topology of a fabric listed by port; None takes the adapters as hosts."""
    fabric = _Fabric(source)
    kinds = {"SW": "S", "CA": "H", "RT": "R"}
    ports: dict[tuple[str, str], str] = {}
    lines = text.split("\n")
    left_out: Place | None = None
    foreign: list[Place] = []
    for number, line in enumerate(lines, start=1):
        place = Place(source, number)
        bare = line.strip()
        joined, alone = _JOINED.fullmatch(bare), _ALONE.fullmatch(bare)
        if joined:
            kind, _, port, guid, width, speed, to, _, to_port, to_guid, name, to_name = (
                joined.groups()
            )
            ends = []
            for of, at, called, described in (
                (kind, port, guid, name),
                (to, to_port, to_guid, to_name),
            ):
                # The GUID of an adapter is its port's here, so its description must name it.
                node = called.lower()
                if of == "CA" and described:
                    same = ports.setdefault((described, at), node) == node
                    node = described if same else node
                ends.append(_End(*fabric.node(kinds[of], node, described, place), int(at[:6])))
            fabric.cable(ends[0], ends[1], width + speed, place)
        elif alone:
            if alone[1] != "CA":
                fabric.node(kinds[alone[1]], alone[4], alone[5], place)
            fabric.unused += 1
        elif bare and not bare.startswith("#"):
            if number == len(lines):
                left_out = place
            elif _SIDE_FIRST.match(bare):
                raise place.error(
                    "a line of ibnetdiscover -p must be a port, and the one it is joined to; got "
                    f"{bare[:80]!r}"
                )
            else:
                foreign.append(place)
    return _noted(_assembled(fabric, hosts, left_out), foreign)


def _assembled(fabric: _Fabric, hosts: int | None, left_out: Place | None) -> Topology:
    read = Assembly(fabric.source)
    if left_out is not None:
        read.note("left out, as it is cut off", left_out)
    if fabric.unused:
        read.note(f"{counted(fabric.unused, 'port')} without a link left out")
    if fabric.seen_once:
        read.note(
            f"{len(fabric.seen_once)} of {len(fabric.cables)} cables are listed by one end only: "
            "the fabric may be seen in part"
        )
    if fabric.unlike:
        read.note(
            f"the ends of {counted(fabric.unlike, 'cable')} state different speeds: the lower one "
            "is taken"
        )
    labels = _labels(fabric)
    if fabric.names and not fabric.cables and all(kind == "H" for kind, _ in fabric.names):
        what = counted(len(fabric.names), "adapter")
        raise Place(fabric.source).error(
            f"it lists {what} and no link: the port may be down, or the discovery ended early"
        )
    router = {
        key: read.router(labels[key], fabric.places[key]) for key in fabric.names if key[0] != "H"
    }
    if any(cable.rate is None for cable in fabric.cables.values()):
        read.note("bandwidths left out, as some links have no width and speed")
        for ends, cable in fabric.cables.items():
            fabric.cables[ends] = cable._replace(rate=None)
    adapters: dict[str, list[tuple[_End, int, float | None]]] = {}
    skipped = 0
    for cable in fabric.cables.values():
        one, other = sorted(cable.ends, key=lambda end: end.kind == "H")
        if one.kind == "H" and router:
            read.note("a link between two adapters is left out", cable.place)
        elif one.kind == "H":
            read.note("adapters joined without a switch: each machine is at a router of its own")
            names = [_machine(labels[end[:2]]) for end in cable.ends]
            own = [read.router(name, cable.place) for name in names]
            for end, name, at in zip(cable.ends, names, own, strict=True):
                adapters.setdefault(name, []).append((end, at, cable.rate))
            if own[0] != own[1]:
                read.link(own[0], own[1], cable.place, bandwidth=cable.rate)
        elif one[:2] == other[:2]:
            read.note("a cable from a switch to itself is left out", cable.place)
        elif other.kind != "H":
            read.link(router[one[:2]], router[other[:2]], cable.place, bandwidth=cable.rate)
        elif _AGGREGATION in fabric.names[other[:2]]:
            skipped += 1
        else:
            machine = _machine(labels[other[:2]])
            adapters.setdefault(machine, []).append((other, router[one[:2]], cable.rate))
    if skipped:
        read.note(f"{counted(skipped, 'aggregation node')} of switches left out")
    for name, at, rate in _hosts(adapters, labels, read):
        read.add_host(at, rate, name)
    return read.topology(hosts=0 if hosts is None and not adapters else hosts)


def _labels(fabric: _Fabric) -> dict[tuple[str, str], str]:
    """Return a name of its own for each node: its description, with the GUID where it repeats."""
    taken: dict[str, int] = {}
    for name in fabric.names.values():
        taken[name] = taken.get(name, 0) + 1
    return {
        key: name if name and taken[name] == 1 else f"{name} {key[0]}-{key[1]}".strip()
        for key, name in fabric.names.items()
    }


def _machine(label: str) -> str:
    """Return the machine that an adapter is in: the first word of a description of two."""
    found = _ADAPTER.fullmatch(label)
    return found[1] if found and found[1] != "localhost" else label


def _hosts(
    adapters: dict[str, list[tuple[_End, int, float | None]]],
    labels: dict[tuple[str, str], str],
    read: Assembly,
) -> Iterator[tuple[str, int, float | None]]:
    """Yield hosts by name, with their router and the bandwidth of all their links there.

    A machine with links to several switches is a host for each of them, called by the adapter.
    """
    split = 0
    for machine, links in adapters.items():
        at: dict[int, list[tuple[_End, float | None]]] = {}
        for end, router, rate in links:
            at.setdefault(router, []).append((end, rate))
        split += len(at) > 1
        for router, ends in at.items():
            rates = [rate for _, rate in ends if rate is not None]
            total = sum(rates) if rates else None
            if len(at) == 1:
                yield machine, router, total
                continue
            first = ends[0][0]
            several = len([end for end, _, _ in links if end[:2] == first[:2]]) > 1
            label = labels[first[:2]]
            yield (f"{label} port {first.port}" if several else label), router, total
    if split:
        read.note(f"{counted(split, 'machine')} at several switches: a host for every one of these")
