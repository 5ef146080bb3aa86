"""The state of the panel, and the files it saves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workbench.panels.uq.problems import Found, Problem
from workbench.panels.uq.view import CheckChoice
from workbench.panels.uq.work import PosteriorChoice
from workbench.uq import CalibrationCheck, Prediction, Replicas


@dataclass(frozen=True)
class UncertaintyState:
    """The values of the controls."""

    problem: str
    noise: str
    held_out: int  # nodes; 0: none
    side: int  # of the torus that is predicted; 0: the held-out nodes, or the calibrated tests
    draws: int  # of each chain
    seed: int
    view: str
    made_by: str  # noise model of the check's data; empty: the fitted one
    datasets: int  # of the check

    @property
    def choice(self) -> PosteriorChoice:
        """What the chains depend on."""
        return PosteriorChoice(self.problem, self.noise, self.held_out, self.draws, self.seed)

    @property
    def check(self) -> CheckChoice:
        """What the check depends on, besides the problem."""
        return CheckChoice(self.made_by, self.noise, self.datasets, self.seed)


FILES = {
    ".csv": "each test with its measured median, the fitted model's time and, once there are "
    "chains, the prediction",
    ".json": "settings, verdict, summary of the posterior, prediction and origin of the data",
}


def tests_frame(problem: Problem, prediction: Prediction | None) -> pd.DataFrame:
    """Return one row a test of the problem, and those that are predicted but not measured."""
    prepared = problem.prepared
    frame = pd.DataFrame(
        {
            "test": prepared.replicas.tests,
            "measured median (s)": prepared.medians,
            "fitted (s)": prepared.nominal,
            "surrogate error (%)": 100 * prepared.surrogate_error,
        }
    )
    if prediction is None:
        return frame
    wide = pd.DataFrame({"test": prediction.tests, "predicted median (s)": prediction.median})
    for at, level in enumerate(prediction.levels):
        wide[f"low {100 * level:g} % (s)"] = prediction.low[at]
        wide[f"high {100 * level:g} % (s)"] = prediction.high[at]
    rows = [*frame["test"], *(test for test in prediction.tests if test not in set(frame["test"]))]
    return frame.merge(wide, on="test", how="outer").set_index("test").loc[rows].reset_index()


def json_text(
    state: UncertaintyState,
    problem: Problem,
    found: Found | None,
    predicted: tuple[Prediction, Replicas | None] | None,
    check: CalibrationCheck | None,
) -> str:
    """Return settings, verdicts and what was found as JSON."""
    content: dict[str, Any] = {
        "problem": state.problem,
        "model": problem.prepared.model,
        "data": problem.caption,
        "held_out_nodes": state.held_out,
        "posterior": None if found is None else found.posterior.to_dict(),
        "prediction": None if predicted is None else predicted[0].to_frame().to_dict("records"),
        "check": None if check is None else {"verdict": check.verdict, "seed": check.seed},
        "python": problem.python(state.noise, state.held_out, state.side, state.draws, state.seed),
    }
    return json.dumps(content, indent=1, default=float) + "\n"
