"""A user's own traffic from a CSV file: a matrix of hosts, or a line for each pair of them.

A matrix has a row for each host that sends and a column for each that gets. The other form has the
columns src, dst and weight, by a header or without one:

    src,dst,weight
    0,5,100
    5,0,20

Weights are of any unit, such as bytes: traffic is scaled so that the busiest host's link is just
full. Columns are separated by commas, semicolons or tabs; lines that begin with # are left out.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, ParseError
from workbench.reading import as_utf8
from workbench.text_table import CUT, without_cut_row
from workbench.topology.program_traffic import message_traffic
from workbench.topology.topology import Topology
from workbench.topology.traffic import Traffic

MOST_HOSTS = 2**22
"""Most hosts of a file."""

_COLUMNS = {
    "src": 0, "source": 0, "sender": 0, "from": 0,
    "dst": 1, "dest": 1, "destination": 1, "target": 1, "receiver": 1, "to": 1,
    "weight": 2, "bytes": 2, "size": 2, "rate": 2,
}  # fmt: skip
_LIST = 3  # columns of a list: src, dst, weight

Cells = tuple[int, list[str]]
"""A line's number and its cells."""


@dataclass(frozen=True, eq=False)
class Demand:
    """Weights that hosts send to one another, for any network with enough hosts.

    Attributes:
        name: of the file.
        sender: int64[n], hosts.
        receiver: int64[n], hosts.
        weight: float64[n], of any unit.
        hosts: least number of hosts that a network must have.
        notes: what was left out, a sentence each.
    """

    name: str
    sender: NDArray[np.int64]
    receiver: NDArray[np.int64]
    weight: NDArray[np.float64]
    hosts: int
    notes: tuple[str, ...] = ()

    def on(self, topology: Topology) -> Traffic:
        """Return the traffic on a network, host i of the file at its host i.

        Args:
            topology: the network.

        Raises:
            ParameterError: it has fewer hosts.
        """
        if self.hosts > topology.num_hosts:
            raise ParameterError(
                f"the traffic of {self.name} is between {self.hosts} hosts; {topology.name} has "
                f"{topology.num_hosts}: take a network with as many, or fewer rows",
                key="traffic",
            )
        return message_traffic(topology, self.sender, self.receiver, self.weight, name=self.name)

    def __repr__(self) -> str:
        return f"Demand({self.name}: {len(self.weight)} pairs of {self.hosts} hosts)"


def read_demand(source: str | Path | bytes, *, name: str = "") -> Demand:
    """Return the traffic in a CSV file.

    Args:
        source: path of the file, or its content as bytes.
        name: of the traffic; empty takes the file's name.

    Raises:
        ParseError: it is no such file; the message gives the line.
        OSError: it cannot be read.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    called = name or ("traffic" if isinstance(source, bytes) else Path(source).name)
    try:
        text = as_utf8(content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParseError("traffic must be CSV, as UTF-8 text", source=called) from None
    rows, cut = _rows(text)
    if not rows:
        raise ParseError("traffic must have a line at least; the file is empty", source=called)
    notes = [f"{called}:{cut}: {CUT}"] if cut else []
    first = [cell.lower() for cell in rows[0][1]]
    headed = set(first) & set(_COLUMNS)
    if headed:
        order = [_COLUMNS.get(cell, -1) for cell in first]
        if sorted(order) != [0, 1, 2]:
            raise ParseError(
                f"the header must be src,dst,weight; got {','.join(rows[0][1])[:60]}",
                source=called,
                line=rows[0][0],
            )
        return replace(_listed(rows[1:], order, called), notes=tuple(notes))
    all_rows = len(rows) + (cut > 0)
    if len(first) == _LIST and all_rows != _LIST:
        return replace(_listed(rows, [0, 1, 2], called), notes=tuple(notes))
    if cut and all_rows == len(first):
        rows.append((cut, ["0"] * len(first)))
        notes[0] += f": host {all_rows - 1} sends nothing"
    return replace(_matrix(rows, called), notes=tuple(notes))


def _rows(text: str) -> tuple[list[Cells], int]:
    """Return number and cells of each line that holds something, and the line of a cut last one."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        return [], 0
    separator = next((one for one in "\t;" if one in lines[0][1]), ",")
    found = []
    for number, line in lines:
        cells = [one.strip() for one in next(csv.reader([line], delimiter=separator))]
        decimals = separator != ","
        found.append((number, [one.replace(",", ".") for one in cells] if decimals else cells))
    _, cut = without_cut_row(text, separator, len(found[0][1]))
    return ([row for row in found if row[0] != cut], cut) if len(found) > 1 else (found, 0)


def _listed(rows: list[Cells], order: list[int], name: str) -> Demand:
    """Return the traffic of lines of a sender, a receiver and a weight."""
    ends = np.zeros((len(rows), 2), np.int64)
    weight = np.zeros(len(rows))
    for at, (line, cells) in enumerate(rows):
        if len(cells) != _LIST:
            raise ParseError(
                f"a line must have src, dst and weight; got {len(cells)} columns",
                source=name,
                line=line,
            )
        found = [cells[order.index(column)] for column in range(_LIST)]
        for place, text in enumerate(found[:2]):
            if not text.isdecimal() or int(text) >= MOST_HOSTS:
                raise ParseError(
                    f"{('src', 'dst')[place]} must be the number of a host, 0 to "
                    f"{MOST_HOSTS - 1}; got {text[:40]!r}",
                    source=name,
                    line=line,
                )
            ends[at, place] = int(text)
        weight[at] = _weight(found[2], name, line)
    return _demand(name, ends[:, 0], ends[:, 1], weight, int(ends.max(initial=-1)) + 1)


def _matrix(rows: list[Cells], name: str) -> Demand:
    """Return the traffic of a matrix."""
    columns = len(rows[0][1])
    found = np.zeros((len(rows), columns))
    for at, (line, cells) in enumerate(rows):
        if len(cells) != columns:
            raise ParseError(
                f"each row of a matrix must have as many columns as the first, {columns}; got "
                f"{len(cells)}",
                source=name,
                line=line,
            )
        found[at] = [_weight(cell, name, line) for cell in cells]
    if len(rows) != columns:
        raise ParseError(
            f"a matrix must have a row and a column for each host; got {len(rows)} rows of "
            f"{columns} columns: for pairs give the header src,dst,weight",
            source=name,
            line=rows[-1][0],
        )
    sender, receiver = np.nonzero(found)
    return _demand(name, sender, receiver, found[sender, receiver], columns)


def _weight(text: str, name: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ParseError(
            f"a weight must be a number of at least 0; got {text[:40]!r}", source=name, line=line
        )
    return value


def _demand(
    name: str,
    sender: NDArray[np.int64],
    receiver: NDArray[np.int64],
    weight: NDArray[np.float64],
    hosts: int,
) -> Demand:
    if not (weight[sender != receiver] > 0).any():
        raise ParseError("some host must send to another one; none does", source=name)
    return Demand(name, sender, receiver, weight, hosts)
