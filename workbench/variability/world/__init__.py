"""A dragonfly with users whose jobs slow runs down: machine, users, schedule, traffic and stalls.

`workbench.variability` has the calls; here are the parts of a world, for who looks into one:
``world.settings.machine``, ``world.settings.schedule.users``, ``scene_of(world.settings, 0)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.variability.world.application import WorldApplication
    from workbench.variability.world.blame_worlds import ScoreProgress
    from workbench.variability.world.congestion import LinkState
    from workbench.variability.world.flows import JobFlows
    from workbench.variability.world.loads import MachineLoads
    from workbench.variability.world.machine import WorldMachine, WorldPreset
    from workbench.variability.world.pieces import WorldProgress
    from workbench.variability.world.routes import Detours
    from workbench.variability.world.scene import Scene, WorldSettings, scene_of
    from workbench.variability.world.schedule import WorldSchedule
    from workbench.variability.world.users import WorldUser
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "Detours",
    "JobFlows",
    "LinkState",
    "MachineLoads",
    "Scene",
    "ScoreProgress",
    "WorldApplication",
    "WorldMachine",
    "WorldPreset",
    "WorldProgress",
    "WorldSchedule",
    "WorldSettings",
    "WorldUser",
    "scene_of",
]
