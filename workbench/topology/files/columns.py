"""What the columns of a list of links mean: by their names, and by the units in names and cells.

A column's name is a word such as ``bandwidth``, and may end in a unit: ``bandwidth_Gbps``,
``latency (us)``. A cell may have its unit too, ``100Gbps``. A bandwidth without either is in
Gbit/s, with a note; a latency without either is refused.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from workbench.errors import ParameterError, ParseError
from workbench.topology.files.assembly import (
    LINK,
    MOST_PARALLEL,
    SHOWN,
    Assembly,
    Place,
    whole_number,
)
from workbench.units import Kind, parse_typed_quantity

COLUMNS = ("one", "other", "class", "links", "hosts", "group", "at", "host", "bandwidth", "latency")
"""The meanings of columns: two routers, and what is said of the link, or of the first router."""

OF_LINKS = ("class", "links", "bandwidth", "latency")
"""The meanings of what a link has."""

LEFT_OUT = "left out"
"""The meaning of a column that is known, and not used."""

_MEANINGS = {
    "one": "one source from src router node1 a u router1 switch1 switch_a node_a src_node "
    "src_router src_switch source_node source_router source_switch device1 device_a sw1 n1 node_1 "
    "switch_1 local endpoint_a endpoint1 end_a left start begin "
    "local_host local_device local_switch source_host source_device src_device from_device",
    "other": "other target to dst dest destination neighbour neighbor node2 b v router2 switch2 "
    "switch_b node_b dst_node dst_router dst_switch target_node target_router target_switch "
    "device2 device_b sw2 n2 node_2 switch_2 remote peer endpoint_b endpoint2 end_b right end "
    "remote_host remote_device remote_switch destination_host destination_device dest_device "
    "dst_device target_device to_device",
    "class": "class type link_class link_type kind cable_type",
    "links": "links count multiplicity parallel parallel_links num_links number_of_links",
    "hosts": "hosts",
    "group": "group",
    "at": "at coordinates",
    "host": "host host_name",
    "bandwidth": "bandwidth bw rate data_rate datarate speed link_speed linkspeed link_rate "
    "capacity link_capacity link_bandwidth throughput",
    "latency": "latency lat delay link_latency link_delay propagation_delay",
    LEFT_OUT: "id link_id index name label comment port port1 port2 src_port dst_port source_port "
    "target_port dest_port destination_port local_port remote_port local_interface "
    "remote_interface source_interface destination_interface error_rate loss loss_rate length "
    "length_m cable cable_length",
}  # fmt: skip
_ALIASES = {name: meaning for meaning, names in _MEANINGS.items() for name in names.split()}
_LETTERS = ("a", "b", "u", "v")
_UNITS: dict[str, tuple[Kind, str]] = {
    "bandwidth": ("bandwidth", "100Gbps"),
    "latency": ("time", "0.5us"),
}
_ASSUMED_UNIT = "Gbps"
_MULTIPLE = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)x", re.ASCII)
"""A bandwidth as a multiple of some link's: 2x."""
_ETHERNET = re.compile(r"(\d+(?:\.\d+)?) ?(?:G|Gb|GbE|Gbe|Gig)", re.ASCII)
"""As speeds of Ethernet are written: 100G is 100 Gbit/s."""
_CAMEL = re.compile(r"(?<=[a-z]{2})(?=[A-Z][a-z])|(?<=[a-z]{4})(?=[A-Z])")
"""Where a word begins within a name, as in linkBandwidth or bandwidthGBps; kB/s is one."""


class LinkColumn(NamedTuple):
    """A column of a list of links."""

    name: str  # as in the file
    meaning: str  # one of COLUMNS, or LEFT_OUT
    unit: str = ""  # of cells without one


class LinkValues(NamedTuple):
    """What a line says of its link."""

    link_class: str = LINK
    parallel: int = 1
    bandwidth: float | None = None  # B/s
    latency: float | None = None  # s


def column_of(name: str) -> LinkColumn | None:
    """Return what a column's name means, None where it means nothing that is known."""
    spaced = _CAMEL.sub(" ", name.strip())
    words = [word for word in re.split(r"[\s_()\[\].:-]+", spaced) if word]
    whole = "_".join(words).lower()
    if whole in _ALIASES:
        return LinkColumn(name, _ALIASES[whole])
    if len(words) > 1:
        meaning = _ALIASES.get("_".join(words[:-1]).lower(), "")
        if meaning in _UNITS and _quantity(f"1{words[-1]}", meaning) is not None:
            return LinkColumn(name, meaning, words[-1])
    return None


