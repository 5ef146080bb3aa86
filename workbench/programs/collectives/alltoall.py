"""Alltoall: every rank has a block for every rank; block ``sender * ranks + receiver``."""

from __future__ import annotations

from functools import partial

import numpy as np

from workbench.arrays import IntArray
from workbench.programs.collectives.rounds import (
    Algorithm,
    CollectiveCase,
    Round,
    Rounds,
    check_number,
    powers,
    single,
)


def linear(case: CollectiveCase) -> Rounds:
    """Send to all other ranks at once, the next rank first."""
    p = case.ranks
    check_number(p * (p - 1), "messages")
    source = np.repeat(np.arange(p), p - 1)
    target = (source + np.tile(np.arange(1, p), p)) % p
    yield single(source, target, source * p + target)


def pairwise(case: CollectiveCase) -> Rounds:
    """Send to the ranks 1, 2, 3, ... places on, one after the other."""
    ranks = np.arange(case.ranks)
    for distance in range(1, case.ranks):
        target = (ranks + distance) % case.ranks
        yield single(ranks, target, ranks * case.ranks + target)


def bruck(case: CollectiveCase) -> Rounds:
    """Send blocks 1, 2, 4, ... places on, each by the bits of its distance that are set."""
    p = case.ranks
    ranks = np.arange(p)
    for distance in powers(p):
        ways = np.arange(p)[np.arange(p) & distance > 0]
        blocks = partial(_under_way, ranks, ways, distance)
        yield Round(ranks, (ranks + distance) % p, np.full(p, len(ways)), blocks)


def _under_way(ranks: IntArray, ways: IntArray, distance: int) -> IntArray:
    """Return the blocks that each rank sends over this distance, int64[ranks * ways]."""
    p = len(ranks)
    sender = ranks[:, None] - ways % distance
    blocks: IntArray = sender % p * p + (sender + ways) % p
    return blocks.ravel()


_PJESIVAC = "Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, 2007"

ALGORITHMS = (
    Algorithm("linear", "Every rank sends to all others at once.", _PJESIVAC, linear),
    Algorithm(
        "pairwise",
        "Every rank sends to the ranks 1, 2, 3, ... places on, one after the other.",
        "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in "
        "MPICH, 2005, section 3.6",
        pairwise,
    ),
    Algorithm(
        "bruck",
        "Blocks travel 1, 2, 4, ... places, many in one message, by the bits of their distance.",
        "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications "
        "in multiport message-passing systems, 1997",
        bruck,
    ),
)
