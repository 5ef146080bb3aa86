"""A run and the jobs beside it: what they send in each step, and how long the steps then take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.variability.world.application import WorldApplication, milc_shape, world_application
from workbench.variability.world.congestion import LinkState, bytes_on_links, link_states
from workbench.variability.world.counters import TrafficKind
from workbench.variability.world.flows import JobFlows, job_flows
from workbench.variability.world.loads import MachineLoads, machine_loads
from workbench.variability.world.machine import CLASSES, WorldMachine, world_machine, world_preset
from workbench.variability.world.schedule import LONG, OURS, WorldSchedule, world_schedule
from workbench.variability.world.users import EXPERIMENTER

LONG_RUN = -1
"""Number of the first long run; the next ones are -2, -3 and so on."""

_LONG_APART = 5
"""Runs that a world has more until its next long run: three days later."""

LONG_STEPS = 620
"""Its steps (Bhatele et al. 2020, V-C)."""

_USUAL = 1.3
"""How much longer a step usually takes than on an idle machine."""

_NORM = 8  # chosen: 4 and 16 make run times of ``small`` vary by 5.9 and 5.0 % instead of 5.4
# Of the logarithm of a step and a run: chosen, as little as the paper sees (Bhatele 2020, III-B).
_NOISE, _RUN_NOISE = 0.01, 0.004


@dataclass(frozen=True)
class WorldSettings:
    """What a world is made from.

    Attributes:
        preset: name of the machine.
        application: name of the program.
        runs: their number.
        seed: of all that is drawn.
        interference: whether the others' traffic slows the runs down.
    """

    preset: str
    application: str
    runs: int
    seed: int
    interference: bool = True

    @property
    def machine(self) -> WorldMachine:
        """The machine."""
        return world_machine(world_preset(self.preset))

    @property
    def program(self) -> WorldApplication:
        """The program whose runs are watched."""
        return world_application(self.application)

    @property
    def schedule(self) -> WorldSchedule:
        """Which jobs ran when and where."""
        preset, program = world_preset(self.preset), self.program
        slot = 2.0 * LONG_STEPS * program.step_s * float(program.shape.mean())
        return world_schedule(preset, program, self.runs, self.seed, slot)

    @property
    def suspects(self) -> tuple[str, ...]:
        """All users who may slow a run down, the experimenter last: their other runs count."""
        return (*(user.name for user in self.schedule.users), EXPERIMENTER)


@dataclass(frozen=True, eq=False)
class Scene:
    """A run with the jobs beside it.

    Attributes:
        program: of the run.
        nodes: int64[ranks], of the run.
        job: int64[jobs], places in the schedule, that of the run first.
        users: user of each job.
        loads: of all jobs.
        activity: float64[jobs, steps], 1 where a job sends at its rate.
        kind: of each parcel's bytes.
        noise: float64[steps], factors of the time.
        interference: whether the others' traffic slows the run down.
    """

    program: WorldApplication
    nodes: IntArray
    job: IntArray
    users: tuple[str, ...]
    loads: MachineLoads
    activity: FloatArray
    kind: TrafficKind
    noise: FloatArray
    interference: bool

    @property
    def idle_s(self) -> FloatArray:
        """What each step takes where there is no stall, s, float64[steps]."""
        return self.program.step_s * self.program.shape


def long_schedule(settings: WorldSettings, run: int) -> WorldSchedule:
    """Return the jobs around a long run: of a world with so many more runs before it."""
    return replace(settings, runs=settings.runs + _LONG_APART * (LONG_RUN - run)).schedule


def drawn_for(settings: WorldSettings, what: int, run: int) -> np.random.Generator:
    """Return the random numbers of one kind for a run."""
    key = [run + 1] if run >= LONG_RUN else [0, LONG_RUN - run]
    return np.random.default_rng([settings.seed, what, *key])


def usual_pace(program: WorldApplication) -> FloatArray:
    """Return how long steps usually take, s: who is beside which step does not depend on stalls."""
    found: FloatArray = _USUAL * program.step_s * program.shape
    return found


@lru_cache(maxsize=8)
def scene_of(settings: WorldSettings, run: int) -> Scene:
    """Return a run with the jobs beside it, or a long run."""
    schedule, machine, program = settings.schedule, settings.machine, settings.program
    if run <= LONG_RUN:
        schedule = long_schedule(settings, run)
        shape = program.shape
        long = (
            milc_shape(LONG_STEPS)
            if settings.application.startswith("milc")
            else np.resize(shape[len(shape) // 4 :], LONG_STEPS)
        )
        program = replace(program, shape=long)
        here = int(np.flatnonzero(schedule.user == LONG)[0])
    else:
        here = schedule.job_of(run)
    pace = usual_pace(program)
    until = schedule.start[here] + np.cumsum(pace)
    beside = np.flatnonzero((schedule.start < until[-1]) & (schedule.end > schedule.start[here]))
    jobs = np.concatenate(([here], beside[beside != here]))
    senders = [_sender(schedule, int(job), settings.program) for job in jobs]
    io = np.flatnonzero(machine.io[machine.topology.host_router])
    flows = [
        _flows(settings.seed, schedule, int(job), sender, io)
        for job, sender in zip(jobs, senders, strict=True)
    ]
    rng = drawn_for(settings, 6, run)
    rates = np.array([sender.node_rate for sender in senders])
    loads = machine_loads(machine, flows, rates)
    middle = until - pace / 2
    there = (schedule.start[jobs, None] <= middle) & (schedule.end[jobs, None] > middle)
    there[0] = True
    noise = np.exp(_NOISE * rng.standard_normal(len(pace)) + _RUN_NOISE * rng.standard_normal())
    parcel = loads.job
    return Scene(
        program,
        schedule.nodes_of(here),
        jobs,
        tuple(schedule.name_of(int(job)) for job in jobs),
        loads,
        there * _activity(senders, pace, rng),
        TrafficKind(
            np.array([sender.requests for sender in senders])[parcel],
            np.array([sender.packet_flits for sender in senders])[parcel],
            (parcel == 0).astype(np.float64),
        ),
        noise,
        settings.interference,
    )


@dataclass(frozen=True)
class _Sender:
    """What matters of a job's traffic."""

    patterns: dict[str, float]
    node_rate: float
    requests: float
    packet_flits: float
    active: float = 1.0
    spell_s: float = 600.0
    unsteady: float = 0.0


