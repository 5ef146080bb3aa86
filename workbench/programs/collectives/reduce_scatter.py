"""Reduce_scatter: every rank gets one block of the combined vector."""

from __future__ import annotations

import numpy as np

from workbench.programs.collectives import allgather
from workbench.programs.collectives.rounds import (
    Algorithm,
    CollectiveCase,
    Rounds,
    around,
    mirror,
    single,
)


def ring(case: CollectiveCase) -> Rounds:
    """Combine the block received last and forward it; segments go round independently."""
    return around(case, -1, reduce=True)


def recursive_halving(case: CollectiveCase) -> Rounds:
    """Exchange half of the remaining vector in pairs: an allgather by doubling, run backwards."""
    return mirror(allgather.recursive_doubling(case), reduce=True)


def pairwise(case: CollectiveCase) -> Rounds:
    """Send each other rank its part of that rank's block, one after the other."""
    ranks = np.arange(case.ranks)
    for distance in range(1, case.ranks):
        target = (ranks + distance) % case.ranks
        yield single(ranks, target, target, reduce=True)


_THAKUR = (
    "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, "
    "2005, section 3.3"
)

ALGORITHMS = (
    Algorithm(
        "recursive-halving",
        "Pairs exchange half of the vector, then a quarter, and so on; ranks beyond a power of "
        "two send all but their block to a partner first and receive their block from it last.",
        _THAKUR,
        recursive_halving,
        order="never",
    ),
    Algorithm(
        "ring",
        "Every rank combines the block it received last with its own and forwards it to the next.",
        "Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "2009",
        ring,
        order="never",
    ),
    Algorithm(
        "pairwise",
        "Every rank sends each other rank its part of that rank's block, one after the other.",
        _THAKUR,
        pairwise,
        order="never",
    ),
)
