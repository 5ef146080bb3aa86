"""What a result says, and that files of it hold everything."""

from __future__ import annotations

import csv
import json
import math
import re
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.tune.tuned import SPACE, bowl, noisy
from workbench.errors import ParameterError, ParseError
from workbench.tune import Choices, Grid, TuningSpace
from workbench.tune.experiment import tune
from workbench.tune.history import History
from workbench.tune.result import TuningResult
from workbench.tune.runners import Function
from workbench.tune.store.run_record import RunRecord


@pytest.fixture(scope="module")
def result() -> TuningResult:
    return tune(
        SPACE,
        Function(noisy),
        heuristic="random",
        budget=120,
        resampling="static",
        pruning=("estimator", {"estimator": 0.9}),
    )


def test_importance_finds_what_matters() -> None:
    space = TuningSpace(
        {
            "much": Grid.of(list(range(8))),
            "little": Choices(("x", "y")),
            "nothing": Grid.of(list(range(8))),
            "once": Grid.of([1]),
        }
    )
    found = tune(
        space,
        Function(lambda c: 10.0 * c["much"] + 3.0 * (c["little"] == "x")),
        heuristic="random",
        budget=150,
    ).importance()
    assert next(iter(found)) == "much"
    assert found["much"] > 0.6
    assert found["once"] == 0.0
    assert sum(found.values()) == pytest.approx(1.0)


def test_importance_has_intervals_that_narrow_with_configurations() -> None:
    space = TuningSpace({name: Grid.of(list(range(8))) for name in ("much", "little")})
    runner = Function(lambda c: 10.0 * c["much"] + c["little"])

    def width(budget: int) -> float:
        found = tune(space, runner, heuristic="random", budget=budget, most_runs=1)
        intervals = found.importance_intervals()
        assert intervals == found.importance_intervals(rng=0), "the same draws each time"
        low, high = intervals["much"]
        assert 0.0 <= low <= found.importance()["much"] <= high <= 1.0
        return high - low

    assert width(60) < width(20)


def test_importance_is_not_made_up_of_nothing() -> None:
    few = tune(SPACE, Function(noisy), heuristic="random", budget=19, most_runs=1)
    assert len({tuple(r.run.configuration.values()) for r in few.records}) == 19
    assert few.importance() == few.importance_intervals() == {}
    enough = tune(SPACE, Function(noisy), heuristic="random", budget=20, most_runs=1)
    assert enough.importance() != {}
    level = tune(SPACE, Function(lambda c: 1.0), heuristic="random", budget=20)
    assert level.importance() == {}


def test_a_frame_has_one_row_a_run(result: TuningResult) -> None:
    frame = result.to_frame()
    assert len(frame) == 120
    assert list(frame.columns[:5]) == ["number", "a", "b", "c", "value"]
    assert np.allclose(frame["value"], result.history.values, equal_nan=True)
    assert np.allclose(frame["best_so_far"], result.best_so_far(), equal_nan=True)
    assert set(frame["status"]) == {"complete", "pruned"}


def test_a_parameter_may_have_the_name_of_a_column() -> None:
    space = TuningSpace({"value": Grid.of([1, 2])})
    frame = tune(space, Function(lambda c: 5.0), heuristic="random", budget=2).to_frame()
    assert set(frame["parameter value"]) <= {1, 2}
    assert set(frame["value"]) == {5.0}


def test_files_hold_everything(result: TuningResult, tmp_path: Path) -> None:
    with result.write_csv(tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 120
    assert float(rows[0]["value"]) == result.records[0].run.value
    again = TuningResult.load(result.save(tmp_path / "r.json"))
    assert again.to_dict() == result.to_dict()
    assert again.best == result.best
    assert again.counts == result.counts
    # No NaN, which JSON does not have.
    json.loads((tmp_path / "r.json").read_text(), parse_constant=pytest.fail)


def test_outputs_are_kept_with_their_runs(tmp_path: Path) -> None:
    ran = tune(bowl(), heuristic="random", budget=2, initial=2)
    again = TuningResult.load(ran.save(tmp_path / "r.json"))
    assert [r.stdout for r in again.records] == [r.stdout for r in ran.records]
    assert again.records[0].stdout.startswith("value ")


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"format": "something"}')
    with pytest.raises(ParseError, match=r"a saved TuningResult must have .format."):
        TuningResult.load(path)
    path.write_text('{"format": "workbench TuningResult", "version": 1}')
    with pytest.raises(ParseError, match="as to_dict writes it"):
        TuningResult.load(path)
    with pytest.raises(ParameterError, match="a run must be as to_dict writes it"):
        RunRecord.from_dict({"number": 1})


def test_the_spread_of_the_best_is_that_of_its_repeats() -> None:
    options: dict[str, Any] = {"heuristic": "random", "initial": 0, "budget": 30}
    once = tune(SPACE, Function(noisy), **options)
    assert math.isnan(once.best_spread)
    thrice = tune(SPACE, Function(noisy), resampling="static", **options)
    repeats = [run.value for run in thrice.history.runs_of(thrice.best_configuration)]
    assert len(repeats) == 3
    assert thrice.best_spread == pytest.approx(statistics.stdev(repeats))


def test_recommendation_and_improvement(result: TuningResult) -> None:
    assert result.recommended is not None
    configuration, value = result.recommended
    assert SPACE.contains(configuration)
    assert value == pytest.approx(result.best_value, rel=0.5)
    default = result.records[0].run.value
    assert result.default_value == default
    assert result.improvement == pytest.approx((default - result.best_value) / default)


def test_a_result_of_nothing_has_no_best() -> None:
    nothing = TuningResult("none", SPACE, ())
    assert nothing.best is None
    assert math.isnan(nothing.best_value)
    assert nothing.explored == 0.0
    assert nothing.recommended is None
    assert len(nothing.to_frame()) == 0


def test_a_result_shows_what_is_recommended_beside_the_best() -> None:
    space = TuningSpace({"a": Grid.of(list(range(8)))}, defaults={"a": 7})
    # One lucky run of a=6 is the least; runs of a=1 and a=2 agree with one another.
    values = {7: [9.0], 6: [1.9, 8.0], 1: [2.0, 2.1, 2.0], 2: [2.2, 2.1], 4: [5.0], 5: [6.1, 6.0]}
    runs = [(a, value) for a, found in values.items() for value in found]
    history = History(space, aggregation="min")
    for a, value in runs:
        history.append({"a": a}, value)
    records = tuple(RunRecord(at, run) for at, run in enumerate(history))
    made = TuningResult("one", space, records, label="time", unit="s", aggregation="min")
    assert made.best_configuration == {"a": 6}
    assert made.recommended is not None
    configuration, value = made.recommended
    text = f"a={configuration['a']} ({value:.6g} s expected)" if configuration["a"] != 6 else "that"
    assert f"best time 1.9 s, with a=6, 78.9 % better than the default, recommended is {text}" in (
        repr(made)
    )
    table = made._repr_html_()
    assert re.findall(">([^<>]+)</t[hd]>", table) == [
        *("a", "time"),
        *("best of the runs", "6", "1.9 s (min of 2 runs)"),
        *("recommended", f"{configuration['a']}", f"{value:.6g} s expected"),
        *("default", "7", "9 s (the best is 78.9 % better)"),
    ]
    assert made.to_dict()["recommended"] == {"configuration": configuration, "value": value}
    assert TuningResult("<none>", space, ())._repr_html_().count("&lt;none&gt;") == 1
