"""Where experiments are kept: Optuna studies in an SQLite file or a PostgreSQL database.

``optuna.load_study`` and optuna-dashboard open them like any other study. A run is in the database
from before it begins; one whose process has died is known by the lock that died with it, and is
given back. Several processes may take part in one experiment.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import StudyError, StudyHeldError
from workbench.fit.store.database import Database, locate, quiet_optuna
from workbench.fit.store.study_file import problem_differences
from workbench.tune.result import TuningResult
from workbench.tune.run_record import RunRecord
from workbench.tune.space import Choices, Configuration, Grid, Range, TuningSpace

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution

PROBLEM = "workbench.experiment"
"""Name of the study's attribute that says what is tuned, and how."""

STOP_REASON = "workbench.stop"
"""Name of the study's attribute that says why it ended."""

_SESSION = "workbench.session."
_BEGUN = "begun"
_ENDED = "run"
_JOB = "job"
_GIVEN_BACK = "given back"
_MOST_CHOICES = 200
_PATIENCE_S = 600.0
_LOOK_S = 0.02


@dataclass(frozen=True)
class Begun:
    """A run that was begun and has not ended.

    Attributes:
        number: its place in the experiment.
        configuration: what runs.
        initial: whether it belongs to the initial points.
        resampled: whether a resampling rule asked for it.
        worker: which process of the experiment began it.
        job_id: number of its process or job, empty where it is not known yet.
        key: what the store calls it.
    """

    number: int
    configuration: Configuration
    initial: bool
    resampled: bool
    worker: str
    job_id: str = ""
    key: int = 0


class Store(Protocol):
    """What an experiment asks of the place where its runs are kept."""

    @property
    def worker(self) -> str:
        """What this process is called among those of the experiment."""

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Let nobody else begin a run until the context ends."""

    def read(self) -> tuple[list[RunRecord], list[Begun]]:
        """Return the runs that have ended, in that order, and those that have not."""

    def begin(self, run: Begun) -> int:
        """Take down a run before it is started, and return what the store calls it.

        Args:
            run: the run.
        """

    def note_job(self, key: int, job_id: str) -> None:
        """Take down which process or job a run is.

        Args:
            key: what the store calls the run.
            job_id: number of its process or job.
        """

    def end(self, key: int, record: RunRecord) -> None:
        """Take down a run that has ended.

        Args:
            key: what the store calls it.
            record: the run.
        """

    def give_back(self, key: int) -> None:
        """Forget a run that was begun and will not end.

        Args:
            key: what the store calls it.
        """

    def lost(self, begun: Sequence[Begun]) -> list[Begun]:
        """Return those runs whose process has died.

        Args:
            begun: runs that have not ended.
        """

    def note_stop(self, reason: str) -> None:
        """Take down why the experiment has ended; an empty text where it goes on.

        Args:
            reason: a sentence.
        """

    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Return what each process that took part ran on, in the order they began."""

    def close(self) -> None:
        """Release what is held; again does no harm."""


class MemoryStore:
    """Keeps nothing beyond this process.

    Args:
        session: what this process runs on.
    """

    def __init__(self, session: Mapping[str, Any]) -> None:
        self._session = dict(session)
        self._ended: list[RunRecord] = []
        self._begun: dict[int, Begun] = {}
        self._next = 0

    @property
    def worker(self) -> str:
        """What this process is called among those of the experiment."""
        return "here"

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Do nothing: there is nobody else."""
        return contextlib.nullcontext()

    def read(self) -> tuple[list[RunRecord], list[Begun]]:
        """Return the runs that have ended, in that order, and those that have not."""
        return self._ended, list(self._begun.values())

    def begin(self, run: Begun) -> int:
        """Take down a run before it is started, and return what the store calls it.

        Args:
            run: the run.
        """
        self._next += 1
        self._begun[self._next] = run
        return self._next

    def note_job(self, key: int, job_id: str) -> None:
        """Do nothing: nobody else could ask.

        Args:
            key: not looked at.
            job_id: not looked at.
        """

    def end(self, key: int, record: RunRecord) -> None:
        """Take down a run that has ended.

        Args:
            key: what the store calls it.
            record: the run.
        """
        del self._begun[key]
        self._ended.append(record)

    def give_back(self, key: int) -> None:
        """Forget a run that was begun and will not end.

        Args:
            key: what the store calls it.
        """
        del self._begun[key]

    def lost(self, begun: Sequence[Begun]) -> list[Begun]:
        """Return none: they live and die together.

        Args:
            begun: not looked at.
        """
        return []

    def note_stop(self, reason: str) -> None:
        """Do nothing: the result tells.

        Args:
            reason: not looked at.
        """

    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Return what this process runs on."""
        return (self._session,)

    def close(self) -> None:
        """Do nothing."""


