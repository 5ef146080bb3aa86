"""The trials of fits in a database: who may write them, and what can be read meanwhile.

Every trial is stored before the next begins, so a process that is killed loses only the trial in
flight. Readers hold nothing, so they disturb nobody; a missing database holds no fits.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.fit.losses import EXCESSIVE_LOSS
from workbench.fit.space import SearchSpace
from workbench.storage.row_table import RowTable, StoredRow

if TYPE_CHECKING:
    import pandas as pd

_KIND = "fit"
_ENDED_EARLY = "ended early"
"""State of a trial whose stored loss is a lower bound."""


@dataclass(frozen=True)
class StoredTrial:
    """One finished trial."""

    number: int  # from 0
    values: Mapping[str, float | int]  # SI by key
    loss: float
    invalid: str = ""  # reason why it could not be simulated
    seconds: float = 0.0
    ended_early: bool = False  # the true loss is at least ``loss``, see Evaluator


@dataclass(frozen=True)
class StoredProgress:
    """The progress of a stored study."""

    trials: int  # finished trials
    best_loss: float  # inf if no configuration could be simulated


@dataclass(frozen=True, eq=False)
class StoredStudy:
    """The trials of a stored study."""

    name: str
    problem: Mapping[str, Any]
    losses: NDArray[np.float64]  # (trials,), inf if it could not be simulated
    values: Mapping[str, float | int]  # SI by key of the first best trial; may be empty
    seconds: float  # time spent on the trials
    refused: str = ""  # reason of the last refusal


class StudyFile:
    """One named study, held by one process at a time; several studies may share a database."""

    def __init__(self, where: str | Path, name: str, problem: Mapping[str, Any]) -> None:
        self.name = name
        self._table = RowTable(where, _KIND)
        self.where = self._table.database.where
        self._table.prepare(name, problem)
        with contextlib.ExitStack() as opening:
            opening.enter_context(self._table.database.hold(name))
            opening.enter_context(self._table.kept_open())
            self.trials = _trials(self._table, name)
            self._closing = opening.pop_all()

    def append(self, trial: StoredTrial) -> None:
        """Write the next trial; a kill no longer loses it."""
        state = "failed" if trial.invalid else _ENDED_EARLY if trial.ended_early else "done"
        row = StoredRow(
            dict(trial.values), trial.number, state, trial.loss, trial.seconds, trial.invalid
        )
        self._table.append(self.name, row)

    def close(self) -> None:
        """Release the study; a second call has no effect."""
        self._closing.close()


def read_names(where: str | Path) -> list[str]:
    """Return the names of the studies in a database."""
    return RowTable(where, _KIND).names()


def studies(where: str | Path) -> pd.DataFrame:
    """Return the fits stored in a database, one row each, the one with most trials first.

    Columns: ``name``, ``curve``, ``model``, ``loss``, ``target``, ``seed``, ``trials`` and
    ``best_loss``; a database that does not exist has none.

    Args:
        where: SQLite file, or the address of a PostgreSQL database.

    Raises:
        StudyError: the file is of something else, or cannot be read.
    """
    import pandas as pd

    table = RowTable(where, _KIND)
    names = table.names()
    progress = read_progress(where, names)
    rows = []
    for name in names:
        problem = table.stored_problem(name) or {}
        done = progress.get(name, StoredProgress(0, math.inf))
        about = [problem.get(key, "") for key in ("curve", "model", "loss", "target", "seed")]
        rows.append((name, *about, done.trials, done.best_loss))
    columns = ["name", "curve", "model", "loss", "target", "seed", "trials", "best_loss"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("trials", ascending=False, kind="stable", ignore_index=True)


def read_progress(where: str | Path, names: Sequence[str]) -> dict[str, StoredProgress]:
    """Return the progress of the studies by name; missing ones are left out."""
    found = RowTable(where, _KIND).summaries(names)
    return {
        name: StoredProgress(count, _finite(math.inf if best is None else best))
        for name, (count, best) in found.items()
    }


def read_study(where: str | Path, name: str) -> StoredStudy | None:
    """Return the study of that name, None if there is none."""
    table = RowTable(where, _KIND)
    problem = table.stored_problem(name)
    if problem is None:
        return None
    with table.kept_open():
        # The values of one trial are enough: a study's table reads hundreds of fits.
        rows = [*table.read(name, content=False).values()]
        losses = np.array([_finite(row.value) for row in rows], np.float64)
        best = int(losses.argmin()) if len(losses) and math.isfinite(losses.min()) else None
        values = {} if best is None else table.read(name, best, best + 1)[best].content
    return StoredStudy(
        name=name,
        problem=problem,
        losses=losses,
        values=values,
        seconds=sum(row.seconds for row in rows),
        refused=next((row.message for row in reversed(rows) if row.message), ""),
    )


def stored_space(where: str | Path, name: str) -> SearchSpace:
    """Return the search space of a stored study."""
    return SearchSpace.from_dict((RowTable(where, _KIND).stored_problem(name) or {})["space"])


def read_trials(where: str | Path, name: str) -> tuple[StoredTrial, ...]:
    """Return the trials of the study of that name, in order; none if it does not exist."""
    table = RowTable(where, _KIND)
    return () if table.stored_problem(name) is None else _trials(table, name)


def _trials(table: RowTable, name: str) -> tuple[StoredTrial, ...]:
    return tuple(
        StoredTrial(
            row.number,
            row.content,
            _loss(row.value),
            row.message,
            row.seconds,
            row.state == _ENDED_EARLY,
        )
        for row in table.read(name).values()
    )


def _loss(value: float | None) -> float:
    return math.inf if value is None else value


def _finite(value: float | None) -> float:
    loss = _loss(value)
    return loss if loss < EXCESSIVE_LOSS else math.inf
