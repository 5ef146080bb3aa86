"""What is computed about one run of a world, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.variability.tables.steps import feature_of
from workbench.variability.world.congestion import LinkState
from workbench.variability.world.counters import COUNTERS, LDMS_COUNTERS, router_counters
from workbench.variability.world.machine import CLASSES, ROUTERS
from workbench.variability.world.scene import (
    Scene,
    WorldSettings,
    drawn_for,
    links_of_class,
    scene_of,
    scene_states,
    step_times,
    times_of,
)

_Found = tuple[FloatArray, FloatArray]

_READ_NOISE = np.array(
    [
        {"placement": 0.0, "app": 0.01, "io": 0.03, "sys": 0.03}[feature_of(name)]
        for name in COUNTERS
    ]
)
"""Standard deviation of the logarithm of each counter's read noise."""


def simulate(settings: WorldSettings, run: int) -> _Found:
    """Return each step's time, s, before its counters, [steps, 1 + counters], and routine times."""
    scene = scene_of(settings, run)
    rng = drawn_for(settings, 7, run)
    alone = None if scene.interference else step_times(scene)
    parts, values = [], []
    for columns, state, slowed in scene_states(scene, scene.activity):
        steps = np.arange(columns.start, columns.stop)
        time = times_of(scene, slowed, steps) if alone is None else alone[columns]
        parts.append(time)
        values.append(_counters(settings, scene, state, columns, time))
    time, read = np.concatenate(parts), np.concatenate(values)
    noisy = np.round(read * np.exp(_READ_NOISE * rng.standard_normal(read.shape)))
    return np.column_stack((time, noisy)), _routines(scene, time, rng)[None]


def times(settings: WorldSettings, run: int) -> _Found:
    """Return each step's time, s, [steps, 1]; the second array is empty."""
    return step_times(scene_of(settings, run))[:, None], np.zeros((0, 0))


def leave_one_out(settings: WorldSettings, run: int, steps: int) -> _Found:
    """Return the time of some steps with all users and without each, and which steps those are."""
    scene = scene_of(settings, run)
    chosen = chosen_steps(scene, steps)
    worlds = [np.ones(len(scene.job), bool)]
    worlds += [~_jobs_of(scene, user) for user in settings.suspects]
    return _times_of_worlds(scene, np.array(worlds), chosen), chosen[None].astype(float)


def shapley(settings: WorldSettings, run: int, steps: int, permutations: int) -> _Found:
    """Return each user's Shapley value of the time of some steps, and their time with nobody else.

    The first array, s, is [users + 1, steps], the second has the steps.
    """
    scene = scene_of(settings, run)
    chosen = chosen_steps(scene, steps)
    users = settings.suspects
    here = [at for at, user in enumerate(users) if _jobs_of(scene, user).any()]
    rng = np.random.default_rng([settings.seed, 8, run + 1])
    values = np.zeros((len(users) + 1, len(chosen)))
    alone = np.arange(len(scene.job)) == 0
    orders = [rng.permutation(here) for _ in range((permutations + 1) // 2)]
    # Each order and the same backwards, which lowers the variance.
    orders = [each for order in orders for each in (order, order[::-1])][:permutations]
    worlds = [alone]
    for order in orders:
        allowed = alone
        for at in order:
            allowed = allowed | _jobs_of(scene, users[at])
            worlds.append(allowed)
    found = _times_of_worlds(scene, np.array(worlds), chosen)
    values[-1] = found[0]
    for order, joined in zip(orders, np.split(found[1:], permutations), strict=True):
        values[order] += np.diff(joined, axis=0, prepend=found[:1]) / permutations
    return values, chosen[None].astype(float)


def classes(settings: WorldSettings, run: int, steps: int) -> _Found:
    """Return the time of some steps as it is and where links of each class have no limit."""
    scene = scene_of(settings, run)
    chosen = chosen_steps(scene, steps)
    activity = scene.activity[:, chosen]
    found = [step_times(scene, activity, chosen)]
    for name in CLASSES:
        free = links_of_class(scene.loads.machine, name)
        found.append(step_times(scene, activity, chosen, unlimited=free))
    return np.array(found), chosen[None].astype(float)


def _jobs_of(scene: Scene, user: str) -> NDArray[np.bool_]:
    """Return which jobs beside the run are a user's."""
    found: NDArray[np.bool_] = np.array(scene.users) == user
    found[0] = False
    return found


COMPUTATIONS: Mapping[str, Callable[..., _Found]] = MappingProxyType(
    {
        "simulate": simulate,
        "times": times,
        "leave-one-out": leave_one_out,
        "shapley": shapley,
        "classes": classes,
    }
)
"""Functions of settings and a run by name."""


def chosen_steps(scene: Scene, steps: int) -> IntArray:
    """Return so many steps, evenly over the run; 0 takes all."""
    total = len(scene.noise)
    if not 0 < steps < total:
        return np.arange(total)
    return ((np.arange(steps) + 0.5) * total / steps).astype(np.int64)


def _times_of_worlds(
    scene: Scene,
    worlds: NDArray[np.bool_],  # which jobs there are, [worlds, jobs]
    chosen: IntArray,
) -> FloatArray:
    """Return the times of some steps in worlds without some of the jobs, [worlds, steps]."""
    # Worlds with the same traffic are solved once.
    sends = np.bincount(scene.loads.job, minlength=len(scene.job)) > 0
    _, first, place = np.unique(worlds & sends, axis=0, return_index=True, return_inverse=True)
    activity = np.concatenate(
        [scene.activity[:, chosen] * worlds[at][:, None] for at in first], axis=1
    )
    each = step_times(scene, activity, np.tile(chosen, len(first)))
    found: FloatArray = each.reshape(len(first), len(chosen))[place.ravel()]
    return found


def _counters(
    settings: WorldSettings, scene: Scene, state: LinkState, columns: slice, time: FloatArray
) -> FloatArray:
    """Return the columns of ``COUNTERS`` without noise, [steps, counters]."""
    machine = scene.loads.machine
    nodes = scene.nodes
    at = machine.topology.host_router[nodes]
    ours = np.zeros(machine.routers, bool)
    ours[at] = True
    activity = scene.activity[scene.loads.job, columns]
    given = (scene.loads, state, activity, scene.kind)
    idle = scene.idle_s[columns]
    found: dict[str, FloatArray] = dict(router_counters(*given, ours, idle, time))
    found["NUM_ROUTERS"] = np.full(len(time), float(ours.sum()))
    found["NUM_GROUPS"] = np.full(len(time), float(len(np.unique(at // ROUTERS))))
    for prefix, routers in (("IO", machine.io), ("SYS", machine.compute & ~ours)):
        read = router_counters(*given, routers, idle, time)
        found |= {f"{prefix}_{name}": read[name] for name in LDMS_COUNTERS}
    return np.column_stack([found[name] for name in COUNTERS])


def _routines(scene: Scene, time: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the time in computation and in each MPI routine, s, as mpiP reports it for a run."""
    program = scene.program
    idle = float(scene.idle_s.sum())
    compute = (1.0 - program.communication) * idle * np.exp(0.004 * rng.standard_normal())
    mpi = max(float(time.sum()) - compute, 0.0)
    shares = np.array(list(program.routines.values()))
    waits = np.array([name in program.waiting for name in program.routines])
    usual = min(program.communication * idle, mpi)
    shares = shares * np.exp(0.05 * rng.standard_normal(len(shares)))
    spent = usual * shares / shares.sum()
    more = shares * waits
    spent += (mpi - usual) * more / more.sum()
    return np.concatenate(([compute], spent))
