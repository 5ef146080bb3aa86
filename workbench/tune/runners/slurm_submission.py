"""A job on its way to Slurm, until Slurm has taken it."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.tune.runners.runner import RunnerError
from workbench.tune.runners.slurm_commands import (
    SilentError,
    ask,
    is_unreachable,
    message_of,
    queued_jobs,
)
from workbench.tune.runners.slurm_queue import AGAIN_S, Queue

# Some sites print a greeting before it; a cluster's name may follow.
_NUMBER = re.compile(r"^(\d+)(;.*)?$", re.MULTILINE)


class Submission:
    """A job that is submitted again while Slurm does not answer, but never exists twice.

    After an ``sbatch`` without an answer the job may exist all the same: it is found by the folder
    among its script's arguments, which is unique.
    """

    def __init__(self, words: Sequence[str], folder: Path, queue: Queue) -> None:
        self._words = words
        self._folder = folder
        self._queue = queue
        self._tried: float | None = None
        self._wanted = True
        self.number = ""  # empty until Slurm has taken the job
        self.since = 0.0  # monotonic clock in s at which Slurm took it
        self.withdrawn = False  # whether Slurm certainly has no such job
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
        """Submit the job unless Slurm has it, it is withdrawn, or the last try was just now."""
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
        """Stop submitting, and cancel the job if Slurm has it."""
        self._wanted = False
        if self.number or self._find():
            self._queue.cancel([self.number])
        else:
            self.withdrawn = True

    def _ask(self) -> None:
        answer = ask(self._words)
        number = _NUMBER.search(answer.stdout)
        if answer.returncode == 0 and number:
            self._set_number(number[1])
        elif is_unreachable(message_of(answer)):
            raise SilentError(f"Slurm must answer to take a job; {message_of(answer)}")
        else:
            raise RunnerError(f"sbatch must accept the job; it printed: {message_of(answer)}")

    def _find(self) -> bool:
        """Take the number of a job that exists although ``sbatch`` got no answer."""
        for job in queued_jobs().values():
            if str(self._folder) in job.label:
                self._set_number(job.number.partition("_")[0])
                return True
        return False

    def _set_number(self, number: str) -> None:
        self.number = number
        self.since = time.monotonic()
        self._queue.note_answer()
