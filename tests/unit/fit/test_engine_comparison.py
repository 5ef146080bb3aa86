"""Engines side by side: the table says when each reached the reference's last loss."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.fit import ENGINES, EngineComparison, compare_engines, fit
from workbench.fit.engine_comparison import EngineRun
from workbench.measure import OSUCurve


@pytest.mark.usefixtures("toy")
def test_every_engine_and_seed_is_run_as_a_fit_would_be(machine: OSUCurve) -> None:
    compared = compare_engines(machine, "snappr", trials=30, seeds=(0, 7))
    assert [(run.engine, run.seed) for run in compared.runs] == [
        (engine, seed) for engine in ENGINES for seed in (0, 7)
    ]
    for run in compared.runs:
        result = fit(machine, "snappr", engine=run.engine, seed=run.seed, trials=30)
        assert run.best_loss.tolist() == result.convergence.tolist()
        assert (np.diff(run.seconds) > 0).all()
    frame = compared.to_frame()
    assert list(frame.columns) == ["engine", "seed", "trial", "seconds", "best_loss"]
    assert len(frame) == 30 * len(compared.runs)
    assert "tpe" in repr(compared)
    assert "snappr to toy, 30 trials, rmsre of both" in repr(compared)


def comparison() -> EngineComparison:
    def run(engine: str, best: list[float], each: float) -> EngineRun:
        return EngineRun(engine, 0, np.array(best), each * np.arange(1.0, len(best) + 1.0))

    runs = (
        run("tpe", [math.inf, 4.0, 2.0, 2.0], 1.0),
        run("least-squares", [3.0, 1.0, 1.0, 1.0], 0.5),
        run("cma-es", [3.0, 3.0, 3.0, 2.5], 0.5),
    )
    return EngineComparison("m", "snappr", "rmsre", "both", runs)


def test_the_table_counts_from_the_first_trial_that_is_as_good() -> None:
    table = comparison().table().set_index("engine")
    assert table.loc["tpe", "goal_trials"] == 3
    assert table.loc["least-squares", "goal_trials"] == 2
    assert table.loc["least-squares", "goal_seconds"] == 1.0
    assert table.loc["least-squares", "fewer_trials"] == 2.0
    assert table.loc["least-squares", "sooner"] == 4.0
    assert math.isnan(table.loc["cma-es", "sooner"])
    assert comparison().table("cma-es").set_index("engine").loc["tpe", "goal_trials"] == 3


def test_a_reference_that_was_not_run_is_refused() -> None:
    with pytest.raises(ParameterError, match="tpe, least-squares, cma-es; got 'random'"):
        comparison().table("random")
