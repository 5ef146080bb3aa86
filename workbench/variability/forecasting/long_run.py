"""Long runs forecast piece by piece by models that learned from short ones.

found = forecast_long(steps, long_runs, m=30, k=40)
found.to_frame()
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.blas import one_thread
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task, task_of
from workbench.variability.folds import FEW_RUNS, FOLDS, folds_of_runs, in_threads
from workbench.variability.forecasting.forecast import (
    LEARNERS,
    MODELS,
    ForecastModel,
    forecast_windows,
    known_models,
    learn_from,
    scores_of,
)
from workbench.variability.forecasting.forecasters import Learner
from workbench.variability.forecasting.windows import (
    StepBaseline,
    Windows,
    baseline_of,
    continued,
    persistence,
    windows_of,
)
from workbench.variability.tables.steps import StepTable

if TYPE_CHECKING:
    import pandas as pd


_INTERVAL = 0.9  # chosen: a tenth of the windows of a few short runs places both ends


@dataclass(frozen=True, eq=False, repr=False)
class LongForecast(StoredResult):
    """The time of each piece of long runs, forecast from the steps before it.

    The models have learned from shorter runs only. Beyond the last step of these, the mean
    trajectory goes on as the mean of its last ten steps. An interval is where the time would lie in
    90 % of the shorter runs' windows, which were forecast in turn by models learned from others.
    Pieces of one run are alike: intervals of errors and skills are over runs, as in ``Forecast``.

    Attributes:
        m: number of steps that are seen.
        k: number of steps of a piece.
        models: names of the models.
        run_names: of the long runs.
        run: int64[pieces], position of the piece's run.
        at: int64[pieces], number of steps before the piece.
        actual_s: float64[pieces], s.
        predicted_s: float64[models, pieces], s.
        interval_s: float64[models, pieces, 2], s.
        mape: float64[models], %, over the pieces.
        mape_interval: float64[models, 2], %; of a single run both ends are its error.
        skill: float64[models, 2], share of the MAPE of ``mean-trajectory`` and ``persistence``
            that a model saves.
        skill_interval: float64[models, 2, 2], of both skills the ends.
        short_mape: float64[models], %, of the shorter runs, forecast in turn.
        time_s: float64[long runs, steps], s; nan where a run has no such step.
        runs: number of shorter runs.
        own_times: whether models see the run's own step times too.
        counters: that the models see.
        seed: of the models.
        provenance: of the long runs.
        notes: what a reader must know, each a sentence.
    """

    m: int
    k: int
    models: tuple[str, ...]
    run_names: tuple[str, ...]
    run: NDArray[np.int64]
    at: NDArray[np.int64]
    actual_s: NDArray[np.float64]
    predicted_s: NDArray[np.float64] = field(metadata={"axes": 2})
    interval_s: NDArray[np.float64] = field(metadata={"axes": 3})
    mape: NDArray[np.float64]
    mape_interval: NDArray[np.float64] = field(metadata={"axes": 2})
    skill: NDArray[np.float64] = field(metadata={"axes": 2})
    skill_interval: NDArray[np.float64] = field(metadata={"axes": 3})
    short_mape: NDArray[np.float64]
    time_s: NDArray[np.float64] = field(metadata={"axes": 2})
    runs: int
    own_times: bool
    counters: tuple[str, ...]
    seed: int
    provenance: Provenance
    notes: tuple[str, ...]

    plot = Drawing("plot_long_forecast")

    @property
    def best(self) -> str:
        """The model with the least MAPE on the shorter runs: chosen before a long one is seen."""
        return self.models[int(np.argmin(self.short_mape))]

    @property
    def coverage(self) -> FloatArray:
        """Share of the pieces whose time lies in the interval, float64[models]; 0.9 is promised."""
        low, high = np.moveaxis(self.interval_s, 2, 0)
        found: FloatArray = ((low <= self.actual_s) & (self.actual_s <= high)).mean(axis=1)
        return found

    def mape_by_run(self) -> FloatArray:
        """Return the MAPE of each model on each long run, %, float64[models, long runs]."""
        error = 100 * np.abs(self.predicted_s / self.actual_s - 1)
        each = [error[:, self.run == at].mean(axis=1) for at in range(len(self.run_names))]
        return np.stack(each, axis=1)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a piece: its run, its first step, its time and what each model forecast."""
        import pandas as pd

        row = self.models.index(self.best)
        return pd.DataFrame(
            {
                "run": np.array(self.run_names, object)[self.run],
                "first step": self.at,
                "time (s)": self.actual_s,
                **{f"{model} (s)": self.predicted_s[at] for at, model in enumerate(self.models)},
                "from (s)": self.interval_s[row, :, 0],
                "to (s)": self.interval_s[row, :, 1],
            }
        )

    def __repr__(self) -> str:
        errors = ", ".join(
            f"{model} {error:.1f}" for model, error in zip(self.models, self.mape, strict=True)
        )
        count = len(self.run_names)
        return (
            f"LongForecast({count} long run{'s' if count > 1 else ''} in {len(self.at)} pieces of "
            f"{self.k} steps from {self.m}, learned from {self.runs} runs; MAPE (%): {errors})"
        )


