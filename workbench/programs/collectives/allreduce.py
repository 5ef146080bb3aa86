"""Allreduce: the vectors of all ranks are combined, and every rank gets the result."""

from __future__ import annotations

import numpy as np

from workbench.arrays import IntArray
from workbench.programs.collectives import allgather, bcast, reduce_scatter
from workbench.programs.collectives.rounds import (
    Algorithm,
    CollectiveCase,
    Rounds,
    mirror,
    powers,
    single,
    spans,
)


def recursive_doubling(case: CollectiveCase) -> Rounds:
    """Exchange and combine the whole vector in pairs, then in pairs of pairs."""
    yield from fold(case, 1)
    participants = case.participants
    for distance in powers(case.power):
        partner = participants[np.arange(case.power) ^ distance]
        yield single(participants, partner, 0, reduce=True)
    yield from mirror(fold(case, 1))


def ring(case: CollectiveCase) -> Rounds:
    """Run a reduce_scatter, then an allgather, in a ring; segments go round independently."""
    yield from reduce_scatter.ring(case)
    yield from allgather.ring(case)


def rabenseifner(case: CollectiveCase) -> Rounds:
    """Halve the vector between pairs until each has one piece, then double it again."""
    yield from halve(case)
    yield from _double(case)
    yield from mirror(fold(case, case.power))


def reduce_bcast(case: CollectiveCase) -> Rounds:
    """Reduce to rank 0 up a binomial tree, then broadcast down the same tree."""
    yield from mirror(bcast.knomial(case), reduce=True)
    yield from bcast.knomial(case)


def fold(case: CollectiveCase, blocks: int) -> Rounds:
    """Send the vectors of the ranks beyond a power of two (``blocks`` each) to their partners."""
    others = case.others
    first, counts = np.zeros_like(others), np.full_like(others, blocks)
    partners = case.participants[: len(others)]
    yield spans(others, partners, first, counts, blocks, reduce=True)


def halve(case: CollectiveCase) -> Rounds:
    """Halve the vector between pairs, neighbours first: only neighbouring ranges are combined."""
    yield from fold(case, case.power)
    yield from mirror(_double(case), reduce=True)


def owners(case: CollectiveCase) -> IntArray:
    """Return the rank that owns each piece of the vector after ``halve``, int64[pieces]."""
    return case.participants[_reversed_bits(case.power)]


def _double(case: CollectiveCase) -> Rounds:
    """Yield the exchange of all pieces, the most distant ranks first."""
    place, participants = np.arange(case.power), case.participants
    piece = _reversed_bits(case.power)
    for pieces in powers(case.power):
        partner = participants[place ^ (case.power // (2 * pieces))]
        first, counts = piece // pieces * pieces, np.full(case.power, pieces)
        yield spans(participants, partner, first, counts, case.power)


def _reversed_bits(count: int) -> IntArray:
    numbers = np.arange(1)
    while len(numbers) < count:
        numbers = np.concatenate([2 * numbers, 2 * numbers + 1])
    return numbers


_THAKUR = (
    "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, "
    "2005, section 3.5"
)

# Open MPI's rings (coll_base_allreduce.c) take it for fewer elements than ranks, MPICH in place of
# Rabenseifner's algorithm for fewer than the power of two (its allreduce.c).
_FEW = "recursive-doubling"

ALGORITHMS = (
    Algorithm(
        "recursive-doubling",
        "Pairs exchange and combine the whole vector, then pairs of pairs; ranks beyond a power "
        "of two send theirs to a partner first and receive the result from it last.",
        _THAKUR,
        recursive_doubling,
        order="always",
    ),
    Algorithm(
        "ring",
        "Each block of the vector goes round the ring twice: to be combined, then to be "
        "distributed.",
        "Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "2009",
        ring,
        split=lambda case: case.ranks,
        few=_FEW,
        order="never",
    ),
    Algorithm(
        "segmented-ring",
        "A ring whose blocks are cut into segments that go round on their own, so that some are "
        "under way while others are combined.",
        "Patarasuk, Yuan 2009, section 3; cut as in Open MPI's coll/base, the segments overlap",
        ring,
        split=lambda case: case.ranks * case.segments,
        few=_FEW,
        order="never",
        parameter="segment_bytes",
        value=65536,
    ),
    Algorithm(
        "rabenseifner",
        "The vector is halved between pairs until each rank has a piece, then doubled again.",
        "Rabenseifner, Optimization of collective reduction operations, 2004, section 3",
        rabenseifner,
        split=lambda case: case.power,
        few=_FEW,
        order="always",
    ),
    Algorithm(
        "reduce-bcast",
        "A reduction to rank 0 by a binomial tree, then a broadcast down the same tree.",
        "Thakur, Rabenseifner, Gropp 2005, section 3.5; the first implementation in MPICH",
        reduce_bcast,
        order="always",
    ),
)