class DatabaseStore:
    """Keeps an experiment in a database that other processes may share.

    Args:
        where: path of an SQLite file, made where there is none, or an address such as
            ``postgresql://user@host/database``.
        name: name of the experiment in it.
        problem: what is tuned, and how, for JSON. An experiment that exists must be the same.
        space: what is searched.
        minimise: whether less is better.
        session: what this process runs on.

    Raises:
        StudyError: the database cannot be opened, or holds another study of that name.
    """

    def __init__(
        self,
        where: str | Path,
        name: str,
        problem: Mapping[str, Any],
        space: TuningSpace,
        *,
        minimise: bool,
        session: Mapping[str, Any],
    ) -> None:
        self.name = name
        self.database = locate(where)
        self._space = space
        self._worker = uuid.uuid4().hex[:12]
        self._distributions = _distributions(space)
        self._finished: dict[int, RunRecord] = {}
        self._forgotten: set[int] = set()
        self._closing = contextlib.ExitStack()
        with contextlib.ExitStack() as opening:
            self.database.prepare()
            opening.enter_context(self.database.hold(_lock(name, self._worker)))
            with _patient(self.database, name):
                self._study = _open(self.database, name, problem, minimise)
            opening.callback(_dispose, self._study)
            self._closing = opening.pop_all()
        self._storage = self._study._storage
        self._study_id = self._study._study_id
        self._study.set_user_attr(f"{_SESSION}{self._worker}", dict(session))

    @property
    def worker(self) -> str:
        """What this process is called among those of the experiment."""
        return self._worker

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Let nobody else begin a run until the context ends.

        Raises:
            StudyError: somebody else did not come to an end of choosing within ten minutes.
        """
        return _patient(self.database, self.name)

    def read(self) -> tuple[list[RunRecord], list[Begun]]:
        """Return the runs that have ended, in that order, and those that have not.

        Raises:
            StudyError: the database cannot be read.
        """
        with _worded(self.database):
            trials = self._study.get_trials(deepcopy=False)
        begun = []
        for trial in trials:
            key = trial._trial_id
            if key in self._finished or key in self._forgotten:
                continue
            if _GIVEN_BACK in trial.user_attrs or _BEGUN not in trial.user_attrs:
                self._forgotten.add(key)
            elif trial.state.is_finished():
                self._finished[key] = RunRecord.from_dict(trial.user_attrs[_ENDED])
            else:
                begun.append(_begun(trial))
        return _in_order(self._finished.values()), begun

    def begin(self, run: Begun) -> int:
        """Take down a run before it is started, and return what the store calls it.

        Args:
            run: the run.

        Raises:
            StudyError: the database cannot be written.
        """
        import optuna

        shown = _shown(self._distributions, run.configuration)
        template = optuna.trial.create_trial(
            state=optuna.trial.TrialState.RUNNING,
            params=shown,
            distributions={name: self._distributions[name] for name in shown},
            user_attrs={
                _BEGUN: {
                    "number": run.number,
                    "configuration": dict(run.configuration),
                    "initial": run.initial,
                    "resampled": run.resampled,
                    "worker": self._worker,
                }
            },
        )
        with _worded(self.database):
            return self._storage.create_new_trial(self._study_id, template)

    def note_job(self, key: int, job_id: str) -> None:
        """Take down which process or job a run is.

        Args:
            key: what the store calls the run.
            job_id: number of its process or job.

        Raises:
            StudyError: the database cannot be written.
        """
        with _worded(self.database):
            self._storage.set_trial_user_attr(key, _JOB, job_id)

    def end(self, key: int, record: RunRecord) -> None:
        """Take down a run that has ended.

        Args:
            key: what the store calls it.
            record: the run.

        Raises:
            StudyError: the database cannot be written.
        """
        from optuna.trial import TrialState

        states = {
            "complete": TrialState.COMPLETE,
            "pruned": TrialState.PRUNED,
            "failed": TrialState.FAIL,
        }
        value = record.run.value
        values = [value] if value == value and record.run.status != "failed" else None
        with _worded(self.database):
            self._storage.set_trial_user_attr(key, _ENDED, record.to_dict())
            # The state comes last: a process that dies before it leaves a run that is given back.
            self._storage.set_trial_state_values(key, states[record.run.status], values)
        self._finished[key] = record

    def give_back(self, key: int) -> None:
        """Forget a run that was begun and will not end.

        Args:
            key: what the store calls it.

        Raises:
            StudyError: the database cannot be written.
        """
        from optuna.trial import TrialState

        with _worded(self.database):
            self._storage.set_trial_user_attr(key, _GIVEN_BACK, datetime.now().isoformat())
            self._storage.set_trial_state_values(key, TrialState.FAIL)
        self._forgotten.add(key)

    def lost(self, begun: Sequence[Begun]) -> list[Begun]:
        """Return those runs whose process has died.

        Args:
            begun: runs that have not ended.

        Raises:
            StudyError: the database cannot be read.
        """
        others = {run.worker for run in begun} - {self._worker}
        if not others:
            return []
        locks = {_lock(self.name, worker): worker for worker in others}
        alive = {locks[lock] for lock in self.database.held(locks)}
        return [run for run in begun if run.worker in others - alive]

    def note_stop(self, reason: str) -> None:
        """Take down why the experiment has ended; an empty text where it goes on.

        Args:
            reason: a sentence.

        Raises:
            StudyError: the database cannot be written.
        """
        with _worded(self.database):
            self._study.set_user_attr(STOP_REASON, reason)

    def sessions(self) -> tuple[dict[str, Any], ...]:
        """Return what each process that took part ran on, in the order they began.

        Raises:
            StudyError: the database cannot be read.
        """
        with _worded(self.database):
            return _sessions(self._study.user_attrs)

    def close(self) -> None:
        """Release the database; again does no harm."""
        self._closing.close()


@dataclass(frozen=True)
class StoredExperiment:
    """An experiment as it stands in a database.

    Attributes:
        name: its name.
        problem: what is tuned, and how.
        runs: how many have ended.
        running: how many have not, and whose process is alive.
        stop_reason: why it ended, empty where it has not.
    """

    name: str
    problem: Mapping[str, Any]
    runs: int
    running: int
    stop_reason: str

    @property
    def state(self) -> str:
        """``running``, ``finished``, or ``stopped`` where it can be resumed."""
        if self.running:
            return "running"
        return "finished" if self.stop_reason else "stopped"


def stored_experiments(where: str | Path) -> tuple[StoredExperiment, ...]:
    """Return the experiments in a database, by name; holds nothing and disturbs nobody.

    Args:
        where: an SQLite file or a PostgreSQL address.

    Raises:
        StudyError: the database cannot be read.
    """
    database = locate(where)
    if not database.exists:
        return ()
    found = []
    with _looking(database) as storage:
        for study in storage.get_all_studies():
            problem = study.user_attrs.get(PROBLEM)
            if problem is None:
                continue
            trials = storage.get_all_trials(study._study_id, deepcopy=False)
            kept = [t for t in trials if _BEGUN in t.user_attrs and _GIVEN_BACK not in t.user_attrs]
            begun = [_begun(trial) for trial in kept if not trial.state.is_finished()]
            found.append(
                StoredExperiment(
                    study.study_name,
                    problem,
                    sum(trial.state.is_finished() for trial in kept),
                    len(_alive(database, study.study_name, begun)),
                    str(study.user_attrs.get(STOP_REASON, "")),
                )
            )
    return tuple(sorted(found, key=lambda one: one.name))


def load_result(where: str | Path, name: str | None = None) -> TuningResult:
    """Return what a stored experiment has found so far; holds nothing and disturbs nobody.

    Args:
        where: an SQLite file or a PostgreSQL address.
        name: name of the experiment; None where the database holds one.

    Raises:
        StudyError: the database cannot be read, or holds no such experiment.
    """
    name = find_experiment(where, name).name
    database = locate(where)
    with _looking(database) as storage:
        study_id = storage.get_study_id_from_name(name)
        attributes = storage.get_study_user_attrs(study_id)
        trials = storage.get_all_trials(study_id, deepcopy=False)
    problem = attributes[PROBLEM]
    kept = [t for t in trials if _BEGUN in t.user_attrs and _GIVEN_BACK not in t.user_attrs]
    begun = [_begun(trial) for trial in kept if not trial.state.is_finished()]
    ended = [t.user_attrs[_ENDED] for t in kept if t.state.is_finished()]
    return TuningResult(
        name=name,
        space=TuningSpace.from_dict(problem["space"]),
        records=tuple(_in_order(map(RunRecord.from_dict, ended))),
        minimise=bool(problem["minimise"]),
        label=str(problem["label"]),
        unit=str(problem["unit"]),
        aggregation=str(problem["aggregation"]),
        stop_reason=str(attributes.get(STOP_REASON, "")),
        settings=problem,
        sessions=_sessions(attributes),
        pending=tuple(run.configuration for run in _alive(database, name, begun)),
    )


def find_experiment(where: str | Path, name: str | None = None) -> StoredExperiment:
    """Return the experiment of that name.

    Args:
        where: an SQLite file or a PostgreSQL address.
        name: its name; None where the database holds one.

    Raises:
        StudyError: there is no such experiment, or several and no name was given.
    """
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
    raise StudyError(f"{locate(where).where} must hold the experiment {name!r}; it holds {known}")


@contextlib.contextmanager
def _looking(database: Database) -> Iterator[optuna.storages.RDBStorage]:
    database.prepare()
    with _worded(database), quiet_optuna():
        storage = database.open_storage()
        try:
            yield storage
        finally:
            storage.engine.dispose()


@contextlib.contextmanager
def _worded(database: Database) -> Iterator[None]:
    """Word what SQLAlchemy and Optuna raise where a database fails."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        raise StudyError(
            f"{database.where} cannot be used: {error}; what was stored before is safe"
        ) from error


