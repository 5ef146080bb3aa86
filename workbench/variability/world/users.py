"""Users of a machine, drawn from a seed: how often they come, and what their jobs send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.variability.world.machine import WorldPreset

EXPERIMENTER = "user-00"
"""Who submits the runs, and the paper's other programs beside them."""

DAY = 86_400.0  # s
MONTH = 30 * DAY


@dataclass(frozen=True)
class WorldUser:
    """A user and their jobs.

    Attributes:
        name: of the user.
        patterns: share of the bytes by pattern of traffic; none is an idle network.
        node_rate: B/s that a node sends while the job is active.
        active: share of the time that a job is active.
        spell_s: mean time of being active, or not, s.
        unsteady: standard deviation of the logarithm of the rate.
        requests: share of the bytes that are requests.
        packet_flits: mean flits of a packet.
        jobs_a_day: on average, over day and night and over the months.
        months: weight of each month, the first one first, again from the first after the last.
        median_nodes: of a job.
        median_s: how long a job runs, s.
        peak_h: hour of the day, UTC, at which most jobs are submitted.
    """

    name: str
    patterns: Mapping[str, float]
    node_rate: float
    active: float
    spell_s: float
    unsteady: float
    requests: float
    packet_flits: float
    jobs_a_day: float
    months: tuple[float, ...]
    median_nodes: float
    median_s: float
    peak_h: float


@dataclass(frozen=True)
class _Kind:
    patterns: Mapping[str, float]
    weight: float  # of the users who are so
    rate: tuple[float, float]  # least and most B/s of a node
    active: tuple[float, float]
    spell_s: tuple[float, float]
    requests: float
    packet_flits: float


_KINDS = (
    _Kind({"stencil-3d": 1.0}, 0.22, (0.25e9, 2.5e9), (0.7, 1.0), (100, 600), 0.8, 4.4),
    _Kind({"all-to-all": 1.0}, 0.22, (0.5e9, 7.5e9), (0.4, 1.0), (60, 600), 0.6, 3.6),
    _Kind({"shift": 0.7, "all-to-all": 0.3}, 0.14, (0.5e9, 7.5e9), (0.4, 1.0), (60, 600), 0.8, 4.6),
    _Kind(
        {"io-write": 0.7, "all-to-all": 0.3},
        0.14,
        (0.25e9, 3.0e9),
        (0.3, 0.7),
        (60, 400),
        0.95,
        4.8,
    ),
    _Kind(
        {"io-read": 0.6, "stencil-3d": 0.4}, 0.10, (0.25e9, 2.5e9), (0.3, 0.7), (60, 400), 0.2, 4.8
    ),
    _Kind({}, 0.18, (0.0, 0.0), (1.0, 1.0), (600, 600), 0.5, 3.0),
)
_SPREAD_NODES, _SPREAD_TIME = 0.6, 0.7
"""Standard deviations of the logarithms of a job's nodes and time."""

_MOST_SHARE = 0.2
"""Of the machine that a job may ask for."""


def draw_users(preset: WorldPreset, nodes: int, seed: int) -> tuple[WorldUser, ...]:
    """Return the users of a machine with so many nodes."""
    rng = np.random.default_rng([seed, 1])
    weights = np.array([kind.weight for kind in _KINDS])
    counts = np.floor(weights * preset.users).astype(int)
    rest = np.argsort(-(weights * preset.users - counts), kind="stable")
    counts[rest[: preset.users - counts.sum()]] += 1
    kinds = rng.permutation(np.repeat(np.arange(len(_KINDS)), counts))
    share = rng.lognormal(0.0, 0.3, preset.users)
    asked = share / share.sum() * preset.busy * nodes * DAY  # node seconds a day
    users = []
    for at, kind in enumerate(_KINDS[k] for k in kinds):
        median_nodes = preset.median_nodes * rng.lognormal(0.0, 0.3)
        median_s = 3600 * rng.uniform(2, 10)
        each = median_nodes * median_s * np.exp((_SPREAD_NODES**2 + _SPREAD_TIME**2) / 2)
        low, high = kind.rate
        users.append(
            WorldUser(
                name=f"user-{at + 1:02d}",
                patterns=kind.patterns,
                node_rate=low * (high / low) ** rng.random() if low else 0.0,
                active=rng.uniform(*kind.active),
                spell_s=rng.uniform(*kind.spell_s),
                unsteady=rng.uniform(0.1, 0.4),
                requests=kind.requests,
                packet_flits=kind.packet_flits,
                jobs_a_day=float(asked[at] / each),
                months=tuple(rng.lognormal(0.0, 0.7, 4)),
                median_nodes=median_nodes,
                median_s=median_s,
                peak_h=rng.uniform(14, 26) % 24,
            )
        )
    return tuple(users)


def arrivals(
    user: WorldUser, until: float, most_nodes: int, rng: np.random.Generator
) -> list[tuple[float, int, float]]:
    """Return a user's jobs as time of submission, nodes and duration, s, from a Poisson process.

    Its rate has a daily wave and a weight for each month; the jobs up to a time do not depend on
    ``until``.
    """
    months = np.array(user.months) / np.mean(user.months)
    most = user.jobs_a_day / DAY * 1.6 * months.max()
    found: list[tuple[float, int, float]] = []
    at = 0.0
    while True:
        gap, thinned, size, length = rng.random(), rng.random(), *rng.standard_normal(2)
        at += -np.log1p(-gap) / most
        if at >= until:
            return found
        hour = 2 * np.pi * (at / 3600 - user.peak_h) / 24
        rate = user.jobs_a_day / DAY * (1 + 0.6 * np.cos(hour)) * months[int(at / MONTH) % 4]
        if thinned * most >= rate:
            continue
        nodes = user.median_nodes * np.exp(_SPREAD_NODES * size)
        seconds = user.median_s * np.exp(_SPREAD_TIME * length)
        found.append(
            (
                at,
                int(np.clip(nodes, 2, _MOST_SHARE * most_nodes)),
                float(np.clip(seconds, 600.0, 2 * DAY)),
            )
        )