def header_of(cells: Sequence[str], place: Place, read: Assembly) -> list[LinkColumn] | None:
    """Return the columns that a first row names, None where it is no header but a link.

    One that names two routers, and something that is not understood or twice, is refused.
    """
    found = [column_of(cell) for cell in cells]
    meanings = [column.meaning for column in found if column]
    if "one" not in meanings or "other" not in meanings or _are_letters(cells):
        return None
    for cell, column in zip(cells, found, strict=True):
        if column is None:
            raise place.error(
                f"the column {cell[:SHOWN]!r} is not understood; columns are "
                f"{', '.join(COLUMNS)}, the last two with a unit, as bandwidth_Gbps or latency_us: "
                "rename it, or delete it"
            )
    repeated = next((name for name in COLUMNS if meanings.count(name) > 1), None)
    if repeated:
        raise place.error(f"each column must occur once; {repeated} occurs more often")
    if LEFT_OUT in meanings:
        names = ", ".join(column.name for column in found if column and column.meaning == LEFT_OUT)
        read.note(f"columns left out: {names}")
    return [column for column in found if column]


def is_header(cells: Sequence[str]) -> bool:
    """Return whether cells name columns of links: two routers first, or among what is all known."""
    found = [column_of(cell) for cell in cells]
    two = [column.meaning for column in (found if None not in found else found[:2]) if column]
    sizes = any("size" in cell.lower() or "bytes" in cell.lower() for cell in cells)
    return {"one", "other"} <= set(two) and not sizes and not _are_letters(cells)


def _are_letters(cells: Sequence[str]) -> bool:
    """Return whether cells are two routers called a and b, or u and v, and no columns."""
    columns = [column_of(cell) for cell in cells[2:]]
    return all(cell.lower() in _LETTERS for cell in cells[:2]) and (not columns or None in columns)


def are_links(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows without a header are links: two names, and what a link may have.

    Numbers in two columns may be anything; those of a network that hangs together come again, so
    that there are fewer names than links, but for one. Rows with another number behind, which is
    refused later, are links where the names are words, or a third of them are in both columns.
    """
    ends: tuple[set[str], set[str]] = (set(), set())
    bare = False
    for row in rows:
        if len(row) < 2 or not (_NAME.fullmatch(row[0]) and _NAME.fullmatch(row[1])):
            return False
        more = [word for word in row[2:] if not _is_bare(word)]
        bare = bare or len(more) < len(row) - 2
        try:
            free_values(more, Place(""), Assembly(""))
        except ParseError:
            return False
        for names, word in zip(ends, row, strict=False):
            names.add(word)
    names = ends[0] | ends[1]
    if are_settings(rows):
        return False
    words = not any(map(_is_bare, names))
    sure = not bare or words or 3 * len(ends[0] & ends[1]) >= len(names)
    return len(rows) > 1 and len(names) <= len(rows) + 1 and sure


def are_settings(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether all rows are a word and a number, such as ``Tiers 3``, and no links."""
    return len(rows) > 1 and all(
        len(row) == 2 and row[0].replace("_", "").isalpha() and _is_bare(row[1]) for row in rows
    )


_NAME = re.compile(r"(?![\d.]*\.\d*$)[\w.:/@+-]+")
"""A router's name in a list without a header; a decimal fraction is none."""


def link_values(
    columns: Sequence[LinkColumn], cells: Sequence[str], place: Place, read: Assembly
) -> LinkValues:
    """Return what the cells of a row with a header say of its link."""
    values = LinkValues()
    for column, cell in zip(columns, cells, strict=False):
        if cell:
            values = _with(values, column, cell, place, read)
    return values


def free_values(words: Sequence[str], place: Place, read: Assembly) -> LinkValues:
    """Return what the words behind two routers say of their link, where no header says it.

    A number, which could mean anything, is refused, and what is said twice.
    """
    values = LinkValues()
    seen: set[str] = set()
    for word in words:
        if not word:
            continue
        if word.startswith("{"):  # as networkx writes attributes, {} where an edge has none
            given = {key: value for _, key, _, value in _ATTRIBUTE.findall(word)}
            values = attribute_values(given, place, read, start=values)
            continue
        column, value = _meaning_of(word, place)
        if column.meaning in seen:
            raise place.error(
                f"a link has one {column.meaning}; got another, {word[:SHOWN]!r}: {_HOW}"
            )
        seen.add(column.meaning)
        values = _with(values, column, value, place, read)
    return values


def attribute_values(
    given: Mapping[str, str],
    place: Place,
    read: Assembly,
    *,
    unnamed: Collection[str] = (),  # attributes that no note names
    start: LinkValues | None = None,  # what is said of the link already
) -> LinkValues:
    """Return what the attributes of a link say of its rates; note the attributes left out."""
    values = LinkValues() if start is None else start
    for key, value in given.items():
        column = column_of(key)
        unit = next((given[key + end] for end in _UNIT_ENDS if key + end in given), "")
        if unit and _is_bare(value):
            value += f"{unit}bps" if unit in "KMGT" else unit  # as the Topology Zoo writes them
        if any(key.removesuffix(end) in given.keys() - {key} for end in _UNIT_ENDS):
            continue
        if column is None or column.meaning not in OF_LINKS:
            if key not in unnamed:
                read.note(f"attribute of edges left out: {key[:SHOWN]}")
        elif column.meaning == "latency" and not (column.unit or is_quantity(value, "latency")):
            read.note(f"{key[:SHOWN]} has no unit, and is left out")
        elif value:
            values = _with(values, column, value, place, read)
    return values


_UNIT_ENDS = ("Units", "_units", "_unit")
"""What the name of an attribute ends in that holds the unit of another."""

_ATTRIBUTE = re.compile(r"(['\"])([^'\"]*)\1\s*:\s*(['\"]?)([^'\",{}]*)\3")
"""A key and its value of a dict of Python's."""

_HOW = (
    "a link must be two routers, and may have its class, links=3 for how many are side by side, a "
    "bandwidth such as 100Gbps and a latency such as 0.5us; or a header must name the columns, as "
    "src dst rate latency"
)


def _meaning_of(word: str, place: Place) -> tuple[LinkColumn, str]:
    """Return what a word behind two routers means, and its value."""
    key, equals, value = word.partition("=")
    if equals:
        column = column_of(key)
        if column is None or column.meaning not in OF_LINKS:
            raise place.error(f"{key[:SHOWN]!r} is nothing that a link has: {_HOW}")
        return column, value
    for meaning in _UNITS:
        if _quantity(word, meaning) is not None:
            return LinkColumn(word, meaning), word
    if not _is_bare(word):
        return LinkColumn("class", "class"), word
    raise place.error(f"what {word[:SHOWN]!r} behind two routers means is not clear: {_HOW}")


def _with(
    values: LinkValues, column: LinkColumn, cell: str, place: Place, read: Assembly
) -> LinkValues:
    if column.meaning == "class":
        return values._replace(link_class=cell)
    if column.meaning == "links":
        count = whole_number(cell, "parallel links", MOST_PARALLEL, place, 1)
        return values._replace(parallel=count)
    if column.meaning == "bandwidth":
        return values._replace(bandwidth=quantity_of(column, cell, place, read))
    if column.meaning == "latency":
        return values._replace(latency=quantity_of(column, cell, place, read))
    return values


def quantity_of(column: LinkColumn, cell: str, place: Place, read: Assembly) -> float:
    """Return a cell's bandwidth in B/s, or its latency in s, which must have a unit."""
    kind, example = _UNITS[column.meaning]
    if column.meaning == "bandwidth":
        read.relative(_MULTIPLE.fullmatch(cell) is not None, place)
    bare = _is_bare(cell)
    unit = column.unit if bare else ""
    if bare and not unit:
        if column.meaning == "latency":
            raise place.error(
                f"the column {column.name[:SHOWN]!r} must have a unit: name it "
                f"{column.name[:SHOWN]}_us or {column.name[:SHOWN]}_ns, or write cells such "
                f"as {example}"
            )
        unit = _ASSUMED_UNIT
        read.note(f"{column.name[:SHOWN]} has no unit, and is taken as Gbit/s")
    value = _quantity(cell + unit, column.meaning)
    least = 0.0 if column.meaning == "latency" else sys.float_info.min
    if value is None or not least <= value < math.inf:
        raise place.error(
            f"{column.name[:SHOWN]} must be a {kind} such as {example}; got {cell[:SHOWN]!r}"
        )
    return value


def _is_bare(text: str) -> bool:
    """Return whether a text is a number without a unit."""
    try:
        float(text)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=4096)  # columns repeat themselves: 300,000 rows in half the time
