"""Reading stored experiments without holding a lock, while others run them."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import StudyError
from workbench.storage.database import Database, locate
from workbench.storage.optuna_log import quiet_optuna
from workbench.suggestions import did_you_mean
from workbench.tune.result import TuningResult
from workbench.tune.space.space import TuningSpace
from workbench.tune.store.memory import PendingRun
from workbench.tune.store.run_record import RunRecord
from workbench.tune.store.study_rows import (
    ENDED,
    PROBLEM,
    STOP_REASON,
    alive,
    in_order,
    is_kept,
    pending_run_of,
    reworded_errors,
    sessions_of,
)

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class StoredExperiment:
    """The state of an experiment in a database."""

    name: str
    problem: Mapping[str, Any]  # what is tuned, and how
    runs: int  # finished
    running: int  # pending, in processes that are alive
    budget: int | None  # of the last session; None: none yet, or an old store without it
    stop_reason: str  # empty if it has not ended

    @property
    def state(self) -> str:
        """``running``, ``finished``, or ``stopped`` where it can be resumed."""
        if self.running:
            return "running"
        return "finished" if self.stop_reason else "stopped"


def stored_experiments(where: str | Path) -> tuple[StoredExperiment, ...]:
    """Return the experiments in a database, by name; holds no lock."""
    database = locate(where)
    if not database.exists:
        return ()
    found = []
    with _opened_storage(database) as storage:
        for study in storage.get_all_studies():
            problem = study.user_attrs.get(PROBLEM)
            if problem is None:
                continue
            study_id = storage.get_study_id_from_name(study.study_name)
            trials = storage.get_all_trials(study_id, deepcopy=False)
            kept = [trial for trial in trials if is_kept(trial.user_attrs)]
            found.append(
                StoredExperiment(
                    study.study_name,
                    problem,
                    sum(trial.state.is_finished() for trial in kept),
                    len(alive(database, study.study_name, _begun(kept))),
                    _budget(sessions_of(study.user_attrs)),
                    str(study.user_attrs.get(STOP_REASON, "")),
                )
            )
    return tuple(sorted(found, key=lambda one: one.name))


def load_result(where: str | Path, name: str | None = None) -> TuningResult:
    """Return a stored experiment's result so far; holds no lock; ``name`` None: the only one."""
    name = find_experiment(where, name).name
    database = locate(where)
    with _opened_storage(database) as storage:
        study_id = storage.get_study_id_from_name(name)
        attributes = storage.get_study_user_attrs(study_id)
        trials = storage.get_all_trials(study_id, deepcopy=False)
    problem, sessions = attributes[PROBLEM], sessions_of(attributes)
    kept = [trial for trial in trials if is_kept(trial.user_attrs)]
    ended = [
        (RunRecord.from_dict(trial.user_attrs[ENDED]), trial.user_attrs)
        for trial in kept
        if trial.state.is_finished()
    ]
    return TuningResult(
        name=name,
        space=TuningSpace.from_dict(problem["space"]),
        records=tuple(_counted(in_order(ended))),
        minimise=bool(problem["minimise"]),
        label=str(problem["label"]),
        unit=str(problem["unit"]),
        aggregation=str(problem["aggregation"]),
        stop_reason=str(attributes.get(STOP_REASON, "")),
        settings={**problem, "budget": _budget(sessions)},
        sessions=sessions,
        pending=tuple(run.configuration for run in alive(database, name, _begun(kept))),
    )


def find_experiment(where: str | Path, name: str | None = None) -> StoredExperiment:
    """Return the stored experiment of a name; None stands for the only one."""
    found = stored_experiments(where)
    known = ", ".join(one.name for one in found) or "none"
    if name is None:
        if len(found) != 1:
            raise StudyError(
                f"{locate(where).where} must hold one experiment where no name is given; it holds "
                f"{known}"
            )
        return found[0]
    for one in found:
        if one.name == name:
            return one
    hint = did_you_mean(name, (one.name for one in found))
    raise StudyError(
        f"{locate(where).where} must hold the experiment {name!r}; it holds {known}{hint}"
    )


def _budget(sessions: Sequence[Mapping[str, Any]]) -> int | None:
    budget = sessions[-1].get("budget") if sessions else None
    return None if budget is None else int(budget)


def _counted(records: Iterable[RunRecord]) -> Iterator[RunRecord]:
    """Yield runs with their repeats counted; parallel processes each counted only their own."""
    seen: Counter[tuple[Any, ...]] = Counter()
    for record in records:
        key = tuple(record.run.configuration.values())
        yield replace(record, run=replace(record.run, repeat=seen[key]))
        seen[key] += 1


def _begun(kept: Sequence[optuna.trial.FrozenTrial]) -> list[PendingRun]:
    return [pending_run_of(t.number, t.user_attrs) for t in kept if not t.state.is_finished()]


@contextlib.contextmanager
def _opened_storage(database: Database) -> Iterator[optuna.storages.RDBStorage]:
    database.prepare()
    with reworded_errors(database), quiet_optuna():
        storage = database.open_storage()
        try:
            yield storage
        finally:
            storage.engine.dispose()