def _sender(schedule: WorldSchedule, job: int, watched: WorldApplication) -> _Sender:
    code = int(schedule.user[job])
    if code >= 0:
        user = schedule.users[code]
        return _Sender(
            dict(user.patterns),
            user.node_rate,
            user.requests,
            user.packet_flits,
            user.active,
            user.spell_s,
            user.unsteady,
        )
    program = watched if code in (OURS, LONG) else schedule.companions[-3 - code]
    return _Sender(
        dict(program.patterns), program.node_rate, program.requests, program.packet_flits
    )


def _flows(seed: int, schedule: WorldSchedule, job: int, sender: _Sender, io: IntArray) -> JobFlows:
    """Return a job's flows, the same beside whichever run."""
    rng = np.random.default_rng([seed, 5, int(schedule.user[job]) + 100, int(schedule.number[job])])
    return job_flows(sender.patterns, schedule.nodes_of(job), io, rng)


def _activity(senders: list[_Sender], pace: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return how active jobs are in each step: on or off, and lognormal around 1 while on."""
    active = np.array([sender.active for sender in senders])
    spell = np.array([sender.spell_s for sender in senders])
    unsteady = np.array([sender.unsteady for sender in senders])
    draws = rng.random((len(pace), len(senders)))
    waves = rng.standard_normal((len(pace), len(senders)))
    found = np.empty((len(senders), len(pace)))
    on, level = draws[0] < active, waves[0]
    for step, seconds in enumerate(pace):
        if step:
            kept = np.exp(-seconds / spell)
            # A state that is kept with this chance, or else drawn anew, lasts a spell on average.
            drawn = draws[step] >= kept
            on = np.where(drawn, (draws[step] - kept) / (1 - kept) < active, on)
            level = kept * level + np.sqrt(1 - kept**2) * waves[step]
        found[:, step] = on * np.exp(unsteady * level - unsteady**2 / 2)
    found[0] = 1.0
    return found


def scene_states(
    scene: Scene,
    activity: FloatArray,  # [jobs, columns]
    unlimited: NDArray[np.bool_] | None = None,
) -> Iterator[tuple[slice, LinkState, FloatArray]]:
    """Yield columns, some at a time, the links in them, and the slow-down of the run.

    The slow-down is that of its communication, relative.
    """
    loads = scene.loads
    ours = (loads.job == 0)[:, None]
    for columns, state in link_states(loads, activity[loads.job], unlimited=unlimited):
        passes = bytes_on_links(loads, activity[loads.job, columns] * ours, state.minimal)
        # What arrives at nodes waits no more.
        passes[loads.machine.to_nodes] = 0.0
        passes /= np.maximum(passes.sum(axis=0), 1e-300)
        mean = (passes * state.stall).sum(axis=0)
        hot = (passes * state.stall**_NORM).sum(axis=0) ** (1.0 / _NORM)
        program = scene.program
        yield columns, state, program.mean_weight * mean + program.hot_weight * hot


def step_times(
    scene: Scene,
    activity: FloatArray | None = None,  # [jobs, columns]
    steps: IntArray | None = None,  # of each column; None: column s is step s
    *,
    unlimited: NDArray[np.bool_] | None = None,
) -> FloatArray:
    """Return how long steps take, s, float64[columns], with the activities of a world."""
    activity = scene.activity if activity is None else activity
    steps = np.arange(len(scene.noise)) if steps is None else steps
    if not scene.interference:
        activity = np.where(np.arange(len(scene.job))[:, None] == 0, activity, 0.0)
    slowed = [slowed for _, _, slowed in scene_states(scene, activity, unlimited)]
    return times_of(scene, np.concatenate(slowed), steps)


def times_of(scene: Scene, slowed: FloatArray, steps: IntArray) -> FloatArray:
    """Return how long steps take, s, whose communication takes longer by ``slowed``, relative."""
    c = scene.program.communication
    times: FloatArray = scene.idle_s[steps] * (1.0 - c + c * (1.0 + slowed)) * scene.noise[steps]
    return times


def links_of_class(machine: WorldMachine, name: str) -> NDArray[np.bool_]:
    """Return which wide links are of a class."""
    return np.asarray(machine.kind == CLASSES.index(name))
