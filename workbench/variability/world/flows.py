"""Who sends to whom within a job: stencils, all-to-all, shifts, and to the file system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from workbench.arrays import FloatArray, IntArray

_PARTNERS = 6  # chosen: 3 or 12 change a step's time by up to 5 %, as other partners do


@dataclass(frozen=True, eq=False)
class JobFlows:
    """What the nodes of a job send, as shares of what one node sends on average.

    Attributes:
        source: int64[flows], nodes of the machine.
        target: int64[flows].
        share: float64[flows]; they sum to the number of the job's nodes.
    """

    source: IntArray
    target: IntArray
    share: FloatArray


def job_flows(
    patterns: Mapping[str, float],  # share of the bytes by name of ``PATTERNS``
    nodes: IntArray,  # of the job, in the order of its ranks
    io_nodes: IntArray,
    rng: np.random.Generator,
) -> JobFlows:
    """Return the flows of a job that sends by several patterns at once."""
    parts = []
    for name, share in patterns.items():
        source, target = PATTERNS[name](nodes, io_nodes, rng)
        if len(source):
            parts.append((source, target, np.full(len(source), share * len(nodes) / len(source))))
    if not parts:
        none = np.zeros(0, np.int64)
        return JobFlows(none, none, np.zeros(0))
    return JobFlows(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def grid_of(count: int, dimensions: int) -> tuple[int, ...]:
    """Return the sides of the grid nearest to a cube that holds so many points, as MPI has it."""
    sides = [1] * dimensions
    left, factor = count, 2
    factors = []
    while left > 1:
        while left % factor == 0:
            factors.append(factor)
            left //= factor
        factor += 1
    for prime in sorted(factors, reverse=True):
        sides[sides.index(min(sides))] *= prime
    return tuple(sorted(sides, reverse=True))


_Pairs = tuple[IntArray, IntArray]


def _stencil(dimensions: int) -> Callable[[IntArray, IntArray, np.random.Generator], _Pairs]:
    def pairs(nodes: IntArray, _io: IntArray, _rng: np.random.Generator) -> _Pairs:
        grid = nodes.reshape(grid_of(len(nodes), dimensions))
        to = [
            np.roll(grid, way, axis).ravel()
            for axis, side in enumerate(grid.shape)
            if side > 1
            for way in (1, -1)
        ]
        if not to:
            return nodes[:0], nodes[:0]
        return np.tile(nodes, len(to)), np.concatenate(to)

    return pairs


def _all_to_all(nodes: IntArray, _io: IntArray, rng: np.random.Generator) -> _Pairs:
    """Some partners of each node stand for all of them."""
    if len(nodes) < 2:
        return nodes[:0], nodes[:0]
    shift = rng.integers(1, len(nodes), size=(_PARTNERS, len(nodes)))
    place = np.arange(len(nodes))
    return np.tile(nodes, _PARTNERS), nodes[(place + shift) % len(nodes)].ravel()


def _shift(nodes: IntArray, _io: IntArray, _rng: np.random.Generator) -> _Pairs:
    """Each node sends to that half of the job further on, across its bisection."""
    if len(nodes) < 2:
        return nodes[:0], nodes[:0]
    return nodes, np.roll(nodes, len(nodes) // 2)


def _write(nodes: IntArray, io: IntArray, rng: np.random.Generator) -> _Pairs:
    """Each node sends to two I/O nodes, as files are striped."""
    if not len(io):
        return nodes[:0], nodes[:0]
    return np.tile(nodes, 2), io[rng.integers(len(io), size=2 * len(nodes))]


def _read(nodes: IntArray, io: IntArray, rng: np.random.Generator) -> _Pairs:
    to, back = _write(nodes, io, rng)
    return back, to


PATTERNS: Mapping[str, Callable[[IntArray, IntArray, np.random.Generator], _Pairs]] = (
    MappingProxyType(
        {
            "stencil-3d": _stencil(3),
            "stencil-4d": _stencil(4),
            "all-to-all": _all_to_all,
            "shift": _shift,
            "io-write": _write,
            "io-read": _read,
        }
    )
)
"""Patterns of traffic by name; a job with none of them is idle."""
