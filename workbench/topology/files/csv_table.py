"""CSV of links: a header, a row for each link, and if need be a row for each router and host.

    one,other,class,links,hosts,group,at,host,bandwidth,latency
    0,,,,2,0,0 0,,,
    0,,,,,,,n1,100Gbps,
    0,1,optical,3,,,,,200Gbps,0.5us

A row without ``other`` sets a router's hosts, group and coordinates, or names a host of it. Only
the first two columns must be there; ``columns.py`` says what others may be called. Without a header
a row is two routers and what an edge list may have behind them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from workbench.errors import ParseError
from workbench.topology.files.assembly import (
    MOST_HOSTS_OF_ROUTER,
    Assembly,
    Place,
    coordinates_of,
    take_rows,
    whole_number,
)
from workbench.topology.files.columns import (
    COLUMNS,
    LinkColumn,
    are_links,
    free_values,
    header_of,
    is_header,
    link_values,
    quantity_of,
)
from workbench.topology.files.writing import bundles, hosts_of, router_labels
from workbench.topology.topology import Topology

_SEPARATORS = ",;\t"


def separator_of(line: str) -> str:
    """Return the separator of a CSV's first line, empty if it has none."""
    counts = {separator: line.count(separator) for separator in _SEPARATORS}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else ""


def is_csv(text: str) -> bool:
    """Return whether a text begins as a CSV of links does, with a header or without."""
    lines = [line for line in text.split("\n")[:-1] if line.strip()] or [text]
    separator = separator_of(lines[0])
    rows = [[cell.strip(' "') for cell in line.split(separator or ",")] for line in lines]
    rows[0][0] = rows[0][0].lstrip("# ")
    return bool(separator) and (is_header(rows[0]) or are_links(rows))


def parse_csv(
    text: str, source: str, *, hosts: int | None = None, directed: bool | None = None
) -> Topology:
    """Return the topology of a CSV with commas, semicolons or tabs.

    None for ``hosts`` takes the file's, or one for each router. ``directed`` means a row for each
    way of a link; None: if all links have both.
    """
    read = Assembly(source)
    columns: list[LinkColumn] | None = None
    first = True

    def take(place: Place, row: list[str]) -> bool:
        nonlocal columns, first
        if first:
            first = False
            names = [cell.lstrip("# ") if number == 0 else cell for number, cell in enumerate(row)]
            columns = header_of(names, place, read)
            if columns is not None:
                return True
            if row[0].startswith("#"):
                first = True
                return True
            _check_first(row, place)
        if row[0].startswith("#"):
            return False
        if columns is None:
            if len(row) < 2 or not row[1]:
                raise place.error(f"a row must name two routers; got {','.join(row)[:80]!r}")
            values = free_values(row[2:], place, read)
            read.link(read.router(row[0], place), read.router(row[1], place), place, *values)
        else:
            _read_row(read, columns, row, place)
        return False

    take_rows(_rows(text, source), take, read, ended=text.endswith("\n"))
    return read.topology(hosts=hosts, directed=directed)


def _check_first(row: list[str], place: Place) -> None:
    """Refuse a first row that is neither a header nor a link."""
    try:
        free_values(row[2:], place, Assembly(""))
    except ParseError as error:
        raise place.error(
            f"the first row must name the columns, {', '.join(COLUMNS)} or some of them, or be a "
            "link, with links=3 for how many are side by side, 100Gbps or 0.5us; got "
            f"{', '.join(row)[:80]!r}"
        ) from error


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
        if any(cells):
            yield Place(source, reader.line_num), cells


def _read_row(read: Assembly, columns: list[LinkColumn], row: list[str], place: Place) -> None:
    """Read a row below a header: a link, a router or a host."""
    if len(row) > len(columns) and any(row[len(columns) :]):
        raise place.error(
            f"a row must have at most the {len(columns)} columns of the first; got {len(row)}"
        )
    cells = {column.meaning: cell for column, cell in zip(columns, row, strict=False) if cell}
    if "one" not in cells:
        raise place.error("a row must name a router in its first column")
    if "other" in cells:
        values = link_values(columns, row, place, read)
        one, other = (read.router(cells[key], place) for key in ("one", "other"))
        read.link(one, other, place, *values)
        return
    router = read.router(cells["one"], place)
    if "host" in cells:
        rate = None
        if "bandwidth" in cells:
            column = next(column for column in columns if column.meaning == "bandwidth")
            rate = quantity_of(column, cells["bandwidth"], place, read)
        read.add_host(router, rate, cells["host"])
        return
    if "hosts" in cells:
        count = whole_number(cells["hosts"], "a router's hosts", MOST_HOSTS_OF_ROUTER, place)
        read.hosts(router, count, place)
    read.group(router, cells.get("group", ""), place)
    if "at" in cells:
        read.at(router, coordinates_of(cells["at"], " ", place), place)


def to_csv(topology: Topology) -> str:
    """Return a topology as CSV, from which `parse_csv` makes an equal graph.

    Names are kept. Hosts without names must be numbered router by router to keep their numbers.
    Columns that no row needs are left out.

    Args:
        topology: any.
    """
    names = router_labels(topology, _is_cell)
    counts, own = hosts_of(topology, _is_cell)
    rows: list[dict[str, object]] = []
    for router, (count, group, at) in enumerate(
        zip(counts, topology.group.tolist(), topology.coordinates.tolist(), strict=True)
    ):
        row: dict[str, object] = {"one": names[router], "hosts": "" if own else count}
        rows.append(row | {"group": group if group >= 0 else "", "at": " ".join(map(str, at))})
    rows += [
        {"one": names[host.router], "host": host.name, "bandwidth": host.bandwidth} for host in own
    ]
    rows += [
        {
            "one": names[link.one],
            "other": names[link.other],
            "class": topology.classes[link.link_class],
            "links": link.count,
            "bandwidth": link.bandwidth,
            "latency": link.latency,
        }
        for link in bundles(topology)
    ]
    used = [key for key in COLUMNS if key in COLUMNS[:7] or any(row.get(key) for row in rows)]
    out = io.StringIO()
    writer = csv.DictWriter(out, used, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _is_cell(name: str) -> bool:
    return name.strip() == name != "" and not name.startswith("#")
