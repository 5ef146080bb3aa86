"""What sets the best configurations of a search apart, for fits and for tuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

FEWEST_CONFIGURATIONS = 20
"""Fewest configurations for which importance is returned.

PED-ANOVA needs at least two of them, which would be more than a tenth of fewer. Samples of 10, 14,
20 and 30 of the recorded configurations of four spaces gave shares of the parameter that matters
most which differed by 0.54, 0.49, 0.50 and 0.23; intervals by resampling contained its share over
all of them in 26, 36, 32 and 28 of 40 samples: they are not confidence intervals of 90 %, and are
not called that (tests/benchmarks/test_importance.py).
"""


def ped_anova(
    places: Mapping[str, Sequence[float | str]], losses: Sequence[float]
) -> dict[str, float]:
    """Return each parameter's share in what sets the best tenth apart, largest first; sums to 1.

    PED-ANOVA (Watanabe et al. 2023) as Optuna computes it: no share of the spread of the losses.
    A place of a configuration is 0 to 1 on the parameter's axis, or a text of a choice.
    """
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    from workbench.storage.optuna_log import quiet_optuna

    varied = [name for name, column in places.items() if len(set(column)) > 1]
    if len(varied) < 2:
        return {name: float(name in varied) for name in places} if varied else {}
    distributions: dict[str, Any] = {
        name: CategoricalDistribution(sorted({str(one) for one in places[name]}))
        if isinstance(places[name][0], str)
        else FloatDistribution(0.0, 1.0)
        for name in varied
    }
    with quiet_optuna():
        study = optuna.create_study()
        study.add_trials(
            [
                optuna.trial.create_trial(
                    value=loss,
                    params={name: places[name][at] for name in varied},
                    distributions=distributions,
                )
                for at, loss in enumerate(losses)
            ]
        )
        found = get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())
    rest = {name: 0.0 for name in places if name not in found}
    return {name: float(share) for name, share in {**found, **rest}.items()}
