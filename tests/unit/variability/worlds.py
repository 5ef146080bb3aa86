"""Runs beside users whose effects are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.variability import Neighbourhood, Runs


def world(seed: int, culprits: int, runs: int = 200, users: int = 24) -> tuple[Runs, Neighbourhood]:
    """Return runs that the first users slow down by some percent each, and who was beside them.

    Users come and go together in four loose circles, so that who is not to blame often runs beside
    one who is. Times have 8 % of noise.
    """
    rng = np.random.default_rng(seed)
    circles = 0.5 * rng.standard_normal((runs, 4)) @ rng.standard_normal((4, users))
    present = circles + rng.uniform(-1.5, 0.5, users) + rng.standard_normal((runs, users)) > 0
    effects = np.zeros(users)
    effects[:culprits] = 0.06 * rng.uniform(0.5, 2, culprits)
    time = 300 * np.exp(present @ effects + 0.08 * rng.standard_normal(runs))
    start = 1000.0 * np.arange(runs)
    names = tuple((f"u{user}",) for user in range(users))
    name = tuple(map(str, range(runs)))
    return Runs(name, start, start + time, time), _beside(name, names, present)


def _beside(
    run: tuple[str, ...], users: tuple[tuple[str, ...], ...], present: NDArray[np.bool_]
) -> Neighbourhood:
    return Neighbourhood(run, users, present, 512.0 * present, 128, True, ())
