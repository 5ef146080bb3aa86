"""The machine during one run of a world: whose jobs are where, how links stall, without whom.

scene = run_scene(world, 6, without="user-17")
scene.time_s, scene.stall[:, 30]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.variability.world.machine import WorldMachine
from workbench.variability.world.scene import scene_of, scene_states, step_times, times_of
from workbench.variability.world.world import World


@dataclass(frozen=True, eq=False)
class RunScene:
    """A run and the jobs beside it on a machine (synthetic).

    Attributes:
        machine: whose links these are.
        run: name of the run.
        without: the user who sends nothing; empty for nobody.
        users: of each job beside the run, ``without`` among them.
        nodes: int64 nodes of each of these jobs.
        run_nodes: int64[n], nodes of the run.
        stall: float32[links, steps], share of the time that what arrives by a link waits for room.
        time_s: float64[steps], what each step takes.
    """

    machine: WorldMachine
    run: str
    without: str
    users: tuple[str, ...]
    nodes: tuple[NDArray[np.int64], ...]
    run_nodes: NDArray[np.int64]
    stall: NDArray[np.float32]
    time_s: FloatArray

    @property
    def steps(self) -> int:
        """Number of steps of the run."""
        return len(self.time_s)

    def __repr__(self) -> str:
        left = f" without {self.without}" if self.without else ""
        return (
            f"RunScene({self.run}{left}, {len(self.users)} jobs beside it, {self.steps} steps of "
            f"{self.time_s.sum():.4g} s in all; synthetic)"
        )


def run_scene(world: World, run: int, *, without: str = "") -> RunScene:
    """Return the machine during a run, as it was or as if a user had sent nothing.

    Args:
        world: of ``workbench.variability.generate``.
        run: its place in ``world.runs``.
        without: a user; empty for nobody.

    Raises:
        ParameterError: there is no such run or user.
    """
    number = int(world.number[whole(run, "run", 0, len(world.number) - 1)])
    schedule = world.settings.schedule
    known = sorted({*world.users, *world.jobs.user})
    if without and without not in known:
        raise ParameterError(
            f"without must be a user of the world; got {without!r}{did_you_mean(without, known)}",
            key="without",
        )
    scene = scene_of(world.settings, number)
    kept = np.array(scene.users) != without
    kept[0] = True
    activity = scene.activity * kept[:, None]
    parts = list(scene_states(scene, activity))
    stall = np.concatenate([state.stall.astype(np.float32) for _, state, _ in parts], axis=1)
    if scene.interference:
        slowed = np.concatenate([slowed for _, _, slowed in parts])
        time = times_of(scene, slowed, np.arange(len(scene.noise)))
    else:
        time = step_times(scene, activity)
    return RunScene(
        world.settings.machine,
        world.runs.run[run],
        without,
        scene.users[1:],
        tuple(schedule.nodes_of(int(job)) for job in scene.job[1:]),
        schedule.nodes_of(int(scene.job[0])),
        stall,
        time,
    )
