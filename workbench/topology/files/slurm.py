"""Slurm's ``topology.conf`` and ``topology.yaml``: a tree of switches, or blocks of hosts.

    SwitchName=leaf1 Nodes=cn[1-16]
    SwitchName=core Switches=leaf[1-4]

Of a tree, switches are routers, and a line that names switches below has a link to each. Blocks
(``BlockName=``) are routers without links between them, as Slurm says nothing of those. A LinkSpeed
is in units of the site's own (topology.conf(5)) and is left out. Lines without a key of this file,
such as a prompt or a setting of slurm.conf, are left out with a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from workbench.errors import ParameterError, ParseError
from workbench.host_lists import expand_hosts
from workbench.topology.files.assembly import Assembly, Place, counted
from workbench.topology.topology import Topology
from workbench.yaml_text import load_yaml

_TREE = ("switchname", "switches", "nodes", "linkspeed", "level")
_BLOCK = ("blockname", "nodes", "blocksizes", "blockindex", "blocksize", "aggregatedblock")
_PAIR = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")
_FIRST = re.compile(r"\s*(switchname|blockname|blocksizes)\s*=", re.IGNORECASE)
_ROW = re.compile(
    r"^[\s>]*(switchname|blockname)\s*=\s*\S+\s+(nodes|switches|level|linkspeed|blockindex)\s*=",
    re.IGNORECASE | re.MULTILINE,
)
_YAML = re.compile(r"^\s+(tree|block):\s*(#.*)?$", re.MULTILINE)
_LISTED = re.compile(r"^([ \t]*)-\s*topology:", re.MULTILINE)


class _Line(NamedTuple):
    place: Place
    values: Mapping[str, str]


def is_slurm(text: str) -> bool:
    """Return whether a text begins as a topology.conf does, or has rows of one."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return bool(_FIRST.match(next(filter(None, lines), "")) or _ROW.search(text))


def is_slurm_yaml(text: str) -> bool:
    """Return whether a text is a topology.yaml: a list of topologies, of a tree or of blocks."""
    return bool(_LISTED.search(text) and _YAML.search(text))


def parse_slurm(text: str, source: str, *, hosts: int | None = None) -> Topology:
    """Return the topology of a topology.conf; None takes the hosts that it names.

    What ``scontrol show topology`` prints is read too. A last line that cannot be read, and that no
    line break ends, is left out with a note.
    """
    try:
        foreign: list[Place] = []
        return _assembled(list(_lines(text, source, foreign)), source, hosts, foreign=foreign)
    except ParseError as error:
        whole, _, last = text.rpartition("\n")
        if not last.strip() or error.line != text.count("\n") + 1 or not whole.strip():
            raise
        place = Place(source, error.line)
    note = f"left out, as it is cut off: {last.strip()[:80]!r}"
    foreign = []
    lines = list(_lines(whole, source, foreign))
    return _assembled(lines, source, hosts, cut=(note, place), foreign=foreign)


def parse_slurm_yaml(text: str, source: str, *, hosts: int | None = None) -> Topology:
    """Return the cluster's default of a topology.yaml, or else its first topology of switches.

    None for ``hosts`` takes the hosts that it names. What stands around the list, such as the key
    of a chart, is left out.
    """
    # A list stands alone in it; a mapping is what is read. Its lines are one further down.
    document = load_yaml(("topologies:\n" + _list_in(text)).encode(), "topology.yaml")
    found_lines: dict[str, list[_Line]] = {}
    default = ""
    listed = document.values.get("topologies")
    for number, one in enumerate(listed if isinstance(listed, list) else []):
        given = one if isinstance(one, dict) else {}
        called = str(given.get("topology", number))
        called = f"{called}, the {number + 1}th" if called in found_lines else called
        lines = found_lines[called] = []
        if str(given.get("cluster_default", "")).lower() == "true":
            default = default or called
        for kind, items, names in (
            ("tree", "switches", {"switch": "switchname", "children": "switches"}),
            ("block", "blocks", {"block": "blockname"}),
        ):
            content = given.get(kind)
            found = content.get(items) if isinstance(content, dict) else None
            for row, values in enumerate(found if isinstance(found, list) else []):
                path = ("topologies", number, kind, items, row)
                line = document.lines.get(path, 1) - 1
                if not isinstance(values, dict):
                    raise Place(source, line).error(f"{items} must be a list of mappings")
                pairs = {names.get(str(key), str(key)): str(value) for key, value in values.items()}
                lines.append(_Line(Place(source, line), pairs))
    of_switches = [called for called, lines in found_lines.items() if lines]
    chosen = default if default in of_switches else next(iter(of_switches), "")
    made = _assembled(found_lines.get(chosen, []), source, hosts)
    others = [called for called in found_lines if called != chosen]
    if not others:
        return made
    note = f"{chosen[:80]!r} is read; other topologies left out: {', '.join(others)[:80]}"
    return replace(made, notes=(*made.notes, note))


def _list_in(text: str) -> str:
    """Return the list of topologies within a text, on its own lines and without its indent."""
    begin = _LISTED.search(text)
    if begin is None:
        return ""
    before, indent, kept = text[: begin.start()].count("\n"), begin[1], list[str]()
    for line in text[begin.start() :].split("\n"):
        bare = line.removeprefix(indent) if line.strip() else ""
        if bare and (bare[0] not in " \t-#" or not line.startswith(indent)):
            break
        kept.append(bare)
    return "\n" * before + "\n".join(kept)


def _lines(text: str, source: str, foreign: list[Place]) -> Iterator[_Line]:
    """Yield the lines' values by their lower-case keys; a backslash goes on in the next line.

    Lines of something else are added to ``foreign``.
    """
    held, first = "", 0
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        bare = line.partition("#")[0].rstrip().lstrip("> \t")
        held, first = held + " " + bare.rstrip("\\"), first or number
        if bare.endswith("\\"):
            continue
        if held.strip():
            place = Place(source, first)
            pairs = {key.lower(): value.strip('"') for key, value in _PAIR.findall(held)}
            if not pairs.keys() & {*_TREE, *_BLOCK}:
                foreign.append(place)
            elif _PAIR.sub("", held).strip():
                raise place.error(
                    "a line must be pairs such as SwitchName=leaf1 Nodes=cn[1-16]; got "
                    f"{held.strip()[:80]!r}"
                )
            else:
                yield _Line(place, pairs)
        held, first = "", 0


def _assembled(
    lines: list[_Line],
    source: str,
    hosts: int | None,
    cut: tuple[str, Place] | None = None,  # the note on a line that is cut off, and where it is
    foreign: Sequence[Place] = (),  # lines of something else
) -> Topology:
    read = Assembly(source)
    if foreign:
        what = counted(len(foreign), "line")
        read.note(f"{what} of something else left out, this one first", foreign[0])
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
