"""A job on its way to Slurm, until Slurm has taken it."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.tune.runners.runner import RunnerError
from workbench.tune.runners.slurm_commands import SilentError, ask, is_away, queued_jobs, said
from workbench.tune.runners.slurm_queue import AGAIN_S, Queue

# Some sites print a greeting before it; a cluster's name may follow.
_NUMBER = re.compile(r"^(\d+)(;.*)?$", re.MULTILINE)


class Submission:
    """A job that is submitted again where Slurm did not answer, but is never there twice.

    Where ``sbatch`` heard nothing the job may be there all the same: it is known by the folder that
    its script gets as an argument, which no other job has.

    Args:
        words: ``sbatch`` and its arguments, the folder among them.
        folder: of the job.
        queue: how this user's jobs stand.

    Attributes:
        number: of the job; empty until Slurm has taken it.
        since: when Slurm took it, by the monotonic clock in s.
        withdrawn: whether it is sure that Slurm does not have it and never will.

    Raises:
        RunnerError: Slurm refuses the job.
    """

    def __init__(self, words: Sequence[str], folder: Path, queue: Queue) -> None:
        self._words = words
        self._folder = folder
        self._queue = queue
        self._tried: float | None = None
        self._wanted = True
        self.number = ""
        self.since = 0.0
        self.withdrawn = False
        try:
            self.submit()
        except BaseException as error:
            # An interrupt may come when the job is there and its number is not known yet.
            if not isinstance(error, RunnerError):
                with contextlib.suppress(RunnerError):
                    self.withdraw()
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def submit(self) -> None:
        """Submit the job where that is still to be done and Slurm may answer again.

        Raises:
            RunnerError: Slurm refuses the job, or has been silent for ten minutes.
        """
        last, now = self._tried, time.monotonic()
        if self.number or not self._wanted or (last is not None and now - last < AGAIN_S):
            return
        self._tried = now
        try:
            if last is None or not self._find():
                self._ask()
        except SilentError as error:
            self._tried = time.monotonic()
            self._queue.note_silence(error)

    def withdraw(self) -> None:
        """Submit it no more, and cancel it where Slurm has taken it.

        Raises:
            RunnerError: Slurm does not answer.
        """
        self._wanted = False
        if self.number or self._find():
            self._queue.cancel([self.number])
        else:
            self.withdrawn = True

    def _ask(self) -> None:
        answer = ask(self._words)
        number = _NUMBER.search(answer.stdout)
        if answer.returncode == 0 and number:
            self._take(number[1])
        elif is_away(said(answer)):
            raise SilentError(f"Slurm must answer to take a job; {said(answer)}")
        else:
            raise RunnerError(f"sbatch must accept the job; it says: {said(answer)}")

    def _find(self) -> bool:
        """Take the number of a job that is there although ``sbatch`` did not hear of it."""
        for job in queued_jobs().values():
            if str(self._folder) in job.label:
                self._take(job.number.partition("_")[0])
                return True
        return False

    def _take(self, number: str) -> None:
        self.number = number
        self.since = time.monotonic()
        self._queue.note_answer()
