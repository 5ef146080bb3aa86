"""What a swap of two ranks gains, for all pairs of ranks at once.

Both the critical path and the traffic are weights on pairs of ranks; a mapping costs the sum of
weight times distance. A swap of i and j changes only the terms with i or j, so that the gains of
all swaps follow from one product of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix

from workbench.arrays import FloatArray, IntArray

Term = tuple[IntArray, FloatArray]
"""Symmetric weights between ranks, int64[slots, slots], and the distance between slots."""


def swap_gains(terms: Sequence[Term], mapping: IntArray) -> tuple[IntArray, FloatArray]:
    """Return ranks with weights, and the gain of swapping each with any, float64[active, slots]."""
    active = np.flatnonzero(np.any([weights.any(axis=1) for weights, _ in terms], axis=0))
    gains = np.zeros((len(active), len(mapping)))
    for weights, distance in terms:
        # What each rank would pay at each rank's slot; ranks without weights pay nothing.
        paid = (csr_matrix(weights[active]) @ distance[mapping])[:, mapping]
        now = np.zeros(len(mapping))
        now[active] = paid[np.arange(len(active)), active]
        gains += now[active][:, None] + now[None, :] - paid
        gains[:, active] -= paid[:, active].T
        # The swapped two stay as far apart as they were.
        i, j = np.nonzero(weights[active])
        here, there = mapping[active[i]], mapping[j]
        own = distance[here, here] + distance[there, there]
        gains[i, j] += weights[active[i], j] * (own - 2 * distance[here, there])
    return active, gains


def symmetric(by_sender: IntArray) -> IntArray:
    """Return the sum of both directions' weights, int64[slots, slots], with 0 on the diagonal."""
    both: IntArray = by_sender + by_sender.T
    np.fill_diagonal(both, 0)
    return both


def swapped(mapping: IntArray, i: int, j: int) -> IntArray:
    """Return a copy of a mapping with ranks i and j swapped."""
    changed = mapping.copy()
    changed[i], changed[j] = mapping[j], mapping[i]
    return changed
