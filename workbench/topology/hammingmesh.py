"""HammingMesh: boards of accelerators in a mesh, whose edges meet in switches along each line.

Hoefler, Bonato, De Sensi, Di Girolamo, Li, Heddes, Belk, Goel, Castro, Scott: HammingMesh: A
Network Topology for Large-Scale Deep Learning, SC 2022. One of its planes is built.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.generator_checks import refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "board", "row", "column")
"""Of hosts, on a board, and in the switched networks of rows and of columns."""

ACCELERATOR, ROW_SWITCH, COLUMN_SWITCH = range(3)
"""First coordinate of a router: what it is."""


def hammingmesh(a: int, b: int, x: int, y: int, *, radix: int = 64, hosts: int = 1) -> Topology:
    """Return a HammingMesh of x by y boards of a by b accelerators; with a = b an x·y HxaMesh.

    Accelerators forward packets, by four ports: those of a board are a mesh. The outer ports of
    each row of accelerators, two on every board, meet in one switch, or, if that has too few
    ports, in a fat tree of two levels that blocks nothing; so do those of each column. Every row
    and column has switches of its own. With a single board along it there is none.

    Routers are accelerators, row by row of the whole machine, then the rows' switches, then the
    columns', leaves before spines. Coordinates are what it is (0 an accelerator, 1 a switch of a
    row, 2 of a column), its column and its row; a row's switch has its place among those of its
    row in place of a column, a column's in place of a row. A board is a group; switches are in
    none.

    Args:
        a: accelerators along a row of a board.
        b: accelerators along a column of a board.
        x: boards along a row.
        y: boards along a column.
        radix: ports of a switch, even and at least 4; 64 in the paper.
        hosts: hosts of each accelerator.

    Raises:
        ParameterError: an argument is none of these, a line has more ports than two levels of
            switches join, or the network is too large.
    """
    a = whole("a", a, 1, "the accelerators along a row of a board")
    b = whole("b", b, 1, "the accelerators along a column of a board")
    x = whole("x", x, 1, "the boards along a row")
    y = whole("y", y, 1, "the boards along a column")
    radix = whole("radix", radix, 4, "the ports of a switch")
    hosts = whole("hosts", hosts, 1, "the hosts of an accelerator")
    if radix % 2:
        raise ParameterError(
            f"radix of a HammingMesh must be even; got {radix}: take {radix - 1} or {radix + 1}",
            key="radix",
        )
    for key, boards in (("x", x), ("y", y)):
        if 4 * boards > radix * radix:
            raise ParameterError(
                f"{key} must be at most radix²/4 = {radix * radix // 4} boards, as two levels of "
                f"switches join no more; got {boards}: lower it or raise radix",
                key=key,
            )
    width, height = a * x, b * y
    accelerators = width * height
    refuse_larger("HammingMesh", "x", hosts=accelerators * hosts, links=8 * accelerators)
    row, column = (axis.ravel() for axis in np.indices((height, width)))
    number = row * width + column
    mesh = np.concatenate(
        (
            np.column_stack((number, number + 1))[column % a != a - 1],
            np.column_stack((number, number + width))[row % b != b - 1],
        )
    )
    row_links, row_switches = _lines(number.reshape(height, width), a, radix, accelerators)
    first = accelerators + row_switches * height
    column_links, column_switches = _lines(number.reshape(height, width).T, b, radix, first)
    line, place = (axis.ravel() for axis in np.indices((height, row_switches)))
    of_rows = np.column_stack((np.full_like(line, ROW_SWITCH), place, line))
    line, place = (axis.ravel() for axis in np.indices((width, column_switches)))
    of_columns = np.column_stack((np.full_like(line, COLUMN_SWITCH), line, place))
    links = np.concatenate((mesh, row_links, column_links)).astype(np.int32)
    switches = len(of_rows) + len(of_columns)
    return Topology(
        name=f"HammingMesh, {x}x{y} boards of {a}x{b}, radix {radix}",
        num_routers=accelerators + switches,
        links=links,
        link_class=np.repeat(
            np.array([1, 2, 3], np.uint8), (len(mesh), len(row_links), len(column_links))
        ),
        classes=CLASSES,
        host_router=np.repeat(np.arange(accelerators, dtype=np.int32), hosts),
        group=np.concatenate((row // b * x + column // a, np.full(switches, -1))).astype(np.int32),
        parameters={"a": a, "b": b, "x": x, "y": y, "radix": radix, "hosts": hosts},
        family="hammingmesh",
        coordinates=np.concatenate(
            (np.column_stack((np.full_like(row, ACCELERATOR), column, row)), of_rows, of_columns)
        ).astype(np.int32),
    )


def line_switches(boards: int, radix: int) -> tuple[int, int]:
    """Return the numbers of leaf and of spine switches of a line of boards, two ports each."""
    if boards == 1:
        return 0, 0
    if 2 * boards <= radix:
        return 1, 0
    half = radix // 2
    leaves = -(-2 * boards // half)
    return leaves, -(-leaves * half // radix)


def _lines(
    accelerator: NDArray[np.int64], on_board: int, radix: int, first: int
) -> tuple[NDArray[np.int64], int]:
    """Return the links of lines of routers, int64[lines, length], and the switches of one line."""
    lines, length = accelerator.shape
    boards = length // on_board
    leaves, spines = line_switches(boards, radix)
    if not leaves:
        return np.zeros((0, 2), np.int64), 0
    ends = np.arange(boards) * on_board
    outer = accelerator[:, np.column_stack((ends, ends + on_board - 1)).ravel()]
    half = radix // 2 if spines else 2 * boards
    switch = first + np.arange(lines)[:, None] * (leaves + spines)
    leaf = np.broadcast_to(switch + np.arange(2 * boards) // half, outer.shape)
    down = np.column_stack((outer.ravel(), leaf.ravel()))
    if not spines:
        return down, leaves
    # Counted through all leaves, uplinks meet every spine equally often, within one.
    uplink = np.arange(leaves * half)
    below = np.broadcast_to(switch + uplink // half, (lines, len(uplink)))
    above = np.broadcast_to(switch + leaves + uplink % spines, (lines, len(uplink)))
    return np.concatenate((down, np.column_stack((below.ravel(), above.ravel())))), leaves + spines
