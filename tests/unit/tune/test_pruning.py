from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.tune.history import History
from workbench.tune.pruning import make_pruning
from workbench.tune.space.axes import Grid
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace({"a": Grid(tuple(range(50)))}, defaults={"a": 3})


def history_of(*seconds: float) -> History:
    history = History(SPACE)
    for a, each in enumerate(seconds):
        history.append({"a": a}, each, seconds=each)
    return history


@for_each("name, options", [("fixed", {"seconds": 5.0}), ("default", {}), ("estimator", {})])
def test_initial_points_are_never_stopped(name: str, options: dict) -> None:
    rule = make_pruning(name, **options)
    history = history_of(1.0, 2.0, 3.0, 4.0)
    assert rule.limit_s(history, initial=True) is None
    assert rule.limit_s(history) is not None


def test_no_pruning_never_stops_a_run() -> None:
    assert make_pruning("none").limit_s(history_of(1.0)) is None


def test_the_default_run_is_the_limit_once_it_was_made() -> None:
    rule = make_pruning("default", factor=1.5)
    assert rule.limit_s(history_of(1.0, 2.0)) is None
    history = history_of(1.0, 2.0, 3.0, 8.0)
    assert rule.limit_s(history) == 12.0
    history.append({"a": 3}, 2.0, seconds=2.0, status="pruned")
    history.append({"a": 3}, 10.0, seconds=10.0)
    assert rule.limit_s(history) == 13.5


def test_without_a_default_its_run_cannot_be_the_limit() -> None:
    with pytest.raises(ParameterError, match="needs a default"):
        make_pruning("default").limit_s(History(TuningSpace({"a": Grid((1, 2))})))


@for_each(
    "estimator, limit", [("median", 2.5), ("mean", 4.0), (0.0, 1.0), (1.0, 10.0), (0.25, 1.75)]
)
def test_the_estimate_is_over_the_runs_that_ended(estimator: str | float, limit: float) -> None:
    rule = make_pruning("estimator", estimator=estimator)
    history = history_of(1.0, 2.0, 3.0, 10.0)
    history.append({"a": 9}, 0.0, seconds=0.001, status="failed")
    assert rule.limit_s(history) == pytest.approx(limit)


def test_the_median_does_not_sink_with_every_run_it_stops() -> None:
    rule = make_pruning("estimator")
    rng = np.random.default_rng(5)
    history = history_of(*rng.uniform(1.0, 2.0, 10))
    for a in range(10, 50):
        limit = rule.limit_s(history)
        assert limit is not None
        seconds = float(rng.uniform(1.0, 2.0))
        pruned = seconds > limit
        taken = min(seconds, limit)
        history.append({"a": a}, taken, seconds=taken, status="pruned" if pruned else "complete")
    last = rule.limit_s(history)
    assert last is not None and 1.2 < last < 1.6


def test_there_is_no_estimate_of_too_few_runs() -> None:
    rule = make_pruning("estimator", least=3)
    assert rule.limit_s(history_of(1.0, 2.0)) is None
    assert rule.limit_s(history_of(1.0, 2.0, 3.0)) == 2.0


@for_each(
    "name, options, key",
    [
        ("hope", {}, "pruning"),
        ("fixed", {}, "seconds"),
        ("fixed", {"seconds": 0}, "seconds"),
        ("default", {"factor": 0.0}, "factor"),
        ("estimator", {"estimator": "max"}, "estimator"),
        ("estimator", {"estimator": 1.5}, "estimator"),
        ("estimator", {"estimator": True}, "estimator"),
        ("estimator", {"least": 0}, "least"),
    ],
)
def test_what_a_rule_cannot_be_is_refused(name: str, options: dict, key: str) -> None:
    with pytest.raises(ParameterError) as error:
        make_pruning(name, **options)
    assert error.value.key == key
