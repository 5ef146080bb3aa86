"""Placement by traffic volume alone: ranks that exchange many bytes come close to one another.

Recursive bisection of the traffic along the network's own cuts (groups, then routers, then hosts),
after Pellegrini's dual recursive bipartitioning, which Scotch uses; each cut is grown from a rank
and refined as Kernighan and Lin do (An Efficient Heuristic Procedure for Partitioning Graphs,
1970). Sizes are exact, as they have to be where each slot takes one rank; general partitioners
leave some imbalance. Swaps that lower the bytes times latency of the whole mapping end it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.sensitivity.placement.problem import IntArray, PlacementProblem
from workbench.sensitivity.placement.swaps import swap_gains, swapped

_SEEDS = 4
_MOST_PASSES = 8


def by_volume(problem: PlacementProblem, rng: np.random.Generator) -> IntArray:
    """Return a mapping, int64[slots], with a low sum of bytes times latency over all messages."""
    volume = problem.volume()
    topology, hosts = problem.wires.topology, problem.slots
    routers = topology.host_router[hosts]
    levels: IntArray = np.column_stack((topology.group[routers], routers, hosts))
    order = np.lexsort(levels.T[::-1])
    mapping = np.empty(problem.num_slots, np.int64)
    parts = [(np.arange(problem.num_slots), order)]
    while parts:
        ranks, slots = parts.pop()
        cut = _cut(levels[slots])
        if cut == 0:
            mapping[ranks] = slots
            continue
        first = _bisect(volume[np.ix_(ranks, ranks)], cut, rng)
        parts += [(ranks[first], slots[:cut]), (ranks[~first], slots[cut:])]
    return _descend(problem, volume, mapping)


def _cut(levels: IntArray) -> int:
    """Return the cut nearest the middle at the highest level that has one; 0 if none has."""
    for level in levels.T:
        boundaries = np.flatnonzero(np.diff(level)) + 1
        if len(boundaries):
            return int(boundaries[np.abs(2 * boundaries - len(level)).argmin()])
    return 0


def _bisect(volume: IntArray, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return a part of ``size`` ranks that exchanges few bytes with the rest, bool[n]."""
    best, least = np.zeros(len(volume), np.bool_), -1
    for seed in rng.choice(len(volume), min(_SEEDS, len(volume)), replace=False):
        first = _refined(volume, _grown(volume, size, int(seed)))
        across = int(volume[first][:, ~first].sum())
        if least < 0 or across < least:
            best, least = first, across
    return best


def _grown(volume: IntArray, size: int, seed: int) -> NDArray[np.bool_]:
    """Return a part grown from rank ``seed``, each time by the rank that cuts the fewest bytes."""
    first = np.zeros(len(volume), np.bool_)
    total = volume.sum(axis=1)
    joined = volume[seed].copy()
    first[seed] = True
    for _ in range(size - 1):
        # Bytes that move inside, less those that stay outside.
        score = np.where(first, np.iinfo(np.int64).min, 2 * joined - total)
        rank = int(score.argmax())
        first[rank] = True
        joined += volume[rank]
    return first


def _refined(volume: IntArray, first: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a bisection after passes of swaps, each undone back to where the cut was least."""
    for _ in range(_MOST_PASSES):
        side = first.copy()
        sign = np.where(side, 1, -1)
        # What moving each rank to the other side would save.
        saved = -(volume @ sign) * sign
        free = np.ones(len(volume), np.bool_)
        swaps, total, best, kept = [], 0, 0, 0
        for _ in range(min(int(first.sum()), int((~first).sum()))):
            a = _largest(saved, free & first)
            b = _largest(saved - 2 * volume[a], free & ~first)
            total += int(saved[a] + saved[b] - 2 * volume[a, b])
            swaps.append((a, b))
            free[[a, b]] = False
            saved += 2 * np.where(first, volume[a] - volume[b], volume[b] - volume[a])
            if total > best:
                best, kept = total, len(swaps)
        if not kept:
            break
        for a, b in swaps[:kept]:
            first[a], first[b] = False, True
    return first


def _largest(values: IntArray, among: NDArray[np.bool_]) -> int:
    return int(np.where(among, values, np.iinfo(np.int64).min).argmax())


def _descend(problem: PlacementProblem, volume: IntArray, mapping: IntArray) -> IntArray:
    """Return a mapping in which no swap lowers the bytes times latency any more."""
    distance = problem.latency_ps.astype(np.float64)
    for _ in range(problem.num_slots):
        active, gains = swap_gains([(volume, distance)], mapping)
        # Rounding must not make two swaps undo one another.
        if problem.must_end or not gains.size or gains.max() <= 1e-9 * distance.max():
            break
        row, j = np.unravel_index(int(gains.argmax()), gains.shape)
        mapping = swapped(mapping, int(active[row]), int(j))
    return mapping
