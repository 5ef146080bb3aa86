"""Schedules of users and runs over weeks whose causes are known: no network is simulated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.variability import JobLog, Runs

DAY_S = 86_400.0
_RUN_S = 1200.0
_NOISE = 0.07  # of the logarithm of a run's time


@dataclass(frozen=True)
class Schedule:
    """Runs, the jobs beside them, and by how much each user truly makes a run longer."""

    runs: Runs
    jobs: JobLog
    truth: dict[str, float]


def schedule(
    seed: int,
    *,
    culprits: int = 0,
    effect: tuple[float, float] = (0.05, 0.2),  # the least and the most a culprit adds
    drift: bool = False,
    users: int = 30,
    runs: int = 150,
    days: float = 60.0,
) -> Schedule:
    """Return runs over some weeks beside users who come for hours or days.

    Each culprit has a companion, innocent, who only runs while the culprit does. With ``drift``,
    run times change smoothly over the weeks by 10 to 25 %, some users come and others go.
    """
    rng = np.random.default_rng(seed)
    start = np.sort(rng.uniform(0, days * DAY_S, runs))
    sessions = [_sessions(rng, days, drift) for _ in range(users - culprits)]
    sessions += [
        sessions[culprit][rng.random(len(sessions[culprit])) < 0.6] for culprit in range(culprits)
    ]
    effects = np.zeros(users)
    effects[:culprits] = rng.uniform(*effect, culprits)
    slower = np.zeros(runs)
    for each, more in zip(sessions, effects, strict=True):
        there = (each[:, 0] <= start[:, None]) & (each[:, 1] >= start[:, None] + 2 * _RUN_S)
        slower += np.log1p(more) * there.any(axis=1)
    if drift:
        slower += _drift(rng, start / (days * DAY_S))
    time = _RUN_S * np.exp(slower + _NOISE * rng.standard_normal(runs))
    names = [f"u{user}" for user in range(users)]
    owner = np.repeat(np.arange(users), [len(each) for each in sessions])
    begun, ended = np.concatenate(sessions).T
    jobs = JobLog(
        tuple(map(str, range(len(owner)))),
        tuple(names[user] for user in owner),
        2 ** rng.integers(7, 11, len(owner)),
        begun,
        ended,
    )
    named = tuple(f"r{run}" for run in range(runs))
    return Schedule(
        Runs(named, start, start + time, time),
        jobs,
        dict(zip(names, effects.tolist(), strict=True)),
    )


def _sessions(rng: np.random.Generator, days: float, drift: bool) -> NDArray[np.float64]:
    """Return the start and the end of each of a user's jobs, s, float64[jobs, 2]."""
    hours = rng.uniform(6, 48)
    count = max(rng.poisson(rng.uniform(0.05, 0.4) * days * 24 / hours), 3)
    at = rng.uniform(0, 1, count)
    if drift:  # most of the jobs early, or late
        at = at ** rng.uniform(1.5, 3)
        at = at if rng.random() < 0.5 else 1 - at
    begun = at * (days + 2) * DAY_S - 2 * DAY_S
    return np.stack([begun, begun + 3600 * hours * rng.lognormal(0, 0.5, count)], axis=1)


def _drift(rng: np.random.Generator, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a smooth change of the logarithm of the time, at from 0 to 1, some 10 to 25 %."""
    size = rng.uniform(0.1, 0.22) * rng.choice([-1, 1])
    shape = rng.integers(4)
    if shape == 0:
        return np.asarray(size * at)
    if shape == 1:  # a month that is slow
        return np.asarray(size * np.sin(2 * np.pi * (at + rng.random())) / 2)
    if shape == 2:  # an upgrade within some days
        return np.asarray(size / (1 + np.exp(-(at - rng.uniform(0.3, 0.7)) / 0.04)))
    # a random walk, by its first ten terms
    terms = np.arange(10) + 0.5
    weight = rng.standard_normal(10) / (np.pi * terms)
    return np.asarray(size * 2 * np.sin(np.pi * np.outer(at, terms)) @ weight)
