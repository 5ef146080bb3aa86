"""The machine during a run, computed in a thread, one run at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from workbench import tasks
from workbench.panels.cache import Cache
from workbench.panels.error_line import ErrorLine
from workbench.panels.job_controls import error_text
from workbench.variability import RunScene, World, run_scene

_KEPT = 12  # chosen: a run with some users left out, and some runs


class SceneWork:
    """Scenes by their keys; ``begun`` lets the panel poll `refresh`."""

    def __init__(self, begun: Callable[[], None]) -> None:
        self._begun = begun
        self._kept: Cache[RunScene] = Cache(_KEPT)
        self._wanted: Hashable = None
        self.job: tasks.Job[RunScene] | None = None
        self.error = ErrorLine()

    def get(self, key: Hashable) -> RunScene | None:
        """Return a scene; None where it is not computed."""
        return self._kept.get(key)

    def want(self, key: Hashable, world: World, run: int, without: str) -> None:
        """Compute a scene, unless another is being computed: ask again once that is ready."""
        if self.job is None:
            self.error.say("")
            self._wanted = key
            self.job = tasks.submit(lambda **_: run_scene(world, run, without=without))
            self._begun()

    def refresh(self) -> bool:
        """Keep the scene that was computed meanwhile; return whether one has just ended."""
        job = self.job
        if job is None or not job.finished:
            return False
        self.job = None
        if job.exception is not None:
            self.error.say(error_text(job.exception))
        else:
            self._kept.keep(self._wanted, job.result())
        return True
