"""All analyses of the runs of one program: who slows them, which counters tell, what comes next.

found = report("amg", runs=runs, jobs=jobs, steps=steps, m=(3, 8), k=(5, 10))
found.blame, found.deviation, found.forecasts
shipped_report("milc-128")              # of a program of Bhatele et al. (2020), made up
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task
from workbench.variability.blame import Blame, blame
from workbench.variability.deviation import Deviation, deviation
from workbench.variability.forecasting.forecast import (
    LEARNERS,
    MODELS,
    Forecast,
    forecast,
    known_models,
)
from workbench.variability.forecasting.grid import ForecastGrid, feature_sets, forecast_grid
from workbench.variability.forecasting.leakage import Leakage, forecast_leakage
from workbench.variability.forecasting.long_run import LongForecast, forecast_long
from workbench.variability.mean_behaviour import MeanBehaviour, mean_behaviour
from workbench.variability.relevance_cause import (
    RelevanceAndCause,
    counter_causes,
    relevance_and_cause,
)
from workbench.variability.tables.job_log import JobLog
from workbench.variability.tables.routines import RoutineTimes
from workbench.variability.tables.runs import Runs
from workbench.variability.tables.steps import StepTable

if TYPE_CHECKING:
    import pandas as pd

_SPACING = 4
"""Windows of the leakage table: each so-and-so-many-th of a run."""


@dataclass(frozen=True, eq=False, repr=False)
class VariabilityReport(StoredResult):
    """The analyses of Bhatele et al. (2020) on the runs of one program.

    Attributes:
        name: of the program or the data.
        runs: when they were, and how long they took.
        mean: course of the steps over all runs.
        routines: where the time goes; None where that was not measured.
        blame: of the users beside the runs.
        slowed: by how much each user slows runs down in truth, relative; empty where not known.
        deviation: of steps from the mean, and which counters tell.
        cause: the relevance of counters beside what causes the delay; None where not known.
        forecasts: from counters alone, as in the paper; None where runs are too short.
        timed_forecasts: from all counters and the run's own step times.
        importance: the forecast of the most steps from the most steps seen, with its importances.
        leakage: how much mistakes of method flatter this forecast.
        long_runs: forecast of long runs that no model saw, from counters alone; None where there
            are none.
        provenance: of the tables.
    """

    name: str
    runs: Runs
    mean: MeanBehaviour
    routines: RoutineTimes | None
    blame: Blame
    slowed: Mapping[str, float]
    deviation: Deviation
    cause: RelevanceAndCause | None
    forecasts: ForecastGrid | None
    timed_forecasts: ForecastGrid | None
    importance: Forecast | None
    leakage: Leakage | None
    long_runs: LongForecast | None
    provenance: Provenance = field(default_factory=lambda: Provenance("measured", ""))

    plot = Drawing("plot_variability_report")

    @property
    def slowest(self) -> float:
        """Time of the slowest run over that of the fastest."""
        return float(self.runs.time_s.max() / self.runs.time_s.min())

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of the tables and of who is blamed, each a sentence."""
        return tuple(dict.fromkeys((*self.mean.notes, *self.blame.notes)))

    def to_frame(self) -> pd.DataFrame:
        """Return a row a figure of the report: ``analysis``, ``quantity``, ``value``, ``unit``."""
        import pandas as pd

        rows: list[tuple[str, str, object, str]] = [
            ("runs", "slowest over fastest", self.slowest, ""),
            ("steps", "agreement with the mean", float(np.nanmedian(self.mean.agreement)), ""),
            ("blame", "users blamed", ", ".join(self.blame.blamed) or "nobody", ""),
            ("deviation", "MAPE, folds by run", float(self.deviation.mape[0, 0]), "%"),
            ("deviation", "most relevant", self.most_relevant[0], ""),
        ]
        for what, grid in (
            ("counters alone", self.forecasts),
            ("with own times", self.timed_forecasts),
        ):
            if grid is not None:
                least = float(grid.mape.min(axis=3).mean())
                rows.append(("forecast", f"MAPE of the best model, {what}", least, "%"))
        if self.long_runs is not None:
            rows.append(("long runs", "least MAPE", float(self.long_runs.mape.min()), "%"))
        return pd.DataFrame(rows, columns=["analysis", "quantity", "value", "unit"])

    @property
    def most_relevant(self) -> tuple[str, ...]:
        """Counters by their relevance for the deviation of runs held out, the greatest first."""
        order = np.argsort(-self.deviation.relevance[0], kind="stable")
        return tuple(self.deviation.counters[at] for at in order)

    def __repr__(self) -> str:
        return (
            f"VariabilityReport({self.name}: {len(self.runs)} runs, {self.provenance.origin}; "
            f"slowest {self.slowest:.2f} times the fastest; deviation within "
            f"{self.deviation.mape[0, 0]:.2g} %)"
        )


def report(
    name: str,
    *,
    runs: Runs,
    jobs: JobLog,
    steps: StepTable,
    routines: RoutineTimes | None = None,
    slowed: Mapping[str, float] = MappingProxyType({}),
    saved: Mapping[str, float] = MappingProxyType({}),
    m: Sequence[int] = (),
    k: Sequence[int] = (),
    features: Iterable[Iterable[str]] | None = None,
    long_runs: StepTable | None = None,
    models: Iterable[str] = MODELS,
    seed: int = 0,
    task: Task | None = None,
) -> VariabilityReport:
    """Return all analyses of the runs of one program.

    Args:
        name: of the program or the data.
        runs: of one program with one input.
        jobs: of all users of the machine.
        steps: of the same runs.
        routines: of the same runs.
        slowed: by how much each user slows runs down in truth, where that is known.
        saved: share of the time that each class of link costs in truth, as for
            ``counter_causes``, where that is known.
        m: numbers of steps that forecasts see; without any there are no forecasts.
        k: numbers of steps that are forecast.
        features: as for ``forecast_grid``.
        long_runs: runs of many more steps, for the forecast of runs never seen.
        models: of the forecasts, as for ``forecast``.
        seed: of all analyses.
        task: gets the progress of each analysis in turn; once it is stopped, the work ends.

    Raises:
        ParameterError: an analysis does not accept the tables.
        SimulationHalted: the task was stopped.
    """
    if bool(m) != bool(k):
        raise ParameterError("m and k must both be given, or neither", key="m")
    forecasts = timed = importance = leakage = long = None
    work: dict[str, Any] = {"seed": seed, "task": task}
    known = known_models(models)
    learners = [name for name in LEARNERS if name in known]
    if m:
        longest: dict[str, Any] = {"m": max(m), "k": max(k), **work}
        sets = feature_sets(steps) if features is None else [tuple(one) for one in features]
        forecasts = forecast_grid(
            steps, m=m, k=k, features=sets, models=known, own_times=False, **work
        )
        timed = forecast_grid(steps, m=m, k=k, features=sets[-1:], models=known, **work)
        importance = forecast(steps, features=sets[-1], models=known, own_times=False, **longest)
        leakage = forecast_leakage(steps, models=learners, every=_SPACING, **longest)
    if long_runs is not None:
        long = forecast_long(steps, long_runs, models=known, own_times=False, **work)
    deviated = deviation(steps, **work)
    cause = None
    if saved:
        cause = relevance_and_cause(deviated, counter_causes(deviated.counters, saved))
    return VariabilityReport(
        name,
        runs,
        mean_behaviour(steps),
        routines,
        blame(runs, jobs, seed=seed),
        dict(slowed),
        deviated,
        cause,
        forecasts,
        timed,
        importance,
        leakage,
        long,
        steps.provenance,
    )
