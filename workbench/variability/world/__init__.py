"""A dragonfly with users whose jobs slow runs down: machine, users, schedule, traffic and stalls.

`workbench.variability` has the calls; here are the parts of a world, for who looks into one:
``world.settings.machine``, ``world.settings.schedule.users``, ``scene_of(world.settings, 0)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.variability.world.application import WorldApplication as WorldApplication
    from workbench.variability.world.congestion import LinkState as LinkState
    from workbench.variability.world.flows import JobFlows as JobFlows
    from workbench.variability.world.loads import MachineLoads as MachineLoads
    from workbench.variability.world.machine import (
        WorldMachine as WorldMachine,
        WorldPreset as WorldPreset,
    )
    from workbench.variability.world.routes import Detours as Detours
    from workbench.variability.world.scene import (
        Scene as Scene,
        WorldSettings as WorldSettings,
        scene_of as scene_of,
    )
    from workbench.variability.world.schedule import WorldSchedule as WorldSchedule
    from workbench.variability.world.users import WorldUser as WorldUser
else:
    __getattr__, __dir__ = lazy_exports(__name__)
