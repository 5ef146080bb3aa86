"""What the views of the panel of forecasts compute, draw and say."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bokeh.models import LayoutDOM

from workbench.errors import ParameterError, SimulationHalted
from workbench.panels.variability.forecast_controls import ASKED, OF_DEVIATION
from workbench.panels.variability.forecast_state import ForecastState, forecast_call
from workbench.panels.variability.forecast_work import is_whole
from workbench.panels.variability.step_sources import StepSource
from workbench.panels.variability.world_work import workers_for
from workbench.tasks import Task
from workbench.variability import (
    Deviation,
    Forecast,
    ForecastGrid,
    Leakage,
    LongForecast,
    RelevanceAndCause,
    counter_causes,
    deviation,
    forecast_grid,
    forecast_leakage,
    forecast_long,
    relevance_and_cause,
)
from workbench.variability.deviation import DEVIATION_WAYS

if TYPE_CHECKING:
    import pandas as pd

RUN = "run"
"""The view of one run, which is drawn live."""


class Shown(Protocol):
    """A result that a view shows."""

    def plot(self) -> LayoutDOM:
        """Return its figure."""

    def to_frame(self) -> pd.DataFrame:
        """Return its table."""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it."""


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
    compute: Callable[[Work, Task], Shown]
    code: Callable[[Work], list[str]]
    settings: tuple[str, ...]  # that it depends on, besides the steps
    needs_forecast: bool = False
    needs_world: bool = False

    def depends(self, state: ForecastState) -> Hashable:
        """Return the values of these settings."""
        return tuple(getattr(state, name) for name in self.settings)


def _the_forecast(work: Work, task: Task) -> Forecast:
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


def _deviation(work: Work, task: Task) -> Deviation:
    return deviation(
        work.source.steps,
        features=work.state.explaining,
        ways=work.state.ways,
        per_second=work.state.per_second,
        task=task,
    )


def _deviation_code(work: Work) -> list[str]:
    given = _explained(work.state)
    return [
        f"found = variability.deviation(steps, ways={work.state.ways!r}{given})",
        "figure = found.plot()",
    ]


def _explained(state: ForecastState) -> str:
    """Return the options of a deviation as code."""
    features = "" if state.explaining == ("app",) else f", features={state.explaining!r}"
    return features + (", per_second=True" if state.per_second else "")


def _cause(work: Work, task: Task) -> RelevanceAndCause:
    world = work.source.world
    if world is None:
        raise ParameterError("causes are known of a made-up world only; choose one", key="view")
    found = deviation(
        work.source.steps,
        features=work.state.explaining,
        ways=DEVIATION_WAYS[:1],
        per_second=work.state.per_second,
        task=task,
    )
    truth = world.link_truth(workers=workers_for(world.settings), task=task)
    if task.stopping:
        raise SimulationHalted("stopped before all causes were known")
    return relevance_and_cause(found, counter_causes(found.counters, truth.by_class()))


def _cause_code(work: Work) -> list[str]:
    given = _explained(work.state)
    return [
        f"deviation = variability.deviation(steps, ways={DEVIATION_WAYS[:1]!r}{given})",
        "saved = world.link_truth().by_class()",
        "cause = variability.counter_causes(deviation.counters, saved)",
        "found = variability.relevance_and_cause(deviation, cause)",
        "figure = found.plot()",
    ]


DEVIATION = Study(
    about="Which counters say by how much a step deviates from the mean of this step over runs: "
    "those that are needed in how many of ten parts of the runs.",
    compute=_deviation,
    code=_deviation_code,
    settings=OF_DEVIATION,
)


CAUSE = Study(
    about="How relevant each counter is beside the share of the delay that what it counts causes: "
    "the runs simulated again with links of each class that could carry everything.",
    compute=_cause,
    code=_cause_code,
    settings=("explaining", "per_second"),
    needs_world=True,
)


def _grid(work: Work, task: Task) -> ForecastGrid:
    seen, ahead = work.source.grid
    return forecast_grid(
        work.source.steps,
        m=seen,
        k=ahead,
        models=work.state.models,
        own_times=work.state.own_times,
        task=task,
    )


def _grid_code(work: Work) -> list[str]:
    seen, ahead = work.source.grid
    return [
        f"found = variability.forecast_grid(steps, m={seen}, k={ahead}, {_models(work.state)})",
        "figure = found.plot()",
    ]


def _leakage(work: Work, task: Task) -> Leakage:
    state = work.state
    return forecast_leakage(
        work.source.steps,
        m=state.m,
        k=state.k,
        models=state.models,
        own_times=state.own_times,
        task=task,
    )


def _leakage_code(work: Work) -> list[str]:
    state = work.state
    return [
        f"found = variability.forecast_leakage(steps, m={state.m}, k={state.k}, {_models(state)})",
        "figure = found.plot()",
    ]


def _long(work: Work, task: Task) -> LongForecast:
    state, source = work.state, work.source
    if source.world is not None:
        task.report(0, 0, "a long run is being made")
        others, long_run = source.steps, source.world.long_runs()
    else:
        left = [at for at in range(len(source.steps)) if at != state.run]
        others, long_run = source.steps.rows(left), source.steps.rows([state.run])
    return forecast_long(
        others,
        long_run,
        m=state.m,
        k=state.k,
        models=state.models,
        own_times=state.own_times,
        task=task,
    )


def _long_code(work: Work) -> list[str]:
    state = work.state
    if work.source.world is not None:
        lines = ["others, long_run = steps, world.long_runs()"]
    else:
        lines = [
            f"others = steps.rows([at for at in range(len(steps)) if at != {state.run}])",
            f"long_run = steps.rows([{state.run}])",
        ]
    given = f"m={state.m}, k={state.k}, {_models(state)}"
    return [
        *lines,
        f"found = variability.forecast_long(others, long_run, {given})",
        "figure = found.plot()",
    ]


def _models(state: ForecastState) -> str:
    """Return the options of models as code."""
    return f"models={state.models!r}{'' if state.own_times else ', own_times=False'}"


GRID = Study(
    about="The error by how many steps are seen and how many are ahead, and by which counters are "
    "seen, as in figures 8 and 10 of the paper.",
    compute=_grid,
    code=_grid_code,
    settings=("own_times", "models"),
)
LEAKAGE = Study(
    about="How much better forecasts look if they are tried out in a way that lets what is to be "
    "forecast leak into the learning.",
    compute=_leakage,
    code=_leakage_code,
    settings=("m", "k", "own_times", "models"),
)
LONG = Study(
    about="A run that no model has learned from, forecast piece by piece: of a made-up world one "
    "that is much longer than the others, else the chosen run.",
    compute=_long,
    code=_long_code,
    settings=("m", "k", "own_times", "models", "run"),
)

STUDIES = {
    "errors": ERRORS,
    "deviation": DEVIATION,
    "cause": CAUSE,
    "grid": GRID,
    "leakage": LEAKAGE,
    "long": LONG,
}
VIEWS = {
    "One run": RUN,
    "Errors": "errors",
    "Deviation": "deviation",
    "Cause": "cause",
    "Ablation": "grid",
    "Leaks": "leakage",
    "Long run": "long",
}
"""What is shown, by its name on the page."""
