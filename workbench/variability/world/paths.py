"""Ways over a machine of Aries routers, minimal and by way of a random router, many at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.topology.aries import COLUMNS
from workbench.variability.world.machine import ROUTERS, WorldMachine

IntArray = NDArray[np.int64]
Links = NDArray[np.int32]


def minimal_ways(
    machine: WorldMachine, source: IntArray, target: IntArray, rng: np.random.Generator
) -> Links:
    """Return the wide links of a minimal way for each pair of routers, int32[pairs, 5]; -1 is none.

    It has at most one link between groups, and of these ways the fewest links, as packets with the
    routing ``minimal`` take; of several a random one.
    """
    found = np.full((len(source), 5), -1, np.int32)
    apart = source // ROUTERS != target // ROUTERS
    draw = rng.random((len(source), 2)) < 0.5
    same = np.flatnonzero(~apart)
    found[same, :2] = _local_ways(machine, source[same], target[same], draw[same, 0])
    far = np.flatnonzero(apart)
    if not len(far):
        return found
    begin, end = source[far], target[far]
    gates = machine.gates[begin // ROUTERS, end // ROUTERS]
    hops = _hops(begin[:, None], machine.source[gates]) + _hops(machine.target[gates], end[:, None])
    # The draw decides between gates of as many links.
    cost = hops + rng.random(gates.shape)
    cost[gates < 0] = np.inf
    gate = gates[np.arange(len(far)), cost.argmin(axis=1)]
    found[far, :2] = _local_ways(machine, begin, machine.source[gate], draw[far, 0])
    found[far, 2] = gate
    found[far, 3:] = _local_ways(machine, machine.target[gate], end, draw[far, 1])
    return found


def valiant_ways(
    machine: WorldMachine, source: IntArray, target: IntArray, rng: np.random.Generator
) -> Links:
    """Return the links of a way by a random router for each pair, int32[pairs, 10]; -1 is none.

    Between routers of a group the random one is of that group, as Aries has it; else of any.
    """
    within = source // ROUTERS == target // ROUTERS
    anywhere = rng.integers(machine.routers, size=len(source))
    middle = np.where(within, source // ROUTERS * ROUTERS + anywhere % ROUTERS, anywhere)
    first = minimal_ways(machine, source, middle, rng)
    return np.concatenate((first, minimal_ways(machine, middle, target, rng)), axis=1)


def _hops(one: IntArray | Links, other: IntArray | Links) -> IntArray:
    """Return the links between routers of a group: 0, 1 or 2."""
    found: IntArray = (one % COLUMNS != other % COLUMNS).astype(np.int64)
    found += one // COLUMNS != other // COLUMNS
    return found


def _local_ways(
    machine: WorldMachine,
    source: IntArray | Links,
    target: IntArray | Links,
    row_first: NDArray[np.bool_],
) -> Links:
    """Return the links between routers of a group, row or column first, [pairs, 2]."""
    column, row = target % COLUMNS, target % ROUTERS // COLUMNS
    turn = np.where(
        row_first, source - source % COLUMNS + column, target - column + source % COLUMNS
    )
    along_row = source % COLUMNS != column
    along_column = source // COLUMNS != target // COLUMNS
    by_row = np.where(along_row, machine.row_link[np.where(row_first, source, turn), column], -1)
    by_column = np.where(
        along_column, machine.column_link[np.where(row_first, turn, source), row], -1
    )
    return np.where(
        row_first[:, None],
        np.column_stack((by_row, by_column)),
        np.column_stack((by_column, by_row)),
    )
