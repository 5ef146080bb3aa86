"""Rows of a trial in Optuna's tables, written without Optuna, which is many times faster.

Each function is part of a transaction of the caller's, on a connection that
``Database.connect_directly`` returned: the version of the tables is known.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

Parameter = tuple[str, float, str]
"""Name of a parameter, its value as Optuna stores it, and its distribution as JSON."""


def next_number(connection: sqlite3.Connection, study: int) -> int:
    """Return the number of the next trial, which is the number of trials so far."""
    row = connection.execute(
        "SELECT number FROM trials WHERE study_id = ? ORDER BY trial_id DESC LIMIT 1", (study,)
    ).fetchone()
    return 0 if row is None else int(row[0]) + 1


def insert_trial(
    connection: sqlite3.Connection,
    study: int,
    number: int,
    *,
    began: datetime,
    parameters: Iterable[Parameter],
    said: Mapping[str, Any],
) -> int:
    """Write a running trial with its attributes ``said``, and return its id in the tables."""
    trial = connection.execute(
        "INSERT INTO trials (number, study_id, state, datetime_start) VALUES (?, ?, 'RUNNING', ?)",
        (number, study, _stamp(began)),
    ).lastrowid
    if trial is None:
        raise sqlite3.DatabaseError("a row that was written must have a number; it has none")
    connection.executemany(
        "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json)"
        " VALUES (?, ?, ?, ?)",
        [(trial, *parameter) for parameter in parameters],
    )
    for name, value in said.items():
        say_of_trial(connection, trial, name, value)
    return trial


def end_trial(
    connection: sqlite3.Connection, trial: int, state: str, value: float | None, ended: datetime
) -> None:
    """Write the result of a trial."""
    connection.execute(
        "UPDATE trials SET state = ?, datetime_complete = ? WHERE trial_id = ?",
        (state, _stamp(ended), trial),
    )
    if value is not None:
        connection.execute(
            "INSERT INTO trial_values (trial_id, objective, value, value_type)"
            " VALUES (?, 0, ?, 'FINITE')",
            (trial, value),
        )


def say_of_trial(connection: sqlite3.Connection, trial: int, name: str, value: Any) -> None:
    """Write an attribute of a trial as JSON."""
    connection.execute(
        "INSERT OR REPLACE INTO trial_user_attributes (trial_id, key, value_json) VALUES (?, ?, ?)",
        (trial, name, json.dumps(value)),
    )


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")
