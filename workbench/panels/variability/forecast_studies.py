"""What the views of the panel of forecasts compute, draw and say."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bokeh.models import LayoutDOM

from workbench.errors import ParameterError
from workbench.jobs import JobContext
from workbench.panels.variability.forecast_controls import ASKED, OF_DEVIATION
from workbench.panels.variability.forecast_state import ForecastState, forecast_call
from workbench.panels.variability.forecast_work import is_whole
from workbench.panels.variability.step_sources import StepSource
from workbench.variability import Deviation, Forecast, deviation

if TYPE_CHECKING:
    import pandas as pd

RUN = "run"
"""The view of one run, which is drawn live."""


class Shown(Protocol):
    """A result that a view shows."""

    def plot(self) -> LayoutDOM: ...

    def to_frame(self) -> pd.DataFrame: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Work:
    """What a study starts from."""

    source: StepSource
    state: ForecastState
    found: Forecast | None


@dataclass(frozen=True)
class Study:
    """A view whose result draws itself: what it is, and the lines that make it."""

    about: str
    compute: Callable[[JobContext, Work], Shown]
    code: Callable[[Work], list[str]]
    settings: tuple[str, ...]  # that it depends on, besides the steps
    needs_forecast: bool = False

    def depends(self, state: ForecastState) -> Hashable:
        """Return the values of these settings."""
        return tuple(getattr(state, name) for name in self.settings)


def _the_forecast(ctx: JobContext, work: Work) -> Forecast:
    if work.found is None:
        raise ParameterError("the forecast is not computed yet", key="view")
    return work.found


def _forecast_code(work: Work) -> list[str]:
    every = work.found is None or is_whole(work.found)
    return [forecast_call(work.state, every), "figure = found.plot()"]


ERRORS = Study(
    about="How far each model is off on average, beside the two that learn nothing, and by how "
    "much the error rises without what a counter tells.",
    compute=_the_forecast,
    code=_forecast_code,
    settings=ASKED,
    needs_forecast=True,
)


def _deviation(ctx: JobContext, work: Work) -> Deviation:
    return deviation(
        work.source.steps,
        ways=work.state.ways,
        per_second=work.state.per_second,
        stop=ctx.stop_event,
        on_progress=lambda made: ctx.progress(made.done, made.total, made.message),
    )


def _deviation_code(work: Work) -> list[str]:
    rates = ", per_second=True" if work.state.per_second else ""
    return [
        f"found = variability.deviation(steps, ways={work.state.ways!r}{rates})",
        "figure = found.plot()",
    ]


DEVIATION = Study(
    about="Which counters say by how much a step deviates from the mean of this step over runs: "
    "those that are needed in how many of ten parts of the runs.",
    compute=_deviation,
    code=_deviation_code,
    settings=OF_DEVIATION,
)

STUDIES = {"errors": ERRORS, "deviation": DEVIATION}
VIEWS = {"One run": RUN, "Errors": "errors", "Deviation": "deviation"}
"""What is shown, by its name on the page."""
