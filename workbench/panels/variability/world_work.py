"""Made-up worlds in the background, with progress and Stop."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from workbench.tasks import Task
from workbench.variability import World, generate
from workbench.variability.world.scene import WorldSettings

_FEW = 60
"""Runs of the small machine that one process makes in the time that others take to start."""


def workers_for(settings: WorldSettings) -> int | None:
    """Return the number of processes for a world; None takes as many as there are cores."""
    return 1 if settings.preset == "small" and settings.runs <= _FEW else None


def world_of(settings: WorldSettings, task: Task, store: str | Path | None = None) -> World:
    """Return the world of some settings, or its runs so far once the task is stopped."""
    return generate(**asdict(settings), workers=workers_for(settings), store=store, task=task)
