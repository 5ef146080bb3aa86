"""What the panel of blame looks at: runs and jobs, made up with known causes or the user's own."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.errors import ParameterError, SimulationHalted
from workbench.panels.variability.blame_state import EMULATED_NAME, TRUTH_STEPS, OwnFile
from workbench.panels.variability.world_work import workers_for, world_of
from workbench.provenance import Provenance
from workbench.tasks import Progress, Task
from workbench.variability import (
    JobLog,
    Neighbourhood,
    RecordedLink,
    Runs,
    StepTable,
    neighbourhood,
    shipped,
)
from workbench.variability.world.scene import WorldSettings
from workbench.variability.world.truth import WorldTruth
from workbench.variability.world.world import World

_serials = itertools.count(1)

FIRST_SHOWN = 6
"""Runs after which a world that is being made is shown."""


@dataclass(frozen=True)
class Causes:
    """The truth as `plot_blame_methods` takes it."""

    truth: dict[str, float]
    truth_label: str = ""
    culprits: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class BlameTables:
    """Runs and the jobs beside them; of a world or a recording also steps and causes.

    Steps of the user's own are in an order of their own; ``step_row`` finds a run's.
    """

    runs: Runs
    jobs: JobLog
    provenance: Provenance
    world: World | None = None
    truth: WorldTruth | None = None
    recorded: RecordedLink | None = None
    files: tuple[OwnFile, ...] = ()  # of runs and jobs, and of steps if there are any
    own_steps: StepTable | None = None
    serial: int = field(default_factory=lambda: next(_serials))  # the same of a world with causes

    @property
    def steps(self) -> StepTable | None:
        """Times of the runs' steps; None where only runs are known."""
        if self.recorded is not None:
            return self.recorded.steps
        return self.own_steps if self.world is None else self.world.steps

    @property
    def scenery(self) -> Hashable:
        """What the figures of one run draw beside its steps: the same for the same machine."""
        if self.world is not None:
            return self.world.settings.preset
        return self.serial if self.recorded is not None else ()

    def step_row(self, run: int) -> int | None:
        """Return the place of a run among the runs whose steps are known; None if it has none."""
        steps, name = self.steps, self.runs.run[run]
        return None if steps is None or name not in steps.run else steps.run.index(name)

    @property
    def causes(self) -> Causes | None:
        """Who truly slows the runs down; None where that is not known."""
        if self.recorded is not None:
            sent = self.recorded.to_frame()
            rates = {
                user: rate * crosses
                for user, rate, crosses in zip(
                    sent["user"], sent["sent (Mbit/s)"], sent["crosses"], strict=True
                )
            }
            return Causes(rates, "sent over the link (Mbit/s)", self.recorded.crossing)
        if self.truth is None:
            return None
        return Causes(dict(zip(self.truth.users, self.truth.effect.tolist(), strict=True)))

    @cached_property
    def beside(self) -> Neighbourhood | None:
        """Who had any job beside any part of each run; None where nobody had."""
        try:
            return neighbourhood(self.runs, self.jobs, least_nodes=1, during_all=False)
        except ParameterError:
            return None

    @property
    def users(self) -> tuple[str, ...]:
        """Who had jobs beside some run."""
        near = self.beside
        return () if near is None else tuple(sorted(name for group in near.users for name in group))

    def column(self, user: str) -> int:
        """Return the place of a user among the groups of the neighbours; -1 for no neighbour."""
        groups = () if self.beside is None else self.beside.users
        return next((at for at, group in enumerate(groups) if user in group), -1)

    def nodes(self, run: int) -> dict[str, float]:
        """Return who was beside a run, with the mean number of their nodes, most first."""
        near = self.beside
        if near is None:
            return {}
        held = {", ".join(group): near.nodes[run, at] for at, group in enumerate(near.users)}
        return {
            name: nodes
            for name, nodes in sorted(held.items(), key=lambda pair: -pair[1])
            if nodes > 0
        }

    def slowdown(self, run: int) -> dict[str, float]:
        """Return by how much each user truly slows a run down, relative; empty where not known."""
        if self.truth is None or self.runs.run[run] not in self.truth.run:
            return {}
        at = self.truth.run.index(self.runs.run[run])
        return dict(zip(self.truth.users, self.truth.slowdown[:, at].tolist(), strict=True))

    def worst(self, run: int) -> tuple[str, ...]:
        """Return the users, those who truly slow a run down most first; empty if not known."""
        slowed = self.slowdown(run)
        return tuple(sorted(slowed, key=lambda user: -slowed[user]))


def make_world(settings: WorldSettings, task: Task) -> BlameTables:
    """Return a world with its truth; before, the job's ``partial`` is its first runs, then all."""
    with tempfile.TemporaryDirectory(prefix="workbench-world-") as store:

        def note(now: Progress) -> None:
            task.report(now.done, now.total, now.message)
            if now.done >= FIRST_SHOWN or task.stopping:
                first.stop()

        def made(until: Task) -> tuple[BlameTables, World]:
            world = world_of(settings, until, store)
            tables = BlameTables(world.runs, world.jobs, world.provenance, world)
            task.partial_from(lambda: tables)
            return tables, world

        first = Task(note)
        tables, world = made(first)
        if not task.stopping and len(world.runs) < settings.runs:
            tables, world = made(task)
        workers = workers_for(settings)
        with contextlib.suppress(SimulationHalted):
            truth = world.truth(steps=TRUTH_STEPS, workers=workers, store=store, task=task)
            tables = replace(tables, truth=truth)
    return tables


def emulated_tables() -> BlameTables:
    """Return the recording of a shared link that ships."""
    recorded = shipped(EMULATED_NAME)
    return BlameTables(recorded.runs, recorded.jobs, recorded.provenance, recorded=recorded)
