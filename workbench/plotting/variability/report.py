"""All figures of a report on the runs of one program, one below the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bokeh.models import LayoutDOM

from workbench.errors import ParameterError
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
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.variability import VariabilityReport

_FIGURES: dict[str, Callable[[Any], LayoutDOM]] = {
    "mean": plot_mean_steps,
    "routines": plot_routine_times,
    "blame": plot_blame,
    "deviation": plot_deviation,
    "cause": plot_relevance_and_cause,
    "forecasts": plot_forecast_grid,
    "timed_forecasts": plot_forecast_grid,
    "importance": plot_forecast,
    "leakage": plot_leakage,
    "long_runs": plot_long_forecast,
}


def plot_variability_report(found: VariabilityReport, *parts: str) -> LayoutDOM:
    """Return the figures of all analyses, or of some.

    Args:
        found: of ``workbench.variability.report``.
        parts: some of ``mean``, ``routines``, ``blame``, ``deviation``, ``cause``, ``forecasts``,
            ``timed_forecasts``, ``importance``, ``leakage`` and ``long_runs``, as the report's
            attributes are called; without any all that it has.

    Raises:
        ParameterError: the report has no such part.
    """
    there = [name for name in _FIGURES if getattr(found, name) is not None]
    for name in parts:
        if name not in there:
            raise ParameterError(
                f"parts must be some of {', '.join(there)}, which {found.name} has; got {name!r}"
                f"{did_you_mean(name, there)}",
                key="parts",
            )
    return stacked(*(_FIGURES[name](getattr(found, name)) for name in parts or there))


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
