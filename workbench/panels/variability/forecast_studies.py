"""What the views of the panel of forecasts compute, draw and say."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from bokeh.models import LayoutDOM

from workbench.errors import ParameterError
from workbench.jobs import JobContext
from workbench.panels.variability.forecast_state import ForecastState, forecast_call
from workbench.panels.variability.forecast_work import is_whole
from workbench.panels.variability.step_sources import StepSource
from workbench.plotting.variability.forecast import describe_forecast
from workbench.result import StoredResult
from workbench.variability import Forecast

RUN = "run"
"""The view of one run, which is drawn live."""


@dataclass(frozen=True)
class Work:
    """What a study starts from."""

    source: StepSource
    state: ForecastState
    found: Forecast | None


@dataclass(frozen=True)
class Study:
    """A view: its result, its figure, a sentence and the lines that make it."""

    about: str  # said before there is a result
    compute: Callable[[JobContext, Work], StoredResult]
    draw: Callable[[Any], LayoutDOM]
    describe: Callable[[Any], str]
    code: Callable[[Work], list[str]]
    depends: Callable[[ForecastState], Hashable]  # on which settings
    needs_forecast: bool = False


def _the_forecast(ctx: JobContext, work: Work) -> Forecast:
    if work.found is None:
        raise ParameterError("the forecast is not computed yet", key="view")
    return work.found


def _forecast_code(work: Work) -> list[str]:
    every = work.found is None or is_whole(work.found)
    return [forecast_call(work.state, every), "figure = plotting.plot(found)"]


ERRORS = Study(
    about="The forecast is being computed.",
    compute=_the_forecast,
    draw=lambda found: found.plot(),
    describe=describe_forecast,
    code=_forecast_code,
    depends=lambda state: state.asked,
    needs_forecast=True,
)

STUDIES = {"errors": ERRORS}
VIEWS = {"One run": RUN, "Errors": "errors"}
"""What is shown, by its name on the page."""
