"""A fit's trials on disk: an Optuna study in a SQLite file, or at a database's address.

``optuna.load_study`` and optuna-dashboard open it like any other. Every trial is in the file
before the next begins, so a process that is killed loses only the trial in flight.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import StudyError

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution

PROBLEM = "workbench.problem"
"""Name of the study's attribute that says what is fitted to what, and how."""

INVALID = "invalid"
"""Name of the trial's attribute that says why a configuration could not be simulated."""

_BUSY_S = 60.0
_KNOWN_SCHEMA = 12


@dataclass(frozen=True)
class StoredTrial:
    """One finished trial.

    Attributes:
        number: its place in the study, from 0.
        values: what was tried, SI by key.
        loss: what came of it.
        invalid: why it could not be simulated, empty where it could.
        seconds: how long it took.
    """

    number: int
    values: Mapping[str, float | int]
    loss: float
    invalid: str = ""
    seconds: float = 0.0


class StudyFile:
    """One named study, held by one process at a time; several studies may share a file.

    Args:
        where: path of the SQLite file, made where there is none, or a database address such as
            ``postgresql://host/db``.
        name: name of the study in it.
        problem: what is fitted, as values that JSON can hold. A study that exists must have been
            made for the same problem.

    Raises:
        StudyError: the file cannot be opened, is not a study file, is being written by another
            process, or holds a study of that name for another problem.
    """

    def __init__(self, where: str | Path, name: str, problem: Mapping[str, Any]) -> None:
        import optuna

        self.name = name
        self.path = _sqlite_path(where)
        self.where = str(where)
        self._closing = contextlib.ExitStack()
        self._direct: sqlite3.Connection | None = None
        with contextlib.ExitStack() as opening:
            if self.path is not None:
                _check_file(self.path)
                opening.enter_context(_hold(self.path, name))
                self._prepare(self.path)
            storage = self._open_storage()
            opening.callback(storage.engine.dispose)
            self._study = self._open_study(storage, problem)
            self._trials = tuple(_stored(trial) for trial in self._study.get_trials(deepcopy=False))
            if self.path is not None and _schema(self.path) == _KNOWN_SCHEMA:
                self._direct = opening.enter_context(contextlib.closing(_connect(self.path)))
            self._closing = opening.pop_all()
        self._study_id = self._study._study_id
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
        """Write one trial; it survives the death of this process from here on.

        Args:
            trial: what was tried and what came of it.
            distributions: where each value was drawn from.
            began: when the trial began.

        Raises:
            StudyError: the trial is not the next one, somebody else added trials meanwhile, or
                the file cannot be written.
        """
        if trial.number != self._count:
            raise StudyError(
                f"trial {self._count} of the study {self.name!r} must come next; got trial "
                f"{trial.number}: the fit was interrupted while it wrote; start it again, it goes "
                "on from what is stored"
            )
        try:
            if self._direct is not None:
                self._insert(self._direct, trial, distributions, began)
            else:
                self._add(trial, distributions, began)
        except sqlite3.Error as error:
            raise StudyError(
                f"{self.where} cannot be written: {error}; the trials before this one are safe"
            ) from error
        self._count += 1

    def close(self) -> None:
        """Release the file; again does no harm."""
        self._closing.close()

    def _insert(
        self,
        connection: sqlite3.Connection,
        trial: StoredTrial,
        distributions: Mapping[str, BaseDistribution],
        began: datetime,
    ) -> None:
        # Optuna's add_trial is 21 ORM queries for 8 parameters, 5 to 9 ms; the same rows written
        # here take 0.3 ms (tests/benchmarks/test_fit.py), and tests/unit/fit/test_storage.py
        # holds the two equal. A schema that is not known goes through add_trial.
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            (count,) = connection.execute(
                "SELECT COUNT(*) FROM trials WHERE study_id = ?", (self._study_id,)
            ).fetchone()
            self._check_alone(count)
            row = connection.execute(
                "INSERT INTO trials (number, study_id, state, datetime_start, datetime_complete)"
                " VALUES (?, ?, 'COMPLETE', ?, ?)",
                (trial.number, self._study_id, _stamp(began), _stamp(datetime.now())),
            ).lastrowid
            connection.execute(
                "INSERT INTO trial_values (trial_id, objective, value, value_type)"
                " VALUES (?, 0, ?, 'FINITE')",
                (row, trial.loss),
            )
            connection.executemany(
                "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json)"
                " VALUES (?, ?, ?, ?)",
                [
                    (row, key, float(value), self._text(key, distributions[key]))
                    for key, value in trial.values.items()
                ],
            )
            if trial.invalid:
                connection.execute(
                    "INSERT INTO trial_user_attributes (trial_id, key, value_json)"
                    " VALUES (?, ?, ?)",
                    (row, INVALID, json.dumps(trial.invalid)),
                )

    def _add(
        self, trial: StoredTrial, distributions: Mapping[str, BaseDistribution], began: datetime
    ) -> None:
        self._check_alone(len(self._study.get_trials(deepcopy=False)))
        frozen = self._create_trial(
            params=dict(trial.values),
            distributions=dict(distributions),
            value=trial.loss,
            user_attrs={INVALID: trial.invalid} if trial.invalid else None,
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

    def _prepare(self, path: Path) -> None:
        """Refuse what is no study file; let others read while a trial is written."""
        try:
            with contextlib.closing(_connect(path)) as connection:
                tables = {
                    name
                    for (name,) in connection.execute(
                        "SELECT name FROM sqlite_master WHERE type = 'table'"
                    )
                }
                if tables and not {"studies", "trials", "version_info"} <= tables:
                    raise sqlite3.DatabaseError(f"it holds {', '.join(sorted(tables))}")
                # Where the disk cannot do this, SQLite keeps its older journal, which also serves.
                connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.DatabaseError as error:
            raise StudyError(
                f"{path} must be a study file, which is an SQLite database made by Optuna: {error};"
                " choose another file, or a name that does not exist yet"
            ) from error

    def _open_storage(self) -> optuna.storages.RDBStorage:
        import optuna
        from optuna.exceptions import OptunaError
        from sqlalchemy.exc import SQLAlchemyError

        url = f"sqlite:///{self.path}" if self.path is not None else self.where
        options = {"connect_args": {"timeout": _BUSY_S}} if self.path is not None else None
        try:
            with quiet_optuna():
                return optuna.storages.RDBStorage(url, engine_kwargs=options)
        except (SQLAlchemyError, OptunaError, ImportError, RuntimeError) as error:
            raise StudyError(f"{self.where} cannot be opened as a study file: {error}") from error

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
                    f"{self.where} holds a study {self.name!r} that is no fit of the workbench; "
                    "choose another name"
                )
            study.set_user_attr(PROBLEM, dict(problem))
            return study
        differences = _differences(stored, json.loads(json.dumps(problem)))
        if differences:
            raise StudyError(
                f"the study {self.name!r} in {self.where} was made for another problem: "
                f"{'; '.join(differences)}; choose another name, or the settings it was made with"
            )
        return study


