"""The runs of an experiment as trials of an Optuna study, by Optuna's public interface."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.storage.database import Database
from workbench.tune.store.study_rows import ENDED_AFTER, reworded_errors

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution


@dataclass(frozen=True)
class TrialRow:
    """A trial of a study."""

    key: int  # its number in the study
    finished: bool
    said: Mapping[str, Any]  # its attributes by name


class TrialRows:
    """The trials of one study in a database, which other processes may write as well."""

    # 22 ms of the processor per run (tests/benchmarks/test_tune.py); a run itself takes seconds.

    def __init__(
        self,
        database: Database,
        storage: optuna.storages.RDBStorage,
        study: optuna.Study,
        distributions: Mapping[str, BaseDistribution],
    ) -> None:
        self._database = database
        self._storage = storage
        self._study = study
        self._distributions = distributions
        self._ids: dict[int, int] = {}  # Optuna's id of a trial by its number
        with reworded_errors(database):
            self._study_id = storage.get_study_id_from_name(study.study_name)

    def read(self, known: Collection[int]) -> list[TrialRow]:
        """Return the trials in their order, without the ``known`` keys of finished ones."""
        with reworded_errors(self._database):
            # Optuna reads finished trials from the database once only.
            trials = self._study.get_trials(deepcopy=False)
        return [
            TrialRow(trial.number, trial.state.is_finished(), trial.user_attrs)
            for trial in trials
            if trial.number not in known
        ]

    def begin(self, values: Mapping[str, Any], said: Mapping[str, Any]) -> int:
        """Write a running trial and return its key; ``values`` are those that Optuna accepts."""
        import optuna

        template = optuna.trial.create_trial(
            state=optuna.trial.TrialState.RUNNING,
            params=dict(values),
            distributions={name: self._distributions[name] for name in values},
            user_attrs=dict(said),
        )
        with reworded_errors(self._database):
            trial_id = self._storage.create_new_trial(self._study_id, template)
            number = self._storage.get_trial(trial_id).number
        self._ids[number] = trial_id
        return number

    def say(self, key: int, name: str, value: Any) -> None:
        """Write an attribute of a trial, a value for JSON."""
        with reworded_errors(self._database):
            self._storage.set_trial_user_attr(self._trial_id(key), name, value)

    def end(self, key: int, state: str, value: float | None, said: Mapping[str, Any]) -> int:
        """Finish a trial, its state last; return the number of trials finished before it."""
        from optuna.trial import TrialState

        # Two that end at one moment may count the same: then their numbers decide.
        before = sum(row.finished for row in self.read(()))
        for name, one in {**said, ENDED_AFTER: before}.items():
            self.say(key, name, one)
        # The state comes last: a process that dies before it leaves a run that is released.
        values = None if value is None else [value]
        with reworded_errors(self._database):
            self._storage.set_trial_state_values(self._trial_id(key), TrialState[state], values)
        return before

    def _trial_id(self, key: int) -> int:
        if key not in self._ids:
            find = self._storage.get_trial_id_from_study_id_trial_number
            self._ids[key] = find(self._study_id, key)
        return self._ids[key]
