"""Placements that ignore the program: block, round-robin, random."""

from __future__ import annotations

import numpy as np

from workbench.sensitivity.placement.problem import IntArray, PlacementProblem


def block(problem: PlacementProblem) -> IntArray:
    """Return the ranks in the order of the slots, int64[slots]."""
    return np.arange(problem.num_slots)


def round_robin(problem: PlacementProblem) -> IntArray:
    """Return ranks dealt in turn to hosts, or to routers if hosts have one slot, int64[slots]."""
    slots = problem.slots
    places = (
        slots if len(np.unique(slots)) < len(slots) else problem.wires.topology.host_router[slots]
    )
    _, first, place = np.unique(places, return_index=True, return_inverse=True)
    turn = np.empty(len(slots), np.int64)
    for number in range(len(first)):
        held = np.flatnonzero(place == number)
        turn[held] = np.arange(len(held))
    return np.lexsort((first[place], turn))


def shuffled(problem: PlacementProblem, rng: np.random.Generator) -> IntArray:
    """Return the ranks in a random order, int64[slots]."""
    return rng.permutation(problem.num_slots)
