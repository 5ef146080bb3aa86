"""The only code that depends on Optuna beyond its public interface: its tables and its TPE.

2000 trials of a fit shall take at most 60 s of the processor. With TPE and SNAPPR they take 24 to
31 s on the slowest of the shipped curves (``make bench``, row 5), of which 14 to 20 s propose. By
public ways alone they would take 43 s more (``pytest -s tests/benchmarks/test_fit.py -k ways``):

=======  ======  ================================================================
seconds  here    by the public interface
=======  ======  ================================================================
store    0.3     31.9, ``add_trial``; ``add_trials`` calls it for each trial
propose  13.4    24.9, ``TPESampler.sample_relative`` on a study in memory
read     0.01    0.95, ``get_trials``; a study's table reads hundreds of fits
=======  ======  ================================================================

``JournalStorage`` would store them in 1.5 s, but ``sqlite:///`` does not open its file, each reader
parses the trials of all its studies, and a process that is killed while it writes a line leaves a
file that takes no more trials. ``tests/unit/storage/test_optuna_internals.py`` fails on a release
of Optuna whose tables or sampler are not those known here.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import sqlalchemy
    from numpy.typing import NDArray
    from optuna.distributions import BaseDistribution, FloatDistribution

KNOWN_SCHEMA = 12
"""The version of Optuna's tables that is read and written here."""

STUDY_TABLES = frozenset({"studies", "trials", "version_info"})
"""Names of tables in every database of Optuna's."""


def has_known_tables(execute: Callable[[str], Any]) -> bool:
    """Return whether a connection's ``execute`` reaches tables of the known version."""
    (version,) = execute("SELECT schema_version FROM version_info").fetchone()
    return int(version) == KNOWN_SCHEMA


def has_tables(connection: sqlalchemy.Connection) -> bool:
    """Return whether a database has tables of Optuna's, of whatever version."""
    import sqlalchemy

    return sqlalchemy.inspect(connection).has_table("studies")


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
    loss: float,
    *,
    began: datetime,
    parameters: Iterable[tuple[str, float, str]],  # name, internal value, distribution as JSON
    attributes: Mapping[str, Any],
) -> None:
    """Write a finished trial within the caller's transaction."""
    trial = connection.execute(
        "INSERT INTO trials (number, study_id, state, datetime_start, datetime_complete)"
        " VALUES (?, ?, 'COMPLETE', ?, ?)",
        (number, study, _timestamp(began), _timestamp(datetime.now())),
    ).lastrowid
    connection.execute(
        "INSERT INTO trial_values (trial_id, objective, value, value_type)"
        " VALUES (?, 0, ?, 'FINITE')",
        (trial, loss),
    )
    connection.executemany(
        "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json)"
        " VALUES (?, ?, ?, ?)",
        [(trial, *parameter) for parameter in parameters],
    )
    connection.executemany(
        "INSERT INTO trial_user_attributes (trial_id, key, value_json) VALUES (?, ?, ?)",
        [(trial, key, json.dumps(value)) for key, value in attributes.items()],
    )


def count_trials(
    connection: sqlalchemy.Connection, names: Sequence[str]
) -> Sequence[tuple[Any, ...]]:
    """Return name, number of trials with a value, and least value of the studies that exist."""
    import sqlalchemy

    query = _query(
        "SELECT s.study_name, COUNT(v.value), MIN(v.value) FROM studies s"
        " LEFT JOIN trials t ON t.study_id = s.study_id"
        " LEFT JOIN trial_values v ON v.trial_id = t.trial_id"
        " WHERE s.study_name IN :names GROUP BY s.study_name"
    ).bindparams(sqlalchemy.bindparam("names", expanding=True))
    return connection.execute(query, {"names": list(names)}).all()


def find_study(connection: sqlalchemy.Connection, name: str) -> int | None:
    """Return the id of a study, None if there is none of that name."""
    query = _query("SELECT study_id FROM studies WHERE study_name = :name")
    found: int | None = connection.execute(query, {"name": name}).scalar()
    return found


