"""Between which times the next steps of a run lie, by how far forecasts of other runs were off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import number
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.variability.forecasting.forecast import Forecast


BAND = 0.8
"""Share of what comes that an interval should hold, unless another is asked for."""


def forecast_interval(found: Forecast, model: str, *, level: float = BAND) -> FloatArray:
    """Return an interval of the total time of the next k steps for each window.

    It is the forecast times two quantiles of the actual time over the forecast one, of the windows
    of all runs in other folds: what came of a run, or of one in its fold, has no part in it
    (cross-conformal prediction; Vovk, *Cross-conformal predictors*, 2015). Each run counts alike.

    Args:
        found: of ``workbench.variability.forecast``.
        model: one of ``found.models``.
        level: share of what comes that the intervals should hold, in the mean over runs.

    Returns:
        float64[windows, 2], s, the lower and the upper end.

    Raises:
        ParameterError: there is no such model, or ``level`` is not from 0 to 1.
    """
    level = number(level, "level", 0.0, 1.0)
    predicted = found.predicted_s[model_row(found, model)]
    ratio = found.actual_s / predicted
    ends = np.empty((len(ratio), 2))
    for fold in range(found.folds):
        held = found.fold == fold
        _, run, count = np.unique(found.run[~held], return_inverse=True, return_counts=True)
        quantiles = np.quantile(
            ratio[~held],
            [(1 - level) / 2, (1 + level) / 2],
            weights=1.0 / count[run],
            method="inverted_cdf",
        )
        ends[held] = predicted[held, None] * quantiles
    return ends


def model_row(found: Forecast, model: str) -> int:
    """Return the place of a model; ParameterError if the forecast has no such model."""
    if model not in found.models:
        raise ParameterError(
            f"model must be one of {', '.join(found.models)}; got {model!r}"
            f"{did_you_mean(model, found.models)}",
            key="model",
        )
    return found.models.index(model)
