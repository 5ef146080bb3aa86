"""Rows that are written without Optuna are those that Optuna would have written."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
import pytest

from workbench.storage import database
from workbench.tune import Choices, Grid, Range, TuningSpace, environment, search
from workbench.tune.experiment import Experiment
from workbench.tune.runners import Function
from workbench.tune.store.store import load_result

SPACE = TuningSpace(
    {
        "n": Grid.of([1, 2, 4]),
        "word": Choices(("a", "b")),
        "x": Range(0.1, 10.0, log=True),
        "k": Range(1, 9, integer=True),
    },
    defaults={"n": 3, "word": "a", "x": 1.0, "k": 5},
)
SCHEMAS = [database.KNOWN_SCHEMA, -1]  # -1: tables of a release that is not known
OPTIONS: dict[str, Any] = {"heuristic": "random", "pruning": ("fixed", {"seconds": 5.0})}


def value(configuration: Any) -> tuple[float, float]:
    if configuration["k"] == 9:
        raise ValueError
    return configuration["x"], configuration["x"]


def experiment(where: Path, budget: int) -> Experiment:
    runner = Function(value)
    return Experiment(SPACE, runner, store=where, name="one", budget=budget, **OPTIONS)


def plain(where: Path) -> tuple[list[Any], set[str]]:
    """Return what is the same in every store of that search, and the attributes of the study."""
    study = optuna.load_study(study_name="one", storage=f"sqlite:///{where}")
    trials = []
    for trial in study.trials:
        said = dict(trial.user_attrs)
        for name in ("run", "begun"):
            clock = ("started", "ended", "seconds", "worker", "load", "job_id")
            said[name] = {k: v for k, v in said.get(name, {}).items() if k not in clock}
        assert trial.datetime_start is not None
        assert trial.datetime_complete is not None
        assert trial.datetime_start <= trial.datetime_complete
        trials.append(
            (trial.number, trial.state, trial.values, trial.params, trial.distributions, said)
        )
    study._storage._backend.engine.dispose()  # type: ignore[attr-defined]
    return trials, set(study.user_attrs)


def test_optuna_reads_the_same_whoever_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for schema in SCHEMAS:
        monkeypatch.setattr(database, "KNOWN_SCHEMA", schema)
        where = tmp_path / f"{schema}.db"
        with experiment(where, 30) as one:
            one.run()
        found.append(plain(where)[0])
    assert found[0] == found[1]
    assert {trial[1].name for trial in found[0]} == {"COMPLETE", "PRUNED", "FAIL"}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_what_one_process_writes_the_other_reads_and_what_was_given_back_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: int
) -> None:
    monkeypatch.setattr(database, "KNOWN_SCHEMA", schema)
    where, stop = tmp_path / "t.db", threading.Event()
    with experiment(where, 12) as first, experiment(where, 12) as second:
        first.run(4)
        # A run that is under way when the search is stopped is forgotten.
        second.run(stop=stop, on_run=lambda record: stop.set() if record.number == 6 else None)
        assert second.done == 7
        assert len(first.run(9)) == 9
        result = second.run()
    assert [record.number for record in result.records] == list(range(12))
    assert len({record.worker for record in result.records}) == 2
    assert load_result(where).records == result.records


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_order_of_runs_and_sessions_is_no_matter_of_clocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: int
) -> None:
    monkeypatch.setattr(database, "KNOWN_SCHEMA", schema)
    where, clock = tmp_path / "t.db", iter(range(1000))

    class Backwards(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) - timedelta(hours=next(clock))

    monkeypatch.setattr(search, "datetime", Backwards)
    monkeypatch.setattr(environment, "datetime", Backwards)
    for budget in (4, 7):
        with experiment(where, budget) as one:
            result = one.run()
    ended = [record.ended for record in result.records]
    assert ended == sorted(ended, reverse=True)
    assert [record.number for record in result.records] == list(range(7))
    found = load_result(where)
    assert found.records == result.records
    assert [session["budget"] for session in found.sessions] == [4, 7]
    # Optuna's own columns have its own clock.
    study = optuna.load_study(study_name="one", storage=f"sqlite:///{where}")
    assert [trial.user_attrs["ended after"] for trial in study.trials] == list(range(7))
    study._storage._backend.engine.dispose()  # type: ignore[attr-defined]
