"""Methods that place ranks: block, round-robin, random, Algorithm 3, annealing, volume, METIS."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.placement.problem import PlacementProblem
from workbench.placement.swaps import swap_gains, swapped

_GUIDED = 0.9
"""Share of the steps that swap two ranks whose swap shortens the critical path."""

_SPREAD = 0.3
"""How far from the greatest gain such a swap may be, as a share of it."""

_COLD = 0.01
"""The last temperature, as a share of the first."""

_SAMPLED = 30  # steps: 60 place six programs alike, 15 five of them

_METIS_WEIGHTS = 100_000
"""The weight of the pair that exchanges the most bytes; METIS adds weights up in 32 bits."""

# Measured on ``volume`` of two shipped programs and an ICON-like one on two networks.
_SEEDS = 4  # ranks to grow from: 1 to 8 change run times by 0.02 %
_MOST_PASSES = 8  # 4 and 16 change nothing, 1 takes 0.03 % longer


def block(problem: PlacementProblem) -> IntArray:
    """Return the ranks in the order of the slots, int64[slots]."""
    return np.arange(problem.num_slots)


def round_robin(problem: PlacementProblem) -> IntArray:
    """Return ranks dealt in turn to hosts, or to routers if hosts have one slot, int64[slots]."""
    slots = problem.slots
    places = (
        slots if len(np.unique(slots)) < len(slots) else problem.wires.topology.host_router[slots]
    )
    _, first, place = np.unique(places, return_index=True, return_inverse=True)
    turn = np.empty(len(slots), np.int64)
    for number in range(len(first)):
        held = np.flatnonzero(place == number)
        turn[held] = np.arange(len(held))
    return np.lexsort((first[place], turn))


def shuffled(problem: PlacementProblem, rng: np.random.Generator) -> IntArray:
    """Return the ranks in a random order, int64[slots]."""
    return rng.permutation(problem.num_slots)


def algorithm_3(problem: PlacementProblem, mapping: IntArray) -> tuple[IntArray, int]:
    """Return the mapping, int64[slots], and its time in ps by Algorithm 3 (LLAMP, appendix J).

    A swap after which the time is not less is undone and ends the search, as the text says; by
    the listing's line 24 another swap would follow.
    """
    before, least = mapping, np.iinfo(np.int64).max
    while True:
        T_ps = problem.makespan_ps(mapping)
        if T_ps >= least:
            return before, int(least)
        before, least = mapping, T_ps
        active, gains = swap_gains(problem.terms(), mapping)
        if problem.must_end or not gains.size or gains.max() <= 0:
            return mapping, T_ps
        row, j = np.unravel_index(int(gains.argmax()), gains.shape)
        mapping = swapped(mapping, int(active[row]), int(j))


def search(
    problem: PlacementProblem, start: IntArray, rng: np.random.Generator, evaluations: int
) -> tuple[IntArray, int]:
    """Return the best mapping found, int64[slots], and its time in ps, by simulated annealing.

    Kirkpatrick, Gelatt, Vecchi, Science 1983. Nine of ten steps swap two ranks whose swap shortens
    the critical path; slower mappings are accepted by chance, so the search leaves plateaus of
    equally long critical paths. The first temperature is the mean change of the first steps.
    """
    here = best = start
    T_here = least = problem.makespan_ps(here)
    active, gains = swap_gains(problem.terms(), here)
    helpful = np.flatnonzero(gains.ravel() > 0)
    sampled = changed = 0
    for step in range(evaluations):
        if problem.must_end or not len(active):
            break
        if len(helpful) and rng.random() < _GUIDED:
            expected = gains.ravel()[helpful]
            chances = expected + rng.gumbel(size=len(helpful)) * expected.max() * _SPREAD
            swap = int(helpful[chances.argmax()])
        else:
            swap = int(rng.integers(gains.size))
        row, j = divmod(swap, gains.shape[1])
        tried = swapped(here, int(active[row]), j)
        T_ps = problem.makespan_ps(tried)
        if sampled < _SAMPLED:
            sampled, changed = sampled + 1, changed + abs(T_ps - T_here)
        temperature = (changed / sampled + 1) * _COLD ** (step / evaluations)
        if T_ps <= T_here or rng.random() < math.exp((T_here - T_ps) / temperature):
            here, T_here = tried, T_ps
            active, gains = swap_gains(problem.terms(), here)
            helpful = np.flatnonzero(gains.ravel() > 0)
            if T_ps < least:
                best, least = here, T_ps
        else:
            helpful = helpful[helpful != swap]
    return best, least


def by_volume(problem: PlacementProblem, rng: np.random.Generator) -> IntArray:
    """Return a mapping, int64[slots], with a low sum of bytes times latency over all messages.

    Recursive bisection of the traffic along the network's own cuts (groups, then routers, then
    hosts), after Pellegrini's dual recursive bipartitioning, which Scotch uses; each cut is grown
    from a rank and refined as Kernighan and Lin do (An Efficient Heuristic Procedure for
    Partitioning Graphs, 1970). Sizes are exact, as each slot takes one rank. Swaps that lower the
    bytes times latency of the whole mapping end it.
    """

    def bisect(part: IntArray, size: int) -> NDArray[np.bool_]:
        return _bisect(part, size, rng)

    volume = problem.volume()
    return _descend(problem, volume, _along_cuts(problem, volume, bisect))


def by_metis(problem: PlacementProblem, rng: np.random.Generator) -> IntArray:
    """Return a mapping, int64[slots], by METIS's bisections of the bytes exchanged.

    Along the network's own cuts, as `by_volume`, but each part is METIS's (Karypis and Kumar, A
    Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs, 1998), and no swaps
    follow. LLAMP compares with Scotch, a partitioner of the same kind.
    """
    seed = int(rng.integers(2**31 - 1))

    def bisect(part: IntArray, size: int) -> NDArray[np.bool_]:
        return _to_size(part, _metis(part, size, seed), size)

    return _along_cuts(problem, problem.volume(), bisect)


def _along_cuts(
    problem: PlacementProblem,
    volume: IntArray,
    bisect: Callable[[IntArray, int], NDArray[np.bool_]],
) -> IntArray:
    """Return the mapping of a recursive bisection along the network's cuts, int64[slots]."""
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
        first = bisect(volume[np.ix_(ranks, ranks)], cut)
        parts += [(ranks[first], slots[:cut]), (ranks[~first], slots[cut:])]
    return mapping


