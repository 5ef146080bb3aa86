"""How an experiment's runs stand in an Optuna study: its attributes, and what is read from them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from workbench.errors import StudyError
from workbench.storage.database import Database
from workbench.tune.store.memory import PendingRun
from workbench.tune.store.run_record import RunRecord

PROBLEM = "workbench.experiment"
"""Name of the study's attribute with what is tuned, and how."""

STOP_REASON = "workbench.stop"
"""Name of the study's attribute with the reason for its end."""

SESSION = "workbench.session."
"""Prefix of the study's attributes with the runner of each process."""

_PLACE = "place"

BEGUN = "begun"
"""Name of the trial's attribute with the run's configuration; it is set at the start."""

ENDED = "run"
"""Name of the trial's attribute with the result of the run."""

ENDED_AFTER = "ended after"
"""Name of the trial's attribute with the number of trials finished before it; no clock is used."""

JOB = "job"
"""Name of the trial's attribute with its process or job."""

GIVEN_BACK = "given back"
"""Name of the attribute of trials that started and did not finish; they are ignored."""


@contextlib.contextmanager
def reworded_errors(database: Database) -> Iterator[None]:
    """Reword errors of SQLite, SQLAlchemy and Optuna where a database fails."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (sqlite3.Error, SQLAlchemyError, StorageInternalError) as error:
        raise StudyError(
            f"{database.where} cannot be used: {error}; earlier runs are stored safely"
        ) from error


def worker_lock(name: str, worker: str) -> str:
    """Return the name of the lock that a process of an experiment holds while it lives."""
    return f"{name} · {worker}"


def alive(database: Database, name: str, begun: Sequence[PendingRun]) -> list[PendingRun]:
    """Return the pending runs of processes that are alive."""
    locks = {worker_lock(name, run.worker): run.worker for run in begun}
    if not locks:
        return []
    alive = {locks[lock] for lock in database.held(locks)}
    return [run for run in begun if run.worker in alive]


def pending_run_of(key: int, said: Mapping[str, Any]) -> PendingRun:
    """Return the pending run of a trial, from its key and attributes."""
    return PendingRun(**said[BEGUN], job_id=str(said.get(JOB, "")), key=key)


def in_order(ended: Iterable[tuple[RunRecord, Mapping[str, Any]]]) -> list[RunRecord]:
    """Return runs in the order they finished, by their trials' attributes, not by clocks."""

    def place(pair: tuple[RunRecord, Mapping[str, Any]]) -> tuple[int, str, int]:
        # Stores without this attribute have only the clock.
        record, said = pair
        return int(said.get(ENDED_AFTER, -1)), record.ended, record.number

    return [record for record, _ in sorted(ended, key=place)]


def is_kept(said: Mapping[str, Any]) -> bool:
    """Return whether a trial is a run of the experiment that was not released."""
    return BEGUN in said and GIVEN_BACK not in said


def session_attribute(attributes: Mapping[str, Any], session: Mapping[str, Any]) -> dict[str, Any]:
    """Return the study's attribute for a new session, with its place among the others."""
    return {**session, _PLACE: sum(key.startswith(SESSION) for key in attributes)}


def sessions_of(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """Return the sessions in a study's attributes, in the order they began."""
    found = [
        (int(value.get(_PLACE, -1)), str(value.get("began", "")), key.removeprefix(SESSION), value)
        for key, value in attributes.items()
        if key.startswith(SESSION)
    ]
    return tuple(
        {"worker": worker, **{name: one for name, one in value.items() if name != _PLACE}}
        for _, _, worker, value in sorted(found, key=lambda session: session[:3])
    )
