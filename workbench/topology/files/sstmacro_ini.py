"""The topology of an ``.ini`` of SST/macro: its block ``topology``, by SST/macro v11.1's own names.

Tori, HyperX (``hypercube`` there) and dragonflies are those of this package. A fat tree has
SST/macro's own wiring, by the numbers of ports; a tapered one has one aggregation switch a subtree
and one core, as SST/macro merges them. Where the file has the blocks of switches and nodes as well,
links have the bandwidth and latency of ``switch.link`` and hosts that of ``node.nic.injection``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import ParameterError
from workbench.ini_grammar import IniEntry, read_document
from workbench.topology.complete import fully_connected
from workbench.topology.dragonfly import dragonfly
from workbench.topology.fat_tree import CLASSES
from workbench.topology.files.assembly import MOST_HOSTS_OF_ROUTER, Assembly, Place, whole_number
from workbench.topology.generator_checks import LARGEST
from workbench.topology.hyperx import hyperx
from workbench.topology.topology import Topology
from workbench.topology.torus import torus
from workbench.units import Kind, parse_quantity

_BLOCK = re.compile(r"^\s*topology(\s*\{|\.\w+\s*=)", re.MULTILINE)
_INCLUDE = re.compile(r"^\s*include\s+\S+\.ini\s*$", re.MULTILINE)
_PREFIX = "topology."
_MOST_DIMENSIONS = 8  # chosen: the machines at hand have up to six (Tofu)


def is_sstmacro_ini(text: str) -> bool:
    """Return whether a text has a block ``topology`` as an .ini of SST/macro, or includes one."""
    named = _BLOCK.search(text) and re.search(r"^\s*(topology\.)?name\s*=", text, re.MULTILINE)
    return bool(named or _INCLUDE.search(text))


def parse_sstmacro_ini(
    text: str, source: str, *, hosts: int | None = None, path: Path | None = None
) -> Topology:
    """Return the topology of an .ini; None takes its concentration, ``path`` its includes."""
    document = read_document(text.encode() if path is None else path)
    given = _Given(
        {
            key.removeprefix(_PREFIX): entry
            for key, entry in document.entries.items()
            if key.startswith(_PREFIX)
        },
        source,
    )
    if not given.entries and _INCLUDE.search(text):
        raise Place(source).error(
            "neither it nor the .ini that it includes has a block topology: give one that has"
        )
    name = given.text("name")
    if name not in _FAMILIES:
        raise given.place("name").error(
            f"the topology {name[:80]!r} is not read from an .ini; {', '.join(_FAMILIES)} are: "
            "build it with workbench topology build"
        )
    each = given.number("concentration", 1, most=MOST_HOSTS_OF_ROUTER)
    try:
        made = _FAMILIES[name](given, each if hosts is None else hosts)
    except ParameterError as error:
        raise given.place("name").error(str(error)) from error
    made = _with_rates(made, document.entries, source)
    left = sorted(set(given.entries) - given.used)
    notes = (f"keys that do not change the network left out: {', '.join(left)}",) if left else ()
    return replace(made, notes=made.notes + notes)


def _with_rates(made: Topology, entries: Mapping[str, IniEntry], source: str) -> Topology:
    """Return a topology with the bandwidths and the latency of links that an .ini states."""
    links, hosts = made.num_links, made.num_hosts
    rates: tuple[tuple[str, Kind, str, int], ...] = (
        ("switch.link.bandwidth", "bandwidth", "link_bandwidth", links),
        ("switch.link.latency", "time", "link_latency", links),
        ("node.nic.injection.bandwidth", "bandwidth", "host_bandwidth", hosts),
    )
    for key, kind, field, count in rates:
        if key in entries:
            text = entries[key].text.strip().strip('"')
            try:
                value = parse_quantity(text, kind, key=key)
                stated: dict[str, Any] = {field: np.full(count, value, float)}
                made = replace(made, **stated)
            except ParameterError as error:
                raise Place(source, entries[key].line).error(f"{key}: {error}") from error
    return made


class _Given:
    """The keys of the block, and which of them have been used."""

    def __init__(self, entries: dict[str, IniEntry], source: str) -> None:
        self.entries = entries
        self.source = source
        self.used: set[str] = set()

    def place(self, key: str) -> Place:
        """Return where a key is."""
        entry = self.entries.get(key)
        return Place(self.source, entry.line if entry else 0)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a key's text."""
        self.used.add(key)
        if key in self.entries:
            return self.entries[key].text.strip().strip('"')
        if default is None:
            raise Place(self.source).error(f"the block topology must have {key}")
        return default

    def number(self, key: str, default: int | None = None, *, most: int = LARGEST) -> int:
        """Return a key's whole number of at least 1."""
        text = self.text(key, None if default is None else str(default))
        return whole_number(text, f"topology.{key}", most, self.place(key), 1)

    def numbers(self, key: str, default: str | None = None) -> tuple[int, ...]:
        """Return a key's list of whole numbers, such as ``[4,4,2]``."""
        words = re.split(r"[\s,]+", self.text(key, default).strip("[] "))
        if len(words) > _MOST_DIMENSIONS:
            raise self.place(key).error(
                f"topology.{key} must be at most {_MOST_DIMENSIONS} numbers; got {len(words)}"
            )
        place = self.place(key)
        return tuple(whole_number(word, f"topology.{key}", LARGEST, place, 1) for word in words)


