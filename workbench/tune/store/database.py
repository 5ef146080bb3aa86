"""The store of an experiment in a database, which several processes may share.

A run is in the database from before it begins; one whose owner's lock is gone is released, and
begun again.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.errors import StudyError, StudyHeldError
from workbench.storage.database import Database
from workbench.storage.locks import busy, lock_file
from workbench.storage.row_table import RowTable, StoredRow
from workbench.tune.store.memory import PendingRun
from workbench.tune.store.run_record import RunRecord

KIND = "experiment"
"""The kind of an experiment's rows."""

_RUNNING, _RELEASED = "running", "released"
_PATIENCE_S = 600.0  # chosen: a slow choice takes seconds, and each process may have one to make
_LOOK_S = 0.01  # chosen: a choice by the Gaussian process takes 0.03 s or more


class DatabaseStore:
    """Keeps an experiment in a database that other processes may share."""

    def __init__(
        self,
        where: str | Path,  # SQLite file, created if missing, or postgresql://user@host/database
        name: str,
        problem: Mapping[str, Any],  # what is tuned, for JSON; equal to that of a stored experiment
        *,
        session: Mapping[str, Any],  # what this process runs on
    ) -> None:
        self.name = name
        self._table = RowTable(where, KIND)
        self.database = self._table.database
        self._worker = f"w{uuid.uuid4().hex[:11]}"
        self._runs = StoredRuns(self._table, name)
        self._begun: dict[int, PendingRun] = {}  # runs of this process by key
        self._closing = contextlib.ExitStack()
        with contextlib.ExitStack() as opening:
            self._table.prepare(name, problem)
            opening.enter_context(self.database.hold(worker_lock(name, self._worker)))
            opening.enter_context(self._table.kept_open())
            self._log("session", {"worker": self._worker, **session})
            self._closing = opening.pop_all()

    @property
    def worker(self) -> str:
        """Name of this process among those of the experiment."""
        return self._worker

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Keep other processes from beginning runs until the context ends; waits 10 min at most."""
        return _choice_lock(self.database, self.name)

    def read(self) -> tuple[list[RunRecord], list[PendingRun]]:
        """Return the finished runs, in that order, and the pending ones."""
        return self._runs.read()

    def begin(self, run: PendingRun) -> int:
        """Record a run before it starts, and return its key in the store."""
        key = self._table.append(self.name, StoredRow(run.to_dict(), state=_RUNNING))
        self._begun[key] = run
        return key

    def note_job(self, key: int, job_id: str) -> None:
        """Record the process or job number of a run."""
        content = {**self._begun[key].to_dict(), "job_id": job_id}
        self._table.write(self.name, [StoredRow(content, key, _RUNNING)])

    def end(self, key: int, record: RunRecord) -> None:
        """Record a finished run."""
        value = record.run.value
        # Two that end at one moment may count the same: then their numbers decide.
        row = StoredRow(
            {"run": record.to_dict(), "ended after": _finished(self._table.states(self.name))},
            key,
            record.run.status,
            value if math.isfinite(value) else None,
            record.run.seconds,
        )
        self._table.write(self.name, [row])

    def release(self, key: int) -> None:
        """Release a pending run that will not finish."""
        self._table.write(self.name, [StoredRow(None, key, _RELEASED)])

    def lost(self, begun: Sequence[PendingRun]) -> list[PendingRun]:
        """Return the pending runs of dead processes, and remove the leftovers of their locks."""
        others = {run.worker for run in begun} - {self._worker}
        if not others:
            return []
        locks = {worker_lock(self.name, worker): worker for worker in others}
        dead = others - {locks[lock] for lock in self.database.held(locks)}
        for worker in dead:
            # Taking the lock of a dead process and releasing it removes its file.
            with (
                contextlib.suppress(StudyHeldError),
                self.database.hold(worker_lock(self.name, worker)),
            ):
                pass
        return [run for run in begun if run.worker in dead]

    def note_stop(self, reason: str) -> None:
        """Record why the experiment ended; an empty text if it continues."""
        self._log("stop", reason)

    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Return the sessions of all processes that took part, in the order they began."""
        return read_log(self._table, self.name)[0]

    def close(self) -> None:
        """Release the database; safe to repeat."""
        self._closing.close()

    def _log(self, what: str, content: Any) -> None:
        self._table.append(_log_of(self.name), StoredRow(content, state=what))


