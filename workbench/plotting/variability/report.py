"""All figures of a report on the runs of one program, one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import LayoutDOM

from workbench.plotting.grid import stacked
from workbench.plotting.variability.blame import describe_blame, plot_blame
from workbench.plotting.variability.deviation import describe_deviation, plot_deviation
from workbench.plotting.variability.forecast import plot_forecast
from workbench.plotting.variability.forecast_grid import describe_forecast_grid, plot_forecast_grid
from workbench.plotting.variability.leakage import plot_leakage
from workbench.plotting.variability.long_forecast import plot_long_forecast
from workbench.plotting.variability.mean_steps import plot_mean_steps
from workbench.plotting.variability.relevance_cause import plot_relevance_and_cause
from workbench.plotting.variability.routine_times import plot_routine_times

if TYPE_CHECKING:
    from workbench.variability import VariabilityReport


def plot_variability_report(found: VariabilityReport) -> LayoutDOM:
    """Return the figures of all analyses.

    Args:
        found: of ``workbench.variability.report``.
    """
    parts: list[LayoutDOM] = [plot_mean_steps(found.mean)]
    if found.routines is not None:
        parts.append(plot_routine_times(found.routines))
    parts += [plot_blame(found.blame), plot_deviation(found.deviation)]
    if found.cause is not None:
        parts.append(plot_relevance_and_cause(found.cause))
    for grid in (found.forecasts, found.timed_forecasts):
        if grid is not None:
            parts.append(plot_forecast_grid(grid))
    if found.importance is not None:
        parts.append(plot_forecast(found.importance))
    if found.leakage is not None:
        parts.append(plot_leakage(found.leakage))
    if found.long_run is not None:
        parts.append(plot_long_forecast(found.long_run))
    return stacked(*parts)


def describe_variability_report(found: VariabilityReport) -> str:
    """Return sentences on who slows the runs down, which counters tell, and on the forecast.

    Args:
        found: of ``workbench.variability.report``.
    """
    parts = [
        f"The slowest of {len(found.runs)} runs took {found.slowest:.2f} times as long as the "
        "fastest.",
        describe_blame(found.blame),
        describe_deviation(found.deviation),
    ]
    if found.forecasts is not None:
        parts.append(describe_forecast_grid(found.forecasts))
    return " ".join(parts)
