"""Barrier: no rank leaves before every rank has entered.

Its messages are one byte long, as in Schedgen.
"""

from __future__ import annotations

import numpy as np

from workbench.programs.collectives import bcast
from workbench.programs.collectives.rounds import (
    Algorithm,
    CollectiveCase,
    Rounds,
    mirror,
    powers,
    single,
)


def dissemination(case: CollectiveCase) -> Rounds:
    """Notify the ranks 1, 2, 4, ... places on, one after the other."""
    ranks = np.arange(case.ranks)
    for distance in powers(case.ranks):
        yield single(ranks, (ranks + distance) % case.ranks, 0)


def linear(case: CollectiveCase) -> Rounds:
    """Report from all ranks to rank 0, which then releases them."""
    yield from mirror(bcast.linear(case))
    yield from bcast.linear(case)


def tree(case: CollectiveCase) -> Rounds:
    """Report to rank 0 up a k-nomial tree, and release the ranks down the same tree."""
    yield from mirror(bcast.knomial(case))
    yield from bcast.knomial(case)


ALGORITHMS = (
    Algorithm(
        "dissemination",
        "Every rank signals the ranks 1, 2, 4, ... places further on, one after the other.",
        "Hensgen, Finkel, Manber, Two algorithms for barrier synchronization, 1988",
        dissemination,
    ),
    Algorithm(
        "linear",
        "All ranks report to rank 0, which then releases them all.",
        "Mellor-Crummey, Scott, Algorithms for scalable synchronization on shared-memory "
        "multiprocessors, 1991; the central barrier",
        linear,
    ),
    Algorithm(
        "tree",
        "Reports go up a k-nomial tree to rank 0, and releases come down it.",
        "Mellor-Crummey, Scott 1991; the tree barrier",
        tree,
        parameter="fanout",
        value=2,
    ),
)