def _quantity(text: str, meaning: str) -> float | None:
    """Return a quantity with its unit, None where it is none."""
    if meaning == "bandwidth" and _MULTIPLE.fullmatch(text):
        return float(text[:-1])
    ethernet = _ETHERNET.fullmatch(text) if meaning == "bandwidth" else None
    if ethernet:
        text = f"{ethernet[1]}Gbps"
    try:
        value = parse_typed_quantity(text, _UNITS[meaning][0])
    except (ParameterError, OverflowError):
        return None
    return float(value) if text.rstrip()[-1].isalpha() else None


def is_quantity(text: str, meaning: str) -> bool:
    """Return whether a text is a bandwidth, or a latency, with its unit."""
    return bool(text.strip()) and _quantity(text, meaning) is not None


_WRITTEN = {
    "bandwidth": (("Gbps", 1e9 / 8), ("B/s", 1.0)),
    "latency": (("us", 1e-6), ("ns", 1e-9), ("s", 1.0)),
}


def written(value: float, meaning: str, *, relative: bool = False) -> str:
    """Return a bandwidth or latency as text that reads back as the same number."""
    if relative:
        return f"{value!r}x"
    for unit, scale in _WRITTEN[meaning]:
        text = f"{value / scale:.12g}{unit}"
        if _quantity(text, meaning) == value:
            return text
    return f"{value!r}{_WRITTEN[meaning][-1][0]}"


def is_class(word: str) -> bool:
    """Return whether a word behind two routers is read as the class of their link."""
    try:
        column, _ = _meaning_of(word, Place(""))
    except ParseError:
        return False
    return column.meaning == "class" and "=" not in word and word != "{}"
