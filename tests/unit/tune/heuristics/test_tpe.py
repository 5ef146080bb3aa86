from __future__ import annotations

import logging
import math

import optuna
import pytest
from optuna.trial import TrialState

from workbench.tune.heuristics.tpe import TPE
from workbench.tune.history import History
from workbench.tune.space.axes import Choices, Grid, Range
from workbench.tune.space.space import TuningSpace

SPACE = TuningSpace(
    {
        "algorithm": Choices((0, 1, "ring", None)),
        "bytes": Grid.steps(1024, 65536, 2, "multiplicative"),
        "rate": Range(1e-3, 1e3, log=True),
        "count": Range(1, 64, log=True, integer=True),
    },
    conditions={"rate": "bytes >= 4096"},
    defaults={"algorithm": "ring", "bytes": 3000, "rate": 1.0, "count": 8},
)


def at(algorithm: object = 0, bytes: int = 4096, rate: float | None = 1.0, count: int = 8):
    return {"algorithm": algorithm, "bytes": bytes, "rate": rate, "count": count}


def test_each_configuration_is_a_trial_in_the_state_of_its_runs() -> None:
    history = History(SPACE, aggregation="mean")
    history.append(at(), 4.0)
    history.append(at(), 6.0, resampled=True)
    history.append(at("ring"), 9.0, status="pruned")
    history.append(at(None), math.nan, status="failed")
    history.pending = [at(1)]
    trials = TPE(SPACE)._trials(history)
    assert [trial.state for trial in trials] == [
        TrialState.COMPLETE,
        TrialState.PRUNED,
        TrialState.PRUNED,
        TrialState.RUNNING,
    ]
    assert trials[0].value == 5.0
    assert trials[1].intermediate_values == {0: 9.0}
    assert trials[2].intermediate_values == {}
    assert [trial.params["algorithm"] for trial in trials] == [0, 2, 3, 1]


def test_values_are_ranks_indices_and_numbers() -> None:
    parameters = TPE(SPACE)._parameters(at("ring", 4096, 2.5, 9), 0)
    assert parameters == {"algorithm": 2, "bytes": 2, "rate": 2.5, "count": 9}


def test_a_default_beside_the_grid_counts_as_the_nearest_value() -> None:
    default = SPACE.default
    assert default is not None
    assert TPE(SPACE)._parameters(default, 0)["bytes"] in (1, 2)


def test_what_does_not_apply_has_a_value_that_is_drawn_once_and_for_all() -> None:
    rows = [TPE(SPACE)._parameters(at(0, 1024, None), row)["rate"] for row in (0, 1, 0)]
    assert rows[0] == rows[2] != rows[1]
    assert all(1e-3 <= rate <= 1e3 for rate in rows)


def test_it_follows_the_values() -> None:
    space = TuningSpace({"x": Grid(tuple(range(50))), "c": Choices(("p", "q"))})
    history = History(space)
    tpe = TPE(space, 2)
    for _ in range(45):
        proposal = tpe.ask(history)
        assert proposal is not None
        off = abs(proposal["x"] - 33) + 20 * (proposal["c"] == "p")  # type: ignore[operator]
        history.append(proposal, float(off))
    assert sum(run.value < 12 for run in history.runs[30:]) >= 10


def test_optuna_tells_nothing_on_the_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = optuna.logging.get_verbosity()
    history = History(SPACE)
    for _ in range(3):
        proposal = TPE(SPACE).ask(history)
        assert proposal is not None
        history.append(proposal, 1.0)
    assert capfd.readouterr().err == ""
    assert optuna.logging.get_verbosity() == before == logging.INFO