@contextlib.contextmanager
def quiet_optuna() -> Iterator[None]:
    """Keep Optuna from announcing each study on stderr, and leave its setting as it was."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _stored(trial: optuna.trial.FrozenTrial) -> StoredTrial:
    if trial.value is None:
        raise StudyError(
            f"trial {trial.number} of the study has no value (its state is {trial.state.name}); "
            "somebody else ran this study; choose another name"
        )
    began, ended = trial.datetime_start, trial.datetime_complete
    return StoredTrial(
        trial.number,
        dict(trial.params),
        trial.value,
        str(trial.user_attrs.get(INVALID, "")),
        (ended - began).total_seconds() if began is not None and ended is not None else 0.0,
    )


def _differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return what differs between two problems, in words; the release may."""
    return [
        f"{key} was {_short(stored.get(key))} and is {_short(asked.get(key))}"
        for key in sorted({*stored, *asked})
        if key != "workbench" and stored.get(key) != asked.get(key)
    ]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _sqlite_path(where: str | Path) -> Path | None:
    """Return the path of an SQLite file, None for the address of another database.

    Raises:
        StudyError: it names a database in memory, which could not be resumed.
    """
    text = str(where)
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    elif "://" in text:
        return None
    if text in ("", ":memory:"):
        raise StudyError(
            "a study must be a file, so that it can be resumed; leave study=None for a fit that "
            "is not kept"
        )
    return Path(text).expanduser()


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise StudyError(f"a study must be a file; {path} is a folder; add a file name to it")
    if not path.absolute().parent.is_dir():
        raise StudyError(f"the folder {path.parent} must exist to hold {path.name}; make it first")


def _connect(path: Path) -> sqlite3.Connection:
    # The fit may run in another thread than the one that opened the study; one writes at a time.
    connection = sqlite3.connect(
        path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
    )
    # With the write-ahead log, NORMAL loses nothing when a process dies and stays consistent when
    # the machine does; it saves a flush to the disk with every trial.
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _schema(path: Path) -> int:
    with contextlib.closing(_connect(path)) as connection:
        (version,) = connection.execute("SELECT schema_version FROM version_info").fetchone()
    return int(version)


@contextlib.contextmanager
def _hold(path: Path, name: str) -> Iterator[None]:
    """Hold the study of that name until the context ends, or this process does.

    The lock is SQLite's own, on a small file beside the study: it works wherever the study file
    does and the system releases it with the process, however that ends.
    """
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    lock = path.with_name(f".{path.name}.{digest}.lock")
    try:
        connection = sqlite3.connect(
            lock, timeout=0.0, isolation_level=None, check_same_thread=False
        )
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise StudyError(
                f"{path} cannot be written: {error}; choose a folder you may write to"
            ) from error
        raise StudyError(
            f"the study {name!r} in {path} is being run by another notebook or process; stop it "
            "there, or choose another name: several studies may share the file"
        ) from error
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        connection.close()


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")