def _torus(given: _Given, hosts: int) -> Topology:
    several = given.numbers("redundant", "1")
    return torus(given.numbers("geometry"), hosts=hosts, multiplicity=several)


def _hyperx(given: _Given, hosts: int) -> Topology:
    several = given.numbers("redundant", "1")
    return hyperx(given.numbers("geometry"), hosts=hosts, multiplicity=several)


def _complete(given: _Given, hosts: int) -> Topology:
    return fully_connected(given.numbers("geometry")[0], hosts=hosts)


def _dragonfly(given: _Given, hosts: int) -> Topology:
    geometry = given.numbers("geometry")
    if len(geometry) != 2:
        raise given.place("geometry").error(
            f"a dragonfly's geometry must be its routers a group and its groups, as [4,9]; got "
            f"{len(geometry)} numbers"
        )
    wiring = given.text("inter_group", "circulant")
    if wiring != "circulant":
        raise given.place("inter_group").error(
            f"inter_group must be circulant to be read; got {wiring[:80]!r}"
        )
    h = given.number("group_connections" if "group_connections" in given.entries else "h")
    return dragonfly(a=geometry[0], g=geometry[1], h=h, p=hosts, wiring="sst-circulant")


def _fat_tree(given: _Given, hosts: int) -> Topology:
    """Return a fat tree with the ports that leaves, aggregation and core switches have."""
    trees, leaves, aggs, cores = _tiers(given)
    leaf_up = given.number("up_ports_per_leaf_switch")
    agg_down = given.number("down_ports_per_agg_switch")
    agg_up = given.number("up_ports_per_agg_switch")
    core_down = given.number("down_ports_per_core_switch")
    for up, down, between in (
        (leaves * leaf_up, aggs * agg_down, "leaves and aggregation switches of a subtree"),
        (trees * aggs * agg_up, cores * core_down, "aggregation and core switches"),
    ):
        if up != down:
            raise given.place("name").error(
                f"ports up and down between {between} must be as many; got {up} and {down}"
            )
    if trees * (leaves * leaf_up + aggs * agg_up) > LARGEST:
        raise given.place("name").error(f"a topology must have at most {LARGEST} links")
    read, first_agg, first_core = _switches(given, trees, leaves, trees * aggs, cores)
    for leaf in range(trees * leaves):
        tree, place = divmod(leaf, leaves)
        for port in range(leaf_up):
            agg = first_agg + tree * aggs + (place + port * leaves) // agg_down
            read.link(leaf, agg, given.place("name"), CLASSES[1])
    for agg in range(trees * aggs):
        tree, place = divmod(agg, aggs)
        for port in range(agg_up):
            core = first_core + (port * trees * aggs + place * trees + tree) // core_down
            read.link(first_agg + agg, core, given.place("name"), CLASSES[2])
    return _finished(given, read, trees, leaves, aggs, hosts)


def _tapered(given: _Given, hosts: int) -> Topology:
    """Return a fat tree with one aggregation switch a subtree and one core."""
    trees, leaves, aggs, cores = _tiers(given)
    read, first_agg, core = _switches(given, trees, leaves, trees, 1)
    for leaf in range(trees * leaves):
        read.link(leaf, first_agg + leaf // leaves, given.place("name"), CLASSES[1])
    for tree in range(trees):
        read.link(first_agg + tree, core, given.place("name"), CLASSES[2])
    read.note(
        f"the {aggs} aggregation switches of a subtree are one, and the {cores} cores too, as "
        "SST/macro merges them; all links have one bandwidth"
    )
    return _finished(given, read, trees, leaves, 1, hosts)


def _tiers(given: _Given) -> tuple[int, int, int, int]:
    """Return the subtrees, leaves and aggregation switches of each, and the cores."""
    return (
        given.number("num_agg_subtrees"),
        given.number("leaf_switches_per_subtree"),
        given.number("agg_switches_per_subtree"),
        given.number("num_core_switches"),
    )


def _switches(
    given: _Given, trees: int, leaves: int, aggs: int, cores: int
) -> tuple[Assembly, int, int]:
    """Return an assembly with the switches, and the numbers of the first of the upper tiers."""
    total = trees * leaves + aggs + cores
    if total > LARGEST:
        raise given.place("name").error(f"a topology must have at most {LARGEST} switches")
    read = Assembly(given.source)
    for number in range(total):
        read.router(str(number), given.place("name"))
    return read, trees * leaves, trees * leaves + aggs


def _finished(
    given: _Given, read: Assembly, trees: int, leaves: int, aggs: int, hosts: int
) -> Topology:
    place = given.place("name")
    for leaf in range(trees * leaves):
        read.group(leaf, str(leaf // leaves), place)
        read.hosts(leaf, hosts, place)
    for agg in range(trees * aggs):
        read.group(trees * leaves + agg, str(agg // aggs), place)
    return read.topology(name=f"{given.text('name').replace('_', ' ')}, {given.source}")


_FAMILIES: dict[str, Callable[[_Given, int], Topology]] = {
    "torus": _torus,
    "hypercube": _hyperx,
    "hyperx": _hyperx,
    "fully_connected": _complete,
    "dragonfly": _dragonfly,
    "fat_tree": _fat_tree,
    "tapered_fat_tree": _tapered,
}