def forecast_long(
    steps: StepTable,
    long_runs: StepTable,
    *,
    m: int = 30,
    k: int = 40,
    models: Iterable[str] = MODELS,
    own_times: bool = True,
    seed: int = 0,
    task: Task | None = None,
) -> LongForecast:
    """Return the time of each piece of long runs, forecast by models learned from short runs.

    Args:
        steps: of shorter runs, to learn from.
        long_runs: one or more runs of the same program with the same counters, none of them among
            the shorter ones.
        m: number of steps that are seen.
        k: number of steps of a piece.
        models: as for ``forecast``.
        own_times: as for ``forecast``.
        seed: of the models.
        task: gets the progress after each part of the work; once it is stopped, the work ends.

    Raises:
        ParameterError: a long run is among the others, has other counters or is too short, or an
            argument is not accepted.
        SimulationHalted: the task was stopped.
    """
    names = known_models(models)
    learners = [name for name in LEARNERS if name in names]
    seed = whole(seed, "seed", 0)
    long = _checked(steps, long_runs, whole(m, "m", 1), whole(k, "k", 1))
    windows, present = forecast_windows(steps, m, k, 1)
    fold = folds_of_runs(len(steps), present, min(FOLDS, len(present)), seed)[windows.run]
    pieces = windows_of(long, m, k, every=k)
    work = [
        partial(_short, steps, windows, fold, at, learners, own_times, seed)
        for at in range(int(fold.max()) + 1)
    ]
    work.append(partial(_long, steps, windows, long, pieces, learners, own_times, seed))
    with one_thread():
        *short, found = in_threads(work, task_of(task), "part")
    predicted = np.array([found[name] for name in names])
    ratio = np.empty((len(names), len(windows)))
    for at, piece in enumerate(short):
        held = fold == at
        ratio[:, held] = windows.actual_s[held] / np.array([piece[name] for name in names])
    scores = scores_of(predicted, pieces.actual_s, pieces.run, names, seed)
    outside = (1 - _INTERVAL) / 2
    ends = np.quantile(ratio, [outside, 1 - outside], axis=1)
    seen = baseline_of(steps, present, own_times=own_times)
    runs = f"{len(long)} long run{'s' if len(long) > 1 else ''}"
    few = [f"with {runs} the intervals of errors and skills are too narrow"]
    return LongForecast(
        m=m,
        k=k,
        models=tuple(names),
        run_names=long.run,
        run=pieces.run,
        at=pieces.at,
        actual_s=pieces.actual_s,
        predicted_s=predicted,
        interval_s=predicted[:, :, None] * ends.T[:, None, :],
        mape=scores.mape,
        mape_interval=scores.mape_interval,
        skill=scores.skill,
        skill_interval=scores.skill_interval,
        short_mape=100 * np.mean(np.abs(1 / ratio - 1), axis=1),
        time_s=long.time_s,
        runs=len(present),
        own_times=own_times,
        counters=tuple(dict.fromkeys(steps.counters[at] for at in seen.sources)),
        seed=seed,
        provenance=long.provenance,
        notes=(*steps.notes, *seen.notes, *(few if len(long) < FEW_RUNS else ())),
    )


