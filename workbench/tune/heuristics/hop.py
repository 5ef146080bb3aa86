"""Steps to a configuration nearby, the neighbourhood of annealing and the mutation of genes."""

from __future__ import annotations

import numpy as np

from workbench.tune.heuristics.heuristic import Proposal
from workbench.tune.space.space import Configuration, TuningSpace

_MOST_TRIES = 20


def hop(space: TuningSpace, configuration: Configuration, rng: np.random.Generator) -> Proposal:
    """Return another allowed configuration, one or a few steps away; any if none is near.

    Each step draws a parameter, then one of its neighbouring values, so that a long list of choices
    does not move more often; a further step has probability 1/2.
    """
    start = space.key(configuration)
    for _ in range(_MOST_TRIES):
        here: Configuration = configuration
        for _ in range(int(rng.geometric(0.5))):
            near = _by_parameter(space, here)
            if not near:
                break
            options = near[int(rng.integers(len(near)))]
            here = options[int(rng.integers(len(options)))]
        found = space.canonical(here)
        if tuple(found.values()) != start and space.contains(found):
            return found
    return space.sample(rng)


def _by_parameter(space: TuningSpace, configuration: Configuration) -> list[list[Proposal]]:
    """Return the neighbours grouped by the parameter that moved."""
    here = space.canonical(configuration)
    groups: dict[str, list[Proposal]] = {}
    for near in space.neighbours(here):
        # Parents come before what depends on them, so the first difference is what moved.
        moved = next(name for name in space.names if near[name] != here[name])
        groups.setdefault(moved, []).append(near)
    return list(groups.values())
