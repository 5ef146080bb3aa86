"""A fit's trials on disk: an Optuna study in an SQLite file, or on a PostgreSQL server.

``optuna.load_study`` and optuna-dashboard open it like any other. Every trial is in the file
before the next begins, so a process that is killed loses only the trial in flight.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import StudyError
from workbench.storage.database import locate, problem_differences
from workbench.storage.optuna_internals import insert_trial, next_number
from workbench.storage.optuna_log import quiet_optuna

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution

PROBLEM = "workbench.problem"
"""Name of the study's attribute with the settings of the fit."""

INVALID = "invalid"
"""Name of the trial's attribute with the reason why a configuration could not be simulated."""

ENDED_EARLY = "ended early"
"""Name of the trial's attribute that marks its stored loss as a lower bound."""


@dataclass(frozen=True)
class StoredTrial:
    """One finished trial."""

    number: int  # from 0
    values: Mapping[str, float | int]  # SI by key
    loss: float
    invalid: str = ""  # reason why it could not be simulated
    seconds: float = 0.0
    ended_early: bool = False  # the true loss is at least ``loss``, see Evaluator

    @property
    def attributes(self) -> dict[str, str | bool]:
        """The trial's attributes beside its values, by name; empty ones are left out."""
        said: dict[str, str | bool] = {INVALID: self.invalid, ENDED_EARLY: self.ended_early}
        return {name: value for name, value in said.items() if value}


class StudyFile:
    """One named study, held by one process at a time; several studies may share a database."""

    def __init__(self, where: str | Path, name: str, problem: Mapping[str, Any]) -> None:
        import optuna

        self.name = name
        self.database = locate(where)
        self.where = self.database.where
        self._closing = contextlib.ExitStack()
        with contextlib.ExitStack() as opening:
            self.database.prepare()
            opening.enter_context(self.database.hold(name))
            storage = self.database.open_storage()
            opening.callback(storage.engine.dispose)
            self._study = self._open_study(storage, problem)
            self._trials = tuple(
                stored_trial(trial) for trial in self._study.get_trials(deepcopy=False)
            )
            self._study_id = storage.get_study_id_from_name(name)
            self._direct = self.database.connect_directly()
            if self._direct is not None:
                opening.enter_context(contextlib.closing(self._direct))
            self._closing = opening.pop_all()
        self._count = len(self._trials)
        self._create_trial = optuna.trial.create_trial
        self._texts: dict[str, str] = {}

    @property
    def trials(self) -> Sequence[StoredTrial]:
        """The trials that were there when the study was opened, in order."""
        return self._trials

    def append(
        self, trial: StoredTrial, distributions: Mapping[str, BaseDistribution], began: datetime
    ) -> None:
        """Write the next trial, with the distribution of each value; a kill no longer loses it."""
        if trial.number != self._count:
            raise StudyError(
                f"trial {self._count} of the study {self.name!r} must come next; got trial "
                f"{trial.number}: the fit was interrupted while it wrote; restart it to continue "
                "from the stored trials"
            )
        from sqlalchemy.exc import SQLAlchemyError

        try:
            if self._direct is not None:
                self._insert(self._direct, trial, distributions, began)
            else:
                self._add(trial, distributions, began)
        except (sqlite3.Error, SQLAlchemyError) as error:
            raise StudyError(
                f"{self.where} cannot be written: {error}; the trials before this one are safe"
            ) from error
        self._count += 1

    def close(self) -> None:
        """Release the file; a second call has no effect."""
        self._closing.close()

    def _insert(
        self,
        connection: sqlite3.Connection,
        trial: StoredTrial,
        distributions: Mapping[str, BaseDistribution],
        began: datetime,
    ) -> None:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            self._check_alone(next_number(connection, self._study_id))
            insert_trial(
                connection,
                self._study_id,
                trial.number,
                trial.loss,
                began=began,
                parameters=[
                    (key, float(value), self._text(key, distributions[key]))
                    for key, value in trial.values.items()
                ],
                attributes=trial.attributes,
            )

    def _add(
        self, trial: StoredTrial, distributions: Mapping[str, BaseDistribution], began: datetime
    ) -> None:
        self._check_alone(len(self._study.get_trials(deepcopy=False)))
        frozen = self._create_trial(
            params=dict(trial.values),
            distributions=dict(distributions),
            value=trial.loss,
            user_attrs=trial.attributes,
        )
        frozen.datetime_start = began
        self._study.add_trial(frozen)

    def _check_alone(self, count: int) -> None:
        if count != self._count:
            raise StudyError(
                f"the study {self.name!r} in {self.where} must be written by one process at a "
                f"time; it held {self._count} trials and now holds {count}; stop the other one "
                "or choose another name"
            )

    def _text(self, key: str, distribution: BaseDistribution) -> str:
        from optuna.distributions import distribution_to_json

        if key not in self._texts:
            self._texts[key] = distribution_to_json(distribution)
        return self._texts[key]

    def _open_study(
        self, storage: optuna.storages.RDBStorage, problem: Mapping[str, Any]
    ) -> optuna.Study:
        import optuna

        with quiet_optuna():
            study = optuna.create_study(storage=storage, study_name=self.name, load_if_exists=True)
        stored = study.user_attrs.get(PROBLEM)
        if stored is None:
            if study.get_trials(deepcopy=False) or study.user_attrs:
                raise StudyError(
                    f"{self.where} holds a study {self.name!r} that is not a fit of the workbench; "
                    "choose another name"
                )
            study.set_user_attr(PROBLEM, dict(problem))
            return study
        differences = problem_differences(stored, problem)
        if differences:
            raise StudyError(
                f"the study {self.name!r} in {self.where} was made for another problem: "
                f"{'; '.join(differences)}; choose another name, or the settings it was made with"
            )
        return study


def stored_trial(trial: optuna.trial.FrozenTrial) -> StoredTrial:
    """Return a trial of Optuna's as a stored one; refuse one without a value."""
    if trial.value is None:
        raise StudyError(
            f"trial {trial.number} of the study has no value (its state is {trial.state.name}); "
            "another program ran this study; choose another name"
        )
    began, ended = trial.datetime_start, trial.datetime_complete
    return StoredTrial(
        trial.number,
        dict(trial.params),
        trial.value,
        str(trial.user_attrs.get(INVALID, "")),
        (ended - began).total_seconds() if began is not None and ended is not None else 0.0,
        bool(trial.user_attrs.get(ENDED_EARLY, False)),
    )
