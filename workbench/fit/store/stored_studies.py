"""Reads stored studies without locking them: the progress and the result of each.

Whoever runs a study is not disturbed, and a database that is not there yet holds no studies.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.fit.losses import EXCESSIVE_LOSS
from workbench.fit.store.study_file import INVALID, PROBLEM, StoredTrial, stored_trial
from workbench.storage.database import Database, locate
from workbench.storage.optuna_internals import (
    count_trials,
    find_study,
    has_known_tables,
    has_tables,
    read_last_attribute,
    read_parameters,
    read_study_attribute,
    read_values,
)
from workbench.storage.optuna_log import quiet_optuna

if TYPE_CHECKING:
    import optuna
    import sqlalchemy


@dataclass(frozen=True)
class StoredProgress:
    """The progress of a stored study."""

    trials: int  # finished trials
    best_loss: float  # inf if no configuration could be simulated


@dataclass(frozen=True, eq=False)
class StoredStudy:
    """The trials of a stored study."""

    name: str
    problem: Mapping[str, Any] | None  # None if it is not a fit of the workbench
    losses: NDArray[np.float64]  # (trials,), inf if it could not be simulated
    values: Mapping[str, float | int]  # SI by key of the first best trial; may be empty
    seconds: float  # time spent on the trials
    refused: str = ""  # reason of the last refusal


def read_progress(where: str | Path, names: Sequence[str]) -> dict[str, StoredProgress]:
    """Return the progress of the studies by name; missing ones are left out."""
    database = locate(where)
    if not database.exists or not names:
        return {}
    with database.reading() as connection:
        # A trial that failed in another program has no value; it is not ours.
        rows = count_trials(connection, names) if has_tables(connection) else ()
    return {
        name: StoredProgress(int(count), _finite(math.inf if best is None else float(best)))
        for name, count, best in rows
    }


def read_study(where: str | Path, name: str) -> StoredStudy | None:
    """Return the study of that name, None if there is none."""
    database = locate(where)
    if not database.exists:
        return None
    with database.reading() as connection:
        if not has_tables(connection):
            return None
        if has_known_tables(connection.exec_driver_sql):
            return _read_tables(connection, name)
    return _read_through_optuna(database, name)


def read_trials(where: str | Path, name: str) -> tuple[StoredTrial, ...]:
    """Return the trials of the study of that name, in order; none if it does not exist."""
    if name not in read_progress(where, [name]):
        return ()
    with _loaded(locate(where), name) as study:
        return tuple(stored_trial(trial) for trial in study.get_trials(deepcopy=False))


def _read_tables(connection: sqlalchemy.Connection, name: str) -> StoredStudy | None:
    study = find_study(connection, name)
    if study is None:
        return None
    trials = read_values(connection, study)
    losses = np.array([_finite(float(loss)) for _, loss, _, _ in trials])
    best = _first_best(losses)
    return StoredStudy(
        name=name,
        problem=read_study_attribute(connection, study, PROBLEM),
        losses=losses,
        values={} if best is None else read_parameters(connection, int(trials[best][0])),
        seconds=sum(_seconds(began, ended) for _, _, began, ended in trials),
        refused=str(read_last_attribute(connection, study, INVALID) or ""),
    )


def _read_through_optuna(database: Database, name: str) -> StoredStudy | None:
    """Return the study from tables of another schema, through Optuna: many times slower."""
    try:
        with _loaded(database, name) as study:
            problem = study.user_attrs.get(PROBLEM)
            found = [t for t in study.get_trials(deepcopy=False) if t.value is not None]
    except KeyError:
        return None
    trials = [stored_trial(trial) for trial in found]
    losses = np.array([_finite(trial.loss) for trial in trials])
    best = _first_best(losses)
    return StoredStudy(
        name=name,
        problem=problem,
        losses=losses,
        values={} if best is None else trials[best].values,
        seconds=sum(trial.seconds for trial in trials),
        refused=next((trial.invalid for trial in reversed(trials) if trial.invalid), ""),
    )


@contextlib.contextmanager
def _loaded(database: Database, name: str) -> Iterator[optuna.Study]:
    import optuna

    with quiet_optuna():
        storage = database.open_storage()
        try:
            yield optuna.load_study(study_name=name, storage=storage)
        finally:
            storage.engine.dispose()


def _first_best(losses: NDArray[np.float64]) -> int | None:
    return int(losses.argmin()) if len(losses) and math.isfinite(losses.min()) else None


def _finite(loss: float) -> float:
    return loss if loss < EXCESSIVE_LOSS else math.inf


def _seconds(began: Any, ended: Any) -> float:
    """Return the seconds between two moments; SQLite gives them as texts."""
    if began is None or ended is None:
        return 0.0
    first, last = (
        datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        for moment in (began, ended)
    )
    return float((last - first).total_seconds())