@contextlib.contextmanager
def _patient(database: Database, name: str) -> Iterator[None]:
    """Hold the lock under which runs are chosen; whoever holds it needs a moment."""
    deadline = time.monotonic() + _PATIENCE_S
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(database.hold(_lock(name, "choosing")))
                break
            except StudyHeldError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK_S)
        yield


def _open(
    database: Database, name: str, problem: Mapping[str, Any], minimise: bool
) -> optuna.Study:
    import optuna

    with _worded(database), quiet_optuna():
        study = optuna.create_study(
            storage=database.open_storage(),
            study_name=name,
            direction="minimize" if minimise else "maximize",
            load_if_exists=True,
        )
    stored = study.user_attrs.get(PROBLEM)
    if stored is None and not study.user_attrs and not study.get_trials(deepcopy=False):
        study.set_user_attr(PROBLEM, dict(problem))
        return study
    try:
        if stored is None:
            raise StudyError(
                f"{database.where} holds a study {name!r} that is no experiment of the workbench; "
                "choose another name"
            )
        differences = problem_differences(stored, problem)
        if differences:
            raise StudyError(
                f"the experiment {name!r} in {database.where} is another one: "
                f"{'; '.join(differences)}; choose another name, or the settings it was made with"
            )
    except StudyError:
        _dispose(study)
        raise
    return study


