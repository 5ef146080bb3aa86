"""A look at stored studies that holds nothing: how far each is, and what it found.

Whoever runs a study is not disturbed, and a database that is not there yet holds no studies.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.fit.losses import EXCESSIVE_LOSS
from workbench.fit.store.study_file import INVALID, PROBLEM, StoredTrial, stored_trial
from workbench.storage.database import KNOWN_SCHEMA, Database, locate
from workbench.storage.quiet import quiet_optuna

if TYPE_CHECKING:
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
        if not _has_tables(connection):
            return {}
        # A trial that failed in another program has no value; it is not ours.
        rows = connection.execute(
            _query(
                "SELECT s.study_name, COUNT(v.value), MIN(v.value) FROM studies s"
                " LEFT JOIN trials t ON t.study_id = s.study_id"
                " LEFT JOIN trial_values v ON v.trial_id = t.trial_id"
                " WHERE s.study_name IN :names GROUP BY s.study_name"
            ),
            {"names": list(names)},
        ).all()
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
        if not _has_tables(connection):
            return None
        (version,) = connection.execute(_query("SELECT schema_version FROM version_info")).one()
        if version == KNOWN_SCHEMA:
            return _read_tables(connection, name)
    return _read_through_optuna(database, name)


def read_trials(where: str | Path, name: str) -> tuple[StoredTrial, ...]:
    """Return the trials of the study of that name, in order; none if it does not exist."""
    import optuna

    database = locate(where)
    if read_progress(where, [name]).get(name) is None:
        return ()
    with quiet_optuna():
        storage = database.open_storage()
        try:
            study = optuna.load_study(study_name=name, storage=storage)
            return tuple(stored_trial(trial) for trial in study.get_trials(deepcopy=False))
        finally:
            storage.engine.dispose()


def _read_tables(connection: sqlalchemy.Connection, name: str) -> StoredStudy | None:
    row = connection.execute(
        _query("SELECT study_id FROM studies WHERE study_name = :name"), {"name": name}
    ).one_or_none()
    if row is None:
        return None
    study = {"study": row[0]}
    problem = connection.execute(
        _query(
            "SELECT value_json FROM study_user_attributes WHERE study_id = :study AND key = :key"
        ),
        {**study, "key": PROBLEM},
    ).scalar()
    trials = connection.execute(
        _query(
            "SELECT t.trial_id, v.value, t.datetime_start, t.datetime_complete FROM trials t"
            " JOIN trial_values v ON v.trial_id = t.trial_id"
            " WHERE t.study_id = :study ORDER BY t.number"
        ),
        study,
    ).all()
    losses = np.array([_finite(float(loss)) for _, loss, _, _ in trials])
    refused = connection.execute(
        _query(
            "SELECT a.value_json FROM trial_user_attributes a"
            " JOIN trials t ON t.trial_id = a.trial_id"
            " WHERE t.study_id = :study AND a.key = :key ORDER BY t.number DESC LIMIT 1"
        ),
        {**study, "key": INVALID},
    ).scalar()
    best = int(losses.argmin()) if len(losses) and math.isfinite(losses.min()) else -1
    return StoredStudy(
        name=name,
        problem=None if problem is None else json.loads(problem),
        losses=losses,
        values={} if best < 0 else _values(connection, int(trials[best][0])),
        seconds=sum(_seconds(began, ended) for _, _, began, ended in trials),
        refused="" if refused is None else str(json.loads(refused)),
    )


def _values(connection: sqlalchemy.Connection, trial: int) -> dict[str, float | int]:
    from optuna.distributions import json_to_distribution

    rows = connection.execute(
        _query(
            "SELECT param_name, param_value, distribution_json FROM trial_params"
            " WHERE trial_id = :trial ORDER BY param_id"
        ),
        {"trial": trial},
    ).all()
    return {key: json_to_distribution(text).to_external_repr(value) for key, value, text in rows}


def _read_through_optuna(database: Database, name: str) -> StoredStudy | None:
    """Return the study from tables of another schema, through Optuna: many times slower."""
    import optuna

    with quiet_optuna():
        storage = database.open_storage()
        try:
            study = optuna.load_study(study_name=name, storage=storage)
            trials = [t for t in study.get_trials(deepcopy=False) if t.value is not None]
            problem = study.user_attrs.get(PROBLEM)
        except KeyError:
            return None
        finally:
            storage.engine.dispose()
    losses = np.array([_finite(float(t.values[0])) for t in trials])
    best = int(losses.argmin()) if len(losses) and math.isfinite(losses.min()) else -1
    refused = [str(t.user_attrs[INVALID]) for t in trials if INVALID in t.user_attrs]
    return StoredStudy(
        name=name,
        problem=problem,
        losses=losses,
        values={} if best < 0 else dict(trials[best].params),
        seconds=sum(_seconds(t.datetime_start, t.datetime_complete) for t in trials),
        refused=refused[-1] if refused else "",
    )


def _has_tables(connection: sqlalchemy.Connection) -> bool:
    import sqlalchemy

    return sqlalchemy.inspect(connection).has_table("studies")


def _query(text: str) -> Any:
    import sqlalchemy

    query = sqlalchemy.text(text)
    if ":names" in text:
        query = query.bindparams(sqlalchemy.bindparam("names", expanding=True))
    return query


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
