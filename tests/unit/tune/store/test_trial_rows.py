"""Runs are kept as trials that Optuna reads, whichever process wrote them, in whatever order."""

from __future__ import annotations

import math
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
import pytest

from workbench.tune import Choices, Grid, Range, TuningSpace, environment, search
from workbench.tune.experiment import Experiment
from workbench.tune.runners import Function
from workbench.tune.store.database import distributions_of
from workbench.tune.store.stored_experiments import load_result
from workbench.tune.store.study_rows import BEGUN, ENDED, ENDED_AFTER

SPACE = TuningSpace(
    {
        "n": Grid.of([1, 2, 4]),
        "word": Choices(("a", "b")),
        "x": Range(0.1, 10.0, log=True),
        "k": Range(1, 9, integer=True),
    },
    defaults={"n": 3, "word": "a", "x": 1.0, "k": 5},
)
OPTIONS: dict[str, Any] = {"heuristic": "random", "pruning": ("fixed", {"seconds": 5.0})}


def value(configuration: Any) -> tuple[float, float]:
    if configuration["k"] == 9:
        raise ValueError
    return configuration["x"], configuration["x"]


def experiment(where: Path, budget: int) -> Experiment:
    runner = Function(value)
    return Experiment(SPACE, runner, store=where, name="one", budget=budget, **OPTIONS)


def stored_trials(where: Path) -> list[optuna.trial.FrozenTrial]:
    storage = optuna.storages.RDBStorage(f"sqlite:///{where}")
    trials = optuna.load_study(study_name="one", storage=storage).trials
    storage.engine.dispose()
    return trials


def test_optuna_reads_every_run_as_a_trial(tmp_path: Path) -> None:
    where = tmp_path / "t.db"
    with experiment(where, 30) as one:
        records = one.run().records
    trials = stored_trials(where)
    states = {"complete": "COMPLETE", "pruned": "PRUNED", "failed": "FAIL"}
    assert [(trial.number, trial.state.name) for trial in trials] == [
        (record.number, states[record.run.status]) for record in records
    ]
    assert {trial.state.name for trial in trials} == {"COMPLETE", "PRUNED", "FAIL"}
    distributions = distributions_of(SPACE)
    for at, (trial, record) in enumerate(zip(trials, records, strict=True)):
        known = math.isfinite(record.run.value)  # failed runs have no value, nor some pruned ones
        assert trial.values == ([record.run.value] if known else None)
        # The default of n lies beside its grid, which Optuna cannot show.
        params = dict(record.run.configuration)
        if at == 0:
            assert params.pop("n") == 3
        assert trial.params == params
        assert trial.distributions == {name: distributions[name] for name in params}
        assert trial.user_attrs[ENDED] == record.to_dict()
        assert trial.user_attrs[ENDED_AFTER] == at
        assert trial.user_attrs[BEGUN]["number"] == record.number
        assert trial.datetime_start is not None
        assert trial.datetime_complete is not None
        assert trial.datetime_start <= trial.datetime_complete


def test_what_one_process_writes_the_other_reads_and_what_was_given_back_neither(
    tmp_path: Path,
) -> None:
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


def test_the_order_of_runs_and_sessions_is_no_matter_of_clocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert [trial.user_attrs[ENDED_AFTER] for trial in stored_trials(where)] == list(range(7))
