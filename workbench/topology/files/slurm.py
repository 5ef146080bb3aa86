"""Slurm's ``topology.conf`` and ``topology.yaml``: a tree of switches, or blocks of hosts.

    SwitchName=leaf1 Nodes=cn[1-16]
    SwitchName=core Switches=leaf[1-4]

Of a tree, switches are routers, and a line that names switches below has a link to each. Blocks
(``BlockName=``) are routers without links between them, as Slurm says nothing of those. A LinkSpeed
is in units of the site's own (topology.conf(5)) and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench.errors import ParameterError, ParseError
from workbench.host_lists import expand_hosts
from workbench.topology.files.assembly import Assembly, Place
from workbench.topology.topology import Topology
from workbench.yaml_text import load_yaml

_TREE = ("switchname", "switches", "nodes", "linkspeed", "level")
_BLOCK = ("blockname", "nodes", "blocksizes", "blockindex", "blocksize", "aggregatedblock")
_PAIR = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")
_FIRST = re.compile(r"\s*(switchname|blockname|blocksizes)\s*=", re.IGNORECASE)
_YAML = re.compile(r"^\s+(tree|block):\s*(#.*)?$", re.MULTILINE)


class _Line(NamedTuple):
    place: Place
    values: Mapping[str, str]


def is_slurm(text: str) -> bool:
    """Return whether a text begins as a topology.conf does."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return bool(_FIRST.match(next(filter(None, lines), "")))


def is_slurm_yaml(text: str) -> bool:
    """Return whether a text is a topology.yaml: a list of topologies, of a tree or of blocks."""
    return bool(re.search(r"^\s*-\s*topology:", text, re.MULTILINE) and _YAML.search(text))


def parse_slurm(text: str, source: str, *, hosts: int | None = None) -> Topology:
    """Return the topology of a topology.conf; None takes the hosts that it names.

    What ``scontrol show topology`` prints is read too. A last line that cannot be read, and that no
    line break ends, is left out with a note.
    """
    try:
        return _assembled(list(_lines(text, source)), source, hosts)
    except ParseError as error:
        whole, _, last = text.rpartition("\n")
        if not last.strip() or error.line != text.count("\n") + 1 or not whole.strip():
            raise
        place = Place(source, error.line)
    note = f"left out, as it is cut off: {last.strip()[:80]!r}"
    return _assembled(list(_lines(whole, source)), source, hosts, cut=(note, place))


def parse_slurm_yaml(text: str, source: str, *, hosts: int | None = None) -> Topology:
    """Return the first topology of a topology.yaml; None takes the hosts that it names."""
    # A list stands alone in it; a mapping is what is read. Its lines are one further down.
    listing = re.sub(r"^---.*$", "", text, count=1, flags=re.MULTILINE)
    document = load_yaml(("topologies:\n" + listing).encode(), "topology.yaml")
    lines: list[_Line] = []
    listed = document.values.get("topologies")
    for number, one in enumerate(listed if isinstance(listed, list) else []):
        for kind, items, names in (
            ("tree", "switches", {"switch": "switchname", "children": "switches"}),
            ("block", "blocks", {"block": "blockname"}),
        ):
            content = one.get(kind) if isinstance(one, dict) else None
            found = content.get(items) if isinstance(content, dict) else None
            for row, values in enumerate(found if isinstance(found, list) else []):
                path = ("topologies", number, kind, items, row)
                line = document.lines.get(path, 1) - 1
                if not isinstance(values, dict):
                    raise Place(source, line).error(f"{items} must be a list of mappings")
                pairs = {names.get(str(key), str(key)): str(value) for key, value in values.items()}
                lines.append(_Line(Place(source, line), pairs))
        if lines:
            break
    return _assembled(lines, source, hosts)


def _lines(text: str, source: str) -> Iterator[_Line]:
    """Yield the lines' values by their lower-case keys; a backslash goes on in the next line."""
    held, first = "", 0
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        bare = line.partition("#")[0].rstrip()
        held, first = held + " " + bare.rstrip("\\"), first or number
        if bare.endswith("\\"):
            continue
        if held.strip():
            place = Place(source, first)
            pairs = {key.lower(): value.strip('"') for key, value in _PAIR.findall(held)}
            if _PAIR.sub("", held).strip() or not pairs:
                raise place.error(
                    "a line must be pairs such as SwitchName=leaf1 Nodes=cn[1-16]; got "
                    f"{held.strip()[:80]!r}"
                )
            yield _Line(place, pairs)
        held, first = "", 0


def _assembled(
    lines: list[_Line],
    source: str,
    hosts: int | None,
    cut: tuple[str, Place] | None = None,  # the note on a line that is cut off, and where it is
) -> Topology:
    read = Assembly(source)
    if cut is not None:
        read.note(*cut)
    named: dict[str, _Line] = {}
    for line in lines:
        known = _BLOCK if any(key.startswith(("block", "aggr")) for key in line.values) else _TREE
        odd = next((key for key in line.values if key not in known), None)
        if odd is not None:
            raise line.place.error(f"{odd} is not one of {', '.join(known)}")
        if "linkspeed" in line.values:
            read.note("LinkSpeed has no unit in Slurm, and is left out")
        name = line.values.get("switchname") or line.values.get("blockname")
        if not name:
            if "blocksizes" in line.values or "aggregatedblock" in line.values:
                continue
            raise line.place.error("a line must have SwitchName= or BlockName=")
        if "[" in name:
            raise line.place.error(f"a switch must have one name, not a list; got {name[:80]!r}")
        if name in named:
            raise line.place.error(f"{name[:80]!r} must be given once")
        if not (line.values.get("nodes") or line.values.get("switches")):
            raise line.place.error(f"{name[:80]!r} must have Nodes= or Switches=")
        named[name] = line
        read.router(name, line.place)
    at: dict[str, str] = {}
    for name, line in named.items():
        router = read.router(name, line.place)
        for child in _names(line, "switches"):
            if child not in named:
                raise line.place.error(
                    f"{name[:80]!r} has the switch {child[:80]!r}, which no SwitchName= defines"
                )
            read.link(router, read.router(child, line.place), line.place)
        # scontrol show topology lists at an upper switch all hosts below it.
        upper = "level" in line.values and "switches" in line.values
        for host in [] if upper else _names(line, "nodes"):
            if host in at:
                raise line.place.error(
                    f"a host must be at one switch; {host[:80]!r} is at {at[host][:80]!r} too"
                )
            at[host] = name
            read.add_host(router, name=host)
    if any("blockname" in line.values for line in named.values()):
        read.note("blocks have no links here, as Slurm's file says nothing of those between them")
    if not at and named:
        raise Place(source).error("it must name the hosts, with Nodes=; it names none")
    return read.topology(hosts=hosts)


def _names(line: _Line, key: str) -> list[str]:
    try:
        return expand_hosts(line.values[key]) if line.values.get(key) else []
    except ParameterError as error:
        raise line.place.error(str(error)) from error
