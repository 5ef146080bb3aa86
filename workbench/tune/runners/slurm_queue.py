"""How this user's jobs stand: one question to Slurm for however many runs, and not too often.

A controller that is started anew, or a network that is away, is waited for.
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
"""Seconds for which Slurm may be silent; a controller on a large machine starts for minutes."""

AGAIN_S = 5.0
"""Seconds between two questions while Slurm is silent."""

_CLEAN_UP_S = 60.0


class Queue:
    """What Slurm knows of this user's jobs.

    Args:
        poll_s: seconds between two questions.
    """

    def __init__(self, poll_s: float) -> None:
        self._poll_s = poll_s
        self._known: Mapping[str, QueuedJob] = {}
        self._known_at = self._asked = -math.inf
        self._silent_since: float | None = None

    @property
    def silent(self) -> bool:
        """Whether Slurm did not answer when it was asked last."""
        return self._silent_since is not None

    def jobs(self, after: float) -> Mapping[str, QueuedJob] | None:
        """Return the jobs by number as they stood after a moment; None where that is not known yet.

        Args:
            after: by the monotonic clock in s, such as when a job was submitted.

        Raises:
            RunnerError: Slurm has been silent for ten minutes.
        """
        now = time.monotonic()
        if now - self._asked >= (AGAIN_S if self.silent else self._poll_s):
            try:
                self._known, self._known_at = queued_jobs(), now
                self._asked, self._silent_since = time.monotonic(), None
            except RunnerError as error:
                self.note_silence(error)
        return self._known if self._known_at >= after else None

    def cancel(self, numbers: Sequence[str]) -> None:
        """Cancel jobs; those that have ended are left alone.

        Args:
            numbers: of the jobs.

        Raises:
            RunnerError: Slurm does not answer.
        """
        # Each question to a controller that is away takes ten seconds.
        if self.silent and time.monotonic() - self._asked < AGAIN_S:
            raise SilentError(f"Slurm must answer to cancel {', '.join(numbers)}; it does not")
        try:
            cancel(numbers)
        except RunnerError as error:
            self.note_silence(error)
            raise

    def note_answer(self) -> None:
        """Take down that Slurm answered somebody else."""
        self._silent_since = None

    def note_silence(self, error: RunnerError) -> None:
        """Take down that Slurm did not answer.

        Args:
            error: what says so.

        Raises:
            RunnerError: it has been silent for ten minutes.
        """
        self._asked = time.monotonic()
        self._silent_since = self._silent_since or self._asked
        if self._asked - self._silent_since > PATIENCE_S:
            raise error


def label_of(request: RunRequest) -> str:
    """Return a name for what a run leaves at Slurm; no other has it, and its owner is in it.

    Args:
        request: what is run.
    """
    owner = f"-{request.owner}" if request.owner else ""
    return f"{request.name}{owner}-{uuid.uuid4().hex[:8]}"


def clean_up(owner: str, numbers: Collection[str], folder: Path | None) -> None:
    """Cancel what a process that died has left at Slurm, whether it noted the numbers or not.

    Args:
        owner: what the process was called; empty where only what it noted is its own for sure.
        numbers: of the jobs it noted.
        folder: where its runs had folders, which go; None where they stay.

    Raises:
        RunnerError: Slurm does not answer for a minute.
    """
    deadline = time.monotonic() + _CLEAN_UP_S
    while True:
        try:
            left = [
                job.number
                for job in queued_jobs().values()
                if (job.number in numbers or _bears(job.label, owner)) and not job.ended
            ]
            left += [number for number, name in queued_steps().items() if _bears(name, owner)]
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
        if _bears(path.name, owner):
            shutil.rmtree(path, ignore_errors=True)


def _bears(label: str, owner: str) -> bool:
    """Return whether `label_of` made a name for a run of an owner."""
    return bool(owner) and f"-{owner}-" in label