class StoredRuns:
    """The runs of an experiment in its table; each finished one is read once."""

    def __init__(self, table: RowTable, name: str) -> None:
        self._table = table
        self._name = name
        self._ended: dict[int, tuple[int, RunRecord]] = {}  # by key, with its place
        self._first = 0  # all rows before are settled

    def read(self) -> tuple[list[RunRecord], list[PendingRun]]:
        """Return the finished runs, in the order they finished, and the pending ones."""
        begun = []
        rows = self._table.read(self._name, self._first)
        for key, row in rows.items():
            if row.state == _RUNNING:
                begun.append(PendingRun(**row.content, key=key))
            elif row.state != _RELEASED and key not in self._ended:
                record = RunRecord.from_dict(row.content["run"])
                self._ended[key] = int(row.content["ended after"]), record
        self._first = min([run.key for run in begun], default=max([*rows, self._first - 1]) + 1)
        # By the number of runs that ended before, not by clocks.
        order = sorted(self._ended.values(), key=lambda pair: (pair[0], pair[1].number))
        return [record for _, record in order], begun


def read_log(table: RowTable, name: str) -> tuple[tuple[dict[str, Any], ...], str]:
    """Return the sessions of an experiment as they began, and why it ended: empty if it did not."""
    rows = table.read(_log_of(name)).values()
    sessions = tuple(row.content for row in rows if row.state == "session")
    return sessions, next((row.content for row in [*rows][::-1] if row.state == "stop"), "")


def finished_runs(table: RowTable, name: str) -> int:
    """Return the number of finished runs of an experiment."""
    return _finished(table.states(name))


def alive(database: Database, name: str, begun: Sequence[PendingRun]) -> list[PendingRun]:
    """Return the pending runs of processes that are alive."""
    locks = {worker_lock(name, run.worker): run.worker for run in begun}
    if not locks:
        return []
    alive = {locks[lock] for lock in database.held(locks)}
    return [run for run in begun if run.worker in alive]


def worker_lock(name: str, worker: str) -> str:
    """Return the name of the lock that a process of an experiment holds while it lives."""
    return f"{name} · {worker}"


def _log_of(name: str) -> str:
    """Return the name of the rows with the sessions and ends of an experiment."""
    return f"{name} · log"


def _finished(states: Mapping[str, int]) -> int:
    return sum(count for state, count in states.items() if state not in (_RUNNING, _RELEASED))


@contextlib.contextmanager
def _choice_lock(database: Database, name: str) -> Iterator[None]:
    """Hold the lock under which runs are chosen; wait for it at most ten minutes."""
    lock = worker_lock(name, "choosing")
    deadline = time.monotonic() + _PATIENCE_S
    with contextlib.ExitStack() as stack:
        while True:
            try:
                if database.path is None:
                    stack.enter_context(database.hold(lock))
                else:
                    stack.enter_context(_hold_choosing(database.path, lock))
                break
            except StudyHeldError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK_S)
        yield


@contextlib.contextmanager
def _hold_choosing(path: Path, lock: str) -> Iterator[None]:
    """Hold a lock beside an SQLite file, like ``Database.hold``, while others may write."""
    # Processes wait for it with every run, so its small file stays; the study file is not locked.
    connection = sqlite3.connect(
        lock_file(path, lock), timeout=0.0, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        connection.close()
        if "locked" in str(error):
            raise busy(lock, str(path)) from error
        raise StudyError(
            f"{path} cannot be written: {error}; choose a folder you may write to"
        ) from error
    try:
        yield
    finally:
        connection.close()
