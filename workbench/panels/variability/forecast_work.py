"""Forecasts in the background: by ridge at once, then by all models, with progress and Stop."""

from __future__ import annotations

from workbench.errors import SimulationHalted
from workbench.panels.variability.forecast_state import ForecastState
from workbench.panels.variability.step_sources import StepSource
from workbench.tasks import Task
from workbench.variability import Forecast, forecast

FAST = ("ridge",)
"""Models that take less than a second."""


def make_forecast(source: StepSource, state: ForecastState, task: Task) -> Forecast:
    """Return the forecasts by all models, by the fast ones once stopped.

    Those by the fast models are the job's ``partial`` meanwhile.
    """
    quiet = task.part()
    first = forecast(source.steps, models=FAST, task=quiet, **state.options)
    task.partial_from(lambda: first)
    try:
        return forecast(source.steps, task=task, **state.options)
    except SimulationHalted:
        return first


def is_whole(found: Forecast) -> bool:
    """Return whether a forecast has more than the fast models."""
    return "trees" in found.models
