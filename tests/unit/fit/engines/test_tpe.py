"""The trials are those of Optuna's own sampler, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution

from workbench.fit import EXCESSIVE_LOSS, LOSSES, SearchSpace
from workbench.fit.engines import FitProblem
from workbench.fit.engines.tpe import TPEEngine, UnivariateTPEEngine
from workbench.models import SNAPPR
from workbench.storage.optuna_log import quiet_optuna


class PlainTPE:
    """The same search by a new ``TPESampler`` for each trial, which finds out its space."""

    def __init__(self, problem: FitProblem, multivariate: bool) -> None:
        self.problem = problem
        self.multivariate = multivariate
        self.dimensions = {d.key: d for d in problem.space.dimensions}
        self.distributions: dict[str, Any] = {
            key: FloatDistribution(float(d.clip(d.low)), float(d.clip(d.high)), log=d.log)
            for key, d in sorted(self.dimensions.items())
        }
        self.trials: list[optuna.trial.FrozenTrial] = []

    def propose(self) -> dict[str, float | int]:
        seed = np.random.SeedSequence((self.problem.seed, len(self.trials))).generate_state(1)[0]
        sampler = optuna.samplers.TPESampler(seed=int(seed), multivariate=self.multivariate)
        with quiet_optuna():
            study = optuna.create_study(sampler=sampler)
        study.add_trials(self.trials)
        drawn = study.ask(self.distributions).params
        return {key: d.clip(d.snap(drawn[key])) for key, d in self.dimensions.items()}

    def tell(self, values: dict[str, float | int], loss: float) -> None:
        params = {key: float(values[key]) for key in self.distributions}
        self.trials.append(
            optuna.trial.create_trial(params=params, distributions=self.distributions, value=loss)
        )


@pytest.mark.parametrize("multivariate", [True, False])
def test_the_trials_are_those_of_optunas_own_sampler(multivariate: bool) -> None:
    space = SearchSpace.for_model(SNAPPR())
    # Parameters by themselves are drawn one after the other: a few, one of each kind, will do.
    for key in () if multivariate else space.keys[4:]:
        space = space.fix(key)
    problem = FitProblem(space, 5, [], np.ones(2), (1, 2), LOSSES["rmsre"])
    engine = TPEEngine if multivariate else UnivariateTPEEngine
    ours, theirs = engine(problem), PlainTPE(problem, multivariate)
    for _ in range(30):
        values = ours.propose()
        assert values == theirs.propose()
        x = np.array([space[key].position(value) for key, value in values.items()])
        # A fifth refused, and ties: the order of equal losses is part of the sampler.
        loss = EXCESSIVE_LOSS if x[0] > 0.8 else round(float(np.square(x - 0.3).sum()), 1)
        ours.tell(values, loss, lambda: None)
        theirs.tell(values, loss)


def test_optunas_logging_level_is_put_back_whatever_thread_leaves_first() -> None:
    before = optuna.logging.get_verbosity()
    for first in (0, 1):
        inside = [quiet_optuna(), quiet_optuna()]
        for one in inside:
            one.__enter__()
        for one in (inside[first], inside[1 - first]):
            assert optuna.logging.get_verbosity() == optuna.logging.ERROR
            one.__exit__(None, None, None)
        assert optuna.logging.get_verbosity() == before
