"""Algorithm 3 of LLAMP: swap the two ranks that gain most on the critical path, while it helps."""

from __future__ import annotations

import numpy as np

from workbench.sensitivity.placement.problem import IntArray, PlacementProblem
from workbench.sensitivity.placement.swaps import swap_gains, swapped


def algorithm_3(problem: PlacementProblem, mapping: IntArray) -> tuple[IntArray, int]:
    """Return the mapping that Algorithm 3 ends with, and its time in ps.

    Each round finds the critical path, the latencies and bytes of each pair on it, and the swap
    that shortens this path most; the search ends when no swap does, or when the time is not
    less after one, which is then undone (Shen et al., LLAMP, appendix J). The listing goes on to
    line 24 after that and would swap once more; here it ends, as the text says.

    Args:
        problem: the program and the slots.
        mapping: int64[slots], to begin with.
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
