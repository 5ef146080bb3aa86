"""The runs of an experiment as a store keeps them, and the store that keeps nothing for long."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from workbench.tune.space.space import Configuration
from workbench.tune.store.run_record import RunRecord


@dataclass(frozen=True)
class Begun:
    """A run that was begun and has not ended.

    Attributes:
        number: its place in the experiment.
        configuration: what runs.
        initial: whether it belongs to the initial points.
        resampled: whether a resampling rule asked for it.
        worker: which process of the experiment began it.
        job_id: number of its process or job, empty where it is not known yet.
        key: what the store calls it.
    """

    number: int
    configuration: Configuration
    initial: bool
    resampled: bool
    worker: str
    job_id: str = ""
    key: int = 0


class Store(Protocol):
    """What an experiment asks of the place where its runs are kept."""

    @property
    def worker(self) -> str:
        """What this process is called among those of the experiment."""

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Let nobody else begin a run until the context ends."""

    def read(self) -> tuple[list[RunRecord], list[Begun]]:
        """Return the runs that have ended, in that order, and those that have not."""

    def begin(self, run: Begun) -> int:
        """Take down a run before it is started, and return what the store calls it.

        Args:
            run: the run.
        """

    def note_job(self, key: int, job_id: str) -> None:
        """Take down which process or job a run is.

        Args:
            key: what the store calls the run.
            job_id: number of its process or job.
        """

    def end(self, key: int, record: RunRecord) -> None:
        """Take down a run that has ended.

        Args:
            key: what the store calls it.
            record: the run.
        """

    def give_back(self, key: int) -> None:
        """Forget a run that was begun and will not end.

        Args:
            key: what the store calls it.
        """

    def lost(self, begun: Sequence[Begun]) -> list[Begun]:
        """Return those runs whose process has died.

        Args:
            begun: runs that have not ended.
        """

    def note_stop(self, reason: str) -> None:
        """Take down why the experiment has ended; an empty text where it goes on.

        Args:
            reason: a sentence.
        """

    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Return what each process that took part ran on, in the order they began."""

    def close(self) -> None:
        """Release what is held; again does no harm."""


class MemoryStore:
    """Keeps nothing beyond this process.

    Args:
        session: what this process runs on.
    """

    def __init__(self, session: Mapping[str, Any]) -> None:
        self._session = dict(session)
        # Its jobs at a batch system are told from those of others by it.
        self._worker = f"w{uuid.uuid4().hex[:11]}"
        self._ended: list[RunRecord] = []
        self._begun: dict[int, Begun] = {}
        self._next = 0

    @property
    def worker(self) -> str:
        """What this process is called among those of the experiment."""
        return self._worker

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Do nothing: there is nobody else."""
        return contextlib.nullcontext()

    def read(self) -> tuple[list[RunRecord], list[Begun]]:
        """Return the runs that have ended, in that order, and those that have not."""
        return self._ended, list(self._begun.values())

    def begin(self, run: Begun) -> int:
        """Take down a run before it is started, and return what the store calls it.

        Args:
            run: the run.
        """
        self._next += 1
        self._begun[self._next] = replace(run, key=self._next)
        return self._next

    def note_job(self, key: int, job_id: str) -> None:
        """Do nothing: nobody else could ask.

        Args:
            key: not looked at.
            job_id: not looked at.
        """

    def end(self, key: int, record: RunRecord) -> None:
        """Take down a run that has ended.

        Args:
            key: what the store calls it.
            record: the run.
        """
        del self._begun[key]
        self._ended.append(record)

    def give_back(self, key: int) -> None:
        """Forget a run that was begun and will not end.

        Args:
            key: what the store calls it.
        """
        del self._begun[key]

    def lost(self, begun: Sequence[Begun]) -> list[Begun]:
        """Return none: they live and die together.

        Args:
            begun: not looked at.
        """
        return []

    def note_stop(self, reason: str) -> None:
        """Do nothing: the result tells.

        Args:
            reason: not looked at.
        """

    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Return what this process runs on."""
        return (self._session,)

    def close(self) -> None:
        """Do nothing."""
