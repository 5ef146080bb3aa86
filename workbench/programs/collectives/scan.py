"""Scan and exscan: every rank gets the combined vectors of the ranks up to it, or before it.

Both send the same messages. What a rank of an exscan receives is its result; it combines that with
its own vector only to send it on.
"""

from __future__ import annotations

import numpy as np

from workbench.programs.collectives.rounds import Algorithm, CollectiveCase, Rounds, powers, single


def linear(case: CollectiveCase) -> Rounds:
    """Combine the previous rank's result with the own vector and forward it."""
    for rank in range(case.ranks - 1):
        yield single(np.array([rank]), np.array([rank + 1]), 0, reduce=True)


def recursive_doubling(case: CollectiveCase) -> Rounds:
    """Send the result so far to the rank 1, 2, 4, ... places on."""
    for distance in powers(case.ranks):
        source = np.arange(case.ranks - distance)
        yield single(source, source + distance, 0, reduce=True)


ALGORITHMS = (
    Algorithm(
        "linear",
        "Every rank waits for the one before, combines and forwards the result.",
        "MPI: A Message-Passing Interface Standard, section on scan; the definition as a chain",
        linear,
        order="always",
    ),
    Algorithm(
        "recursive-doubling",
        "Every rank sends what it has combined so far 1, 2, 4, ... places on.",
        "Hillis, Steele, Data parallel algorithms, 1986",
        recursive_doubling,
        order="always",
    ),
)
