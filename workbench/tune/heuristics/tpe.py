"""The tree-structured Parzen estimator of Optuna, on a study in memory made of the history."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.checks import whole
from workbench.storage.optuna_log import quiet_optuna
from workbench.tune.heuristics.heuristic import Proposal, generator, random_neighbour
from workbench.tune.history import History
from workbench.tune.space.space import Choices, Configuration, Grid, Range, TuningSpace, Value

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

_REDRAWS = 30  # where rules allow one configuration in ten, all fail one time in 24 (0.9**30)
_NEUTRAL = 6  # a stream of ``generator``, no other's
_MOST_CANDIDATES = 100_000  # a proposal after 60 runs takes 4 s then; with 24 it takes 0.1 s


class TPE:
    """Optuna's multivariate ``TPESampler`` (Bergstra et al. 2011; Falkner et al. 2018).

    One trial per configuration: pruned ones rank by their bound, behind all complete ones; failed
    ones last; pending ones are running trials (the constant liar).
    """

    def __init__(
        self, space: TuningSpace, seed: int = 0, *, startup: int = 10, candidates: int = 24
    ) -> None:
        whole(startup, "startup", 1)
        whole(candidates, "candidates", 1, _MOST_CANDIDATES)
        self._space = space
        self._seed = seed
        self._startup = startup  # random configurations first, initial points included
        self._candidates = candidates  # draws per proposal, of which the best is taken
        self._distributions: dict[str, BaseDistribution] | None = None

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return the next configuration by TPE."""
        import optuna

        rng = generator(self._seed, history.step, attempt)
        sampler = optuna.samplers.TPESampler(
            n_startup_trials=self._startup,
            n_ei_candidates=self._candidates,
            seed=int(rng.integers(2**31)),
            multivariate=True,
            constant_liar=True,
        )
        study = _silent_study(sampler)
        study.add_trials(self._trials(history))
        for _ in range(_REDRAWS):
            found = self._suggested(study.ask())
            if self._space.contains(found):
                return found
        best = history.aggregated().best()
        if best is None:
            return self._space.sample(rng)
        return random_neighbour(self._space, history.aggregated().configurations[best], rng)

    def _suggested(self, trial: Any) -> Proposal:
        values: Proposal = {}
        for name, axis in self._space.axes.items():
            if isinstance(axis, Choices):
                values[name] = axis.values[trial.suggest_categorical(name, _indices(axis))]
            elif isinstance(axis, Grid):
                values[name] = axis.values[trial.suggest_int(name, 0, len(axis.values) - 1)]
            elif axis.integer:
                values[name] = trial.suggest_int(name, int(axis.low), int(axis.high), log=axis.log)
            else:
                values[name] = trial.suggest_float(name, axis.low, axis.high, log=axis.log)
        return self._space.canonical(values)

    def _trials(self, history: History) -> list[Any]:
        from optuna.trial import TrialState, create_trial

        table = history.aggregated()
        distributions = self._all_distributions()
        trials = []
        for row, configuration in enumerate(table.configurations):
            loss, known = float(table.losses[row]), bool(table.known[row])
            bound = {0: loss} if math.isfinite(loss) else {}
            trials.append(
                create_trial(
                    state=TrialState.COMPLETE if known else TrialState.PRUNED,
                    value=loss if known else None,
                    intermediate_values=None if known else bound,
                    params=self._parameters(configuration, row),
                    distributions=distributions,
                )
            )
        for row, configuration in enumerate(history.pending, start=len(trials)):
            trials.append(
                create_trial(
                    state=TrialState.RUNNING,
                    params=self._parameters(configuration, row),
                    distributions=distributions,
                )
            )
        return trials

    def _parameters(self, configuration: Configuration, row: int) -> dict[str, Any]:
        """Return the values for Optuna, random ones for parameters that do not apply."""
        # Optuna's own way, its option ``group``, is experimental.
        rng: np.random.Generator | None = None
        found: dict[str, Any] = {}
        for name, axis in self._space.axes.items():
            value: Value | None = configuration[name]
            if not (axis.contains(value) and self._space.active(name, configuration)):
                if isinstance(axis, Choices) or value is None:
                    rng = rng or generator(self._seed, row, 0, _NEUTRAL)
                    value = axis.sample(rng)
                else:
                    # A default may lie beside the axis: the nearest value stands for it.
                    value = axis.decode(np.array(axis.encode(value)))
            if isinstance(axis, Range):
                found[name] = value
            else:
                found[name] = [*axis.values].index(value)
        return found

    def _all_distributions(self) -> dict[str, BaseDistribution]:
        from optuna.distributions import (
            CategoricalDistribution,
            FloatDistribution,
            IntDistribution,
        )

        if self._distributions is None:
            self._distributions = {}
            for name, axis in self._space.axes.items():
                found: BaseDistribution
                if isinstance(axis, Grid):
                    found = IntDistribution(0, len(axis.values) - 1)
                elif isinstance(axis, Choices):
                    found = CategoricalDistribution(_indices(axis))
                elif axis.integer:
                    found = IntDistribution(int(axis.low), int(axis.high), log=axis.log)
                else:
                    found = FloatDistribution(axis.low, axis.high, log=axis.log)
                self._distributions[name] = found
        return self._distributions


def _indices(axis: Choices) -> tuple[int, ...]:
    return tuple(range(len(axis.values)))


def _silent_study(sampler: Any) -> Any:
    import optuna

    with quiet_optuna():  # one line for each proposal would bury everything else
        return optuna.create_study(sampler=sampler)