def read_study_attribute(connection: sqlalchemy.Connection, study: int, key: str) -> Any:
    """Return an attribute of a study, None if it has none of that name."""
    query = _query(
        "SELECT value_json FROM study_user_attributes WHERE study_id = :study AND key = :key"
    )
    text = connection.execute(query, {"study": study, "key": key}).scalar()
    return None if text is None else json.loads(text)


def read_values(connection: sqlalchemy.Connection, study: int) -> Sequence[tuple[Any, ...]]:
    """Return id, value, start and end of the trials with a value, in order."""
    query = _query(
        "SELECT t.trial_id, v.value, t.datetime_start, t.datetime_complete FROM trials t"
        " JOIN trial_values v ON v.trial_id = t.trial_id"
        " WHERE t.study_id = :study ORDER BY t.number"
    )
    return connection.execute(query, {"study": study}).all()


def read_last_attribute(connection: sqlalchemy.Connection, study: int, key: str) -> Any:
    """Return that attribute of the last trial that has it, None if no trial does."""
    query = _query(
        "SELECT a.value_json FROM trial_user_attributes a"
        " JOIN trials t ON t.trial_id = a.trial_id"
        " WHERE t.study_id = :study AND a.key = :key ORDER BY t.number DESC LIMIT 1"
    )
    text = connection.execute(query, {"study": study, "key": key}).scalar()
    return None if text is None else json.loads(text)


def read_parameters(connection: sqlalchemy.Connection, trial: int) -> dict[str, float | int]:
    """Return the parameters of the trial with that id."""
    from optuna.distributions import json_to_distribution

    query = _query(
        "SELECT param_name, param_value, distribution_json FROM trial_params"
        " WHERE trial_id = :trial ORDER BY param_id"
    )
    rows = connection.execute(query, {"trial": trial}).all()
    return {key: json_to_distribution(text).to_external_repr(value) for key, value, text in rows}


@functools.cache
def array_tpe() -> Any:
    """Return a TPESampler whose ``draw`` takes arrays: a space that is known, no open trials."""
    import numpy as np
    from optuna.samplers import TPESampler
    from optuna.samplers._tpe.sampler import default_gamma

    class ArrayTPE(TPESampler):
        """TPE over a space that is known and trials that all ended, without a study."""

        # Optuna sorts, checks and converts every trial anew for each proposal.

        def draw(
            self,
            space: dict[str, FloatDistribution],
            tried: NDArray[np.float64],
            losses: NDArray[np.float64],
        ) -> dict[str, float]:
            n = len(losses)
            if n < self._n_startup_trials:
                independent = self._random_sampler.sample_independent
                nothing: Any = None  # neither study nor trial is used
                return {
                    key: float(independent(nothing, nothing, key, distribution))
                    for key, distribution in space.items()
                }
            good = np.zeros(n, np.bool_)
            good[np.argsort(losses, kind="stable")[: default_gamma(n)]] = True
            columns = dict(zip(space, tried.T, strict=True))
            together = [list(space)] if self._multivariate else [[key] for key in space]
            drawn: dict[str, float] = {}
            for keys in together:
                part: dict[str, BaseDistribution] = {key: space[key] for key in keys}
                below, above = (
                    self._parzen_estimator_cls(
                        {key: columns[key][chosen] for key in keys},
                        part,
                        self._parzen_estimator_parameters,
                    )
                    for chosen in (good, ~good)
                )
                candidates = below.sample(self._rng.rng, self._n_ei_candidates)
                worth = self._compute_acquisition_func(candidates, below, above)
                drawn |= self._compare(candidates, worth)
            return drawn

    return ArrayTPE


def _query(text: str) -> sqlalchemy.TextClause:
    import sqlalchemy

    return sqlalchemy.text(text)


def _timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S.%f")
