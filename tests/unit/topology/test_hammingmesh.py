"""HammingMesh: boards, lines and trees counted, distances against those of its two dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.topology.hammingmesh import (
    ACCELERATOR,
    COLUMN_SWITCH,
    ROW_SWITCH,
    hammingmesh,
    line_switches,
)

SIDES = st.integers(1, 4)


@given(SIDES, SIDES, SIDES, SIDES, st.sampled_from([4, 6, 8, 64]))
def test_ports_boards_and_switches(a: int, b: int, x: int, y: int, radix: int) -> None:
    made = hammingmesh(a, b, x, y, radix=radix)
    width, height = a * x, b * y
    assert made.num_hosts == width * height
    kind = made.coordinates[:, 0]
    degree = made.degree
    accelerators = degree[kind == ACCELERATOR]
    ends = 2 * (width * (y == 1) + height * (x == 1))
    # Four ports each; those of the outer edge are open where a line has one board.
    assert accelerators.sum() == 4 * width * height - ends
    assert accelerators.max() <= 4
    assert degree[kind != ACCELERATOR].max(initial=0) <= radix
    for boards, lines, switch in ((x, height, ROW_SWITCH), (y, width, COLUMN_SWITCH)):
        assert (kind == switch).sum() == lines * sum(line_switches(boards, radix))
    boards_of = made.group[: width * height]
    assert np.bincount(boards_of).tolist() == [a * b] * (x * y)
    assert (made.group[width * height :] == -1).all()
    on_board = made.links[made.link_class == 1]
    assert (made.group[on_board[:, 0]] == made.group[on_board[:, 1]]).all()
    assert len(on_board) == x * y * ((a - 1) * b + (b - 1) * a)


def along(one: int, other: int, on_board: int, boards: int) -> int:
    """Return the links between two accelerators of a line whose boards meet in one switch."""
    walks = []
    if one // on_board == other // on_board:
        walks.append(abs(one - other))
    if boards > 1:
        out = min(one % on_board, on_board - 1 - one % on_board)
        back = min(other % on_board, on_board - 1 - other % on_board)
        walks.append(out + 2 + back)
    return min(walks)


@for_each("a, b, x, y", [(2, 2, 4, 4), (4, 4, 2, 3), (3, 2, 2, 2), (5, 1, 3, 1), (1, 1, 3, 4)])
def test_distances_are_the_sum_of_those_along_rows_and_columns(
    a: int, b: int, x: int, y: int
) -> None:
    made = hammingmesh(a, b, x, y)
    width, height = a * x, b * y
    hops = made.router_hops[: width * height, : width * height]
    column, row = np.arange(width * height) % width, np.arange(width * height) // width
    expected = [
        [
            along(column[i], column[j], a, x) + along(row[i], row[j], b, y)
            for j in range(width * height)
        ]
        for i in range(width * height)
    ]
    assert np.array_equal(hops, expected)


def test_boards_of_one_accelerator_are_a_grid_of_full_rows() -> None:
    """An Hx1Mesh joins rows and columns fully, as a HyperX does; by two links each."""
    made = hammingmesh(1, 1, 3, 4)
    assert set(made.degree[:12].tolist()) == {4}
    counts = np.unique(made.links, axis=0, return_counts=True)[1]
    assert (counts == 2).all()


@for_each("radix, x", [(4, 4), (8, 16), (6, 5), (8, 11), (64, 352)])
def test_trees_of_two_levels_block_nothing(radix: int, x: int) -> None:
    made = hammingmesh(1, 1, x, 1, radix=radix)
    leaves, spines = line_switches(x, radix)
    assert spines
    first = made.num_hosts
    up = made.links[(made.links[:, 0] >= first) & (made.link_class == 2)]
    assert np.bincount(up[:, 0])[first:].tolist() == [radix // 2] * leaves
    down = made.links[made.links[:, 0] < first]
    assert np.bincount(down[:, 1])[first:].max() <= radix // 2
    assert np.bincount(up[:, 1], minlength=first + leaves + spines)[first + leaves :].max() <= radix
    # Every leaf meets every spine, so that all pairs of leaves are two links apart.
    assert len({tuple(link) for link in up.tolist()}) == leaves * spines


def test_sizes_of_the_papers_machines() -> None:
    """16x16 boards of 2x2 are 1,024 accelerators; 64x64 are 16,384."""
    small, large = hammingmesh(2, 2, 16, 16), hammingmesh(2, 2, 64, 64)
    assert (small.num_hosts, large.num_hosts) == (1024, 16384)
    assert (small.coordinates[:, 0] == ROW_SWITCH).sum() == 32
    # 128 ports of a line: four leaves of 64 ports, half of them up, and two spines.
    assert (large.coordinates[:, 0] == ROW_SWITCH).sum() == 128 * 6
    assert set(large.degree[16384:].tolist()) == {64}


@for_each(
    "arguments, said",
    [
        ({"a": 0, "b": 1, "x": 1, "y": 1}, "a, the accelerators"),
        ({"a": 1, "b": 1, "x": 2, "y": 2, "radix": 7}, "take 6 or 8"),
        ({"a": 1, "b": 1, "x": 5, "y": 2, "radix": 4}, "x must be at most radix²/4 = 4"),
        ({"a": 1, "b": 1, "x": 2, "y": 5, "radix": 4}, "y must be at most radix²/4 = 4"),
        ({"a": 100, "b": 100, "x": 100, "y": 100}, "at most 4194304"),
    ],
)
def test_hammingmeshes_that_cannot_be_built(arguments: dict[str, int], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        hammingmesh(**arguments)
