"""The tree-structured Parzen estimator of Optuna, made repeatable.

Each trial's randomness depends on the seed and the trial's number alone.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.fit.engines.engine import FitProblem, Points, Values
from workbench.storage.optuna_log import quiet_optuna

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

_MOST_GOOD = 25  # TPESampler's documented default gamma: a tenth of the trials, 25 at most


class TPEEngine:
    """Optuna's multivariate ``TPESampler`` on a study in memory that is asked and told."""

    _multivariate = True

    def __init__(self, problem: FitProblem) -> None:
        import optuna
        from optuna.distributions import FloatDistribution

        self._problem = problem
        self._dimensions = {d.key: d for d in problem.space.dimensions}
        self._first = problem.first_values if self._multivariate else []
        # Whole numbers are searched as rounded floats: Optuna's log-scaled integers take 60 ms a
        # trial at 1000 trials, floats 7 ms (8 dimensions).
        self._distributions: dict[str, BaseDistribution] = {
            key: FloatDistribution(float(d.clip(d.low)), float(d.clip(d.high)), log=d.log)
            for key, d in sorted(self._dimensions.items())
        }
        self._sampler = _sampler_class()(self._distributions, multivariate=self._multivariate)
        with quiet_optuna():
            self._study = optuna.create_study(sampler=self._sampler)
        self._losses: list[float] = []
        self._open: Values | None = None

    def propose(self) -> Values:
        """Return the values of the next trial, the same ones until ``tell`` is called."""
        if len(self._losses) < len(self._first):
            return dict(self._first[len(self._losses)])
        if self._open is None:
            drawn = self._draw()
            self._open = {key: d.clip(d.snap(drawn[key])) for key, d in self._dimensions.items()}
        return dict(self._open)

    def tell(self, values: Values, loss: float, points: Points) -> None:
        """Record the loss of a trial; ``points`` are not simulated again."""
        from optuna.trial import create_trial

        self._study.add_trial(
            create_trial(
                params={key: float(values[key]) for key in self._distributions},
                distributions=self._distributions,
                value=loss,
            )
        )
        self._losses.append(loss)
        self._open = None

    def indifferent_above(self) -> float:
        """Return the greatest loss that can still rank as good: TPE uses ranks only."""
        if len(self._losses) < _MOST_GOOD:
            return math.inf
        return float(np.partition(self._losses, _MOST_GOOD - 1)[_MOST_GOOD - 1])

    def _draw(self) -> dict[str, float]:
        from optuna.trial import TrialState

        numbers = (self._problem.seed, len(self._losses))
        self._sampler.start(int(np.random.SeedSequence(numbers).generate_state(1)[0]))
        trial = self._study.ask(self._distributions)
        # The values that are tried are rounded, so they are told as a trial of their own.
        self._study.tell(trial, state=TrialState.FAIL)
        return trial.params


class UnivariateTPEEngine(TPEEngine):
    """TPE as ``TPESampler`` is by default: each parameter by itself, the first ten trials random.

    Section III-B of Suetterlein et al. describes it so: values are random at first, and section
    II calls TPE the approach that takes its variables as independent.
    """

    _multivariate = False


@functools.cache
def _sampler_class() -> Any:
    from optuna.samplers import BaseSampler, TPESampler

    class RepeatableTPE(BaseSampler):
        """``TPESampler`` for a space that is known, with new randomness for each trial."""

        # A TPESampler that is not told the space compares the parameters of all trials first,
        # which takes half of its time (tests/benchmarks/test_fit.py).

        def __init__(self, space: dict[str, BaseDistribution], *, multivariate: bool) -> None:
            self._known = space if multivariate else {}
            self._multivariate = multivariate

        def start(self, seed: int) -> None:
            """Take the randomness of the next trial from a seed."""
            self._tpe = TPESampler(seed=seed, multivariate=self._multivariate)

        def infer_relative_search_space(self, study: Any, trial: Any) -> Any:
            return self._known

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> Any:
            return self._tpe.sample_relative(study, trial, search_space)

        def sample_independent(
            self, study: Any, trial: Any, param_name: str, param_distribution: Any
        ) -> Any:
            return self._tpe.sample_independent(study, trial, param_name, param_distribution)

    return RepeatableTPE
