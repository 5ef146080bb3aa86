"""CSV of links: a header, a row for each link, and if need be a row for each router.

    one,other,class,links,hosts,group,at
    0,,,,2,0,0 0
    0,1,optical,3,,,

A row without ``other`` sets a router's hosts, group and coordinates. Only the first two columns
must be there; without a header they are taken for two routers, a class and a number of links.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np

from workbench.topology.files.assembly import (
    LINK,
    MOST_HOSTS_OF_ROUTER,
    MOST_PARALLEL,
    Assembly,
    Place,
    coordinates_of,
    whole_number,
)
from workbench.topology.files.edge_list import bundles
from workbench.topology.topology import Topology

COLUMNS = ("one", "other", "class", "links", "hosts", "group", "at")

_ALSO = {
    "source": "one", "from": "one", "src": "one", "router": "one", "node1": "one", "a": "one",
    "target": "other", "to": "other", "dst": "other", "dest": "other", "destination": "other",
    "neighbour": "other", "neighbor": "other", "node2": "other", "b": "other",
    "type": "class", "link_class": "class", "count": "links", "multiplicity": "links",
    "coordinates": "at",
}  # fmt: skip
_SEPARATORS = ",;\t"


def separator_of(line: str) -> str:
    """Return the separator of a CSV's first line, empty if it has none."""
    counts = {separator: line.count(separator) for separator in _SEPARATORS}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else ""


def parse_csv(
    text: str, source: str, *, hosts: int | None = None, directed: bool | None = None
) -> Topology:
    """Return the topology of a CSV with commas, semicolons or tabs.

    None for ``hosts`` takes the file's, or one for each router. ``directed`` means a row for each
    way of a link; None: if all links have both.
    """
    read = Assembly(source)
    columns: list[str] = []
    for place, row in _rows(text, source):
        if not columns:
            columns, is_header = _columns(row, place)
            if is_header:
                continue
        if len(row) > len(columns) and any(row[len(columns) :]):
            raise place.error(
                f"a row must have at most the {len(columns)} columns of the first; got {len(row)}"
            )
        cells = dict(zip(columns, row, strict=False))
        one, other = cells.get("one", ""), cells.get("other", "")
        if not one:
            raise place.error("a row must name a router in its first column")
        if other:
            parallel = cells.get("links") or "1"
            read.link(
                read.router(one, place),
                read.router(other, place),
                place,
                cells.get("class") or LINK,
                whole_number(parallel, "parallel links", MOST_PARALLEL, place, 1),
            )
        else:
            _read_router(read, read.router(one, place), cells, place)
    return read.topology(hosts=hosts, directed=directed)


def _rows(text: str, source: str) -> Iterator[tuple[Place, list[str]]]:
    """Yield the rows that hold something, their cells stripped."""
    separator = separator_of(text[: text.find("\n") % (len(text) + 1)]) or ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise Place(source, reader.line_num).error(f"it must be CSV: {error}") from error
        if row is None:
            return
        cells = [cell.strip() for cell in row]
        if any(cells) and not cells[0].startswith("#"):
            yield Place(source, reader.line_num), cells


def _columns(row: list[str], place: Place) -> tuple[list[str], bool]:
    """Return the columns' names, and whether the first row is a header."""
    names = [_ALSO.get(cell.lower(), cell.lower()) for cell in row]
    if "one" not in names or "other" not in names:
        if not 2 <= len(row) <= 4:
            raise place.error(
                f"the first row must name the columns, {', '.join(COLUMNS)} or some of them, or "
                f"hold two routers, a class and a number of links; got {', '.join(row)[:80]!r}"
            )
        return list(COLUMNS[:4]), False
    repeated = next((name for name in COLUMNS if names.count(name) > 1), None)
    if repeated:
        raise place.error(f"each column must occur once; {repeated} occurs more often")
    return names, True


def _read_router(read: Assembly, router: int, cells: dict[str, str], place: Place) -> None:
    if cells.get("hosts"):
        count = whole_number(cells["hosts"], "a router's hosts", MOST_HOSTS_OF_ROUTER, place)
        read.hosts(router, count, place)
    read.group(router, cells.get("group", ""), place)
    if cells.get("at"):
        read.at(router, coordinates_of(cells["at"], " ", place), place)


def to_csv(topology: Topology) -> str:
    """Return a topology as CSV, from which `parse_csv` makes an equal graph.

    Hosts must be numbered router by router to keep their numbers.

    Args:
        topology: any.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    hosts = np.bincount(topology.host_router, minlength=topology.num_routers).tolist()
    for router, (count, group, at) in enumerate(
        zip(hosts, topology.group.tolist(), topology.coordinates.tolist(), strict=True)
    ):
        writer.writerow(
            (router, "", "", "", count, group if group >= 0 else "", " ".join(map(str, at)))
        )
    for (one, other, link_class), count in bundles(topology):
        writer.writerow((one, other, topology.classes[link_class], count, "", "", ""))
    return written.getvalue()
