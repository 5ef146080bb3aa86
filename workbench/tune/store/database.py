"""The store of an experiment in a database: an Optuna study that several processes may share.

``optuna.load_study`` and optuna-dashboard open it like any other. A run is in the database from
before it begins; one whose owner's lock is gone is released, and begun again.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import StudyError, StudyHeldError
from workbench.storage.database import Database, locate, problem_differences
from workbench.storage.locks import busy, lock_file
from workbench.storage.optuna_log import quiet_optuna
from workbench.tune.component.component import current_declaration
from workbench.tune.space.space import Choices, Configuration, Grid, Range, TuningSpace
from workbench.tune.store.memory import PendingRun
from workbench.tune.store.run_record import RunRecord
from workbench.tune.store.study_rows import (
    BEGUN,
    ENDED,
    ENDED_AFTER,
    GIVEN_BACK,
    JOB,
    PROBLEM,
    SESSION,
    STOP_REASON,
    in_order,
    is_kept,
    pending_run_of,
    reworded_errors,
    session_attribute,
    sessions_of,
    worker_lock,
)
from workbench.tune.store.trial_rows import TrialRows

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution


_STATES = {"complete": "COMPLETE", "pruned": "PRUNED", "failed": "FAIL"}
_PATIENCE_S = 600.0
_LOOK_S = 0.01


class DatabaseStore:
    """Keeps an experiment in a database that other processes may share."""

    def __init__(
        self,
        where: str | Path,  # SQLite file, created if missing, or postgresql://user@host/database
        name: str,
        problem: Mapping[str, Any],  # what is tuned, for JSON; equal to that of a stored experiment
        space: TuningSpace,
        *,
        minimise: bool,
        session: Mapping[str, Any],  # what this process runs on
    ) -> None:
        self.name = name
        self.database = locate(where)
        self._space = space
        self._worker = f"w{uuid.uuid4().hex[:11]}"
        self._distributions = distributions_of(space)
        self._finished: list[tuple[RunRecord, Mapping[str, Any]]] = []
        self._settled: set[int] = set()
        self._closing = contextlib.ExitStack()
        with contextlib.ExitStack() as opening:
            self.database.prepare()
            opening.enter_context(self.database.hold(worker_lock(name, self._worker)))
            with _choice_lock(self.database, name):
                storage = _open_storage(self.database)
                opening.callback(storage.engine.dispose)
                self._study = _open_study(self.database, storage, name, problem, minimise)
                self._add_session(session)
            self._rows = TrialRows(self.database, storage, self._study, self._distributions)
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
        begun = []
        for row in self._rows.read(self._settled):
            if not is_kept(row.said):
                self._settled.add(row.key)
            elif row.finished:
                self._take(row.key, RunRecord.from_dict(row.said[ENDED]), row.said)
            else:
                begun.append(pending_run_of(row.key, row.said))
        return in_order(self._finished), begun

    def begin(self, run: PendingRun) -> int:
        """Record a run before it starts, and return its key in the store."""
        said = {
            "number": run.number,
            "configuration": dict(run.configuration),
            "initial": run.initial,
            "resampled": run.resampled,
            "worker": self._worker,
        }
        return self._rows.begin(shown(self._distributions, run.configuration), {BEGUN: said})

    def note_job(self, key: int, job_id: str) -> None:
        """Record the process or job number of a run."""
        self._rows.say(key, JOB, job_id)

    def end(self, key: int, record: RunRecord) -> None:
        """Record a finished run."""
        run = record.run
        known = math.isfinite(run.value) and run.status != "failed"
        said = {ENDED: record.to_dict()}
        before = self._rows.end(key, _STATES[run.status], run.value if known else None, said)
        self._take(key, record, {ENDED_AFTER: before})

    def release(self, key: int) -> None:
        """Release a pending run that will not finish."""
        self._rows.end(key, "FAIL", None, {GIVEN_BACK: datetime.now().isoformat()})
        self._settled.add(key)

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
        with reworded_errors(self.database):
            self._study.set_user_attr(STOP_REASON, reason)

    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Return the sessions of all processes that took part, in the order they began."""
        with reworded_errors(self.database):
            return sessions_of(self._study.user_attrs)

    def close(self) -> None:
        """Release the database; safe to repeat."""
        self._closing.close()

    def _add_session(self, session: Mapping[str, Any]) -> None:
        with reworded_errors(self.database):
            said = session_attribute(self._study.user_attrs, session)
            self._study.set_user_attr(f"{SESSION}{self._worker}", said)

    def _take(self, key: int, record: RunRecord, said: Mapping[str, Any]) -> None:
        self._settled.add(key)
        self._finished.append((record, {ENDED_AFTER: said.get(ENDED_AFTER, -1)}))


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


