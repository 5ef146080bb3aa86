"""Any file of a network, by what it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from workbench.errors import ParameterError, ParseError
from workbench.suggestions import did_you_mean
from workbench.topology.files.assembly import MOST_HOSTS_OF_ROUTER
from workbench.topology.files.codes import (
    connection_files,
    parse_codes,
    parse_configuration,
    to_codes,
)
from workbench.topology.files.csv_table import parse_csv, separator_of, to_csv
from workbench.topology.files.edge_list import parse_edge_list, to_edge_list
from workbench.topology.files.graphml import parse_graphml, to_graphml
from workbench.topology.files.hosts import HostsAt, with_hosts
from workbench.topology.files.sstmacro_json import parse_sstmacro_json, to_sstmacro_json
from workbench.topology.topology import Topology, whole

Format = Literal["edge-list", "csv", "graphml", "sstmacro", "codes"]
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
    """Return the topology of a file: an edge list, CSV, GraphML, or SST/macro's or CODES's own.

    Routers are numbered by their names if these are whole numbers, else in the order in which
    they are met; SST/macro's in the order of their names. Hosts are numbered router by router.

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
        content, title = source, name or "bytes"
    elif isinstance(source, str) and ("\n" in source or "\r" in source):
        content, title = source.encode("utf-8", "replace"), name or "text"
    else:
        path = Path(source)
        content, title = _content(path), name or path.name
    if format == "graphml" or (format is None and _is_xml(content)):
        return parse_graphml(content, title, hosts=hosts)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ParseError("it must be UTF-8 text", source=title, line=line) from error
    if format is None:
        format = _format_of(text)
    if format == "sstmacro":
        return parse_sstmacro_json(text, title, hosts=hosts)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
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
    read = parse_csv if format == "csv" else parse_edge_list
    return read(text, title, hosts=hosts, directed=directed)


def write_topology(
    topology: Topology, path: str | Path, *, format: Format | None = None
) -> list[Path]:
    """Write a topology to a file and return its path; CODES's are three.

    Args:
        topology: any.
        path: the file.
        format: one of ``FORMATS``; None tells it from the end of the path, as ``SUFFIXES`` says.

    Raises:
        ParameterError: the format is unknown, or cannot hold the topology.
        OSError: the file cannot be written.
    """
    path = Path(path)
    format = format or SUFFIXES.get(path.suffix.lower())
    if format not in FORMATS:
        raise ParameterError(
            f"format must be one of {', '.join(FORMATS)}, or the file's name end in "
            f"{', '.join(SUFFIXES)}; got {path.name!r}",
            key="format",
        )
    if format == "codes":
        written = {path.with_name(n): data for n, data in to_codes(topology, path.stem).items()}
    else:
        writers = {
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
    return content


def _is_xml(content: bytes) -> bool:
    """Return whether bytes begin as XML does, in UTF-8 or UTF-16."""
    return content[:256].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<")


def _format_of(text: str) -> Format:
    first = next((line for line in text[:65536].splitlines() if line.split("#")[0].strip()), "")
    if first.lstrip().startswith("{"):
        return "sstmacro"
    if first.split()[:1] in (["LPGROUPS"], ["PARAMS"]):
        return "codes"
    # A router's line of an edge list may have commas too, in its coordinates.
    if not first.startswith("router ") and separator_of(first):
        return "csv"
    return "edge-list"
