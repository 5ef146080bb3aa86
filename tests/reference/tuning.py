"""SHAMan's rules (specs: resampling, stopping, pruning) over plain lists, as they are written down.

`runs` is a list of (name of the configuration, loss), none of them initial unless said.
"""

from __future__ import annotations

import itertools
import math
import statistics

Runs = list[tuple[str, float]]


def mean_resamples(runs: Runs, share: float, most: int, z: float = 1.96) -> bool:
    losses = [loss for name, loss in runs if name == runs[-1][0]]
    n = len(losses)
    if n < 2:
        return True
    if n >= most:
        return False
    return 2 * z * statistics.pstdev(losses) / math.sqrt(n) > share * abs(statistics.fmean(losses))


def median_resamples(runs: Runs, share: float, most: int, z: float = 1.96) -> bool:
    losses = [loss for name, loss in runs if name == runs[-1][0]]
    n = len(losses)
    if n < 2:
        return True
    if n >= most:
        return False
    width = 2 * z * 1.253 * statistics.pstdev(losses) / math.sqrt(n)
    return width > share * abs(statistics.median(losses))


def improved_resamples(runs: Runs, share: float, most: int, rate: float, least: float) -> bool:
    """Both schedules max(rate^k, least), for positive losses."""
    losses = [loss for name, loss in runs if name == runs[-1][0]]
    n, k = len(losses), len(runs) - len(losses)
    schedule = max(rate**k, least)
    if n >= 2 and k:
        others = statistics.median(loss for _, loss in runs[:k])
        if statistics.median(losses) > schedule * others:
            return False
    return median_resamples(runs, share * schedule, most)


def improvement(losses: list[float], initial: int, how: str, window: int) -> float | None:
    """The share by which the window is better, None while it is not full; for positive losses."""
    if len(losses) <= window + initial:
        return None
    estimate = {"min": min, "mean": statistics.fmean, "median": statistics.median}[how]
    before, last = estimate(losses[:-window]), estimate(losses[-window:])
    return (before - last) / before


def mean_pair_distance(points: list[tuple[float, ...]]) -> float:
    """Points of numeric parameters between 0 and 1."""
    pairs = list(itertools.combinations(sorted(set(points)), 2))
    if not pairs:
        return 0.0
    return statistics.fmean(math.dist(a, b) / math.sqrt(len(a)) for a, b in pairs)