def _metis(volume: IntArray, size: int, seed: int) -> NDArray[np.bool_]:
    """Return METIS's part of about ``size`` ranks, bool[n]."""
    import pymetis

    source, target = np.nonzero(volume * ~np.eye(len(volume), dtype=np.bool_))
    if not len(source):
        return np.arange(len(volume)) < size
    # METIS counts in 32 bits, and takes no weight of 0.
    weights = np.maximum(volume[source, target] * (_METIS_WEIGHTS / volume.max()), 1)
    start = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=len(volume)))))
    found = pymetis.part_graph(
        2,
        pymetis.CSRAdjacency(start.astype(np.int32), target.astype(np.int32)),
        eweights=weights.astype(np.int32),
        tpwgts=[size / len(volume), 1 - size / len(volume)],
        options=pymetis.Options(seed=seed, ufactor=1, niter=20, ncuts=4),
    )
    return np.equal(np.asarray(found.vertex_part, np.int64), 0)


def _to_size(volume: IntArray, first: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """Return a part with exactly ``size`` ranks, by moving those across that cut the least."""
    while (over := int(first.sum()) - size) != 0:
        movable = first if over > 0 else ~first
        saved = volume @ np.where(movable, -1, 1)
        first = first.copy()
        rank = _largest(saved, movable)
        first[rank] = not first[rank]
    return first


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
