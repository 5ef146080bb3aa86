"""How the runs of an experiment are written to an Optuna study, and read again as they change."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from workbench.storage.database import Database
from workbench.storage.trials import (
    end_trial,
    ended_trials,
    insert_trial,
    next_number,
    say_of_trial,
)
from workbench.tune.store.study_rows import ENDED_AFTER, worded

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution


@dataclass(frozen=True)
class TrialRow:
    """A trial of a study."""

    key: int  # in the database
    finished: bool
    said: Mapping[str, Any]  # its attributes by name


class TrialRows(Protocol):
    """The trials of one study in a database; every method is a transaction of its own."""

    def read(self, known: Collection[int]) -> list[TrialRow]:
        """Return the trials in their order, without the ``known`` keys of finished ones."""

    def begin(self, values: Mapping[str, Any], said: Mapping[str, Any]) -> int:
        """Write a running trial and return its key; ``values`` are those that Optuna accepts."""

    def say(self, key: int, name: str, value: Any) -> None:
        """Write an attribute of a trial, a value for JSON."""

    def end(self, key: int, state: str, value: float | None, said: Mapping[str, Any]) -> int:
        """Finish a trial, its state last; return the number of trials finished before it."""

    def close(self) -> None:
        """Release the database; safe to repeat."""


def trial_rows(
    database: Database, study: optuna.Study, distributions: Mapping[str, BaseDistribution]
) -> TrialRows:
    """Return access to a study's trials: by SQL if its tables are known, else through Optuna."""
    with worded(database):
        connection = database.connect_directly()
    if connection is None:
        return _ThroughOptuna(database, study, distributions)
    return _Direct(database, connection, study._study_id, distributions)


class _Direct:
    """Writes the rows itself."""

    # 0.5 ms of the processor per run, 8 through Optuna's queries (tests/benchmarks/test_tune.py);
    # tests/unit/tune/store/test_trial_rows.py holds the two equal.

    def __init__(
        self,
        database: Database,
        connection: sqlite3.Connection,
        study: int,
        distributions: Mapping[str, BaseDistribution],
    ) -> None:
        from optuna.distributions import distribution_to_json

        self._database = database
        self._connection = connection
        self._study = study
        self._internal: dict[str, Callable[[Any], float]] = {
            name: one.to_internal_repr for name, one in distributions.items()
        }
        self._texts = {name: distribution_to_json(one) for name, one in distributions.items()}
        self._first = 0

    def read(self, known: Collection[int]) -> list[TrialRow]:
        with worded(self._database):
            found = self._connection.execute(
                "SELECT t.trial_id, t.state, a.key, a.value_json FROM trials t"
                " LEFT JOIN trial_user_attributes a ON a.trial_id = t.trial_id"
                " WHERE t.study_id = ? AND t.trial_id >= ? ORDER BY t.trial_id",
                (self._study, self._first),
            ).fetchall()
        states: dict[int, str] = {}
        said: dict[int, dict[str, Any]] = {}
        for key, state, name, text in found:
            states[key] = state
            if key not in known and name is not None:
                said.setdefault(key, {})[name] = json.loads(text)
        finished = {key: state not in ("RUNNING", "WAITING") for key, state in states.items()}
        # One writes at a time, so that keys grow; what lies before the first open one stays.
        if states:
            self._first = next((k for k, ended in finished.items() if not ended), max(states) + 1)
        return [
            TrialRow(key, ended, said.get(key, {}))
            for key, ended in finished.items()
            if key not in known
        ]

    def begin(self, values: Mapping[str, Any], said: Mapping[str, Any]) -> int:
        parameters = [
            (name, float(self._internal[name](value)), self._texts[name])
            for name, value in values.items()
        ]
        with self._transaction() as connection:
            number = next_number(connection, self._study)
            return insert_trial(
                connection,
                self._study,
                number,
                began=datetime.now(),
                parameters=parameters,
                said=said,
            )

    def say(self, key: int, name: str, value: Any) -> None:
        with self._transaction() as connection:
            say_of_trial(connection, key, name, value)

    def end(self, key: int, state: str, value: float | None, said: Mapping[str, Any]) -> int:
        with self._transaction() as connection:
            before = ended_trials(connection, self._study)
            for name, one in {**said, ENDED_AFTER: before}.items():
                say_of_trial(connection, key, name, one)
            end_trial(connection, key, state, value, datetime.now())
        return before

    def close(self) -> None:
        self._connection.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with worded(self._database), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection


class _ThroughOptuna:
    """Leaves the tables to Optuna: those of a server, or of an unknown release."""

    def __init__(
        self,
        database: Database,
        study: optuna.Study,
        distributions: Mapping[str, BaseDistribution],
    ) -> None:
        self._database = database
        self._study = study
        self._distributions = distributions

    def read(self, known: Collection[int]) -> list[TrialRow]:
        with worded(self._database):
            trials = self._study.get_trials(deepcopy=False)
        return [
            TrialRow(trial._trial_id, trial.state.is_finished(), trial.user_attrs)
            for trial in trials
            if trial._trial_id not in known
        ]

    def begin(self, values: Mapping[str, Any], said: Mapping[str, Any]) -> int:
        import optuna

        template = optuna.trial.create_trial(
            state=optuna.trial.TrialState.RUNNING,
            params=dict(values),
            distributions={name: self._distributions[name] for name in values},
            user_attrs=dict(said),
        )
        with worded(self._database):
            return self._study._storage.create_new_trial(self._study._study_id, template)

    def say(self, key: int, name: str, value: Any) -> None:
        with worded(self._database):
            self._study._storage.set_trial_user_attr(key, name, value)

    def end(self, key: int, state: str, value: float | None, said: Mapping[str, Any]) -> int:
        from optuna.trial import TrialState

        values = None if value is None else [value]
        # Two that end at one moment may count the same: then their numbers decide.
        before = sum(row.finished for row in self.read(()))
        for name, one in {**said, ENDED_AFTER: before}.items():
            self.say(key, name, one)
        # The state comes last: a process that dies before it leaves a run that is released.
        with worded(self._database):
            self._study._storage.set_trial_state_values(key, TrialState[state], values)
        return before

    def close(self) -> None:
        """Do nothing: the owner of the study closes it."""
