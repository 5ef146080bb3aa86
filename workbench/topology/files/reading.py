"""Any file of a network, by what it holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from workbench.errors import ParameterError, ParseError
from workbench.reading import Reading, as_utf8, instead
from workbench.suggestions import did_you_mean
from workbench.topology.files.anynet import is_anynet, parse_anynet
from workbench.topology.files.assembly import ASSUMED, MOST_HOSTS_OF_ROUTER, counted
from workbench.topology.files.codes import (
    connection_files,
    parse_codes,
    parse_configuration,
    to_codes,
)
from workbench.topology.files.csv_table import is_csv, parse_csv, separator_of, to_csv
from workbench.topology.files.dot import is_dot, parse_dot
from workbench.topology.files.edge_list import is_edge_list, parse_edge_list, to_edge_list
from workbench.topology.files.graphml import parse_graphml, to_graphml
from workbench.topology.files.hosts import HostsAt, describe_hosts, with_hosts
from workbench.topology.files.ibnetdiscover import (
    is_ibnetdiscover,
    is_port_list,
    parse_ibnetdiscover,
    parse_port_list,
)
from workbench.topology.files.ns3 import is_ns3, is_simai, parse_ns3
from workbench.topology.files.pasted import unwrapped
from workbench.topology.files.slurm import is_slurm, is_slurm_yaml, parse_slurm, parse_slurm_yaml
from workbench.topology.files.sstmacro_ini import is_sstmacro_ini, parse_sstmacro_ini
from workbench.topology.files.sstmacro_json import parse_sstmacro_json, to_sstmacro_json
from workbench.topology.topology import Topology, whole

Format = Literal[
    "edge-list",
    "csv",
    "graphml",
    "sstmacro",
    "codes",
    "slurm",
    "slurm-yaml",
    "ibnetdiscover",
    "ibnetdiscover-ports",
    "ns3",
    "anynet",
    "sstmacro-ini",
    "dot",
]
FORMATS: tuple[Format, ...] = get_args(Format)

SUFFIXES: dict[str, Format] = {
    ".txt": "edge-list",
    ".edges": "edge-list",
    ".csv": "csv",
    ".graphml": "graphml",
    ".json": "sstmacro",
    ".conf": "codes",
}
"""What a file is written as by the end of its name."""


class NetworkFormat(NamedTuple):
    """A format of text."""

    title: str  # what a file of it is, for people
    router: str  # what it calls a router
    is_it: Callable[[str], bool]  # whether a text, which may be cut off, is of it
    parse: Callable[..., Topology]  # reads a text; takes ``hosts``


_TEXTS: dict[Format, NetworkFormat] = {
    "slurm": NetworkFormat("Slurm topology.conf", "switch", is_slurm, parse_slurm),
    "slurm-yaml": NetworkFormat("Slurm topology.yaml", "switch", is_slurm_yaml, parse_slurm_yaml),
    "ibnetdiscover": NetworkFormat(
        "ibnetdiscover", "switch", is_ibnetdiscover, parse_ibnetdiscover
    ),
    "ibnetdiscover-ports": NetworkFormat(
        "ibnetdiscover -p", "switch", is_port_list, parse_port_list
    ),
    "ns3": NetworkFormat("ns-3 topology", "switch", is_ns3, parse_ns3),
    "anynet": NetworkFormat("BookSim anynet", "router", is_anynet, parse_anynet),
    "sstmacro-ini": NetworkFormat(
        "topology of an SST/macro .ini", "switch", is_sstmacro_ini, parse_sstmacro_ini
    ),
    "dot": NetworkFormat("Graphviz dot", "router", is_dot, parse_dot),
    "csv": NetworkFormat("CSV of links", "router", is_csv, parse_csv),
    "edge-list": NetworkFormat("list of links", "router", is_edge_list, parse_edge_list),
}
"""In the order in which they are tried; the last takes what is no other."""

_OF_INI = re.compile(r"\s*(include\s|set\s+var\s|[\w.-]+\s*[={]|\})")
_HEAD = 2**16
"""Characters by which a text is recognised."""

MOST_BYTES = 2**28
"""Longest file that is read."""


def read_topology(
    source: str | Path | bytes,
    *,
    format: Format | None = None,
    hosts: int | None = None,
    at: HostsAt = "all",
    directed: bool | None = None,
    name: str = "",
) -> Topology:
    """Return the topology of a file.

    It may be an edge list, CSV, GraphML or dot; of Slurm, ibnetdiscover, ns-3, SimAI or BookSim; or
    SST/macro's or CODES's own. ``notes`` of the result are what was assumed, joined or left out.

    Routers are numbered by their names if these are whole numbers, else in the order in which
    they are met; SST/macro's in the order of their names. Hosts are numbered router by router, or
    by their names if these are whole numbers.

    Args:
        source: path of a file, or its text or bytes; a ``str`` with a line break is text, one
            without is a path. CODES's is the path of a ``.conf``, beside which the two files
            that it names lie.
        format: one of ``FORMATS``; None tells it from the content.
        hosts: hosts of each router; None takes what the file tells, or one for each if it tells
            nothing of hosts.
        at: the routers that have ``hosts``: ``all``, or ``edge``, those with the fewest links, as
            the leaves of a leaf-spine network and the lowest level of a fat tree are.
        directed: for an edge list and CSV: whether each link is listed once for each way; None: if
            all are.
        name: the topology's; empty takes the file's.

    Raises:
        ParseError: it cannot be read, or is no such file; names the line.
        ParameterError: an argument is none of these.
    """
    if at != "all":
        made = read_topology(source, format=format, directed=directed, name=name)
        return with_hosts(made, 1 if hosts is None else hosts, at)
    if format is not None and format not in FORMATS:
        raise ParameterError(
            f"format must be one of {', '.join(FORMATS)}; got {format!r}"
            f"{did_you_mean(format, FORMATS)}",
            key="format",
        )
    if hosts is not None:
        hosts = whole("hosts", hosts, 0, "the hosts of a router")
        if hosts > MOST_HOSTS_OF_ROUTER:
            raise ParameterError(
                f"hosts must be at most {MOST_HOSTS_OF_ROUTER}; got {hosts}", key="hosts"
            )
    path = None
    if isinstance(source, bytes):
        content, title = as_utf8(source), name or "bytes"
    elif isinstance(source, str) and ("\n" in source or "\r" in source):
        content, title = source.encode("utf-8", "replace"), name or "text"
    else:
        path = Path(source)
        content, title = _content(path), name or path.name
    if format is None and _kind_of(content) is None:
        inner = unwrapped(content)
        if inner is not None and (format := _kind_of(inner)) is not None:
            made = read_topology(inner, format=format, hosts=hosts, directed=directed, name=title)
            return replace(made, notes=(*made.notes, _AROUND))
    if format == "graphml" or (format is None and _is_xml(content)):
        return parse_graphml(content, title, hosts=hosts)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        other = instead(content, title)
        raise ParseError(
            f"must be a network, as UTF-8 text{f'; {other}' if other else ''}",
            source=title,
            line=0 if other else line,
        ) from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if format is None:
        format = _format_of(text[:_HEAD])
        if format is None and (other := instead(content, title, but="topology")):
            raise ParseError(f"must be a network; {other}", source=title)
        format = format or _list_of(text[:_HEAD])
    if format == "sstmacro":
        return parse_sstmacro_json(text, title, hosts=hosts)
    if format == "codes":
        values = parse_configuration(text, title)
        intra, inter = connection_files(values, title)
        if path is None:
            raise ParseError(
                f"CODES's configuration names the files {intra} and {inter}: give its path, and "
                "put them beside it",
                source=title,
            )
        within, between = (_content(path.with_name(other)) for other in (intra, inter))
        return parse_codes(values, within, between, title, hosts=hosts)
    parse = _TEXTS[format].parse
    if format in ("csv", "edge-list"):
        return parse(text, title, hosts=hosts, directed=directed)
    if format == "sstmacro-ini":
        return parse(text, title, hosts=hosts, path=path)
    return parse(text, title, hosts=hosts)


def reading_of(content: bytes, source: str, path: Path | None = None) -> Reading | None:
    """Return what a file of a network is, None where it is no such file."""
    format = _kind_of(content)
    if len(content) > MOST_BYTES:
        return None
    if format is None:
        inner = unwrapped(content)
        # Two columns of a log within a block of code may be anything.
        if inner is None or (format := _kind_of(inner)) in (None, "edge-list"):
            return None
        found = reading_of(inner, source)
        return found and replace(found, notes=(*found.notes, _AROUND))
    network = read_topology(content if path is None else path, format=format, name=source)
    named = _TEXTS.get(format)
    title, router = (named.title, named.router) if named else (_OTHERS[format], "router")
    if format == "ns3" and is_simai(_head_of(content) or ""):
        title = "SimAI topology"
    counts = ", ".join(
        counted(count, what)
        for count, what in (
            (network.num_hosts, "host"),
            (network.num_routers, router),
            (network.num_links, "link"),
        )
    )
    assumed = network.parameters.get("hosts") == ASSUMED
    return Reading(
        file=source,
        kind="topology",
        title=f"{title}: {counts}",
        facts={
            "hosts": network.num_hosts,
            "routers": network.num_routers,
            "links": network.num_links,
            "unequal": network.unequal or len(np.unique(network.link_latency)) > 1,
        },
        notes=network.notes + ((describe_hosts(network),) if assumed else ()),
    )


_AROUND = "what stands around it, or before each line, was left out"


def _head_of(content: bytes) -> str | None:
    """Return the first part of a text, None where it is no text in UTF-8."""
    # What is cut off behind the head may be half a character.
    how = "strict" if len(content) <= _HEAD else "ignore"
    try:
        head = content[:_HEAD].decode("utf-8-sig", how)
    except UnicodeDecodeError:
        return None
    return head.replace("\r\n", "\n").replace("\r", "\n")


def _kind_of(content: bytes) -> Format | None:
    """Return the format of a content by its first part, None where it is none of a network."""
    if _is_xml(content):
        return "graphml" if b"<graphml" in content[:_HEAD].replace(b"\0", b"") else None
    head = _head_of(content)
    return None if head is None else _format_of(head)


_OTHERS: dict[Format, str] = {
    "graphml": "GraphML",
    "sstmacro": "SST/macro topology file",
    "codes": "CODES configuration",
}


def write_topology(
    topology: Topology, path: str | Path, *, format: Format | None = None
) -> list[Path]:
    """Write a topology to a file and return its path; CODES's are three.

    Args:
        topology: any.
        path: the file.
        format: one of those in ``SUFFIXES``; None tells it from the end of the path.

    Raises:
        ParameterError: the format is unknown, or cannot hold the topology.
        OSError: the file cannot be written.
    """
    path = Path(path)
    format = format or SUFFIXES.get(path.suffix.lower())
    if format not in SUFFIXES.values():
        raise ParameterError(
            f"format must be one of {', '.join(dict.fromkeys(SUFFIXES.values()))}, or the file's "
            f"name end in {', '.join(SUFFIXES)}; got {format or path.name!r}",
            key="format",
        )
    if format == "codes":
        written = {path.with_name(n): data for n, data in to_codes(topology, path.stem).items()}
    else:
        writers: dict[str | None, Callable[[Topology], str]] = {
            "edge-list": to_edge_list,
            "csv": to_csv,
            "graphml": to_graphml,
            "sstmacro": to_sstmacro_json,
        }
        written = {path: writers[format](topology).encode()}
    for target, data in written.items():
        target.write_bytes(data)
    return list(written)


def _content(path: Path) -> bytes:
    """Return the bytes of a file that is not too long."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ParseError(
            f"cannot read it: {reason or error}", source=path.name or str(path)
        ) from error
    if len(content) > MOST_BYTES:
        raise ParseError(f"a file must have at most {MOST_BYTES} bytes", source=path.name)
    return as_utf8(content)


def _is_xml(content: bytes) -> bool:
    """Return whether bytes begin as XML does, in UTF-8 or UTF-16."""
    return content[:256].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<")


def _format_of(head: str) -> Format | None:
    """Return the format of a text by its first part, None where it is none of a network."""
    first = next((line for line in head.splitlines() if line.split("#")[0].strip()), "")
    if first.lstrip().startswith("{"):
        return "sstmacro" if '"switches"' in head and '"nodes"' in head else None
    if first.split()[:1] in (["LPGROUPS"], ["PARAMS"]):
        return "codes"
    found = next((format for format, one in _TEXTS.items() if one.is_it(head)), None)
    # The block of an .ini is found anywhere, but a command or a block of code is none of it.
    return None if found == "sstmacro-ini" and not _OF_INI.match(first) else found


def _list_of(head: str) -> Format:
    """Return what a text that is recognised as nothing is taken as."""
    first = next((line for line in head.splitlines() if line.split("#")[0].strip()), "")
    if first.lstrip().startswith("{"):
        return "sstmacro"
    # A router's line of an edge list may have commas too, in its coordinates.
    return "csv" if not first.startswith("router ") and separator_of(first) else "edge-list"
