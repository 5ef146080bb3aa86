"""Made-up worlds in the background, with progress and Stop."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path

from workbench.tasks import Task
from workbench.variability import World, generate
from workbench.variability.world.scene import WorldSettings
from workbench.variability.world.world import Report

_FEW = 60
"""Runs of the small machine that one process makes in the time that others take to start."""


def workers_for(settings: WorldSettings) -> int | None:
    """Return the number of processes for a world; None takes as many as there are cores."""
    return 1 if settings.preset == "small" and settings.runs <= _FEW else None


def progress_of(task: Task) -> Report:
    """Return a function that shows the progress on a world as that of a job."""
    return lambda progress: task.report(progress.done, progress.total, progress.line())


def world_of(
    settings: WorldSettings,
    stop: threading.Event,
    report: Report,
    store: str | Path | None = None,
) -> World:
    """Return the world of some settings, or its runs so far once ``stop`` is set."""
    return generate(
        **asdict(settings),
        workers=workers_for(settings),
        store=store,
        stop=stop,
        on_progress=report,
    )
