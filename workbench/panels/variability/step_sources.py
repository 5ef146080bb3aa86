"""Where the steps of the panel of forecasts come from: made up, recorded, or the user's own."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from workbench.panels.variability.blame_state import EMULATED_NAME, OwnFile
from workbench.panels.variability.world_work import world_of
from workbench.provenance import Provenance
from workbench.tasks import Task
from workbench.variability import StepTable, World, shipped
from workbench.variability.world.scene import WorldSettings

StepNumbers = tuple[int, ...]

_serials = itertools.count(1)

PAPER_GRIDS: dict[str, tuple[StepNumbers, StepNumbers]] = {
    "amg": ((3, 8), (5, 10)),
    "milc": ((10, 20), (20, 40)),
}
"""Steps seen and ahead in the paper by program; it forecasts no other, whose runs are too short."""


@dataclass(frozen=True, eq=False)
class StepSource:
    """Steps of runs, and where they come from."""

    steps: StepTable
    world: World | None = None
    file: OwnFile | None = None
    serial: int = field(default_factory=lambda: next(_serials))

    @property
    def provenance(self) -> Provenance:
        """Where the numbers come from."""
        return self.steps.provenance

    @property
    def grid(self) -> tuple[StepNumbers, StepNumbers]:
        """The numbers of steps, seen and ahead, whose errors are compared.

        They are the paper's, or up to a sixth and a third of a run.
        """
        if self.world is not None:
            program = self.world.settings.application.partition("-")[0]
            if program in PAPER_GRIDS:
                return PAPER_GRIDS[program]
        seen, ahead = max(2, self.steps.steps // 6), max(2, self.steps.steps // 3)
        return (seen // 2, seen), (ahead // 2, ahead)

    @property
    def windows(self) -> tuple[int, int]:
        """The numbers of steps, seen and ahead, that are taken unless others are asked for."""
        seen, ahead = self.grid
        return seen[-1], ahead[-1]


def made_steps(settings: WorldSettings, task: Task) -> StepSource:
    """Return the steps of a made-up world."""
    world = world_of(settings, task)
    return StepSource(world.steps, world)


def emulated_steps() -> StepSource:
    """Return the steps of the recording of a shared link that ships."""
    return StepSource(shipped(EMULATED_NAME).steps)
