"""Our books, Optuna's estimator: the trials are those of Optuna's own sampler, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution

from workbench.fit import EXCESSIVE_LOSS, LOSSES, SearchSpace
from workbench.fit.engines import FitProblem
from workbench.fit.engines.tpe import TPEEngine, UnivariateTPEEngine
from workbench.models import PISCES, SNAPPR, NetworkModel


class PublicTPE:
    """The same search through Optuna's public interface: a study that is asked and told."""

    def __init__(self, problem: FitProblem, multivariate: bool) -> None:
        self.problem = problem
        self.multivariate = multivariate
        self.first = problem.first_values if multivariate else []
        self.dimensions = {d.key: d for d in problem.space.dimensions}
        self.distributions: dict[str, Any] = {
            key: FloatDistribution(float(d.clip(d.low)), float(d.clip(d.high)), log=d.log)
            for key, d in sorted(self.dimensions.items())
        }
        self.study = optuna.create_study()
        self.number = 0

    def propose(self) -> dict[str, float | int]:
        if self.number < len(self.first):
            return self.first[self.number]
        seed = np.random.SeedSequence((self.problem.seed, self.number)).generate_state(1)[0]
        self.study.sampler = optuna.samplers.TPESampler(
            seed=int(seed), multivariate=self.multivariate
        )
        trial = self.study.ask(self.distributions)
        self.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return {key: d.clip(d.snap(trial.params[key])) for key, d in self.dimensions.items()}

    def tell(self, values: dict[str, float | int], loss: float) -> None:
        params = {key: float(values[key]) for key in self.distributions}
        self.study.add_trial(
            optuna.trial.create_trial(params=params, distributions=self.distributions, value=loss)
        )
        self.number += 1


@pytest.mark.parametrize(
    ("model", "multivariate"),
    [
        (SNAPPR(), True),
        (SNAPPR(), False),
        # Other parameters of the same kinds.
        pytest.param(PISCES(), True, marks=pytest.mark.deep),
        pytest.param(PISCES(), False, marks=pytest.mark.deep),
    ],
)
def test_the_trials_are_those_of_optunas_own_sampler(
    model: NetworkModel, multivariate: bool
) -> None:
    space = SearchSpace.for_model(model)
    # One parameter after the other is drawn, so a few of them, one of each kind, will do.
    for key in () if multivariate else space.keys[4:]:
        space = space.fix(key)
    first = [{d.key: float(model.get(d.key)) for d in space.dimensions}]
    problem = FitProblem(space, 5, first, np.ones(2), (1, 2), LOSSES["rmsre"])
    engine = TPEEngine if multivariate else UnivariateTPEEngine
    ours, theirs = engine(problem), PublicTPE(problem, multivariate)
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        # past 250 trials the number of good ones stops growing, past 256 our arrays have grown
        for _ in range(300):
            values = ours.propose()
            assert values == theirs.propose()
            x = np.array([space[key].position(value) for key, value in values.items()])
            # a fifth refused, and ties: the order of equal losses is part of the sampler
            loss = EXCESSIVE_LOSS if x[0] > 0.8 else round(float(np.square(x - 0.3).sum()), 1)
            ours.tell(values, loss, lambda: None)
            theirs.tell(values, loss)
    finally:
        optuna.logging.set_verbosity(verbosity)
