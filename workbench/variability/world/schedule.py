"""Which jobs run when on which nodes: a queue that starts what fits, first come first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from workbench.arrays import FloatArray, IntArray
from workbench.variability.world.application import APPLICATIONS, WorldApplication
from workbench.variability.world.machine import WorldMachine, WorldPreset, world_machine
from workbench.variability.world.users import DAY, EXPERIMENTER, WorldUser, arrivals, draw_users

EPOCH = 1_543_622_400.0
"""2018-12-01 UTC in s, the month in which the paper's runs began (Bhatele et al. 2020, III-A)."""

RUNS_A_DAY = 5 / 3
"""One or two a day (the same): 200 in the four months."""

SLOT_S = 1800.0
"""How long the nodes of a run are taken; it ends earlier."""

# Measured on 60 runs of ``small``, milc-128, seed 0: 76 % of the nodes are busy.
_WARM_UP = 4 * DAY  # 2 and 8 days give 75 and 78 %
_PATIENCE = 12 * 3600.0  # s; 6 and 24 hours, and no end, give 76 %
_LOOK = 60  # jobs that wait; 30 and 120 start the same jobs
_PIECES = 3.0  # chosen: runs are on 3.5 groups; 1.5 and 6 give 3.1 and 4.4

OURS, LONG = -1, -2
"""Users of jobs: the experimenter's runs that are watched, and their long run."""


@dataclass(frozen=True, eq=False)
class WorldSchedule:
    """Jobs in the order in which they started.

    Attributes:
        users: all but the experimenter.
        user: int64[jobs], place in ``users``; -1 for runs that are watched, -2 for the long run,
            -3 - k for runs of the k-th program of ``companions``.
        companions: the programs that the experimenter runs beside those that are watched.
        number: int64[jobs], of each job as submitted, or of the run.
        start: float64[jobs], s since 2018-12-01 UTC.
        end: float64[jobs].
        first: int64[jobs + 1]; ``nodes[first[j]:first[j + 1]]`` are those of job j.
        nodes: int64[n].
        asked: runs that were submitted.
    """

    users: tuple[WorldUser, ...]
    user: IntArray
    companions: tuple[WorldApplication, ...]
    number: IntArray
    start: FloatArray
    end: FloatArray
    first: IntArray
    nodes: IntArray
    asked: int

    def nodes_of(self, job: int) -> IntArray:
        """Return the nodes of a job in the order of its ranks."""
        return self.nodes[self.first[job] : self.first[job + 1]]

    def job_of(self, run: int) -> int:
        """Return the job of a run that is watched."""
        return int(np.flatnonzero((self.user == OURS) & (self.number == run))[0])

    def name_of(self, job: int) -> str:
        """Return the name of a job's user."""
        user = int(self.user[job])
        return self.users[user].name if user >= 0 else EXPERIMENTER


@lru_cache(maxsize=4)
def world_schedule(
    preset: WorldPreset, application: WorldApplication, runs: int, seed: int, long_s: float = 0.0
) -> WorldSchedule:
    """Return the jobs until the last of so many runs has started, and a longer run after them.

    The jobs before a run do not depend on how many runs follow.
    """
    machine = world_machine(preset)
    nodes = machine.nodes
    users = draw_users(preset, len(nodes), seed)
    companions = tuple(one for one in APPLICATIONS.values() if one.name != application.name)
    last = _WARM_UP + (runs / RUNS_A_DAY + 1) * DAY
    submitted: list[tuple[float, int, int, int, float]] = []
    for at, user in enumerate(users):
        rng = np.random.default_rng([seed, 2, at])
        until = last + 3 * DAY
        submitted += [
            (when, at, number, size, length)
            for number, (when, size, length) in enumerate(arrivals(user, until, len(nodes), rng))
        ]
    rng = np.random.default_rng([seed, 3])
    for run in range(runs):
        when = _WARM_UP + (run + rng.random()) / RUNS_A_DAY * DAY
        submitted.append((when, OURS, run, application.nodes, SLOT_S))
        for k, other in enumerate(companions):
            late = rng.exponential(2 * 3600.0)
            if rng.random() < 0.5:
                submitted.append((when + late, -3 - k, run, other.nodes, 600.0))
    if long_s:
        submitted.append((last, LONG, 0, application.nodes, long_s))
    submitted.sort()
    return _Queue(machine, users, companions, seed).run(submitted, runs, bool(long_s))


class _Queue:
    """The machine's nodes and who waits for them."""

    def __init__(
        self,
        machine: WorldMachine,
        users: tuple[WorldUser, ...],
        companions: tuple[WorldApplication, ...],
        seed: int,
    ) -> None:
        self.users, self.companions = users, companions
        self.all_nodes = machine.nodes
        self.free = np.ones(len(self.all_nodes), bool)
        self.rng = np.random.default_rng([seed, 4])
        self.ends: list[tuple[float, int, IntArray]] = []
        self.waiting: list[tuple[float, int, int, int, float]] = []
        self.started: list[tuple[int, int, float, float, IntArray]] = []
        self.ours = 0

    def run(
        self, submitted: list[tuple[float, int, int, int, float]], runs: int, long: bool
    ) -> WorldSchedule:
        """Return who ran when and where."""
        wanted = runs + long
        for job in submitted:
            self._until(job[0])
            self.waiting.append(job)
            self._start(job[0])
            if self.ours == wanted:
                break
        user, number, start, end, nodes = zip(*self.started, strict=True)
        sizes = [len(one) for one in nodes]
        return WorldSchedule(
            self.users,
            np.array(user, np.int64),
            self.companions,
            np.array(number, np.int64),
            np.array(start),
            np.array(end),
            np.cumsum([0, *sizes]),
            np.concatenate(nodes),
            runs,
        )

    def _until(self, when: float) -> None:
        """Let the jobs end that end before a time, and others start in their place."""
        while self.ends and self.ends[0][0] <= when:
            at, _, places = heapq.heappop(self.ends)
            self.free[places] = True
            while self.ends and self.ends[0][0] == at:
                self.free[heapq.heappop(self.ends)[2]] = True
            self._start(at)

    def _start(self, now: float) -> None:
        """Start what fits; behind a job that has waited long, nothing starts."""
        left = []
        blocked = False
        for place, job in enumerate(self.waiting):
            submitted, user, number, size, length = job
            if blocked or place >= _LOOK or size > np.count_nonzero(self.free):
                left.append(job)
                blocked = blocked or now - submitted > _PATIENCE
                continue
            places = self._places(size)
            self.free[places] = False
            heapq.heappush(self.ends, (now + length, len(self.started), places))
            self.started.append((user, number, now, now + length, self.all_nodes[places]))
            self.ours += user in (OURS, LONG)
        self.waiting = left

    def _places(self, size: int) -> IntArray:
        """Return free nodes in some pieces, each from a random place onwards."""
        free = np.flatnonzero(self.free)
        pieces = 1 + self.rng.poisson(_PIECES)
        taken = np.zeros(len(free), bool)
        begin = self.rng.integers(len(free), size=pieces)
        each = -(-size // pieces)
        for at in begin:
            ahead = (np.arange(len(free)) + at) % len(free)
            still = ahead[~taken[ahead]][: min(each, size - int(taken.sum()))]
            taken[still] = True
        return free[taken]
