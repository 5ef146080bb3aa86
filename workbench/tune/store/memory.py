"""The runs of an experiment as a store keeps them, and the store that keeps nothing for long."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from workbench.tune.space.constraints import Configuration
from workbench.tune.store.run_record import RunRecord


@dataclass(frozen=True)
class PendingRun:
    """A pending run: it has begun and not finished."""

    number: int  # index in the experiment
    configuration: Configuration
    initial: bool
    resampled: bool  # requested by a resampling rule
    worker: str  # the process that began it
    job_id: str = ""  # of its process or job; empty if not yet known
    key: int = 0  # in the store

    def to_dict(self) -> dict[str, Any]:
        """Return all but the key as plain values for JSON."""
        return {
            "number": self.number,
            "configuration": dict(self.configuration),
            "initial": self.initial,
            "resampled": self.resampled,
            "worker": self.worker,
            "job_id": self.job_id,
        }


class Store(Protocol):
    """The place where an experiment's runs are kept."""

    @property
    def worker(self) -> str:
        """Name of this process among those of the experiment."""

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Keep other processes from beginning runs until the context ends."""

    def read(self) -> tuple[list[RunRecord], list[PendingRun]]:
        """Return the finished runs, in that order, and the pending ones."""

    def begin(self, run: PendingRun) -> int:
        """Record a run before it starts, and return its key in the store."""

    def note_job(self, key: int, job_id: str) -> None:
        """Record the process or job number of a run."""

    def end(self, key: int, record: RunRecord) -> None:
        """Record a finished run."""

    def release(self, key: int) -> None:
        """Release a pending run that will not finish."""

    def lost(self, begun: Sequence[PendingRun]) -> list[PendingRun]:
        """Return the pending runs of dead processes."""

    def note_stop(self, reason: str) -> None:
        """Record why the experiment ended; an empty text if it continues."""

    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Return the sessions of all processes that took part, in the order they began."""

    def close(self) -> None:
        """Release the store; safe to repeat."""


class MemoryStore:
    """Keeps the runs in this process only."""

    def __init__(self, session: Mapping[str, Any]) -> None:
        self._session = dict(session)
        # It distinguishes this process's jobs at a batch system from those of others.
        self._worker = f"w{uuid.uuid4().hex[:11]}"
        self._ended: list[RunRecord] = []
        self._begun: dict[int, PendingRun] = {}
        self._next = 0

    @property
    def worker(self) -> str:
        """Name of this process among those of the experiment."""
        return self._worker

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Do nothing: no other process takes part."""
        return contextlib.nullcontext()

    def read(self) -> tuple[list[RunRecord], list[PendingRun]]:
        """Return the finished runs, in that order, and the pending ones."""
        return self._ended, list(self._begun.values())

    def begin(self, run: PendingRun) -> int:
        """Record a run before it starts, and return its key in the store."""
        self._next += 1
        self._begun[self._next] = replace(run, key=self._next)
        return self._next

    def note_job(self, key: int, job_id: str) -> None:
        """Do nothing: no other process can ask for it."""

    def end(self, key: int, record: RunRecord) -> None:
        """Record a finished run."""
        del self._begun[key]
        self._ended.append(record)

    def release(self, key: int) -> None:
        """Release a pending run that will not finish."""
        del self._begun[key]

    def lost(self, begun: Sequence[PendingRun]) -> list[PendingRun]:
        """Return none: all runs belong to this process."""
        return []

    def note_stop(self, reason: str) -> None:
        """Do nothing: the result contains the reason."""

    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Return the session of this process alone."""
        return (self._session,)

    def close(self) -> None:
        """Do nothing."""
