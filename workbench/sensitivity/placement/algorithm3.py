"""Algorithm 3 of LLAMP: swap the two ranks that gain most on the critical path, while it helps."""

from __future__ import annotations

import numpy as np

from workbench.sensitivity.placement.problem import IntArray, PlacementProblem
from workbench.sensitivity.placement.swaps import swap_gains, swapped


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
