"""How Optuna's own tools see the parameters of an experiment.

The configuration itself is stored beside it, as there are values that Optuna has no word for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.tune.space.space import Choices, Configuration, Grid, Range, TuningSpace

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

_MOST_CHOICES = 200


def distributions_of(space: TuningSpace) -> dict[str, BaseDistribution]:
    """Return the Optuna distribution that represents each parameter, by name."""
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    found: dict[str, BaseDistribution] = {}
    for name, axis in space.axes.items():
        if isinstance(axis, Range):
            if axis.integer:
                found[name] = IntDistribution(int(axis.low), int(axis.high), log=axis.log)
            else:
                found[name] = FloatDistribution(axis.low, axis.high, log=axis.log)
        elif isinstance(axis, Choices) or len(axis.values) <= _MOST_CHOICES:
            found[name] = CategoricalDistribution(tuple(axis.values))
        elif isinstance(axis, Grid):
            low, high = axis.values[0], axis.values[-1]
            found[name] = FloatDistribution(float(low), float(high))
    return found


def shown(
    distributions: Mapping[str, BaseDistribution], configuration: Configuration
) -> dict[str, Any]:
    """Return the values of a configuration that Optuna accepts; a default may lie off its axis."""
    from optuna.trial import create_trial

    found = {}
    for name, distribution in distributions.items():
        value = configuration[name]
        with contextlib.suppress(ValueError, TypeError):
            # Optuna raises where a distribution does not contain the value.
            create_trial(params={name: value}, distributions={name: distribution}, value=0.0)
            found[name] = value
    return found