def _open_study(
    database: Database,
    storage: optuna.storages.RDBStorage,
    name: str,
    problem: Mapping[str, Any],
    minimise: bool,
) -> optuna.Study:
    import optuna

    with reworded_errors(database), quiet_optuna():
        study = optuna.create_study(
            storage=storage,
            study_name=name,
            direction="minimize" if minimise else "maximize",
            load_if_exists=True,
        )
    stored = study.user_attrs.get(PROBLEM)
    if stored is None and not study.user_attrs and not study.get_trials(deepcopy=False):
        study.set_user_attr(PROBLEM, dict(problem))
        return study
    if stored is None:
        raise StudyError(
            f"{database.where} holds a study {name!r} that is not an experiment of the workbench; "
            "choose another name"
        )
    differences = problem_differences(current_declaration(stored), problem)
    if differences:
        raise StudyError(
            f"the experiment {name!r} in {database.where} has other settings: "
            f"{'; '.join(differences)}; choose another name, or the settings it was made with"
        )
    return study


def _open_storage(database: Database) -> optuna.storages.RDBStorage:
    """Return Optuna's storage, whose SQLite transactions wait and flush to the disk less often."""
    from sqlalchemy import event

    with reworded_errors(database), quiet_optuna():
        storage = database.open_storage()
    if database.path is None:
        return storage

    @event.listens_for(storage.engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        # With the write-ahead log, a process that dies loses nothing without a flush per write, and
        # the file stays consistent even if the machine dies.
        connection.execute("PRAGMA synchronous = NORMAL")

    @event.listens_for(storage.engine, "begin")
    def begin(connection: Any) -> None:
        # A transaction that reads before it writes fails at once if another process wrote in
        # between; one that begins as a writer waits.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    storage.engine.dispose()
    return storage


_MOST_CHOICES = 200


def distributions_of(space: TuningSpace) -> dict[str, BaseDistribution]:
    """Return the Optuna distribution that represents each parameter, by name."""
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    found: dict[str, BaseDistribution] = {}
    for name, axis in space.axes.items():
        if isinstance(axis, Range):
            if axis.integer:
                found[name] = IntDistribution(int(axis.low), int(axis.high), log=axis.log)
            else:
                found[name] = FloatDistribution(axis.low, axis.high, log=axis.log)
        elif isinstance(axis, Choices) or len(axis.values) <= _MOST_CHOICES:
            found[name] = CategoricalDistribution(tuple(axis.values))
        elif isinstance(axis, Grid):
            low, high = axis.values[0], axis.values[-1]
            found[name] = FloatDistribution(float(low), float(high))
    return found


def shown(
    distributions: Mapping[str, BaseDistribution], configuration: Configuration
) -> dict[str, Any]:
    """Return the values of a configuration that Optuna accepts; a default may lie off its axis."""
    from optuna.trial import create_trial

    found = {}
    for name, distribution in distributions.items():
        value = configuration[name]
        with contextlib.suppress(ValueError, TypeError):
            # Optuna raises where a distribution does not contain the value.
            create_trial(params={name: value}, distributions={name: distribution}, value=0.0)
            found[name] = value
    return found
