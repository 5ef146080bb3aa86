"""Steps to a configuration nearby, the neighbourhood of annealing and the mutation of genes."""

from __future__ import annotations

import numpy as np

from workbench.tune.heuristics.heuristic import Proposal
from workbench.tune.space.space import Configuration, TuningSpace

_MOST_TRIES = 20


def hop(space: TuningSpace, configuration: Configuration, rng: np.random.Generator) -> Proposal:
    """Return another allowed configuration, one or a few parameters a step away.

    Each step draws a parameter and then one of its neighbouring values, so that a parameter with
    many choices does not move more often than others; further steps follow with probability one
    half each. Where nothing is nearby any configuration is drawn.

    Args:
        space: what is searched.
        configuration: where from; need not be on the axes.
        rng: source of randomness.
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
