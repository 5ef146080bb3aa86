"""Where a fit looks next: Optuna's tree-structured Parzen estimator, made repeatable.

Each trial's randomness depends on the seed and the trial's number alone, so a fit that was stopped
or killed and is resumed goes on exactly as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.fit.space import Dimension, SearchSpace
from workbench.fit.storage import quiet_optuna

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import TPESampler

Values = dict[str, float | int]


class Search:
    """Proposes values and learns from what came of them.

    Args:
        space: what is searched.
        seed: makes the sequence repeatable.
        first: values to try before the estimator has its say.
    """

    def __init__(
        self, space: SearchSpace, seed: int, first: Sequence[Mapping[str, float | int]] = ()
    ) -> None:
        import optuna

        self._dimensions = {dimension.key: dimension for dimension in space.dimensions}
        self._seed = seed
        self._first = [
            {key: d.clip(point[key]) for key, d in self._dimensions.items()} for point in first
        ]
        # Whole numbers are searched as rounded floats: Optuna's log-scaled integers take 60 ms a
        # trial at 1000 trials, floats 7 ms (8 dimensions; tests/benchmarks/test_fit.py).
        self._distributions: dict[str, BaseDistribution] = {
            key: optuna.distributions.FloatDistribution(
                float(d.clip(d.low)), float(d.clip(d.high)), log=d.log
            )
            for key, d in sorted(self._dimensions.items())
        }
        self._sampler_type = _sampler_type(self._distributions, self._dimensions)
        with quiet_optuna():
            self._study = optuna.create_study()
        self._create_trial = optuna.trial.create_trial
        self._number = 0
        self._open: Any = None

    def propose(self) -> Values:
        """Return the values of the next trial, the same ones until ``tell`` answers."""
        if self._number < len(self._first):
            return dict(self._first[self._number])
        if self._open is None:
            seed = np.random.SeedSequence((self._seed, self._number)).generate_state(1)[0]
            # A sampler costs nothing to make; keeping one would let its randomness depend on how
            # many trials this process has run.
            self._study.sampler = self._sampler_type(seed=int(seed))
            self._open = self._study.ask(self._distributions)
        return {key: d.clip(self._open.params[key]) for key, d in self._dimensions.items()}

    def tell(self, values: Mapping[str, float | int], loss: float) -> None:
        """Learn the loss of a trial, proposed here or stored by an earlier run.

        Args:
            values: what was tried.
            loss: what came of it, finite.
        """
        if self._open is not None:
            self._study.tell(self._open, loss)
            self._open = None
        else:
            self._study.add_trial(
                self._create_trial(
                    params={key: float(values[key]) for key in self._distributions},
                    distributions=self._distributions,
                    value=loss,
                )
            )
        self._number += 1


def _sampler_type(
    distributions: Mapping[str, BaseDistribution], dimensions: Mapping[str, Dimension]
) -> type[TPESampler]:
    from optuna.samplers import TPESampler

    class Sampler(TPESampler):
        """Multivariate TPE over a space that is known; what it draws is what is tried."""

        def __init__(self, *, seed: int) -> None:
            super().__init__(seed=seed, multivariate=True, constant_liar=False)

        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return dict(distributions)

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
            drawn = super().sample_relative(study, trial, search_space)
            return {key: float(dimensions[key].snap(value)) for key, value in drawn.items()}

        def sample_independent(
            self, study: Any, trial: Any, param_name: str, param_distribution: Any
        ) -> Any:
            drawn = super().sample_independent(study, trial, param_name, param_distribution)
            return float(dimensions[param_name].snap(drawn))

    return Sampler
