"""What a search leaves behind when something fails in the middle of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from tests.unit.tune.tuned import SPACE, bowl, noisy
from workbench.errors import ParameterError, StudyError
from workbench.tune.component.invocation import Invocation
from workbench.tune.experiment import Experiment
from workbench.tune.history import History
from workbench.tune.next_run import Chooser
from workbench.tune.runners import Function
from workbench.tune.settings import SearchSettings
from workbench.tune.space.axes import Grid
from workbench.tune.space.constraints import Configuration
from workbench.tune.space.space import TuningSpace
from workbench.tune.store.memory import MemoryStore
from workbench.tune.store.stored_experiments import load_result


def test_a_run_that_cannot_be_started_leaves_those_beside_it_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "t.db"
    invocation = Experiment.invocation

    def refusing(self: Experiment, configuration: Configuration) -> Invocation:
        if configuration != self.space.default:
            raise ParameterError("it cannot be passed")
        return invocation(self, configuration)

    options: dict[str, Any] = {"heuristic": "random", "initial": 2, "jobs": 2, "budget": 4}
    with Experiment(bowl(), store=where, **options) as experiment:
        monkeypatch.setattr(Experiment, "invocation", refusing)
        with pytest.raises(ParameterError, match="cannot be passed"):
            experiment.run()
        assert load_result(where).pending == ()
        monkeypatch.undo()
        # The first initial point would be waited for, had nobody given it back.
        assert [r.number for r in sorted_by_number(experiment)] == [0, 1, 2, 3]


def test_a_run_that_the_store_could_not_take_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "t.db"
    with Experiment(SPACE, Function(noisy), store=where, heuristic="random") as experiment:
        end = experiment._store.end

        def full(key: int, record: Any) -> None:
            if record.number == 3:
                raise StudyError("the disk is full")
            end(key, record)

        monkeypatch.setattr(experiment._store, "end", full)
        with pytest.raises(StudyError, match="the disk is full"):
            experiment.run(6)
        assert experiment.done == 3
        monkeypatch.undo()
        result = experiment.run(6)
    assert load_result(where).records == result.records
    assert [record.number for record in result.records] == list(range(6))


def test_runs_that_could_not_even_be_released_are_restarted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    experiment = Experiment(SPACE, Function(noisy), heuristic="random", initial=2)

    def silent(*_: object) -> None:
        raise StudyError("the server is away")

    monkeypatch.setattr(MemoryStore, "end", silent)
    monkeypatch.setattr(MemoryStore, "release", silent)
    with pytest.raises(StudyError, match="away"):
        experiment.run(3)
    monkeypatch.undo()
    assert [r.number for r in sorted_by_number(experiment, 3)] == [0, 1, 2]


def test_a_record_holds_the_repeat_that_the_history_counts() -> None:
    experiment = Experiment(SPACE, Function(noisy), heuristic="random", resampling="static")
    result = experiment.run(25)
    history = History(SPACE)
    history.extend(record.run for record in result.records)
    assert [record.run for record in result.records] == list(history)
    assert max(record.run.repeat for record in result.records) >= 2


def sorted_by_number(experiment: Experiment, budget: int | None = None) -> list[Any]:
    """Run an experiment to its end and return its runs in the order they began."""
    return sorted(experiment.run(budget).records, key=lambda record: record.number)


@for_each("settings", [{"default_first": False}, {"initial": 0}])
def test_pruning_by_the_default_run_needs_that_run(settings: dict[str, Any]) -> None:
    space = TuningSpace({"n": Grid((1, 2))}, defaults={"n": 1})
    with pytest.raises(ParameterError, match="needs that run; set default_first"):
        Chooser(space, SearchSettings(pruning="default", **settings))


def test_one_run_that_fails_is_not_the_end() -> None:
    space = TuningSpace({"n": Grid((1, 2, 3, 4))}, defaults={"n": 1})
    values = iter([math.nan, 2.0, 3.0, 4.0])
    with Experiment(
        space, Function(lambda _: next(values)), initial=0, heuristic="exhaustive"
    ) as experiment:
        assert experiment.run().best_value == 2.0
    with Experiment(space, Function(lambda _: math.nan), initial=0) as experiment:
        assert experiment.run().stop_reason == "none of the first 3 runs gave a value"