def _checked(steps: StepTable, long_runs: StepTable, m: int, k: int) -> StepTable:
    """Return the long runs with the counters in the order of the others."""
    shared = min(steps.steps, long_runs.steps)
    for name, time_s in zip(long_runs.run, long_runs.time_s, strict=True):
        if name not in steps.run:
            continue
        known = steps.time_s[steps.run.index(name), :shared]
        if np.array_equal(known, time_s[:shared], equal_nan=True):
            raise ParameterError(
                f"a long run must not be among the runs learned from; {name} is: leave it out of "
                "steps",
                key="long_runs",
            )
    if missing := [counter for counter in steps.counters if counter not in long_runs.counters]:
        raise ParameterError(
            f"long runs must have the counters of the others; they lack {', '.join(missing)}",
            key="long_runs",
        )
    lengths = np.isfinite(long_runs.time_s).sum(axis=1)
    if (length := int(lengths.min())) < m + k:
        name = long_runs.run[int(lengths.argmin())]
        raise ParameterError(
            f"long runs must have at least m + k = {m + k} steps; {name} has {length}",
            key="long_runs",
        )
    order = [long_runs.counters.index(counter) for counter in steps.counters]
    return StepTable(
        long_runs.run,
        long_runs.start,
        long_runs.time_s,
        steps.counters,
        long_runs.values[:, :, order],
        long_runs.provenance,
    )


def _short(
    steps: StepTable,
    windows: Windows,
    fold: NDArray[np.int64],
    at: int,
    learners: list[Learner],
    own_times: bool,
    seed: int,
    task: Task,
) -> dict[ForecastModel, FloatArray]:
    """Return the forecasts of the windows of a fold, s."""
    held = windows.only(fold == at)
    base = baseline_of(steps, np.unique(windows.run[fold != at]), own_times=own_times)
    return _forecasts(
        base, windows.only(fold != at), base.channels(), steps, held, base.trajectories_s,
        learners, [seed, at], task,
    )  # fmt: skip


def _long(
    steps: StepTable,
    windows: Windows,
    long_runs: StepTable,
    pieces: Windows,
    learners: list[Learner],
    own_times: bool,
    seed: int,
    task: Task,
) -> dict[ForecastModel, FloatArray]:
    """Return the forecasts of the pieces of long runs, s."""
    base = baseline_of(steps, np.unique(windows.run), own_times=own_times)
    trajectory = continued(base.trajectory_s, long_runs.steps)
    trajectories = np.broadcast_to(trajectory, long_runs.time_s.shape)
    return _forecasts(
        base, windows, base.channels_of(long_runs), long_runs, pieces, trajectories,
        learners, [seed, FOLDS], task,
    )  # fmt: skip


def _forecasts(
    base: StepBaseline,
    learn: Windows,
    channels: FloatArray,  # of the runs that are forecast
    steps: StepTable,
    held: Windows,
    trajectories: FloatArray,
    learners: list[Learner],
    seed: list[int],
    task: Task,
) -> dict[ForecastModel, FloatArray]:
    learned = learn_from(base, base.channels(), learn, learners, task, seed=seed)
    expected = held.total_ahead(trajectories)
    found: dict[ForecastModel, FloatArray] = {
        "mean-trajectory": expected,
        "persistence": persistence(steps, held, trajectories),
    }
    for name, model in learned.items():
        found[name] = expected * np.exp(model.predict(channels, held))
    return found
