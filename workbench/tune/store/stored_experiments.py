"""Reading stored experiments without holding a lock, while others run them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.errors import StudyError
from workbench.storage.database import locate
from workbench.storage.row_table import RowTable
from workbench.suggestions import did_you_mean
from workbench.tune.result import TuningResult
from workbench.tune.space.space import TuningSpace
from workbench.tune.store.database import KIND, StoredRuns, alive, finished_runs, read_log
from workbench.tune.store.run_record import RunRecord


@dataclass(frozen=True)
class StoredExperiment:
    """The state of an experiment in a database."""

    name: str
    problem: Mapping[str, Any]  # what is tuned, and how
    runs: int  # finished
    running: int  # pending, in processes that are alive
    budget: int | None  # of the last session; None: none yet
    stop_reason: str  # empty if it has not ended

    @property
    def state(self) -> str:
        """``running``, ``finished``, or ``stopped`` where it can be resumed."""
        if self.running:
            return "running"
        return "finished" if self.stop_reason else "stopped"


def stored_experiments(where: str | Path) -> tuple[StoredExperiment, ...]:
    """Return the experiments in a database, by name; holds no lock."""
    table = RowTable(where, KIND)
    found = []
    for name in table.names():
        sessions, stop_reason = read_log(table, name)
        _, begun = StoredRuns(table, name).read()
        found.append(
            StoredExperiment(
                name,
                table.stored_problem(name) or {},
                finished_runs(table, name),
                len(alive(table.database, name, begun)),
                _budget(sessions),
                stop_reason,
            )
        )
    return tuple(found)


def load_result(where: str | Path, name: str | None = None) -> TuningResult:
    """Return a stored experiment's result so far; holds no lock; ``name`` None: the only one."""
    name = find_experiment(where, name).name
    table = RowTable(where, KIND)
    problem = table.stored_problem(name) or {}
    sessions, stop_reason = read_log(table, name)
    ended, begun = StoredRuns(table, name).read()
    return TuningResult(
        name=name,
        space=TuningSpace.from_dict(problem["space"]),
        records=tuple(_counted(ended)),
        minimise=bool(problem["minimise"]),
        label=str(problem["label"]),
        unit=str(problem["unit"]),
        aggregation=str(problem["aggregation"]),
        stop_reason=stop_reason,
        settings={**problem, "budget": _budget(sessions)},
        sessions=sessions,
        pending=tuple(run.configuration for run in alive(table.database, name, begun)),
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