def _dispose(study: optuna.Study) -> None:
    storage: Any = study._storage
    getattr(storage, "_backend", storage).engine.dispose()


def _lock(name: str, worker: str) -> str:
    return f"{name} · {worker}"


def _alive(database: Database, name: str, begun: Sequence[Begun]) -> list[Begun]:
    locks = {_lock(name, run.worker): run.worker for run in begun}
    if not locks:
        return []
    alive = {locks[lock] for lock in database.held(locks)}
    return [run for run in begun if run.worker in alive]


def _begun(trial: optuna.trial.FrozenTrial) -> Begun:
    said = trial.user_attrs[_BEGUN]
    job_id = str(trial.user_attrs.get(_JOB, ""))
    return Begun(**said, job_id=job_id, key=trial._trial_id)


def _in_order(records: Any) -> list[RunRecord]:
    return sorted(records, key=lambda record: (record.ended, record.number))


def _sessions(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    found = [
        {"worker": key.removeprefix(_SESSION), **value}
        for key, value in attributes.items()
        if key.startswith(_SESSION)
    ]
    return tuple(sorted(found, key=lambda session: str(session.get("began", ""))))


def _distributions(space: TuningSpace) -> dict[str, BaseDistribution]:
    """Return what Optuna's tools show each parameter as; the configuration itself is beside it."""
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


def _shown(
    distributions: Mapping[str, BaseDistribution], configuration: Configuration
) -> dict[str, Any]:
    """Return the parameters that Optuna can show: a default may lie beside its axis."""
    shown = {}
    for name, distribution in distributions.items():
        value = configuration[name]
        try:
            if distribution._contains(distribution.to_internal_repr(value)):
                shown[name] = value
        except (ValueError, TypeError):
            continue
    return shown
