"""How this user's jobs stand: one question to Slurm for however many runs, and not too often.

The queue waits for a controller that restarts, or a network that is down.
"""

from __future__ import annotations

import math
import shutil
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from workbench.tune.runners.runner import RunnerError, RunRequest
from workbench.tune.runners.slurm_commands import (
    QueuedJob,
    SilentError,
    cancel,
    queued_jobs,
    queued_steps,
)

PATIENCE_S = 600.0
"""Seconds without an answer that are tolerated: a large machine's controller starts for minutes."""

AGAIN_S = 5.0
"""Seconds between two queries while Slurm does not answer."""

_CLEAN_UP_S = 60.0  # chosen: others wait to begin; a command alone may take as long (ANSWER_S)


class Queue:
    """This user's jobs at Slurm, asked for at most every ``poll_s`` seconds."""

    def __init__(self, poll_s: float) -> None:
        self._poll_s = poll_s
        self._known: Mapping[str, QueuedJob] = {}
        self._known_at = self._queried_at = -math.inf
        self._silent_since: float | None = None

    @property
    def silent(self) -> bool:
        """Whether Slurm did not answer the last question."""
        return self._silent_since is not None

    def jobs(self, after: float) -> Mapping[str, QueuedJob] | None:
        """Return the jobs by number, at or after ``after`` (monotonic, s); None if unknown yet."""
        now = time.monotonic()
        if now - self._queried_at >= (AGAIN_S if self.silent else self._poll_s):
            try:
                self._known, self._known_at = queued_jobs(), now
                self._queried_at, self._silent_since = time.monotonic(), None
            except RunnerError as error:
                self.note_silence(error)
        return self._known if self._known_at >= after else None

    def cancel(self, numbers: Sequence[str]) -> None:
        """Cancel jobs by number; finished ones are left alone."""
        # Each query to an unreachable controller takes ten seconds.
        if self.silent and time.monotonic() - self._queried_at < AGAIN_S:
            raise SilentError(f"Slurm must answer to cancel {', '.join(numbers)}; it does not")
        try:
            cancel(numbers)
        except RunnerError as error:
            self.note_silence(error)
            raise

    def note_answer(self) -> None:
        """Record that Slurm answered another question."""
        self._silent_since = None

    def note_silence(self, error: RunnerError) -> None:
        """Record that Slurm did not answer; raise ``error`` after ten minutes of silence."""
        self._queried_at = time.monotonic()
        self._silent_since = self._silent_since or self._queried_at
        if self._queried_at - self._silent_since > PATIENCE_S:
            raise error


def label_of(request: RunRequest) -> str:
    """Return a unique name for a run at Slurm, which contains its owner."""
    owner = f"-{request.owner}" if request.owner else ""
    return f"{request.name}{owner}-{uuid.uuid4().hex[:8]}"


def clean_up(owner: str, numbers: Collection[str], folder: Path | None) -> None:
    """Cancel a dead process's jobs, and remove its run folders; no owner: only ``numbers``."""
    deadline = time.monotonic() + _CLEAN_UP_S
    while True:
        try:
            left = [
                job.number
                for job in queued_jobs().values()
                if (job.number in numbers or _is_label_of(job.label, owner)) and not job.ended
            ]
            left += [number for number, name in queued_steps().items() if _is_label_of(name, owner)]
            cancel(left)
            break
        except RunnerError as error:
            if time.monotonic() > deadline:
                raise RunnerError(
                    "jobs that a process left behind must be cancelled before others begin; "
                    f"{error}"
                ) from error
        time.sleep(AGAIN_S)
    for path in folder.glob("*") if folder is not None else ():
        if _is_label_of(path.name, owner):
            shutil.rmtree(path, ignore_errors=True)


def _is_label_of(label: str, owner: str) -> bool:
    """Return whether `label_of` made a name for a run of an owner."""
    return bool(owner) and f"-{owner}-" in label
