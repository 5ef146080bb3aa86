"""A search over placements that continues after Algorithm 3: annealing on critical paths."""

from __future__ import annotations

import math

import numpy as np

from workbench.sensitivity.placement.problem import IntArray, PlacementProblem
from workbench.sensitivity.placement.swaps import swap_gains, swapped

_GUIDED = 0.9
"""Share of the steps that swap two ranks whose swap shortens the critical path."""

_SPREAD = 0.3
"""How far from the greatest gain such a swap may be, as a share of it."""

_COLD = 0.01
"""The last temperature, as a share of the first."""

_SAMPLED = 30


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
